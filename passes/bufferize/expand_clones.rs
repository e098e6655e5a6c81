//! `layout-expand-clones`: expands clones of buffers to an allocation, aligned as bufferization's, and a copy.
//!
//! Buffer deallocation clones a buffer that it cannot share, for instance a returned argument. Upstream
//! lowers only clones of buffers without strides (`test/upstream/clone-of-strided.mlir`), and without an alignment. Here
//! the copy gets the strides of its source: one dimension over the span of the source,
//! `offset + 1 + Σ (size - 1) * stride`, viewed with the source's sizes and strides.
//!
//! A dimension of stride 0 carries a size and no elements, and the memory before the offset belongs to the buffer: such
//! a span is copied whole.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::{Type, ValueLike};

/// Expands all clones in a module but those of unranked buffers and of other layouts; returns [`Next::Unchanged`] if
/// there are no clones.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    let clones = ir::all_operations(rewriter.root());
    let clones = clones.into_iter().filter(|op| ir::name(*op) == "bufferization.clone");
    let (mut errors, mut found) = (Vec::new(), false);
    for op in clones {
        found = true;
        let location = ir::location(op);
        if let Err(reason) = expand(rewriter, op) {
            errors.push(Diagnostic::error(location, format!("'bufferization.clone' op cannot be expanded: {reason}")));
        }
    }
    if errors.is_empty() { Ok(Next::of(found)) } else { Err(errors) }
}

fn expand<'c>(rewriter: &'c Rewriter, op: Op<'c>) -> Result<(), String> {
    let (source, t) = (ir::operands(op)[0], ir::result(op, 0).r#type());
    let Some(shaped) = ir::memref(t) else { return Ok(()) };
    if shaped.layout.is_none() {
        let copy = Builder::before(op).copied_buffer(ir::operands(op)[0], t);
        ir::replace_all_uses(ir::result(op, 0), copy);
        rewriter.erase(op);
        return Ok(());
    }
    let Some(strides) = shaped.layout.and_then(ir::strides_of) else { return Ok(()) };
    let Some(offset) = ir::offset_of(&shaped) else { return Ok(()) };
    let b = Builder::before(op);
    // Upstream folds a cast into the clone after it.
    let source = if source.r#type() == t { source } else { b.value("memref.cast", &[source], t, &[]) };
    let index = Type::index(b.context());
    let rank = strides.len();
    // Run-time sizes and strides come from the descriptor.
    let dynamic = shaped.shape.iter().chain(&strides).any(Option::is_none);
    let metadata = dynamic.then(|| b.metadata(source));
    let of = |n: Option<i64>, at: usize| match (&metadata, n) {
        (_, Some(n)) => b.index(n),
        (values, None) => values.as_ref().expect("metadata of a dynamic buffer")[2 + at],
    };
    let binary = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], index, &[]);
    let row = if dynamic {
        let mut count = b.index(offset.checked_add(1).ok_or(OVERFLOW)?);
        for (d, (size, stride)) in shaped.shape.iter().zip(&strides).enumerate() {
            let steps = binary("arith.subi", of(*size, d), b.index(1));
            count = binary("arith.addi", count, binary("arith.muli", steps, of(*stride, rank + d)));
        }
        // The sum may be negative without elements.
        (None, vec![binary("arith.maxsi", count, b.index(0))])
    } else {
        let reach = reach(offset, &shaped.shape, &strides).ok_or(OVERFLOW)?;
        (Some(reach), Vec::new())
    };
    let row_type = Shaped { shape: vec![row.0], layout: None, ..shaped.clone() };
    let row_type = ir::memref_type(b.location, &row_type).expect("a row of a memref's elements");
    let allocation = b.allocation(&row.1, row_type, &[]);
    let values = |numbers: &[Option<i64>], from: usize| -> Vec<Val<'c>> {
        (0..rank).filter(|d| numbers[*d].is_none()).map(|d| of(None, from + d)).collect()
    };
    let (sizes, steps) = (values(&shaped.shape, 0), values(&strides, rank));
    let copy = b.reinterpret(allocation, t, (&[Some(offset)], &[]), (&shaped.shape, &sizes), (&strides, &steps));
    if offset == 0 && !strides.contains(&Some(0)) {
        b.op("memref.copy", &[source, copy], &[], &[]);
    } else {
        let whole = b.reinterpret(source, row_type, (&[Some(0)], &[]), (&[row.0], &row.1), (&[Some(1)], &[]));
        b.op("memref.copy", &[whole, allocation], &[], &[]);
    }
    ir::replace_all_uses(ir::result(op, 0), copy);
    rewriter.erase(op);
    Ok(())
}

const OVERFLOW: &str = "the offset of its last element overflows 64 bits";

/// The span of a buffer of static sizes and strides, in elements; `None` if it overflows.
fn reach(offset: i64, sizes: &[Option<i64>], strides: &[Option<i64>]) -> Option<i64> {
    if sizes.contains(&Some(0)) {
        return Some(offset);
    }
    let steps = sizes.iter().zip(strides).map(|(size, stride)| (*size)?.checked_sub(1)?.checked_mul((*stride)?));
    steps.into_iter().try_fold(offset.checked_add(1)?, |reach, step| reach.checked_add(step?))
}
