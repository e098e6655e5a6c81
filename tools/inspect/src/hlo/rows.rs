//! The access of each instruction of a module: the elements that it reads of its operands, and those that it feeds.
//!
//! Each pair of a leaf of the result (an array of its tuple, or its only array) and a leaf of an operand has an
//! [`Entry`]: the indexing maps of both directions, how many elements are read, and the operand's tile for a tile of
//! the result. For tuples only related pairs have one, so a tuple of ten thousand arrays has ten thousand entries.
//!
//! Instructions with the same operation and the same shapes are analysed once: [`Found`] has numbers of operands, not
//! their names.

use super::measure::kinds;
use super::summary::Kind;
use crate::numbers::quoted;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::rc::Rc;
use tensor_layout::analysis::{self, Count, Flow, Flows, Needed, StridedTile, Usage, ValueRef, movement};
use tensor_layout::expr::{Expr, Named};
use tensor_layout::hlo::{AffineValues, Computation, Instruction, Module};
use tensor_layout::maps::Interval;
use tensor_layout::operations::Operation;
use tensor_layout::operations::{Array, Graph, Node, Shape, Value, count, leaves};
use tensor_layout::text::{Error, did_you_mean};

/// The most instructions in the cache, and the most operands or tuple parts of each.
const REMEMBERED: usize = 4096;
const SMALL: usize = 64;

/// A module with the accesses of its instructions.
pub struct Program {
    pub module: Module,
    graphs: Vec<Graph>,
    /// The known integer values, by computation and instruction.
    known: Vec<Vec<Option<AffineValues>>>,
    flows: Flows,
    /// A cache of accesses, by the text of the operation and its shapes.
    remembered: HashMap<String, Rc<Found>>,
    /// The sizes of a tile of each result, whose operand tiles are computed.
    tile: Option<Vec<i64>>,
    /// The use of each result's buffer; none where 64 bits do not hold the bytes.
    pub kinds: Option<Vec<Vec<Option<Kind>>>>,
}

/// The accesses of an instruction.
pub struct Found {
    /// One row for each leaf of the result.
    pub rows: Vec<Row>,
    /// The leaves of operands without an entry in any row.
    pub unread: Vec<Unread>,
    /// Further remarks: the bytes that a fusion saves, or that a change of shape moves.
    pub remarks: Vec<String>,
}

/// The accesses of one leaf of the result.
pub struct Row {
    pub entries: Vec<Entry>,
    /// The reason that holds for all other leaves of operands, where there were too many to analyse.
    pub others: Option<String>,
}

/// Consecutive leaves of an operand.
pub struct Unread {
    /// The operand's number.
    pub number: usize,
    /// The first and the last leaf, where the operand has several.
    pub parts: Option<[usize; 2]>,
}

/// The access to one leaf of an operand, in both directions.
pub struct Entry {
    /// The operand's number.
    pub number: usize,
    /// The leaf, where the operand has several.
    pub part: Option<usize>,
    pub reads: Access,
    pub feeds: Access,
    /// How much of the leaf is read.
    pub usage: Option<Usage>,
    /// The tiles of the leaf that a tile of the result reads, if `--tile` is given.
    pub tiles: Vec<String>,
}

/// The maps of an access as text, with its run-time values by name.
#[derive(Default)]
pub struct Access {
    pub maps: Vec<String>,
    pub run_time: Vec<RunTime>,
    /// Why some of the access has no map.
    pub unknown: Vec<String>,
}

