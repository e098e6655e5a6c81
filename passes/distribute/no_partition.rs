//! `layout-partition` in a build without the feature `distribute`.

use crate::distribute::PROCESS;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_dialect::MACHINE;
use layout_ir as ir;

/// Refuses a machine with processes.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let module = stage.rewriter.root();
    let machine = ir::attribute(module, MACHINE).and_then(layout_dialect::machine);
    if machine.is_none_or(|machine| machine.depth(PROCESS).is_none()) {
        return Ok(Next::Unchanged);
    }
    let message = "layout-partition needs the feature `distribute` of layout-passes, which this build leaves out";
    Err(vec![Diagnostic::error(ir::location(module), message)])
}
