//! One computation as one function: its arguments, its instructions, and its results.

use crate::builder::Builder;
use crate::collectives::Collectives;
use crate::external::Declarations;
use crate::instructions::{Site, instruction};
use crate::syntax::{quoted, symbol};
use crate::tensor::{ImportResult, Tensor, fits, names, tensors, types, values};
use crate::writer::with_types;
use std::collections::HashMap;
use std::fmt::Write;
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::Operation;
use tensor_layout::operations::Shape;
use tensor_layout::text::Error;

/// The text of a module, for locations.
pub struct Source {
    /// The name of the file, as a string literal.
    file: String,
    /// The offsets at which lines begin.
    starts: Vec<usize>,
}

impl Source {
    pub fn new(file: &str, text: &str) -> Source {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(k, _)| k + 1)).collect();
        Source { file: quoted(file), starts }
    }

    /// A place in the text.
    fn place(&self, at: usize) -> String {
        let line = self.starts.partition_point(|start| *start <= at);
        format!("{}:{line}:{}", self.file, at - self.starts[line - 1] + 1)
    }

    /// The location of an instruction: its name, at its place in the source program, or else in the text.
    fn location(&self, i: &Instruction) -> String {
        let place = match (&i.source.file, i.source.line) {
            (Some(file), Some(line)) => format!("{}:{}:1", quoted(file), line.clamp(0, i64::from(u32::MAX))),
            _ => self.place(i.at),
        };
        format!("{}({place})", quoted(&i.name))
    }
}

/// An unfinished function of a computation.
struct Function<'a> {
    computation: &'a Computation,
    source: &'a Source,
    builder: Builder<'a>,
    /// The leaves of the arguments, by the number of the parameter.
    arguments: Vec<Vec<Tensor>>,
    /// The leaves of each instruction so far; none for one that cannot be imported.
    values: Vec<Vec<Tensor>>,
    /// The end of each part among the values of a tuple, for tuples with `get-tuple-element` users.
    ends: HashMap<usize, Vec<usize>>,
    wrong: Vec<Error>,
    /// The shape of the results: of the entry, in the layouts of the module's header.
    results: Shape,
}

/// The text of the function of a computation.
///
/// # Errors
/// Each instruction that cannot be imported.
pub fn function(
    module: &Module,
    number: usize,
    source: &Source,
    collectives: Collectives,
    declared: &mut Declarations,
) -> Result<String, Vec<Error>> {
    let computation = &module.computations[number];
    let builder = Builder::new(module, collectives, declared);
    let mut function = Function {
        computation,
        source,
        builder,
        arguments: Vec::new(),
        values: Vec::new(),
        ends: HashMap::new(),
        wrong: Vec::new(),
        results: computation.result().shape.clone(),
    };
    let own = |k: &usize| computation.instructions[*k].shape.clone();
    let mut parameters: Vec<Shape> = computation.parameters.iter().map(own).collect();
    if number == module.entry {
        (parameters, function.results) = module.entry_shapes();
    }
    function.arguments(&parameters);
    function.head(number == module.entry);
    computation.instructions.iter().for_each(|i| function.instruction(i));
    function.ended()
}

