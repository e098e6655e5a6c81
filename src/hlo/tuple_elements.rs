//! Operands that are parts of tuples: `t#1#0` is part 0 of part 1 of `t`.
//!
//! Newer versions of XLA write `get-tuple-element` in this way. Each part gets its own instruction, as in XLA's parser:
//! `t_1` and `t_1_0`, with the suffix `.1`, `.2` and so on if the name is taken.

use super::raw::{RawAttribute, RawComputation, RawInstruction, RawOperand};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The separator between a tuple and the number of its part.
const SIGN: char = '#';

/// Inserts a `get-tuple-element` before the first instruction that uses a part.
pub(super) fn expand(computation: &mut RawComputation) {
    let is_part = |operand: &RawOperand| operand.name.contains(SIGN);
    if !computation.instructions.iter().any(|instruction| instruction.operands.iter().any(is_part)) {
        return;
    }
    let mut old = std::mem::take(&mut computation.instructions);
    let mut parts = TupleParts {
        names: old.iter().map(|instruction| instruction.name.to_string()).collect(),
        made: HashMap::new(),
        instructions: Vec::with_capacity(old.len()),
    };
    for instruction in &mut old {
        for operand in &mut instruction.operands {
            if let (Cow::Borrowed(text), false) = (&operand.name, parts.names.contains(&*operand.name)) {
                parts.split(text, operand);
            }
        }
        let read = std::mem::replace(instruction, RawInstruction::new("".into(), instruction.at));
        parts.instructions.push(read);
    }
    computation.instructions = parts.instructions;
}

/// The parts of tuples in a computation.
struct TupleParts<'a> {
    /// The names of all instructions.
    names: HashSet<String>,
    /// The names of the parts, by their text.
    made: HashMap<&'a str, String>,
    instructions: Vec<RawInstruction<'a>>,
}

impl<'a> TupleParts<'a> {
    /// Creates the parts of `text`, and renames the operand to the last one.
    fn split(&mut self, text: &'a str, operand: &mut RawOperand<'a>) {
        let mut end = text.find(SIGN).unwrap_or(text.len());
        let mut of: Cow<'a, str> = text[..end].into();
        while end < text.len() {
            let begin = end + SIGN.len_utf8();
            end = text[begin..].find(SIGN).map_or(text.len(), |length| begin + length);
            let (path, at) = (&text[..end], operand.at + begin);
            let name = match self.made.get(path) {
                Some(name) => name.clone(),
                None => {
                    let name = self.fresh(&format!("{of}_{}", &text[begin..end]));
                    let index = RawAttribute { name: "index", name_at: at, at, text: &text[begin..end] };
                    let shape = if end == text.len() { operand.shape.take() } else { None };
                    self.instructions.push(RawInstruction {
                        shape,
                        opcode: "get-tuple-element",
                        operands: vec![RawOperand { name: of, at: operand.at, shape: None }],
                        attributes: vec![index],
                        broken: false,
                        ..RawInstruction::new(name.clone().into(), operand.at)
                    });
                    self.made.insert(path, name.clone());
                    name
                }
            };
            of = name.into();
        }
        operand.name = of;
    }

    /// A name that no instruction has.
    fn fresh(&mut self, name: &str) -> String {
        let numbered = (1..).map(|k| format!("{name}.{k}"));
        let free = std::iter::once(name.to_string()).chain(numbered).find(|name| !self.names.contains(name));
        let free = free.unwrap_or_default();
        self.names.insert(free.clone());
        free
    }
}
