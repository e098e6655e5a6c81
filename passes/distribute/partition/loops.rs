//! Operations as loop nests, of which each process runs a part.
//!
//! A product of 64 × 32 by 32 × 16 has the loops `i` below 64, `j` below 16 and `k` below 32. Its operands have `(i, k)` and
//! `(k, j)`, its result `(i, j)`. With `i` sharded, the first operand and the result are sharded by rows and each
//! process has the whole second operand; with `k` sharded, each process has a part of every sum.
//!
//! A collapsed dimension has several loops: 64 × 32 elements collapsed to 2048 have `(i, k)`.
//!
//! The loops of structured operations and of slices are [`Loops`], by their maps. Other operations are listed here, as a
//! process runs them on its part although their sizes, their padding or the rank of what they insert are known only in
//! part: of a dimension that is not sharded it needs to know nothing.

use super::grid::{Digits, ProcessDigit};
use super::sharded::is_tensor;
use crate::buffers::operations::{ELEMENTWISE, is};
use crate::choose::indexing_analysis::{self, kept, slice};
use crate::pass::upstream;
use layout_ir::{self as ir, Op, Val};
use melior::ir::Attribute;
use melior::ir::operation::OperationLike;
use tensor_layout::expr::Expr;
use tensor_layout::operations::Loops;

/// The loops of each dimension of a tensor, the most significant first; empty for a dimension without loops, which each
/// process needs whole.
pub type DimLoops = Vec<Vec<usize>>;

/// The combination of an operation's contributions into its result.
#[derive(Clone, Debug)]
pub struct Combination<'c> {
    /// The operation of two elements.
    pub op: Op<'c>,
    /// The neutral element.
    pub neutral: Attribute<'c>,
}

/// An operation as a loop nest.
#[derive(Clone, Debug)]
pub struct LoopNest<'c> {
    /// The number of iterations of each loop.
    pub sizes: Vec<i64>,
    /// Whether each loop may be sharded.
    pub spreads: Vec<bool>,
    /// The loops of each operand; `None` for one that is no tensor.
    pub operands: Vec<Option<DimLoops>>,
    /// The loops of each result.
    pub results: Vec<DimLoops>,
    /// The operand that each result overwrites, if there is one.
    pub outputs: Vec<Option<usize>>,
    /// The combination of each result.
    pub combinations: Vec<Option<Combination<'c>>>,
    /// Whether all tensors must have one layout.
    pub alike: bool,
}

impl<'c> LoopNest<'c> {
    /// The loops of an operation whose tensors have these sizes; `None` if it has no known loop form.
    pub fn of(op: Op<'c>, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>) -> Option<LoopNest<'c>> {
        match ir::name(op) {
            "tensor.empty" | "tensor.splat" | "arith.constant" => along_result(op, sizes),
            "tensor.extract_slice" => nest_of(op, &slice(op, &|v| known(v, sizes))?, sizes),
            "tensor.insert_slice" => insert_slice(op, sizes),
            "tensor.expand_shape" => reshape(op, sizes, false),
            "tensor.collapse_shape" => reshape(op, sizes, true),
            "tensor.pad" => pad(op, sizes),
            "tensor.concat" => concat(op, sizes),
            "linalg.softmax" => softmax(op, sizes),
            name if is(name, ELEMENTWISE) => along_result(op, sizes),
            _ => structured(op, sizes),
        }
    }

    /// The digits of a tensor for these loop digits, as digits of its dimensions.
    pub fn digits_of(&self, dims: &DimLoops, loops: &Digits) -> Digits {
        let digit = |of: ProcessDigit| {
            let dim = dims.iter().position(|own| own.contains(&of.dim))?;
            let below = dims[dim].iter().skip_while(|own| **own != of.dim).skip(1).map(|own| self.sizes[*own]);
            Some(ProcessDigit { dim, weight: of.weight.checked_mul(below.product())?, extent: of.extent })
        };
        loops.iter().map(|of| of.and_then(digit)).collect()
    }

    /// The loop digit of a tensor's digit; `None` if there is no such loop.
    pub fn digit_of_loop(&self, dims: &DimLoops, digit: ProcessDigit) -> Option<ProcessDigit> {
        let mut base = 1i64;
        for own in dims[digit.dim].iter().rev() {
            let end = base.checked_mul(self.sizes[*own])?;
            if digit.weight < end {
                let inside = digit.weight % base == 0 && digit.weight.checked_mul(digit.extent)? <= end;
                let weight = digit.weight / base;
                return (inside && self.spreads[*own]).then_some(ProcessDigit {
                    dim: *own,
                    weight,
                    extent: digit.extent,
                });
            }
            base = end;
        }
        None
    }

    /// Whether loops can have these digits together, with equal iterations at each process.
    pub fn fits(&self, loops: &Digits) -> bool {
        (0..self.sizes.len()).all(|own| {
            let mut digits: Vec<ProcessDigit> =
                loops.iter().flatten().filter(|digit| digit.dim == own).copied().collect();
            digits.sort_by_key(|digit| digit.weight);
            let ends = digits.iter().map(|digit| digit.weight.saturating_mul(digit.extent));
            let bounds: Vec<i64> = digits.iter().skip(1).map(|digit| digit.weight).chain([self.sizes[own]]).collect();
            digits.is_empty()
                || self.spreads[own] && ends.zip(bounds).all(|(end, bound)| bound % end == 0 && end <= bound)
        })
    }

    /// The iterations of each process.
    pub fn local_sizes(&self, loops: &Digits) -> Vec<i64> {
        super::grid::local_sizes(&self.sizes, loops)
    }
}

/// One loop for each dimension.
fn each(rank: usize) -> DimLoops {
    (0..rank).map(|dim| vec![dim]).collect()
}

/// Loops along the dimensions of the result, shared by all tensors.
fn along_result<'c>(op: Op<'c>, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>) -> Option<LoopNest<'c>> {
    let results = ir::results(op);
    let own = sizes(*results.first()?)?;
    let tensors = ir::operands(op).into_iter().filter(|v| is_tensor(*v)).chain(results.iter().copied());
    let same = tensors.map(sizes).all(|other| other.as_ref() == Some(&own));
    let operands = ir::operands(op).into_iter().map(|v| is_tensor(v).then(|| each(own.len()))).collect();
    same.then(|| plain(own.clone(), operands, vec![each(own.len()); results.len()]))
        .map(|nest| LoopNest { alike: true, ..nest })
}