impl Function<'_> {
    /// Names the leaves of the parameters `%a0`, `%a1`, ...
    fn arguments(&mut self, shapes: &[Shape]) {
        let mut count = 0;
        for (k, shape) in self.computation.parameters.iter().zip(shapes) {
            let at = self.computation.instructions[*k].at;
            let mut leaves = tensors(shape).unwrap_or_else(|fault| {
                self.wrong.push(fault.error(at));
                Vec::new()
            });
            for leaf in &mut leaves {
                leaf.name = format!("%a{count}");
                count += 1;
            }
            self.arguments.push(leaves);
        }
    }

    /// Writes an instruction. A failed operand is no error of its users.
    fn instruction(&mut self, i: &Instruction) {
        self.builder.w.location = format!(" loc({})", self.source.location(i));
        let done = match &i.operation {
            Operation::Parameter { number } => {
                let own = tensors(&i.shape);
                own.and_then(|own| self.builder.all_converted(&self.arguments[*number], &own))
            }
            Operation::GetTupleElement { index } => self.part(i, *index),
            _ if self.lacks_operands(i) => Ok(Vec::new()),
            _ => self.written(i),
        };
        self.values.push(done.unwrap_or_else(|fault| {
            self.wrong.push(fault.error(i.at));
            Vec::new()
        }));
    }

    /// A part of a tuple. A tuple of many parts may have as many users, so its values are counted once.
    fn part(&mut self, i: &Instruction, index: usize) -> ImportResult<Vec<Tensor>> {
        let operand = i.operands[0];
        if self.lacks_operands(i) {
            return Ok(Vec::new());
        }
        let Shape::Tuple(parts) = &self.computation.instructions[operand].shape else {
            return Err("the operand must be a tuple".into());
        };
        let ends = self.ends.entry(operand).or_insert_with(|| {
            let end = |end: &mut usize, part: &Shape| {
                *end += values(part);
                Some(*end)
            };
            parts.iter().scan(0, end).collect()
        });
        let first = index.checked_sub(1).map_or(0, |before| ends[before]);
        self.builder.all_converted(&self.values[operand][first..ends[index]], &tensors(&i.shape)?)
    }

    /// Whether an operand cannot be imported: it has no values, though its shape has arrays.
    fn lacks_operands(&self, i: &Instruction) -> bool {
        i.operands.iter().any(|k| self.values[*k].is_empty() && values(self.shape(*k)) != 0)
    }

    fn shape(&self, k: usize) -> &Shape {
        &self.computation.instructions[k].shape
    }

    fn written(&mut self, i: &Instruction) -> ImportResult<Vec<Tensor>> {
        let operands: Vec<&[Tensor]> = i.operands.iter().map(|k| &self.values[*k][..]).collect();
        let computation = self.computation;
        let shapes: Vec<&Shape> = i.operands.iter().map(|k| &computation.instructions[*k].shape).collect();
        let trips = self.builder.module.trip_count(computation, i);
        let done = instruction(&mut self.builder, &Site { i, shapes: &shapes, operands: &operands, trips })?;
        if fits(&i.shape, &done) {
            Ok(done)
        } else {
            Err(format!("`{}` to sizes that vary cannot be imported", i.opcode).into())
        }
    }

    /// Writes the head: the arguments, and the types of the root's values.
    fn head(&mut self, entry: bool) {
        let Function { computation, source, .. } = *self;
        let of_parameters = computation.parameters.iter().zip(&self.arguments).flat_map(|(k, all)| {
            let i = &computation.instructions[*k];
            let location = source.location(i);
            let shardings = if entry { shardings(i, all.len()) } else { vec![String::new(); all.len()] };
            let each = all.iter().zip(shardings);
            each.map(move |(t, sharding)| format!("{}: {}{sharding} loc({location})", t.name, t.ty))
        });
        let arguments = of_parameters.collect::<Vec<String>>().join(", ");
        // A root without tensors already has an error.
        let results = tensors(&self.results).unwrap_or_default();
        let (visibility, name) = (if entry { "" } else { "private " }, symbol(&computation.name));
        let with_shardings = match entry {
            true => {
                let shardings = shardings(computation.result(), results.len());
                results.iter().zip(shardings).map(|(t, s)| t.ty.clone() + &s).collect::<Vec<_>>().join(", ")
            }
            false => types(&results),
        };
        let kept = kept_shardings(computation);
        let text = &mut self.builder.w.text;
        let _ = writeln!(text, "  func.func {visibility}{name}({arguments}) -> ({with_shardings}){kept} {{");
    }

    /// The text of the function, with its return and its end.
    fn ended(mut self) -> Result<String, Vec<Error>> {
        let (computation, source) = (self.computation, self.source);
        let root = computation.result();
        if self.wrong.is_empty() {
            self.builder.w.location = format!(" loc({})", source.location(root));
            let results = tensors(&self.results);
            let results = results.and_then(|to| self.builder.all_converted(&self.values[computation.root], &to));
            match results {
                Ok(results) => {
                    let (text, location) = (&mut self.builder.w.text, source.location(root));
                    let _ =
                        writeln!(text, "    return{} loc({location})", with_types(&names(&results), &types(&results)));
                    let _ = writeln!(text, "  }} loc({}({}))", quoted(&computation.name), source.place(computation.at));
                }
                Err(fault) => self.wrong.push(fault.error(root.at)),
            }
        }
        if self.wrong.is_empty() { Ok(self.builder.w.text) } else { Err(self.wrong) }
    }
}

/// The shardings of all instructions, as an attribute of their function, by the names of the instructions:
/// ` attributes {hlo.shardings = {y = "{devices=[2,1]<=[2]}"}}`.
fn kept_shardings(computation: &Computation) -> String {
    let sharding = |i: &Instruction| Some(format!("{} = {}", quoted(&i.name), quoted(i.attribute("sharding")?)));
    let all: Vec<String> = computation.instructions.iter().filter_map(sharding).collect();
    if all.is_empty() { String::new() } else { format!(" attributes {{hlo.shardings = {{{}}}}}", all.join(", ")) }
}

/// The sharding of each array of an instruction, as an attribute of an argument or a result: ` {mhlo.sharding =
/// "{devices=[2,1]<=[2]}"}`, as in StableHLO. A tuple has a list of shardings; empty where the text has none for an
/// array.
fn shardings(i: &Instruction, count: usize) -> Vec<String> {
    let Some(text) = i.attribute("sharding") else { return vec![String::new(); count] };
    let all = tensor_layout::hlo::shardings(text, &i.shape);
    let attribute = |text: &str| format!(" {{mhlo.sharding = {}}}", quoted(text));
    if all.len() == count { all.into_iter().map(attribute).collect() } else { vec![String::new(); count] }
}
