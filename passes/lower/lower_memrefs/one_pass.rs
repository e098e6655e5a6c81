//! Fuses consecutive kernels over the same rows, so that memory is read and written once.
//!
//! A kernel waits if the next operation that accesses memory may become a kernel, too. The last of them emits all:
//! kernels with common rows together, by blocks of rows, and others each alone. They stay in program order,
//! except kernels without a common buffer with those that they would pass: these move first. Between the kernels are
//! only operations without memory access, and loads of buffers that no kernel writes.

use super::padding_state::root;
use super::state::Lowering;
use crate::buffers::operations::{SAME_BUFFER, is};
use crate::kernel::body::Body;
use crate::kernel::common_rows::CommonRows;
use crate::kernel::nest::Nest;
use crate::pass::options::{Padding, Parallel};
use crate::vectorize::RowBlocks;
use layout_ir::{self as ir, Builder, Op, Val};
use std::collections::HashSet;

/// The most kernels in one fused group, and the most kernels among which these are sought.
const MOST: usize = 16;
const LOOKED_AT: usize = 31;
/// The most waiting operations.
const WAITING: usize = 64;

impl<'c> Lowering<'c> {
    /// Whether an operation is lowered together with the next one.
    pub(super) fn waits_for_next(&self, op: Op<'c>) -> bool {
        // Threads split one kernel; padding is decided kernel by kernel.
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

    /// The next operation that accesses memory, except loads of buffers that neither `and` nor waiting operations
    /// write.
    fn next_access(&self, op: Op<'c>, and: &[Op<'c>]) -> Option<Op<'c>> {
        let fusion = self.fusion();
        let writes_others = |op: &Op<'c>, base| fusion.written(*op).is_some_and(|written| !written.contains(&base));
        let is_another = |base| self.waiting.iter().chain(and).all(|op| writes_others(op, base));
        fusion.next_access(op, &is_another)
    }

    /// Emits all waiting operations if a load between an operation and its consumer may read a buffer that they write.
    pub(super) fn make_before_loads(&mut self, op: Op<'c>, consumer: Op<'c>) {
        if self.next_access(op, &[]).is_none_or(|next| ir::op_key(next) != ir::op_key(consumer)) {
            std::mem::take(&mut self.waiting).into_iter().for_each(|op| self.emit_waiting(op));
        }
    }

    /// Emits vector code for an operation and all waiting ones; returns false if the operation is to become scalar
    /// loops.
    pub(super) fn in_one_pass(&mut self, last: Op<'c>) -> Result<bool, String> {
        let mut ops = std::mem::take(&mut self.waiting);
        ops.push(last);
        let mut nests: Vec<Option<(Nest<'c>, Body<'c>)>> = Vec::new();
        if ops.len() > 1 {
            // A body without a vector form may access memory that is no operand.
            let nest = |op: &Op<'c>| self.fusion().fused(*op).ok().filter(|(_, body)| body.widest().is_ok());
            nests.extend(ops.iter().map(nest));
        }
        let mut from = 0;
        while from < ops.len() {
            let made = self.emit_common_rows(&ops[from..], nests.get(from..).unwrap_or_default());
            if made > 0 {
                from += made;
                continue;
            }
            let op = ops[from];
            from += 1;
            if from == ops.len() {
                return self.vectorize_with_fused(Builder::before(op), op);
            }
            self.emit_waiting(op);
        }
        Ok(true)
    }

    /// Emits a waiting operation: as vector code, or as scalar loops.
    fn emit_waiting(&mut self, op: Op<'c>) {
        // Upstream's passes handle the rest of a program without layouts.
        let (location, name, touches) = (ir::location(op), ir::name(op), self.touches(op));
        let made = self.vectorize_with_fused(Builder::before(op), op);
        let made =
            made.and_then(|made| if made || !touches { Ok(()) } else { self.emit_scalar(Builder::before(op), op) });
        if let Err(reason) = made {
            self.error(location, format!("'{name}' op cannot be lowered: {reason}"));
        }
    }

    /// Emits the longest run of first kernels over the same rows. Returns its length; a single kernel is not emitted.
    fn emit_common_rows(&mut self, ops: &[Op<'c>], nests: &[Option<(Nest<'c>, Body<'c>)>]) -> usize {
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
            others.iter().filter(|k| **k < last).for_each(|k| self.emit_waiting(ops[*k]));
            let members: Vec<Op<'c>> = members.into_iter().map(|k| ops[k]).collect();
            let parts = |op: &Op<'c>| self.fused_into.get(&ir::op_key(*op)).into_iter().flatten().copied();
            let own: Vec<Op<'c>> = members.iter().flat_map(|op| parts(op).chain([*op])).collect();
            let keys: HashSet<usize> = own.iter().map(|op| ir::op_key(*op)).collect();
            self.with_origins(ops[last], |lowering| {
                blocks.emit(b, &members, &|buffer| is_local(buffer, ops[last], &keys));
                members.iter().for_each(|op| drop(lowering.fused_into.remove(&ir::op_key(*op))));
                own.into_iter().for_each(|op| lowering.replace(op, &[]));
            });
            return last + 1;
        }
        0
    }
}

/// Whether a buffer is an allocation before `last` in the same block that only these operations use. An allocation
/// outside of a surrounding loop keeps its contents between iterations.
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
