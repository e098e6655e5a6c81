//! Computes inserted tensors in their destination, and converted tensors in the layout of the conversion.
//!
//! ```text
//! %e = tensor.empty()                               %e = tensor.extract_slice %o[%i, 0]
//! %t = linalg.generic outs(%e)                =>    %t = linalg.generic outs(%e)
//! tensor.parallel_insert_slice %t into %o[%i, 0]    tensor.parallel_insert_slice %t into %o[%i, 0]
//! ```
//!
//! The contents of an empty tensor are undefined, so they may be the elements that will be overwritten. Bufferization
//! then finds that the slice can be written in place; if it cannot, as the elements are still read, it allocates as for
//! the empty tensor.
//!
//! Only in loops, whose iterations would each allocate a tensor: elsewhere each slice adds one tensor to the buffer of
//! the target, and the time of the analysis grows with their number (see `aliases`).
//!
//! An elementwise operation writes any layout, so it can write the one of a `layout.convert` that is the only user of
//! its result. Vector code fuses the two; scalar loops are saved the buffer and the copy.

use crate::analysis::aliases::updated;
use crate::buffers::views::{is_spread, tensor_layout};
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

/// Makes an operation write its result in the layout of a conversion, if the result has no other users and each
/// element is computed once, into an empty tensor; returns false otherwise.
pub fn convert(rewriter: &Rewriter, conversion: Op) -> bool {
    let (source, result) = (ir::operands(conversion)[0], ir::result(conversion, 0));
    let Some(empty) = made_in(source).filter(|_| !is_spread(source) && !is_spread(result)) else { return false };
    ir::set_type(ir::result(empty, 0), result.r#type());
    ir::set_type(source, result.r#type());
    ir::replace_all_uses(result, source);
    rewriter.erase(conversion);
    true
}

/// The empty tensor that an elementwise operation computes a tensor into, if each of the three is used once.
fn made_in<'c>(value: Val<'c>) -> Option<Op<'c>> {
    let op = ir::defining_op(value).filter(|_| ir::uses(value).len() == 1)?;
    let maps = ir::indexing_maps(op)?;
    let output = updated(op, ir::result_number(value)?)?;
    let map = maps.get(output)?;
    let body = ir::arguments(*ir::blocks(op).first()?);
    let is_read = body.get(output).is_none_or(|element| ir::is_used(*element));
    let target = ir::operands(op)[output];
    let empty = ir::defining_op(target).filter(|op| ir::name(*op) == "tensor.empty" && ir::uses(target).len() == 1)?;
    (!is_read && map.is_permutation()).then_some(empty)
}

/// Replaces empty tensors by slices of their insertion targets.
pub fn slice(rewriter: &Rewriter) {
    for op in ir::all_operations(rewriter.root()) {
        if let Some((inserts, empty, writer)) = insertion(op) {
            let operands = ir::operands(inserts);
            let b = Builder::before(writer).located(empty);
            let attributes = ["static_offsets", "static_sizes", "static_strides"];
            let kept = attributes.map(|name| b.named(name, ir::attribute(inserts, name).expect("an insertion has it")));
            let segments = ir::integers(inserts, "operandSegmentSizes");
            let counts = [1, segments[2] as i32, segments[3] as i32, segments[4] as i32];
            let attributes: Vec<_> = kept.into_iter().chain([b.segments(&counts)]).collect();
            let t = ir::result(empty, 0).r#type();
            let slice = b.value("tensor.extract_slice", &operands[1..], t, &attributes);
            ir::replace_all_uses(ir::result(empty, 0), slice);
            rewriter.erase(empty);
        }
    }
}

/// An insertion in a loop, the empty tensor behind its source, and the operation that first writes to that.
fn insertion<'c>(op: Op<'c>) -> Option<(Op<'c>, Op<'c>, Op<'c>)> {
    // The operation of the loop's body that is or contains the insertion.
    let last = match ir::name(op) {
        "tensor.insert_slice" => {
            Some(op).filter(|op| ir::parent(*op).is_some_and(|around| ir::name(around) == "scf.for"))
        }
        "tensor.parallel_insert_slice" => ir::parent(op),
        _ => None,
    }?;
    let [source, target] = [0, 1].map(|k| ir::operands(op)[k]);
    let rank = |v: Val| ir::tensor(v.r#type()).map(|t| t.shape.len());
    if tensor_layout(source) != tensor_layout(target) || rank(source) != rank(target) {
        return None;
    }
    let (mut value, mut writer) = (source, None);
    let empty = loop {
        let from = ir::defining_op(value).filter(|from| from.block() == last.block() && ir::uses(value).len() == 1)?;
        if ir::name(from) == "tensor.empty" {
            break from;
        }
        value = ir::operands(from)[updated(from, ir::result_number(value)?)?];
        if value.r#type() != source.r#type() {
            return None;
        }
        writer = Some(from);
    };
    let writer = writer?;
    let is_there = |v: &Val<'c>| {
        ir::defining_op(*v).is_none_or(|from| from.block() != last.block() || ir::comes_before(from, writer))
    };
    ir::operands(op)[1..].iter().all(is_there).then_some((op, empty, writer))
}
