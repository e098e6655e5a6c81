//! What each operation demands of its shapes, and the equations between an operand's index and a result's.

use super::access::Access;
use super::relation::{Direction, Element, Relation, reshape, too_large};
use super::{bitcast, loops};
use crate::operations::operation::{Convolution, Gather, Operation, WindowDim};
use crate::operations::shape::leaves;
use crate::operations::shape::{Array, Shape, bits};
use crate::text::Error;
use std::ops::Range;

/// An operation with the arrays that it takes and gives.
pub(super) struct Site<'a> {
    operation: &'a Operation,
    pub operands: Vec<&'a Array>,
    pub results: Vec<&'a Array>,
    /// The sizes of the operands' leaves and of the results'; `None` where one is not bounded.
    sizes: Option<[Vec<Vec<i64>>; 2]>,
    /// The shapes of the operands, with the leaves that each of them has.
    shapes: Vec<(&'a Shape, Range<usize>)>,
}

/// How two leaves are related.
enum Related {
    /// By one of these, each for other pairs of elements.
    By(Vec<Relation>),
    /// In a way that no map says.
    Unknown(String),
}

/// Which unknown of a window becomes a range variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ranges {
    /// The place in the window.
    Places,
    /// Those of the windows that cover a place, counted from the last one.
    Windows,
    /// The window itself.
    Neither,
}

type Sizes = [i64];

fn wrong<T>(message: String) -> Result<T, Error> {
    Err(Error::new(message))
}

/// That a list of dimensions names each at most once, and only those there are.
fn distinct(dims: &[usize], rank: usize) -> Result<(), Error> {
    let mut seen = vec![false; rank];
    for dim in dims {
        match seen.get_mut(*dim) {
            None => return wrong(format!("dimension {dim} is out of range: there are {rank}")),
            Some(true) => return wrong(format!("dimension {dim} is named twice")),
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}

fn count(what: &str, found: usize, needed: usize) -> Result<(), Error> {
    if found == needed { Ok(()) } else { wrong(format!("the operation needs {needed} {what}, there are {found}")) }
}

fn same(what: &str, found: &Sizes, needed: &Sizes) -> Result<(), Error> {
    if found == needed { Ok(()) } else { wrong(format!("{what} needs the sizes {needed:?}, it has {found:?}")) }
}

fn without(rank: usize, gone: &[&[usize]]) -> Vec<usize> {
    (0..rank).filter(|dim| !gone.iter().any(|dims| dims.contains(dim))).collect()
}

fn of(sizes: &Sizes, dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|dim| sizes[*dim]).collect()
}

/// The size of a dimension with `step - 1` places between its elements.
fn dilated(n: i64, step: i64) -> i128 {
    if n == 0 { 0 } else { i128::from(n - 1) * i128::from(step) + 1 }
}

fn narrow(n: i128) -> Result<i64, Error> {
    i64::try_from(n).map_err(|_| too_large())
}

/// The number of windows that fit into a dimension.
fn windows(size: i64, dim: &WindowDim) -> Result<i64, Error> {
    if dim.size < 0 || dim.stride < 1 || dim.base_dilation < 1 || dim.window_dilation < 1 {
        return wrong(format!("a window has a size and positive strides and dilations, this is {dim:?}"));
    }
    let padded = dilated(size, dim.base_dilation) + i128::from(dim.low) + i128::from(dim.high);
    let window = dilated(dim.size, dim.window_dilation);
    narrow(if padded < window { 0 } else { (padded - window) / i128::from(dim.stride) + 1 })
}

fn elements(sizes: &Sizes) -> Result<i128, Error> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    sizes.iter().try_fold(1i128, |all, n| all.checked_mul((*n).into())).ok_or_else(too_large)
}

