//! `layout-verify` and `layout-check-witness` in a build without the feature `verify`.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::CheckWitnessOptions;
use layout_ir::{self as ir, Op, Rewriter};

/// The report, which stays empty.
pub(crate) use std::string::String as State;

/// Refuses to run.
///
/// # Errors
/// Always.
pub(crate) fn run<'c>(
    rewriter: &'c Rewriter,
    _: (&[String], &str),
    _: usize,
    _: &mut State,
) -> Result<Option<String>, Vec<Diagnostic<'c>>> {
    Err(left_out(rewriter.root(), "layout-verify"))
}

/// Refuses to check a witness.
///
/// # Errors
/// Always.
pub(crate) fn check_witness<'c>(module: Op<'c>, _: CheckWitnessOptions) -> Result<(), Vec<Diagnostic<'c>>> {
    Err(left_out(module, "layout-check-witness"))
}

fn left_out<'c>(module: Op<'c>, pass: &str) -> Vec<Diagnostic<'c>> {
    let message = format!("{pass} needs the feature `verify` of layout-passes, which this build leaves out");
    vec![Diagnostic::error(ir::location(module), message)]
}
