//! `layout-plan` in a build without the feature `plan`.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::PlanOptions;
use crate::pass::stages::{StageInput, StageResult};
use layout_ir as ir;

/// Refuses to run.
pub(crate) fn run<'c>(stage: StageInput<'c, PlanOptions>) -> StageResult<'c> {
    let message = "layout-plan needs the feature `plan` of layout-passes, which this build leaves out";
    Err(vec![Diagnostic::error(ir::location(stage.root()), message)])
}
