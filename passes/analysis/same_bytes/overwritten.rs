//! Tensors whose buffer an operation overwrites without reading it.
//!
//! Bufferization lets such an operation write in place, as no value is lost that is read later. It does not know that
//! an alias is in the same buffer:
//!
//! ```text
//! %t = transpose %y                 an alias of %y
//! %w = linalg.fill outs(%y)         reads nothing, so it would be in %y's buffer, and %t would be lost
//! ```

use super::MARK;
use crate::analysis::aliases::{is_tensor, updated};
use crate::buffers::operations::UNREALIZED_CAST;
use layout_ir::{self as ir, Op, Val};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The buffers of a module that are overwritten without being read, each by the tensor that it was made for.
pub struct OverwrittenBuffers<'c> {
    known: Roots<'c>,
    roots: HashSet<usize>,
    /// The roots that loops, branches and calls hand on, so that a buffer of unknown origin may be theirs.
    handed_on: HashSet<usize>,
    /// Whether a buffer of unknown origin is overwritten.
    unknown: bool,
}

impl<'c> OverwrittenBuffers<'c> {
    /// Finds the overwritten buffers of a module.
    pub fn of(module: Op<'c>) -> OverwrittenBuffers<'c> {
        let (roots, handed_on) = (HashSet::new(), HashSet::new());
        let mut found = OverwrittenBuffers { known: Roots::default(), roots, handed_on, unknown: false };
        for op in ir::all_operations(module) {
            let tensors = ir::operands(op).into_iter().enumerate().filter(|(_, v)| is_tensor(*v));
            for (number, operand) in tensors {
                if hands_on(op) {
                    found.handed_on.extend(found.known.of(operand).iter().map(|root| ir::key(*root)));
                } else if overwrites(op, number) && !is_empty(operand) {
                    let roots = found.known.of(operand);
                    found.unknown |= roots.iter().any(|root| is_unknown(*root));
                    found.roots.extend(roots.iter().map(|root| ir::key(*root)));
                }
            }
        }
        found
    }

    /// Whether the buffer of a tensor may be one of them.
    pub fn may_hold(&mut self, tensor: Val<'c>) -> bool {
        self.known.of(tensor).iter().any(|&root| {
            let key = ir::key(root);
            self.roots.contains(&key)
                || self.unknown && self.handed_on.contains(&key)
                || self.is_handed_on() && is_unknown(root) && !is_function_argument(root)
                || is_shared_memref(root)
        })
    }

    /// Whether a buffer of unknown origin may be overwritten.
    fn is_handed_on(&self) -> bool {
        self.unknown || !self.roots.is_disjoint(&self.handed_on)
    }
}

/// For each tensor, those that its buffer may have been made for.
#[derive(Default)]
struct Roots<'c>(HashMap<usize, Rc<Vec<Val<'c>>>>);

impl<'c> Roots<'c> {
    /// The roots of a tensor. All tensors on the way to them get these, so that a chain of updates takes linear time:
    /// behind an `arith.select` that is more than their own, and may cost a copy.
    fn of(&mut self, tensor: Val<'c>) -> Rc<Vec<Val<'c>>> {
        let (mut found, mut seen, mut stack) = (Vec::new(), HashSet::new(), vec![tensor]);
        while let Some(v) = stack.pop() {
            if let Some(known) = self.0.get(&ir::key(v)) {
                found.extend(known.iter().copied());
                continue;
            }
            if !seen.insert(ir::key(v)) {
                continue;
            }
            let Some((op, result)) = ir::defining_op(v).zip(ir::result_number(v)) else {
                found.push(v);
                continue;
            };
            let operands = ir::operands(op);
            match (ir::name(op), updated(op, result)) {
                (_, Some(operand)) => stack.push(operands[operand]),
                ("tensor.reshape", _) => stack.push(operands[0]),
                ("arith.select", _) => stack.extend(&operands[1..]),
                _ => match aliased(op) {
                    Some(source) => stack.push(source),
                    None => found.push(v),
                },
            }
        }
        let mut once = HashSet::new();
        found.retain(|root| once.insert(ir::key(*root)));
        let found = Rc::new(found);
        self.0.extend(seen.into_iter().map(|v| (v, found.clone())));
        found
    }
}

/// The tensor whose bytes a `bufferization.to_tensor` shows.
fn aliased(op: Op<'_>) -> Option<Val<'_>> {
    let buffer = *ir::operands(op).first().filter(|_| ir::name(op) == "bufferization.to_tensor")?;
    let cast = ir::defining_op(buffer)?;
    let is_alias = ir::name(cast) == UNREALIZED_CAST && ir::attribute(cast, MARK).is_some();
    let to_buffer = ir::defining_op(*ir::operands(cast).first().filter(|_| is_alias)?)?;
    ir::operands(to_buffer).first().copied()
}

/// Whether an operation may write all elements of an operand's buffer, or of a part of it, without reading them.
fn overwrites(op: Op, operand: usize) -> bool {
    let name = ir::name(op);
    if ir::indexing_maps(op).is_some() {
        let inputs = ir::operands(op).len() - ir::results(op).len();
        let body = ir::blocks(op).into_iter().next().map(ir::arguments).unwrap_or_default();
        return operand >= inputs && body.get(operand).is_none_or(|argument| ir::uses(*argument).is_empty());
    }
    match name {
        "tensor.insert_slice" | "vector.transfer_write" | "bufferization.materialize_in_destination" => operand == 1,
        _ => operand > 0 && name.starts_with("linalg."),
    }
}

/// Whether an operation hands its operands on to blocks, to its users' blocks, or to another function.
fn hands_on(op: Op) -> bool {
    let is_terminator = ir::results(op).is_empty() && ir::next(op).is_none();
    ir::name(op) == "func.call"
        || ir::indexing_maps(op).is_none() && !ir::blocks(op).is_empty()
        || is_terminator && ir::name(op) != "func.return"
}

/// Whether a tensor may be in the buffer of another: it is handed on by a loop, a branch or a call.
fn is_unknown(root: Val) -> bool {
    ir::defining_op(root).is_none_or(|op| hands_on(op))
}

fn is_function_argument(root: Val) -> bool {
    ir::block_argument(root).is_some_and(|(op, _)| ir::name(op) == "func.func" && !ir::has_branches(op))
}

/// Whether a tensor is in a memref that has other uses.
fn is_shared_memref(root: Val) -> bool {
    let op = ir::defining_op(root).filter(|op| ir::name(*op) == "bufferization.to_tensor");
    op.is_some_and(|op| ir::uses(ir::operands(op)[0]).len() > 1)
}

fn is_empty(v: Val) -> bool {
    ir::defining_op(v).is_some_and(|op| matches!(ir::name(op), "tensor.empty" | "bufferization.alloc_tensor"))
}
