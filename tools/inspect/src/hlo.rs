//! What the instructions of an HLO module read and feed: a table for people, a JSON object a line for programs.

use crate::report;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use tensor_layout::analysis::{Access, Cause, Count, Flow, Flows, Moved, Movement, Needed, Tile, Usage, movement};
use tensor_layout::expr::{Expr, Named};
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::maps::Interval;
use tensor_layout::operations::Operation;
use tensor_layout::operations::Shape;
use tensor_layout::operations::{Graph, Node, Value as Use, leaves};
use tensor_layout::text::Error;
use tensor_layout::tiled::Expansion;

/// A module with what each of its instructions reads.
pub struct Report {
    module: Module,
    graphs: Vec<Graph>,
    flows: Flows,
    /// The sizes of a tile of each result, for which to say what is needed.
    tile: Option<Vec<i64>>,
}

/// What an instruction has to do with one leaf of an operand.
struct Entry {
    /// The operand's number, and its name.
    number: usize,
    name: String,
    /// The leaf, where the operand has several.
    part: Option<usize>,
    reads: Told,
    feeds: Told,
    /// How much of it is read.
    usage: Option<Usage>,
    /// What a tile of the result needs of it, where one was asked for.
    tiles: Vec<String>,
}

/// An access whose run-time values are told by name.
struct Told {
    maps: Vec<String>,
    run_time: Vec<Value>,
    unknown: Vec<String>,
}

impl Report {
    /// Reads a module.
    ///
    /// # Errors
    /// All that is wrong with the text.
    pub fn new(text: &str, tile: Option<Vec<i64>>) -> Result<Report, Vec<Error>> {
        let module = Module::parse(text)?;
        let graphs = module.graphs();
        Ok(Report { module, graphs, flows: Flows::default(), tile })
    }

    /// The table of all instructions, or of those with this name.
    ///
    /// # Errors
    /// No instruction has that name, or an answer does not fit in 64 bits.
    pub fn table(&mut self, only: Option<&str>) -> Result<String, Error> {
        let mut out = String::new();
        let mut last = None;
        for (c, k) in self.chosen(only)? {
            let found = self.flow(c, k)?;
            let (computation, instruction) = self.at(c, k);
            if last.replace(c) != Some(c) {
                let entry = if c == self.module.entry { "ENTRY " } else { "" };
                let _ = writeln!(out, "{}{entry}{}", if out.is_empty() { "" } else { "\n" }, computation.name);
            }
            let root = if k == computation.root { "ROOT " } else { "" };
            let _ = write!(out, "  {root}{} = {} {}", instruction.name, instruction.shape, instruction.opcode);
            out.push_str(&memory(&instruction.shape)?);
            out.push('\n');
            for line in self.remarks(c, k) {
                let _ = writeln!(out, "    {line}");
            }
            for (result, row) in self.rows(c, k, &found).into_iter().enumerate() {
                let of = if found.roots() == 1 { String::new() } else { format!("result {result}, ") };
                for Entry { name, part, reads, feeds, usage, tiles, .. } in row {
                    let part = part.map_or(String::new(), |part| format!(" part {part}"));
                    if reads.maps.is_empty() && reads.unknown.is_empty() {
                        let _ = writeln!(out, "    {of}{name}{part} is never read");
                        continue;
                    }
                    for (verb, told) in [("reads", reads), ("feeds", feeds)] {
                        let unknown = told.unknown.iter().map(|reason| format!("UNDEFINED: {reason}"));
                        for line in told.maps.iter().cloned().chain(unknown) {
                            let _ = writeln!(out, "    {of}{name}{part} {verb} {line}");
                        }
                        for run_time in &told.run_time {
                            let text = |key: &str| run_time[key].as_str().unwrap_or("").to_string();
                            let _ = writeln!(out, "      {} = {}{}", text("variable"), text("source"), text("element"));
                        }
                    }
                    if let Some(usage) = usage {
                        let (elements, reads) = (counted(usage.elements), counted(usage.reads));
                        let _ = writeln!(out, "      {elements} of {} elements are read, in {reads} reads", usage.size);
                    }
                    for tile in tiles {
                        let _ = writeln!(out, "      {tile}");
                    }
                }
            }
        }
        Ok(out)
    }

