//! Slices and reshapes of tensors that are only read in place.

use crate::buffers::lowered::AnyLayout;
use crate::buffers::operations::{ELEMENTWISE, READS, SLICE_OR_RESHAPE, is};
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::{Attribute, Type, ValueLike};
use std::collections::HashMap;

/// The layout of a tensor; `None` if its encoding is none of this dialect.
pub fn tensor_layout<'c>(v: Val<'c>) -> Option<Attribute<'c>> {
    ir::tensor(v.r#type())?.layout.filter(|a| AnyLayout::of(*a).is_some())
}

/// Whether the elements of a tensor are spread over the places of a machine.
pub fn is_spread(v: Val) -> bool {
    tensor_layout(v).and_then(AnyLayout::of).is_some_and(|layout| matches!(layout, AnyLayout::Tensor(_)))
}

/// Whether a slice or reshape changes the layout of its source.
pub fn changes_layout(op: Op) -> bool {
    tensor_layout(ir::operands(op)[0]) != tensor_layout(ir::result(op, 0))
}

/// Whether the index of a reshape's result is affine in that of its source, and the reverse: in each group of
/// dimensions, only the outermost size is known only at run time.
pub fn has_affine_index(op: Op) -> bool {
    let longer = if ir::name(op).ends_with("expand_shape") { ir::result(op, 0) } else { ir::operands(op)[0] };
    let (Some(longer), Some(groups)) = (ir::tensor(longer.r#type()), ir::reassociation(op)) else { return false };
    let is_one = |d: &&usize| longer.shape[**d] == Some(1);
    groups.iter().all(|group| group.iter().skip_while(is_one).skip(1).all(|d| longer.shape[*d].is_some()))
}

/// Whether a tensor, and all slices and reshapes of it in its layout, are only read in
/// place. A slice or reshape with another layout is itself only read, or copied first, which reads it.
///
/// `known` caches the answers, by the keys of values.
pub fn is_read_in_place<'c>(v: Val<'c>, known: &mut HashMap<usize, bool>) -> bool {
    // A chain of views may be long: views wait on the stack until their own views are known.
    let mut stack = vec![(v, false)];
    while let Some((v, views_are_known)) = stack.pop() {
        if known.contains_key(&ir::key(v)) {
            continue;
        }
        let views: Vec<Val<'c>> = ir::uses(v).into_iter().filter_map(|(user, k)| same_layout_view(user, k)).collect();
        if views_are_known {
            let read = ir::uses(v).into_iter().all(|(user, operand)| reads(user, operand));
            let all = read && views.iter().all(|view| known[&ir::key(*view)]);
            known.insert(ir::key(v), all);
        } else {
            stack.push((v, true));
            stack.extend(views.into_iter().map(|view| (view, false)));
        }
    }
    known[&ir::key(v)]
}

/// The result of a user that is a slice or reshape, if it keeps the layout of its source.
fn same_layout_view<'c>(user: Op<'c>, operand: usize) -> Option<Val<'c>> {
    (is(ir::name(user), SLICE_OR_RESHAPE) && operand == 0 && !changes_layout(user)).then(|| ir::result(user, 0))
}

/// Whether an operation only reads an operand, or views it.
fn reads(user: Op, operand: usize) -> bool {
    match ir::name(user) {
        // A concatenation and padding insert the operand into another tensor.
        name if is(name, READS) || matches!(name, "tensor.concat" | "tensor.pad") => true,
        "tensor.insert_slice" => operand == 0,
        name if is(name, SLICE_OR_RESHAPE) => operand == 0,
        // An elementwise operation becomes a structured one with an output tensor of its own.
        name if is(name, ELEMENTWISE) => {
            ir::operands(user).into_iter().chain(ir::results(user)).any(|v| tensor_layout(v).is_some())
        }
        // The updated operands come last, one for each result.
        _ => ir::indexing_maps(user).is_some() && operand + ir::results(user).len() < ir::operands(user).len(),
    }
}

/// A tensor in the layout of a type.
pub fn converted<'c>(b: Builder<'c>, v: Val<'c>, to: Type<'c>) -> Val<'c> {
    if v.r#type() == to { v } else { b.value("layout.convert", &[v], to, &[]) }
}
