//! Kernels over the same rows, fused at one block of rows after another.
//!
//! ```text
//! for i = 0 to 4096              for block = 0 to 512
//!   m[i] = max_j x[i, j]           for i = 8 * block to 8 * block + 8    m[i] = max_j x[i, j]
//! for i = 0 to 4096        =>      for i = 8 * block to 8 * block + 8    e[i, j] = exp(x[i, j] - m[i])
//!   e[i, j] = exp(..)              ..
//! ```
//!
//! Each kernel of a softmax of f32[4096,4096] alone reads or writes 64 MiB of memory; eight rows stay in the cache from
//! the first kernel to the last, so memory is read once and written once. A buffer that only these kernels use shrinks
//! to a block of rows.
//!
//! Each kernel keeps its plan for all rows, so each element is computed by the same operations in the same order as
//! without blocks. [`CommonRows`] finds the row dimensions.

use super::distance::{Address, Distance};
use super::kernel::Kernel;
use super::plan::{Level, VectorPlan};
use super::planned::{BegunKernel, PlannedKernel};
use super::rows::{caller_frees, scratch};
use super::tail::Tail;
use crate::kernel::access::Operand;
use crate::kernel::body::Body;
use crate::kernel::common_rows::CommonRows;
use crate::kernel::fusion::Base;
use crate::kernel::nest::Nest;
use crate::pass::options::LowerMemrefsOptions;
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::{Type, ValueLike};
use std::cmp::Reverse;
use std::collections::HashMap;
use tensor_layout::expr::Expr;
use tensor_layout::maps::Interval;

/// The steps of a dimension that form a block.
struct RowSteps {
    /// The dimension in each kernel.
    dims: Vec<usize>,
    size: i64,
    step: i64,
}

/// A buffer that kernels access.
struct RowBuffer<'c> {
    base: Base<'c>,
    bytes: i64,
}

/// The bytes of a block's buffers, and the most that the cache holds.
struct BlockBytes<'a, 'c> {
    buffers: Vec<RowBuffer<'c>>,
    common: &'a CommonRows<'c>,
    most: i64,
}

impl BlockBytes<'_, '_> {
    fn count(&self, rows: &[RowSteps]) -> i64 {
        let part = |buffer: &RowBuffer| {
            let steps = rows.iter().filter(|rows| self.common.has(buffer.base, &rows.dims));
            steps.fold(buffer.bytes, |bytes, rows| bytes / rows.size.max(1) * rows.step)
        };
        self.buffers.iter().map(part).fold(0, i64::saturating_add)
    }

    fn fit(&self, rows: &[RowSteps]) -> bool {
        self.count(rows) <= self.most
    }

    /// Whether an operand is large. Small ones, hardly more than the rows, need no whole vectors, and any order of reads
    /// will do.
    fn is_large(&self, operand: &Operand) -> bool {
        let largest = self.buffers.iter().map(|buffer| buffer.bytes).max().unwrap_or(0);
        bytes_of(operand).is_some_and(|bytes| bytes >= largest / 16)
    }
}

/// Planned kernels, and the rows of a block.
pub struct RowBlocks<'a, 'c> {
    kernels: Vec<PlannedKernel<'a, 'c>>,
    rows: Vec<RowSteps>,
    common: &'a CommonRows<'c>,
}

