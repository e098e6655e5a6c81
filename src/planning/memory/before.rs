//! Dependences between the instructions of a computation.
//!
//! - An instruction runs after its operands and control predecessors.
//! - Instructions with an effect keep the order of the text: those visible to other devices or the host, `rng`, custom
//!   calls with `custom_call_has_side_effect`, and calls of these.
//!
//! An instruction may overwrite a buffer in place: by `output_to_operand_aliasing`, `aliasing_operands`, or as
//! `dynamic-update-slice`, `scatter`, `sort`, `while`, `call` or `conditional`. If the buffer is read later, the
//! instruction writes to a copy. An order keeps the updates of the text in place if the earlier readers of each buffer
//! still run before its update.

use super::buffers::Classes;
use super::names::reads;
use std::collections::HashMap;
use tensor_layout::hlo::{Computation, Instruction};
use tensor_layout::operations::operation::{Algorithm, Operation};

/// Pairs of instructions whose first must run before the second.
pub fn dependences(computation: &Computation, effects: &[bool]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut last = None;
    for (k, instruction) in computation.instructions.iter().enumerate() {
        pairs.extend(instruction.operands.iter().chain(&instruction.control).map(|operand| (*operand, k)));
        if instruction.runs_effect(effects) {
            pairs.extend(last.map(|last| (last, k)));
            last = Some(k);
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Pairs of a reader of a buffer and a later update in place, in the order of the text; `classes` has the leaves joined
/// by name.
pub fn reads_before_updates(computation: &Computation, classes: &Classes) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut shared = classes.clone();
    let mut readers: HashMap<usize, Vec<usize>> = HashMap::new();
    for (k, instruction) in computation.instructions.iter().enumerate() {
        let written = shared.share(computation, k);
        if writes_in_place(instruction) {
            for leaf in written {
                let readers = readers.get(&classes.find(leaf)).into_iter().flatten();
                pairs.extend(readers.map(|reader| (*reader, k)));
            }
        }
        if reads(instruction) {
            for leaf in classes.taken(instruction) {
                readers.entry(classes.find(leaf)).or_default().push(k);
            }
        }
    }
    pairs
}

/// Whether an instruction overwrites an operand, so that a copy in its place would change the program.
fn writes_in_place(instruction: &Instruction) -> bool {
    let of_operation = match &instruction.operation {
        Operation::DynamicUpdateSlice | Operation::Scatter(_) | Operation::While { .. } => true,
        Operation::Conditional { .. } => true,
        Operation::Call { .. } => instruction.opcode == "call",
        Operation::Algorithm(algorithm) => matches!(**algorithm, Algorithm::Sort { .. }),
        _ => false,
    };
    let named = |name: &str| instruction.attribute(name);
    of_operation
        || named("output_to_operand_aliasing").is_some()
        || named("backend_config").is_some_and(|config| config.contains("\"aliasing_operands\""))
}
