//! Decides at compile time who frees which buffer, in time linear in the operations of a function.
//!
//! A block *owns* the buffers that it allocates and those that its calls return. Each is freed after its last use, or
//! handed on there: to the caller, to the next iteration, or to the users of a loop's or conditional's results. So no
//! program tests at run time who owns a buffer.
//!
//! ```text
//! %0 = alloc                          owned here
//! %1 = memref.transpose %0            the same buffer: one set
//! %2 = scf.if %c { %3 = alloc         owned by the branch, and handed on
//!                  dealloc %0
//!                  yield %3 }
//!           else { yield %1 }         handed on, if nothing uses it after the conditional; otherwise as a copy
//! use %2                              owned here, freed after this
//! ```
//!
//! 1. Operations get numbers in program order ([`Numbered`]). Values that may be the same buffer, or parts of it, are
//!    joined in [`Sets`].
//! 2. A value that a loop or conditional carries is *lent* if all its sources are defined outside: it joins their set.
//!    If any source is defined inside, the receiver *owns* the value. This is decided from the inside out.
//! 3. A buffer is handed on if its set has one owner and no lent value, the owner's block hands it on,
//!    and nothing uses it afterwards; otherwise a copy is handed on. A branch of a conditional in the owner's block does
//!    the same, also of a conditional in such a branch, and the other branches free the buffer. The caller always owns
//!    returned buffers, as upstream has it: an allocation of the program that it returns and does not free is handed on,
//!    and a function that frees its buffers itself returns its own as they are.
//! 4. Other buffers are freed in their block, after the last use of their set. The next allocation of the same type
//!    takes the buffer over.
//!
//! A loop with its body counts as one operation of its block, so that an order by number is enough. The pass leaves
//! functions alone that have a region of several blocks or an unknown operation.

mod flow;
mod messages;
mod moves;
mod order;
mod release;
mod reuse;
mod sets;

use crate::buffers::async_copies::DmaStart;
pub use flow::{Carried, allocation, carried};
use flow::{Origin, is_buffer, leaks_address, made};
use layout_dialect::MANUAL_DEALLOCATION as BY_HAND;
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::operation::OperationMutLike;
use melior::ir::{BlockRef, ValueLike};
pub use moves::instead_of_copies;
use order::{BlockKey, BranchEnds, Numbered, block_key};
pub use release::{Owner, Release, owners};
use sets::{Owned, Set, Sets, Use};
use std::collections::{HashMap, HashSet};

/// Marks an allocation or deallocation as the program's own, which passes leave alone.
pub const KEEP: &str = "bufferization.manual_deallocation";

/// On an allocation before bufferization: lowering made it, and frees it.
pub const AUTOMATIC: &str = "automatic_deallocation";

/// On a function until its buffers are freed: it had tensors in layouts that pad the tail, and a copy that is handed on
/// needs the same length.
pub const COPIES_WITH_TAIL: &str = "copies_with_tail";

/// The operand number of a use that does not hand on, after all those that do.
const READ_OR_WRITTEN: usize = usize::MAX;

/// Frees the buffers that a function's blocks own. Returns false, with nothing changed, if ownership is unknown.
pub fn free<'c>(rewriter: &'c Rewriter, function: Op<'c>) -> bool {
    let Some(plan) = Decided::of(function) else { return false };
    plan.follow(rewriter);
    true
}

/// The operands of a function's terminators that are handed on as copies; empty if ownership is unknown.
pub fn copied<'c>(function: Op<'c>) -> Vec<(Op<'c>, usize)> {
    let copied = Decided::of(function).map(|decided| decided.copied).unwrap_or_default();
    copied.into_iter().map(|operand| (operand.op, operand.operand)).collect()
}

/// An operand that another block, or the caller, will own.
struct OwnershipTransfer<'c> {
    op: Op<'c>,
    operand: usize,
    value: Val<'c>,
    /// The values that receive it; empty if the caller does.
    to: Vec<Val<'c>>,
}

/// Where a buffer is freed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nowhere: it is handed on, or the program frees it itself.
    Elsewhere,
    /// After the operation of this number.
    After(usize),
    /// Before the terminator of its block.
    OfBlock,
    /// In each branch of the conditional of this number, which hands it on or frees it.
    InBranches(usize),
}

/// The result of the analysis.
struct Decided<'c> {
    order: Numbered<'c>,
    owned: Vec<Owned<'c>>,
    /// The end of each owned value.
    ends: Vec<End>,
    /// The owned values that a branch of a conditional frees, and the operation of the branch after which it does so;
    /// without one, before all others.
    freed: Vec<(usize, BlockRef<'c, 'c>, Option<usize>)>,
    /// The operands that are handed on as copies.
    copied: Vec<OwnershipTransfer<'c>>,
}

