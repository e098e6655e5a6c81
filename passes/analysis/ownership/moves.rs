//! Removes copies of buffers that are not needed any more: the users of the copy take the buffer itself.
//!
//! Upstream's bufferization copies loop-carried values from condition to body, and from one iteration to the next,
//! unless each element is written in place:
//!
//! ```text
//! ^before(%x):  %copy = alloc; copy %x to %copy; scf.condition(%c) %copy    =>    ^before(%x):  scf.condition(%c) %x
//! ```

use crate::analysis::ownership::order::Numbered;
use crate::analysis::ownership::sets::Sets;
use crate::analysis::ownership::{KEEP, READ_OR_WRITTEN, define, hand_on, use_all};
use layout_ir::{self as ir, Op, Rewriter, Val};
use melior::ir::ValueLike;
use std::collections::HashSet;

/// Replaces copies in a function by their sources, if the block owns the source and does not use it again.
pub fn instead_of_copies<'c>(rewriter: &'c Rewriter, function: Op<'c>) {
    for (copy, source, target) in found(function).unwrap_or_default() {
        rewriter.erase(copy);
        ir::replace_all_uses(target, source);
        rewriter.erase(ir::defining_op(target).expect("an allocation"));
    }
}

/// The copies, each with its source and the allocation that it writes; `None` if ownership is unknown.
fn found<'c>(function: Op<'c>) -> Option<Vec<(Op<'c>, Val<'c>, Val<'c>)>> {
    let order = Numbered::of(function)?;
    let is_copy = |op: &Op| ir::name(*op) == "memref.copy";
    if !order.operations.iter().any(is_copy) {
        return None;
    }
    let mut sets = Sets::default();
    define(&order, &mut sets)?;
    let handed_on = hand_on(&order, &mut sets)?;
    use_all(&order, &mut sets, &handed_on);
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for (at, op) in order.operations.iter().enumerate().filter(|(_, op)| is_copy(op)) {
        let [source, target] = ir::operands(*op)[..] else { continue };
        let Some(allocation) = ir::defining_op(target).filter(|op| ir::name(*op) == "memref.alloc") else { continue };
        let is_new = ir::attribute(allocation, KEEP).is_none()
            && order.block(order.number(allocation)) == order.block(at)
            && ir::uses(target).into_iter().all(|(user, _)| order.number(user) >= at);
        let set = sets.of(source);
        let only = set.only();
        let is_last = set.last == Some((at, READ_OR_WRITTEN));
        let is_owned = only.is_some_and(|only| {
            ir::key(sets.owned[only].value) == ir::key(source) && sets.owned[only].block == order.block(at)
        });
        // A buffer that was replaced before, or replaces one, is no longer described by the sets.
        let is_first = is_new && is_last && is_owned && source.r#type() == target.r#type();
        if is_first && !seen.contains(&ir::key(source)) && !seen.contains(&ir::key(target)) {
            seen.extend([ir::key(source), ir::key(target)]);
            all.push((*op, source, target));
        }
    }
    Some(all)
}
