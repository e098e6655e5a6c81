//! Slices and reshapes of tensors: which of them are only read where they are.

use crate::buffers::lowered::AnyLayout;
use crate::buffers::operations::{ELEMENTWISE, READS, VIEW, is};
use layout_ir::{self as ir, Op, Val};
use melior::ir::{Attribute, ValueLike};
use std::collections::HashMap;

/// The layout of a tensor; none where its encoding is none of this dialect.
pub fn tensor_layout<'c>(v: Val<'c>) -> Option<Attribute<'c>> {
    ir::tensor(v.r#type())?.layout.filter(|a| AnyLayout::of(*a).is_some())
}

/// Whether the elements of a tensor are spread over the places of a machine.
pub fn is_spread(v: Val) -> bool {
    tensor_layout(v).and_then(AnyLayout::of).is_some_and(|layout| matches!(layout, AnyLayout::Tensor(_)))
}

/// Whether the result of a slice or reshape has another layout than what it shows.
pub fn changes_layout(op: Op) -> bool {
    tensor_layout(ir::operands(op)[0]) != tensor_layout(ir::result(op, 0))
}

/// Whether the index of a reshape's result is affine in that of its source, and the other way round: in each group of
/// dimensions that become one, no size but that of the outermost is known only at run time.
pub fn has_affine_index(op: Op) -> bool {
    let longer = if ir::name(op).ends_with("expand_shape") { ir::result(op, 0) } else { ir::operands(op)[0] };
    let (Some(longer), Some(groups)) = (ir::tensor(longer.r#type()), ir::reassociation(op)) else { return false };
    let is_one = |d: &&usize| longer.shape[**d] == Some(1);
    groups.iter().all(|group| group.iter().skip_while(is_one).skip(1).all(|d| longer.shape[*d].is_some()))
}

/// Whether all that is done to a tensor, and to slices and reshapes of it that have its layout, is to read elements in
/// place. A slice or reshape with another layout either is only read itself or is copied first, which reads it.
///
/// `known` has the answers for values, by their keys.
pub fn is_read_in_place<'c>(v: Val<'c>, known: &mut HashMap<usize, bool>) -> bool {
    // A chain of views may be long: those whose own views are looked at first wait on the stack.
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

/// The slice or reshape that a use is, in the layout of what it shows.
fn same_layout_view<'c>(user: Op<'c>, operand: usize) -> Option<Val<'c>> {
    (is(ir::name(user), VIEW) && operand == 0 && !changes_layout(user)).then(|| ir::result(user, 0))
}

/// Whether an operation does no more to an operand than to read it, or to show it.
fn reads(user: Op, operand: usize) -> bool {
    match ir::name(user) {
        // A concatenation and padding insert the operand into another tensor.
        name if is(name, READS) || matches!(name, "tensor.concat" | "tensor.pad") => true,
        "tensor.insert_slice" => operand == 0,
        name if is(name, VIEW) => operand == 0,
        // It becomes a structured operation whose output is a tensor of its own.
        name if is(name, ELEMENTWISE) => {
            ir::operands(user).into_iter().chain(ir::results(user)).any(|v| tensor_layout(v).is_some())
        }
        // The operands that are updated come last, one for each result.
        _ => ir::indexing_maps(user).is_some() && operand + ir::results(user).len() < ir::operands(user).len(),
    }
}
