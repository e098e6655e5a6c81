//! `layout-expand-operations`: operations of other compilers become the operations of their models.

use super::calls::expand;
use crate::analysis::functions::{referred, symbol};
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_dialect::{COST, MODEL};
use layout_ir::{self as ir, Op, Rewriter};
use melior::ir::operation::OperationMutLike;

/// Expands all operations of a module that have a model.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let expanded = expand(stage.rewriter, stage.root())?;
    Ok(Next::of(expanded | erase_models(stage.rewriter) | remove_model_attributes(stage.rewriter.root())))
}

/// Removes the attributes of the functions that are still models, which are only functions to the passes after this one;
/// returns whether there are any.
fn remove_model_attributes(root: Op) -> bool {
    let mut any = false;
    for op in ir::all_operations(root) {
        for name in [MODEL, COST] {
            any |= ir::attribute(op, name).is_some() && ir::edit(op).remove_attribute(name).is_ok();
        }
    }
    any
}

/// Erases the private functions that are models and that nothing else refers to; returns whether there are any.
fn erase_models(rewriter: &Rewriter) -> bool {
    let operations = ir::all_operations(rewriter.root());
    let referred = referred(&operations);
    let is_private = |op: &Op| ir::attribute(*op, "sym_visibility").and_then(ir::text) == Some("private");
    let is_needed = |op: &Op| symbol(*op).is_none_or(|name| referred.contains(name));
    let models =
        operations.iter().filter(|op| ir::attribute(**op, MODEL).is_some() && is_private(op) && !is_needed(op));
    models.map(|op| rewriter.erase(*op)).count() > 0
}
