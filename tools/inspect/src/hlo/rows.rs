//! What each instruction of a module reads of its operands, and feeds of its result.
//!
//! For each leaf of the result (an array of its tuple, or the one array) and each leaf of an operand there is an
//! [`Entry`]: the indexing maps of both directions, how many elements are read, and what a tile of the result needs.

use crate::moves;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use tensor_layout::analysis::{self, Count, Flow, Flows, Needed, Place, StridedTile, Usage, movement};
use tensor_layout::expr::{Expr, Named};
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::maps::Interval;
use tensor_layout::operations::Operation;
use tensor_layout::operations::{Graph, Node, Value, leaves};
use tensor_layout::text::{Error, did_you_mean};

/// A module with what each of its instructions reads.
pub struct Program {
    pub module: Module,
    graphs: Vec<Graph>,
    flows: Flows,
    /// The sizes of a tile of each result, for which to say what is needed.
    tile: Option<Vec<i64>>,
}

/// What an instruction reads and feeds of one leaf of an operand.
pub struct Entry {
    /// The operand's number, and its name.
    pub number: usize,
    pub name: String,
    /// The leaf, where the operand has several.
    pub part: Option<usize>,
    pub reads: Access,
    pub feeds: Access,
    /// How much of it is read.
    pub usage: Option<Usage>,
    /// What a tile of the result needs of it, if `--tile` is given.
    pub tiles: Vec<String>,
}

/// The maps of an access as text, with its run-time values by name.
#[derive(Default)]
pub struct Access {
    pub maps: Vec<String>,
    pub run_time: Vec<RunTime>,
    /// Why there is no map for some of it.
    pub unknown: Vec<String>,
}

/// A variable of a map whose value is an element of an operand: `rt0 = i[]`.
#[derive(Clone, Serialize)]
pub struct RunTime {
    /// The number of the map, and the variable's name in it.
    map: usize,
    pub variable: String,
    /// The instruction that has the value, and the index of the element: `[d0]`.
    pub source: String,
    pub element: String,
    /// Between which two values it is, both included; whether it is moved there where it is outside.
    interval: [i64; 2],
    clamped: bool,
    /// The number of the operand, where the value is one of the instruction's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operand: Option<usize>,
}

impl Program {
    /// Reads a module.
    ///
    /// # Errors
    /// All errors of the text.
    pub fn new(text: &str, tile: Option<Vec<i64>>) -> Result<Program, Vec<Error>> {
        let module = Module::parse(text)?;
        let graphs = module.graphs();
        Ok(Program { module, graphs, flows: Flows::default(), tile })
    }

    /// An instruction and its computation.
    pub fn at(&self, c: usize, k: usize) -> (&Computation, &Instruction) {
        (&self.module.computations[c], &self.module.computations[c].instructions[k])
    }

    /// The instructions of this name, or all, each as its computation and its number in that.
    ///
    /// # Errors
    /// No instruction has that name.
    pub fn chosen(&self, only: Option<&str>) -> Result<Vec<(usize, usize)>, Error> {
        let all = self.module.computations.iter().enumerate();
        let all = all.flat_map(|(c, computation)| (0..computation.instructions.len()).map(move |k| (c, k)));
        let only = only.map(|name| name.trim_start_matches('%'));
        let chosen: Vec<_> = all.filter(|(c, k)| only.is_none_or(|name| self.at(*c, *k).1.name == name)).collect();
        match only {
            Some(name) if chosen.is_empty() => {
                let all = self.module.computations.iter().flat_map(|computation| &computation.instructions);
                let hint = did_you_mean(name, all.map(|instruction| instruction.name.as_str()));
                let name: String = name.chars().take(80).collect();
                Err(Error::new(format!("unknown instruction `{name}`{hint}")))
            }
            _ => Ok(chosen),
        }
    }

