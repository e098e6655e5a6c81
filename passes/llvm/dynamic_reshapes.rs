//! Reshapes whose sizes upstream does not find.
//!
//! `expand-strided-metadata` divides the size of the source by the static sizes of its group. It crashes on
//! two dynamic sizes in a group, and next to a size of 0 it divides by 0
//! (`test/upstream/expand-shape-sizes.mlir`). But the operands of `memref.expand_shape` are its sizes, and strides
//! are products of them. So such a reshape becomes the cast that upstream would make:
//!
//! ```mlir
//! memref.expand_shape %x [[0, 1]] output_shape [%p, %q] : memref<?xf32> into memref<?x?xf32>
//!   =>
//! memref.reinterpret_cast %x to offset: [0], sizes: [%p, %q], strides: [%q, 1] : memref<?xf32> to memref<?x?xf32>
//! ```

use crate::buffers::parts::row_major;
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::{Type, ValueLike};

/// Expands the reshapes of a module whose sizes upstream does not find; returns false if there are none.
pub fn expand(rewriter: &Rewriter) -> bool {
    let operations = ir::all_operations(rewriter.root());
    let open = operations.into_iter().filter(|op| ir::name(*op) == "memref.expand_shape" && is_open(*op));
    open.filter_map(|op| expanded(rewriter, op)).count() > 0
}

/// Whether a group of dimensions has a size that is not the source's divided by the others.
fn is_open(op: Op) -> bool {
    let sizes = ir::sizes(op, "static_output_shape");
    ir::reassociation(op).unwrap_or_default().into_iter().any(|group| {
        let count = |wanted| group.iter().filter(|d| sizes.get(**d) == Some(&wanted)).count();
        count(None) > 1 || count(None) == 1 && count(Some(0)) > 0
    })
}

/// Replaces a reshape by a cast; `None` if the strides of its type are dynamic.
fn expanded(rewriter: &Rewriter, op: Op) -> Option<()> {
    let (operands, t) = (ir::operands(op), ir::result(op, 0).r#type());
    let (source, values) = operands.split_first()?;
    let shaped = ir::memref(t)?;
    let (strides, offset) = match shaped.layout {
        Some(layout) => (ir::strides_of(layout)?, ir::offset_of(&shaped)),
        None => (row_major(&shaped.shape), Some(0)),
    };
    let b = Builder::before(op);
    let mut left = values.iter().copied();
    let mut size = |n: &Option<i64>| n.map_or_else(|| left.next(), |n| Some(b.index(n)));
    let sizes: Vec<Val> = shaped.shape.iter().map(&mut size).collect::<Option<_>>()?;
    let metadata = b.metadata(*source);
    let groups = ir::reassociation(op)?;
    let mut steps: Vec<Val> = Vec::new();
    for (group, stride) in groups.iter().zip(&metadata[2 + groups.len()..]) {
        let inwards = group.iter().rev().scan(*stride, |next, d| {
            let own = *next;
            *next = b.value("arith.muli", &[own, sizes[*d]], Type::index(b.context()), &[]);
            Some(own)
        });
        let at = steps.len();
        steps.extend(inwards);
        steps[at..].reverse();
    }
    let open: Vec<Val> = (0..steps.len()).filter(|d| strides[*d].is_none()).map(|d| steps[d]).collect();
    let from = offset.is_none().then_some(metadata[1]);
    let cast = b.reinterpret(*source, t, (&[offset], from.as_slice()), (&shaped.shape, values), (&strides, &open));
    ir::replace_all_uses(ir::result(op, 0), cast);
    rewriter.erase(op);
    Some(())
}
