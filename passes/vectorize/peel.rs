//! Kernels with misaligned operand cuts along some dimensions: one step of these after another.
//!
//! With an operand in tiles of 8 rows, and another that is a slice of such a buffer from row 1 on, row `i` of the
//! latter is in tile `(i + 1) floordiv 8`: no sum over the parts of `i`. In a loop over the rows, `i` is a value, and
//! so is its tile; each step is a kernel for the other dimensions.

use super::linear::Refusal;
use super::planner;
use super::rows::Row;
use crate::buffers::index::IndexVars;
use crate::kernel::access::{Access, Operand, Size};
use crate::kernel::body::Body;
use crate::kernel::nest::Nest;
use crate::pass::options::LowerMemrefsOptions;
use layout_ir::{self as ir, Builder, Val};
use melior::ir::Type;
use tensor_layout::expr::Expr;

/// Emits vector code for each step of the dimensions that caused a refusal. If this is impossible, returns the reason
/// and emits nothing.
pub fn emit<'c>(
    b: Builder<'c>,
    nest: &Nest<'c>,
    body: &Body<'c>,
    target: &LowerMemrefsOptions,
    refusal: Refusal,
) -> Result<(), String> {
    let Refusal { reason, mut dims } = refusal;
    // An index in the body counts over the whole nest.
    if dims.is_empty() || body.has_index() {
        return Err(reason);
    }
    // A plan accepts any value here.
    let any = nest.operands[0].access.base;
    loop {
        let known = dims.iter().all(|dim| nest.extents[*dim].known().is_some());
        if !known || dims.len() == nest.extents.len() {
            return Err(reason);
        }
        let step = at(nest, &dims, &vec![any; dims.len()]);
        match planner::plan(b, &step, body, target, &mut IndexVars::default()) {
            Ok(_) => break,
            Err(more) if more.dims.iter().any(|dim| !dims.contains(dim)) => dims.extend(more.dims),
            Err(_) => return Err(reason),
        }
        dims.sort_unstable();
        dims.dedup();
    }
    nest.operands.iter().try_for_each(|o| Row::of(o.access.base).map(drop))?;
    let (mut inside, mut values) = (b, Vec::new());
    for dim in &dims {
        let index = Type::index(b.context());
        let bounds = [inside.index(0), nest.extents[*dim].value(inside), inside.index(1)];
        let (made, end) = inside.with_body("scf.for", &bounds, &[], &[], &[index], "scf.yield");
        values.push(ir::arguments(ir::blocks(made)[0])[0]);
        inside = inside.at(end);
    }
    super::emit(inside, &at(nest, &dims, &values), body, target)
}

/// The nest at these values of some dimensions, each with one step.
fn at<'c>(nest: &Nest<'c>, dims: &[usize], values: &[Val<'c>]) -> Nest<'c> {
    let mut extents = nest.extents.clone();
    dims.iter().for_each(|dim| extents[*dim] = Size::Static(1));
    let operand = |operand: &Operand<'c>| {
        let Access { logical, symbols, .. } = &operand.access;
        // The view's index is over the nest: variables are its dimensions, the symbols, and the values.
        let (first, after) = (extents.len(), extents.len() + symbols.len());
        let of_nest = |d: usize| match dims.iter().position(|dim| *dim == d) {
            Some(k) => Expr::Var(after + k),
            None => Expr::Var(d),
        };
        let of_nest: Vec<Expr> = (0..first).map(of_nest).collect();
        let view = operand.map.iter().map(|e| e.substitute(&of_nest));
        let by: Vec<Expr> = view.chain((first..after).map(Expr::Var)).collect();
        let logical = logical.iter().map(|e| e.substitute(&by)).collect();
        let symbols = symbols.iter().chain(values).copied().collect();
        let access = Access { sizes: extents.clone(), logical, symbols, ..operand.access.clone() };
        Operand::new(access, (0..first).map(Expr::Var).collect())
    };
    let operands = nest.operands.iter().map(operand).collect();
    Nest { extents: extents.clone(), operands, reduced_over_places: Vec::new(), ..*nest }
}
