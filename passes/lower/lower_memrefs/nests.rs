//! Operations that become nests of loops or vector code: structured operations, copies and conversions.

use super::padding_fills::Fill;
use super::state::Lowering;
use crate::buffers::lowered::{AnyLayout, LoweredMemRef};
use crate::kernel::access::{Access, Operand, Size};
use crate::kernel::body::{Argument, Body};
use crate::kernel::combiner::Combiner;
use crate::kernel::fusion::Described;
use crate::kernel::nest::{Nest, copy_nest};
use crate::kernel::places;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::Target;
use crate::{kernel, vectorize};
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Op, Shaped, Val};
use melior::ir::operation::OperationMutLike;
use melior::ir::{Attribute, BlockRef, Location, ValueLike};
use std::rc::Rc;
use tensor_layout::expr::Expr;

impl<'c> Lowering<'c> {
    pub(super) fn convert(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
        if ir::memref(result.r#type()).is_none() {
            return Ok(());
        }
        let to = self.buffers.get(result).cloned();
        if source.r#type() == result.r#type()
            && self.buffers.get(source).map(|l| &l.layout) == to.as_ref().map(|l| &l.layout)
        {
            self.replace(op, &[source]);
            return Ok(());
        }
        let from = self.buffers.access(source)?;
        let unknown = from.sizes.iter().filter(|n| n.known().is_none());
        let sizes: Vec<Val<'c>> = unknown.map(|n| n.value(b)).collect();
        let made = match to {
            Some(lowered) => {
                let made = lowered.allocate(b, "memref.alloc", &sizes, &[b.alignment()]);
                self.buffers.lowered.insert(ir::key(made), lowered);
                made
            }
            None => b.allocation(&sizes, result.r#type(), &[]),
        };
        let to = self.buffers.access(made)?;
        self.copy(b, from, to);
        self.replace(op, &[made]);
        Ok(())
    }

    fn buffer_copy(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let [from, to] = [0, 1].map(|k| self.buffers.access(ir::operands(op)[k]));
        kernel::emit(&copy_nest(from?, to?), b, |inner| inner.store(1, inner.load(0)));
        self.replace(op, &[]);
        Ok(())
    }

    /// Lowers a structured operation or a copy to a loop nest or vector code.
    pub(super) fn lower_structured(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        if self.options.vectorize != Target::None && self.try_fuse_or_vectorize(op)? {
            return Ok(());
        }
        self.emit_scalar(b, op)
    }

    /// Lowers a structured operation or a copy to scalar loops.
    pub(super) fn emit_scalar(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        self.with_origins(op, |lowering| match ir::name(op) {
            "memref.copy" => lowering.buffer_copy(b, op),
            _ => lowering.emit_structured_loops(b, op),
        })
    }

    /// Lowers a structured operation to a loop nest with its body inside.
    fn emit_structured_loops(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let Described { values, number, inputs, mut nest, body } = self.fusion().described(op)?;
        let body = body.ok_or("it has no body")?;
        let arguments = ir::arguments(body);
        let combined = self.split_reduction(b, &mut nest, body);
        if !is_copy(body, &nest) {
            self.relayout_inputs(b, &mut nest);
        }
        kernel::emit(&nest, b, |inner| {
            for (k, argument) in arguments.iter().enumerate() {
                match number[k] {
                    Some(n) if ir::is_used(*argument) => ir::replace_all_uses(*argument, inner.load(n)),
                    Some(_) => {}
                    None => ir::replace_all_uses(*argument, values[k]),
                }
            }
            for payload in ir::operations(body) {
                if ir::name(payload) == "linalg.yield" {
                    let stored = ir::operands(payload);
                    for (value, k) in stored.into_iter().zip(inputs..) {
                        inner.store(number[k].expect("outputs are buffers"), value);
                    }
                    continue;
                }
                let all = ir::all_operations(payload);
                let is_own =
                    |index: &Op<'c>| ir::name(*index) == "linalg.index" && ir::nearest_structured(*index) == Some(op);
                let indices: Vec<Op<'c>> = all.iter().copied().filter(is_own).collect();
                ir::move_before(payload, inner.b.before);
                all.into_iter().for_each(symbols_to_dims);
                for index in indices {
                    if let Some(dim) = ir::attribute(index, "dim").and_then(ir::integer) {
                        let value = inner.dim(Builder::before(index), dim as usize);
                        self.replace(index, &[value]);
                    }
                }
            }
        });
        if let Some((combiner, output)) = combined {
            combine(b, &nest, output, &combiner);
        }
        self.replace(op, &[]);
        Ok(())
    }

    /// Emits a copy of all elements.
    fn copy(&mut self, b: Builder<'c>, from: Access<'c>, to: Access<'c>) {
        let nest = copy_nest(from, to);
        if self.options.vectorize != Target::None {
            let source = (nest.operands[0].access.base, Argument::Element(0));
            match vectorize::emit(b, &nest, &Body::simple(vec![source], None), &self.options) {
                Ok(()) => return,
                Err(reason) => self.remarks.push(scalar_remark(b.location, &reason)),
            }
        }
        kernel::emit(&nest, b, |inner| inner.store(1, inner.load(0)));
    }

    /// Emits vector code for a structured operation or a copy: see *Rewrite* in `mod.rs`. Returns false for scalar loops.
    pub(super) fn try_fuse_or_vectorize(&mut self, op: Op<'c>) -> Result<bool, String> {
        let key = ir::op_key(op);
        if let Some(consumer) = self.fusion().consumer(op).filter(|_| !self.no_fusion.contains(&key)) {
            self.make_before_loads(op, consumer);
            let parts = self.fused_into.remove(&key).unwrap_or_default();
            self.fused_into.entry(ir::op_key(consumer)).or_default().extend(parts.into_iter().chain([op]));
            return Ok(true);
        }
        if self.waits_for_next(op) {
            self.waiting.push(op);
            return Ok(true);
        }
        self.in_one_pass(op)
    }

    /// Emits vector code for an operation with everything fused into it; returns false for scalar loops.
    pub(super) fn vectorize_with_fused(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<bool, String> {
        let key = ir::op_key(op);
        let parts = self.fused_into.get(&key).cloned().unwrap_or_default();
        let made: Result<(), String> = self.with_origins(op, |lowering| {
            lowering.kernel(b, op)?;
            parts.iter().chain([&op]).for_each(|part| lowering.replace(*part, &[]));
            Ok(())
        });
        self.fused_into.remove(&key);
        match made {
            Ok(()) => Ok(true),
            Err(reason) if parts.is_empty() => {
                self.remarks.push(scalar_remark(b.location, &reason));
                Ok(false)
            }
            Err(_) => {
                for part in parts {
                    self.no_fusion.insert(ir::op_key(part));
                    self.lower_structured(Builder::before(part), part)?;
                }
                self.no_fusion.insert(key);
                self.vectorize_with_fused(b, op)
            }
        }
    }

    /// Emits the kernel of an operation with everything fused into it, over whole tiles if possible.
    fn kernel(&mut self, b: Builder<'c>, op: Op<'c>) -> Result<(), String> {
        let (mut nest, body) = self.fusion().fused(op)?;
        let (mut widened, fills) = self.widened(op, &mut nest, &body);
        let bases: Vec<Val<'c>> = nest.operands.iter().map(|o| o.access.base).collect();
        match vectorize::emit(b, &nest, &body, &self.options) {
            Ok(()) => {
                widened.reasons.extend(fills.iter().map(Fill::said));
                self.fill_padding(fills);
                self.note_padding(op, &bases, widened);
                Ok(())
            }
            Err(reason) if widened.dims.is_empty() => Err(reason),
            Err(_) => {
                let (nest, body) = self.fusion().fused(op)?;
                vectorize::emit(b, &nest, &body, &self.options)
            }
        }
    }

    /// Splits a reduction among places, if an input is spread over axes that the output does not have and additions may
    /// be reordered: the nest then writes a buffer of partial results. Returns their combiner and the output.
    fn split_reduction(
        &mut self,
        b: Builder<'c>,
        nest: &mut Nest<'c>,
        body: BlockRef<'c, 'c>,
    ) -> Option<(Combiner<'c>, Operand<'c>)> {
        if !places::outputs_cover_places(nest) {
            return None;
        }
        let reduced_over_places = places::contraction(nest);
        let combiner = Combiner::of(body).filter(|combiner| combiner.reorders(&self.options))?;
        if reduced_over_places.is_empty() {
            return None;
        }
        // Partial sums may overflow although the whole does not.
        if ir::attribute(combiner.op, "overflowFlags").is_some() {
            let none = Attribute::parse(b.context(), "#arith.overflow<none>").expect("an attribute of arith");
            ir::edit(combiner.op).set_attribute("overflowFlags", none);
        }
        let output = nest.operands.last()?;
        let lowered = output.access.lowered.clone()?;
        let base = lowered.allocate(b, "memref.alloc", &[], &[b.alignment()]);
        self.buffers.lowered.insert(ir::key(base), lowered);
        let partial = Operand::new(Access { base, ..output.access.clone() }, output.map.clone());
        let sizes: Vec<Size<'c>> = output.access.sizes.clone();
        let identity = (0..sizes.len()).map(Expr::Var).collect();
        let whole = Operand::new(partial.access.clone(), identity);
        let neutral = b.constant(combiner.neutral);
        let fill =
            Nest { extents: sizes, operands: vec![whole], outputs: 1, reduced_over_places: Vec::new(), repeats: true };
        kernel::emit(&fill, b, |inner| inner.store(0, neutral));
        nest.reduced_over_places = reduced_over_places;
        let output = std::mem::replace(nest.operands.last_mut()?, partial);
        Some((combiner, output))
    }

    /// Copies inputs with elements that a place needs but does not hold into layouts in which it does.
    fn relayout_inputs(&mut self, b: Builder<'c>, nest: &mut Nest<'c>) {
        if !places::outputs_cover_places(nest) {
            return;
        }
        for (k, layout) in places::inputs_to_relayout(nest, b) {
            let Some(shaped) = ir::memref(nest.operands[k].access.base.r#type()) else { continue };
            let shape = nest.operands[k].access.sizes.iter().map(|n| n.known()).collect();
            let shaped = Shaped { shape, layout: None, ..shaped };
            // Without such a layout, each element is fetched on demand.
            let Ok(lowered) =
                LoweredMemRef::new(b.location, &shaped, &AnyLayout::Tensor(layout), &self.types.axes, self.types.form)
            else {
                continue;
            };
            let lowered = Rc::new(lowered);
            let made = lowered.allocate(b, "memref.alloc", &[], &[b.alignment()]);
            self.buffers.lowered.insert(ir::key(made), lowered);
            let Ok(to) = self.buffers.access(made) else { continue };
            self.copy(b, nest.operands[k].access.clone(), to.clone());
            nest.operands[k].access = to;
        }
    }
}

/// The remark with the reason why an operation becomes scalar loops although `vectorize` is set.
fn scalar_remark<'c>(location: Location<'c>, reason: &str) -> Diagnostic<'c> {
    Diagnostic::remark(location, format!("not vectorised: {reason}"))
}

/// Adds each place's partial results, the last operand of the nest, to an output.
fn combine<'c>(b: Builder<'c>, nest: &Nest<'c>, output: Operand<'c>, combiner: &Combiner<'c>) {
    let Some(partial) = nest.operands.last() else { return };
    let Some(spread_buffer) = partial.access.spread_buffer() else { return };
    let mut extents = output.access.sizes.clone();
    let identity: Vec<Expr> = (0..extents.len()).map(Expr::Var).collect();
    let mut across: Vec<(usize, usize)> = Vec::new();
    for part in &nest.reduced_over_places {
        if !across.iter().any(|known| known.0 == part.axis) {
            across.push((part.axis, extents.len()));
            extents.push(Size::Static(spread_buffer.places[part.axis]));
        }
    }
    let partial = Operand { access: partial.access.clone(), map: identity.clone(), across };
    let operands = vec![partial, Operand::new(output.access, identity)];
    let sums = Nest { extents, operands, outputs: 1, reduced_over_places: Vec::new(), repeats: true };
    kernel::emit(&sums, b, |inner| {
        let operands = [inner.load(1), inner.load(0)];
        let kept = b.attributes_of(combiner.op);
        let sum = inner.b.value(ir::name(combiner.op), &operands, operands[0].r#type(), &kept);
        inner.store(1, sum);
    });
}

/// Whether a structured operation only copies its input element by element.
fn is_copy(body: BlockRef, nest: &Nest) -> bool {
    let operations = ir::operations(body);
    let [end] = operations[..] else { return false };
    let same = nest.operands.windows(2).all(|pair| pair[0].map == pair[1].map);
    same && nest.operands.len() == 2
        && ir::operands(end).first().map(|v| ir::key(*v)) == ir::arguments(body).first().map(|v| ir::key(*v))
}

/// Turns the symbols of an affine map into dimensions: a loop variable is no symbol, unlike `linalg.index`.
fn symbols_to_dims(op: Op) {
    if !matches!(ir::name(op), "affine.apply" | "affine.max" | "affine.min") {
        return;
    }
    let Some(map) = ir::attribute(op, "map").and_then(ir::affine_map) else { return };
    if let (1.., Some(exprs)) = (map.symbol_count(), affine::exprs_of_map(map)) {
        let map = Builder::before(op).map(map.dim_count() + map.symbol_count(), &exprs, &|v| v);
        ir::edit(op).set_attribute("map", map);
    }
}
