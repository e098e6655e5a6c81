//! `layout-deallocate`: frees the buffers that bufferization allocated, and leaves the program's own alone.
//!
//! Buffers are freed after their last use, see `ownership`. For functions that it does not understand, upstream's
//! passes free buffers: they decide ownership at run time, at the end of each block, in time quadratic in the
//! buffers of a function. Both own every buffer of a function, so a function without tensors and without allocations by
//! lowering keeps its own discipline: upstream's passes do not know loops made of branches.

use crate::analysis::ownership::{self, AUTOMATIC, KEEP};
use crate::buffers::views::tensor_layout;
use crate::pass::steps::{Next, StepInput, StepResult};
use layout_dialect::MANUAL_DEALLOCATION as BY_HAND;
use layout_ir::{self as ir, Op, Val};
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, BlockLike, ValueLike};

/// Upstream's passes that free the buffers of a function.
pub(crate) const PASSES: &str = "ownership-based-buffer-deallocation,canonicalize,buffer-deallocation-simplification";

/// Marks the buffers that the program itself frees, before bufferization adds others.
pub fn mark(function: Op) {
    let operations = ir::all_operations(function);
    let unit = Attribute::unit(ir::Builder::before(function).context());
    let tensors = |op: &Op<'_>| {
        let arguments = ir::blocks(*op).into_iter().flat_map(ir::arguments);
        ir::results(*op).into_iter().chain(arguments).any(|v| ir::tensor(v.r#type()).is_some())
    };
    let has_tails = operations.iter().any(|op| ir::results(*op).into_iter().chain(ir::operands(*op)).any(has_tail));
    let has_tensors = operations.iter().any(tensors);
    for op in operations {
        let is_ours = ir::edit(op).remove_attribute(AUTOMATIC).is_ok();
        if !is_ours && matches!(ir::name(op), "memref.alloc" | "memref.dealloc") {
            ir::edit(op).set_attribute(KEEP, unit);
        }
    }
    match (has_tensors, has_tails) {
        (false, _) => ir::edit(function).set_attribute(BY_HAND, unit),
        (true, true) => ir::edit(function).set_attribute(AUTOMATIC, unit),
        (true, false) => {}
    }
}

/// Whether a value has a layout that pads the tail.
fn has_tail(v: Val) -> bool {
    tensor_layout(v).and_then(layout_dialect::tiled).is_some_and(|layout| layout.tail_alignment > 1)
}

/// Frees buffers that the program does not free itself, and removes the marks; or returns the passes that have to.
pub(crate) fn run<'c>(step: StepInput<'c>) -> StepResult<'c> {
    let StepInput { rewriter, number, .. } = step;
    let function = rewriter.root();
    if number > 0 {
        unmark(function);
        return Ok(Next::Changed);
    }
    let operations = ir::all_operations(function);
    let automatic = |op: &Op| ir::name(*op) == "memref.alloc" && ir::attribute(*op, KEEP).is_none();
    let caller_frees = ir::edit(function).remove_attribute(BY_HAND).is_ok();
    // Only a function with tails has this mark.
    let _ = ir::edit(function).remove_attribute(AUTOMATIC);
    if (!caller_frees || operations.iter().any(automatic)) && !ownership::free(rewriter, function) {
        operations.into_iter().filter(|op| *op != function).for_each(end_block);
        return Ok(Next::Run { passes: PASSES.to_owned(), number: 1, changed: true });
    }
    unmark(function);
    Ok(Next::Changed)
}

/// Ends the block after an operation with regions whose buffers other blocks use. Upstream's pass replaces such an
/// operation and then reads the old results in the other blocks, from its liveness analysis, as
/// `test/upstream/freed-before-other-block.mlir` shows.
fn end_block(op: Op) {
    let is_buffer = |v: &Val| ir::memref(v.r#type()).is_some();
    let goes_on = op.block().and_then(|block| block.terminator()).is_some_and(|end| end.successor_count() > 0);
    if goes_on && !ir::blocks(op).is_empty() && ir::results(op).iter().any(is_buffer) {
        ir::end_block_after(op);
    }
}

/// Removes the marks from a function's operations.
fn unmark(function: Op) {
    for op in ir::all_operations(function) {
        // Most operations have no mark.
        let _ = ir::edit(op).remove_attribute(KEEP);
    }
}
