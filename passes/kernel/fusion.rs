//! Decides which structured operations become one kernel.
//!
//! A buffer that only the next operation reads need not be stored: its values stay in registers. Elementwise operations
//! and copies are fused into the operation that reads their result, if it reads each element once or if they only
//! convert the element. The initial value of a reduction or contraction, and elementwise operations on its result, are
//! fused into it. As everywhere in MLIR, different buffers are assumed not to overlap.

use crate::buffers::operations::{NO_ACCESS, SAME_BUFFER, WIDENS, is};
use crate::kernel::access::{Buffers, Operand, Size, is_slice_of_pending};
use crate::kernel::body::{Argument, Body};
use crate::kernel::nest::{Nest, copy_nest};
use layout_dialect::affine;
use layout_ir::{self as ir, Op, Val};
use melior::ir::{AffineMap, Attribute, BlockRef, ValueLike};
use std::collections::HashMap;
use std::rc::Rc;
use tensor_layout::expr::Expr;

/// A structured operation on buffers, taken apart.
pub struct Described<'c> {
    /// The operands that it reads, then those that it writes.
    pub values: Vec<Val<'c>>,
    /// For each operand its number in the nest, if it is a buffer that is accessed.
    pub number: Vec<Option<usize>>,
    /// How many are read.
    pub inputs: usize,
    /// The loop nest with its accesses.
    pub nest: Nest<'c>,
    /// The body; `None` for a copy.
    pub body: Option<BlockRef<'c, 'c>>,
}

impl<'c> Described<'c> {
    /// The body's arguments with their sources, of this operation alone.
    fn arguments(&self) -> Vec<(Val<'c>, Argument<'c>)> {
        let argument = |k: usize| match self.number[k] {
            Some(n) => Argument::Element(n),
            None => Argument::Value(self.values[k]),
        };
        (0..self.values.len()).map(|k| (self.argument(k), argument(k))).collect()
    }

    /// An argument of the body; for a copy, the operand.
    fn argument(&self, k: usize) -> Val<'c> {
        self.body.map_or(self.values[k], |body| ir::arguments(body)[k])
    }

    /// The body of the operation alone.
    pub fn body(&self) -> Body<'c> {
        let mut arguments = self.arguments();
        let reduction_inputs = self.nest.operands.len() - self.nest.outputs;
        if self.body.is_none() {
            arguments.truncate(1);
        }
        let mut initial = None;
        if self.reduces() {
            for (_, from) in arguments.iter_mut().skip(self.inputs) {
                initial = Some(std::mem::replace(from, Argument::Accumulator));
            }
        }
        Body { initial, reduction_inputs, ..Body::simple(arguments, self.body) }
    }

    fn map(&self, k: usize) -> Option<&[Expr]> {
        Some(&self.nest.operands[self.number[k]?].map)
    }

    fn outputs(&self) -> std::ops::Range<usize> {
        self.inputs..self.values.len()
    }

    /// The dimensions of an output, in its order, if its map is a list of different dimensions.
    fn output_dims(&self) -> Option<Vec<usize>> {
        variables(self.map(self.inputs)?)
    }

    /// Whether some dimension is not in the first output's map.
    fn reduces(&self) -> bool {
        let dims = self.nest.extents.len();
        self.map(self.inputs).is_some_and(|map| (0..dims).any(|d| !map.iter().any(|e| uses(e, d))))
    }

    fn has_index(&self) -> bool {
        self.body.is_some_and(|body| ir::operations(body).iter().any(|op| ir::name(*op) == "linalg.index"))
    }

    /// Whether the body only copies or converts.
    fn converts(&self) -> bool {
        let Some(body) = self.body else { return true };
        let operations = ir::operations(body);
        let conversion =
            |op: &Op| is(ir::name(*op), WIDENS) || matches!(ir::name(*op), "linalg.yield" | "arith.truncf");
        operations.len() <= 2 && operations.iter().all(conversion)
    }
}

/// The memory that a buffer is in. Two different bases do not overlap.
#[derive(Clone, Copy, PartialEq)]
pub enum Base<'c> {
    /// An allocation, or an argument of a function.
    Value(usize),
    /// The global of this name.
    Global(Attribute<'c>),
}

