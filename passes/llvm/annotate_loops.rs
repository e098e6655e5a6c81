//! `layout-annotate-loops`: tells LLVM not to transform loops of vector code.
//!
//! Such a kernel already has its final vectors, accumulators and loop ends. LLVM's vectorizer
//! finds nothing to do there, and its unroller copies bodies of hundreds of instructions.

use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Builder, Op};
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, TypeLike, ValueLike};

/// The attribute of branches of the LLVM dialect for `llvm.loop`. The lowering of loops passes it on.
const NAME: &str = "loop_annotation";
/// Disables LLVM's optional loop transformations, each of which reads it.
const KEPT: &str = "#llvm.loop_annotation<disableNonforced = true>";

/// Annotates each `scf.for` of a module with vectors inside, unless it has an annotation.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let root = stage.root();
    let kept = Attribute::parse(Builder::before(root).context(), KEPT).expect("an attribute of the LLVM dialect");
    for op in ir::all_operations(root).into_iter().filter(|op| has_vectors(*op)) {
        let mut around = ir::parent(op);
        while let Some(outer) = around {
            match ir::attribute(outer, NAME) {
                // Outer loops are annotated, too.
                Some(found) if found == kept => break,
                None if ir::name(outer) == "scf.for" => ir::edit(outer).set_attribute(NAME, kept),
                _ => {}
            }
            around = ir::parent(outer);
        }
    }
    Ok(Next::Changed)
}

fn has_vectors(op: Op) -> bool {
    op.operands().any(|v| v.r#type().is_vector()) || op.results().any(|v| v.r#type().is_vector())
}
