//! `scf.index_switch` of tensors as a chain of `scf.if`.
//!
//! MLIR 22's one-shot analysis does not see that the result of a switch may be in the buffer of what a case yields: an
//! operation after a switch that yields an argument then writes into the argument, also where that must not be written.
//! It knows this of `scf.if`.

use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::ValueLike;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;

/// Replaces a switch by one `scf.if` for each case, the next one in the second branch of the one before.
pub fn as_branches(rewriter: &Rewriter, op: Op) {
    let b = Builder::before(op);
    let types: Vec<_> = ir::results(op).into_iter().map(|v| v.r#type()).collect();
    let index = ir::operands(op)[0];
    let blocks = ir::blocks(op);
    let (default, cases) = blocks.split_first().expect("a switch has a default");
    let mut place = b;
    // What takes the results of the next `scf.if`, or of the default: the end of a branch, or at first the switch.
    let mut end: Option<Op> = None;
    for (block, value) in cases.iter().zip(ir::integers(op, "cases")) {
        let chosen = equal(place, index, value);
        let (first, second) = place.conditional(chosen, &types);
        deliver(op, end, &ir::results(ir::parent(first).expect("a terminator is in an operation")));
        deliver(op, Some(first), &moved(ir::operations(*block), first));
        (place, end) = (place.at(second), Some(second));
    }
    let results = moved(ir::operations(*default), end.unwrap_or(op));
    deliver(op, end, &results);
    rewriter.erase(op);
}

/// `index == value`.
fn equal<'c>(b: Builder<'c>, index: Val<'c>, value: i64) -> Val<'c> {
    let int64 = IntegerType::new(b.context(), 64).into();
    let predicate = b.named("predicate", IntegerAttribute::new(int64, 0));
    b.value("arith.cmpi", &[index, b.index(value)], IntegerType::new(b.context(), 1).into(), &[predicate])
}

/// Puts the operations of a case before another operation; what the case yields.
fn moved<'c>(case: Vec<Op<'c>>, before: Op<'c>) -> Vec<Val<'c>> {
    let (end, operations) = case.split_last().expect("a case ends in a yield");
    operations.iter().for_each(|op| ir::move_before(*op, before));
    ir::operands(*end)
}

/// Makes values the results of a branch, by its end, or those of the whole switch.
fn deliver<'c>(switch: Op<'c>, end: Option<Op<'c>>, values: &[Val<'c>]) {
    match end {
        Some(end) => ir::set_operands(end, values),
        None => ir::results(switch).into_iter().zip(values).for_each(|(old, new)| ir::replace_all_uses(old, *new)),
    }
}
