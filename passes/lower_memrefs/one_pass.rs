//! Kernels one after another that go over the same rows: together, so that memory is read and written once.
//!
//! A kernel waits if the next operation that accesses memory is one that may become a kernel, too. The last of them makes all:
//! as many as have rows in common as one, by blocks of rows, and others each by itself. They stay in the program's order, but
//! for kernels that have no buffer in common with those that would go around them: these come first. Between them are only
//! operations that access no memory, and loads of what none of them writes.

use super::padding_state::root;
use super::state::Lowering;
use crate::buffers::operations::{SAME_BUFFER, is};
use crate::kernel::body::Body;
use crate::kernel::common_rows::CommonRows;
use crate::kernel::nest::Nest;
use crate::options::{Padding, Parallel};
use crate::vectorize::RowBlocks;
use layout_ir::{self as ir, Builder, Op, Val};
use std::collections::HashSet;

/// The most kernels that go together, and the most of which these are found.
const MOST: usize = 16;
const LOOKED_AT: usize = 31;
/// The most operations that wait.
const WAITING: usize = 64;

impl<'c> Lowering<'c> {
    /// Whether an operation is to be lowered with the one that comes next.
    pub(super) fn waits(&self, op: Op<'c>) -> bool {
        // Threads get parts of one kernel; what padding holds is decided kernel by kernel.
        if self.options.parallel != Parallel::None || self.options.padding != Padding::Masked {
            return false;
        }
        let alone = self.options.row_block_bytes == 0 || self.no_fusion.contains(&ir::op_key(op));
        if alone || self.waiting.len() >= WAITING {
            return false;
        }
        let next = self.next_access(op, &[op]);
        next.is_some_and(|op| self.maps.contains_key(&ir::op_key(op)) || ir::name(op) == "memref.copy")
    }

    /// The next operation that accesses memory, but for loads of what neither these operations nor those that wait write.
    fn next_access(&self, op: Op<'c>, and: &[Op<'c>]) -> Option<Op<'c>> {
        let fusion = self.fusion();
        let writes_others = |op: &Op<'c>, base| fusion.written(*op).is_some_and(|written| !written.contains(&base));
        let is_another = |base| self.waiting.iter().chain(and).all(|op| writes_others(op, base));
        fusion.next_access(op, &is_another)
    }

    /// Makes all that waits where a load between an operation and the one that it is fused into may be of what that writes.
    pub(super) fn make_before_loads(&mut self, op: Op<'c>, consumer: Op<'c>) {
        if self.next_access(op, &[]).is_none_or(|next| ir::op_key(next) != ir::op_key(consumer)) {
            std::mem::take(&mut self.waiting).into_iter().for_each(|op| self.by_itself(op));
        }
    }

    /// Vector code for an operation and all that wait; false where it is to become scalar loops itself.
    pub(super) fn in_one_pass(&mut self, last: Op<'c>) -> Result<bool, String> {
        let mut ops = std::mem::take(&mut self.waiting);
        ops.push(last);
        let mut nests: Vec<Option<(Nest<'c>, Body<'c>)>> = Vec::new();
        if ops.len() > 1 {
            // A body without a vector form may reach memory that is no operand.
            let nest = |op: &Op<'c>| self.fusion().fused(*op).ok().filter(|(_, body)| body.widest().is_ok());
            nests.extend(ops.iter().map(nest));
        }
        let mut from = 0;
        while from < ops.len() {
            let made = self.together(&ops[from..], nests.get(from..).unwrap_or_default());
            if made > 0 {
                from += made;
                continue;
            }
            let op = ops[from];
            from += 1;
            if from == ops.len() {
                return self.alone(Builder::before(op), op);
            }
            self.by_itself(op);
        }
        Ok(true)
    }

    /// Makes an operation that waited: vector code, or scalar loops.
    fn by_itself(&mut self, op: Op<'c>) {
        // Of a program without layouts, what is not for vectors is left to upstream's passes.
        let (location, name, touches) = (ir::location(op), ir::name(op), self.touches(op));
        let made = self.alone(Builder::before(op), op);
        let made = made.and_then(|made| if made || !touches { Ok(()) } else { self.scalar(Builder::before(op), op) });
        if let Err(reason) = made {
            self.error(location, format!("'{name}' op cannot be lowered: {reason}"));
        }
    }

    /// Makes as many of the first kernels as go over the same rows. Returns how many these are; nothing is made of one.
    fn together(&mut self, ops: &[Op<'c>], nests: &[Option<(Nest<'c>, Body<'c>)>]) -> usize {
        let options = self.options;
        let mut most = MOST;
        while most > 1 {
            let Some((mut common, first)) =
                nests.first().and_then(Option::as_ref).and_then(|(nest, _)| Some((CommonRows::of(nest)?, nest)))
            else {
                return 0;
            };
            let (mut members, mut others) = (vec![0], Vec::new());
            for (k, nest) in nests.iter().enumerate().skip(1).take(LOOKED_AT) {
                let Some((nest, _)) = nest.as_ref().filter(|_| members.len() < most) else { break };
                if common.add(first, nest) {
                    members.push(k);
                } else if common.is_apart_from(nest) {
                    others.push(k);
                } else {
                    break;
                }
            }
            let last = members[members.len() - 1];
            if last == 0 {
                return 0;
            }
            let b = Builder::before(ops[last]);
            let of_members: Vec<&(Nest<'c>, Body<'c>)> = members.iter().filter_map(|k| nests[*k].as_ref()).collect();
            let blocks = match RowBlocks::of(b, &of_members, &common, &options) {
                Ok(blocks) => blocks,
                Err(fewer) => {
                    most = fewer;
                    continue;
                }
            };
            others.iter().filter(|k| **k < last).for_each(|k| self.by_itself(ops[*k]));
            let members: Vec<Op<'c>> = members.into_iter().map(|k| ops[k]).collect();
            let parts = |op: &Op<'c>| self.fused_into.get(&ir::op_key(*op)).into_iter().flatten().copied();
            let own: Vec<Op<'c>> = members.iter().flat_map(|op| parts(op).chain([*op])).collect();
            let keys: HashSet<usize> = own.iter().map(|op| ir::op_key(*op)).collect();
            blocks.emit(b, &members, &|buffer| is_local(buffer, ops[last], &keys));
            members.iter().for_each(|op| drop(self.fused_into.remove(&ir::op_key(*op))));
            own.into_iter().for_each(|op| self.replace(op, &[]));
            return last + 1;
        }
        0
    }
}

/// Whether a buffer is an allocation that only these operations use, of which `last` is the last, in their block: of one
/// outside of a loop around them each iteration finds what the one before left.
fn is_local(buffer: Val, last: Op, own: &HashSet<usize>) -> bool {
    let root = root(buffer);
    let mut seen = vec![root];
    while let Some(v) = seen.pop() {
        for (user, _) in ir::uses(v) {
            match ir::name(user) {
                name if is(name, SAME_BUFFER) => seen.extend(ir::results(user)),
                "memref.dealloc" => {}
                _ if own.contains(&ir::op_key(user)) => {}
                _ => return false,
            }
        }
    }
    ir::defining_op(root).is_some_and(|op| ir::name(op) == "memref.alloc" && ir::comes_before(op, last))
}
