//! Copies block arguments that branches between blocks would otherwise overwrite.
//!
//! When upstream's bufferization decides whether to write a tensor in place, it assumes that a write in another block
//! than a block argument's is before the argument's definition. So a slice of a function's argument is read after its
//! elements were overwritten:
//!
//! ```text
//! ^entry(%a):  cf.br ^next
//! ^next:       %old = tensor.extract_slice %a      reads the new element, with or without a layout
//!              %new = tensor.insert %x into %a
//!              %both = tensor.insert_slice %old into %new
//! ```
//!
//! Such an argument is copied at the start of its block: upstream analyses tensors that operations define.
//! `test/upstream/write-in-another-block.mlir` fails once that is fixed.

use crate::analysis::aliases::{is_constant, is_tensor, only_reads};
use crate::buffers::operations::{SLICE_OR_RESHAPE, is};
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::BlockRef;
use melior::ir::operation::{OperationLike, OperationMutLike};

type Block<'c> = BlockRef<'c, 'c>;

/// Copies these block arguments. `copied` emits a copy of a tensor.
pub fn copy_arguments<'c>(operations: &[Op<'c>], copied: impl Fn(Builder<'c>, Val<'c>) -> Val<'c>) {
    for op in operations.iter().filter(|op| ir::has_branches(**op)) {
        for block in ir::blocks(*op) {
            for argument in ir::arguments(block).into_iter().filter(|v| is_tensor(*v) && !is_constant(*v)) {
                let (uses, first) = (ir::uses(argument), ir::after(argument));
                if let Some(first) = first.filter(|_| is_overwritten(argument, block, *op)) {
                    let copy = copied(Builder::before(first), argument);
                    uses.into_iter().for_each(|(user, operand)| ir::edit(user).set_operand(operand, copy));
                }
            }
        }
    }
}

/// Whether an argument of a block may be written in another block of the operation, and used after that.
fn is_overwritten<'c>(argument: Val<'c>, block: Block<'c>, around: Op<'c>) -> bool {
    let uses: Vec<(Op, bool)> =
        all_uses(argument).into_iter().filter_map(|at| Some((ancestor(at.0, around)?, only_reads(at)))).collect();
    let is_after = |write: Op<'c>, later: Op<'c>| {
        later == write || ir::comes_before(write, later) || reaches(write, later.block(), Some(block))
    };
    let writes = uses.iter().enumerate().filter(|(_, (op, reads))| !reads && op.block() != Some(block));
    writes.into_iter().any(|(k, (write, _))| {
        uses.iter().enumerate().any(|(other, (later, _))| other != k && is_after(*write, *later))
    })
}

/// The uses of a tensor and of its slices and reshapes, which do not count as uses themselves.
fn all_uses<'c>(tensor: Val<'c>) -> Vec<(Op<'c>, usize)> {
    let (mut all, mut stack) = (Vec::new(), vec![tensor]);
    while let Some(value) = stack.pop() {
        for (user, operand) in ir::uses(value) {
            match is(ir::name(user), SLICE_OR_RESHAPE) && operand == 0 {
                true => stack.push(ir::result(user, 0)),
                false => all.push((user, operand)),
            }
        }
    }
    all
}

/// The operation in a block of `around` that is or contains another.
fn ancestor<'c>(op: Op<'c>, around: Op<'c>) -> Option<Op<'c>> {
    std::iter::successors(Some(op), |op| ir::parent(*op)).find(|op| ir::parent(*op) == Some(around))
}

/// Whether branches lead from after an operation to a block, not through the block that defines the argument.
fn reaches<'c>(from: Op<'c>, to: Option<Block<'c>>, new: Option<Block<'c>>) -> bool {
    let (mut seen, mut stack): (Vec<Block>, Vec<Block>) = (Vec::new(), from.block().into_iter().collect());
    while let Some(block) = stack.pop() {
        for next in successors(block) {
            if Some(next) != new && !seen.contains(&next) {
                if Some(next) == to {
                    return true;
                }
                seen.push(next);
                stack.push(next);
            }
        }
    }
    false
}

/// A branch of a function to a block that leads to it.
pub fn loop_of_branches(function: Op<'_>) -> Option<Op<'_>> {
    let ends = ir::blocks(function).into_iter().filter_map(|block| ir::operations(block).pop());
    ends.into_iter().find(|end| reaches(*end, end.block(), None))
}

/// The blocks to which the end of a block may branch.
fn successors<'c>(block: Block<'c>) -> Vec<Block<'c>> {
    let Some(end) = ir::operations(block).pop() else { return Vec::new() };
    (0..end.successor_count()).filter_map(|k| end.successor(k).ok()).collect()
}