impl<'c> Decided<'c> {
    fn of(function: Op<'c>) -> Option<Decided<'c>> {
        let order = Numbered::of(function)?;
        let mut sets = Sets::default();
        define(&order, &mut sets)?;
        let handed_on = hand_on(&order, &mut sets)?;
        use_all(&order, &mut sets, &handed_on);
        let mut ends = vec![None; sets.owned.len()];
        let (mut copied, mut branches) = (Vec::new(), HashMap::<usize, BranchEnds>::new());
        let frees_itself = ir::attribute(function, BY_HAND).is_some();
        for operand in handed_on {
            let at = (order.number(operand.op), operand.operand);
            let set = sets.of(operand.value);
            if operand.to.is_empty() && set.owned.is_empty() && (frees_itself || set.is_left_to_caller(at)) {
                continue;
            }
            let only = set.only();
            let home = only.map(|only| sets.owned[only].block);
            let found = only.zip(home.and_then(|home| transfer(&order, sets.of(operand.value), at, home)));
            let Some((only, conditionals)) = found else {
                copied.push(operand);
                continue;
            };
            ends[only] = Some(conditionals.last().map_or(End::Elsewhere, |outermost| End::InBranches(*outermost)));
            if !conditionals.is_empty() {
                branches.entry(only).or_default().add(&order, at.0, &conditionals);
            }
        }
        let mut freed = Vec::new();
        for (number, end) in ends.iter().enumerate() {
            let Some(End::InBranches(conditional)) = end else { continue };
            for block in branches[&number].others(&order, *conditional) {
                let last = sets.of(sets.owned[number].value).last_in(order.range(block));
                let last = last.and_then(|last| order.of_block(last.0, block_key(block)));
                freed.push((number, block, last));
            }
        }
        let end = |(number, known): (usize, Option<End>)| known.unwrap_or_else(|| end(&order, &mut sets, number));
        let ends = ends.into_iter().enumerate().map(end).collect();
        Some(Decided { order, owned: sets.owned, ends, freed, copied })
    }

    fn follow(mut self, rewriter: &'c Rewriter) {
        let copying: Vec<usize> = self.copied.iter().map(|operand| self.order.number(operand.op)).collect();
        let mut buffers: Vec<Val<'c>> = self.owned.iter().map(|owned| owned.value).collect();
        reuse::reuse(rewriter, &mut self, &copying, &mut buffers);
        for OwnershipTransfer { op, operand, .. } in &self.copied {
            let (b, value) = (Builder::before(*op), ir::operands(*op)[*operand]);
            let copy = b.value("bufferization.clone", &[value], value.r#type(), &[]);
            ir::edit(*op).set_operand(*operand, copy);
        }
        for ((owned, end), buffer) in self.owned.iter().zip(&self.ends).zip(&buffers) {
            let before = match end {
                End::Elsewhere | End::InBranches(_) => continue,
                End::After(number) => ir::next(self.order.operations[*number]),
                End::OfBlock => None,
            };
            let before = before.unwrap_or_else(|| self.order.terminator(owned.block));
            Builder::before(before).op("memref.dealloc", &[*buffer], &[], &[]);
        }
        for (number, block, last) in self.freed {
            let terminator = self.order.terminator(block_key(block));
            let after = |last: usize| ir::next(self.order.operations[last]).unwrap_or(terminator);
            let before = last.map_or_else(|| ir::operations(block)[0], after);
            Builder::before(before).op("memref.dealloc", &[buffers[number]], &[], &[]);
        }
    }
}

/// The conditionals around a use that hands a buffer on from the block `home`, which owns it, or from a branch of
/// conditionals there; `None` if something else uses the buffer afterwards.
fn transfer(order: &Numbered, set: &Set, at: Use, home: BlockKey) -> Option<Vec<usize>> {
    if order.block(at.0) == home {
        return (set.last == Some(at)).then(Vec::new);
    }
    let conditionals = order.conditionals(at.0, home)?;
    let (outermost, inner) = conditionals.split_last()?;
    let is_used_after = |inside: &usize| {
        let end = order.number(order.terminator(order.block(*inside)));
        set.last_in(order.end(*inside) + 1..=end).is_some()
    };
    let is_last = set.last?.0 <= order.end(*outermost) && set.last_in(at.0..=at.0) == Some(at);
    (is_last && !inner.iter().any(is_used_after)).then_some(conditionals)
}

/// The place where a buffer that is not handed on is freed.
fn end<'c>(order: &Numbered<'c>, sets: &mut Sets<'c>, number: usize) -> End {
    let owned = sets.owned[number];
    let set = sets.of(owned.value);
    if set.by_hand {
        return End::Elsewhere;
    }
    let last = set.last.map_or(owned.at, |last| last.0);
    // A use past its block is a use under the name of another buffer of the set.
    match (last < order.operations.len()).then(|| order.of_block(last.max(owned.at), owned.block)).flatten() {
        Some(last) if ir::next(order.operations[last]).is_some() => End::After(last),
        _ => End::OfBlock,
    }
}

/// Records definitions and views; `None` if an operation is unknown.
fn define<'c>(order: &Numbered<'c>, sets: &mut Sets<'c>) -> Option<()> {
    // A function that frees its buffers itself also owns what its calls return.
    let frees_itself = ir::attribute(order.operations[0], BY_HAND).is_some();
    let is_ours = |op: &Op| ir::attribute(*op, KEEP).is_none() && (!frees_itself || ir::name(*op) == "memref.alloc");
    let entry = ir::blocks(order.operations[0]).into_iter().flat_map(ir::arguments);
    entry.filter(|v| is_buffer(*v)).for_each(|argument| sets.of(argument).lent = true);
    for (at, op) in order.operations.iter().enumerate() {
        for result in ir::results(*op).into_iter().filter(|v| is_buffer(*v)) {
            match made(*op)? {
                Origin::New if is_ours(op) => {
                    sets.own(Owned { value: result, block: order.block(at), at });
                }
                Origin::New => sets.of(result).kept = true,
                Origin::Lent => sets.of(result).lent = true,
                Origin::Carried => {}
                Origin::Shown => {
                    ir::operands(*op).into_iter().filter(|v| is_buffer(*v)).for_each(|v| sets.join(v, result))
                }
            }
        }
    }
    Some(())
}

