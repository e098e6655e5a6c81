//! `layout-expand-dma`: expands copies between memories for a machine with one memory.
//!
//! A `memref.dma_start` becomes a copy of the same contiguous elements from its indices on, and a `memref.dma_wait`
//! nothing. The copy may run at any time between the two, and is placed at the start; with `late`, at the wait, which
//! reveals buffers that are written or freed too early.

use crate::buffers::async_copies::DmaStart;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::ExpandDmaOptions;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::{Type, ValueLike};

/// Expands all copies in a module; returns [`Next::Unchanged`] if there are none.
///
/// # Errors
/// A copy with a stride, or whose number of elements is not a constant.
pub(crate) fn run<'c>(stage: StageInput<'c, ExpandDmaOptions>) -> StageResult<'c> {
    let StageInput { rewriter, options, .. } = stage;
    let all = ir::all_operations(rewriter.root());
    let (starts, waits): (Vec<Op>, Vec<Op>) = all
        .into_iter()
        .filter(|op| matches!(ir::name(*op), "memref.dma_start" | "memref.dma_wait"))
        .partition(|op| ir::name(*op) == "memref.dma_start");
    let found = !starts.is_empty() || !waits.is_empty();
    let mut errors = Vec::new();
    for op in starts {
        let location = ir::location(op);
        if let Err(reason) = expand(rewriter, op, options.late) {
            errors.push(Diagnostic::error(location, format!("'memref.dma_start' op cannot be expanded: {reason}")));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    for op in waits {
        let tag = ir::operands(op)[0];
        rewriter.erase(op);
        if let Some(made) = ir::defining_op(tag).filter(|op| ir::name(*op) == "memref.alloca" && !ir::is_used(tag)) {
            rewriter.erase(made);
        }
    }
    Ok(Next::of(found))
}

fn expand(rewriter: &Rewriter, op: Op, late: bool) -> Result<(), String> {
    let start = DmaStart::of(op).ok_or("it has not the operands that it needs")?;
    if start.stride.is_some() {
        return Err("expected a copy without a stride".into());
    }
    let made = ir::defining_op(start.elements).filter(|op| ir::name(*op) == "arith.constant");
    let count = made.and_then(|op| ir::attribute(op, "value")).and_then(ir::integer);
    let count = count.ok_or("expected a constant number of elements")?;
    let mut users = ir::uses(start.tag.0).into_iter().map(|(user, _)| user);
    let wait = users.find(|user| ir::name(*user) == "memref.dma_wait" && ir::comes_before(op, *user));
    let b = wait.filter(|_| late).map_or(Builder::before(op), |wait| Builder::before(wait).located(op));
    let sides = [&start.from, &start.to].map(|(memref, indices)| row(b, *memref, indices, count));
    let [from, to] = sides;
    b.op("memref.copy", &[from?, to?], &[], &[]);
    rewriter.erase(op);
    Ok(())
}

/// A view of `count` elements of a memref's memory, from an index on.
fn row<'c>(b: Builder<'c>, memref: Val<'c>, indices: &[Val<'c>], count: i64) -> Result<Val<'c>, String> {
    let shaped = ir::memref(memref.r#type()).ok_or("expected ranked memrefs")?;
    let (rank, index) = (shaped.shape.len(), Type::index(b.context()));
    let parts = b.metadata(memref);
    let binary = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], index, &[]);
    let step = |(at, stride): (&Val<'c>, &Val<'c>)| binary("arith.muli", *at, *stride);
    let offset = indices.iter().zip(&parts[2 + rank..]).map(step).fold(parts[1], |sum, v| binary("arith.addi", sum, v));
    let layout = Some(ir::strided(b.location, None, &[Some(1)]));
    let row = ir::memref_type(b.location, &Shaped { shape: vec![Some(count)], layout, ..shaped });
    let row = row.ok_or("it has too many elements")?;
    Ok(b.reinterpret(parts[0], row, (&[None], &[offset]), (&[Some(count)], &[]), (&[Some(1)], &[])))
}
