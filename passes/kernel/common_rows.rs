//! Dimensions in which kernels may go together: step `i` of all of them before step `i + 1` of any.
//!
//! ```text
//! m[i] = max_j x[i, j]      e[i, j] = exp(x[i, j] - m[i])      s[i] = sum_j e[i, j]      y[i, j] = e[i, j] / s[i]
//! ```
//!
//! In all four, `i` is a dimension of the result, and each buffer that one of them writes and another one reads or writes
//! has `i` as the same one of its indices, and in no other, wherever it is accessed. So what a step reaches of such a
//! buffer no other step does, and each step may go through all kernels on its own, in their order. Along `j` they may
//! not: `m[i]` is of all `j`.
//!
//! The operations of a step are those of the kernels, and in the same order for each element; no number changes.

use crate::kernel::access::Operand;
use crate::kernel::fusion::{Base, uses};
use crate::kernel::nest::Nest;
use layout_ir as ir;
use tensor_layout::expr::Expr;

/// Dimensions that kernels have in common.
pub struct CommonRows<'c> {
    /// For each such dimension its number in each kernel.
    pub dims: Vec<Vec<usize>>,
    reaches: Vec<Reach<'c>>,
}

/// How a kernel reaches a buffer.
struct Reach<'c> {
    kernel: usize,
    part_of: Base<'c>,
    /// The value that is the buffer.
    base: usize,
    is_written: bool,
    /// Whether different indices are different places of memory.
    is_injective: bool,
    /// The dimension that each index of the buffer is, where it is one that no other index has.
    index: Vec<Option<usize>>,
}

impl<'c> CommonRows<'c> {
    /// Of one kernel alone: the dimensions that all its outputs have. None where it is not known what its buffers are part of.
    pub fn of(nest: &Nest<'c>) -> Option<CommonRows<'c>> {
        let dims = (0..nest.extents.len()).filter(|dim| is_row(nest, *dim)).map(|dim| vec![dim]).collect();
        Some(CommonRows { dims, reaches: reaches(nest, 0)? })
    }

    /// With one more kernel; false, and nothing has changed, where no dimension would be left. `first` is the first kernel.
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

    /// Whether a kernel reaches nothing that these write, and writes nothing that they reach.
    pub fn is_apart_from(&self, nest: &Nest<'c>) -> bool {
        let shared =
            |one: &Reach<'c>, other: &Reach<'c>| one.part_of == other.part_of && (one.is_written || other.is_written);
        let apart = |one: &Reach<'c>| !self.reaches.iter().any(|other| shared(one, other));
        reaches(nest, 0).is_some_and(|reaches| reaches.iter().all(apart))
    }

    /// The dimension of one more kernel that is a common one wherever it reaches what the others do; none where there is none,
    /// or it reaches nothing of that.
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

    /// Whether a kernel, earlier than this one or with `later` later, reaches a buffer.
    pub fn is_reached(&self, kernel: usize, buffer: Base<'c>, later: bool) -> bool {
        let other = |reach: &Reach<'c>| if later { reach.kernel > kernel } else { reach.kernel < kernel };
        self.reaches.iter().any(|reach| reach.part_of == buffer && other(reach))
    }

    /// Whether a buffer has a common dimension: one of its indices is, wherever a kernel reaches it.
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

/// How a kernel reaches its operands; none where one may be part of any buffer, or is on places, and where a size is known
/// only at run time or 0.
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

/// The dimension that each index of an operand's buffer is, where it is one and no other index has anything of it: so a step
/// of the dimension moves this index alone.
fn dims_of(nest: &Nest, operand: &Operand) -> Vec<Option<usize>> {
    let dims = nest.extents.len();
    let symbols = (0..operand.access.symbols.len()).map(|k| Expr::Var(dims + k));
    let by: Vec<Expr> = operand.map.iter().cloned().chain(symbols).collect();
    let index: Vec<Expr> = operand.access.logical.iter().map(|e| e.substitute(&by)).collect();
    let dim = |e: &Expr| if let Expr::Var(d) = e { Some(*d).filter(|d| *d < dims) } else { None };
    let is_alone = |d: &usize| index.iter().filter(|e| uses(e, *d)).count() == 1;
    index.iter().map(|e| dim(e).filter(is_alone)).collect()
}

/// Whether no two elements of a buffer are at one place: of tiles none are, and of strides where each is at least as far
/// as all that is inside.
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
