//! Facts of a module beside the index maps: copies, effects, trip counts of loops, the layouts of arguments and
//! results, [fixed layouts](super::fixed_layouts), and donations.
//!
//! The trip count of a loop is the `known_trip_count` of its `backend_config`, or is derived from its counter: the
//! condition must be `compare(i, n), direction=LT` with a constant `n`, and `i` a part of the tuple that starts at a
//! constant, to which the body adds a constant.
//!
//! Before layout assignment, instructions have row-major layouts, and `entry_computation_layout` has the layouts of the
//! caller's arrays.

use super::aliases::pairs;
use super::fixed_layouts::fixed_layouts;
use super::literal::Values;
use super::module::{Computation, Instruction, Module};
use crate::operations::facts::Facts;
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, leaves};
use crate::text::{Cursor, Error};
use crate::tiled::layout::Layout;
use std::collections::HashMap;

impl Module {
    /// Facts about the nodes of [`Module::graphs`].
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let effects = self.effects();
        for (c, computation) in self.computations.iter().enumerate() {
            for (k, instruction) in computation.instructions.iter().enumerate() {
                if matches!(&*instruction.opcode, "copy" | "copy-start") {
                    facts.copies.insert((c, k));
                }
                if let Some(fixed) = fixed_layouts(computation, instruction) {
                    facts.fixed_layouts.insert((c, k), fixed);
                }
                if instruction.runs_effect(&effects) {
                    facts.once.insert((c, k));
                }
                if is_cast(computation, instruction) {
                    facts.casts.insert((c, k));
                }
                if let Some(trips) = self.trip_count(computation, instruction) {
                    facts.trips.insert((c, k), trips);
                }
            }
        }
        let mut computed = Computed::default();
        for (c, computation) in self.computations.iter().enumerate() {
            let is_own = |k: usize| {
                let at = (c, k);
                facts.once.contains(&at) || facts.copies.contains(&at) || facts.fixed_layouts.contains_key(&at)
            };
            let calls = |k: &usize| matches!(computation.instructions[*k].operation, Operation::Call { .. });
            let behind = behind_barriers(computation);
            let behind = (0..behind.len()).filter(|k| behind[*k]).filter(calls);
            facts.behind_barriers.extend(behind.map(|k| (c, k)));
            let numbers = computed.of(computation, is_own).into_iter().enumerate();
            facts.computed.extend(numbers.filter_map(|(k, number)| Some(((c, k), number?))));
        }
        // Checked when the module was read.
        if let Some(text) = self.attribute("entry_computation_layout") {
            let _ = self.entry_layouts(text, &mut facts);
        }
        if let Some(text) = self.attribute("input_output_alias") {
            let entry = &self.computations[self.entry];
            let parameters: Vec<&Shape> = entry.parameters.iter().map(|k| &entry.instructions[*k].shape).collect();
            let carried = pairs(text, &entry.result().shape, &parameters).unwrap_or_default();
            facts.carried = carried.into_iter().map(|own| (own.result, (own.operand, own.leaf))).collect();
        }
        facts
    }

    /// Whether each computation has an instruction with an effect, or one that runs such a computation.
    pub fn effects(&self) -> Vec<bool> {
        let mut found: Vec<bool> = Vec::with_capacity(self.computations.len());
        // Computations come after their callees.
        for computation in &self.computations {
            let own = computation.instructions.iter().any(|instruction| instruction.runs_effect(&found));
            found.push(own);
        }
        found
    }

    /// The shapes of the entry's parameters and of its result, with the layouts of `entry_computation_layout`.
    pub fn entry_shapes(&self) -> (Vec<Shape>, Shape) {
        let (entry, mut facts) = (&self.computations[self.entry], Facts::default());
        // Checked when the module was read.
        if let Some(text) = self.attribute("entry_computation_layout") {
            let _ = self.entry_layouts(text, &mut facts);
        }
        let parameter = |(number, k): (usize, &usize)| {
            laid_out(&entry.instructions[*k].shape, &mut 0, &|leaf| facts.arguments.get(&(number, leaf)))
        };
        let parameters = entry.parameters.iter().enumerate().map(parameter).collect();
        (parameters, laid_out(&entry.result().shape, &mut 0, &|leaf| facts.results.get(&leaf)))
    }

    /// Reads `{(f32[2]{0})->f32[3]{0}}`.
    fn entry_layouts(&self, text: &str, facts: &mut Facts) -> Result<(), Error> {
        let cursor = &mut Cursor::new(text);
        cursor.expect("{", "`{`")?;
        cursor.expect("(", "`(`")?;
        for number in 0..self.computations[self.entry].parameters.len() {
            cursor.eat(",");
            facts.arguments.extend(said(cursor)?.into_iter().map(|(leaf, layout)| ((number, leaf), layout)));
        }
        cursor.expect(")", "`)`")?;
        cursor.expect("->", "`->`")?;
        facts.results.extend(said(cursor)?);
        Ok(())
    }

    /// The trip count of a loop in a computation, if it is known.
    pub fn trip_count(&self, around: &Computation, own: &Instruction) -> Option<i64> {
        let Operation::While { condition, body } = own.operation else { return None };
        let said = own.attribute("backend_config").and_then(known_trip_count);
        said.or_else(|| self.counted(around, own, condition, body))
    }

    /// The trip count of a loop with a counter.
    fn counted(&self, around: &Computation, own: &Instruction, condition: usize, body: usize) -> Option<i64> {
        let (condition, body) = (&self.computations[condition], &self.computations[body]);
        let compare = condition.result();
        if compare.opcode != "compare" || compare.attribute("direction") != Some("LT") {
            return None;
        }
        let [i, n] = compare.operands[..] else { return None };
        let limit = constant(condition, n)?;
        let part = part(condition, i)?;
        let start = constant(around, self.element(around, own.operands[0], part)?)?;
        let next = self.element(body, body.root, part)?;
        let add = &body.instructions[next];
        let [a, b] = add.operands[..] else { return None };
        if add.opcode != "add" || self::part(body, a) != Some(part) {
            return None;
        }
        let step = constant(body, b).filter(|step| *step > 0)?;
        let span = limit.checked_sub(start)?.max(0);
        Some(span / step + i64::from(span % step != 0))
    }

    /// The operand of a tuple at a part.
    fn element(&self, computation: &Computation, tuple: usize, part: i64) -> Option<usize> {
        let tuple = &computation.instructions[tuple];
        if tuple.opcode != "tuple" {
            return None;
        }
        tuple.operands.get(usize::try_from(part).ok()?).copied()
    }
}

