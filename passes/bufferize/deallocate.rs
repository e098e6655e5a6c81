//! `layout-deallocate`: frees the buffers that bufferization allocated, and leaves the program's own alone.
//!
//! Buffers are freed after their last use, see `ownership`. For functions that it does not understand, upstream's
//! passes free buffers: they decide ownership at run time, at the end of each block, in time quadratic in the
//! buffers of a function. They hand on each returned buffer, and a caller frees each, so the same buffer is returned
//! once and then as copies. Both own every buffer of a function, so a function without tensors and without allocations by
//! lowering keeps its own discipline: upstream's passes do not know loops made of branches.

use crate::analysis::functions::{callee, symbol};
use crate::analysis::ownership::{self, AUTOMATIC, COPIES_WITH_TAIL, KEEP};
use crate::bufferize::branches::loop_of_branches;
use crate::buffers::views::tensor_layout;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_dialect::MANUAL_DEALLOCATION as BY_HAND;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, BlockLike, Type, ValueLike};
use std::collections::HashSet;

/// Upstream's passes that free the buffers of a function.
pub(crate) const PASSES: &str = "ownership-based-buffer-deallocation,canonicalize,buffer-deallocation-simplification";

/// Marks the buffers that the program itself frees, before bufferization adds others.
pub fn mark(function: Op) {
    let operations = ir::all_operations(function);
    let unit = Attribute::unit(ir::Builder::before(function).context());
    let by_hand = is_by_hand(function);
    let has_tails = operations.iter().any(|op| ir::results(*op).into_iter().chain(ir::operands(*op)).any(has_tail));
    for op in operations {
        let is_ours = ir::edit(op).remove_attribute(AUTOMATIC).is_ok();
        if !is_ours && matches!(ir::name(op), "memref.alloc" | "memref.dealloc") {
            ir::edit(op).set_attribute(KEEP, unit);
        }
    }
    match (by_hand, has_tails) {
        (true, _) => ir::edit(function).set_attribute(BY_HAND, unit),
        (false, true) => ir::edit(function).set_attribute(COPIES_WITH_TAIL, unit),
        (false, false) => {}
    }
}

/// Whether a function has neither tensors nor conversions, for which lowering allocates.
fn is_by_hand(function: Op) -> bool {
    let has_tensors = |op: &Op<'_>| {
        let arguments = ir::blocks(*op).into_iter().flat_map(ir::arguments);
        ir::results(*op).into_iter().chain(arguments).any(|v| ir::tensor(v.r#type()).is_some())
    };
    !ir::all_operations(function).iter().any(|op| ir::name(*op) == "layout.convert" || has_tensors(op))
}

/// Whether a value has a layout that pads the tail.
fn has_tail(v: Val) -> bool {
    tensor_layout(v).and_then(layout_dialect::tiled).is_some_and(|layout| layout.tail_alignment > 1)
}

/// Frees buffers that the program does not free itself, and removes the marks; or returns the passes that have to.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let StageInput { rewriter, number, .. } = stage;
    let function = rewriter.root();
    if number > 0 {
        unmark(function);
        return Ok(Next::Changed);
    }
    let operations = ir::all_operations(function);
    let automatic = |op: &Op| ir::name(*op) == "memref.alloc" && ir::attribute(*op, KEEP).is_none();
    let frees_itself = ir::attribute(function, BY_HAND).is_some();
    // Only a function with tails has this mark.
    let _ = ir::edit(function).remove_attribute(COPIES_WITH_TAIL);
    if (!frees_itself || operations.iter().any(automatic)) && !ownership::free(rewriter, function) {
        if let Some(branch) = loop_of_branches(function) {
            let message = format!(
                "'{}' op leads back to a block before it, and so the buffers of '{name}' op cannot be freed: expected \
                 a structured loop, such as scf.while",
                ir::name(branch),
                name = ir::name(function),
            );
            return Err(vec![Diagnostic::error(ir::location(branch), message)]);
        }
        return_once(function);
        operations.into_iter().filter(|op| *op != function).for_each(end_block);
        return Ok(Next::Run { passes: PASSES.to_owned(), number: 1, changed: true });
    }
    unmark(function);
    Ok(Next::Changed)
}