    /// One JSON object for each instruction, or for those with this name.
    ///
    /// # Errors
    /// As [`Report::table`].
    pub fn json(&mut self, only: Option<&str>) -> Result<Vec<Value>, Error> {
        let mut all = Vec::new();
        for (c, k) in self.chosen(only)? {
            let found = self.flow(c, k)?;
            let (computation, instruction) = self.at(c, k);
            let mut object = json!({
                "name": instruction.name, "opcode": instruction.opcode, "shape": instruction.shape.to_string(),
                "computation": computation.name, "root": k == computation.root,
            });
            let rows = self.rows(c, k, &found);
            let operands = |row: &[Entry]| row.iter().map(operand).collect::<Vec<_>>();
            if let Shape::Tuple(_) = instruction.shape {
                object["results"] = rows.iter().map(|row| json!(operands(row))).collect();
            } else {
                object["operands"] = json!(rows.first().map_or(Vec::new(), |row| operands(row)));
            }
            if instruction.opcode == "fusion" {
                let parameters = &self.module.computations[instruction.called[0]];
                let name = |p: usize| parameters.instructions[parameters.parameters[p]].name.clone();
                let fused = |row: &[Entry]| {
                    let mut parameters = Map::new();
                    for entry in row {
                        let mut maps = operand(entry);
                        maps.as_object_mut().map(|fields| fields.remove("name"));
                        for run_time in maps.get_mut("runtime").and_then(Value::as_array_mut).into_iter().flatten() {
                            if let Some(own) = run_time["operand"].as_u64() {
                                run_time["source"] = json!(name(own as usize));
                            }
                        }
                        // A parameter that is a tuple has a list of its parts.
                        let own = parameters.entry(name(entry.number)).or_insert_with(|| json!([]));
                        match (entry.part, own.as_array_mut()) {
                            (Some(_), Some(parts)) => parts.push(maps),
                            _ => *own = maps,
                        }
                    }
                    Value::Object(parameters)
                };
                let fused: Vec<Value> = rows.iter().map(|row| fused(row)).collect();
                object["fusion"] = match &instruction.shape {
                    Shape::Tuple(_) => json!(fused),
                    _ => fused.into_iter().next().unwrap_or(json!({})),
                };
            }
            let remarks = self.remarks(c, k);
            if !remarks.is_empty() {
                object["remarks"] = json!(remarks);
            }
            all.push(object);
        }
        Ok(all)
    }

    /// What else there is to say: what a fusion saves, and what a change of shape moves.
    fn remarks(&mut self, c: usize, k: usize) -> Vec<String> {
        let computation = &self.module.computations[c];
        let instruction = &computation.instructions[k];
        match &instruction.operation {
            Operation::Call { computation } => match self.flows.traffic(&self.graphs, *computation) {
                Ok((fused, apart)) => vec![format!(
                    "fused: {} bytes read, {} written; apart: {} read, {} written",
                    counted(fused.read),
                    counted(fused.written),
                    counted(apart.read),
                    counted(apart.written)
                )],
                Err(_) => Vec::new(),
            },
            operation @ (Operation::Reshape | Operation::Transpose { .. }) => {
                let operand = &computation.instructions[instruction.operands[0]].shape;
                movement(operation, operand, &instruction.shape).map_or(Vec::new(), |moved| vec![said(&moved)])
            }
            _ => Vec::new(),
        }
    }

    /// What a tile of the result needs of an operand.
    fn tiles(&self, access: &Access<tensor_layout::analysis::Place>, from: &[i64], to: &[i64]) -> Vec<String> {
        // One tile is asked for; results of another rank have none.
        let Some(sizes) = self.tile.as_ref().filter(|sizes| sizes.len() == from.len()) else { return Vec::new() };
        let pieces = |(n, size): (&i64, &i64)| Interval::new(0, (n - 1).max(0) / (*size).max(1));
        let variables: Vec<Interval> = from.iter().zip(sizes).map(pieces).collect();
        let offsets = sizes.iter().enumerate().map(|(k, size)| Expr::Var(k).times(*size)).collect();
        let tile = Tile { offsets, sizes: sizes.clone(), strides: vec![1; sizes.len()] };
        let name = |v: usize| if v < sizes.len() { format!("i{v}") } else { format!("rt{}", v - sizes.len()) };
        let told = |needed: Result<Needed, String>| match needed {
            Err(reason) => format!("no tile: {reason}"),
            Ok(Needed { tile, cut, ends }) => {
                let offsets: Vec<String> = tile.offsets.iter().map(|e| Named(e, &name).to_string()).collect();
                let edge = if cut { ", cut off at the edge" } else { "" };
                let mut told = format!("tile [{}] {:?} {:?}{edge}", offsets.join(", "), tile.sizes, tile.strides);
                for (k, [first, last]) in ends.iter().enumerate() {
                    for (word, end) in [("from", first), ("up to", last)] {
                        if let Some(end) = end {
                            let _ = write!(told, ", dimension {k} {word} {}", Named(end, &name));
                        }
                    }
                }
                told
            }
        };
        match access.tiles(&tile, &variables, from, to) {
            Ok(all) => all.into_iter().map(told).collect(),
            Err(error) => vec![format!("no tile: {error}")],
        }
    }

