//! The operations of `shard` as message exchanges.

use crate::distribute::shard_to_mpi::entry::Process;
use crate::distribute::shard_to_mpi::exchange::{Exchange, Sent};
use crate::distribute::shard_to_mpi::grid::{Group, RankGrid, arith};
use crate::distribute::shard_to_mpi::messages::{self, Peer, Way};
use crate::distribute::shard_to_mpi::reduction::ElementReduction;
use crate::distribute::shard_to_mpi::tensors::{
    converted, element, first, flat, joined, padded, pieces, reduced, sizes, slice, unflat, without_layout,
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

impl<'c> MessageStep<'c> {
    /// # Errors
    /// The reason why the operation cannot be lowered.
    pub fn of(op: Op<'c>, grid: &RankGrid) -> Result<MessageStep<'c>, String> {
        let axes = grid.axes(op, "grid_axes")?;
        let group = grid.group(&axes);
        let n = group.members;
        let (operands, results) = (ir::operands(op), ir::results(op));
        let number = |name: &str| ir::attribute(op, name).and_then(ir::integer);
        let input = operands.first().copied();
        let shapes = || -> Result<(Vec<i64>, Vec<i64>), String> {
            let static_sizes = |v: Option<&Val<'c>>| {
                v.and_then(|v| sizes(*v)).ok_or_else(|| "expected tensors of static sizes".to_owned())
            };
            Ok((static_sizes(input.as_ref())?, static_sizes(results.first())?))
        };
        // The sizes of an operand after one of them is divided, and one is multiplied, by the group's processes.
        let expected = |divided: Option<usize>, multiplied: Option<usize>| -> Result<(), String> {
            let (mut from, to) = shapes()?;
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
        };
        let dim = |name: &str| -> Result<usize, String> {
            let (rank, found) = (shapes()?.0.len(), number(name));
            let known = found.and_then(|dim| usize::try_from(dim).ok()).filter(|dim| *dim < rank);
            known.ok_or_else(|| format!("expected `{name}` below {rank}, the dimensions of the tensor"))
        };
        let by = || {
            let word = ir::attribute(op, "reduction").map_or("sum".into(), |kind| kind.to_string());
            // `#shard<partial sum>`
            let word = word.trim_end_matches('>').rsplit(['<', ' ']).next().unwrap_or_default().to_owned();
            let (from, to) = (element(operands[0]), element(results[0]));
            if n == 1 && from != to {
                return Err(format!("expected elements of {from} in a group of one process, found {to}"));
            }
            ElementReduction::of(Builder::before(op), &word, from, to)
        };
        let kind = match ir::name(op) {
            "shard.all_gather" => {
                let dim = dim("gather_axis")?;
                expected(None, Some(dim))?;
                Kind::Gather { dim }
            }
            "shard.all_to_all" => {
                let (split, concat) = (dim("split_axis")?, dim("concat_axis")?);
                expected(Some(split), Some(concat))?;
                Kind::ToAll { split, concat }
            }
            "shard.reduce_scatter" => {
                let dim = dim("scatter_axis")?;
                expected(Some(dim), None)?;
                Kind::ReduceScatter { dim, by: by()? }
            }
            "shard.all_reduce" => {
                if input.is_some_and(|v| ir::is_buffer(v.r#type())) {
                    return Err("expected a tensor, found a memref".into());
                }
                expected(None, None)?;
                Kind::Reduce { by: by()? }
            }
            "shard.all_slice" => {
                let dim = dim("slice_axis")?;
                expected(Some(dim), None)?;
                Kind::Slice { dim }
            }
            "shard.shift" => {
                expected(None, None)?;
                let axis = number("shift_axis").and_then(|axis| usize::try_from(axis).ok());
                let along = axis.filter(|axis| axes.contains(axis));
                let along = along.ok_or_else(|| format!("expected a shift axis that is one of {axes:?}"))?;
                let size = grid.shape[along];
                let offset = number("offset").ok_or("expected an offset")?;
                let rotates = ir::attribute(op, "rotate").is_some();
                let is_out = !rotates && (offset >= size || offset <= -size);
                Kind::Shift { along, offset: if is_out { 0 } else { offset % size }, size, rotates }
            }
            "shard.send" | "shard.recv" => {
                expected(None, None)?;
                let is_send = ir::name(op) == "shard.send";
                let name = if is_send { "destination" } else { "source" };
                let index = ir::sizes(op, name);
                if index.len() != axes.len() || axes.is_empty() {
                    return Err(format!("expected a {name} with an index for each of the {} grid axes", axes.len()));
                }
                if is_send { Kind::Send { to: index } } else { Kind::Receive { from: index } }
            }
            "shard.process_linear_index" => Kind::LinearIndex,
            "shard.process_multi_index" | "shard.grid_shape" => {
                let listed = grid.axes(op, "axes")?;
                let listed = if listed.is_empty() { (0..grid.shape.len()).collect() } else { listed };
                if listed.len() != results.len() {
                    return Err(format!("expected {} results, found {}", listed.len(), results.len()));
                }
                match ir::name(op) {
                    "shard.grid_shape" => Kind::Shape(listed.iter().map(|axis| grid.shape[*axis]).collect()),
                    _ => Kind::MultiIndex(listed),
                }
            }
            name => {
                let known = "all_gather, all_reduce, all_slice, all_to_all, grid_shape, process_linear_index, process_multi_index, recv, reduce_scatter, send and shift";
                let name = name.trim_start_matches("shard.");
                return Err(format!("`{name}` is not supported; supported are {known}"));
            }
        };
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
        let begin = begin_at(op, input, process);
        let end = b.at(user);
        let x = || converted(begin, input, without_layout(input));
        let exchange = |b: Builder<'c>, sent: Sent<'c>| Exchange::begin(b, op, process, &self.group, sent, tag);
        let start = |b: Builder<'c>, sent: Sent<'c>| {
            let begun = exchange(b, sent);
            process.begun.set(Some(begun.last));
            begun
        };
        let to = element(result);
        let made = match &self.kind {
            Kind::Gather { dim } => joined(end, start(begin, Sent::Same(x())).end(end), *dim),
            Kind::ToAll { split, concat } => {
                let cut = pieces(begin, x(), *split, n);
                joined(end, start(begin, Sent::Each(cut)).end(end), *concat)
            }
            Kind::ReduceScatter { dim, by } => {
                let cut = pieces(begin, x(), *dim, n);
                reduced(end, start(begin, Sent::Each(cut)).end(end), by, to)
            }
            Kind::Reduce { by } => {
                let (x, shape) = (x(), sizes(input).expect("static sizes"));
                let count: i64 = shape.iter().product();
                let row = flat(begin, x);
                let bytes = count.saturating_mul((ir::bits(element(input)).unwrap_or(64) + 7) / 8);
                let row = if bytes <= FEW_BYTES {
                    reduced(end, start(begin, Sent::Same(row)).end(end), by, to)
                } else {
                    let each = ceil_div(count, n);
                    let cut = pieces(begin, padded(begin, row, each * n), 0, n);
                    let own = reduced(end, start(begin, Sent::Each(cut)).end(end), by, to);
                    let all = exchange(end, Sent::Same(own)).end(end);
                    let all = joined(end, all, 0);
                    if each * n == count { all } else { first(end, all, count) }
                };
                unflat(end, row, &shape)
            }
            Kind::Slice { dim } => {
                let size = sizes(result).expect("static sizes")[*dim];
                let x = converted(b, input, without_layout(input));
                let from = arith(b, "arith.muli", self.group.member(b, process.rank), size);
                let made = converted(b, slice(b, x, *dim, from, size), result.r#type());
                return ir::replace_all_uses(result, made);
            }
            _ => return,
        };
        ir::replace_all_uses(result, converted(end, made, result.r#type()));
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