/// The numbers of instructions that compute the same of the same operands, computation by computation.
#[derive(Default)]
struct Computed {
    /// By the text of an instruction without names, and by that of a computation.
    numbers: HashMap<String, usize>,
    /// For each computation its number.
    computations: Vec<usize>,
}

impl Computed {
    /// The number of each instruction of the next computation; `None` for parameters and tuples, for what `is_own` says, for
    /// what is made of the result of an `opt-barrier`, and where the text does not say what is computed: a custom call, and
    /// values of arrays, which are not compared.
    fn of(&mut self, computation: &Computation, is_own: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
        let (mut found, mut all) = (Vec::with_capacity(computation.instructions.len()), String::new());
        let behind = behind_barriers(computation);
        for (k, own) in computation.instructions.iter().enumerate() {
            let is_known = match &*own.opcode {
                "constant" => own.literal.as_ref().is_some_and(|literal| !literal.text.contains('{')),
                opcode => !matches!(opcode, "parameter" | "tuple" | "custom-call") && !is_own(k) && !behind[k],
            };
            let number = is_known.then(|| self.number(self.text(own)));
            all += &match (&own.operation, number) {
                (Operation::Parameter { number }, _) => format!("parameter {number} {:?};", own.shape),
                (_, Some(number)) => format!("{number} {:?};", own.operands),
                (_, None) => format!("{k} of {};", self.computations.len()),
            };
            found.push(number);
        }
        let own = self.number(format!("computation {} {all}", computation.root));
        self.computations.push(own);
        found
    }