impl<'a> Site<'a> {
    pub fn new(operation: &'a Operation, operands: &[&'a Shape], results: &[&'a Shape]) -> Site<'a> {
        let mut shapes = Vec::new();
        let mut all = Vec::new();
        for shape in operands {
            let first = all.len();
            all.extend(leaves(shape));
            shapes.push((*shape, first..all.len()));
        }
        let results: Vec<&Array> = results.iter().flat_map(|shape| leaves(shape)).collect();
        let sizes = |arrays: &[&Array]| arrays.iter().map(|a| a.sizes()).collect::<Option<Vec<_>>>();
        let both = sizes(&all).zip(sizes(&results)).map(|(operands, results)| [operands, results]);
        Site { operation, operands: all, results, sizes: both, shapes }
    }

    /// The sizes of the operands' leaves and the results'.
    fn sizes(&self) -> (&[Vec<i64>], &[Vec<i64>]) {
        self.sizes.as_ref().map_or((&[], &[]), |[operands, results]| (operands, results))
    }

    /// Refuses shapes that the operation cannot have.
    pub fn check(&self) -> Result<(), Error> {
        if self.sizes.is_none() {
            return Ok(());
        }
        let (ins, outs) = self.sizes();
        if let Some(n) = ins.iter().chain(outs).flatten().find(|n| **n < 0) {
            return wrong(format!("a size must not be negative, got {n}"));
        }
        let arity = |operands, results| -> Result<(), Error> {
            count("operands", ins.len(), operands)?;
            count("results", outs.len(), results)
        };
        let gives = |expected: &Sizes| outs.iter().try_for_each(|found| same("the result", found, expected));
        match self.operation {
            Operation::Elementwise | Operation::Select => {
                let Some(first) = outs.first() else { return count("results", 0, 1) };
                gives(first)?;
                if *self.operation == Operation::Select {
                    arity(3, 1)?;
                }
                let full = |found: &&Vec<i64>| !found.is_empty();
                ins.iter().filter(full).try_for_each(|found| same("an operand", found, first))
            }
            Operation::Broadcast { dims } => {
                arity(1, 1)?;
                distinct(dims, outs[0].len())?;
                count("entries in `dims`", dims.len(), ins[0].len())?;
                same("the operand", &ins[0], &of(&outs[0], dims))
            }
            Operation::Transpose { permutation } => {
                arity(1, 1)?;
                distinct(permutation, ins[0].len())?;
                count("entries in `permutation`", permutation.len(), ins[0].len())?;
                gives(&of(&ins[0], permutation))
            }
            Operation::Reverse { dims } => {
                arity(1, 1)?;
                distinct(dims, ins[0].len())?;
                gives(&ins[0])
            }
            Operation::Reduce { dims } => {
                let input = self.with_initial()?;
                distinct(dims, input.len())?;
                gives(&of(input, &without(input.len(), &[dims])))
            }
            Operation::Slice { starts, limits, strides } => {
                arity(1, 1)?;
                let rank = ins[0].len();
                for list in [starts, limits, strides] {
                    count("entries a list", list.len(), rank)?;
                }
                let range = |k: usize| {
                    let (start, limit, stride, size) = (starts[k], limits[k], strides[k], ins[0][k]);
                    if start < 0 || start > limit || limit > size || stride < 1 {
                        return wrong(format!("[{start}:{limit}:{stride}] is no range of {size} elements"));
                    }
                    Ok((limit - start) / stride + i64::from((limit - start) % stride != 0))
                };
                gives(&(0..rank).map(range).collect::<Result<Vec<_>, _>>()?)
            }
            Operation::Reshape => {
                arity(1, 1)?;
                if elements(&ins[0])? == elements(&outs[0])? {
                    return Ok(());
                }
                wrong(format!("{:?} and {:?} have different numbers of elements", ins[0], outs[0]))
            }
            Operation::Bitcast => {
                arity(1, 1)?;
                let bytes = |array: &Array, sizes: &Sizes| {
                    let bits = bits(array).filter(|_| !array.layout.is_tiled());
                    Ok(bits.zip(elements(sizes)?.into()).and_then(|(bits, n): (i64, i128)| n.checked_mul(bits.into())))
                };
                match (bytes(self.operands[0], &ins[0])?, bytes(self.results[0], &outs[0])?) {
                    (Some(a), Some(b)) if a != b => wrong(format!("the operand has {a} bits, the result {b}")),
                    _ => Ok(()),
                }
            }
            Operation::Concatenate { dim } => {
                let Some(mut expected) = ins.first().cloned() else { return count("operands", 0, 1) };
                count("results", outs.len(), 1)?;
                distinct(&[*dim], expected.len())?;
                let mut whole = 0i64;
                for found in ins {
                    expected[*dim] = found.get(*dim).copied().unwrap_or(0);
                    same("an operand", found, &expected)?;
                    whole = whole.checked_add(expected[*dim]).ok_or_else(too_large)?;
                }
                expected[*dim] = whole;
                gives(&expected)
            }
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
                arity(2, 1)?;
                let [lhs, rhs] = [&ins[0], &ins[1]];
                distinct(&[&lhs_batch[..], lhs_contracting].concat(), lhs.len())?;
                distinct(&[&rhs_batch[..], rhs_contracting].concat(), rhs.len())?;
                same("the right operand's batch", &of(rhs, rhs_batch), &of(lhs, lhs_batch))?;
                same("the right operand's contraction", &of(rhs, rhs_contracting), &of(lhs, lhs_contracting))?;
                let mut expected = of(lhs, lhs_batch);
                expected.extend(of(lhs, &without(lhs.len(), &[lhs_batch, lhs_contracting])));
                expected.extend(of(rhs, &without(rhs.len(), &[rhs_batch, rhs_contracting])));
                gives(&expected)
            }
            Operation::Pad { low, high, interior } => {
                arity(2, 1)?;
                let rank = ins[0].len();
                same("the value", &ins[1], &[])?;
                for list in [low, high, interior] {
                    count("entries a list", list.len(), rank)?;
                }
                if let Some(n) = interior.iter().find(|n| **n < 0) {
                    return wrong(format!("padding between elements must not be negative, got {n}"));
                }
                let padded = |k: usize| {
                    let step = interior[k].checked_add(1).ok_or_else(too_large)?;
                    narrow(dilated(ins[0][k], step) + i128::from(low[k]) + i128::from(high[k]))
                };
                gives(&(0..rank).map(padded).collect::<Result<Vec<_>, _>>()?)
            }
            Operation::ReduceWindow { window } => {
                let input = self.with_initial()?;
                count("window dimensions", window.len(), input.len())?;
                gives(&input.iter().zip(window).map(|(n, dim)| windows(*n, dim)).collect::<Result<Vec<_>, _>>()?)
            }
            Operation::Convolution(c) => {
                arity(2, 1)?;
                gives(&convolved(c, &ins[0], &ins[1])?)
            }
            Operation::DynamicSlice { sizes } => {
                let Some(data) = ins.first() else { return count("operands", 0, 1) };
                self.starts(1, data, sizes)?;
                gives(sizes)
            }
            Operation::DynamicUpdateSlice => {
                let [data, update, ..] = ins else { return count("operands", ins.len(), 2) };
                self.starts(2, data, update)?;
                gives(data)
            }
            Operation::InsertSlice { starts, strides } => {
                arity(2, 1)?;
                let (data, update) = (&ins[0], &ins[1]);
                for list in [starts.len(), strides.len(), update.len()] {
                    count("dimensions", list, data.len())?;
                }
                for (k, n) in update.iter().enumerate() {
                    let last = i128::from(starts[k]) + i128::from(strides[k]) * i128::from(n - 1);
                    if starts[k] < 0 || strides[k] < 1 || *n > 0 && last >= data[k].into() {
                        return wrong(format!("a block of {update:?} does not fit into {data:?} like that"));
                    }
                }
                gives(data)
            }
            Operation::Gather(g) => {
                arity(2, 1)?;
                gives(&blocks(g, &ins[0], &ins[1], &g.slice_sizes, outs[0].len())?)
            }
            Operation::Scatter(g) => {
                let n = ins.len() / 2;
                count("operands", ins.len(), 2 * n + 1)?;
                count("results", outs.len(), n)?;
                let Some(data) = outs.first() else { return Ok(()) };
                gives(data)?;
                ins[..n].iter().try_for_each(|found| same("the data", found, data))?;
                let (indices, updates) = (&ins[n], &ins[n + 1]);
                let slices = update_sizes(g, data.len(), updates)?;
                let expected = blocks(g, data, indices, &slices, updates.len())?;
                ins[n + 1..].iter().try_for_each(|found| same("the updates", found, &expected))
            }
            Operation::Loops(nest) => loops::check(nest, ins, outs),
            Operation::Iota { dim } => {
                arity(0, 1)?;
                distinct(&[*dim], outs[0].len())
            }
            Operation::Constant | Operation::Parameter { .. } => count("operands", ins.len(), 0),
            Operation::Tuple | Operation::GetTupleElement { .. } => {
                let from = self.passed()?;
                count("arrays in the result", outs.len(), from.len())?;
                ins[from].iter().zip(outs).try_for_each(|(from, to)| same("the result", to, from))
            }
            Operation::Call { .. }
            | Operation::While { .. }
            | Operation::Conditional { .. }
            | Operation::Other { .. } => Ok(()),
        }
    }