    /// Refuses a tile that no result of these instructions can have.
    ///
    /// # Errors
    /// All results have another rank.
    pub fn check_tile(&self, chosen: &[(usize, usize)]) -> Result<(), Error> {
        let Some(tile) = &self.tile else { return Ok(()) };
        let shapes = chosen.iter().map(|(c, k)| &self.at(*c, *k).1.shape);
        let ranks: BTreeSet<usize> = shapes.flat_map(|shape| leaves(shape)).map(|array| array.dims.len()).collect();
        if ranks.is_empty() || ranks.contains(&tile.len()) {
            return Ok(());
        }
        let ranks: Vec<String> = ranks.iter().map(usize::to_string).collect();
        let message = "--tile must have one size for each dimension of the result";
        Err(Error::new(format!("{message}: {} sizes, found {}", ranks.join(" or "), tile.len())))
    }

    /// What else there is to say: how many bytes a fusion saves, and what a change of shape moves.
    pub fn remarks(&mut self, c: usize, k: usize) -> Vec<String> {
        let computation = &self.module.computations[c];
        let instruction = &computation.instructions[k];
        match &instruction.operation {
            Operation::Call { computation } => match self.flows.traffic(&self.graphs, *computation) {
                Ok((fused, apart)) => vec![format!(
                    "fused: {} bytes read, {} written; apart: {} read, {} written",
                    amount(fused.read),
                    amount(fused.written),
                    amount(apart.read),
                    amount(apart.written)
                )],
                Err(_) => Vec::new(),
            },
            operation @ (Operation::Reshape | Operation::Transpose { .. }) => {
                let operand = &computation.instructions[instruction.operands[0]].shape;
                movement(operation, operand, &instruction.shape).map_or(Vec::new(), |moved| vec![moves::line(&moved)])
            }
            _ => Vec::new(),
        }
    }

    /// What a tile of the result needs of an operand.
    fn tiles(&self, access: &analysis::Access<Place>, from: &[i64], to: &[i64]) -> Vec<String> {
        let Some(sizes) = self.tile.as_ref().filter(|sizes| sizes.len() == from.len()) else { return Vec::new() };
        let pieces = |(n, size): (&i64, &i64)| Interval::new(0, (n - 1).max(0) / (*size).max(1));
        let variables: Vec<Interval> = from.iter().zip(sizes).map(pieces).collect();
        let offsets = sizes.iter().enumerate().map(|(k, size)| Expr::Var(k).times(*size)).collect();
        let tile = StridedTile { offsets, sizes: sizes.clone(), strides: vec![1; sizes.len()] };
        let name = |v: usize| if v < sizes.len() { format!("i{v}") } else { format!("rt{}", v - sizes.len()) };
        let line = |needed: Result<Needed, String>| match needed {
            Err(reason) => format!("no tile: {reason}"),
            Ok(Needed { tile, cut, ends }) => {
                let offsets: Vec<String> = tile.offsets.iter().map(|e| Named(e, &name).to_string()).collect();
                let edge = if cut { ", cut off at the edge" } else { "" };
                let mut line = format!("tile [{}] {:?} {:?}{edge}", offsets.join(", "), tile.sizes, tile.strides);
                for (k, [first, last]) in ends.iter().enumerate() {
                    for (word, end) in [("from", first), ("up to", last)] {
                        if let Some(end) = end {
                            let _ = write!(line, ", dimension {k} {word} {}", Named(end, &name));
                        }
                    }
                }
                line
            }
        };
        match access.tiles(&tile, &variables, from, to) {
            Ok(all) => all.into_iter().map(line).collect(),
            Err(error) => vec![format!("no tile: {error}")],
        }
    }