/// The buffers that a `func.return` hands on: the number of each operand, and the allocation or call that made it, if
/// it is known.
fn returned(end: Op<'_>) -> Vec<(usize, Option<Val<'_>>)> {
    let buffers = ir::operands(end).into_iter().enumerate().filter(|(_, v)| ir::is_buffer(v.r#type()));
    buffers.map(|(operand, value)| (operand, ownership::allocation(value))).collect()
}

/// Whether a buffer is none of these.
fn is_other<'c>(own: Option<Val<'c>>, mut others: impl Iterator<Item = Option<Val<'c>>>) -> bool {
    own.is_some() && others.all(|other| other.is_some() && other != own)
}

/// Replaces returned buffers by copies, except the first and those that are none of the ones before.
fn return_once(function: Op) {
    for end in ir::all_operations(function).into_iter().filter(|op| ir::name(*op) == "func.return") {
        let buffers = returned(end);
        for (k, (operand, own)) in buffers.iter().enumerate().skip(1) {
            if !is_other(*own, buffers[..k].iter().map(|before| before.1)) {
                let value = ir::operands(end)[*operand];
                let copy = Builder::before(end).value("bufferization.clone", &[value], value.r#type(), &[]);
                ir::edit(end).set_operand(*operand, copy);
            }
        }
    }
}

/// Calls after which a buffer would be freed twice: of functions that free their buffers themselves and return one that
/// may be an argument, a global or another result, from a function that frees what a call returns.
pub fn refused_calls<'c>(module: Op<'c>) -> Vec<Diagnostic<'c>> {
    let functions = ir::blocks(module).into_iter().flat_map(ir::operations).filter(|op| ir::name(*op) == "func.func");
    let (by_hand, freed): (Vec<Op>, Vec<Op>) = functions.partition(|function| is_by_hand(*function));
    // The results of each function, by its name, that may be a buffer of somebody else.
    let mut shared: HashSet<(&str, usize)> = HashSet::new();
    let is_shared = |shared: &HashSet<_>, made: Val<'c>| {
        let result = ir::defining_op(made).and_then(callee).zip(ir::result_number(made));
        result.is_some_and(|result| shared.contains(&result))
    };
    loop {
        let before = shared.len();
        for function in &by_hand {
            let Some(name) = symbol(*function) else { continue };
            for end in ir::all_operations(*function).into_iter().filter(|op| ir::name(*op) == "func.return") {
                let known =
                    |(operand, own): (usize, Option<Val<'c>>)| (operand, own.filter(|v| !is_shared(&shared, *v)));
                let buffers: Vec<_> = returned(end).into_iter().map(known).collect();
                let others = |k| buffers.iter().enumerate().filter(move |(other, _)| *other != k).map(|(_, b)| b.1);
                let open = buffers.iter().enumerate().filter(|(k, b)| !is_other(b.1, others(*k))).map(|(_, b)| b.0);
                let open: Vec<usize> = open.collect();
                shared.extend(open.into_iter().map(|operand| (name, operand)));
            }
        }
        if shared.len() == before {
            break;
        }
    }
    // The types of functions with such a result, which an indirect call may reach.
    let has_shared = |function: &&Op| symbol(**function).is_some_and(|name| shared.iter().any(|own| own.0 == name));
    let type_of = |function: &Op<'c>| ir::attribute(*function, "function_type").and_then(ir::type_in);
    let types: Vec<Type> = by_hand.iter().filter(has_shared).filter_map(type_of).collect();
    let is_reached = |op: Op<'c>| ir::name(op) == "func.call_indirect" && types.contains(&ir::operands(op)[0].r#type());
    let is_freed_here = |v: Val| ir::uses(v).into_iter().any(|(user, _)| ir::name(user) == "memref.dealloc");
    let calls = freed.into_iter().flat_map(ir::all_operations);
    let refused = calls.filter(|op| {
        let mut results = ir::results(*op).into_iter().filter(|v| ir::is_buffer(v.r#type()) && !is_freed_here(*v));
        results.any(|v| is_shared(&shared, v) || is_reached(*op))
    });
    let error = |op: Op<'c>| {
        let called = callee(op).map_or("a function that it may reach".to_owned(), |name| format!("@{name}"));
        let message = format!(
            "'{}' op cannot be lowered: {called} has no tensors and frees its buffers itself, and a buffer that it \
             returns may be an argument, a global or another result, and would be freed twice: return a copy",
            ir::name(op)
        );
        Diagnostic::error(ir::location(op), message)
    };
    refused.map(error).collect()
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

/// Removes the marks from a function and its operations.
fn unmark(function: Op) {
    // Only a function that frees its buffers itself has this mark.
    let _ = ir::edit(function).remove_attribute(BY_HAND);
    for op in ir::all_operations(function) {
        // Most operations have no mark.
        let _ = ir::edit(op).remove_attribute(KEEP);
    }
}