    fn at(&self, c: usize, k: usize) -> (&Computation, &Instruction) {
        (&self.module.computations[c], &self.module.computations[c].instructions[k])
    }

    /// The instructions asked for, by computation and place.
    fn chosen(&self, only: Option<&str>) -> Result<Vec<(usize, usize)>, Error> {
        let all = self.module.computations.iter().enumerate();
        let all = all.flat_map(|(c, computation)| (0..computation.instructions.len()).map(move |k| (c, k)));
        let only = only.map(|name| name.trim_start_matches('%'));
        let chosen: Vec<_> = all.filter(|(c, k)| only.is_none_or(|name| self.at(*c, *k).1.name == name)).collect();
        match only {
            Some(name) if chosen.is_empty() => {
                Err(Error::new(format!("no instruction is called `{}`", name.chars().take(80).collect::<String>())))
            }
            _ => Ok(chosen),
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
        let operands = (0..nodes.len()).map(|node| Use { node, result: 0 }).collect();
        // A parameter of the computation reads nothing, and is none of this graph.
        let operation = match &instruction.operation {
            Operation::Parameter { .. } => Operation::Constant,
            operation => operation.clone(),
        };
        nodes.push(Node { operation, operands, results: instruction.results.clone() });
        let roots = vec![Use { node: nodes.len() - 1, result: 0 }];
        self.graphs.push(Graph { nodes, roots });
        let found = self.flows.flow_once(&self.graphs, self.graphs.len() - 1);
        self.graphs.pop();
        found
    }

    /// For each leaf of the result, and each leaf of an operand: the operand's name, the leaf where it has several, and
    /// both directions.
    fn rows(&self, c: usize, k: usize, found: &Flow) -> Vec<Vec<Entry>> {
        let (computation, instruction) = self.at(c, k);
        let names: Vec<&str> =
            instruction.operands.iter().map(|operand| &*computation.instructions[*operand].name).collect();
        let row = |root| {
            let mut row = Vec::new();
            for (p, count) in found.parameters().into_iter().enumerate() {
                for leaf in 0..count {
                    let told = |access: Option<&Access<_>>| access.map_or_else(Told::none, |a| self.told(a, &names));
                    let (reads, feeds) = (told(found.reads(p, leaf, root)), told(found.feeds(p, leaf, root)));
                    let operand = &computation.instructions[instruction.operands[p]].shape;
                    let sizes = leaves(operand).get(leaf).and_then(|array| array.sizes());
                    let access = found.reads(p, leaf, root);
                    let usage = access.zip(sizes.as_ref()).map(|(access, sizes)| access.usage(sizes));
                    let result = leaves(&instruction.shape).get(root).and_then(|array| array.sizes());
                    let tiles = match (access, &sizes, result) {
                        (Some(access), Some(to), Some(from)) => self.tiles(access, &from, to),
                        _ => Vec::new(),
                    };
                    let (name, part) = (names[p].to_string(), (count > 1).then_some(leaf));
                    row.push(Entry { number: p, name, part, reads, feeds, usage, tiles });
                }
            }
            row
        };
        (0..found.roots()).map(row).collect()
    }

    fn told(&self, access: &Access<tensor_layout::analysis::Place>, names: &[&str]) -> Told {
        let mut told = Told { maps: Vec::new(), run_time: Vec::new(), unknown: access.unknown.clone() };
        for (number, mapped) in access.maps.iter().enumerate() {
            let name = |v| mapped.map.name(v);
            told.maps.push(mapped.map.to_string());
            for (j, run_time) in mapped.run_time.iter().enumerate() {
                let place = &run_time.source;
                // Nodes of the instruction's own graph are its operands; what is called has instructions.
                let source = match place.calls[..] {
                    [] => names.get(place.node).copied().unwrap_or(""),
                    _ => &self.at(place.graph, place.node).1.name,
                };
                let list = |all: &mut dyn Iterator<Item = String>| format!("[{}]", all.collect::<Vec<_>>().join(", "));
                let element = list(&mut run_time.element.iter().map(|e| Named(e, &name).to_string()));
                let mut entry = json!({
                    "map": number, "variable": name(mapped.map.dims + mapped.map.ranges + j), "source": source,
                    "element": element, "interval": [run_time.within.lo, run_time.within.hi],
                    "clamped": run_time.clamped,
                });
                if place.calls.is_empty() {
                    entry["operand"] = json!(place.node);
                }
                told.run_time.push(entry);
            }
        }
        told
    }
}

impl Told {
    fn none() -> Told {
        Told { maps: Vec::new(), run_time: Vec::new(), unknown: Vec::new() }
    }
}

/// An operand's entry in JSON.
fn operand(entry: &Entry) -> Value {
    let Entry { name, part, reads, feeds, usage, tiles, .. } = entry;
    let mut entry = json!({"name": name, "output_to_input": reads.maps, "input_to_output": feeds.maps});
    if let Some(part) = part {
        entry["part"] = json!(part);
    }
    let directed = |told: &Told, direction: &str| {
        let mut all = told.run_time.clone();
        all.iter_mut().for_each(|run_time| run_time["direction"] = json!(direction));
        all
    };
    let run_time = [directed(reads, "output_to_input"), directed(feeds, "input_to_output")].concat();
    if !run_time.is_empty() {
        entry["runtime"] = json!(run_time);
    }
    if let Some(usage) = usage {
        entry["usage"] = json!({
            "size": number(usage.size), "elements": range(usage.elements), "reads": range(usage.reads),
        });
    }
    if !tiles.is_empty() {
        entry["tiles"] = json!(tiles);
    }
    if let Some(reason) = reads.unknown.first().or(feeds.unknown.first()) {
        entry["undefined"] = json!(reason);
    }
    entry
}

/// A number, or between which two it is.
fn counted(count: Count) -> String {
    match (count.exact(), count.most) {
        (Some(n), _) => n.to_string(),
        (None, Some(most)) => format!("{} to {most}", count.least),
        (None, None) => format!("at least {}", count.least),
    }
}

/// A number in JSON, which has those of 64 bits.
fn number(n: u128) -> Value {
    u64::try_from(n).map_or_else(|_| json!(n.to_string()), |n| json!(n))
}

/// A number, or the least and the greatest that it may be.
fn range(count: Count) -> Value {
    match count.exact() {
        Some(n) => number(n),
        None => json!([number(count.least), count.most.map(number)]),
    }
}

/// Whether something moves, in words.
pub fn said(moved: &Movement) -> String {
    match moved {
        Movement::Free => "free: every element stays at its byte".to_string(),
        Movement::Unknown { reason } => format!("not known whether it is free: {reason}"),
        Movement::Moves { cause, nearest } => {
            let cause = match cause {
                Cause::Element(Moved { index, from, to }) => {
                    format!("element {index:?} goes from offset {from} to {to}")
                }
                Cause::Larger => "the result takes more memory".to_string(),
                Cause::Space { from, to } => format!("the data lies in memory space {from}, not {to}"),
            };
            match nearest {
                Ok(layout) => format!("moves: {cause}; with {layout} it would be free"),
                Err(reason) => format!("moves: {cause}; no layout was found that makes it free: {reason}"),
            }
        }
    }
}

/// Bytes and waste of a shape's arrays.
fn memory(shape: &Shape) -> Result<String, Error> {
    let (mut logical, mut padded) = (0i64, 0i64);
    let too_large = || Error::new("the bytes of a shape do not fit in 64 bits");
    for array in leaves(shape) {
        let Some((array, sizes)) = report::laid_out(&Shape::Array(array.clone())).map(|(a, s)| (a.clone(), s)) else {
            continue;
        };
        let expansion = Expansion::new(&sizes, &array.layout)?;
        logical = logical.checked_add(expansion.logical_bytes(array.element)?).ok_or_else(too_large)?;
        padded = padded.checked_add(expansion.padded_bytes(array.element)?).ok_or_else(too_large)?;
    }
    Ok(match padded {
        0 => String::new(),
        _ => format!("  {padded} bytes, {:.1} % padding", 100.0 * (padded - logical) as f64 / padded as f64),
    })
}
