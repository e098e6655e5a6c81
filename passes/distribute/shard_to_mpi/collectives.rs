//! The operations of `shard` as message exchanges.

use crate::buffers::views::converted;
use crate::distribute::shard_to_mpi::entry::Process;
use crate::distribute::shard_to_mpi::exchange::{Exchange, Sent};
use crate::distribute::shard_to_mpi::grid::{Group, RankGrid, arith};
use crate::distribute::shard_to_mpi::messages::{self, Peer, Way};
use crate::distribute::shard_to_mpi::reduction::ElementReduction;
use crate::distribute::shard_to_mpi::tensors::{
    element, first, flat, joined, padded, pieces, reduced, sizes, slice, unflat, without_layout,
};
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;
use tensor_layout::numbers::ceil_div;

/// The bytes up to which all processes send all elements to all: below, one message after another costs more than the
/// bytes. For 4 processes on 2 cores, in microseconds, all to all and in two exchanges: 64 bytes 3 to 6 and 16 to 24, 1
/// KiB 10 to 12 and 18 to 23, 4 KiB 47 to 107 and 27 to 28.
const FEW_BYTES: i64 = 1024;

/// The kind of an operation.
pub enum Kind<'c> {
    Gather {
        dim: usize,
    },
    ToAll {
        split: usize,
        concat: usize,
    },
    ReduceScatter {
        dim: usize,
        by: ElementReduction<'c>,
    },
    Reduce {
        by: ElementReduction<'c>,
    },
    Slice {
        dim: usize,
    },
    /// Sends to the process `offset` further along an axis of the grid, around its end or not.
    Shift {
        along: usize,
        offset: i64,
        size: i64,
        rotates: bool,
    },
    Send {
        to: Vec<Option<i64>>,
    },
    Receive {
        from: Vec<Option<i64>>,
    },
    LinearIndex,
    MultiIndex(Vec<usize>),
    Shape(Vec<i64>),
}

/// An operation that can be lowered.
pub struct MessageStep<'c> {
    pub kind: Kind<'c>,
    group: Group,
    /// The sizes of the group's axes.
    axes: Vec<i64>,
    /// Each axis of the grid as a group.
    single: Vec<Group>,
}

/// The kind of an operation, as its attributes and types say it.
struct KindReader<'a, 'c> {
    op: Op<'c>,
    grid: &'a RankGrid,
    /// The axes of the group.
    axes: &'a [usize],
    /// The processes of the group.
    members: i64,
}