    /// The leaves that become those of the result.
    fn passed(&self) -> Result<Range<usize>, Error> {
        let Operation::GetTupleElement { index } = self.operation else { return Ok(0..self.operands.len()) };
        let [(Shape::Tuple(parts), _)] = self.shapes[..] else {
            return wrong("the operation needs one operand, a tuple".to_string());
        };
        let Some(part) = parts.get(*index) else {
            return wrong(format!("part {index} is out of range: the tuple has {}", parts.len()));
        };
        let first = parts[..*index].iter().map(|part| leaves(part).len()).sum();
        Ok(first..first + leaves(part).len())
    }

    /// The leaf of the operands that a leaf of the result is, where the operation only hands on.
    pub fn passed_leaf(&self, result: usize) -> Option<usize> {
        matches!(self.operation, Operation::Tuple | Operation::GetTupleElement { .. })
            .then(|| self.passed().ok()?.nth(result))
            .flatten()
    }

    /// The sizes of inputs that are followed by as many scalars, and give as many results.
    fn with_initial(&self) -> Result<&Sizes, Error> {
        let (ins, outs) = self.sizes();
        let n = ins.len() / 2;
        count("operands", ins.len(), 2 * n.max(1))?;
        count("results", outs.len(), n)?;
        ins[..n].iter().try_for_each(|found| same("an input", found, &ins[0]))?;
        ins[n..].iter().try_for_each(|found| same("an initial value", found, &[]))?;
        Ok(&ins[0])
    }

