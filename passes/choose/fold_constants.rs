//! `layout-fold-constants`: operations that only move the elements of a constant become constants.
//!
//! ```text
//! %w = arith.constant dense_resource<w> : tensor<1000x512xf32>
//! %t = linalg.transpose ins(%w) .. permutation = [1, 0]     =>    %t = arith.constant dense<..> : tensor<512x1000xf32>
//! ```
//!
//! PyTorch's `linear` reads its weights so. Which element goes where, `analysis::same_bytes` knows.

use super::remove_conversions::erase_dead;
use crate::analysis::same_bytes::moved_constant;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Builder};

/// Folds such operations, in the order of the program; returns [`Next::Unchanged`] if there are none.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let mut folded = Vec::new();
    for op in ir::all_operations(stage.root()) {
        if let Some(value) = moved_constant(op) {
            ir::replace_all_uses(ir::result(op, 0), Builder::before(op).constant(value));
            folded.push(op);
        }
    }
    let changed = !folded.is_empty();
    folded.into_iter().for_each(|op| stage.rewriter.erase(op));
    if changed {
        erase_dead(stage.rewriter);
    }
    Ok(Next::of(changed))
}
