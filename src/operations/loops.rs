//! The loops of operations: how often each runs, and the elements that an iteration reads and defines.
//!
//! `reduce(x[2,65,125], 0), dimensions={2}` has the loops `d0`, `d1` and `d2` below 2, 65 and 125. An iteration reads `x` at
//! `[d0, d1, d2]` and is part of the result at `[d0, d1]`. A slice from 1 in steps of 2 reads `d0 * 2 + 1`; a pooling window
//! of stride 2 reads `d0 * 2` plus a position in the window.
//!
//! The relations between elements, the dimensions that go together, and the ranges that a part of the loops reads all
//! follow from these expressions. An iteration whose index is outside of an array does not read it: that of a
//! concatenation reads one of its operands.

use super::operation::{Convolution, Gather, Loops, Operation, WindowDim};
use super::shape::Array;
use super::sizes::without;
use crate::expr::Expr;
use crate::maps::domain::Interval;

impl Operation {
    /// The loops of the operation on arrays for which it is valid. A dimension without a bound counts as one element.
    /// `None` where an element of a result depends on the operands in another way.
    ///
    /// Loops are numbered by the dimensions of the result; those of a transposition and of a reduction by the operand's,
    /// and those over which an operation sums come last.
    pub fn loops(&self, operands: &[&Array], results: &[&Array]) -> Option<Loops> {
        match self {
            Operation::Loops(loops) => Some((**loops).clone()),
            Operation::Broadcast { dims } => {
                let rank = results.first()?.dims.len();
                Some(Loops::new(sizes(results.first()?), vec![along(dims)], vec![each(rank)]))
            }
            Operation::Transpose { permutation } => {
                let own = each(permutation.len());
                Some(Loops::new(sizes(operands.first()?), vec![own], vec![along(permutation)]))
            }
            Operation::Reduce { dims } => {
                let (of, kept) = (operands.first()?, without(operands.first()?.dims.len(), &[dims]));
                let read = Loops::alike(operands, &[of])?.operands;
                Some(Loops { operands: read, ..Loops::new(sizes(of), Vec::new(), vec![along(&kept); results.len()]) })
            }
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
                multiplied([lhs_batch, rhs_batch], [lhs_contracting, rhs_contracting], operands)
            }
            Operation::Convolution(convolution) => convolved(convolution, operands, results),
            Operation::Gather(gather) => gathered(gather, operands, results),
            _ => self.shifted(operands, results),
        }
    }

    /// The loops of an operation that keeps the rank: one for each dimension, to which it adds something.
    fn shifted(&self, operands: &[&Array], results: &[&Array]) -> Option<Loops> {
        let mut loops = Loops::alike(operands, results)?;
        match self {
            Operation::Elementwise | Operation::Select | Operation::Iota { .. } => {}
            Operation::Reverse { dims } => {
                let last = sizes(operands.first()?).into_iter().map(|n| n.saturating_sub(1));
                loops.replace(0, last, |dim, e, last| match dims.contains(&dim) {
                    true => e.times(-1) + Expr::Const(last),
                    false => e,
                });
            }
            Operation::Slice { starts, strides, .. } => {
                let steps = starts.iter().copied().zip(strides.iter().copied());
                loops.replace(0, steps, |_, e, (start, stride)| e.times(stride) + Expr::Const(start));
            }
            Operation::Pad { low, interior, .. } => {
                let added = low.iter().copied().zip(interior.iter().copied());
                loops.replace(0, added, |_, e, (low, interior)| {
                    (e + Expr::Const(low.saturating_neg())).floor_div(interior.saturating_add(1).max(1))
                });
            }
            Operation::Concatenate { dim } => {
                let mut before = 0i64;
                for (k, array) in operands.iter().enumerate().filter(|(_, array)| array.dims.len() > *dim) {
                    let own = (0..array.dims.len()).map(|of| if of == *dim { -before } else { 0 });
                    loops.replace(k, own, |_, e, shift| e + Expr::Const(shift));
                    before = before.saturating_add(sizes(array)[*dim]);
                }
            }
            Operation::ReduceWindow { window } => {
                // A position in the window; all inputs are read at the same one.
                let first = loops.sizes.len() + loops.offsets.len();
                loops.offsets.extend(window.iter().map(|dim| (None, Interval::new(0, dim.size - 1))));
                for k in 0..operands.len() {
                    loops.replace(k, window, |of, e, dim| at(dim, e, Expr::Var(first + of)));
                }
            }
            Operation::DynamicSlice { .. } => {
                for (dim, (whole, part)) in
                    sizes(operands.first()?).into_iter().zip(sizes(results.first()?)).enumerate()
                {
                    loops.start((0, dim), 1 + dim, whole.saturating_sub(part), 1);
                }
            }
            Operation::DynamicUpdateSlice | Operation::InsertSlice { .. } => {
                for (dim, (whole, part)) in sizes(results.first()?).into_iter().zip(sizes(operands.get(1)?)).enumerate()
                {
                    loops.start((1, dim), 2 + dim, whole.saturating_sub(part), -1);
                }
            }
            _ => return None,
        }
        Some(loops)
    }
}

