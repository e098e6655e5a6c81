//! Partial sums of processes, and their combination.
//!
//! The rows of `A` are summed, 64 at each of 4 processes. Each process adds its rows to a neutral element, then
//! `shard.all_reduce` combines the parts, or `shard.reduce_scatter` if each process wants a part of the result. The
//! initial value is added last; a fill with the neutral element needs no last step.

use super::exchange::Reduction;
use super::loops::Combination;
use super::made_again::{MadeAgain, is_zero};
use crate::distribute::shard_to_mpi::reduction::{Numbers, REDUCTIONS};
use crate::pass::upstream::FastMath;
use layout_ir::{self as ir, Builder, Shaped, Val};
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::{Attribute, ValueLike};

/// The combination of partial sums.
pub fn reduction(own: &Combination) -> Reduction {
    let element = ir::result(own.op, 0).r#type();
    let text = element.to_string();
    let name = match ir::name(own.op) {
        "arith.maxnumf" => "arith.maximumf",
        "arith.minnumf" => "arith.minimumf",
        name => name,
    };
    // Element types of MPI's operations. `shard` does not define the sign of zero and the result for NaN.
    let is_known = |word: &str, numbers: Numbers| match numbers {
        Numbers::Integers => matches!(&*text, "i8" | "i16" | "i32" | "i64"),
        Numbers::Floats => matches!(&*text, "f32" | "f64") && (!matches!(word, "max" | "min") || is_total(own)),
        Numbers::Complex => false,
    };
    match REDUCTIONS.iter().find(|row| row.2 == name) {
        Some((word, numbers, _)) if is_known(word, *numbers) => Reduction::Kind(word),
        _ => Reduction::Gathered,
    }
}

fn is_total(own: &Combination) -> bool {
    FastMath::of(own.op).has(FastMath::NO_NANS.with(FastMath::NO_SIGNED_ZEROS))
}

/// Whether each process may start from the initial value instead of a neutral element: a constant that may be
/// added repeatedly without effect.
pub fn may_be_added_often(own: &Combination, to: Val) -> bool {
    let Some(made) = MadeAgain::of(to) else { return false };
    let repeats = ["max", "min", "and", "or"];
    let name = ir::name(own.op).trim_start_matches("arith.");
    if repeats.iter().any(|kind| name.starts_with(kind)) {
        return !matches!(made, MadeAgain::Empty);
    }
    let Some(element) = made.element() else { return false };
    // The neutral element of floating-point sums is -0.0; only sums of negative zeros alone distinguish it from 0.0.
    element == own.neutral || matches!(name, "addf" | "addi" | "xori") && is_zero(element)
}

/// Combines two tensors element by element.
pub fn combined<'c>(b: Builder<'c>, own: &Combination<'c>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    b.value(ir::name(own.op), &[x, y], y.r#type(), &b.attributes_of(own.op))
}

/// Reduces a tensor along its first dimension.
pub fn along_first<'c>(b: Builder<'c>, own: &Combination<'c>, v: Val<'c>) -> Val<'c> {
    let all = ir::tensor(v.r#type()).expect("a tensor");
    let t = ir::tensor_type(&Shaped { shape: all.shape[1..].to_vec(), ..all.clone() });
    let start = filled(b, own.neutral, t);
    let dimensions: Attribute = DenseI64ArrayAttribute::new(b.context(), &[0]).into();
    let attributes = [b.named("dimensions", dimensions)];
    let arguments = [all.element, all.element];
    let (op, end) = b.with_body("linalg.reduce", &[v, start], &[t], &attributes, &arguments, "linalg.yield");
    let arguments = ir::arguments(ir::blocks(op)[0]);
    let sum = b.at(end).value(ir::name(own.op), &[arguments[1], arguments[0]], all.element, &b.attributes_of(own.op));
    ir::set_operands(end, &[sum]);
    ir::result(op, 0)
}

/// A tensor filled with a constant.
pub fn filled<'c>(b: Builder<'c>, element: Attribute<'c>, t: melior::ir::Type<'c>) -> Val<'c> {
    let (value, empty) = (b.constant(element), b.value("tensor.empty", &[], t, &[]));
    ir::result(b.named_structured("linalg.fill", &[value, empty], &[1, 1], t), 0)
}
