//! Slices that drop some of their dimensions of size 1, and keep others.
//!
//! `memref.subview` identifies the dropped dimensions only by its strides. If two have equal or dynamic strides, MLIR
//! 22 picks the first (`test/upstream/dropped-dimensions.mlir`), even if the tensor's slice, whose sizes are in order,
//! dropped the other: sizes and strides between them are then those of other dimensions. So an ambiguous slice becomes
//! a slice that drops no dimension, and a reshape, which names the dimensions:
//!
//! ```mlir
//! tensor.extract_slice %x[0, 0, 0, 0] [1, %n, 1, %m] [1, 1, 1, 1] : tensor<?x?x?x?xf32> to tensor<1x?x?xf32>
//!   =>
//! %s = tensor.extract_slice %x[0, 0, 0, 0] [1, %n, 1, %m] [1, 1, 1, 1] : tensor<?x?x?x?xf32> to tensor<1x?x1x?xf32>
//! tensor.collapse_shape %s [[0], [1], [2, 3]] : tensor<1x?x1x?xf32> into tensor<1x?x?xf32>
//! ```
//!
//! The source of an insertion is expanded in the same way.
//!
//! In a tensor with a layout, lowering identifies dropped dimensions by sizes. But MLIR takes dynamic sizes
//! from the subview: such a slice is reshaped, too, and copied, since a reshape has no layout.

use crate::buffers::views::tensor_layout;
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Type, ValueLike};

/// Gives a slice or an insertion all of its dimensions, if the dropped ones are ambiguous; returns false otherwise.
/// `copied` copies a tensor to another type.
pub fn name_dimensions<'c>(
    rewriter: &Rewriter,
    op: Op<'c>,
    copied: impl Fn(Builder<'c>, Val<'c>, Type<'c>) -> Val<'c>,
) -> bool {
    let extracts = ir::name(op) == "tensor.extract_slice";
    let part = if extracts { ir::result(op, 0) } else { ir::operands(op)[0] };
    let Some(reduced) = ir::tensor(part.r#type()) else { return false };
    let sizes = ir::sizes(op, "static_sizes");
    let is_laid_out = ir::operands(op).into_iter().chain([part]).any(|v| tensor_layout(v).is_some());
    if is_laid_out && (!extracts || sizes.iter().all(Option::is_some)) {
        return false;
    }
    let Some(groups) = groups(&sizes, &reduced.shape) else { return false };
    let encoding = reduced.layout.filter(|_| !is_laid_out);
    let reduced = Shaped { layout: encoding, ..reduced };
    let whole = ir::tensor_type(&Shaped { shape: sizes.clone(), ..reduced.clone() });
    // An insertion at the end of `scf.forall` stands in a list of insertions only.
    let before = if ir::name(op) == "tensor.parallel_insert_slice" { ir::parent(op) } else { None };
    let b = Builder::before(before.unwrap_or(op)).located(op);
    let reassociation = b.named("reassociation", ir::reassociation_attribute(b.context(), &groups));
    if extracts {
        let slice = b.value(ir::name(op), &ir::operands(op), whole, &b.attributes_of(op));
        let collapsed = b.value("tensor.collapse_shape", &[slice], ir::tensor_type(&reduced), &[reassociation]);
        let new = if is_laid_out { copied(b, collapsed, part.r#type()) } else { collapsed };
        ir::replace_all_uses(part, new);
        rewriter.erase(op);
        return true;
    }
    let known = b.named("static_output_shape", ir::sizes_attribute(b.context(), &sizes));
    let operands: Vec<Val> = [part].into_iter().chain(sizes_of(op)).collect();
    let expanded = b.value("tensor.expand_shape", &operands, whole, &[reassociation, known]);
    ir::edit(op).set_operand(0, expanded);
    true
}

/// The dynamic sizes of an insertion: operands after its source, its target and the offsets.
fn sizes_of(op: Op) -> Vec<Val> {
    let segments = ir::integers(op, "operandSegmentSizes");
    let count = |k: usize| segments.get(k).and_then(|n| usize::try_from(*n).ok()).unwrap_or_default();
    ir::operands(op).into_iter().skip(2 + count(2)).take(count(3)).collect()
}

/// The dimensions of a slice, grouped by those that its result keeps; `None` if it keeps all, or the choice is clear.
fn groups(sizes: &[Option<i64>], reduced: &[Option<i64>]) -> Option<Vec<Vec<usize>>> {
    if sizes.len() == reduced.len() {
        return None;
    }
    let (mut groups, mut left_out): (Vec<Vec<usize>>, Vec<usize>) = (vec![], vec![]);
    for (d, size) in sizes.iter().enumerate() {
        if reduced.get(groups.len()) == Some(size) {
            groups.push(vec![d]);
        } else {
            left_out.push(d);
        }
    }
    let is_choice = |d: usize, kept: usize| {
        sizes[kept] == Some(1) && sizes[d.min(kept)..d.max(kept)].iter().any(|size| *size != Some(1))
    };
    let kept: Vec<usize> = groups.iter().map(|group| group[0]).collect();
    if kept.len() != reduced.len() || !left_out.iter().any(|d| kept.iter().any(|kept| is_choice(*d, *kept))) {
        return None;
    }
    // Before another dimension, one of size 1 has any stride; after it, bufferization copies the slice unless the
    // strides are static.
    for d in left_out {
        let group = kept.partition_point(|kept| *kept < d).min(kept.len() - 1);
        groups[group].push(d);
        groups[group].sort_unstable();
    }
    Some(groups)
}
