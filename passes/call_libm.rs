//! `layout-call-libm`: functions that LLVM has only as `exp(x) - 1` and `log(1 + x)` become calls of the C library.

use crate::upstream;
use layout_ir::{self as ir, Op};

const FUNCTIONS: &[&str] = &["math.expm1", "math.log1p"];

/// Makes calls of all such functions; false where there are none, and nothing where upstream reported an error.
pub fn run(root: Op) -> Option<bool> {
    let found = ir::all_operations(root).into_iter().any(|op| FUNCTIONS.contains(&ir::name(op)));
    if !found {
        return Some(false);
    }
    upstream::call_libm(root).then_some(true)
}