    /// That a block fits into the data, and that from `first` on there is a scalar for each dimension.
    fn starts(&self, first: usize, data: &Sizes, block: &Sizes) -> Result<(), Error> {
        let (ins, outs) = self.sizes();
        count("results", outs.len(), 1)?;
        count("dimensions of the block", block.len(), data.len())?;
        count("operands", ins.len(), first + data.len())?;
        if block.iter().zip(data).any(|(part, whole)| *part < 0 || part > whole) {
            return wrong(format!("a block of {block:?} does not fit into {data:?}"));
        }
        ins[first..].iter().try_for_each(|found| same("a start", found, &[]))
    }

    /// What an element of a leaf reads or feeds on the other side. The shapes were checked.
    pub fn access(&self, operand: usize, result: usize, direction: Direction) -> Result<Access, Error> {
        Ok(match self.related(operand, result, direction)? {
            Related::Unknown(reason) => Access { maps: Vec::new(), unknown: vec![reason] },
            Related::By(relations) => {
                let maps = relations.iter().filter_map(|r| r.solve(direction).transpose());
                Access { maps: maps.collect::<Result<_, _>>()?, unknown: Vec::new() }
            }
        })
    }

    /// How a leaf of an operand and one of a result are related.
    fn related(&self, operand: usize, result: usize, direction: Direction) -> Result<Related, Error> {
        let unknown = |reason: &str| Ok(Related::Unknown(reason.to_string()));
        match self.operation {
            Operation::Other { reason } => return unknown(reason),
            Operation::Call { .. } | Operation::While { .. } | Operation::Conditional { .. } => {
                return unknown("the computation that runs is not at hand");
            }
            _ if self.sizes.is_none() => return unknown("a size is not bounded"),
            _ => {}
        }
        let (ins, outs) = self.sizes();
        let (input, out) = (&ins[operand], &outs[result]);
        let mut r = Relation::new(out, input);
        match self.operation {
            Operation::Elementwise | Operation::Select => {
                (0..input.len()).try_for_each(|k| r.link(k, k))?;
            }
            Operation::Broadcast { dims } => dims.iter().enumerate().try_for_each(|(k, dim)| r.link(*dim, k))?,
            Operation::Transpose { permutation } => {
                permutation.iter().enumerate().try_for_each(|(k, dim)| r.link(k, *dim))?;
            }
            Operation::Reverse { dims } => {
                for (k, n) in input.iter().enumerate() {
                    match dims.contains(&k) {
                        true => r.equation(vec![(r.out(k), 1), (r.input(k), 1)], 1 - n)?,
                        false => r.link(k, k)?,
                    }
                }
            }
            Operation::Reduce { dims } if operand < ins.len() / 2 => {
                let kept = without(input.len(), &[dims]);
                kept.iter().enumerate().try_for_each(|(k, dim)| r.link(k, *dim))?;
            }
            // An initial value or a scalar, for all.
            Operation::Reduce { .. } => {}
            Operation::Slice { starts, strides, .. } => {
                for k in 0..input.len() {
                    r.equation(vec![(r.out(k), strides[k]), (r.input(k), -1)], starts[k])?;
                }
            }
            Operation::Reshape => {
                let outs: Vec<_> = out.iter().enumerate().map(|(k, n)| (r.out(k), *n)).collect();
                let ins: Vec<_> = input.iter().enumerate().map(|(k, n)| (r.input(k), *n)).collect();
                reshape(&mut r, &outs, &ins)?;
            }
            Operation::Bitcast => {
                let reason = bitcast::relate(&mut r, self.results[result], self.operands[operand], direction)?;
                if let Some(reason) = reason {
                    return Ok(Related::Unknown(reason));
                }
            }
            Operation::Concatenate { dim } => {
                let before = ins[..operand].iter().map(|sizes| sizes[*dim]).sum();
                for k in 0..input.len() {
                    let shift = if k == *dim { before } else { 0 };
                    r.equation(vec![(r.input(k), 1), (r.out(k), -1)], shift)?;
                }
            }
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
                let (batch, contracting) = [(lhs_batch, lhs_contracting), (rhs_batch, rhs_contracting)][operand.min(1)];
                let free = without(input.len(), &[batch, contracting]);
                let first = if operand == 0 { batch.len() } else { out.len() - free.len() };
                batch.iter().enumerate().try_for_each(|(k, dim)| r.link(k, *dim))?;
                free.iter().enumerate().try_for_each(|(k, dim)| r.link(first + k, *dim))?;
            }
            Operation::Pad { low, interior, .. } if operand == 0 => {
                for k in 0..input.len() {
                    r.equation(vec![(r.input(k), interior[k] + 1), (r.out(k), -1)], low[k])?;
                }
            }
            Operation::Pad { low, interior, .. } => {
                let steps: Vec<i64> = interior.iter().map(|n| n + 1).collect();
                return padding(Relation::new(out, &[]), &ins[0], out, low, &steps, direction);
            }
            Operation::InsertSlice { starts, strides } if operand == 0 => {
                (0..out.len()).try_for_each(|k| r.link(k, k))?;
                // What is told of one of the two indices is told of the other.
                return padding(r, &ins[1], out, starts, strides, Direction::Reads);
            }
            Operation::InsertSlice { starts, strides } => {
                for k in 0..input.len() {
                    r.equation(vec![(r.input(k), strides[k]), (r.out(k), -1)], starts[k])?;
                }
            }
            Operation::ReduceWindow { window } if operand < ins.len() / 2 => {
                let ranges = if direction == Direction::Reads { Ranges::Places } else { Ranges::Windows };
                for (k, dim) in window.iter().enumerate() {
                    let (o, i) = (r.out(k), r.input(k));
                    place(&mut r, dim, o, i, ranges)?;
                }
            }
            Operation::ReduceWindow { .. } => {}
            Operation::Convolution(c) => convolution(&mut r, c, [&ins[0], &ins[1], out], operand == 1, direction)?,
            Operation::DynamicSlice { sizes } if operand == 0 => {
                for (k, (n, part)) in input.iter().zip(sizes).enumerate() {
                    let start = r.run_time((0, n - part), 1 + k, Vec::new(), true);
                    r.equation(vec![(r.out(k), 1), (start, 1), (r.input(k), -1)], 0)?;
                }
            }
            Operation::DynamicSlice { .. } => {}
            Operation::DynamicUpdateSlice => return updated(operand, &ins[0], &ins[1]),
            Operation::Gather(g) => {
                let batch = without(out.len(), &[&g.offset_dims]);
                let (outs, inputs): (Vec<_>, Vec<_>) =
                    ((0..out.len()).map(|k| r.out(k)).collect(), (0..input.len()).map(|k| r.input(k)).collect());
                match operand {
                    0 => block(&mut r, g, [&inputs, &outs], (input, &g.slice_sizes), (1, ins[1].len()), true)?,
                    _ => {
                        let dims = without(input.len(), &[&[g.index_vector_dim]]);
                        dims.iter().zip(&batch).try_for_each(|(dim, k)| r.link(*k, *dim))?;
                    }
                }
            }
            Operation::Scatter(g) => {
                let n = ins.len() / 2;
                let (outs, inputs): (Vec<_>, Vec<_>) =
                    ((0..out.len()).map(|k| r.out(k)).collect(), (0..input.len()).map(|k| r.input(k)).collect());
                match operand {
                    _ if operand < n => (0..input.len()).try_for_each(|k| r.link(k, k))?,
                    // Any index may be the one that names a given element.
                    _ if operand == n => {}
                    _ => {
                        let slices = update_sizes(g, out.len(), input)?;
                        block(&mut r, g, [&outs, &inputs], (out, &slices), (n, ins[n].len()), false)?;
                    }
                }
            }
            Operation::Loops(nest) => {
                return match loops::related(nest, operand, result, r)? {
                    Some(related) => Ok(Related::By(related)),
                    None => unknown("an index holds a minimum or a maximum"),
                };
            }
            Operation::Tuple | Operation::GetTupleElement { .. } => {
                if self.passed()?.start + result != operand {
                    return Ok(Related::By(Vec::new()));
                }
                (0..input.len()).try_for_each(|k| r.link(k, k))?;
            }
            Operation::Iota { .. }
            | Operation::Constant
            | Operation::Parameter { .. }
            | Operation::Call { .. }
            | Operation::While { .. }
            | Operation::Conditional { .. }
            | Operation::Other { .. } => return Ok(Related::By(Vec::new())),
        }
        Ok(Related::By(vec![r]))
    }
}

