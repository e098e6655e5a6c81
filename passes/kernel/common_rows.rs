//! Dimensions along which kernels can be fused: step `i` of all of them before step `i + 1` of any.
//!
//! ```text
//! m[i] = max_j x[i, j]      e[i, j] = exp(x[i, j] - m[i])      s[i] = sum_j e[i, j]      y[i, j] = e[i, j] / s[i]
//! ```
//!
//! In all four, `i` is a dimension of the result, and each buffer that one kernel writes and another one reads or
//! writes has `i` as the same index, and as no other, in all accesses. So no two steps access the same part of such a
//! buffer, and each step may run all kernels on its own, in their order. Along `j` they cannot:
//! `m[i]` depends on all `j`.
//!
//! Each element is computed by the same operations in the same order; no number changes.

use crate::kernel::access::Operand;
use crate::kernel::fusion::{Base, uses};
use crate::kernel::nest::Nest;
use layout_ir as ir;
use tensor_layout::expr::Expr;

/// The common dimensions of some kernels.
pub struct CommonRows<'c> {
    /// For each common dimension its number in each kernel.
    pub dims: Vec<Vec<usize>>,
    reaches: Vec<Reach<'c>>,
}

/// The access of a kernel to a buffer.
struct Reach<'c> {
    kernel: usize,
    part_of: Base<'c>,
    /// The value of the buffer.
    base: usize,
    is_written: bool,
    /// Whether different indices have different addresses.
    is_injective: bool,
    /// The dimension of each index of the buffer, if it is a single one that no other index has.
    index: Vec<Option<usize>>,
}

impl<'c> CommonRows<'c> {
    /// The rows of one kernel alone: the dimensions of all its outputs. `None` if the base of a buffer is unknown.
    pub fn of(nest: &Nest<'c>) -> Option<CommonRows<'c>> {
        let dims = (0..nest.extents.len()).filter(|dim| is_row(nest, *dim)).map(|dim| vec![dim]).collect();
        Some(CommonRows { dims, reaches: reaches(nest, 0)? })
    }

    /// Adds a kernel; returns false, with nothing changed, if no dimension would remain. `first` is the first kernel.
    pub fn add(&mut self, first: &Nest<'c>, nest: &Nest<'c>) -> bool {
        let Some(added) = self.dims.first().and_then(|of| reaches(nest, of.len())) else { return false };
        let mut dims = Vec::new();
        for of in &self.dims {
            let size = first.extents[of[0]].known();
            let fits = |dim: &usize| nest.extents[*dim].known() == size && is_row(nest, *dim);
            if let Some(dim) = self.dim(of, &added).filter(fits) {
                dims.push(of.iter().copied().chain([dim]).collect());
            }
        }
        if dims.is_empty() {
            return false;
        }
        self.dims = dims;
        self.reaches.extend(added);
        true
    }

    /// Whether a kernel neither accesses a buffer that these write, nor writes one that they access.
    pub fn is_apart_from(&self, nest: &Nest<'c>) -> bool {
        let shared =
            |one: &Reach<'c>, other: &Reach<'c>| one.part_of == other.part_of && (one.is_written || other.is_written);
        let apart = |one: &Reach<'c>| !self.reaches.iter().any(|other| shared(one, other));
        reaches(nest, 0).is_some_and(|reaches| reaches.iter().all(apart))
    }

    /// The dimension of a further kernel that is common in all accesses to shared buffers; `None` if there is no such
    /// dimension, or no shared buffer.
    fn dim(&self, of: &[usize], added: &[Reach<'c>]) -> Option<usize> {
        let mut found = None;
        for reach in added {
            let shared = |other: &&Reach<'c>| other.part_of == reach.part_of && (other.is_written || reach.is_written);
            for other in self.reaches.iter().filter(shared) {
                let at = other.index.iter().position(|dim| *dim == Some(of[other.kernel]))?;
                let dim = *reach.index.get(at)?;
                let same = other.base == reach.base && reach.is_injective;
                found = dim.filter(|dim| same && found.is_none_or(|found| found == *dim));
                found?;
            }
        }
        found
    }

    /// Whether a kernel before this one, or after it if `later`, accesses a buffer.
    pub fn is_reached(&self, kernel: usize, buffer: Base<'c>, later: bool) -> bool {
        let other = |reach: &Reach<'c>| if later { reach.kernel > kernel } else { reach.kernel < kernel };
        self.reaches.iter().any(|reach| reach.part_of == buffer && other(reach))
    }

    /// Whether a buffer has a common dimension among its indices in all accesses.
    pub fn has(&self, buffer: Base<'c>, of: &[usize]) -> bool {
        let mut reaches = self.reaches.iter().filter(|reach| reach.part_of == buffer);
        reaches.all(|reach| reach.index.contains(&Some(of[reach.kernel])))
    }
}

/// Whether a dimension is an index of each output, so that its steps are different elements.
fn is_row(nest: &Nest, dim: usize) -> bool {
    let outputs = &nest.operands[nest.operands.len() - nest.outputs..];
    outputs.iter().all(|output| dims_of(nest, output).contains(&Some(dim)))
}

/// The accesses of a kernel to its operands; `None` if one may be part of any buffer or is spread over places, or if a
/// size is dynamic or 0.
fn reaches<'c>(nest: &Nest<'c>, kernel: usize) -> Option<Vec<Reach<'c>>> {
    if !nest.extents.iter().all(|n| n.known().is_some_and(|n| n > 0)) {
        return None;
    }
    let written = nest.operands.len() - nest.outputs;
    let reach = |(k, operand): (usize, &Operand<'c>)| {
        let (base, is_injective) = (ir::key(operand.access.base), is_injective(operand));
        let index = dims_of(nest, operand);
        let part_of = Base::of(operand.access.base)?;
        let plain = operand.access.spread_buffer().is_none();
        plain.then_some(Reach { kernel, part_of, base, is_written: k >= written, is_injective, index })
    };
    nest.operands.iter().enumerate().map(reach).collect()
}

