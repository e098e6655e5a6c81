//! Exchange of pieces between all processes of a group: nonblocking sends and receives, then a wait.
//!
//! ```text
//! for d in 1..n:  irecv pieces[(own - d) mod n]  from member (own - d) mod n
//! for d in 1..n:  isend what is for (own + d) mod n  to it          beginning
//! ..                                                                what does not need the pieces
//! wait for all                                                      end
//! ```
//!
//! All receives start before the first wait, so that MPI never has to buffer a message, whatever its size, and
//! no order of the waits can deadlock. At each distance `d` every process sends one piece and receives one. Two
//! exchanges have different tags; those of one exchange in a loop arrive in the order of sending.

use crate::analysis::ownership::AUTOMATIC;
use crate::distribute::shard_to_mpi::entry::Process;
use crate::distribute::shard_to_mpi::grid::{Group, add, arith, sub};
use crate::distribute::shard_to_mpi::tensors::{element, piece, plain, sizes, with_piece};
use layout_ir::{self as ir, Builder, Op, Shaped, Val};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, ValueLike};

/// The data that a process sends to the others of its group.
#[derive(Clone, Copy)]
pub enum Sent<'c> {
    /// A tensor, to all.
    Same(Val<'c>),
    /// The pieces of a stacked tensor, each to the member with its number.
    Each(Val<'c>),
}

/// A started exchange.
pub struct Exchange<'c> {
    sent: Sent<'c>,
    member: Val<'c>,
    pieces: Val<'c>,
    requests: Requests<'c>,
    /// The last operation of its start.
    pub last: Op<'c>,
}

/// Started sends and receives.
pub struct Requests<'c> {
    list: Val<'c>,
    count: i64,
}

impl<'c> Requests<'c> {
    /// A list of `count` requests in the frame of the function around an operation.
    pub fn new(process: &Process<'c>, op: Op<'c>, count: i64) -> Requests<'c> {
        let b = process.entry().located(op);
        let integer: Type = IntegerType::new(b.context(), 64).into();
        let list = Shaped { shape: vec![Some(count)], element: integer, layout: None, space: None };
        let list = ir::memref_type(b.location, &list).expect("a memref of integers");
        Requests { list: b.value("memref.alloca", &[], list, &[b.segments(&[0, 0])]), count }
    }

    /// Starts to send (`mpi.isend`) or to receive (`mpi.irecv`) a contiguous buffer.
    ///
    /// The rank beside the buffer is its destination or source; the request gets this number in the list.
    #[allow(clippy::too_many_arguments, reason = "a message has that many parts")]
    pub fn begin(
        &self,
        b: Builder<'c>,
        name: &str,
        process: &Process<'c>,
        (buffer, rank): (Val<'c>, Val<'c>),
        tag: i64,
        at: Val<'c>,
    ) {
        let int32: Type = IntegerType::new(b.context(), 32).into();
        let tag = b.constant(IntegerAttribute::new(int32, tag).into());
        let rank = b.value("arith.index_cast", &[rank], int32, &[]);
        let request = Type::parse(b.context(), "!mpi.request").expect("a type of the dialect");
        let request = b.value(name, &[buffer, tag, rank, process.world], request, &[]);
        let kept =
            b.value("builtin.unrealized_conversion_cast", &[request], IntegerType::new(b.context(), 64).into(), &[]);
        b.op("memref.store", &[kept, self.list, at], &[], &[]);
    }

    /// Waits for all requests.
    pub fn wait(&self, b: Builder<'c>) {
        let (b, at) = counted(b, 0, self.count);
        let integer: Type = IntegerType::new(b.context(), 64).into();
        let kept = b.value("memref.load", &[self.list, at], integer, &[]);
        let request = Type::parse(b.context(), "!mpi.request").expect("a type of the dialect");
        let request = b.value("builtin.unrealized_conversion_cast", &[kept], request, &[]);
        b.op("mpi.wait", &[request], &[], &[]);
    }
}

/// Emits a loop over numbers; returns the insertion point in its body, and the number.
fn counted<'c>(b: Builder<'c>, from: i64, below: i64) -> (Builder<'c>, Val<'c>) {
    let bounds = [b.index(from), b.index(below), b.index(1)];
    let (op, end) = b.with_body("scf.for", &bounds, &[], &[], &[Type::index(b.context())], "scf.yield");
    (b.at(end), ir::arguments(ir::blocks(op)[0])[0])
}

