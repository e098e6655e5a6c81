//! `layout-lower-bufferization`: lowers the bufferization operations that remain after deallocation to memrefs.

use crate::pass::steps::{self, Next, PassStep, StepInput, StepResult};

/// Runs [`STEPS`], each only if the module needs it.
pub(crate) fn run<'c>(step: StepInput<'c>) -> StepResult<'c> {
    let next = steps::next(STEPS, step.root(), step.number);
    let run = |(passes, number): (&str, usize)| Next::Run { passes: passes.to_owned(), number, changed: false };
    Ok(next.map_or(Next::Unchanged, run))
}

/// All passes that may run between the steps.
pub(crate) fn passes() -> String {
    steps::all(STEPS)
}

/// The passes in their order. Most functions need none of them.
const STEPS: &[PassStep] = &[
    ("bufferization-lower-deallocations", &["bufferization.dealloc"]),
    ("layout-expand-clones", &["bufferization.clone"]),
    ("convert-bufferization-to-memref", &["bufferization"]),
];