/// The dimension of each index of an operand's buffer, if it is a single one that no other index depends on: a step
/// of the dimension then moves this index alone.
fn dims_of(nest: &Nest, operand: &Operand) -> Vec<Option<usize>> {
    let dims = nest.extents.len();
    let symbols = (0..operand.access.symbols.len()).map(|k| Expr::Var(dims + k));
    let by: Vec<Expr> = operand.map.iter().cloned().chain(symbols).collect();
    let index: Vec<Expr> = operand.access.logical.iter().map(|e| e.substitute(&by)).collect();
    let dim = |e: &Expr| if let Expr::Var(d) = e { Some(*d).filter(|d| *d < dims) } else { None };
    let is_alone = |d: &usize| index.iter().filter(|e| uses(e, *d)).count() == 1;
    index.iter().map(|e| dim(e).filter(is_alone)).collect()
}

/// Whether all elements of a buffer have different addresses: always for tiles, and for strides if each is at least the
/// span of all inner dimensions.
fn is_injective(operand: &Operand) -> bool {
    let access = &operand.access;
    if access.lowered.is_some() {
        return true;
    }
    let known = |(size, stride): (&Option<i64>, &Option<i64>)| Some(((*stride)?, (*size)?));
    let Some(mut parts) = access.shape.iter().zip(&access.strides).map(known).collect::<Option<Vec<_>>>() else {
        return false;
    };
    parts.retain(|part| part.1 > 1);
    parts.sort_unstable();
    let mut inside = 0i64;
    parts.into_iter().all(|(stride, size)| {
        let apart = stride > inside;
        inside = (size - 1).checked_mul(stride).and_then(|far| far.checked_add(inside)).unwrap_or(i64::MAX);
        apart
    })
}
