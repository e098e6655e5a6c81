//! Allocations that take over the memory of buffers freed before them.
//!
//! An allocation takes over a buffer of its block that was freed since the last allocation, if both have one type. So
//! no buffer stays while other memory is allocated, and the peak does not grow.

use crate::analysis::origins;
use crate::analysis::ownership::order::BlockKey;
use crate::analysis::ownership::{Decided, End};
use layout_dialect::ORIGINS;
use layout_ir::{self as ir, Rewriter, Val};
use melior::ir::{Type, ValueLike};
use std::collections::{HashMap, HashSet};

/// Buffers by their types.
type Free<'c> = HashMap<Type<'c>, Vec<usize>>;

/// Replaces allocations by free buffers, whose deallocations are dropped. `buffers` receives the buffer of each owned
/// value. An operation in `copying` has copies made before it.
pub fn reuse<'c>(rewriter: &'c Rewriter, plan: &mut Decided<'c>, copying: &[usize], buffers: &mut [Val<'c>]) {
    let order = &plan.order;
    let copying: HashSet<usize> = copying.iter().copied().collect();
    let mut allocated = HashMap::new();
    // Buffers freed before the operation of a number.
    let mut freed: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, owned) in plan.owned.iter().enumerate() {
        let allocation = ir::defining_op(owned.value).filter(|op| ir::name(*op) == "memref.alloc");
        let is_static = allocation.is_some_and(|op| ir::operands(op).is_empty());
        if !is_static || plan.ends[number] == End::After(owned.at) {
            continue;
        }
        allocated.insert(owned.at, number);
        if let End::After(last) = plan.ends[number] {
            freed.entry(order.end(last) + 1).or_default().push(number);
        }
    }
    let mut free: HashMap<BlockKey, Free<'c>> = HashMap::new();
    for (at, op) in order.operations.iter().enumerate() {
        for number in freed.remove(&at).unwrap_or_default() {
            let of_type = free.entry(plan.owned[number].block).or_default();
            of_type.entry(plan.owned[number].value.r#type()).or_default().push(number);
        }
        let taken = allocated.get(&at).and_then(|number| {
            let of_type = free.get_mut(&order.block(at))?.get_mut(&plan.owned[*number].value.r#type())?;
            let attributes =
                |op| ir::attributes(op).into_iter().filter(|(name, _)| name != ORIGINS).collect::<Vec<_>>();
            let same = |free: &usize| attributes(order.operations[plan.owned[*free].at]) == attributes(*op);
            of_type.pop_if(|free| same(free)).map(|free| (*number, free))
        });
        if let Some((number, from)) = taken {
            plan.ends[from] = End::Elsewhere;
            buffers[number] = buffers[from];
            ir::replace_all_uses(plan.owned[number].value, buffers[from]);
            if let Some(allocation) = ir::defining_op(buffers[from]) {
                origins::add(allocation, &origins::of(*op));
            }
            rewriter.erase(*op);
        } else if allocates(ir::name(*op)) || copying.contains(&at) {
            for around in order.outwards(at) {
                free.remove(&order.block(around));
            }
        }
    }
}

/// Whether an operation may allocate before the operations inside it.
fn allocates(name: &str) -> bool {
    matches!(name, "bufferization.clone" | "func.call" | "func.call_indirect" | "memref.alloc")
}
