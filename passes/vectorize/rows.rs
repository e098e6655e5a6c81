//! Buffers as the kernels see them: views of one dimension over all elements, whatever the form of their types.
//!
//! Run-time sizes, strides and offsets come from the buffer's descriptor.

use super::distance::{Distance, product};
use super::plan::{RunTime, VectorPlan};
use crate::analysis::ownership;
use crate::buffers::index::IndexVars;
use crate::buffers::parts::row_major;
use crate::kernel::nest::Nest;
use crate::pass::upstream;
use layout_ir::{self as ir, Builder, Shaped, Val};
use melior::ir::{Attribute, Identifier, Type, ValueLike};
use tensor_layout::expr::Expr;
use tensor_layout::maps::Interval;

/// The view of a buffer.
pub struct Row<'c> {
    /// One dimension over all of the buffer, up to its last element; of dynamic size if the buffer's sizes are.
    shaped: Shaped<'c>,
    /// The offset of the first element; `None` if known only at run time.
    pub offset: Option<i64>,
    /// The buffer's sizes and strides; `None` if known only at run time.
    sizes: Vec<Option<i64>>,
    strides: Vec<Option<i64>>,
}

impl<'c> Row<'c> {
    /// The view of a buffer; the error is the reason why there is none.
    pub fn of(buffer: Val<'c>) -> Result<Row<'c>, String> {
        let shaped = ir::memref(buffer.r#type()).ok_or("an operand is not a memref")?;
        if shaped.space.is_some_and(|space| !upstream::is_memory_space(space)) {
            return Err("MLIR does not accept the memory space of a buffer".into());
        }
        let (strides, offset) = match shaped.layout {
            Some(layout) => (ir::strides_of(layout).ok_or("a buffer has no strides")?, ir::offset_of(&shaped)),
            None => (row_major(&shaped.shape), Some(0)),
        };
        let sizes = shaped.shape.clone();
        let is_open = sizes.iter().chain(&strides).chain([&offset]).any(Option::is_none);
        let size = if is_open { None } else { Some(reach(offset, &sizes, &strides).ok_or("a buffer is too large")?) };
        Ok(Row { shaped: Shaped { shape: vec![size], layout: None, ..shaped }, offset, sizes, strides })
    }

    /// Emits the view.
    pub fn view(self, b: Builder<'c>, buffer: Val<'c>) -> Val<'c> {
        let t = ir::memref_type(b.location, &self.shaped).expect("elements of a memref make a memref");
        if t == buffer.r#type() {
            return buffer;
        }
        let size = if self.shaped.shape[0].is_none() { vec![self.size(b, buffer)] } else { Vec::new() };
        b.reinterpret(buffer, t, (&[Some(0)], &[]), (&self.shaped.shape, &size), (&[Some(1)], &[]))
    }

    /// The number of elements up to the last one.
    fn size(&self, b: Builder<'c>, buffer: Val<'c>) -> Val<'c> {
        let index = Type::index(b.context());
        let binary = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], index, &[]);
        let metadata = b.metadata(buffer);
        let rank = self.sizes.len();
        let of = |n: Option<i64>, at: usize| n.map_or(metadata[at], |n| b.index(n));
        let mut count = binary("arith.addi", of(self.offset, 1), b.index(1));
        for (d, (size, stride)) in self.sizes.iter().zip(&self.strides).enumerate().filter(|(_, n)| *n.1 != Some(0)) {
            let steps = binary("arith.subi", of(*size, 2 + d), b.index(1));
            count = binary("arith.addi", count, binary("arith.muli", steps, of(*stride, 2 + rank + d)));
        }
        // The sum may be negative without elements.
        binary("arith.maxsi", count, b.index(0))
    }
}

/// The number of elements up to the last one; `None` if it exceeds 64 bits.
fn reach(offset: Option<i64>, sizes: &[Option<i64>], strides: &[Option<i64>]) -> Option<i64> {
    let steps = sizes.iter().zip(strides).map(|(n, s)| n.as_ref()?.checked_sub(1)?.checked_mul((*s)?.max(0)));
    steps.fold(offset?.checked_add(1), |sum, step| sum?.checked_add(step?))
}

/// Emits the run-time factors of a plan's distances; `sizes` are those of the dimensions.
pub fn values<'c>(b: Builder<'c>, plan: &VectorPlan, nest: &Nest<'c>, sizes: &[Val<'c>]) -> Vec<Val<'c>> {
    let mut values: Vec<Val<'c>> = Vec::new();
    for value in &plan.values {
        let buffer = |operand: usize| nest.operands[operand].access.base;
        values.push(match *value {
            RunTime::Stride { operand, dim } => {
                let metadata = b.metadata(buffer(operand));
                metadata[2 + (metadata.len() - 2) / 2 + dim]
            }
            RunTime::Offset { operand } => b.metadata(buffer(operand))[1],
            RunTime::Steps { times, of, dim, scale } => {
                let mut vars = IndexVars::default();
                let size = vars.var(sizes[dim], Interval::new(0, i64::MAX));
                let steps = vars.value(b, &(size + Expr::Const(scale - 1)).floor_div(scale));
                let steps = product(b, steps, times);
                match of {
                    Some(of) => b.value("arith.muli", &[steps, values[of]], Type::index(b.context()), &[]),
                    None => steps,
                }
            }
        });
    }
    values
}

/// A buffer for the duration of a kernel.
pub fn scratch<'c>(b: Builder<'c>, size: &Distance, element: Type<'c>, values: &[Val<'c>]) -> Val<'c> {
    let sizes: Vec<Val<'c>> = size.terms.iter().map(|(value, times)| product(b, values[*value], *times)).collect();
    let shaped = Shaped { shape: vec![size.known()], element, layout: None, space: None };
    let t = ir::memref_type(b.location, &shaped).expect("elements of vectors make a memref");
    b.allocation(&sizes, t, &[caller_frees(b)])
}

/// The attribute for an allocation that its creator frees.
pub fn caller_frees<'c>(b: Builder<'c>) -> (Identifier<'c>, Attribute<'c>) {
    b.named(ownership::KEEP, Attribute::unit(b.context()))
}