impl<'c> Base<'c> {
    /// The allocation, argument or global that a buffer is or views; `None` if it could be any.
    pub fn of(mut buffer: Val<'c>) -> Option<Base<'c>> {
        while let Some(op) = ir::defining_op(buffer) {
            match ir::name(op) {
                "memref.alloc" | "memref.alloca" => return Some(Base::Value(ir::key(buffer))),
                "memref.get_global" => return ir::attribute(op, "name").map(Base::Global),
                name if is(name, SAME_BUFFER) => buffer = ir::operands(op)[0],
                _ => return None,
            }
        }
        // A loop-carried or branch value may be any buffer; an argument of a function is a buffer of its own.
        let (owner, number) = ir::block_argument(buffer)?;
        let own = *ir::arguments(*ir::blocks(owner).first()?).get(number)?;
        let is_own = ir::name(owner) == "func.func" && ir::key(own) == ir::key(buffer);
        is_own.then(|| Base::Value(ir::key(buffer)))
    }
}

/// The most operations that are fused into one.
const MAX_FUSED: usize = 16;

/// Whether an expression has a variable.
pub(super) fn uses(e: &Expr, dim: usize) -> bool {
    let mut found = false;
    e.for_each_var(&mut |v| found |= v == dim);
    found
}

/// The variables of the expressions, if all are variables and different.
fn variables(exprs: &[Expr]) -> Option<Vec<usize>> {
    let variable = |e: &Expr| if let Expr::Var(v) = e { Some(*v) } else { None };
    let variables: Vec<usize> = exprs.iter().map(variable).collect::<Option<_>>()?;
    (0..variables.len()).all(|k| !variables[..k].contains(&variables[k])).then_some(variables)
}

/// Operations that do not access memory, and may be between operations that are fused.
fn does_not_access(op: Op) -> bool {
    is(ir::name(op), NO_ACCESS)
}

/// The input of the fusion decision.
pub struct Fusion<'a, 'c> {
    /// The tiled buffers.
    pub buffers: &'a Buffers<'c>,
    /// The indexing maps of structured operations.
    pub maps: &'a HashMap<usize, Vec<AffineMap<'c>>>,
    /// Operations that are fused into the one with this key, in order.
    pub fused_into: &'a HashMap<usize, Vec<Op<'c>>>,
}

impl<'c> Fusion<'_, 'c> {
    /// Takes a structured operation, or a copy, apart.
    pub fn described(&self, op: Op<'c>) -> Result<Described<'c>, String> {
        let values = ir::operands(op);
        if ir::name(op) == "memref.copy" {
            let nest = copy_nest(self.buffers.access(values[0])?, self.buffers.access(values[1])?);
            return Ok(Described { values, number: vec![Some(0), Some(1)], inputs: 1, nest, body: None });
        }
        let maps: &[AffineMap<'c>] = self.maps.get(&ir::op_key(op)).ok_or("it is not a structured operation")?;
        let body = ir::blocks(op).first().copied().ok_or("it has no body")?;
        let arguments = ir::arguments(body);
        // The operands that are written come last, one for each value that the body yields.
        let written = ir::operations(body).last().map_or(0, |end| ir::operands(*end).len());
        let inputs = values.len().saturating_sub(written);
        if maps.len() != values.len() || arguments.len() != values.len() || !ir::results(op).is_empty() {
            return Err("it is not a structured operation on buffers".into());
        }
        let dims = maps.first().map_or(0, |m| m.dim_count());
        let mut extents: Vec<Option<Size<'c>>> = vec![None; dims];
        let mut operands = Vec::new();
        let mut number = vec![None; values.len()];
        let mut outputs = 0;
        for (k, (value, map)) in values.iter().zip(maps).enumerate() {
            if ir::memref(value.r#type()).is_none() {
                continue;
            }
            let map = affine::exprs_of_map(*map).ok_or("an indexing map is not affine")?;
            let access = self.buffers.access(*value)?;
            for (e, size) in map.iter().zip(&access.sizes) {
                if let Expr::Var(d) = e
                    && extents[*d].and_then(Size::known).is_none()
                {
                    extents[*d] = Some(*size);
                }
            }
            // An operand used only for its sizes, such as a window's, is not read.
            if k < inputs && !ir::is_used(arguments[k]) {
                continue;
            }
            number[k] = Some(operands.len());
            outputs += usize::from(k >= inputs);
            operands.push(Operand::new(access, map));
        }
        let extents = extents.into_iter().collect::<Option<Vec<_>>>().ok_or("no operand has the size of a loop")?;
        let repeats = ir::operations(body)
            .into_iter()
            .all(|op| ir::blocks(op).is_empty() && !ir::operands(op).iter().any(|v| ir::memref(v.r#type()).is_some()));
        let nest = Nest { extents, operands, outputs, reduced_over_places: Vec::new(), repeats };
        Ok(Described { values, number, inputs, nest, body: Some(body) })
    }

    /// Whether an operation can be part of a kernel with others.
    fn is_plain(&self, d: &Described<'c>) -> bool {
        d.nest.extents.iter().all(|n| n.known() != Some(0))
            && d.nest.operands.iter().all(|o| o.access.spread_buffer().is_none())
            && d.number[d.inputs..].iter().all(Option::is_some)
            && d.outputs().all(|k| d.map(k).is_some_and(|map| variables(map).is_some()))
    }

    /// The operation that this one is fused into, if any.
    pub fn consumer(&self, op: Op<'c>) -> Option<Op<'c>> {
        let first = self.described(op).ok().filter(|d| self.is_plain(d) && !d.has_index() && d.outputs().len() == 1)?;
        let written = self.base(&first, first.inputs);
        // A body after a reduction keeps lanes from the reduced operand, so no loads are skipped for it.
        let is_another = |base| !first.reduces() && written.is_some_and(|written| written != base);
        let next = self.next_access(op, &is_another)?;
        let then = self.described(next).ok().filter(|d| self.is_plain(d))?;
        let through = first.values[first.inputs];
        let parts = self.fused_into.get(&ir::op_key(op)).into_iter().flatten();
        let parts: Vec<Described<'c>> = parts.filter_map(|op| self.described(*op).ok()).collect();
        let reduced = first.reduces() || parts.iter().any(Described::reduces);
        let converts = first.converts() && parts.iter().all(Described::converts);
        let fuses = match (reduced, then.reduces()) {
            // The initial value of a reduction: a fill of its output, which it does not read.
            (false, true) if ir::key(then.values[then.inputs]) == ir::key(through) => {
                return (self.is_fill(&first) && !reads(&then, through) && then.outputs().len() == 1).then_some(next);
            }
            (false, _) => self.is_made(&first) && (converts || self.reads_once(&then, through)),
            // All its reads use one map, or the reduction would be computed for each.
            (true, false) => self.is_made(&first) && self.reads_once(&then, through) && reads_alike(&then, through),
            (true, true) => false,
        };
        // The value is computed for each operand that reads it, with everything fused into it.
        let reading = (0..then.inputs).filter(|k| ir::key(then.values[*k]) == ir::key(through)).count();
        let fuses = fuses && parts.len() < MAX_FUSED && (reading == 1 || first.reduces() || parts.is_empty());
        // A buffer that an operation in between reads must not be written there.
        let written: Vec<Option<Base<'c>>> = then.outputs().map(|k| self.base(&then, k)).collect();
        let disturbs = |d: &Described<'c>, k: usize| {
            let base = self.base(d, k);
            base.is_none() || written.iter().any(|other| other.is_none() || *other == base)
        };
        let disturbed = parts.iter().chain([&first]).any(|d| {
            let own = ir::key(d.values[d.inputs]);
            (0..d.inputs).any(|k| d.number[k].is_some() && ir::key(d.values[k]) != own && disturbs(d, k))
        });
        let fits = fuses && reads(&then, through) && !disturbed && !is_slice_of_pending(through);
        (fits && self.is_local(through, op, next)).then_some(next)
    }

    /// The next operation that accesses memory; skips loads of buffers for which `is_another` holds.
    pub fn next_access(&self, op: Op<'c>, is_another: &dyn Fn(Base<'c>) -> bool) -> Option<Op<'c>> {
        let loads_another =
            |op: Op<'c>| ir::name(op) == "memref.load" && Base::of(ir::operands(op)[0]).is_some_and(is_another);
        let mut next = ir::next(op)?;
        while does_not_access(next) || loads_another(next) {
            next = ir::next(next)?;
        }
        Some(next)
    }

    /// The buffers that an operation writes; `None` if one could be any.
    pub fn written(&self, op: Op<'c>) -> Option<Vec<Base<'c>>> {
        let d = self.described(op).ok()?;
        d.outputs().map(|k| self.base(&d, k)).collect()
    }

    /// The buffer that an operand views; `None` if it could be any.
    fn base(&self, d: &Described<'c>, k: usize) -> Option<Base<'c>> {
        Base::of(d.nest.operands[d.number[k]?].access.base)
    }

    /// Whether an operation computes each element of its output once, without reading the old contents.
    fn is_made(&self, d: &Described<'c>) -> bool {
        let Some(dims) = d.output_dims() else { return false };
        let whole = d.nest.operands.last().is_some_and(|o| o.access.is_whole());
        let rewrites = d.body.is_some_and(|body| ir::is_used(ir::arguments(body)[d.inputs]));
        whole && (d.reduces() || dims.len() == d.nest.extents.len() && !rewrites)
    }

    fn is_fill(&self, d: &Described<'c>) -> bool {
        let yields_input = d.body.is_some_and(|body| match ir::operations(body)[..] {
            [end] => ir::operands(end).iter().map(|v| ir::key(*v)).eq([ir::key(ir::arguments(body)[0])]),
            _ => false,
        });
        yields_input && d.inputs == 1 && d.number[0].is_none() && d.nest.operands[0].access.is_whole()
    }

    /// Whether an operation reads each element of a buffer at most once.
    fn reads_once(&self, d: &Described<'c>, v: Val<'c>) -> bool {
        let mut reading = (0..d.inputs).filter(|k| ir::key(d.values[*k]) == ir::key(v));
        reading.all(|k| d.map(k).and_then(variables).is_some_and(|dims| dims.len() == d.nest.extents.len()))
    }

    /// Whether only these operations, and those before them in their kernel, use a buffer.
    fn is_local(&self, v: Val<'c>, op: Op<'c>, next: Op<'c>) -> bool {
        let allocated = |mut v: Val<'c>| loop {
            let Some(op) = ir::defining_op(v) else { return false };
            match ir::name(op) {
                "memref.alloc" => return true,
                "memref.transpose" | "memref.reinterpret_cast" if ir::uses(ir::operands(op)[0]).len() == 1 => {
                    v = ir::operands(op)[0];
                }
                _ => return false,
            }
        };
        let fused_into = self.fused_into.get(&ir::op_key(op));
        let known = |user: Op<'c>| {
            [op, next].iter().chain(fused_into.into_iter().flatten()).any(|k| ir::op_key(*k) == ir::op_key(user))
        };
        allocated(v) && ir::uses(v).iter().all(|(user, _)| known(*user) || ir::name(*user) == "memref.dealloc")
    }

    /// The nest and body of an operation with everything fused into it.
    pub fn fused(&self, op: Op<'c>) -> Result<(Nest<'c>, Body<'c>), String> {
        let last = self.described(op)?;
        let parts = self.fused_into.get(&ir::op_key(op)).into_iter().flatten();
        let parts: Vec<Described<'c>> = parts.map(|op| self.described(*op)).collect::<Result<_, _>>()?;
        if parts.is_empty() {
            let body = last.body();
            return Ok((last.nest, body));
        }
        let reduction = [&last].into_iter().chain(parts.iter().rev()).find(|d| d.reduces());
        let dims: Vec<Expr> = (0..last.nest.extents.len()).map(Expr::Var).collect();
        let mut fusing = Fusing { parts: &parts, extents: last.nest.extents.clone(), operands: Vec::new() };
        let writes = |d: &Described<'c>| ir::key(d.values[d.inputs]);
        let (mut body, reduction_inputs) = match reduction {
            None => (fusing.body(&last, &dims, last.inputs), 0),
            Some(d) => {
                let own = if std::ptr::eq(d, &last) { dims.clone() } else { fusing.dims_of(d, &last, &dims)? };
                let mut body = fusing.body(d, &own, d.inputs);
                let reduction_inputs = fusing.operands.len();
                body.arguments.push((d.argument(d.inputs), Argument::Accumulator));
                let fill = parts.iter().find(|p| writes(p) == writes(d) && !std::ptr::eq(*p, d) && self.is_fill(p));
                body.initial = match fill {
                    Some(fill) => Some(Argument::Value(fill.values[0])),
                    None if std::ptr::eq(d, &last) => None,
                    None => Some(fusing.operand(d, d.inputs, &own)),
                };
                if !std::ptr::eq(d, &last) {
                    body.epilogue = Some(Rc::new(fusing.body(&last, &dims, last.inputs)));
                }
                (body, reduction_inputs)
            }
        };
        let first = fusing.operands.len();
        let mut outputs = Vec::new();
        for k in last.outputs() {
            outputs.push((last.argument(k), fusing.operand(&last, k, &dims)));
        }
        let whole = reduction.is_some_and(|d| std::ptr::eq(d, &last));
        if whole {
            body.initial = body.initial.or(Some(Argument::Element(first)));
        } else if let Some(then) = body.epilogue.as_mut().and_then(Rc::get_mut) {
            then.arguments.extend(outputs);
        } else if body.block.is_some() {
            body.arguments.extend(outputs);
        }
        body.reduction_inputs = reduction_inputs;
        let Fusing { extents, operands, .. } = fusing;
        let outputs = operands.len() - first;
        Ok((Nest { extents, operands, outputs, reduced_over_places: Vec::new(), repeats: true }, body))
    }
}

/// Whether all reads of a buffer by an operation use the same map.
fn reads_alike<'c>(d: &Described<'c>, v: Val<'c>) -> bool {
    let mut maps = (0..d.inputs).filter(|k| ir::key(d.values[*k]) == ir::key(v)).map(|k| d.map(k));
    let first = maps.next();
    maps.all(|map| Some(map) == first)
}

fn reads<'c>(d: &Described<'c>, v: Val<'c>) -> bool {
    (0..d.inputs).any(|k| ir::key(d.values[k]) == ir::key(v))
}

/// A kernel of several operations under construction.
struct Fusing<'a, 'c> {
    /// The operations fused into the last one, in program order.
    parts: &'a [Described<'c>],
    extents: Vec<Size<'c>>,
    operands: Vec<Operand<'c>>,
}

