//! Loops over blocks as one operation: a gather that copies blocks to their places, a scatter that adds them up there.
//!
//! ```mlir
//! scf.for %i = 0 to 64 iter_args(%all = %empty) {
//!   %n = tensor.extract %numbers[%i]
//!   %block = tensor.extract_slice %data[%n, 0] [1, 300] [1, 1]
//!   tensor.insert_slice %block into %all[%i, 0] [1, 300] [1, 1]
//! ```
//!
//! The nest is perfect, its loops begin at 0 and count by 1, and each carries the tensors of the one around it. A start is any
//! number that is made of one element of the indices, so that it may be cut to the data. A gather writes each element of its
//! result: each loop runs over one whole dimension.

use super::structured::constant;
use crate::analysis::execution_counts::constant_trips;
use layout_ir::{self as ir, Op, Val};
use melior::ir::ValueLike;
use std::collections::{HashMap, HashSet};
use tensor_layout::operations::{Gather, Operation};

/// An array that is taken, and the operands of operations inside that read it.
type ReadArray<'c> = (Val<'c>, Vec<(Op<'c>, usize)>);

/// A nest of loops that is a gather or a scatter.
pub struct BlockLoops<'c> {
    pub operation: Operation,
    /// The arrays that it takes.
    pub operands: Vec<ReadArray<'c>>,
    /// For each result the values inside that become it.
    pub carried: Vec<Vec<Val<'c>>>,
    /// The block that a gather copies.
    pub block: Option<Val<'c>>,
}

/// The nest of loops of an `scf.for`, if it is a gather or a scatter.
pub fn read(op: Op) -> Option<BlockLoops> {
    let nest = Nest::of(op)?;
    nest.gather().or_else(|| nest.scatter())
}

/// A perfect nest.
struct Nest<'c> {
    op: Op<'c>,
    /// The induction variables, by the key of the value, the outermost first.
    loops: HashMap<usize, usize>,
    /// The trip counts; none for one that is known only at run time.
    trips: Vec<Option<i64>>,
    carried: Vec<Vec<Val<'c>>>,
    /// The tensors that the innermost loop carries.
    innermost: Vec<Val<'c>>,
    /// The operands of its `scf.yield`.
    yields: Vec<Val<'c>>,
    /// The operations of all bodies that are no loops, in order, and their keys.
    inside: Vec<Op<'c>>,
    keys: HashSet<usize>,
}

/// An index in a dimension: the loops in it, and the elements of tensors.
#[derive(Default)]
struct DimIndex<'c> {
    loops: Vec<usize>,
    starts: Vec<Op<'c>>,
    /// Whether it is a loop and nothing else.
    is_loop: bool,
}

impl<'c> Nest<'c> {
    fn of(op: Op<'c>) -> Option<Nest<'c>> {
        let carried = vec![Vec::new(); ir::results(op).len()];
        let (loops, inside, keys) = (HashMap::new(), Vec::new(), HashSet::new());
        let (innermost, yields) = (Vec::new(), Vec::new());
        let mut nest = Nest { op, loops, trips: Vec::new(), carried, innermost, yields, inside, keys };
        let mut current = Some(op);
        while let Some(op) = current.take() {
            let body = *ir::blocks(op).first()?;
            if number(ir::operands(op)[0]) != Some(0) || number(ir::operands(op)[2]) != Some(1) {
                return None;
            }
            let arguments = ir::arguments(body);
            nest.loops.insert(ir::key(*arguments.first()?), nest.trips.len());
            nest.trips.push(constant_trips(op).and_then(|trips| i64::try_from(trips).ok()));
            nest.innermost = arguments[1..].to_vec();
            for (all, v) in nest.carried.iter_mut().zip(&nest.innermost) {
                all.push(*v);
            }
            for inner in ir::operations(body) {
                match ir::name(inner) {
                    "scf.for" if current.is_none() => {
                        let starts = &ir::operands(inner)[3..];
                        if starts.len() != nest.innermost.len() || !same(starts, &nest.innermost) {
                            return None;
                        }
                        nest.carried.iter_mut().zip(ir::results(inner)).for_each(|(all, v)| all.push(v));
                        current = Some(inner);
                    }
                    "scf.yield" => nest.yields = ir::operands(inner),
                    _ if ir::blocks(inner).is_empty() => {
                        nest.inside.push(inner);
                        nest.keys.insert(ir::op_key(inner));
                    }
                    _ => return None,
                }
            }
            if current.is_some_and(|inner| !same(&nest.yields, &ir::results(inner))) {
                return None;
            }
        }
        Some(nest)
    }

    /// The operations of a name in the bodies.
    fn named(&self, name: &str) -> Vec<Op<'c>> {
        self.inside.iter().copied().filter(|op| ir::name(*op) == name).collect()
    }

