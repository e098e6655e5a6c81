//! What has to run before what in a computation, whatever its order.
//!
//! | before | after |
//! |---|---|
//! | an operand, a control predecessor | the instruction |
//! | an instruction with an effect | the next one of the text that has one: those that other devices or the host see, `rng`, custom calls with `custom_call_has_side_effect`, and what runs such |
//! | what reads a buffer before an instruction writes over it in place, by `output_to_operand_aliasing`, `aliasing_operands` or as `dynamic-update-slice`, `scatter`, `sort` or `while` do; arguments that are not donated and constants are never written over | that instruction |

use super::buffers::{Classes, reads};
use crate::hlo::{Computation, Instruction};
use crate::operations::operation::{Algorithm, Operation};
use std::collections::HashMap;

/// Pairs of instructions of which the first has to run before the second; `classes` are the leaves by name.
pub fn before(computation: &Computation, classes: &mut Classes, effects: &[bool]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut last = None;
    let mut readers: HashMap<usize, Vec<usize>> = HashMap::new();
    for (k, instruction) in computation.instructions.iter().enumerate() {
        pairs.extend(instruction.operands.iter().chain(&instruction.control).map(|operand| (*operand, k)));
        if instruction.runs_effect(effects) {
            pairs.extend(last.map(|last| (last, k)));
            last = Some(k);
        }
        if writes_in_place(instruction) {
            let taken = classes.taken(instruction);
            for pair in classes.pairs[k].clone() {
                let written = classes.find(taken[pair.operand]);
                // What is never written over is copied, whoever reads it afterwards.
                if classes.read_only[written] {
                    continue;
                }
                pairs.extend(readers.get(&written).into_iter().flatten().map(|reader| (*reader, k)));
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

/// Whether an instruction is one that writes over an operand, so that a copy in its place would be another program.
fn writes_in_place(instruction: &Instruction) -> bool {
    let of_operation = match &instruction.operation {
        Operation::DynamicUpdateSlice | Operation::Scatter(_) | Operation::While { .. } => true,
        Operation::Algorithm(algorithm) => matches!(**algorithm, Algorithm::Sort { .. }),
        _ => false,
    };
    let named = |name: &str| instruction.attribute(name);
    of_operation
        || named("output_to_operand_aliasing").is_some()
        || named("backend_config").is_some_and(|config| config.contains("\"aliasing_operands\""))
}