impl<'a, 'c> RowBlocks<'a, 'c> {
    /// Plans kernels with common rows. Fails if a kernel cannot be planned, all their buffers fit in the cache anyway,
    /// or the buffers of one block do not. The error is the number of leading kernels that may go together instead.
    pub fn of(
        b: Builder<'c>,
        nests: &[&'a (Nest<'c>, Body<'c>)],
        common: &'a CommonRows<'c>,
        target: &'a LowerMemrefsOptions,
    ) -> Result<Self, usize> {
        let size = |dims: &Vec<usize>| nests[0].0.extents[dims[0]].known();
        let rows = |dims: &Vec<usize>| size(dims).map(|size| RowSteps { dims: dims.clone(), size, step: size });
        let rows = common.dims.iter().map(rows).collect::<Option<Vec<RowSteps>>>().ok_or(0usize)?;
        let Some(buffers) = reached(nests) else { return Err(nests.len() - 1) };
        let bytes = BlockBytes { buffers, common, most: i64::try_from(target.row_block_bytes).unwrap_or(i64::MAX) };
        if bytes.fit(&rows) {
            return Err(0);
        }
        let mut blocks = RowBlocks { kernels: planned(b, nests, target)?, rows, common };
        blocks.keep_outermost(&bytes);
        if blocks.rows.is_empty() {
            return Err(nests.len() - 1);
        }
        blocks.divide(&bytes);
        let fits = bytes.count(&blocks.rows) <= bytes.most.saturating_mul(2) && blocks.cuts_between_tiles();
        if fits { Ok(blocks) } else { Err(nests.len() - 1) }
    }

    /// Sorts the row dimensions, outermost first, and drops those that are inside others in a large operand.
    fn keep_outermost(&mut self, bytes: &BlockBytes<'_, 'c>) {
        let plan = &self.kernels[0].plan;
        self.rows.sort_by_key(|rows| {
            let strides = of_dim(plan, rows.dims[0]).flat_map(|level| level.strides.iter().map(Distance::about));
            Reverse(strides.max())
        });
        let outermost = |k: usize| {
            self.kernels.iter().enumerate().all(|(number, kernel)| {
                let around: Vec<usize> = self.rows[..=k].iter().map(|rows| rows.dims[number]).collect();
                let operands = kernel.nest.operands.iter().enumerate();
                let mut large = operands.filter(|(_, operand)| bytes.is_large(operand));
                large.all(|(o, _)| is_outermost(&kernel.plan, o, &around))
            })
        };
        let count = (0..self.rows.len()).take_while(|k| outermost(*k)).count();
        self.rows.truncate(count);
    }

    /// Sets the steps, from the outermost dimension to the first that makes a block fit: as many as fit, at least those
    /// of the kernels' own blocks.
    fn divide(&mut self, bytes: &BlockBytes<'_, 'c>) {
        let rows = &mut self.rows;
        for k in 0..rows.len() {
            let blocks = self.kernels.iter().zip(&rows[k].dims);
            let blocks = blocks.filter(|(kernel, _)| kernel.nest.operands.iter().any(|o| bytes.is_large(o)));
            let least = blocks.map(|(kernel, dim)| block(&kernel.plan, *dim)).max().unwrap_or(1);
            rows[k].step = least.min(rows[k].size);
            if !bytes.fit(rows) && rows[k].step == 1 {
                continue;
            }
            while rows[k].step < rows[k].size {
                rows[k].step *= 2;
                if !bytes.fit(rows) || rows[k].step >= rows[k].size {
                    rows[k].step /= 2;
                    break;
                }
            }
            rows.truncate(k + 1);
            break;
        }
    }

    /// Whether the steps end between tiles of each kernel.
    fn cuts_between_tiles(&self) -> bool {
        self.rows.iter().all(|rows| {
            let mut plans = self.kernels.iter().map(|kernel| &kernel.plan).zip(&rows.dims);
            plans.all(|(plan, dim)| {
                of_dim(plan, *dim).all(|level| level.scale % rows.step == 0 || rows.step % level.scale == 0)
            })
        })
    }

    /// Emits the kernels before `b`, each with an operation's location. `is_local` returns whether nothing else uses a
    /// buffer.
    pub fn emit(self, b: Builder<'c>, ops: &[Op<'c>], is_local: &dyn Fn(Val<'c>) -> bool) {
        let RowBlocks { kernels, rows, common } = self;
        let mut local: Vec<(Base<'c>, Option<i64>, Val<'c>)> = Vec::new();
        for (k, kernel) in kernels.iter().enumerate() {
            for (o, operand) in kernel.nest.operands.iter().enumerate() {
                let base = operand.access.base;
                let Some(part) = Base::of(base).filter(|_| is_local(base)) else { continue };
                let size = most(&kernel.plan, o, k, &rows);
                match local.iter_mut().find(|known| known.0 == part) {
                    Some(known) => known.1 = known.1.zip(size).map(|(a, b)| a.max(b)),
                    None => local.push((part, size, base)),
                }
            }
        }
        let mut made: Vec<(usize, Val<'c>)> = Vec::new();
        for (_, size, base) in local {
            let shaped = ir::memref(base.r#type());
            let (Some(size), Some(shaped)) = (size, shaped) else { continue };
            let whole = shaped.shape.iter().try_fold(1i64, |all, n| all.checked_mul((*n)?));
            if whole.is_some_and(|whole| size <= whole / 2) {
                made.push((ir::key(base), scratch(b, &Distance::fixed(size), shaped.element, &[])));
            }
        }
        let mut kernels: Vec<BlockOfRows> = kernels
            .into_iter()
            .enumerate()
            .map(|(k, kernel)| {
                let nest = kernel.nest;
                let own = |o: usize| {
                    let base = ir::key(nest.operands[o].access.base);
                    made.iter().find(|(key, _)| *key == base).map(|(_, buffer)| (o, *buffer))
                };
                let instead: HashMap<usize, Val<'c>> = (0..nest.operands.len()).filter_map(own).collect();
                let BegunKernel { mut kernel, rests, .. } = kernel.begin(b.located(ops[k]), &instead);
                let output = nest.operands.len() - nest.outputs;
                kernel.cached = nest
                    .operands
                    .iter()
                    .enumerate()
                    .map(|(o, operand)| {
                        let part = Base::of(operand.access.base).expect("what has common rows is known");
                        common.is_reached(k, part, false) || o >= output && common.is_reached(k, part, true)
                    })
                    .collect();
                let moves = (0..nest.operands.len()).map(|o| !instead.contains_key(&o)).collect();
                BlockOfRows { kernel, op: ops[k], rests, dims: vec![Expr::Const(0); nest.extents.len()], moves }
            })
            .collect();
        go(b, &rows, &mut kernels);
        for (_, buffer) in made {
            b.op("memref.dealloc", &[buffer], &[], &[caller_frees(b)]);
        }
    }
}

/// A kernel, and its rows in one block.
struct BlockOfRows<'a, 'c> {
    kernel: Kernel<'a, 'c>,
    op: Op<'c>,
    /// The number of elements in each dimension, and the first index.
    rests: Vec<Tail>,
    dims: Vec<Expr>,
    /// Whether an operand's address depends on the rows.
    moves: Vec<bool>,
}

/// The loops over rows, with the kernels inside.
fn go<'c>(b: Builder<'c>, rows: &[RowSteps], kernels: &mut [BlockOfRows<'_, 'c>]) {
    let Some((RowSteps { dims, size, step }, inside)) = rows.split_first() else {
        kernels.iter_mut().for_each(|part| part.emit(b));
        return;
    };
    let (count, left) = (size / step, size % step);
    let at = |b: Builder<'c>,
              kernels: &mut [BlockOfRows<'_, 'c>],
              first: &dyn Fn(&mut Kernel<'_, 'c>) -> Expr,
              rest: i64| {
        for (part, dim) in kernels.iter_mut().zip(dims) {
            part.dims[*dim] = first(&mut part.kernel);
            part.rests[*dim] = Tail::Known(rest);
        }
        go(b, inside, kernels);
    };
    let index = Type::index(b.context());
    let bounds = [b.index(0), b.index(count), b.index(1)];
    let (made, end) = b.with_body("scf.for", &bounds, &[], &[], &[index], "scf.yield");
    let block = ir::arguments(ir::blocks(made)[0])[0];
    at(
        b.at(end),
        kernels,
        &|kernel| {
            let var = kernel.vars.unbound(Interval::new(0, count - 1));
            kernel.vars.bind(var, block);
            Expr::Var(var).times(*step)
        },
        *step,
    );
    if left > 0 {
        at(b, kernels, &|_| Expr::Const(count * step), left);
    }
}

impl<'c> BlockOfRows<'_, 'c> {
    fn emit(&mut self, b: Builder<'c>) {
        let kernel = &self.kernel;
        let mut starts: Vec<Address> = kernel.plan.starts.clone();
        for (dim, at) in self.dims.iter().enumerate().filter(|(_, at)| **at != Expr::Const(0)) {
            let outermost = of_dim(&kernel.plan, dim).map(|level| level.scale).max();
            for level in of_dim(&kernel.plan, dim) {
                let step = at.clone().floor_div(level.scale);
                let step = if Some(level.scale) == outermost { step } else { step.modulo(level.size) };
                let step = &kernel.vars.simplified(&[step], &[])[0];
                let moved = starts.iter_mut().zip(&level.strides).zip(&self.moves).filter(|(_, moves)| **moves);
                moved.for_each(|((start, stride), _)| start.advance(step, stride));
            }
        }
        self.kernel.emit_from(b.located(self.op), &self.rests, self.dims.clone(), starts);
    }
}

/// The plans of kernels; the error is the number of leading kernels that have one.
fn planned<'a, 'c>(
    b: Builder<'c>,
    nests: &[&'a (Nest<'c>, Body<'c>)],
    target: &'a LowerMemrefsOptions,
) -> Result<Vec<PlannedKernel<'a, 'c>>, usize> {
    // Scratch memory holds a part of the addresses, and a swizzle may leave it.
    let is_plain = |o: &Operand| {
        let access = &o.access;
        access.only_scalar().is_none() && access.element_encoding.ratio.elements == 1 && access.swizzle().is_none()
    };
    let plan = |(number, (nest, body)): (usize, &&'a (Nest<'c>, Body<'c>))| {
        let kernel =
            nest.operands.iter().all(is_plain).then(|| PlannedKernel::of(b, nest, body, target).ok()).flatten();
        // Copies of operands would be repeated for each block.
        kernel.filter(|kernel| kernel.plan.packed.is_empty()).ok_or(number)
    };
    nests.iter().enumerate().map(plan).collect()
}

/// The levels of a dimension.
fn of_dim(plan: &VectorPlan, dim: usize) -> impl Iterator<Item = &Level> {
    plan.levels.iter().filter(move |level| level.dim == dim)
}

/// Whether the last of these dimensions is outermost in an operand's memory, apart from the ones before it.
fn is_outermost(plan: &VectorPlan, operand: usize, dims: &[usize]) -> bool {
    let farthest = |levels: &mut dyn Iterator<Item = &Level>| levels.map(|l| l.strides[operand].about()).max();
    let own = farthest(&mut of_dim(plan, dims[dims.len() - 1]));
    own >= farthest(&mut plan.levels.iter().filter(|level| !dims.contains(&level.dim)))
}

/// The number of steps of a dimension in a block of the kernel.
fn block(plan: &VectorPlan, dim: usize) -> i64 {
    of_dim(plan, dim).filter(|level| level.chunk > 1).map(|level| level.scale * level.chunk).max().unwrap_or(1)
}

/// The buffers that kernels access; `None` if the bytes of one are unknown.
fn reached<'c>(nests: &[&(Nest<'c>, Body<'c>)]) -> Option<Vec<RowBuffer<'c>>> {
    let mut buffers: Vec<RowBuffer<'c>> = Vec::new();
    for operand in nests.iter().flat_map(|(nest, _)| &nest.operands) {
        let base = Base::of(operand.access.base)?;
        if buffers.iter().any(|known| known.base == base) {
            continue;
        }
        buffers.push(RowBuffer { base, bytes: bytes_of(operand)? });
    }
    Some(buffers)
}

/// The bytes of an operand's buffer without padding.
fn bytes_of(operand: &Operand) -> Option<i64> {
    let elements = operand.access.shape.iter().try_fold(1i64, |all, n| all.checked_mul((*n)?))?;
    let element_encoding = operand.access.element_encoding;
    elements.checked_mul((element_encoding.bits.or(ir::bits(element_encoding.element))? + 7) / 8)
}

/// The number of elements in an operand's buffer from the first row to the last accessed element of a block of rows;
/// `None` if unknown.
fn most(plan: &VectorPlan, operand: usize, kernel: usize, rows: &[RowSteps]) -> Option<i64> {
    let Expr::Const(start) = *plan.starts[operand].fixed_part() else { return None };
    let mut last = start;
    if start < 0 || plan.starts[operand].values().next().is_some() {
        return None;
    }
    for level in &plan.levels {
        let step = rows.iter().find(|rows| rows.dims[kernel] == level.dim).map_or(i64::MAX, |rows| rows.step);
        let steps = level.size.min(step.div_euclid(level.scale) + i64::from(step % level.scale != 0));
        let stride = level.strides[operand].known().filter(|stride| *stride >= 0)?;
        last = last.checked_add(stride.checked_mul(steps - 1)?)?;
    }
    last.checked_add(1)
}