/// Says that `i` is at a place of window `o`; gives the place.
fn place(r: &mut Relation, dim: &WindowDim, o: usize, i: usize, ranges: Ranges) -> Result<usize, Error> {
    let w = r.unknown(0, dim.size - 1);
    let step = dim.window_dilation;
    let rest = [(i, -dim.base_dilation)];
    let low = dim.low.checked_neg().ok_or_else(too_large)?;
    // As many places of a window lie before the next window begins.
    let between = dim.stride / step;
    if ranges == Ranges::Windows && dim.stride % step == 0 && dim.size > between && between > 1 {
        // The place is `between * back + first`: `back` windows ago the same element was at `first`.
        let back = r.unknown(0, (dim.size - 1) / between);
        let first = r.unknown(0, between - 1);
        r.range(back);
        r.equation([&[(o, dim.stride), (back, dim.stride), (first, step)], &rest[..]].concat(), low)?;
        r.equation(vec![(back, between), (first, 1), (w, -1)], 0)?;
        return Ok(w);
    }
    let windows = ranges == Ranges::Windows && i128::from(dim.stride) <= i128::from(step) * i128::from(dim.size - 1);
    if ranges == Ranges::Places || windows {
        r.range(w);
    }
    r.equation([&[(o, dim.stride), (w, step)], &rest[..]].concat(), low)?;
    Ok(w)
}