/// Decides the owners of values that control flow carries; returns the operands that are handed on.
fn hand_on<'c>(order: &Numbered<'c>, sets: &mut Sets<'c>) -> Option<Vec<OwnershipTransfer<'c>>> {
    let mut all = Vec::new();
    // Operations inside have higher numbers.
    for (at, op) in order.operations.iter().enumerate().skip(1).rev() {
        let mut lent = carried(*op, is_buffer)?;
        // One value's owner may decide the next one's.
        loop {
            let mut made_inside = |operand: &(Op<'c>, usize)| {
                let set = sets.of(ir::operands(operand.0)[operand.1]).owned.clone();
                set.into_iter().any(|number| order.is_inside(sets.owned[number].at, at))
            };
            let Some(found) = lent.iter().position(|carried| carried.from.iter().any(&mut made_inside)) else { break };
            let owned = lent.swap_remove(found);
            for value in &owned.to {
                let (block, at) = home(order, *value, *op);
                sets.own(Owned { value: *value, block, at });
            }
            let handed_on = |(op, operand): (Op<'c>, usize)| OwnershipTransfer {
                op,
                operand,
                value: ir::operands(op)[operand],
                to: owned.to.clone(),
            };
            all.extend(owned.from.into_iter().map(handed_on));
        }
        for carried in lent {
            let from = carried.from.iter().map(|(op, operand)| ir::operands(*op)[*operand]);
            from.chain(carried.to.iter().copied()).for_each(|v| sets.join(carried.to[0], v));
        }
    }
    for op in order.operations.iter().filter(|op| ir::name(**op) == "func.return") {
        let buffers = ir::operands(*op).into_iter().enumerate().filter(|(_, v)| is_buffer(*v));
        all.extend(buffers.map(|(operand, value)| OwnershipTransfer { op: *op, operand, value, to: vec![] }));
    }
    Some(all)
}

/// The block that owns a result or block argument of an operation, and the first operation where it does.
fn home<'c>(order: &Numbered<'c>, value: Val<'c>, op: Op<'c>) -> (BlockKey, usize) {
    let at = order.number(op);
    let mut blocks = ir::blocks(op).into_iter();
    let is_argument = |block: &melior::ir::BlockRef<'c, 'c>| {
        ir::arguments(*block).into_iter().any(|argument| ir::key(argument) == ir::key(value))
    };
    match blocks.find(is_argument) {
        Some(block) => (block_key(block), order.number(ir::operations(block)[0])),
        None => (order.block(at), at),
    }
}

/// Records all uses.
fn use_all<'c>(order: &Numbered<'c>, sets: &mut Sets<'c>, handed_on: &[OwnershipTransfer<'c>]) {
    let handed_on: HashSet<(usize, usize)> = handed_on.iter().map(|h| (ir::op_key(h.op), h.operand)).collect();
    for (at, op) in order.operations.iter().enumerate() {
        for (operand, value) in ir::operands(*op).into_iter().enumerate().filter(|(_, v)| is_buffer(*v)) {
            if ir::name(*op) == "memref.dealloc" {
                sets.of(value).by_hand = true;
            }
            let is_handed_on = handed_on.contains(&(ir::op_key(*op), operand));
            let operand = if is_handed_on { operand } else { READ_OR_WRITTEN };
            // An escaped address may be used anywhere.
            let at = if leaks_address(*op) { usize::MAX } else { at };
            sets.used(value, (at, operand));
        }
        // Both sides of a DMA copy are in use until its wait.
        if ir::name(*op) == "memref.dma_wait" {
            let starts = ir::uses(ir::operands(*op)[0]).into_iter().filter_map(|(user, _)| DmaStart::of(user));
            let sides = starts.flat_map(|start| [start.from.0, start.to.0]);
            sides.for_each(|value| sets.used(value, (at, READ_OR_WRITTEN)));
        }
        // A message's buffer is in use until its request is done.
        if matches!(ir::name(*op), "mpi.isend" | "mpi.irecv") {
            for end in messages::ends(order, *op) {
                sets.used(ir::operands(*op)[0], (end, READ_OR_WRITTEN));
            }
        }
    }
}
