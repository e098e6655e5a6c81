//! Contractions with misaligned operand cuts: inputs are copied first.
//!
//! With `k` in tiles of 8 in one input and `k` in parts of 16 times 3 in the other, which is read through a reshape,
//! neither 3 nor 8 divides the other, so the address in one of them is no sum over the parts of `k`. In a row-major
//! copy it is, whatever the other input has. A product reads each element many times and copies it once.

use super::distance::Distance;
use super::linear::Refusal;
use super::rows::{Row, caller_frees, scratch};
use super::{contraction, planner};
use crate::buffers::element_encoding::ElementEncoding;
use crate::buffers::index::IndexVars;
use crate::kernel;
use crate::kernel::access::{Access, Operand, Size};
use crate::kernel::body::{Argument, Body};
use crate::kernel::nest::Nest;
use crate::pass::options::LowerMemrefsOptions;
use layout_ir::{Builder, Val};
use tensor_layout::expr::Expr;

/// Emits vector code for copies of inputs and a nest that reads them. If this is impossible, returns the reason and
/// emits nothing.
pub fn emit<'c>(
    b: Builder<'c>,
    nest: &Nest<'c>,
    body: &Body<'c>,
    target: &LowerMemrefsOptions,
    refusal: Refusal,
) -> Result<(), String> {
    let Some(extents) = nest.extents.iter().map(|n| n.known()).collect::<Option<Vec<i64>>>() else {
        return Err(refusal.reason);
    };
    let mut inputs: Vec<Input> = (0..body.reduction_inputs).filter_map(|o| Input::of(nest, &extents, o)).collect();
    inputs.retain(|input| refusal.dims.iter().any(|dim| input.dims.contains(dim)));
    inputs.sort_by_key(|input| input.elements);
    let plans = |copied: &&[Input]| {
        let bases = copied.iter().map(|input| nest.operands[input.operand].access.base);
        planner::plan(b, &with(nest, copied, bases), body, target, &mut IndexVars::default()).is_ok()
    };
    // The smallest sufficient input, or all.
    let copied = inputs.chunks(1).chain([&inputs[..]]).find(plans).ok_or_else(|| refusal.reason.clone())?;
    nest.operands.iter().try_for_each(|o| Row::of(o.access.base).map(drop))?;
    let buffers: Vec<Val<'c>> = copied.iter().map(|input| input.copy(b, nest, target)).collect();
    super::emit(b, &with(nest, copied, buffers.iter().copied()), body, target)?;
    for buffer in buffers {
        b.op("memref.dealloc", &[buffer], &[], &[caller_frees(b)]);
    }
    Ok(())
}

/// An input that may be copied.
struct Input {
    operand: usize,
    /// For each dimension of the input the dimension of the nest, and its size.
    dims: Vec<usize>,
    sizes: Vec<i64>,
    elements: i64,
}

impl Input {
    /// The input, if each of its elements is read often enough.
    fn of(nest: &Nest, extents: &[i64], operand: usize) -> Option<Input> {
        let Operand { access, map, across } = &nest.operands[operand];
        let mut dims = Vec::new();
        for e in map {
            match e {
                Expr::Var(dim) if !dims.contains(dim) => dims.push(*dim),
                Expr::Const(_) => {}
                _ => return None,
            }
        }
        let sizes: Vec<i64> = dims.iter().map(|dim| extents[*dim]).collect();
        let product = |sizes: &[i64]| sizes.iter().try_fold(1i64, |all, n| all.checked_mul(*n));
        let elements = product(&sizes)?;
        let is_reused = product(extents)? / elements.max(1) >= contraction::REUSE;
        let is_whole = across.is_empty() && access.spread_buffer().is_none() && access.element_encoding.bits.is_none();
        (is_reused && is_whole).then_some(Input { operand, dims, sizes, elements })
    }

    /// The access to the copy in a buffer.
    fn read<'c>(&self, nest: &Nest<'c>, base: Val<'c>) -> Access<'c> {
        let mut stride = 1;
        let mut terms: Vec<Expr> = Vec::new();
        for (d, size) in self.sizes.iter().enumerate().rev() {
            terms.push(Expr::Var(d).times(stride));
            stride *= size;
        }
        Access {
            base,
            lowered: None,
            sizes: self.sizes.iter().map(|n| Size::Static(*n)).collect(),
            logical: vec![Expr::sum(terms)],
            symbols: Vec::new(),
            shape: vec![Some(self.elements)],
            element_encoding: ElementEncoding::whole(nest.operands[self.operand].access.element_encoding.element),
            strides: vec![Some(1)],
        }
    }

    /// Emits the copy.
    fn copy<'c>(&self, b: Builder<'c>, nest: &Nest<'c>, target: &LowerMemrefsOptions) -> Val<'c> {
        let Operand { access, map, .. } = &nest.operands[self.operand];
        let made = scratch(b, &Distance::fixed(self.elements), access.element_encoding.element, &[]);
        let own = |dim: &usize| self.dims.iter().position(|d| d == dim).map_or(Expr::Const(0), Expr::Var);
        let of_nest: Vec<Expr> = (0..nest.extents.len()).map(|dim| own(&dim)).collect();
        let from = Operand::new(access.clone(), map.iter().map(|e| e.substitute(&of_nest)).collect());
        let to = Operand::new(self.read(nest, made), (0..self.dims.len()).map(Expr::Var).collect());
        let sizes = self.sizes.iter().map(|n| Size::Static(*n)).collect();
        let nest = Nest {
            extents: sizes,
            operands: vec![from, to],
            outputs: 1,
            reduced_over_places: Vec::new(),
            repeats: true,
        };
        let source = vec![(access.base, Argument::Element(0))];
        if super::emit(b, &nest, &Body::simple(source, None), target).is_err() {
            kernel::emit(&nest, b, |inner| inner.store(1, inner.load(0)));
        }
        made
    }
}

/// The nest with these inputs read from copies in these buffers.
fn with<'c>(nest: &Nest<'c>, copied: &[Input], bases: impl Iterator<Item = Val<'c>>) -> Nest<'c> {
    let operand = |o: &Operand<'c>| Operand { access: o.access.clone(), map: o.map.clone(), across: o.across.clone() };
    let mut operands: Vec<Operand<'c>> = nest.operands.iter().map(operand).collect();
    for (input, base) in copied.iter().zip(bases) {
        let map = input.dims.iter().map(|dim| Expr::Var(*dim)).collect();
        operands[input.operand] = Operand::new(input.read(nest, base), map);
    }
    Nest { extents: nest.extents.clone(), operands, reduced_over_places: nest.reduced_over_places.clone(), ..*nest }
}
