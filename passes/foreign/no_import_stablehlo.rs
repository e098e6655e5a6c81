//! `layout-import-stablehlo` in a build without the feature `stablehlo`.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{StageInput, StageResult};
use layout_ir as ir;

/// Refuses to run.
pub(crate) fn run(stage: StageInput) -> StageResult {
    let message = "layout-import-stablehlo needs the feature `stablehlo` of layout-passes, which this build leaves out";
    Err(vec![Diagnostic::error(ir::location(stage.root()), message)])
}
