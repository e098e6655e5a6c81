//! `layout-shard-to-mpi` in a build without the feature `distribute`.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir as ir;

/// Refuses communication between processes.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let all = ir::all_operations(stage.rewriter.root());
    let Some(op) = all.into_iter().find(|op| ir::name(*op).starts_with("shard.")) else { return Ok(Next::Unchanged) };
    let message = "layout-shard-to-mpi needs the feature `distribute` of layout-passes, which this build leaves out";
    Err(vec![Diagnostic::error(ir::location(op), message)])
}
