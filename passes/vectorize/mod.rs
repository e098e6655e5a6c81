//! Vector code for loop nests.
//!
//! A kernel works on one block of elements after another: it loads the block of each operand as registers, rearranges
//! them so that all have the same elements in the same lanes, computes with whole registers, and rearranges and stores
//! the results. Full blocks and ragged ends are different code, with constant bounds and masks in each, but for sizes
//! known only at run time, where the ends have masks that are computed; padding is neither read nor written, unless the
//! nest goes through it ([`crate::kernel::padding`]). Reductions keep their results in registers for as long as the loops
//! over what is reduced run.
//!
//! | file | what it does |
//! |---|---|
//! | `distance` | distances and addresses, of which parts are known only at run time |
//! | `registers` | blocks in registers, and how they are rearranged |
//! | `plan`, `planner`, `contraction` | which elements at once, in which order |
//! | `linear` | addresses as sums |
//! | `in_turn` | dimensions in which operands are cut differently |
//! | `copied` | contractions whose operands are cut differently |
//! | `prefetch` | what is loaded into the cache ahead |
//! | `rows` | buffers as views of one dimension |
//! | `kernel` | the loops |
//! | `rest`, `there` | which elements are there, at the ends |
//! | `compute`, `block`, `sums` | the code inside them |
//! | `division` | quotients and remainders of integers |
//! | `extremes` | largest and least numbers |
//! | `bools` | elements of one bit, each in a byte |
//! | `bytes` | bytes that hold several elements |

mod block;
mod bools;
mod bytes;
mod compute;
mod contraction;
mod copied;
mod distance;
mod division;
mod extremes;
mod in_turn;
mod kernel;
mod linear;
mod plan;
mod planner;
mod prefetch;
mod registers;
mod rest;
mod rows;
mod sums;
mod there;

use crate::buffers::index::IndexVars;
use crate::kernel::access::Size;
use crate::kernel::body::{Argument, Body};
use crate::kernel::nest::Nest;
use crate::options::Options;
use distance::Distance;
use kernel::Kernel;
use layout_ir::{self as ir, Builder, Val};
use melior::ir::ValueLike;
use plan::RunTime;
use rest::{Rest, variable};
use rows::{Row, caller_frees, scratch};
use std::collections::HashMap;
use tensor_layout::expr::Expr;

/// Makes vector code for a nest before `b`; the error is the reason why there can be none, and nothing was made.
pub fn emit<'c>(b: Builder<'c>, nest: &Nest<'c>, body: &Body<'c>, target: &Options) -> Result<(), String> {
    if nest.extents.iter().any(|n| n.known() == Some(0)) {
        return Ok(());
    }
    if let Some(reason) = nest.operands.iter().find_map(|o| o.access.only_scalar()) {
        return Err(reason);
    }
    if nest.operands.iter().any(|o| o.access.packing.held.elements > 1) {
        return bytes::emit(b, nest, body, target);
    }
    let mut vars = IndexVars::default();
    let mut plan = match planner::plan(b, nest, body, target, &mut vars) {
        Ok(plan) => plan,
        Err(refusal) if body.initial.is_some() => return copied::emit(b, nest, body, target, refusal),
        Err(refusal) => return in_turn::emit(b, nest, body, target, refusal),
    };
    let rows = nest.operands.iter().map(|o| Row::of(o.access.base)).collect::<Result<Vec<_>, _>>()?;
    for (operand, row) in rows.iter().enumerate().filter(|(_, row)| row.offset != Some(0)) {
        let offset = row.offset.map(Distance::fixed).unwrap_or_else(|| {
            plan.values.push(RunTime::Offset { operand });
            Distance::value(plan.values.len() - 1, 0)
        });
        let packed = plan.packed.iter_mut().find(|packed| packed.operand == operand);
        let start = packed.map_or(&mut plan.starts[operand], |packed| &mut packed.plan.starts[0]);
        start.advance(&Expr::Const(1), &offset);
    }
    let sizes: Vec<Val<'c>> = if plan.values.is_empty() && nest.extents.iter().all(|n| n.known().is_some()) {
        Vec::new()
    } else {
        nest.extents.iter().map(|n| n.value(b)).collect()
    };
    let values = rows::values(b, &plan, nest, &sizes);
    let rest = |(dim, n): (usize, &Size<'c>)| match n.known() {
        Some(n) => Rest::Known(n),
        None => Rest::Open { var: variable(&mut vars, sizes[dim]), below: i64::MAX },
    };
    let rests: Vec<Rest> = nest.extents.iter().enumerate().map(rest).collect();
    let mut buffers: Vec<Val<'c>> = Vec::new();
    for (operand, row) in nest.operands.iter().zip(rows) {
        buffers.push(bools::as_bytes(b, row.view(b, operand.access.base)));
    }
    let mut done = HashMap::new();
    let mut copies = Vec::new();
    for packed in std::mem::take(&mut plan.packed) {
        let from = buffers[packed.operand];
        let widening = body.widenings().into_iter().find(|(operand, _)| *operand == packed.operand).map(|w| w.1);
        let element = match widening {
            Some(op) => ir::result(op, 0).r#type(),
            None => ir::memref(from.r#type()).expect("operands are memrefs").element,
        };
        let to = scratch(b, &packed.size, element, &values);
        done.extend(widening.map(|op| (ir::op_key(op), packed.operand)));
        let copy = Body::simple(vec![(from, Argument::Element(0))], None);
        let kernel = Kernel::new(&copy, target, vec![from, to], 1, packed.plan, vars.clone());
        Kernel { widening, values: values.clone(), ..kernel }.emit(b, &rests);
        buffers[packed.operand] = to;
        copies.push(to);
    }
    let output = nest.operands.len() - nest.outputs;
    let kernel = Kernel::new(body, target, buffers, output, plan, vars);
    // What is only moved stays in bytes.
    let computes = !body.only_moves();
    let bools = nest.operands.iter().map(|o| computes && bools::is_bool(o.access.packing.element)).collect();
    Kernel { done, values, bools, ..kernel }.emit(b, &rests);
    for copy in copies {
        b.op("memref.dealloc", &[copy], &[], &[caller_frees(b)]);
    }
    Ok(())
}
