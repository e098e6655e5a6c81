//! `layout-call-libm`: calls the C library for functions that LLVM has only as `exp(x) - 1` and `log(1 + x)`.

use crate::upstream;
use layout_ir::{self as ir, Op};

const FUNCTIONS: &[&str] = &["math.expm1", "math.log1p"];

/// Replaces all such functions by calls; returns false if there are none, and `None` if upstream reported an error.
pub fn run(root: Op) -> Option<bool> {
    let found = ir::all_operations(root).into_iter().any(|op| FUNCTIONS.contains(&ir::name(op)));
    if !found {
        return Some(false);
    }
    upstream::call_libm(root).then_some(true)
}
