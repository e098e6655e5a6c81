//! Functions that one call inside a loop or a branch calls are put in place of the call, and so are small ones.
//!
//! What a function returns is in a buffer of its own: a body of a loop that is a function would have the arrays that the
//! loop carries copied in each iteration. In the loop itself, bufferization sees which of them is written in place.
//!
//! Calls outside regions stay: they run as often as their function, and functions keep what is compiled at once small.

use crate::functions::{callee, ends, free_functions, symbol};
use layout_ir::{self as ir, Builder, Op, Rewriter};
use melior::ir::ValueLike;
use std::collections::HashMap;

/// The operations of a function that is small: the few of an update or of a selection, as JAX has functions for them.
const SMALL: usize = 32;

/// Puts them in place, in time linear in the operations. `operations` are those of a module, itself first.
pub fn inline<'c>(rewriter: &'c Rewriter, operations: &[Op<'c>]) {
    let free = free_functions(operations);
    let mut calls: HashMap<&str, usize> = HashMap::new();
    operations.iter().filter_map(|op| callee(*op)).for_each(|name| *calls.entry(name).or_default() += 1);
    let single = |name: &str| free.get(name).copied().filter(|_| calls.get(name) == Some(&1));
    // From the functions that stay down to those that they call, so that none is put into itself.
    let is_called_once = |op: Op<'c>| symbol(op).is_some_and(|name| single(name).is_some());
    let is_function = |op: Op<'c>| ir::name(op) == "func.func" && ir::parent(op) == Some(operations[0]);
    let stays = |op: &&Op<'c>| is_function(**op) && !is_called_once(**op);
    let mut calls: Vec<Op> = operations.iter().filter(stays).flat_map(|op| calls_in(*op)).collect();
    while let Some(call) = calls.pop() {
        if let Some(function) = callee(call).and_then(single) {
            calls.extend(calls_in(function));
            if is_in_region(call) && may_move(call, function) {
                put(rewriter, call, function);
            }
        } else if let Some(function) = callee(call).and_then(|name| free.get(name).copied())
            && is_in_region(call)
            && ir::all_operations(function).len() <= SMALL
            && calls_in(function).next().is_none()
            && may_move(call, function)
        {
            put(rewriter, call, Builder::before(function).copy(function));
        }
    }
}

fn calls_in<'c>(function: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    ir::all_operations(function).into_iter().filter(|op| callee(*op).is_some())
}

/// Whether a call is in the region of a loop or a branch.
fn is_in_region(call: Op) -> bool {
    ir::parent(call).is_some_and(|parent| ["scf.", "affine."].iter().any(|own| ir::name(parent).starts_with(own)))
}

/// Whether a function may stand in place of its call: it has no branches, nothing in it needs a function around it, and
/// nobody wants it to stay.
fn may_move(call: Op, function: Op) -> bool {
    let stays = |op: Op| ir::attribute(op, "no_inline").is_some();
    ir::blocks(function).len() == 1
        && !stays(call)
        && !stays(function)
        && !ir::all_operations(function).into_iter().any(needs_function)
}

/// Whether an operation means something else, or nothing, in a loop of another function. Affine operations take a value as
/// dimension or symbol if it is an argument or at the top of a function, and in a loop only if it is counted by an
/// `affine.for`. Memory on the stack is given back by the function alone, and buffers are freed by hand in functions
/// without tensors alone.
fn needs_function(op: Op) -> bool {
    let arguments = ir::blocks(op).into_iter().flat_map(ir::arguments);
    let has_memory = ir::results(op).into_iter().chain(arguments).any(|v| ir::memref(v.r#type()).is_some());
    has_memory || ir::name(op) == "llvm.alloca" || ir::name(op).starts_with("affine.")
}

/// Puts the operations of a function in place of its only call, and erases both.
fn put<'c>(rewriter: &'c Rewriter, call: Op<'c>, function: Op<'c>) {
    let body = ir::blocks(function)[0];
    for (argument, given) in ir::arguments(body).into_iter().zip(ir::operands(call)) {
        ir::replace_all_uses(argument, given);
    }
    let end = ends(function).next().expect("a free function returns");
    ir::operations(body).into_iter().filter(|op| *op != end).for_each(|op| ir::move_before(op, call));
    for (result, value) in ir::results(call).into_iter().zip(ir::operands(end)) {
        ir::replace_all_uses(result, value);
    }
    rewriter.erase(call);
    rewriter.erase(function);
}