impl Loops {
    fn new(sizes: Vec<i64>, operands: Vec<Vec<Expr>>, results: Vec<Vec<Expr>>) -> Loops {
        Loops { sizes, offsets: Vec::new(), operands: operands.into_iter().map(Some).collect(), results }
    }

    /// One loop for each dimension of the first result; all arrays but scalars have the indices of the loops. `None` where
    /// one has another rank.
    pub fn alike(operands: &[&Array], results: &[&Array]) -> Option<Loops> {
        let own = sizes(results.first()?);
        let index = |array: &&Array| {
            let rank = array.dims.len();
            (rank == 0 || rank == own.len()).then(|| each(rank))
        };
        let operands = operands.iter().map(index).collect::<Option<_>>()?;
        let results = results.iter().map(index).collect::<Option<_>>()?;
        Some(Loops::new(own, operands, results))
    }

    /// Replaces the index of an operand in each dimension, unless it is a scalar.
    fn replace<T>(&mut self, operand: usize, by: impl IntoIterator<Item = T>, of: impl Fn(usize, Expr, T) -> Expr) {
        let index = self.operands.get_mut(operand).into_iter().flatten().flatten();
        for ((dim, e), by) in index.enumerate().zip(by) {
            *e = of(dim, std::mem::replace(e, Expr::Const(0)), by);
        }
    }

    /// Adds a start that a scalar operand holds, times a factor, to the index of an operand along a dimension. It is at
    /// most `last`.
    fn start(&mut self, (operand, dim): (usize, usize), held: usize, last: i64, factor: i64) {
        let start = Expr::Var(self.sizes.len() + self.offsets.len()).times(factor);
        let index = self.operands.get_mut(operand).and_then(|index| index.as_mut()?.get_mut(dim));
        if let Some(e) = index {
            *e = std::mem::replace(e, Expr::Const(0)) + start;
            self.offsets.push((Some(held), Interval::new(0, last)));
        }
    }

    /// The loops in an index, in the order of its terms.
    pub fn in_index(&self, e: &Expr) -> Vec<usize> {
        let mut found = Vec::new();
        e.for_each_var(&mut |v| found.extend(Some(v).filter(|v| *v < self.sizes.len())));
        found
    }
}

/// The sizes of an array.
fn sizes(array: &Array) -> Vec<i64> {
    array.dims.iter().map(|dim| dim.bound().unwrap_or(1)).collect()
}

/// The index whose dimensions follow these loops.
fn along(loops: &[usize]) -> Vec<Expr> {
    loops.iter().copied().map(Expr::Var).collect()
}

/// The index whose dimension `k` follows loop `k`.
fn each(rank: usize) -> Vec<Expr> {
    (0..rank).map(Expr::Var).collect()
}

/// The index of the element at a position of a window.
fn at(dim: &WindowDim, window: Expr, position: Expr) -> Expr {
    let place = window.times(dim.stride) + position.times(dim.window_dilation) + Expr::Const(dim.low.saturating_neg());
    place.floor_div(dim.base_dilation.max(1))
}

/// The loops of a product: batch, the free dimensions of both operands, contracting.
fn multiplied(batch: [&[usize]; 2], contracting: [&[usize]; 2], operands: &[&Array]) -> Option<Loops> {
    let [lhs, rhs] = operands else { return None };
    let of = [sizes(lhs), sizes(rhs)];
    let pairs = |lists: [&[usize]; 2]| -> Vec<[Option<usize>; 2]> {
        lists[0].iter().zip(lists[1]).map(|(l, r)| [Some(*l), Some(*r)]).collect()
    };
    let free = |side: usize| without(of[side].len(), &[batch[side], contracting[side]]);
    let mut all = pairs(batch);
    all.extend(free(0).into_iter().map(|l| [Some(l), None]));
    all.extend(free(1).into_iter().map(|r| [None, Some(r)]));
    let made = each(all.len());
    all.extend(pairs(contracting));
    let read = |side: usize| {
        let loops = (0..of[side].len()).filter_map(|dim| all.iter().position(|own| own[side] == Some(dim)));
        loops.map(Expr::Var).collect()
    };
    let size = |own: &[Option<usize>; 2]| (0..2).find_map(|side| own[side].map(|dim| of[side][dim]));
    Some(Loops::new(all.iter().filter_map(size).collect(), vec![read(0), read(1)], vec![made]))
}

