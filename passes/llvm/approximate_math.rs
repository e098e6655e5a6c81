//! `layout-approximate-math`: replaces approximable functions of vectors by polynomials.
//!
//! `math.tanh` of a vector is a call of the C library for each element, and LLVM has vector versions of few functions
//! and widths. The polynomials are upstream's, which has no pass of its own for them; the table of
//! `buffers/operations.rs` lists the functions they are good enough for. Scalars stay calls: the library branches where
//! a polynomial computes all cases, and a sum of exponentials, each of which waits for the last, takes three times as
//! long.

use crate::buffers::operations::{APPROXIMABLE, is, is_approximable};
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream::{self, FastMath};
use layout_ir::{self as ir, Builder, Op, Vector};
use melior::ir::{Type, ValueLike};

/// Approximates all functions of vectors with the flag `afn`; returns [`Next::Unchanged`] if there are none.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let root = stage.root();
    let is_vector = |op: Op| ir::results(op).iter().all(|v| ir::vector(v.r#type()).is_some());
    let may_be = |op: &Op| is_approximable(*op) && is_vector(*op) && FastMath::of(*op).has(FastMath::APPROXIMATE);
    let mut found: Vec<Op> = ir::all_operations(root).into_iter().filter(may_be).collect();
    for op in found.clone() {
        if ir::name(op) == "math.erf" && !FastMath::of(op).has(FastMath::NO_SIGNED_ZEROS) {
            found.extend(with_sign(op));
        }
    }
    if !found.is_empty() {
        upstream::approximate(root, &found, &mut |name| is(name, APPROXIMABLE));
    }
    Ok(Next::of(!found.is_empty()))
}

/// Gives `math.erf` the sign of its argument in f32, as upstream's polynomial is +0 at -0. Returns the operations to
/// rewrite; the given one has no users then.
fn with_sign<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let (b, x, own) = (Builder::before(op), ir::operands(op)[0], ir::result(op, 0));
    let (t, f32) = (own.r#type(), Type::float32(b.context()));
    let Some(Vector { shape, element }) = ir::vector(t) else { return Vec::new() };
    let wide = ir::vector_type(&shape, f32);
    let x = if element == f32 { x } else { b.value("arith.extf", &[x], wide, &[]) };
    let erf = b.op("math.erf", &[x], &[wide], &b.attributes_of(op));
    let signed = b.op("math.copysign", &[ir::result(erf, 0), x], &[wide], &[]);
    let narrow = (element != f32).then(|| b.op("arith.truncf", &[ir::result(signed, 0)], &[t], &[]));
    ir::replace_all_uses(own, ir::result(narrow.unwrap_or(signed), 0));
    [Some(erf), narrow].into_iter().flatten().collect()
}