impl<'c> Fusing<'_, 'c> {
    /// Adds a buffer of an operation. `dims` maps the operation's dimensions to the kernel's.
    fn operand(&mut self, d: &Described<'c>, k: usize, dims: &[Expr]) -> Argument<'c> {
        let operand = &d.nest.operands[d.number[k].expect("a buffer")];
        let map = operand.map.iter().map(|e| e.substitute(dims)).collect();
        self.operands.push(Operand::new(operand.access.clone(), map));
        Argument::Element(self.operands.len() - 1)
    }

    /// The body of an operation, with everything fused into its first `inputs` operands. `dims` maps its dimensions to
    /// the kernel's.
    fn body(&mut self, d: &Described<'c>, dims: &[Expr], inputs: usize) -> Body<'c> {
        let mut arguments = Vec::new();
        for k in 0..inputs {
            let (value, parts) = (d.values[k], self.parts);
            let maker = parts.iter().rfind(|p| {
                !std::ptr::eq(*p, d) && d.number[k].is_some() && ir::key(p.values[p.inputs]) == ir::key(value)
            });
            let from = match (d.number[k], maker) {
                (None, _) => Argument::Value(value),
                (_, None) => self.operand(d, k, dims),
                (_, Some(maker)) if maker.reduces() => Argument::Accumulator,
                (_, Some(maker)) => {
                    let index: Vec<Expr> = d.map(k).unwrap_or_default().iter().map(|e| e.substitute(dims)).collect();
                    let own = maker.output_dims().expect("a part writes its whole output");
                    let mut of = vec![Expr::Const(0); own.len()];
                    own.iter().zip(index).for_each(|(dim, e)| of[*dim] = e);
                    Argument::Fused(Rc::new(self.body(maker, &of, maker.inputs)))
                }
            };
            arguments.push((d.argument(k), from));
        }
        Body::simple(arguments, d.body)
    }

    /// The kernel dimensions of a fused reduction: those of its output, connected through elementwise operations, and
    /// new ones for its reduced dimensions.
    fn dims_of(&mut self, d: &Described<'c>, last: &Described<'c>, dims: &[Expr]) -> Result<Vec<Expr>, String> {
        let index = self.index_of(d, last, dims).ok_or("its results do not reach the last operation")?;
        let own = d.output_dims().ok_or("its results are not in the order of its loops")?;
        let mut of: Vec<Option<Expr>> = vec![None; d.nest.extents.len()];
        own.iter().zip(index).for_each(|(dim, e)| of[*dim] = Some(e));
        let mut made = Vec::new();
        for (dim, e) in of.into_iter().enumerate() {
            made.push(e.unwrap_or_else(|| {
                self.extents.push(d.nest.extents[dim]);
                Expr::Var(self.extents.len() - 1)
            }));
        }
        Ok(made)
    }

    /// The index at which an operation reads a reduction's output, itself or through others.
    fn index_of(&self, d: &Described<'c>, reader: &Described<'c>, dims: &[Expr]) -> Option<Vec<Expr>> {
        for k in (0..reader.inputs).filter(|k| reader.number[*k].is_some()) {
            let index = || reader.map(k).map(|map| map.iter().map(|e| e.substitute(dims)).collect::<Vec<_>>());
            let wrote = |p: &&Described<'c>| ir::key(p.values[p.inputs]) == ir::key(reader.values[k]);
            let Some(maker) = self.parts.iter().rfind(|p| !std::ptr::eq(*p, reader) && wrote(p)) else { continue };
            if std::ptr::eq(maker, d) {
                return index();
            }
            let own = maker.output_dims()?;
            let mut of = vec![Expr::Const(0); own.len()];
            own.iter().zip(index()?).for_each(|(dim, e)| of[*dim] = e);
            if let Some(found) = self.index_of(d, maker, &of) {
                return Some(found);
            }
        }
        None
    }
}