/// The loops of a convolution: batch, output features, input features, then the spatial dimensions, of the windows and
/// of the positions in one. With groups, an iteration counts only if both features are of one group.
fn convolved(c: &Convolution, operands: &[&Array], results: &[&Array]) -> Option<Loops> {
    let ([input, kernel], [output]) = (operands, results) else { return None };
    let (from, by, to) = (sizes(input), sizes(kernel), sizes(output));
    let spatial = c.window.len();
    let mut all = vec![to[c.output_batch], to[c.output_feature], from[c.input_feature]];
    all.extend(c.output_spatial.iter().map(|dim| to[*dim]));
    all.extend(c.kernel_spatial.iter().map(|dim| by[*dim]));
    let [mut read, mut weight, mut made] = [from.len(), by.len(), to.len()].map(each);
    (read[c.input_batch], made[c.output_batch]) = (Expr::Var(0), Expr::Var(0));
    if c.batch_groups > 1 {
        let features = (to[c.output_feature] / c.batch_groups).max(1);
        read[c.input_batch] = Expr::Var(0) + Expr::Var(1).floor_div(features).times(to[c.output_batch]);
    }
    (weight[c.kernel_output_feature], made[c.output_feature]) = (Expr::Var(1), Expr::Var(1));
    read[c.input_feature] = Expr::Var(2);
    weight[c.kernel_input_feature] = match c.feature_groups {
        1 => Expr::Var(2),
        _ => Expr::Var(2).modulo(by[c.kernel_input_feature].max(1)),
    };
    for (k, dim) in c.window.iter().enumerate() {
        let (window, position) = (Expr::Var(3 + k), Expr::Var(3 + spatial + k));
        read[c.input_spatial[k]] = at(dim, window.clone(), position.clone());
        weight[c.kernel_spatial[k]] = match dim.reversed {
            true => position.times(-1) + Expr::Const(dim.size.saturating_sub(1)),
            false => position,
        };
        made[c.output_spatial[k]] = window;
    }
    Some(Loops::new(all, vec![read, weight], vec![made]))
}

/// The loops of a gather: the dimensions of the result, then the entries of an index. A block starts at a place that the
/// indices hold.
fn gathered(g: &Gather, operands: &[&Array], results: &[&Array]) -> Option<Loops> {
    let ([data, indices], [result]) = (operands, results) else { return None };
    let (from, table) = (sizes(data), sizes(indices));
    let outside = without(result.dims.len(), &[&g.offset_dims]);
    let rows = without(table.len(), &[&[g.index_vector_dim]]);
    let inside = without(from.len(), &[&g.collapsed_slice_dims, &g.operand_batching_dims]);
    let of_row = |row: usize| rows.iter().position(|own| *own == row).and_then(|k| outside.get(k)).copied();
    let mut loops = Loops::new(sizes(result), Vec::new(), vec![each(result.dims.len())]);
    let entry = loops.sizes.len();
    loops.sizes.extend(table.get(g.index_vector_dim));
    let looked_up = (0..table.len()).map(|dim| Expr::Var(of_row(dim).unwrap_or(entry))).collect();
    let block = |dim: usize| match g.operand_batching_dims.iter().position(|own| *own == dim) {
        Some(k) => of_row(g.start_indices_batching_dims[k]),
        None => inside.iter().position(|own| *own == dim).and_then(|k| g.offset_dims.get(k)).copied(),
    };
    let read = (0..from.len()).map(|dim| block(dim).map_or(Expr::Const(0), Expr::Var)).collect();
    loops.operands = vec![Some(read), Some(looked_up)];
    for dim in &g.start_index_map {
        let part = g.slice_sizes.get(*dim).copied().unwrap_or(1).max(1);
        loops.start((0, *dim), 1, from[*dim].saturating_sub(part), 1);
    }
    Some(loops)
}
