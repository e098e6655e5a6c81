//! `layout-import-stablehlo`: operations of StableHLO as those of linalg, tensor and scf.
//!
//! The dialect need not be registered: the module is printed in the generic form, read as
//! [`hlo::Module`] as `layout-translate` reads it, and imported by the same code.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Op};
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use tensor_layout::hlo;
use tensor_layout::text::Error;

/// Imports a module; [`Next::Unchanged`] without operations of StableHLO.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let (rewriter, root) = (stage.rewriter, stage.root());
    let operations = ir::all_operations(root);
    let is_stable = |op: &Op| ["stablehlo.", "mhlo.", "chlo."].iter().any(|dialect| ir::name(*op).starts_with(dialect));
    if !operations.iter().any(is_stable) {
        return Ok(Next::Unchanged);
    }
    let flags = OperationPrintingFlags::new().print_generic_operation_form().enable_debug_info(true, false);
    let text = root.to_string_with_flags(flags).unwrap_or_default();
    let located = |errors: Vec<Error>| -> Vec<Diagnostic<'c>> {
        let at = |error: &Error| ir::location(operation_at(&text, error.at, &operations));
        errors.iter().map(|error| Diagnostic::error(at(error), error.message.clone())).collect()
    };
    let module = hlo::Module::parse(&text).map_err(located)?;
    let imported = layout_translate::import(&module, &text, "stablehlo").map_err(located)?;
    let old: Vec<Op> = ir::blocks(root).into_iter().flat_map(ir::operations).collect();
    let first = old.first().copied().unwrap_or(root);
    ir::parse_before(&imported, first);
    old.into_iter().for_each(|op| rewriter.erase(op));
    Ok(Next::Changed)
}

/// The operation whose text is at an offset: each begins a line, in the order of a walk.
fn operation_at<'c>(text: &str, at: Option<usize>, operations: &[Op<'c>]) -> Op<'c> {
    let before = at.and_then(|at| text.get(..at)).unwrap_or_default();
    let line_end = text[before.len()..].find('\n').map_or(text.len(), |end| before.len() + end);
    let begins = |line: &&str| line.trim_start().starts_with(['"', '%']);
    let number = text[..line_end].lines().filter(begins).count().saturating_sub(1);
    operations.get(number).copied().unwrap_or(operations[0])
}
