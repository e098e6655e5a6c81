//! A kernel with a plan, before emission.

use super::distance::Distance;
use super::elements::Narrow;
use super::kernel::Kernel;
use super::linear::Refusal;
use super::narrow;
use super::plan::{RunTime, VectorPlan};
use super::planner;
use super::rows::{self, Row, caller_frees, scratch};
use super::tail::{Tail, variable};
use crate::buffers::index::IndexVars;
use crate::kernel::access::Size;
use crate::kernel::body::{Argument, Body};
use crate::kernel::nest::Nest;
use crate::pass::options::LowerMemrefsOptions;
use layout_ir::{self as ir, Builder, Val};
use melior::ir::ValueLike;
use std::collections::HashMap;
use tensor_layout::expr::Expr;

/// A nest that can become a kernel.
pub struct PlannedKernel<'a, 'c> {
    pub nest: &'a Nest<'c>,
    pub plan: VectorPlan,
    body: &'a Body<'c>,
    target: &'a LowerMemrefsOptions,
    vars: IndexVars<'c>,
    /// The views of the operands' buffers.
    rows: Vec<Row<'c>>,
}

impl<'a, 'c> PlannedKernel<'a, 'c> {
    /// Plans a kernel; the error is the reason why there is none.
    pub fn of(
        b: Builder<'c>,
        nest: &'a Nest<'c>,
        body: &'a Body<'c>,
        target: &'a LowerMemrefsOptions,
    ) -> Result<Self, Refusal> {
        let mut vars = IndexVars::default();
        let mut plan = planner::plan(b, nest, body, target, &mut vars)?;
        // A refusal for a buffer names no dimension.
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
        Ok(PlannedKernel { nest, plan, body, target, vars, rows })
    }

    /// Emits the kernel.
    pub fn emit(self, b: Builder<'c>) {
        let BegunKernel { mut kernel, rests, copies } = self.begin(b, &HashMap::new());
        kernel.emit(b, &rests);
        for copy in copies {
            b.op("memref.dealloc", &[copy], &[], &[caller_frees(b)]);
        }
    }

    /// Emits the code before the kernel's loops, with other buffers instead of some operands'.
    pub fn begin(mut self, b: Builder<'c>, instead: &HashMap<usize, Val<'c>>) -> BegunKernel<'a, 'c> {
        let PlannedKernel { nest, body, target, .. } = self;
        let mut vars = self.vars;
        let sizes: Vec<Val<'c>> = if self.plan.values.is_empty() && nest.extents.iter().all(|n| n.known().is_some()) {
            Vec::new()
        } else {
            nest.extents.iter().map(|n| n.value(b)).collect()
        };
        let values = rows::values(b, &self.plan, nest, &sizes);
        let rest = |(dim, n): (usize, &Size<'c>)| match n.known() {
            Some(n) => Tail::Known(n),
            None => Tail::Open { var: variable(&mut vars, sizes[dim]), below: i64::MAX },
        };
        let rests: Vec<Tail> = nest.extents.iter().enumerate().map(rest).collect();
        let mut buffers: Vec<Val<'c>> = Vec::new();
        for (k, (operand, row)) in nest.operands.iter().zip(self.rows).enumerate() {
            let buffer = instead.get(&k).copied().unwrap_or_else(|| row.view(b, operand.access.base));
            buffers.push(narrow::as_bytes(b, buffer));
        }
        let mut done = HashMap::new();
        let mut copies = Vec::new();
        for packed in std::mem::take(&mut self.plan.packed) {
            let from = buffers[packed.operand];
            let widening = planner::widenings(nest, body).find(|(operand, _)| *operand == packed.operand).map(|w| w.1);
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
        let kernel = Kernel::new(body, target, buffers, output, self.plan, vars);
        let narrow = Narrow::of_operands(nest, body);
        BegunKernel { kernel: Kernel { done, values, narrow, ..kernel }, rests, copies }
    }
}

/// A kernel before its loops are emitted.
pub struct BegunKernel<'a, 'c> {
    pub kernel: Kernel<'a, 'c>,
    /// The sizes of its dimensions.
    pub rests: Vec<Tail>,
    /// Copies of its inputs, freed after it.
    copies: Vec<Val<'c>>,
}