/// Where a tensor has no element of `data`, which starts at `low` and goes on in `steps`: what is data in all dimensions
/// before `k` and none in dimension `k`.
fn padding(
    mut before: Relation,
    data: &Sizes,
    out: &Sizes,
    low: &[i64],
    steps: &[i64],
    direction: Direction,
) -> Result<Related, Error> {
    let mut found = Vec::new();
    let ranges = |r: &mut Relation, v| {
        if direction == Direction::Feeds {
            r.range(v)
        }
    };
    for k in 0..data.len() {
        let (n, low, step) = (data[k], low[k], steps[k]);
        if n == 0 {
            found.push(before);
            return Ok(Related::By(found));
        }
        let o = before.out(k);
        let last = narrow(dilated(n, step) - 1 + i128::from(low))?;
        for (lo, hi) in [(0, low.saturating_sub(1)), (last.saturating_add(1), out[k] - 1)] {
            if lo <= hi {
                let mut r = before.clone();
                r.within(vec![(o, 1)], lo, hi)?;
                found.push(r);
            }
        }
        if step == 1 {
            before.within(vec![(o, 1)], low, last)?;
            continue;
        }
        let mut r = before.clone();
        let (at, past) = (r.unknown(0, n - 2), r.unknown(1, step - 1));
        ranges(&mut r, at);
        ranges(&mut r, past);
        r.equation(vec![(at, step), (past, 1), (o, -1)], low)?;
        found.push(r);
        let at = before.unknown(0, n - 1);
        ranges(&mut before, at);
        before.equation(vec![(at, step), (o, -1)], low)?;
    }
    Ok(Related::By(found))
}

/// What a data, an update and a start go into when the update is written into the data.
fn updated(operand: usize, data: &Sizes, update: &Sizes) -> Result<Related, Error> {
    let room = |k: usize| (0, data[k] - update[k]);
    let start = |r: &mut Relation, k: usize| r.run_time(room(k), 2 + k, Vec::new(), true);
    match operand {
        0 => {
            // Outside: inside in all dimensions before `k`, and before or behind the update in dimension `k`.
            let mut found = Vec::new();
            let mut before = Relation::new(data, data);
            (0..data.len()).try_for_each(|k| before.link(k, k))?;
            for (k, (n, part)) in data.iter().zip(update).enumerate() {
                let from = |r: &mut Relation, lo, hi| {
                    let start = start(r, k);
                    r.within(vec![(r.out(k), 1), (start, -1)], lo, hi)
                };
                for (lo, hi) in [(-n, -1), (*part, *n)] {
                    let mut r = before.clone();
                    from(&mut r, lo, hi)?;
                    found.push(r);
                }
                from(&mut before, 0, part - 1)?;
            }
            Ok(Related::By(found))
        }
        1 => {
            let mut r = Relation::new(data, update);
            for k in 0..data.len() {
                let start = start(&mut r, k);
                r.equation(vec![(r.input(k), 1), (start, 1), (r.out(k), -1)], 0)?;
            }
            Ok(Related::By(vec![r]))
        }
        _ => Ok(Related::By(vec![Relation::new(data, &[])])),
    }
}

