//! `layout-inline-calls`: inlines functions at their calls.
//!
//! A function returns results in buffers of its own: if the body of a loop is a function, the loop-carried arrays are
//! copied in each iteration. In the loop itself, bufferization finds the ones that are written in place. And facts do
//! not cross functions: operations are fused, and conversions removed, only within a function.
//!
//! A function with a single call is moved, or copied if it is a model. A function of at most `SMALL` operations is copied to
//! each of its calls, so that a module grows by at most this many operations for each call.

use crate::analysis::functions::{called_only_functions, callee, inline_body, symbol};
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_dialect::MODEL;
use layout_ir::{self as ir, Op, Rewriter};
use melior::ir::ValueLike;
use std::collections::{HashMap, HashSet};

/// The most operations of a copied function: enough for JAX's `jnp.where`, an index that may be negative, or
/// the update of an array at one.
const SMALL: usize = 64;

/// The pass that runs if a call was inlined: functions may compute the same values.
pub(crate) const PASSES: &str = "cse";

/// Inlines calls, in time linear in the resulting operations; returns [`Next::Unchanged`] if there are none.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    if stage.number > 0 {
        return Ok(Next::Unchanged);
    }
    let rewriter = stage.rewriter;
    let operations = ir::all_operations(rewriter.root());
    let called_only = called_only_functions(&operations);
    if called_only.is_empty() {
        return Ok(Next::Unchanged);
    }
    let is_function = |op: &Op<'c>| ir::name(*op) == "func.func" && ir::parent(*op) == Some(operations[0]);
    let mut inlining =
        Inlining { rewriter, called_only, calls: HashMap::new(), movable: HashMap::new(), changed: false };
    operations.iter().filter_map(|op| callee(*op)).for_each(|name| *inlining.calls.entry(name).or_default() += 1);
    let order = inlining.callees_first(operations.iter().copied().filter(is_function));
    for function in order {
        inlining.inline_into(function);
    }
    let passes = PASSES.to_owned();
    Ok(if inlining.changed { Next::Run { passes, number: 1, changed: true } } else { Next::Unchanged })
}

/// The functions of a module during inlining.
struct Inlining<'c> {
    rewriter: &'c Rewriter,
    /// The functions that are only referenced by calls.
    called_only: HashMap<&'c str, Op<'c>>,
    /// The number of calls of each name.
    calls: HashMap<&'c str, usize>,
    /// The finished functions that can be inlined, with their numbers of operations.
    movable: HashMap<&'c str, usize>,
    changed: bool,
}

impl<'c> Inlining<'c> {
    /// The functions, callees first. Directly or indirectly recursive functions do not count:
    /// they would be inlined into themselves.
    fn callees_first(&mut self, functions: impl Iterator<Item = Op<'c>>) -> Vec<Op<'c>> {
        let (mut order, mut begun, mut done) = (Vec::new(), HashSet::new(), HashSet::new());
        let mut stack: Vec<(Op<'c>, Vec<Op<'c>>)> = Vec::new();
        for root in functions {
            if begun.insert(ir::op_key(root)) {
                stack.push((root, self.callees(root)));
            }
            while let Some((function, rest)) = stack.last_mut() {
                let function = *function;
                match rest.pop() {
                    Some(next) if begun.insert(ir::op_key(next)) => {
                        let callees = self.callees(next);
                        stack.push((next, callees));
                    }
                    Some(next) if !done.contains(&ir::op_key(next)) => {
                        let cycle = stack.iter().skip_while(|(op, _)| *op != next);
                        cycle.filter_map(|(op, _)| symbol(*op)).for_each(|name| {
                            self.called_only.remove(name);
                        });
                    }
                    Some(_) => {}
                    None => {
                        done.insert(ir::op_key(function));
                        order.push(function);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    fn callees(&self, function: Op<'c>) -> Vec<Op<'c>> {
        ir::all_operations(function).into_iter().filter_map(|op| self.called_only.get(callee(op)?).copied()).collect()
    }

    /// Inlines the calls in a function, and records its size.
    fn inline_into(&mut self, function: Op<'c>) {
        let operations = ir::all_operations(function);
        let mut size = operations.len();
        for call in operations.iter().copied() {
            let Some(name) = callee(call) else { continue };
            let Some(called) = self.called_only.get(name).copied().filter(|_| !is_asked_to_stay(call)) else {
                continue;
            };
            let Some(added) = self.movable.get(name).copied() else { continue };
            let calls = self.calls.get_mut(name).expect("each call has been counted");
            if *calls > 1 && added > SMALL {
                continue;
            }
            // A model is also for operations that are no calls.
            let stays = *calls > 1 || ir::attribute(called, MODEL).is_some();
            let body = if stays { ir::copy_before(called, called) } else { called };
            inline_body(self.rewriter, call, body);
            *calls -= 1;
            size += added;
            self.changed = true;
        }
        if let Some(name) = symbol(function).filter(|_| may_move(function, &operations)) {
            self.movable.insert(name, size);
        }
    }
}

fn is_asked_to_stay(op: Op) -> bool {
    ir::attribute(op, "no_inline").is_some()
}

/// Whether a function with these operations can be inlined: it has no branches, none of its operations needs a
/// function around it, and no attribute forbids it.
fn may_move(function: Op, operations: &[Op]) -> bool {
    ir::blocks(function).len() == 1 && !is_asked_to_stay(function) && !operations.iter().any(|op| needs_function(*op))
}

/// Whether an operation changes or loses its meaning in a loop of another function. Affine operations accept a value as
/// dimension or symbol if it is an argument or at the top level of a function, and in a loop only if it is the
/// induction variable of an `affine.for`. Stack memory is freed by the function alone, and buffers are freed by hand
/// only in functions without tensors.
fn needs_function(op: Op) -> bool {
    let arguments = ir::blocks(op).into_iter().flat_map(ir::arguments);
    let has_memory = ir::results(op).into_iter().chain(arguments).any(|v| ir::memref(v.r#type()).is_some());
    has_memory || ir::name(op) == "llvm.alloca" || ir::name(op).starts_with("affine.")
}