impl<'c> KindReader<'_, 'c> {
    fn kind(&self) -> Result<Kind<'c>, String> {
        match ir::name(self.op) {
            "shard.all_gather" => {
                let dim = self.dim("gather_axis")?;
                self.expect_sizes(None, Some(dim))?;
                Ok(Kind::Gather { dim })
            }
            "shard.all_to_all" => {
                let (split, concat) = (self.dim("split_axis")?, self.dim("concat_axis")?);
                self.expect_sizes(Some(split), Some(concat))?;
                Ok(Kind::ToAll { split, concat })
            }
            "shard.reduce_scatter" => {
                let dim = self.dim("scatter_axis")?;
                self.expect_sizes(Some(dim), None)?;
                Ok(Kind::ReduceScatter { dim, by: self.reduction()? })
            }
            "shard.all_reduce" => {
                if ir::operands(self.op).first().is_some_and(|v| ir::is_buffer(v.r#type())) {
                    return Err("expected a tensor, found a memref".into());
                }
                self.expect_sizes(None, None)?;
                Ok(Kind::Reduce { by: self.reduction()? })
            }
            "shard.all_slice" => {
                let dim = self.dim("slice_axis")?;
                self.expect_sizes(Some(dim), None)?;
                Ok(Kind::Slice { dim })
            }
            "shard.shift" => self.shift(),
            "shard.send" => Ok(Kind::Send { to: self.index("destination")? }),
            "shard.recv" => Ok(Kind::Receive { from: self.index("source")? }),
            "shard.process_linear_index" => Ok(Kind::LinearIndex),
            "shard.process_multi_index" => Ok(Kind::MultiIndex(self.listed_axes()?)),
            "shard.grid_shape" => {
                Ok(Kind::Shape(self.listed_axes()?.into_iter().map(|axis| self.grid.shape[axis]).collect()))
            }
            name => {
                let known = "all_gather, all_reduce, all_slice, all_to_all, grid_shape, process_linear_index, process_multi_index, recv, reduce_scatter, send and shift";
                let name = name.trim_start_matches("shard.");
                Err(format!("`{name}` is not supported; supported are {known}"))
            }
        }
    }

    fn shift(&self) -> Result<Kind<'c>, String> {
        self.expect_sizes(None, None)?;
        let axis = self.number("shift_axis").and_then(|axis| usize::try_from(axis).ok());
        let along = axis.filter(|axis| self.axes.contains(axis));
        let along = along.ok_or_else(|| format!("expected a shift axis that is one of {:?}", self.axes))?;
        let size = self.grid.shape[along];
        let offset = self.number("offset").ok_or("expected an offset")?;
        let rotates = ir::attribute(self.op, "rotate").is_some();
        let is_out = !rotates && (offset >= size || offset <= -size);
        Ok(Kind::Shift { along, offset: if is_out { 0 } else { offset % size }, size, rotates })
    }

    /// The index of the process at the other end of a message.
    fn index(&self, name: &str) -> Result<Vec<Option<i64>>, String> {
        self.expect_sizes(None, None)?;
        let (index, rank) = (ir::sizes(self.op, name), self.axes.len());
        match index.len() == rank && rank > 0 {
            true => Ok(index),
            false => Err(format!("expected a {name} with an index for each of the {rank} grid axes")),
        }
    }

    /// The axes of which an operation returns an index or a size, one a result; without a list, all.
    fn listed_axes(&self) -> Result<Vec<usize>, String> {
        let listed = self.grid.axes(self.op, "axes")?;
        let listed = if listed.is_empty() { (0..self.grid.shape.len()).collect() } else { listed };
        let results = ir::results(self.op).len();
        match listed.len() == results {
            true => Ok(listed),
            false => Err(format!("expected {} results, found {results}", listed.len())),
        }
    }

    /// The combination of elements by a reduction.
    fn reduction(&self) -> Result<ElementReduction<'c>, String> {
        let word = ir::attribute(self.op, "reduction").map_or("sum".into(), |kind| kind.to_string());
        // `#shard<partial sum>`
        let word = word.trim_end_matches('>').rsplit(['<', ' ']).next().unwrap_or_default().to_owned();
        let (from, to) = (element(ir::operands(self.op)[0]), element(ir::result(self.op, 0)));
        if self.members == 1 && from != to {
            return Err(format!("expected elements of {from} in a group of one process, found {to}"));
        }
        ElementReduction::of(Builder::before(self.op), &word, from, to)
    }

    fn number(&self, name: &str) -> Option<i64> {
        ir::attribute(self.op, name).and_then(ir::integer)
    }

    /// A dimension of the tensors.
    fn dim(&self, name: &str) -> Result<usize, String> {
        let (rank, found) = (self.shapes()?.0.len(), self.number(name));
        let known = found.and_then(|dim| usize::try_from(dim).ok()).filter(|dim| *dim < rank);
        known.ok_or_else(|| format!("expected `{name}` below {rank}, the dimensions of the tensor"))
    }

    /// The sizes of the first operand and of the first result.
    fn shapes(&self) -> Result<(Vec<i64>, Vec<i64>), String> {
        let static_sizes = |v: Option<&Val<'c>>| {
            v.and_then(|v| sizes(*v)).ok_or_else(|| "expected tensors of static sizes".to_owned())
        };
        Ok((static_sizes(ir::operands(self.op).first())?, static_sizes(ir::results(self.op).first())?))
    }

    /// Checks the sizes of the result: those of the operand after one is divided, and one is multiplied, by the group's
    /// processes.
    fn expect_sizes(&self, divided: Option<usize>, multiplied: Option<usize>) -> Result<(), String> {
        let ((mut from, to), n) = (self.shapes()?, self.members);
        if let Some(dim) = divided {
            if from[dim] % n != 0 {
                return Err(format!(
                    "expected a size of dimension {dim} that is a multiple of the {n} processes of a group, found {}",
                    from[dim]
                ));
            }
            from[dim] /= n;
        }
        if let Some(dim) = multiplied {
            from[dim] = from[dim].checked_mul(n).ok_or("its result has too many elements")?;
        }
        if from == to { Ok(()) } else { Err(format!("expected a result of sizes {from:?}, found {to:?}")) }
    }
}

