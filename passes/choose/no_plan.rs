//! `layout-plan` in a build without the feature `plan`.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::PlanOptions;
use crate::pass::steps::{StepInput, StepResult};
use layout_ir as ir;

/// Refuses to run.
pub(crate) fn run<'c>(step: StepInput<'c, PlanOptions>) -> StepResult<'c> {
    let message = "layout-plan needs the feature `plan` of layout-passes, which this build leaves out";
    Err(vec![Diagnostic::error(ir::location(step.root()), message)])
}