    /// Whether all operations inside that have tensors are of these names.
    fn has_only(&self, names: &[&str]) -> bool {
        let is_tensor = |v: &Val<'c>| ir::tensor(v.r#type()).is_some();
        let has_tensors = |op: &Op<'c>| ir::operands(*op).iter().chain(&ir::results(*op)).any(is_tensor);
        self.inside.iter().all(|op| names.contains(&ir::name(*op)) || !has_tensors(op) && ir::name(*op) != "func.call")
    }

    /// The parts of an index, through all operations on scalars.
    fn index(&self, v: Val<'c>) -> DimIndex<'c> {
        let is_loop = self.loops.contains_key(&ir::key(v));
        let (mut index, mut open, mut seen) = (DimIndex { is_loop, ..DimIndex::default() }, vec![v], HashSet::new());
        while let Some(v) = open.pop() {
            if !seen.insert(ir::key(v)) {
                continue;
            }
            if let Some(of) = self.loops.get(&ir::key(v)) {
                index.loops.push(*of);
                continue;
            }
            match ir::defining_op(v) {
                Some(op) if ir::name(op) == "tensor.extract" => index.starts.push(op),
                Some(op) if ir::blocks(op).is_empty() => open.extend(ir::operands(op)),
                _ => {}
            }
        }
        index
    }

    /// The index of each dimension of a slice, whose offsets are its operands from one on.
    fn offsets(&self, op: Op<'c>, first: usize) -> Vec<DimIndex<'c>> {
        let mut dynamic = ir::operands(op).into_iter().skip(first);
        let offset = |known: Option<i64>| known.map_or_else(|| dynamic.next(), |_| None);
        let offsets: Vec<_> = ir::sizes(op, "static_offsets").into_iter().map(offset).collect();
        offsets.into_iter().map(|offset| offset.map_or_else(DimIndex::default, |v| self.index(v))).collect()
    }

    fn indices(&self, op: Op<'c>, first: usize) -> Vec<DimIndex<'c>> {
        ir::operands(op).into_iter().skip(first).map(|v| self.index(v)).collect()
    }

    /// The dimension numbers that the starts of blocks give, the tensor of the indices, and the elements that are read of
    /// it: for each dimension of the data its index, and the dimensions that blocks lack.
    fn blocks(&self, data: &[DimIndex<'c>], lacking: &[usize]) -> Option<(Gather, ReadArray<'c>)> {
        let reads: Vec<Op<'c>> = data.iter().flat_map(|index| index.starts.iter().copied()).collect();
        let indices = ir::operands(*reads.first()?)[0];
        let is_carried = self.carried.iter().flatten().any(|v| ir::key(*v) == ir::key(indices));
        if is_carried || data.iter().any(|index| index.starts.len() > 1) {
            return None;
        }
        let rank = ir::operands(reads[0]).len() - 1;
        let (mut gather, mut rows) = (Gather { index_vector_dim: rank, ..Gather::default() }, vec![None; rank]);
        let mut entries = Vec::new();
        for (dim, index) in data.iter().enumerate() {
            let [start] = index.starts[..] else { continue };
            if ir::key(ir::operands(start)[0]) != ir::key(indices) {
                return None;
            }
            let mut entry = 0;
            for (k, place) in ir::operands(start)[1..].iter().enumerate() {
                let own = self.index(*place);
                match (&own.loops[..], own.starts.is_empty()) {
                    ([row], true) if rows[k].is_none_or(|known| known == *row) => rows[k] = Some(*row),
                    ([], true) if gather.index_vector_dim == rank || gather.index_vector_dim == k => {
                        gather.index_vector_dim = k;
                        entry = number(*place)?;
                    }
                    _ => return None,
                }
            }
            entries.push((entry, dim));
        }
        entries.sort_unstable();
        gather.start_index_map = entries.into_iter().map(|(_, dim)| dim).collect();
        for (dim, index) in data.iter().enumerate().filter(|(_, index)| index.starts.is_empty()) {
            let batching = index.loops.iter().find_map(|of| rows.iter().position(|row| *row == Some(*of)));
            if let Some(row) = batching {
                gather.operand_batching_dims.push(dim);
                gather.start_indices_batching_dims.push(row);
            }
        }
        gather.collapsed_slice_dims =
            lacking.iter().copied().filter(|dim| !gather.operand_batching_dims.contains(dim)).collect();
        Some((gather, (indices, reads.into_iter().map(|op| (op, 0)).collect())))
    }

    /// For each result the values inside that become it.
    fn becoming(&self) -> Vec<Vec<Val<'c>>> {
        self.carried.iter().zip(&self.yields).map(|(all, v)| [&all[..], &[*v]].concat()).collect()
    }

    /// Blocks of one tensor, each copied to a place of its own.
    fn gather(&self) -> Option<BlockLoops<'c>> {
        let ([taken], [put]) = (&self.named("tensor.extract_slice")[..], &self.named("tensor.insert_slice")[..]) else {
            return None;
        };
        let (source, block) = (ir::operands(*taken)[0], ir::result(*taken, 0));
        let carries = same(&ir::operands(*put)[..2], &[block, *self.innermost.first()?]);
        let known = |op, name| ir::sizes(op, name).into_iter().collect::<Option<Vec<i64>>>();
        let (sizes, whole) = (known(*taken, "static_sizes")?, ir::tensor(ir::result(self.op, 0).r#type())?.sizes()?);
        let (from, to) = (self.offsets(*taken, 1), self.offsets(*put, 2));
        let ones = |op| known(op, "static_strides").is_some_and(|all| all.iter().all(|step| *step == 1));
        let covered = known(*put, "static_sizes")?.into_iter().zip(&to).zip(&whole).all(|((size, index), whole)| {
            match index.loops[..] {
                [] => index.starts.is_empty() && size == *whole,
                [of] => index.is_loop && size == 1 && self.trips[of] == Some(*whole),
                _ => false,
            }
        });
        // Each loop is one dimension.
        let mut used: Vec<usize> = to.iter().flat_map(|index| index.loops.iter().copied()).collect();
        used.sort_unstable();
        let covered = covered && used.into_iter().eq(0..self.trips.len()) && !self.trips.contains(&Some(0));
        let only = self.has_only(&["tensor.extract", "tensor.extract_slice", "tensor.insert_slice"]);
        let is_inside = ir::defining_op(source).is_some_and(|op| self.keys.contains(&ir::op_key(op)));
        if !carries
            || !covered
            || !only
            || is_inside
            || !ones(*taken)
            || !ones(*put)
            || !same(&self.yields, &ir::results(*put))
        {
            return None;
        }
        // What reads the carried tensor sees what was there before.
        let carried: HashSet<usize> = self.carried.iter().flatten().map(|v| ir::key(*v)).collect();
        let reads_carried =
            |op: &Op<'c>| *op != *put && ir::operands(*op).iter().any(|v| carried.contains(&ir::key(*v)));
        if self.inside.iter().any(reads_carried) {
            return None;
        }
        // Of the dimensions of one element those are dropped whose start is not 0.
        let dropped = sizes.len().checked_sub(ir::tensor(block.r#type())?.shape.len())?;
        let mut single: Vec<usize> = (0..sizes.len()).filter(|dim| sizes[*dim] == 1).collect();
        single.sort_by_key(|dim| from[*dim].starts.is_empty() && from[*dim].loops.is_empty());
        single.truncate(dropped);
        single.sort_unstable();
        let (mut gather, indices) = self.blocks(&from, &single)?;
        gather.offset_dims = (0..to.len()).filter(|dim| to[*dim].loops.is_empty()).collect();
        gather.slice_sizes = sizes;
        Some(BlockLoops {
            operation: Operation::Gather(Box::new(gather)),
            operands: vec![(source, vec![(*taken, 0)]), indices],
            carried: self.becoming(),
            block: Some(block),
        })
    }

    /// Elements of updates, each combined with one of the data.
    fn scatter(&self) -> Option<BlockLoops<'c>> {
        let puts: Vec<Op<'c>> = self.yields.iter().filter_map(|v| ir::defining_op(*v)).collect();
        let puts_here = |(k, op): (usize, &Op<'c>)| {
            ir::name(*op) == "tensor.insert" && ir::key(ir::operands(*op)[1]) == ir::key(self.innermost[k])
        };
        let all = self.yields.len() == puts.len() && puts.iter().enumerate().all(puts_here);
        let place = |op: &Op<'c>| ir::operands(*op).into_iter().skip(2).map(ir::key).collect::<Vec<_>>();
        if puts.is_empty() || !all || !self.has_only(&["tensor.extract", "tensor.insert"]) {
            return None;
        }
        if self.named("tensor.insert").len() != puts.len() || puts.iter().any(|op| place(op) != place(&puts[0])) {
            return None;
        }
        let data = self.indices(puts[0], 2);
        let starts = data.iter().flat_map(|index| &index.starts);
        let rows: HashSet<usize> = starts.flat_map(|op| self.indices(*op, 1)).flat_map(|index| index.loops).collect();
        let lacking: Vec<usize> =
            (0..data.len()).filter(|dim| data[*dim].loops.iter().all(|of| rows.contains(of))).collect();
        let (mut gather, indices) = self.blocks(&data, &lacking)?;
        let extracts = self.named("tensor.extract");
        let is_data = |op: &Op<'c>| self.innermost.iter().any(|v| ir::key(*v) == ir::key(ir::operands(*op)[0]));
        let (old, others): (Vec<_>, Vec<_>) = extracts.into_iter().partition(is_data);
        let updates: Vec<Op<'c>> =
            others.into_iter().filter(|op| ir::key(ir::operands(*op)[0]) != ir::key(indices.0)).collect();
        let at = |op: &Op<'c>| ir::operands(*op).into_iter().skip(1).map(ir::key).collect::<Vec<_>>();
        let [first, ..] = updates[..] else { return None };
        if old.iter().any(|op| at(op) != place(&puts[0])) || updates.iter().any(|op| at(op) != at(&first)) {
            return None;
        }
        let index = self.indices(first, 1);
        let window = |dim: &usize| matches!(index[*dim].loops[..], [of] if !rows.contains(&of));
        gather.offset_dims = (0..index.len()).filter(window).collect();
        let updates: Vec<ReadArray<'c>> = updates.into_iter().map(|op| (ir::operands(op)[0], vec![(op, 0)])).collect();
        let starts = ir::operands(self.op).into_iter().skip(3).map(|v| (v, Vec::new()));
        (updates.len() == puts.len()).then(|| BlockLoops {
            operation: Operation::Scatter(Box::new(gather)),
            operands: starts.chain([indices]).chain(updates.clone()).collect(),
            carried: self.becoming(),
            block: None,
        })
    }
}

/// The number of a constant.
fn number(v: Val) -> Option<i64> {
    constant(v).and_then(ir::integer)
}

fn same(one: &[Val], other: &[Val]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| ir::key(*a) == ir::key(*b))
}
