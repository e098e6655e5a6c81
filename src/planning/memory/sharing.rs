//! Operands that the result of an instruction may overwrite, leaf by leaf.
//!
//! | operation | operand whose buffer the result's leaf may share |
//! |---|---|
//! | elementwise operations; `select` | any operand of the same shape and layout; of a `copy`, only within a parameter's buffer |
//! | `dynamic-update-slice`, `scatter`, `sort`, `while` | the operand that it updates |
//! | `triangular-solve` | the right side |
//! | `conditional` | an operand that a branch returns unchanged |
//! | a fusion | a parameter that its root updates, or that is used elementwise only |
//! | a fusion or custom call with `output_to_operand_aliasing` | the listed operands, before all others |
//! | any with `aliasing_operands` of XLA:TPU | the listed operands, and no others |
//!
//! A fusion's root updates by a `dynamic-update-slice` or a `scatter`, also in a tuple or behind bitcasts, even with
//! other readers: the compiler fuses only reads before the update. An update counts as elementwise in its operand.

use super::names::{Names, reads};
use tensor_layout::hlo::aliases::{listed, pairs};
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::operation::{Algorithm, Operation};
use tensor_layout::operations::shape::{Array, Shape, count, leaves};
use tensor_layout::text::Error;

/// A pair of a result leaf and an operand leaf, both numbered over all leaves, that may share a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    pub result: usize,
    pub operand: usize,
    /// Whether the operation updates the operand, so that other leaves in the operand's buffer are in the result's.
    pub updates: bool,
}

type LeafPair = (usize, usize);

/// The pairs that may share a buffer, preferred pairs first.
///
/// # Errors
/// A malformed attribute.
pub fn shared(module: &Module, computation: &Computation, instruction: &Instruction) -> Result<Vec<Shared>, Error> {
    if !reads(instruction) {
        return Ok(Vec::new());
    }
    let operands: Vec<&Shape> = instruction.operands.iter().map(|k| &computation.instructions[*k].shape).collect();
    let all: usize = operands.iter().map(|shape| count(shape)).sum();
    if let Some(lists) = instruction.attribute("backend_config").and_then(listed) {
        let of = |list: &Vec<usize>| {
            let results = list.iter().filter(|n| **n >= all).map(|n| n - all).collect::<Vec<_>>();
            let taken = list.iter().filter(|n| **n < all).copied().collect::<Vec<_>>();
            results.into_iter().flat_map(move |r| taken.clone().into_iter().map(move |o| (r, o)))
        };
        return Ok(fitting(lists.iter().flat_map(of).map(updates), &operands, &instruction.shape, false));
    }
    let mut found = Vec::new();
    if let Some(attribute) = instruction.attributes.iter().find(|a| a.name == "output_to_operand_aliasing") {
        let said = pairs(&attribute.text, &instruction.shape, &operands);
        let said = said.map_err(|error| error.shifted(attribute.at))?;
        let before = |k: usize| operands[..k].iter().map(|shape| count(shape)).sum::<usize>();
        let said = said.into_iter().map(|pair| (pair.result, before(pair.operand) + pair.leaf));
        found = fitting(said.map(updates), &operands, &instruction.shape, false);
    }
    let results = count(&instruction.shape);
    let each = || (0..results).map(|k| (k, k));
    let of_operation: Vec<Shared> = match &instruction.operation {
        Operation::Elementwise | Operation::Select => (0..all).map(|operand| over((0, operand))).collect(),
        Operation::While { .. } => each().map(updates).collect(),
        Operation::Algorithm(algorithm) => match **algorithm {
            Algorithm::Sort { .. } => each().map(over).collect(),
            Algorithm::TriangularSolve { .. } => vec![over((0, 1))],
            _ => Vec::new(),
        },
        Operation::Call { computation } if instruction.opcode == "fusion" => {
            of_fusion(&module.computations[*computation])
        }
        _ => updated(instruction).into_iter().flatten().map(|k| updates((k, k))).collect(),
    };
    let of_operation = fitting(of_operation.into_iter(), &operands, &instruction.shape, true);
    let is_new = |pair: &Shared| !found.iter().any(|own| (own.result, own.operand) == (pair.result, pair.operand));
    let more: Vec<Shared> = of_operation.into_iter().filter(is_new).collect();
    found.extend(more);
    Ok(found)
}

