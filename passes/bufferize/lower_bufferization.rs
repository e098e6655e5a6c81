//! `layout-lower-bufferization`: lowers the bufferization operations that remain after deallocation to memrefs.

use crate::pass::stages::{self, Next, PassStage, StageInput, StageResult};

/// Runs [`STAGES`], each only if the module needs it.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let next = stages::next(STAGES, stage.root(), stage.number);
    let run = |(passes, number): (&str, usize)| Next::Run { passes: passes.to_owned(), number, changed: false };
    Ok(next.map_or(Next::Unchanged, run))
}

/// All passes that may run between the stages.
pub(crate) fn passes() -> String {
    stages::all(STAGES)
}

/// The passes in their order. Most functions need none of them.
const STAGES: &[PassStage] = &[
    ("bufferization-lower-deallocations", &["bufferization.dealloc"]),
    ("layout-expand-clones", &["bufferization.clone"]),
    ("convert-bufferization-to-memref", &["bufferization"]),
];
