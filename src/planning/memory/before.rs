//! Dependences between the instructions of a computation, in any order.
//!
//! - An instruction runs after its operands and control predecessors.
//! - Instructions with an effect keep the order of the text: those visible to other devices or the host, `rng`, custom
//!   calls with `custom_call_has_side_effect`, and calls of these.
//! - An instruction that overwrites a buffer in place, by `output_to_operand_aliasing`, `aliasing_operands` or as
//!   `dynamic-update-slice`, `scatter`, `sort`, `while`, `call` or `conditional`, runs after the earlier readers of the
//!   buffer. If the text reads the buffer later, or it is read-only, the instruction writes to a copy, and needs no order.

use super::buffers::Classes;
use super::names::reads;
use std::collections::HashMap;
use tensor_layout::hlo::{Computation, Instruction};
use tensor_layout::operations::operation::{Algorithm, Operation};

/// Pairs of instructions whose first has to run before the second; `classes` has the leaves joined by name.
pub fn before(computation: &Computation, classes: &Classes, effects: &[bool]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut last = None;
    // In the order of the text.
    let mut shared = classes.clone();
    let mut readers: HashMap<usize, Vec<usize>> = HashMap::new();
    for (k, instruction) in computation.instructions.iter().enumerate() {
        pairs.extend(instruction.operands.iter().chain(&instruction.control).map(|operand| (*operand, k)));
        if instruction.runs_effect(effects) {
            pairs.extend(last.map(|last| (last, k)));
            last = Some(k);
        }
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
    pairs.sort_unstable();
    pairs.dedup();
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
