//! Asynchronous copies between memories, during and after bufferization.
//!
//! ```mlir
//! %1 = layout.convert %0 {async} : A to B      %m = bufferization.to_buffer %0 read_only
//! ..                                           %d = memref.alloc() : B
//! %2 = layout.await %1                   =>    memref.dma_start %m[..], %d[..], %n, %tag[0]
//!                                              ..
//!                                              memref.dma_wait %tag[0], %n
//!                                              %2 = bufferization.to_tensor %d restrict writable
//! ```
//!
//! The tag links a wait to its start; it is on the function's stack, and has one element. Operations in between read
//! `%0` and do not write it: that is up to the author of `async`.

use crate::buffers::lowered::AnyLayout;
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, ValueLike};
use tensor_layout::tiled::Layout;

/// Whether a conversion of tensors starts a copy that an operation of its block waits for. Such a copy moves bytes
/// unchanged between memories: the layouts differ only in the memory space.
pub fn is_async(op: Op) -> bool {
    wait(op).is_some()
        && ir::attribute(op, "async").is_some()
        && matches!(layouts(op), Some([from, to]) if from.memory_space != to.memory_space
            && from.metadata_prefix == 0
            && from.splits.is_empty()
            && Layout { memory_space: 0, ..from.clone() } == Layout { memory_space: 0, ..to.clone() })
}

/// The layouts of both sides of a conversion of tensors of static sizes.
fn layouts(op: Op) -> Option<[Layout; 2]> {
    let of = |v: Val| {
        let tensor = ir::tensor(v.r#type()).filter(|tensor| tensor.sizes().is_some())?;
        match tensor.layout.map(AnyLayout::of) {
            None => Some(Layout::row_major(tensor.shape.len())),
            Some(Some(AnyLayout::Tiled(layout))) => Some(layout),
            Some(_) => None,
        }
    };
    Some([of(ir::operands(op)[0])?, of(ir::result(op, 0))?])
}

/// The wait for a conversion: the only user of its result.
fn wait<'c>(op: Op<'c>) -> Option<Op<'c>> {
    let [(user, _)] = ir::uses(ir::result(op, 0))[..] else { return None };
    let block = |op: Op<'c>| op.block().map(|block| block.to_raw().ptr as usize);
    (ir::name(user) == "layout.await" && block(user) == block(op)).then_some(user)
}

/// Lowers an asynchronous conversion to a start and a wait.
pub fn start(rewriter: &Rewriter, op: Op) {
    let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
    let Some(wait) = wait(op) else { return };
    let Some(tensor) = ir::tensor(result.r#type()) else { return };
    let elements = tensor.sizes().map_or(0, |sizes| sizes.iter().fold(1i64, |n, size| n.saturating_mul(*size)));
    let around = std::iter::successors(Some(op), |op| ir::parent(*op));
    let function = around.take_while(|op| ir::name(*op) != "builtin.module").last().unwrap_or(op);
    let entry = ir::blocks(function).first().and_then(|block| ir::operations(*block).first().copied());
    let first = entry.unwrap_or(op);
    let b = Builder::before(op);
    let number = IntegerType::new(b.context(), 32).into();
    let tag = Shaped { shape: vec![Some(1)], element: number, layout: None, space: None };
    let Some(tag) = ir::memref_type(b.location, &tag) else { return };
    let tag = Builder::before(first).located(op).value("memref.alloca", &[], tag, &[b.segments(&[0, 0])]);
    let unit = Attribute::unit(b.context());
    let from = b.value("bufferization.to_buffer", &[source], buffer(b, source.r#type()), &[b.named("read_only", unit)]);
    let to = b.allocation(&[], buffer(b, result.r#type()), &[]);
    let (zero, count) = (b.index(0), b.index(elements));
    let zeros = vec![zero; tensor.shape.len()];
    let operands = [&[from][..], &zeros, &[to], &zeros, &[count, tag, zero]].concat();
    b.op("memref.dma_start", &operands, &[], &[]);
    let b = Builder::before(wait);
    b.op("memref.dma_wait", &[tag, zero, count], &[], &[]);
    let attributes = ["restrict", "writable"].map(|name| b.named(name, unit));
    let made = b.value("bufferization.to_tensor", &[to], result.r#type(), &attributes);
    ir::edit(wait).set_operand(0, made);
    rewriter.erase(op);
}

/// The memref type that bufferization gives a tensor type.
fn buffer<'c>(b: Builder<'c>, t: Type<'c>) -> Type<'c> {
    let tensor = ir::tensor(t).expect("a conversion of tensors");
    let space = tensor.layout.and_then(|layout| layout_dialect::pending_attribute(layout).ok());
    ir::memref_type(b.location, &Shaped { layout: None, space, ..tensor }).expect("a memref of a tensor's elements")
}

/// A started copy: source and target with their indices, the number of elements, and the tag.
pub struct DmaStart<'c> {
    pub from: (Val<'c>, Vec<Val<'c>>),
    pub to: (Val<'c>, Vec<Val<'c>>),
    pub elements: Val<'c>,
    pub tag: (Val<'c>, Vec<Val<'c>>),
    /// The stride of the slower memory, and the number of contiguous elements there.
    pub stride: Option<[Val<'c>; 2]>,
}

impl<'c> DmaStart<'c> {
    /// The parts of a `memref.dma_start`: each memref is followed by one index for each dimension that it had
    /// when the operation was created.
    pub fn of(op: Op<'c>) -> Option<DmaStart<'c>> {
        if ir::name(op) != "memref.dma_start" {
            return None;
        }
        let all = ir::operands(op);
        let at: Vec<usize> = (0..all.len()).filter(|k| ir::is_buffer(all[*k].r#type())).collect();
        let [from, to, tag] = at[..] else { return None };
        let rank = ir::memref(all[tag].r#type())?.shape.len();
        let stride = match all[tag + 1 + rank..] {
            [stride, together] => Some([stride, together]),
            _ => None,
        };
        Some(DmaStart {
            from: (all[from], all[from + 1..to].to_vec()),
            to: (all[to], all[to + 1..tag - 1].to_vec()),
            elements: all[tag - 1],
            tag: (all[tag], all[tag + 1..tag + 1 + rank].to_vec()),
            stride,
        })
    }
}