    /// What an instruction reads, its operands as parameters.
    fn flow(&mut self, c: usize, k: usize) -> Result<Flow, Error> {
        let (computation, instruction) = (&self.module.computations[c], &self.graphs[c].nodes[k]);
        let parameter = |(number, operand): (usize, &usize)| Node {
            operation: Operation::Parameter { number },
            operands: Vec::new(),
            results: vec![computation.instructions[*operand].shape.clone()],
        };
        let mut nodes: Vec<Node> = computation.instructions[k].operands.iter().enumerate().map(parameter).collect();
        let operands = (0..nodes.len()).map(|node| Value { node, result: 0 }).collect();
        // A parameter of the computation reads nothing, and is none of this graph.
        let operation = match &instruction.operation {
            Operation::Parameter { .. } => Operation::Constant,
            operation => operation.clone(),
        };
        nodes.push(Node { operation, operands, results: instruction.results.clone() });
        let roots = vec![Value { node: nodes.len() - 1, result: 0 }];
        self.graphs.push(Graph { nodes, roots });
        let found = self.flows.flow_once(&self.graphs, self.graphs.len() - 1);
        self.graphs.pop();
        found
    }

    /// For each leaf of the result, the entries of all leaves of the operands.
    ///
    /// # Errors
    /// An answer does not fit in 64 bits.
    pub fn rows(&mut self, c: usize, k: usize) -> Result<Vec<Vec<Entry>>, Error> {
        let found = self.flow(c, k)?;
        Ok((0..found.roots()).map(|root| self.row(c, k, &found, root)).collect())
    }

    fn row(&self, c: usize, k: usize, found: &Flow, root: usize) -> Vec<Entry> {
        let (computation, instruction) = self.at(c, k);
        let operands = || instruction.operands.iter().map(|operand| &computation.instructions[*operand]);
        let names: Vec<&str> = operands().map(|operand| &*operand.name).collect();
        let result = leaves(&instruction.shape).get(root).and_then(|array| array.sizes());
        let mut row = Vec::new();
        for ((number, operand), count) in operands().enumerate().zip(found.parameters()) {
            let arrays = leaves(&operand.shape);
            for leaf in 0..count {
                let access = found.reads(number, leaf, root);
                let sizes = arrays.get(leaf).and_then(|array| array.sizes());
                let tiles = match (access, &sizes, &result) {
                    (Some(access), Some(to), Some(from)) => self.tiles(access, from, to),
                    _ => Vec::new(),
                };
                let named = |access: Option<_>| access.map_or_else(Access::default, |a| self.named(a, &names));
                row.push(Entry {
                    number,
                    name: operand.name.clone(),
                    part: (count > 1).then_some(leaf),
                    reads: named(access),
                    feeds: named(found.feeds(number, leaf, root)),
                    usage: access.zip(sizes.as_ref()).map(|(access, sizes)| access.usage(sizes)),
                    tiles,
                });
            }
        }
        row
    }

    /// An access as text, where `names` are those of the operands.
    fn named(&self, access: &analysis::Access<Place>, names: &[&str]) -> Access {
        let mut out = Access { unknown: access.unknown.clone(), ..Access::default() };
        for (number, mapped) in access.maps.iter().enumerate() {
            let name = |v| mapped.map.name(v);
            out.maps.push(mapped.map.to_string());
            for (j, run_time) in mapped.run_time.iter().enumerate() {
                let place = &run_time.source;
                // Nodes of the instruction's own graph are its operands; a called computation has instructions.
                let source = match place.calls[..] {
                    [] => names.get(place.node).copied().unwrap_or(""),
                    _ => &self.at(place.graph, place.node).1.name,
                };
                let element: Vec<String> = run_time.element.iter().map(|e| Named(e, &name).to_string()).collect();
                out.run_time.push(RunTime {
                    map: number,
                    variable: name(mapped.map.dims + mapped.map.ranges + j),
                    source: source.to_string(),
                    element: format!("[{}]", element.join(", ")),
                    interval: [run_time.within.lo, run_time.within.hi],
                    clamped: run_time.clamped,
                    operand: place.calls.is_empty().then_some(place.node),
                });
            }
        }
        out
    }
}

/// A number, or between which two it is.
pub fn amount(count: Count) -> String {
    match (count.exact(), count.most) {
        (Some(n), _) => n.to_string(),
        (None, Some(most)) => format!("{} to {most}", count.least),
        (None, None) => format!("at least {}", count.least),
    }
}