/// A variable of a map whose value is an element of an operand: `rt0 = i[]`.
#[derive(Clone, Serialize, JsonSchema)]
pub struct RunTime {
    /// The number of the map, and the variable's name in it.
    pub map: usize,
    pub variable: String,
    /// The instruction that has the value, where it is no operand, and the index of the element: `[d0]`.
    pub source: String,
    pub element: String,
    /// Between which two values it is, both included; whether it is moved there where it is outside.
    pub interval: [i64; 2],
    pub clamped: bool,
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
        let known = module.computations.iter().map(Computation::affine_constants).collect();
        let kinds = kinds(&module);
        Ok(Program { module, graphs, known, flows: Flows::default(), remembered: HashMap::new(), tile, kinds })
    }

    /// The warnings about skipped parts of the text, each with its place.
    pub fn warnings(&self) -> &[Error] {
        &self.module.warnings
    }

    /// An instruction and its computation.
    pub fn at(&self, c: usize, k: usize) -> (&Computation, &Instruction) {
        (&self.module.computations[c], &self.module.computations[c].instructions[k])
    }

    /// The instructions with this name, or all, each as the numbers of its computation and of the instruction.
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
                Err(Error::new(format!("unknown instruction {}{hint}", quoted(&name))).unknown())
            }
            _ => Ok(chosen),
        }
    }

    /// Refuses a tile, named `name` in the message, that fits no result of these instructions.
    ///
    /// # Errors
    /// All results have another rank.
    pub fn check_tile(&self, chosen: &[(usize, usize)], name: &str) -> Result<(), Error> {
        let Some(tile) = &self.tile else { return Ok(()) };
        let shapes = chosen.iter().map(|(c, k)| &self.at(*c, *k).1.shape);
        let ranks: BTreeSet<usize> = shapes.flat_map(|shape| leaves(shape)).map(|array| array.dims.len()).collect();
        if ranks.is_empty() || ranks.contains(&tile.len()) {
            return Ok(());
        }
        let ranks: Vec<String> = ranks.iter().map(usize::to_string).collect();
        let ranks = ranks.join(" or ");
        let message = format!("{name} must have one size for each dimension of the result: {ranks} sizes");
        Err(Error::new(format!("{message}, found {}", tile.len())))
    }

    /// Further remarks: the bytes that a fusion saves, or that a change of shape moves.
    fn remarks(&mut self, c: usize, k: usize) -> Vec<String> {
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
            Operation::Elementwise if instruction.opcode != "copy" => Vec::new(),
            operation @ (Operation::Reshape | Operation::Transpose { .. } | Operation::Elementwise) => {
                let operand = &computation.instructions[instruction.operands[0]].shape;
                movement(operation, operand, &instruction.shape).map_or(Vec::new(), |moved| vec![moved.to_string()])
            }
            _ => Vec::new(),
        }
    }

    /// The tiles of an operand that a tile of the result reads.
    fn tiles(&self, access: &analysis::Access<ValueRef>, from: &[i64], to: &[i64]) -> Vec<String> {
        let Some(sizes) = self.tile.as_ref().filter(|sizes| sizes.len() == from.len()) else { return Vec::new() };
        let pieces = |(n, size): (&i64, &i64)| Interval::new(0, (n - 1).max(0) / (*size).max(1));
        let variables: Vec<Interval> = from.iter().zip(sizes).map(pieces).collect();
        let offsets = sizes.iter().enumerate().map(|(k, size)| Expr::Var(k).times(*size)).collect();
        let tile = StridedTile { offsets, sizes: sizes.clone(), strides: vec![1; sizes.len()] };
        let name = |v: usize| if v < sizes.len() { format!("i{v}") } else { format!("rt{}", v - sizes.len()) };
        let line = |needed: Result<Needed, String>| match needed {
            Err(reason) => format!("no tile: {reason}"),
            Ok(Needed { tile, cut, ends, .. }) => {
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

    /// The flow of an instruction, its operands as parameters. Where it takes a part of a tuple, the parameter is that
    /// part.
    fn flow(&mut self, c: usize, k: usize) -> Result<Flow, Error> {
        let instructions = &self.module.computations[c].instructions;
        let instruction = &instructions[k];
        let operand = |k: &usize| &instructions[*k].shape;
        let (operation, shapes) = match (&instruction.operation, instruction.operands.first().map(operand)) {
            // A parameter of the computation reads nothing, and is not in this graph.
            (Operation::Parameter { .. }, _) => (Operation::Constant, Vec::new()),
            (Operation::GetTupleElement { index }, Some(Shape::Tuple(parts))) => {
                (Operation::GetTupleElement { index: 0 }, vec![Shape::Tuple(vec![parts[*index].clone()])])
            }
            (operation, _) => (operation.clone(), instruction.operands.iter().map(operand).cloned().collect()),
        };
        let parameter = |(number, shape)| Node {
            operation: Operation::Parameter { number },
            operands: Vec::new(),
            results: vec![shape],
        };
        let mut nodes: Vec<Node> = shapes.into_iter().enumerate().map(parameter).collect();
        let operands = (0..nodes.len()).map(|node| Value { node, result: 0 }).collect();
        nodes.push(Node { operation, operands, results: vec![instruction.shape.clone()] });
        let roots = vec![Value { node: nodes.len() - 1, result: 0 }];
        self.graphs.push(Graph { nodes, roots });
        let found = self.flows.flow_once(&self.graphs, self.graphs.len() - 1);
        self.graphs.pop();
        found
    }

    /// The accesses of an instruction.
    ///
    /// # Errors
    /// An answer does not fit in 64 bits.
    pub fn found(&mut self, c: usize, k: usize) -> Result<Rc<Found>, Error> {
        let key = self.key(c, k);
        if let Some(found) = key.as_ref().and_then(|key| self.remembered.get(key)) {
            return Ok(found.clone());
        }
        let flow = self.flow(c, k)?;
        let found = Rc::new(Found { remarks: self.remarks(c, k), ..self.rows(c, k, &flow) });
        if let Some(key) = key {
            if self.remembered.len() == REMEMBERED {
                self.remembered.clear();
            }
            self.remembered.insert(key, found.clone());
        }
        Ok(found)
    }

    /// The key of the cache: the operation and the shapes as text; `None` where there are many.
    fn key(&self, c: usize, k: usize) -> Option<String> {
        let (computation, instruction) = self.at(c, k);
        let operands = instruction.operands.iter().map(|k| &computation.instructions[*k].shape);
        let small = |shape: &Shape| !matches!(shape, Shape::Tuple(parts) if parts.len() > SMALL);
        if instruction.operands.len() > SMALL || !small(&instruction.shape) || !operands.clone().all(small) {
            return None;
        }
        // Among the elementwise operations only a copy has a remark.
        let copy = if instruction.opcode == "copy" { "copy " } else { "" };
        let mut key = format!("{copy}{:?} {}", instruction.operation, instruction.shape);
        operands.for_each(|shape| _ = write!(key, " {shape}"));
        for (number, operand) in instruction.operands.iter().enumerate() {
            if let Some(AffineValues { constant, steps, .. }) = &self.known[c][*operand] {
                let _ = write!(key, " {number}: {constant} {steps:?}");
            }
        }
        Some(key)
    }

    /// The known values of the source of a run-time variable: an operand, or an instruction of a called computation.
    fn value(&self, c: usize, k: usize, place: &ValueRef) -> Option<&AffineValues> {
        match place.calls[..] {
            [] => self.known[c][*self.at(c, k).1.operands.get(place.node)?].as_ref(),
            _ => self.known[place.graph][place.node].as_ref(),
        }
    }

    /// For each leaf of the result, the entries of leaves of the operands.
    fn rows(&self, c: usize, k: usize, flow: &Flow) -> Found {
        let (computation, instruction) = self.at(c, k);
        let shapes: Vec<&Shape> = instruction.operands.iter().map(|k| &computation.instructions[*k].shape).collect();
        let counts: Vec<usize> = shapes.iter().map(|shape| count(shape)).collect();
        let results = leaves(&instruction.shape);
        let part = match (&instruction.operation, &shapes[..]) {
            (Operation::GetTupleElement { index }, [Shape::Tuple(parts)]) => Some((*index, parts)),
            _ => None,
        };
        let first = part.map_or(0, |(index, parts)| parts[..index].iter().map(count).sum());
        let arrays: Vec<Vec<&Array>> = match part {
            Some((index, parts)) => vec![leaves(&parts[index])],
            None => shapes.iter().map(|shape| leaves(shape)).collect(),
        };
        let mut seen: Vec<Vec<bool>> = counts.iter().map(|n| vec![false; *n]).collect();
        let mut row = |root: usize| {
            let mut entry = |(number, leaf): (usize, usize)| {
                let known = |access: &analysis::Access<ValueRef>| {
                    access.clone().with_values(|place, index| Some(self.value(c, k, place)?.at(index)))
                };
                let access = flow.reads(number, leaf, root).map(known);
                let access = access.as_ref();
                let sizes = arrays[number][leaf].sizes();
                let tiles = match (access, &sizes, results.get(root).and_then(|array| array.sizes())) {
                    (Some(access), Some(to), Some(from)) => self.tiles(access, &from, to),
                    _ => Vec::new(),
                };
                let named = |access: Option<&_>| access.map_or_else(Access::default, |a| self.named(a));
                seen[number][first + leaf] = true;
                Entry {
                    number,
                    part: (counts[number] > 1).then_some(first + leaf),
                    reads: named(access),
                    feeds: named(flow.feeds(number, leaf, root).map(known).as_ref()),
                    usage: access.zip(sizes.as_ref()).map(|(access, sizes)| access.usage(sizes)),
                    tiles,
                }
            };
            let others = flow.others(root).and_then(|access| access.unknown.first().cloned());
            // With one result, each operand that is a single array has an entry.
            let mut all: BTreeSet<(usize, usize)> = flow.related(root).collect();
            if flow.roots() == 1 && others.is_none() {
                all.extend((0..counts.len()).filter(|number| counts[*number] == 1).map(|number| (number, 0)));
            }
            Row { entries: all.into_iter().map(&mut entry).collect(), others }
        };
        let rows: Vec<Row> = (0..flow.roots()).map(&mut row).collect();
        let unread = if rows.iter().any(|row| row.others.is_some()) { Vec::new() } else { unread(&seen) };
        Found { rows, unread, remarks: Vec::new() }
    }

    /// An access as text.
    fn named(&self, access: &analysis::Access<ValueRef>) -> Access {
        let mut out = Access { unknown: access.unknown.clone(), ..Access::default() };
        for (number, mapped) in access.maps.iter().enumerate() {
            let name = |v| mapped.map.name(v);
            out.maps.push(mapped.map.to_string());
            for (j, run_time) in mapped.run_time.iter().enumerate() {
                let place = &run_time.source;
                // Nodes of the instruction's own graph are its operands; a called computation has instructions.
                let source = match place.calls[..] {
                    [] => "",
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

/// The leaves without an entry, consecutive ones together.
fn unread(seen: &[Vec<bool>]) -> Vec<Unread> {
    let mut found = Vec::new();
    for (number, leaves) in seen.iter().enumerate() {
        let mut from = 0;
        for run in leaves.chunk_by(|a, b| a == b) {
            if !run[0] {
                let parts = (leaves.len() > 1).then(|| [from, from + run.len() - 1]);
                found.push(Unread { number, parts });
            }
            from += run.len();
        }
    }
    found
}

/// A number, or its bounds.
pub fn amount(count: Count) -> String {
    match (count.exact(), count.most) {
        (Some(n), _) => n.to_string(),
        (None, Some(most)) => format!("{} to {most}", count.least),
        (None, None) => format!("at least {}", count.least),
    }
}
