//! `layout-mask-as-integers`: masked loads and stores of small floating-point vectors as integers.
//!
//! Shuffles are then integer shuffles, which LLVM supports on every machine; for bf16 it
//! has no shuffle of 256 bits on machines with AVX-512 for that type. LLVM itself converts loads without a mask.

use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, TypeLike, ValueLike};

/// Changes all masked loads and stores of the LLVM dialect in a module.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    for op in ir::all_operations(rewriter.root()) {
        match ir::name(op) {
            "llvm.intr.masked.load" => load(rewriter, op),
            "llvm.intr.masked.store" => store(rewriter, op),
            _ => {}
        }
    }
    Ok(Next::Changed)
}

/// The integer vector of the same size as one of floating-point numbers of at most 16 bits.
fn integers<'c>(b: Builder<'c>, t: Type<'c>) -> Option<Type<'c>> {
    let shaped = ir::vector(t)?;
    let bits = ir::bits(shaped.element).filter(|bits| *bits <= 16 && shaped.element.is_float())?;
    Some(ir::vector_type(&shaped.shape, IntegerType::new(b.context(), bits as u32).into()))
}

fn cast<'c>(b: Builder<'c>, v: Val<'c>, t: Type<'c>) -> Val<'c> {
    b.value("llvm.bitcast", &[v], t, &[])
}

fn load(rewriter: &Rewriter, op: Op) {
    let b = Builder::before(op);
    let loaded = ir::result(op, 0);
    let Some(t) = integers(b, loaded.r#type()) else { return };
    // The address and the mask, then the values of lanes that are not loaded.
    let mut operands = ir::operands(op);
    operands[2..].iter_mut().for_each(|v| *v = cast(b, *v, t));
    let made = b.value(ir::name(op), &operands, t, &b.attributes_of(op));
    ir::replace_all_uses(loaded, cast(b, made, loaded.r#type()));
    rewriter.erase(op);
}

fn store(rewriter: &Rewriter, op: Op) {
    let b = Builder::before(op);
    let mut operands = ir::operands(op);
    let Some(t) = integers(b, operands[0].r#type()) else { return };
    operands[0] = cast(b, operands[0], t);
    b.op(ir::name(op), &operands, &[], &b.attributes_of(op));
    rewriter.erase(op);
}
