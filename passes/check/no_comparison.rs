//! `layout-verify` in a build without the feature `verify`.

use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Op};

/// The report, which stays empty.
pub(crate) use std::string::String as State;

/// Refuses to run.
///
/// # Errors
/// Always.
pub(crate) fn run<'c>(
    module: Op<'c>,
    _: (&[String], &str),
    _: usize,
    _: &mut State,
) -> Result<Option<String>, Vec<Diagnostic<'c>>> {
    let message = "layout-verify needs the feature `verify` of layout-passes, which this build leaves out";
    Err(vec![Diagnostic::error(ir::location(module), message)])
}