/// A nest of loops that may all be sharded, without combinations and overwritten operands.
fn plain<'c>(sizes: Vec<i64>, operands: Vec<Option<DimLoops>>, results: Vec<DimLoops>) -> LoopNest<'c> {
    let (outputs, combinations) = (vec![None; results.len()], vec![None; results.len()]);
    LoopNest { spreads: vec![true; sizes.len()], sizes, operands, results, outputs, combinations, alike: false }
}

/// For each dimension of a tensor of these sizes, whether a slice takes it whole.
fn taken_whole(op: Op, of: &[i64]) -> Option<Vec<bool>> {
    let [offsets, sizes, strides] =
        ["static_offsets", "static_sizes", "static_strides"].map(|name| ir::sizes(op, name));
    (sizes.len() == of.len()).then(|| {
        let whole = |dim: usize| (offsets[dim], sizes[dim], strides[dim]) == (Some(0), Some(of[dim]), Some(1));
        (0..of.len()).map(whole).collect()
    })
}

/// The nest of loops whose arrays have these sizes. A dimension follows a loop if its index is that of the loop, in all of
/// the dimension; the loops of any other index are not sharded.
fn nest_of<'c>(op: Op<'c>, loops: &Loops, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>) -> Option<LoopNest<'c>> {
    let mut spreads = vec![true; loops.sizes.len()];
    let mut dims = |v: Val<'c>, index: &[Expr]| -> Option<DimLoops> {
        let mut dims: DimLoops = Vec::with_capacity(index.len());
        for (e, size) in index.iter().zip(sizes(v)?) {
            dims.push(match e {
                Expr::Var(own) if loops.sizes.get(*own) == Some(&size) && !dims.concat().contains(own) => vec![*own],
                e => {
                    loops.in_index(e).into_iter().for_each(|own| spreads[own] = false);
                    Vec::new()
                }
            });
        }
        Some(dims)
    };
    let mut operands = Vec::with_capacity(loops.operands.len());
    for (v, index) in ir::operands(op).into_iter().zip(&loops.operands) {
        operands.push(match index.as_ref().filter(|_| is_tensor(v)) {
            Some(index) => Some(dims(v, index)?),
            None => None,
        });
    }
    let results = ir::results(op).into_iter().zip(&loops.results).map(|(v, index)| dims(v, index));
    let results = results.collect::<Option<_>>()?;
    Some(LoopNest { spreads, ..plain(loops.sizes.clone(), operands, results) })
}

fn insert_slice<'c>(op: Op<'c>, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>) -> Option<LoopNest<'c>> {
    let all = ir::operands(op);
    let (source, target) = (sizes(all[0])?, sizes(all[1])?);
    let whole = taken_whole(op, &target)?;
    let taken: Vec<i64> = ir::sizes(op, "static_sizes").into_iter().collect::<Option<_>>()?;
    let kept = kept(&taken, &source)?;
    let of_target: DimLoops = (0..target.len()).map(|dim| if whole[dim] { vec![dim] } else { vec![] }).collect();
    let of_source = kept.iter().map(|dim| of_target[*dim].clone()).collect();
    let mut operands = vec![None; all.len()];
    (operands[0], operands[1]) = (Some(of_source), Some(of_target.clone()));
    Some(LoopNest { outputs: vec![Some(1)], ..plain(target, operands, vec![of_target]) })
}

