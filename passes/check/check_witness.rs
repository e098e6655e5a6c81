//! `layout-check-witness`: compares the two programs of a witness, one kernel at a time.
//!
//! A witness is a module with two modules inside: `@before`, whose operations with effects have numbers, and `@after`, whose
//! operations have the numbers of those that they implement. `layout-verify` writes one with `witness=FILE`.

use super::comparison;
use crate::pass::options::CheckWitnessOptions;
use crate::pass::stages::{Next, StageInput, StageResult};

/// Checks a module.
pub(crate) fn run<'c>(stage: StageInput<'c, CheckWitnessOptions>) -> StageResult<'c> {
    comparison::check_witness(stage.root(), stage.options).map(|()| Next::Unchanged)
}