impl<'c> MessageStep<'c> {
    /// # Errors
    /// The reason why the operation cannot be lowered.
    pub fn of(op: Op<'c>, grid: &RankGrid) -> Result<MessageStep<'c>, String> {
        let axes = grid.axes(op, "grid_axes")?;
        let group = grid.group(&axes);
        let kind = KindReader { op, grid, axes: &axes, members: group.members }.kind()?;
        let single = (0..grid.shape.len()).map(|axis| grid.group(&[axis])).collect();
        let axes = axes.iter().map(|axis| grid.shape[*axis]).collect();
        Ok(MessageStep { kind, group, axes, single })
    }

    /// Replaces the results of an operation that returns sizes of the grid.
    pub fn sizes(&self, op: Op<'c>) {
        let Kind::Shape(sizes) = &self.kind else { return };
        let b = Builder::before(op);
        ir::results(op).into_iter().zip(sizes).for_each(|(result, size)| ir::replace_all_uses(result, b.index(*size)));
    }

    /// The process at an index of the group.
    fn peers<'s>(&'s self, index: &'s [Option<i64>]) -> Peer<'s> {
        Peer { group: &self.group, sizes: &self.axes, index }
    }

    /// Lowers the operation, which has no users afterwards.
    pub fn follow(&self, op: Op<'c>, process: &Process<'c>, tag: i64) {
        let b = Builder::before(op);
        match &self.kind {
            Kind::LinearIndex => return ir::replace_all_uses(ir::result(op, 0), process.rank),
            Kind::MultiIndex(axes) => {
                let digit = |axis: &usize| self.single[*axis].member(b, process.rank);
                let all: Vec<Val<'c>> = axes.iter().map(digit).collect();
                return ir::results(op).into_iter().zip(all).for_each(|(old, new)| ir::replace_all_uses(old, new));
            }
            _ => {}
        }
        let (input, result) = (ir::operands(op)[0], ir::result(op, 0));
        let n = self.group.members;
        if n == 1 {
            return ir::replace_all_uses(result, converted(b, input, result.r#type()));
        }
        let paired = matches!(self.kind, Kind::Send { .. } | Kind::Receive { .. });
        if !paired && sizes(result).is_some_and(|sizes| sizes.contains(&0)) {
            let none = b.value("tensor.empty", &[], without_layout(result), &[]);
            return ir::replace_all_uses(result, converted(b, none, result.r#type()));
        }
        match &self.kind {
            Kind::Shift { along, offset, size, rotates } => {
                let way = Way { offset: *offset, size: *size, rotates: *rotates, tag };
                return messages::shift(op, process, &self.single[*along], &way);
            }
            Kind::Send { to } => return messages::send(op, process, &self.peers(to)),
            Kind::Receive { from } => return messages::receive(op, process, &self.peers(from)),
            _ => {}
        }
        // Without users of the result no process sends: all run the same program.
        let Some(user) = first_user(op, result) else { return };
        let (begin, end) = (begin_at(op, input, process), b.at(user));
        let made = match &self.kind {
            Kind::Slice { dim } => converted(b, self.slice(op, process.rank, *dim), result.r#type()),
            kind => {
                let exchange = OverlappedExchange { op, process, group: &self.group, begin, end, tag };
                converted(end, exchange.result(kind), result.r#type())
            }
        };
        ir::replace_all_uses(result, made);
    }

    /// The part of a tensor that belongs to a process of the group.
    fn slice(&self, op: Op<'c>, rank: Val<'c>, dim: usize) -> Val<'c> {
        let (b, input) = (Builder::before(op), ir::operands(op)[0]);
        let size = sizes(ir::result(op, 0)).expect("static sizes")[dim];
        let x = converted(b, input, without_layout(input));
        let from = arith(b, "arith.muli", self.group.member(b, rank), size);
        slice(b, x, dim, from, size)
    }
}

/// The messages between all processes of a group: sent once the operand is there, awaited before the first user.
struct OverlappedExchange<'a, 'c> {
    op: Op<'c>,
    process: &'a Process<'c>,
    group: &'a Group,
    begin: Builder<'c>,
    end: Builder<'c>,
    tag: i64,
}

impl<'c> OverlappedExchange<'_, 'c> {
    fn result(&self, kind: &Kind<'c>) -> Val<'c> {
        let (begin, end, n) = (self.begin, self.end, self.group.members);
        let input = ir::operands(self.op)[0];
        let x = converted(begin, input, without_layout(input));
        match kind {
            Kind::Gather { dim } => joined(end, self.received(Sent::Same(x)), *dim),
            Kind::ToAll { split, concat } => {
                joined(end, self.received(Sent::Each(pieces(begin, x, *split, n))), *concat)
            }
            Kind::ReduceScatter { dim, by } => self.reduced(Sent::Each(pieces(begin, x, *dim, n)), by),
            Kind::Reduce { by } => {
                let shape = sizes(input).expect("static sizes");
                let count: i64 = shape.iter().product();
                let bytes = count.saturating_mul((ir::bits(element(input)).unwrap_or(64) + 7) / 8);
                let row = flat(begin, x);
                let row = match bytes <= FEW_BYTES {
                    true => self.reduced(Sent::Same(row), by),
                    false => self.reduced_and_gathered(row, count, by),
                };
                unflat(end, row, &shape)
            }
            _ => unreachable!("a kind that exchanges no messages within a group"),
        }
    }

    /// The reduction of a row in two exchanges: each process reduces a part, and then gets those of the others.
    fn reduced_and_gathered(&self, row: Val<'c>, count: i64, by: &ElementReduction<'c>) -> Val<'c> {
        let (end, n) = (self.end, self.group.members);
        let each = ceil_div(count, n);
        let cut = pieces(self.begin, padded(self.begin, row, each * n), 0, n);
        let part = self.reduced(Sent::Each(cut), by);
        let whole = joined(end, self.exchange(end, Sent::Same(part)).end(end), 0);
        if each * n == count { whole } else { first(end, whole, count) }
    }

    /// The reduction of what the processes send.
    fn reduced(&self, sent: Sent<'c>, by: &ElementReduction<'c>) -> Val<'c> {
        reduced(self.end, self.received(sent), by, element(ir::result(self.op, 0)))
    }

    /// The values that the processes send, stacked.
    fn received(&self, sent: Sent<'c>) -> Val<'c> {
        let begun = self.exchange(self.begin, sent);
        self.process.begun.set(Some(begun.last));
        begun.end(self.end)
    }

    fn exchange(&self, b: Builder<'c>, sent: Sent<'c>) -> Exchange<'c> {
        Exchange::begin(b, self.op, self.process, self.group, sent, self.tag)
    }
}

/// The operation in the block of `op` that contains the first use of a value, or the last one if all uses are in other
/// blocks; `None` if there is no use.
fn first_user<'c>(op: Op<'c>, v: Val<'c>) -> Option<Op<'c>> {
    let in_block = |user: Op<'c>| {
        let around = std::iter::successors(Some(user), |op| ir::parent(*op));
        around.into_iter().find(|around| around.block() == op.block())
    };
    let uses = ir::uses(v);
    let users = uses.iter().filter_map(|(user, _)| in_block(*user));
    let first = users.reduce(|first, user| if ir::comes_before(user, first) { user } else { first });
    let last = || std::iter::successors(Some(op), |op| ir::next(*op)).last();
    if uses.is_empty() { None } else { first.or_else(last) }
}

/// The insertion point for the start of an operation: after the definition of its operand, in its own block.
fn begin_at<'c>(op: Op<'c>, operand: Val<'c>, process: &Process<'c>) -> Builder<'c> {
    let made = ir::after(operand).filter(|made| made.block() == op.block());
    Builder::before(process.not_before(made.unwrap_or_else(|| ir::first_of_block(op)))).located(op)
}