    fn number(&mut self, text: String) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(text).or_insert(next)
    }

    /// An instruction without its name and its operands.
    fn text(&self, own: &Instruction) -> String {
        let called: Vec<usize> = own.called.iter().map(|called| self.computations[*called]).collect();
        let literal = own.literal.as_ref().map_or("", |literal| &literal.text);
        let mut text = format!("{} {:?} {called:?} {literal}", own.opcode, own.shape);
        let names = ["metadata", "frontend_attributes", "to_apply", "calls", "condition", "body", "select", "scatter"];
        for attribute in own.attributes.iter().filter(|attribute| !names.contains(&&*attribute.name)) {
            text += &format!(" {}={}", attribute.name, attribute.text);
        }
        text
    }
}

/// Whether an instruction converts an array of floats to floats of fewer bits.
fn is_cast(computation: &Computation, own: &Instruction) -> bool {
    let bits = |shape: &Shape| match shape {
        Shape::Array(array) if array.element.is_float() => array.element.bits(),
        _ => None,
    };
    let from = own.operands.first().and_then(|operand| bits(&computation.instructions[*operand].shape));
    own.opcode == "convert" && from.zip(bits(&own.shape)).is_some_and(|(from, to)| to < from)
}

/// Whether each instruction is an `opt-barrier`, or made of the result of one.
fn behind_barriers(computation: &Computation) -> Vec<bool> {
    let mut behind: Vec<bool> = Vec::with_capacity(computation.instructions.len());
    for own in &computation.instructions {
        behind.push(own.opcode == "opt-barrier" || own.operands.iter().any(|operand| behind[*operand]));
    }
    behind
}

/// The layouts of the arrays of a shape, if the text has layouts there.
fn said(cursor: &mut Cursor) -> Result<Vec<(usize, Layout)>, Error> {
    let before = cursor.rest();
    let shape = Shape::read(cursor, 0)?;
    let has_layout = before[..before.len() - cursor.rest().len()].contains('{');
    Ok(leaves(&shape).into_iter().map(|array| array.layout.clone()).enumerate().filter(|_| has_layout).collect())
}

/// A shape whose arrays have other layouts, by their numbers from `leaf` on.
fn laid_out<'l>(shape: &Shape, leaf: &mut usize, layout: &impl Fn(usize) -> Option<&'l Layout>) -> Shape {
    let mut other = |array: &Array| {
        let layout = layout(*leaf).unwrap_or(&array.layout).clone();
        *leaf += 1;
        Array { layout, ..array.clone() }
    };
    match shape {
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(|part| laid_out(part, leaf, layout)).collect()),
        Shape::Buffer(array) => Shape::Buffer(other(array)),
        Shape::Array(array) => Shape::Array(other(array)),
    }
}

/// The part of the computation's parameter that an instruction extracts.
fn part(computation: &Computation, k: usize) -> Option<i64> {
    let instruction = &computation.instructions[k];
    match instruction.operation {
        Operation::GetTupleElement { index } => {
            let from = &computation.instructions[*instruction.operands.first()?];
            matches!(from.operation, Operation::Parameter { .. }).then_some(i64::try_from(index).ok())?
        }
        _ => None,
    }
}

/// The integer value of a constant.
fn constant(computation: &Computation, k: usize) -> Option<i64> {
    match &computation.instructions[k].literal.as_ref()?.values {
        Values::Integers(values) => values.first().and_then(|n| i64::try_from(*n).ok()),
        _ => None,
    }
}

/// `n` of `"known_trip_count":{"n":"32"}`.
fn known_trip_count(config: &str) -> Option<i64> {
    let rest = config.split_once("known_trip_count")?.1.trim_start_matches(['\\', '"', ':', '{', ' ']);
    let rest = rest.strip_prefix('n')?.trim_start_matches(['\\', '"', ':', ' ']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
