//! What the instructions of an HLO module read and feed: a table for people, a JSON object a line for programs.

use crate::report;
use layout::analysis::{Access, Flow, Graph, Node, Value as Use, flow, leaves};
use layout::expansion::Expansion;
use layout::hlo::{Computation, Instruction, Module};
use layout::operation::Operation;
use layout::shape::Shape;
use layout::text::Error;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// A module with what each of its instructions reads.
pub struct Report {
    module: Module,
    graphs: Vec<Graph>,
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
    pub fn new(text: &str) -> Result<Report, Vec<Error>> {
        let module = Module::parse(text)?;
        let graphs = module.graphs();
        Ok(Report { module, graphs })
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
            for (result, row) in self.rows(c, k, &found).into_iter().enumerate() {
                let of = if found.roots() == 1 { String::new() } else { format!("result {result}, ") };
                for (name, part, reads, feeds) in row {
                    let part = part.map_or(String::new(), |part| format!(" part {part}"));
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
            let operands = |row: &[(String, Option<usize>, Told, Told)]| row.iter().map(operand).collect::<Vec<_>>();
            if let Shape::Tuple(_) = instruction.shape {
                object["results"] = rows.iter().map(|row| json!(operands(row))).collect();
            } else {
                object["operands"] = json!(rows.first().map_or(Vec::new(), |row| operands(row)));
            }
            if instruction.opcode == "fusion" {
                let parameters = &self.module.computations[instruction.called[0]];
                let name = |p: usize| parameters.instructions[parameters.parameters[p]].name.clone();
                let fused = |row: &[(String, Option<usize>, Told, Told)]| {
                    let entry = |(p, entry): (usize, &(String, Option<usize>, Told, Told))| {
                        let mut maps = operand(entry);
                        maps.as_object_mut().map(|fields| fields.remove("name"));
                        (name(p), maps)
                    };
                    Value::Object(row.iter().enumerate().map(entry).collect::<Map<_, _>>())
                };
                let fused: Vec<Value> = rows.iter().map(|row| fused(row)).collect();
                object["fusion"] = match &instruction.shape {
                    Shape::Tuple(_) => json!(fused),
                    _ => fused.into_iter().next().unwrap_or(json!({})),
                };
            }
            all.push(object);
        }
        Ok(all)
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
        let found = flow(&self.graphs, self.graphs.len() - 1);
        self.graphs.pop();
        found
    }

    /// For each leaf of the result, and each leaf of an operand: the operand's name, the leaf where it has several, and
    /// both directions.
    fn rows(&self, c: usize, k: usize, found: &Flow) -> Vec<Vec<(String, Option<usize>, Told, Told)>> {
        let (computation, instruction) = self.at(c, k);
        let names: Vec<&str> =
            instruction.operands.iter().map(|operand| &*computation.instructions[*operand].name).collect();
        let row = |root| {
            let mut row = Vec::new();
            for (p, count) in found.parameters().into_iter().enumerate() {
                for leaf in 0..count {
                    let told =
                        |access: Option<&Access<_>>| access.map_or_else(Told::none, |a| self.told(a, c, k, &names));
                    let (reads, feeds) = (told(found.reads(p, leaf, root)), told(found.feeds(p, leaf, root)));
                    row.push((names[p].to_string(), (count > 1).then_some(leaf), reads, feeds));
                }
            }
            row
        };
        (0..found.roots()).map(row).collect()
    }

    fn told(&self, access: &Access<layout::analysis::Place>, c: usize, k: usize, names: &[&str]) -> Told {
        let mut told = Told { maps: Vec::new(), run_time: Vec::new(), unknown: access.unknown.clone() };
        for (number, mapped) in access.maps.iter().enumerate() {
            let name = |v| mapped.map.name(v);
            told.maps.push(mapped.map.to_string());
            for (j, run_time) in mapped.run_time.iter().enumerate() {
                let place = &run_time.source;
                // Nodes of the instruction's own graph are its operands; what is called has instructions.
                let source = match place.calls.split_first() {
                    None => names.get(place.node).map_or_else(String::new, |name| name.to_string()),
                    Some((_, inner)) => self.inside(self.at(c, k).1, inner, place.node),
                };
                let list = |all: &mut dyn Iterator<Item = String>| format!("[{}]", all.collect::<Vec<_>>().join(", "));
                let element = list(&mut run_time.element.iter().map(|e| layout::expr::Named(e, &name).to_string()));
                told.run_time.push(json!({
                    "map": number, "variable": name(mapped.map.dims + mapped.map.ranges + j), "source": source,
                    "element": element, "interval": [run_time.within.lo, run_time.within.hi],
                    "clamped": run_time.clamped,
                }));
            }
        }
        told
    }

    /// The name of an instruction in what a call runs, through further calls.
    fn inside(&self, call: &Instruction, calls: &[usize], node: usize) -> String {
        let Some(computation) = call.called.last().map(|c| &self.module.computations[*c]) else { return String::new() };
        match calls.split_first() {
            None => computation.instructions.get(node).map_or_else(String::new, |i| i.name.clone()),
            Some((next, rest)) => {
                computation.instructions.get(*next).map_or_else(String::new, |i| self.inside(i, rest, node))
            }
        }
    }
}

impl Told {
    fn none() -> Told {
        Told { maps: Vec::new(), run_time: Vec::new(), unknown: Vec::new() }
    }
}

/// An operand's entry in JSON.
fn operand((name, part, reads, feeds): &(String, Option<usize>, Told, Told)) -> Value {
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
    if let Some(reason) = reads.unknown.first().or(feeds.unknown.first()) {
        entry["undefined"] = json!(reason);
    }
    entry
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
