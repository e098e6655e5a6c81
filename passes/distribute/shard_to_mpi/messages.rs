//! One tensor from one process to another.

use crate::buffers::views::converted;
use crate::distribute::shard_to_mpi::entry::Process;
use crate::distribute::shard_to_mpi::exchange::{Requests, allocated, buffer, tensor_in};
use crate::distribute::shard_to_mpi::grid::{Group, arith, linear};
use crate::distribute::shard_to_mpi::tensors::without_layout;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, ValueLike};

/// The tag of the program's own sends and receives.
const PAIRED: i64 = 0;

/// The null rank (`MPI_PROC_NULL` of Open MPI): sends to it and receives from it do nothing.
const NOBODY: i64 = -2;

/// A process at an index of a group, with dynamic numbers as operands after the first.
pub struct Peer<'s> {
    pub group: &'s Group,
    pub sizes: &'s [i64],
    pub index: &'s [Option<i64>],
}

impl Peer<'_> {
    fn rank<'c>(&self, b: Builder<'c>, op: Op<'c>, process: &Process<'c>) -> Val<'c> {
        let mut values = ir::operands(op).into_iter().skip(1);
        let digit = |at: &Option<i64>| match at {
            Some(at) => b.index(*at),
            None => values.next().expect("there is a value for each index that is no number"),
        };
        let digits: Vec<Val<'c>> = self.index.iter().map(digit).collect();
        self.group.rank_of(b, process.rank, linear(b, &digits, self.sizes))
    }
}

/// A shift along an axis of the grid.
pub struct Way {
    pub offset: i64,
    pub size: i64,
    pub rotates: bool,
    pub tag: i64,
}

/// Sends a tensor, and waits at the end of the block: the receiver may itself wait for the data of a later operation.
pub fn send<'c>(op: Op<'c>, process: &Process<'c>, to: &Peer) {
    let (b, input, result) = (Builder::before(op), ir::operands(op)[0], ir::result(op, 0));
    let sent = converted(b, input, without_layout(input));
    let requests = Requests::new(process, op, 1);
    requests.begin(b, "mpi.isend", process, (buffer(b, sent), to.rank(b, op, process)), PAIRED, b.index(0));
    let last = std::iter::successors(Some(op), |op| ir::next(*op)).last().unwrap_or(op);
    let end = b.at(last);
    requests.wait(end);
    // A use of the sent tensor for bufferization: nothing overwrites it before.
    buffer(end, sent);
    ir::replace_all_uses(result, input);
}

/// Receives a tensor.
pub fn receive<'c>(op: Op<'c>, process: &Process<'c>, from: &Peer) {
    let (b, result) = (Builder::before(op), ir::result(op, 0));
    let t = without_layout(ir::operands(op)[0]);
    let into = allocated(b, t);
    let requests = Requests::new(process, op, 1);
    requests.begin(b, "mpi.irecv", process, (into, from.rank(b, op, process)), PAIRED, b.index(0));
    requests.wait(b);
    ir::replace_all_uses(result, converted(b, tensor_in(b, into, t), result.r#type()));
}

/// Sends a tensor along an axis by an offset and receives the one from the opposite direction.
pub fn shift<'c>(op: Op<'c>, process: &Process<'c>, axis: &Group, way: &Way) {
    let (b, input, result) = (Builder::before(op), ir::operands(op)[0], ir::result(op, 0));
    if way.offset == 0 {
        return ir::replace_all_uses(result, converted(b, input, result.r#type()));
    }
    let member = axis.member(b, process.rank);
    // The member at this offset, counted from 0 around the end; and whether it is reached without going around.
    let peer = |offset: i64| {
        let sum = arith(b, "arith.addi", member, offset.rem_euclid(way.size));
        let rank = axis.rank_of(b, process.rank, arith(b, "arith.remui", sum, way.size));
        if way.rotates {
            return rank;
        }
        // Past the end for a positive offset; for a negative one, below 0 if the sum has not wrapped around.
        let predicate = if offset > 0 { ULT } else { UGE };
        let predicate =
            b.named("predicate", IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), predicate));
        let boolean: Type = IntegerType::new(b.context(), 1).into();
        let is_there = b.value("arith.cmpi", &[sum, b.index(way.size)], boolean, &[predicate]);
        b.value("arith.select", &[is_there, rank, b.index(NOBODY)], rank.r#type(), &[])
    };
    let (to, from) = (peer(way.offset), peer(-way.offset));
    let t = without_layout(input);
    let (into, sent) = (allocated(b, t), converted(b, input, t));
    let requests = Requests::new(process, op, 2);
    requests.begin(b, "mpi.irecv", process, (into, from), way.tag, b.index(0));
    requests.begin(b, "mpi.isend", process, (buffer(b, sent), to), way.tag, b.index(1));
    requests.wait(b);
    ir::replace_all_uses(result, converted(b, tensor_in(b, into, t), result.r#type()));
}

/// Numbers of comparisons of `arith.cmpi`: unsigned, below and not below.
const ULT: i64 = 6;
const UGE: i64 = 9;
