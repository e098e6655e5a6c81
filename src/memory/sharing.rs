//! Which operand the result of an instruction may be written over, leaf by leaf.
//!
//! | operation | the result's leaf may lie in |
//! |---|---|
//! | elementwise operations, `select`, `copy` | any operand of the same shape and layout |
//! | `dynamic-update-slice`, `scatter`, `sort`, `while` | the operand that it updates |
//! | a fusion | a parameter that reaches the result by elementwise operations alone, or that a `dynamic-update-slice` at its root updates and nothing else reads |
//! | a fusion or custom call with `output_to_operand_aliasing` | what that says |
//! | any with `aliasing_operands` of XLA:TPU | what that says, and nothing else |

use crate::hlo::aliases::{listed, pairs};
use crate::hlo::{Computation, Instruction, Module};
use crate::operations::operation::{Algorithm, Operation};
use crate::operations::shape::{Array, Shape, count, leaves};
use crate::text::Error;

/// A leaf of the result and one of the operands', both numbered over all of them, that may share a buffer.
pub type Shared = (usize, usize);

/// The pairs that may share a buffer, those to be preferred first.
///
/// # Errors
/// An attribute cannot be read.
pub fn shared(module: &Module, computation: &Computation, instruction: &Instruction) -> Result<Vec<Shared>, Error> {
    let operands: Vec<&Shape> = instruction.operands.iter().map(|k| &computation.instructions[*k].shape).collect();
    let all: usize = operands.iter().map(|shape| count(shape)).sum();
    if let Some(lists) = instruction.attribute("backend_config").and_then(listed) {
        let of = |list: &Vec<usize>| {
            let results = list.iter().filter(|n| **n >= all).map(|n| n - all).collect::<Vec<_>>();
            let taken = list.iter().filter(|n| **n < all).copied().collect::<Vec<_>>();
            results.into_iter().flat_map(move |r| taken.clone().into_iter().map(move |o| (r, o)))
        };
        return Ok(fitting(lists.iter().flat_map(of), &operands, &instruction.shape, false));
    }
    if let Some(attribute) = instruction.attributes.iter().find(|a| a.name == "output_to_operand_aliasing") {
        let found = pairs(&attribute.text, &instruction.shape, &operands);
        let found = found.map_err(|error| Error { at: error.at.map(|at| at + attribute.at), ..error })?;
        let before = |k: usize| operands[..k].iter().map(|shape| count(shape)).sum::<usize>();
        let found = found.into_iter().map(|pair| (pair.result, before(pair.operand) + pair.leaf));
        return Ok(fitting(found, &operands, &instruction.shape, false));
    }
    let results = count(&instruction.shape);
    let found: Vec<Shared> = match &instruction.operation {
        Operation::Elementwise | Operation::Select => (0..all).map(|operand| (0, operand)).collect(),
        Operation::DynamicUpdateSlice => vec![(0, 0)],
        Operation::Scatter(_) | Operation::While { .. } => (0..results).map(|k| (k, k)).collect(),
        Operation::Algorithm(algorithm) if matches!(**algorithm, Algorithm::Sort { .. }) => {
            (0..results).map(|k| (k, k)).collect()
        }
        Operation::Call { computation } if instruction.opcode == "fusion" => {
            of_fusion(&module.computations[*computation])
        }
        _ => Vec::new(),
    };
    Ok(fitting(found.into_iter(), &operands, &instruction.shape, true))
}

/// The pairs whose arrays are in one memory; with `same`, of one type, sizes and layout.
fn fitting(found: impl Iterator<Item = Shared>, operands: &[&Shape], result: &Shape, same: bool) -> Vec<Shared> {
    let to = leaves(result);
    let from: Vec<&Array> = operands.iter().flat_map(|shape| leaves(shape)).collect();
    let fits = |(r, o): &Shared| match (to.get(*r), from.get(*o)) {
        (Some(a), Some(b)) => a == b || !same && a.layout.memory_space == b.layout.memory_space,
        _ => false,
    };
    found.filter(fits).collect()
}

/// The leaves of a fusion's root with the parameters, each one array, that they may be written over.
fn of_fusion(fused: &Computation) -> Vec<Shared> {
    let count_of = fused.instructions.len();
    let mut users = vec![0usize; count_of];
    fused.instructions.iter().flat_map(|i| &i.operands).for_each(|k| users[*k] += 1);
    // Whether all that is computed from an instruction is computed elementwise.
    let mut elementwise = vec![true; count_of];
    for k in (0..count_of).rev() {
        let user = &fused.instructions[k];
        for operand in &user.operands {
            let passes = match &user.operation {
                Operation::Elementwise | Operation::Select => {
                    sizes(user).is_some_and(|to| sizes(&fused.instructions[*operand]) == Some(to))
                }
                Operation::Tuple => k == fused.root,
                _ => false,
            };
            elementwise[*operand] &= passes && elementwise[k];
        }
    }
    let number = |k: usize| fused.parameters.iter().position(|parameter| *parameter == k);
    let arrays: Vec<usize> = fused.parameters.iter().map(|p| count(&fused.instructions[*p].shape)).collect();
    let leaf = |parameter: usize| arrays[..parameter].iter().sum::<usize>();
    let roots = match &fused.result().operation {
        Operation::Tuple => fused.result().operands.clone(),
        _ => vec![fused.root],
    };
    // Else parts are no leaves.
    if roots.iter().any(|root| matches!(fused.instructions[*root].shape, Shape::Tuple(_))) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (result, root) in roots.into_iter().enumerate() {
        if fused.instructions[root].operation == Operation::DynamicUpdateSlice {
            let updated = fused.instructions[root].operands[0];
            found.extend(number(updated).filter(|_| users[updated] == 1).map(|p| (result, leaf(p))));
        }
        let whole = |p: &usize| arrays[*p] == 1 && users[fused.parameters[*p]] > 0 && elementwise[fused.parameters[*p]];
        found.extend((0..arrays.len()).filter(whole).map(|p| (result, leaf(p))));
    }
    found
}

/// The sizes of an instruction's result, where it is one array.
fn sizes(instruction: &Instruction) -> Option<Vec<i64>> {
    if let Shape::Array(array) = &instruction.shape { array.sizes() } else { None }
}