/// The memref of a plain tensor, for reading.
pub fn buffer<'c>(b: Builder<'c>, v: Val<'c>) -> Val<'c> {
    let read_only = b.named("read_only", Attribute::unit(b.context()));
    b.value("bufferization.to_buffer", &[v], memref_of(b, v.r#type()), &[read_only])
}

/// A new buffer for a plain tensor type.
pub fn allocated<'c>(b: Builder<'c>, t: Type<'c>) -> Val<'c> {
    b.allocation(&[], memref_of(b, t), &[b.named(AUTOMATIC, Attribute::unit(b.context()))])
}

/// The tensor in a buffer without other users.
pub fn tensor_in<'c>(b: Builder<'c>, buffer: Val<'c>, t: Type<'c>) -> Val<'c> {
    let attributes = ["restrict", "writable"].map(|name| b.named(name, Attribute::unit(b.context())));
    b.value("bufferization.to_tensor", &[buffer], t, &attributes)
}

fn memref_of<'c>(b: Builder<'c>, t: Type<'c>) -> Type<'c> {
    let tensor = ir::tensor(t).expect("a tensor");
    ir::memref_type(b.location, &Shaped { layout: None, ..tensor }).expect("a memref of a tensor's elements")
}

impl<'c> Exchange<'c> {
    /// Starts to send and receive, for the operation `op`.
    pub fn begin(
        b: Builder<'c>,
        op: Op<'c>,
        process: &Process<'c>,
        group: &Group,
        sent: Sent<'c>,
        tag: i64,
    ) -> Exchange<'c> {
        let n = group.members;
        let member = group.member(b, process.rank);
        let (from, of_piece) = match sent {
            Sent::Same(v) => (v, sizes(v).expect("static sizes")),
            Sent::Each(v) => (v, sizes(v).expect("static sizes")[1..].to_vec()),
        };
        let all: Vec<i64> = [n].into_iter().chain(of_piece.iter().copied()).collect();
        let pieces = allocated(b, plain(element(from), &all));
        let source = buffer(b, from);
        let strides: Vec<Option<i64>> = (0..all.len()).map(|d| Some(all[d + 1..].iter().product())).collect();
        let requests = Requests::new(process, op, 2 * (n - 1));
        let (inner, distance) = counted(b, 1, n);
        let before = sub(inner, add(inner, member, inner.index(n)), distance);
        let peer = arith(inner, "arith.remui", before, n);
        let part = inner.part(pieces, &strides, &[peer]);
        let rank = group.rank_of(inner, process.rank, peer);
        let at = arith(inner, "arith.addi", distance, -1);
        requests.begin(inner, "mpi.irecv", process, (part, rank), tag, at);
        let (inner, distance) = counted(b, 1, n);
        let peer = arith(inner, "arith.remui", add(inner, member, distance), n);
        let part = match sent {
            Sent::Same(_) => source,
            Sent::Each(_) => inner.part(source, &strides, &[peer]),
        };
        let rank = group.rank_of(inner, process.rank, peer);
        let at = arith(inner, "arith.addi", distance, n - 2);
        requests.begin(inner, "mpi.isend", process, (part, rank), tag, at);
        let last = ir::parent(inner.before).expect("the body of a loop is in a loop");
        Exchange { sent, member, pieces, requests, last }
    }

    /// Waits for the pieces; returns a tensor of them, with the own piece.
    ///
    /// The own piece is read after the wait. For bufferization this is a use of the sent tensor, so that no computation
    /// in between overwrites it.
    pub fn end(self, b: Builder<'c>) -> Val<'c> {
        self.requests.wait(b);
        let t = ir::memref(self.pieces.r#type()).expect("a buffer");
        let all = tensor_in(b, self.pieces, plain(t.element, &t.sizes().expect("static sizes")));
        let own = match self.sent {
            Sent::Same(v) => v,
            Sent::Each(v) => piece(b, v, self.member),
        };
        with_piece(b, all, own, self.member)
    }
}