/// The sizes that a convolution gives.
fn convolved(c: &Convolution, input: &Sizes, kernel: &Sizes) -> Result<Vec<i64>, Error> {
    let spatial = c.window.len();
    let all = |a, b, dims: &[usize]| [&[a, b], dims].concat();
    for (rank, dims) in [
        (input.len(), all(c.input_batch, c.input_feature, &c.input_spatial)),
        (kernel.len(), all(c.kernel_input_feature, c.kernel_output_feature, &c.kernel_spatial)),
        (spatial + 2, all(c.output_batch, c.output_feature, &c.output_spatial)),
    ] {
        count("dimensions of each array", rank, spatial + 2)?;
        count("dimensions of each array", dims.len(), rank)?;
        distinct(&dims, rank)?;
    }
    let (batch, inputs, outputs) = (input[c.input_batch], input[c.input_feature], kernel[c.kernel_output_feature]);
    for (groups, sizes) in [(c.feature_groups, [inputs, outputs]), (c.batch_groups, [batch, outputs])] {
        if groups < 1 || sizes.iter().any(|n| n % groups != 0) {
            return wrong(format!("{groups} groups do not divide {} and {}", sizes[0], sizes[1]));
        }
    }
    if kernel[c.kernel_input_feature] != inputs / c.feature_groups {
        let (needed, found) = (inputs / c.feature_groups, kernel[c.kernel_input_feature]);
        return wrong(format!("the kernel needs {needed} input features, it has {found}"));
    }
    let mut expected = vec![0; spatial + 2];
    expected[c.output_batch] = batch / c.batch_groups;
    expected[c.output_feature] = outputs;
    for (k, dim) in c.window.iter().enumerate() {
        if kernel[c.kernel_spatial[k]] != dim.size {
            return wrong(format!("the window has {} places, the kernel {}", dim.size, kernel[c.kernel_spatial[k]]));
        }
        expected[c.output_spatial[k]] = windows(input[c.input_spatial[k]], dim)?;
    }
    Ok(expected)
}

/// The products of a convolution: an element of the result with those of the input and the kernel. The relation is
/// between the result and one of these; the other's indices are unknowns.
fn convolution(
    r: &mut Relation,
    c: &Convolution,
    [input, kernel, out]: [&Sizes; 3],
    of_kernel: bool,
    direction: Direction,
) -> Result<(), Error> {
    let other: Vec<usize> = if of_kernel { input } else { kernel }.iter().map(|n| r.unknown(0, n - 1)).collect();
    let own: Vec<usize> = (0..if of_kernel { kernel.len() } else { input.len() }).map(|k| r.input(k)).collect();
    let (input_at, kernel_at) = if of_kernel { (other, own) } else { (own, other) };
    let reads = direction == Direction::Reads;
    let ranges = match direction {
        Direction::Reads => Ranges::Places,
        Direction::Feeds if of_kernel => Ranges::Neither,
        Direction::Feeds => Ranges::Windows,
    };
    for (k, dim) in c.window.iter().enumerate() {
        let (o, i) = (r.out(c.output_spatial[k]), input_at[c.input_spatial[k]]);
        let w = place(r, dim, o, i, ranges)?;
        let at = kernel_at[c.kernel_spatial[k]];
        match dim.reversed {
            true => r.equation(vec![(w, 1), (at, 1)], 1 - dim.size)?,
            false => r.equation(vec![(w, 1), (at, -1)], 0)?,
        }
    }
    let outputs = out[c.output_feature];
    let o = r.out(c.output_feature);
    let (feature, part) = (input_at[c.input_feature], kernel_at[c.kernel_input_feature]);
    if reads {
        r.range(part);
    }
    r.equation(vec![(o, 1), (kernel_at[c.kernel_output_feature], -1)], 0)?;
    // A group of input features makes a group of output features.
    let each = outputs / c.feature_groups;
    let group = r.unknown(0, c.feature_groups - 1);
    let within = r.unknown(0, each - 1);
    if !reads && !of_kernel && c.batch_groups == 1 {
        r.range(within);
    }
    r.equation(vec![(group, each), (within, 1), (o, -1)], 0)?;
    r.equation(vec![(group, kernel[c.kernel_input_feature]), (part, 1), (feature, -1)], 0)?;
    // A group of batches makes one too.
    let (each, batches) = (outputs / c.batch_groups, out[c.output_batch]);
    let group = r.unknown(0, c.batch_groups - 1);
    let within = r.unknown(0, each - 1);
    if !reads && !of_kernel && c.batch_groups != 1 {
        r.range(within);
    }
    r.equation(vec![(group, each), (within, 1), (o, -1)], 0)?;
    r.equation(vec![(group, batches), (r.out(c.output_batch), 1), (input_at[c.input_batch], -1)], 0)
}