/// The loops of a reshape: those of the longer shape.
fn reshape<'c>(op: Op<'c>, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>, collapses: bool) -> Option<LoopNest<'c>> {
    let (source, result) = (sizes(ir::operands(op)[0])?, sizes(ir::result(op, 0))?);
    let groups = ir::reassociation(op)?;
    let longer = if collapses { source } else { result };
    let fine = each(longer.len());
    let (own, made) = if collapses { (fine, groups) } else { (groups, fine) };
    Some(plain(longer, vec![Some(own)], vec![made]))
}

fn pad<'c>(op: Op<'c>, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>) -> Option<LoopNest<'c>> {
    let (source, result) = (sizes(ir::operands(op)[0])?, sizes(ir::result(op, 0))?);
    let [low, high] = ["static_low", "static_high"].map(|name| ir::sizes(op, name));
    let indices: Vec<Val> = ir::blocks(op).into_iter().flat_map(ir::arguments).collect();
    let is_free = |dim: usize| {
        (low.get(dim), high.get(dim)) == (Some(&Some(0)), Some(&Some(0)))
            && source.get(dim) == result.get(dim)
            && indices.get(dim).is_none_or(|v| !ir::is_used(*v))
    };
    let dims: DimLoops = (0..result.len()).map(|dim| if is_free(dim) { vec![dim] } else { vec![] }).collect();
    let mut operands = vec![None; ir::operands(op).len()];
    operands[0] = Some(dims.clone());
    Some(plain(result, operands, vec![dims]))
}

fn concat<'c>(op: Op<'c>, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>) -> Option<LoopNest<'c>> {
    let result = sizes(ir::result(op, 0))?;
    let joined = usize::try_from(ir::integer(ir::attribute(op, "dim")?)?).ok()?;
    let dims: DimLoops = (0..result.len()).map(|dim| if dim == joined { vec![] } else { vec![dim] }).collect();
    Some(plain(result, vec![Some(dims.clone()); ir::operands(op).len()], vec![dims]))
}

fn softmax<'c>(op: Op<'c>, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>) -> Option<LoopNest<'c>> {
    let own = sizes(ir::result(op, 0))?;
    let along = usize::try_from(ir::integer(ir::attribute(op, "dimension")?)?).ok()?;
    let mut nest = plain(own.clone(), vec![Some(each(own.len())); 2], vec![each(own.len())]);
    *nest.spreads.get_mut(along)? = false;
    nest.outputs = vec![Some(1)];
    Some(nest)
}

/// The loops of an operation of linalg.
fn structured<'c>(op: Op<'c>, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>) -> Option<LoopNest<'c>> {
    let loops = indexing_analysis::structured(op, &|v| known(v, sizes))?;
    let mut nest = nest_of(op, &loops, sizes)?;
    let results = nest.results.len();
    let first_output = loops.operands.len().checked_sub(results)?;
    nest.outputs = (first_output..loops.operands.len()).map(Some).collect();
    nest.combinations = (0..results).map(|k| combination(op, k, results)).collect();
    for (own, dims) in nest.combinations.iter().zip(&nest.results) {
        let summed = (0..loops.sizes.len()).filter(|l| !dims.concat().contains(l));
        summed.filter(|_| own.is_none()).for_each(|l| nest.spreads[l] = false);
    }
    Some(nest)
}

/// The sizes of a tensor over all processes, of which its type may say a part already.
fn known<'c>(v: Val<'c>, sizes: &dyn Fn(Val<'c>) -> Option<Vec<i64>>) -> Option<Vec<Option<i64>>> {
    if is_tensor(v) { Some(sizes(v)?.into_iter().map(Some).collect()) } else { Some(Vec::new()) }
}

/// The combination of a result in the body of a structured operation.
fn combination<'c>(op: Op<'c>, number: usize, results: usize) -> Option<Combination<'c>> {
    let body = ir::blocks(op).first().copied()?;
    let arguments = ir::arguments(body);
    let so_far = *arguments.get(arguments.len().checked_sub(results)? + number)?;
    let end = ir::operations(body).pop()?;
    let by = ir::defining_op(*ir::operands(end).get(number)?).filter(|by| by.block() == end.block())?;
    let operands = ir::operands(by);
    let is_last = operands.len() == 2 && operands.iter().filter(|v| ir::key(**v) == ir::key(so_far)).count() == 1;
    // The partial sum and the combined value must have no other users.
    let alone = ir::uses(so_far).len() == 1 && ir::uses(ir::result(by, 0)).len() == 1;
    // Operations with a neutral element commute.
    let neutral = (is_last && alone).then(|| upstream::neutral_element(by)).flatten()?;
    Some(Combination { op: by, neutral })
}
