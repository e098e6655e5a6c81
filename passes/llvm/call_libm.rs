//! `layout-call-libm`: calls the C library for functions that LLVM has only as `exp(x) - 1` and `log(1 + x)`.

use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream;
use layout_ir as ir;

const FUNCTIONS: &[&str] = &["math.expm1", "math.log1p"];

/// Replaces all such functions by calls; returns [`Next::Unchanged`] if there are none, and no diagnostics if upstream
/// reported an error.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let root = stage.root();
    let found = ir::all_operations(root).into_iter().any(|op| FUNCTIONS.contains(&ir::name(op)));
    if !found {
        return Ok(Next::Unchanged);
    }
    if upstream::call_libm(root) { Ok(Next::Changed) } else { Err(Vec::new()) }
}