/// The sizes of the blocks that updates hold, with the dimensions that they lack.
fn update_sizes(g: &Gather, rank: usize, updates: &Sizes) -> Result<Vec<i64>, Error> {
    distinct(&g.offset_dims, updates.len())?;
    let kept = without(rank, &[&g.collapsed_slice_dims, &g.operand_batching_dims]);
    count("window dimensions of the updates", g.offset_dims.len(), kept.len())?;
    let mut sizes = vec![1; rank];
    for (dim, offset) in kept.iter().zip(&g.offset_dims) {
        sizes[*dim] = updates[*offset];
    }
    Ok(sizes)
}

/// The sizes of the blocks of a tensor at given indices, all in one tensor of this rank.
fn blocks(g: &Gather, data: &Sizes, indices: &Sizes, slices: &Sizes, rank: usize) -> Result<Vec<i64>, Error> {
    distinct(&[&g.collapsed_slice_dims[..], &g.operand_batching_dims].concat(), data.len())?;
    distinct(&g.start_index_map, data.len())?;
    distinct(&g.start_indices_batching_dims, indices.len())?;
    distinct(&g.offset_dims, rank)?;
    count("slice sizes", slices.len(), data.len())?;
    count("batching dimensions of the indices", g.start_indices_batching_dims.len(), g.operand_batching_dims.len())?;
    if g.index_vector_dim > indices.len() || g.start_indices_batching_dims.contains(&g.index_vector_dim) {
        return wrong(format!("dimension {} of the indices cannot list an index", g.index_vector_dim));
    }
    let entries = indices.get(g.index_vector_dim).copied().unwrap_or(1);
    if i64::try_from(g.start_index_map.len()) != Ok(entries) {
        return wrong(format!("an index has {entries} entries, {} are named", g.start_index_map.len()));
    }
    if slices.iter().zip(data).any(|(part, whole)| *part < 0 || part > whole) {
        return wrong(format!("a block of {slices:?} does not fit into {data:?}"));
    }
    let batching = of(indices, &g.start_indices_batching_dims);
    same("the batch of the indices", &batching, &of(data, &g.operand_batching_dims))?;
    let dropped = [&g.collapsed_slice_dims[..], &g.operand_batching_dims].concat();
    if let Some(dim) = dropped.iter().find(|dim| slices[**dim] > 1) {
        return wrong(format!("a block has no dimension {dim}, its size there must be 1, got {}", slices[*dim]));
    }
    if let Some(dim) = g.operand_batching_dims.iter().find(|dim| g.start_index_map.contains(dim)) {
        return wrong(format!("dimension {dim} is of the batch, it has no start"));
    }
    let kept = without(data.len(), &[&dropped]);
    count("offset dimensions", g.offset_dims.len(), kept.len())?;
    let rows = of(indices, &without(indices.len(), &[&[g.index_vector_dim]]));
    count("dimensions of the blocks", rank, rows.len() + kept.len())?;
    let mut expected = vec![0; rank];
    for (dim, offset) in kept.iter().zip(&g.offset_dims) {
        expected[*offset] = slices[*dim];
    }
    for (dim, n) in without(rank, &[&g.offset_dims]).into_iter().zip(rows) {
        expected[dim] = n;
    }
    Ok(expected)
}

/// Says that an element of the data is one of the blocks; `at` are the unknowns of the data's index and the blocks'.
fn block(
    r: &mut Relation,
    g: &Gather,
    [data_at, block_at]: [&[usize]; 2],
    (data, slices): (&Sizes, &Sizes),
    (indices, rank): (usize, usize),
    clamped: bool,
) -> Result<(), Error> {
    let batch = without(block_at.len(), &[&g.offset_dims]);
    let rows = without(rank, &[&[g.index_vector_dim]]);
    let mut offsets = g.offset_dims.iter();
    for (k, i) in data_at.iter().enumerate() {
        let mut terms = vec![(*i, -1)];
        if let Some(b) = g.operand_batching_dims.iter().position(|dim| *dim == k) {
            let row = rows.iter().position(|dim| *dim == g.start_indices_batching_dims[b]);
            terms.extend(row.map(|row| (block_at[batch[row]], 1)));
        } else if !g.collapsed_slice_dims.contains(&k) {
            terms.extend(offsets.next().map(|dim| (block_at[*dim], 1)));
        }
        if let Some(entry) = g.start_index_map.iter().position(|dim| *dim == k) {
            let mut element: Vec<Element> = Vec::with_capacity(rank);
            let mut row = batch.iter();
            for dim in 0..rank {
                element.push(match dim == g.index_vector_dim {
                    true => Element::At(entry as i64),
                    false => Element::Unknown(row.next().map_or(0, |k| block_at[*k])),
                });
            }
            terms.push((r.run_time((0, data[k] - slices[k].max(1)), indices, element, clamped), 1));
        }
        r.equation(terms, 0)?;
    }
    Ok(())
}