fn updates((result, operand): LeafPair) -> Shared {
    Shared { result, operand, updates: true }
}

pub fn over((result, operand): LeafPair) -> Shared {
    Shared { result, operand, updates: false }
}

/// Keeps the pairs in one memory; with `same`, those of one type, sizes and layout.
fn fitting(found: impl Iterator<Item = Shared>, operands: &[&Shape], result: &Shape, same: bool) -> Vec<Shared> {
    let mut found = found.peekable();
    if found.peek().is_none() {
        return Vec::new();
    }
    let to = leaves(result);
    let from: Vec<&Array> = operands.iter().flat_map(|shape| leaves(shape)).collect();
    let fits = |pair: &Shared| match (to.get(pair.result), from.get(pair.operand)) {
        (Some(a), Some(b)) => a == b || !same && a.layout.memory_space == b.layout.memory_space,
        _ => false,
    };
    found.filter(fits).collect()
}

/// Pairs of a leaf of a fusion's root and a parameter leaf that it may overwrite.
fn of_fusion(fused: &Computation) -> Vec<Shared> {
    let elementwise = elementwise(fused);
    // The first leaf of each parameter among the leaves of all operands.
    let mut first = vec![None; fused.instructions.len()];
    let mut whole = Vec::new();
    let mut leaf = 0;
    for parameter in &fused.parameters {
        first[*parameter] = Some(leaf);
        let leaves = count(&fused.instructions[*parameter].shape);
        if leaves == 1 && elementwise[*parameter] {
            whole.push(leaf);
        }
        leaf += leaves;
    }
    let (mut found, mut names) = (Vec::new(), Names::new(fused));
    for (result, (root, leaf)) in names.sources(fused.root).into_iter().enumerate() {
        let root = &fused.instructions[root];
        let updated = updated(root).filter(|updated| updated.contains(&leaf)).map(|_| root.operands[leaf]);
        let updated = updated.map(|operand| names.source((operand, 0)));
        let updated = updated.and_then(|(operand, leaf)| Some(first[operand]? + leaf));
        found.extend(updated.map(|operand| updates((result, operand))));
        found.extend(whole.iter().filter(|operand| Some(**operand) != updated).map(|operand| over((result, *operand))));
    }
    found
}

/// The updated operands; operand `k` shares with leaf `k` of the result.
fn updated(instruction: &Instruction) -> Option<std::ops::Range<usize>> {
    match &instruction.operation {
        Operation::DynamicUpdateSlice => Some(0..1),
        Operation::Scatter(_) => Some(0..count(&instruction.shape)),
        _ => None,
    }
}

/// For each instruction of a fusion, whether it has users and all values computed from it are elementwise in it.
fn elementwise(fused: &Computation) -> Vec<bool> {
    let count_of = fused.instructions.len();
    let (mut elementwise, mut is_used) = (vec![true; count_of], vec![false; count_of]);
    for k in (0..count_of).rev() {
        let user = &fused.instructions[k];
        for (place, operand) in user.operands.iter().enumerate() {
            let passes = match &user.operation {
                Operation::Elementwise | Operation::Select => {
                    sizes(user).is_some_and(|to| sizes(&fused.instructions[*operand]) == Some(to))
                }
                Operation::DynamicUpdateSlice => place == 0,
                Operation::Tuple => k == fused.root,
                _ => false,
            };
            elementwise[*operand] &= passes && elementwise[k];
            is_used[*operand] = true;
        }
    }
    elementwise.into_iter().zip(is_used).map(|(elementwise, is_used)| elementwise && is_used).collect()
}

/// The sizes of the result; `None` unless it is one array.
fn sizes(instruction: &Instruction) -> Option<Vec<i64>> {
    if let Shape::Array(array) = &instruction.shape { array.sizes() } else { None }
}
