//! `layout-approximate-math`: functions of vectors become polynomials where they may be approximated.
//!
//! `math.tanh` of a vector is a call of the C library for each element, and LLVM knows vector functions of few functions
//! and widths. The polynomials are upstream's, which has no pass of its own for them; which functions they are good enough
//! for is in the table of `buffers/operations.rs`. A scalar stays a call: the library branches where a polynomial computes
//! all cases, and a sum of exponentials, each of which waits for the last, takes three times as long with these.

use crate::buffers::operations::{APPROXIMABLE, is, is_approximable};
use crate::upstream::{self, FastMath};
use layout_ir::{self as ir, Op};
use melior::ir::ValueLike;

/// Approximates all functions of vectors that have the flag `afn`; false where there are none.
pub fn run(root: Op) -> bool {
    let is_vector = |op: Op| ir::results(op).iter().all(|v| ir::vector(v.r#type()).is_some());
    let may_be = |op: &Op| is_approximable(*op) && is_vector(*op) && FastMath::of(*op).has(FastMath::APPROXIMATE);
    let found: Vec<Op> = ir::all_operations(root).into_iter().filter(may_be).collect();
    if !found.is_empty() {
        upstream::approximate(root, &found, &mut |name| is(name, APPROXIMABLE));
    }
    !found.is_empty()
}
