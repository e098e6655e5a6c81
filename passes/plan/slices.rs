//! Operations that are planned in steps as loops over slices.
//!
//! ```mlir
//! %y = linalg.matmul ins(%x, %w : tensor<32x64xf32>, tensor<64x32xf32>) outs(%z : tensor<32x32xf32>) -> tensor<32x32xf32>
//! ```
//!
//! with 4 × 2 steps of rows and columns, rows outside, becomes
//!
//! ```mlir
//! scf.for %i = 0 to 4 iter_args(%a = %z) {
//!   %xs = tensor.extract_slice %x[%i * 8, 0] [8, 64] [1, 1], then layout.convert to the places
//!   scf.for %j = 0 to 2 iter_args(%b = %a) {
//!     %ws = .. of %w[0, %j * 16] [64, 16], %ys = .. of %b[%i * 8, %j * 16] [8, 16]
//!     %p = linalg.matmul ins(%xs, %ws) outs(%ys)
//!     layout.convert of %p from the places, then tensor.insert_slice into %b
//! ```
//!
//! A slice is taken inside of the loops that it follows, so it stays while others inside of it run. The result is carried by
//! the loops: as a whole outside of where its slice is taken, as the slice inside, where it accumulates.

use super::loops;
use super::remarks::what;
use super::steps::{StepKind, Steps, Want, tensor_layout, with_tensor_layout};
use crate::diagnostic::Diagnostic;
use crate::remove_conversions::{PLANNED, erase_dead};
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::Context;
use melior::ir::{Attribute, Type, ValueLike};
use tensor_layout::operations::Operation;
use tensor_layout::spreading::{ArraySlice, OperationSlices, SpreadOperation, SpreadPlan};
use tensor_layout::text::Error;

/// An operation that becomes loops over slices.
pub struct Sliced<'p, 'c> {
    op: Op<'c>,
    counts: &'p [i64],
    /// By operand; that of the result last.
    slices: Vec<Option<OperandSlice<'p, 'c>>>,
}

/// The slices of an operand.
#[derive(Clone, Copy)]
struct OperandSlice<'p, 'c> {
    slice: &'p ArraySlice,
    /// Their type beside the places, and the one in which they are used.
    beside: Type<'c>,
    placed: Type<'c>,
}

/// What the slice of a result starts with.
#[derive(Clone, Copy)]
enum Start<'c> {
    /// What is there already.
    Slice,
    /// A scalar everywhere.
    Filled(Val<'c>),
    /// Nothing.
    Empty,
}

/// The operations of a plan that become loops over slices, and remarks at those that run in one step though they are
/// planned in several.
///
/// # Errors
/// A layout is none in MLIR.
pub fn of<'p, 'c>(
    context: &'c Context,
    steps: &Steps<'c>,
    placed: &'p [SpreadOperation],
    plan: &SpreadPlan,
) -> Result<(Vec<Sliced<'p, 'c>>, Vec<Diagnostic<'c>>), Error> {
    let (mut all, mut remarks) = (Vec::new(), Vec::new());
    for own in plan.steps.iter().filter(|own| !own.loops.is_empty()) {
        let step = &steps.steps[own.by.1];
        // What a call or a loop hands on is no operation, and what is cheap is made where it is wanted.
        let is_made = |array: &usize| steps.arrays[*array].cheap;
        if !matches!(step.kind, StepKind::Operation(_)) || step.results.iter().any(is_made) {
            continue;
        }
        let slices = placed.iter().find(|placed| placed.node == own.by).and_then(|placed| placed.slices.as_ref());
        let sliced = match slices {
            None => Err("its slices would not be equally large, or not of tensors beside the places"),
            Some(slices) => sliced(steps, own.by.1, slices),
        };
        match sliced {
            Ok(sliced) => all.push(Sliced::new(context, step.op, slices.map_or(&[], |own| &own.counts), &sliced)?),
            // What is added to a product is part of its operation.
            Err(_) if all.iter().any(|known: &Sliced| known.op == step.op) => {}
            Err(why) => {
                let count = own.loops.iter().fold(1i64, |n, own| n.saturating_mul(own.count));
                let message =
                    format!("{} is planned in {count} steps and runs in one: {why}", what(step.op, &step.kind));
                remarks.push(Diagnostic::remark(ir::location(step.op), message));
            }
        }
    }
    Ok((all, remarks))
}

/// The slices of the operation of a step, by operand; that of the result last.
fn sliced<'p>(
    steps: &Steps,
    number: usize,
    slices: &'p OperationSlices,
) -> Result<Vec<Option<&'p ArraySlice>>, &'static str> {
    let step = &steps.steps[number];
    let (op, kind) = (step.op, &step.kind);
    if ir::indexing_maps(op).is_none()
        || ir::results(op).len() != 1
        || !matches!(kind, StepKind::Operation(Operation::Dot { .. } | Operation::Loops(_)))
    {
        return Err("only structured operations with one result become loops");
    }
    let turned = |other: &super::steps::Step| {
        other.op == op && matches!(other.kind, StepKind::Operation(Operation::Transpose { .. }))
    };
    if steps.steps.iter().any(turned) {
        return Err("the dimensions of its result are in another order");
    }
    let body = ir::blocks(op).first().copied().map(ir::operations).unwrap_or_default();
    if body.iter().any(|inner| ir::name(*inner) == "linalg.index") {
        return Err("it computes with indices");
    }
    let inputs = ir::operands(op).len() - 1;
    let mut all = vec![None; inputs];
    for (operand, want) in steps.wants.get(&ir::op_key(op)).into_iter().flatten() {
        if let (Want::Taken(step, position), true) = (want, *operand < inputs)
            && *step == number
        {
            all[*operand] = slices.operands.get(*position).and_then(Option::as_ref);
        }
    }
    let unknown = |(v, slice): (&Val, &Option<&ArraySlice>)| {
        slice.is_none() && ir::tensor(v.r#type()).is_some_and(|tensor| !tensor.shape.is_empty())
    };
    if ir::operands(op).iter().zip(&all).any(unknown) {
        return Err("it has tensors that it does not read");
    }
    let result = slices.results.first().and_then(Option::as_ref).ok_or("it makes a scalar")?;
    all.push(Some(result));
    Ok(all)
}

/// Writes loops over slices in place of operations.
pub fn write(rewriter: &Rewriter, all: &[Sliced]) {
    all.iter().for_each(Sliced::write);
    if !all.is_empty() {
        erase_dead(rewriter);
    }
}

/// A value beside the places: the one that it is converted from, or converted to it.
fn beside<'c>(b: Builder<'c>, v: Val<'c>) -> Val<'c> {
    let made = ir::defining_op(v).filter(|op| ir::name(*op) == "layout.convert" && tensor_layout(v.r#type()).is_some());
    match made.map(|op| ir::operands(op)[0]).filter(|source| tensor_layout(source.r#type()).is_none()) {
        Some(source) => source,
        None => converted(b, v, plain(v.r#type())),
    }
}

/// A tensor type without a layout.
fn plain(t: Type) -> Type {
    ir::tensor(t).map_or(t, |tensor| ir::tensor_type(&Shaped { layout: None, ..tensor }))
}

fn converted<'c>(b: Builder<'c>, v: Val<'c>, t: Type<'c>) -> Val<'c> {
    if v.r#type() == t {
        return v;
    }
    let unit = Attribute::unit(b.context());
    b.value("layout.convert", &[v], t, &[b.named("keep", unit), b.named(PLANNED, unit)])
}

/// The slice of a tensor in a step, with the attributes of what takes or puts it.
struct SlicePlace<'c> {
    offsets: Vec<Val<'c>>,
    fixed: Vec<Option<i64>>,
}

impl<'c> SlicePlace<'c> {
    fn new(b: Builder<'c>, slice: &ArraySlice, steps: &[Val<'c>]) -> SlicePlace<'c> {
        let mut place = SlicePlace { offsets: Vec::new(), fixed: Vec::new() };
        for follows in &slice.follows {
            place.fixed.push(if follows.is_some() { None } else { Some(0) });
            if let Some((of, step)) = follows {
                let index = Type::index(b.context());
                place.offsets.push(b.value("arith.muli", &[steps[*of], b.index(*step)], index, &[]));
            }
        }
        place
    }

    fn of(&self, b: Builder<'c>, name: &str, values: &[Val<'c>], slice: &ArraySlice, t: Type<'c>) -> Val<'c> {
        let list = |values: &[Option<i64>]| ir::sizes_attribute(b.context(), values);
        let sizes: Vec<Option<i64>> = slice.sizes.iter().copied().map(Some).collect();
        let mut segments = vec![1; values.len()];
        segments.extend([self.offsets.len() as i32, 0, 0]);
        let attributes = [
            b.named("static_offsets", list(&self.fixed)),
            b.named("static_sizes", list(&sizes)),
            b.named("static_strides", list(&vec![Some(1); sizes.len()])),
            b.segments(&segments),
        ];
        b.value(name, &[values, &self.offsets].concat(), t, &attributes)
    }
}

/// The number of loops around the place where a slice is taken.
fn depth(slice: &ArraySlice) -> usize {
    slice.follows.iter().flatten().map(|(of, _)| of + 1).max().unwrap_or(0)
}

impl<'p, 'c> Sliced<'p, 'c> {
    /// With the types of all slices.
    fn new(
        context: &'c Context,
        op: Op<'c>,
        counts: &'p [i64],
        slices: &[Option<&'p ArraySlice>],
    ) -> Result<Sliced<'p, 'c>, Error> {
        let one = |(v, slice): (Val<'c>, &Option<&'p ArraySlice>)| {
            let (Some(slice), Some(tensor)) = (*slice, ir::tensor(v.r#type())) else { return Ok(None) };
            let shape = slice.sizes.iter().copied().map(Some).collect();
            let beside = ir::tensor_type(&Shaped { shape, layout: None, ..tensor });
            let layout = slice.layout.as_ref();
            let placed = layout.map_or(Ok(beside), |layout| with_tensor_layout(context, beside, layout))?;
            Ok(Some(OperandSlice { slice, beside, placed }))
        };
        let slices = ir::operands(op).into_iter().zip(slices).map(one).collect::<Result<_, Error>>()?;
        Ok(Sliced { op, counts, slices })
    }

    fn write(&self) {
        let (op, inputs) = (self.op, self.slices.len() - 1);
        let (b, result) = (Builder::before(op).located(op), ir::result(op, 0));
        let (t, out) = (result.r#type(), ir::operands(op)[inputs]);
        let Some(OperandSlice { slice, .. }) = self.slices[inputs] else { return };
        let is_sliced = |own: &Option<OperandSlice>| own.is_some_and(|own| depth(own.slice) > 0);
        let source = |(v, own): (Val<'c>, &Option<OperandSlice>)| if is_sliced(own) { beside(b, v) } else { v };
        let operands: Vec<Val<'c>> = ir::operands(op)[..inputs].iter().copied().zip(&self.slices).map(source).collect();
        if slice.follows.iter().all(Option::is_none) {
            let new = self.nest(b, &mut Vec::new(), &operands, (out, Some(out)), Start::Slice);
            ir::replace_all_uses(result, new);
            return;
        }
        let maker = ir::defining_op(out).map(|op| (ir::name(op), ir::operands(op)));
        let again = (0..depth(slice)).any(|of| slice.follows.iter().flatten().all(|(own, _)| *own != of));
        let empty = || b.value("tensor.empty", &[], plain(t), &[]);
        let (whole, start) = match maker {
            _ if !loops::reads(op, inputs) => (empty(), Start::Empty),
            Some(("tensor.empty", _)) => (empty(), Start::Empty),
            Some(("linalg.fill", operands)) if again => {
                let fill = b.named_structured("linalg.fill", &[operands[0], empty()], &[1, 1], plain(t));
                (ir::result(fill, 0), Start::Slice)
            }
            Some(("linalg.fill", operands)) => (empty(), Start::Filled(operands[0])),
            _ => (beside(b, out), Start::Slice),
        };
        let new = self.nest(b, &mut Vec::new(), &operands, (whole, None), start);
        // Who wants it in the places gets it there; who brings it from there takes it as it is.
        for (user, _) in ir::uses(result) {
            if ir::name(user) == "layout.convert" && ir::result(user, 0).r#type() == new.r#type() {
                ir::replace_all_uses(ir::result(user, 0), new);
            }
        }
        if ir::is_used(result) {
            ir::replace_all_uses(result, converted(b, new, t));
        }
    }

    /// The loops from one on: what they carry in the end. `tile` is the slice of the result, where it is taken.
    fn nest(
        &self,
        b: Builder<'c>,
        steps: &mut Vec<Val<'c>>,
        operands: &[Val<'c>],
        (whole, tile): (Val<'c>, Option<Val<'c>>),
        start: Start<'c>,
    ) -> Val<'c> {
        let inputs = operands.len();
        let mut taken = operands.to_vec();
        for (v, own) in taken.iter_mut().zip(&self.slices) {
            let here = |own: &OperandSlice| depth(own.slice) == steps.len() && !steps.is_empty();
            let Some(own) = own.filter(here) else { continue };
            let place = SlicePlace::new(b, own.slice, steps);
            let part = place.of(b, "tensor.extract_slice", &[*v], own.slice, own.beside);
            *v = converted(b, part, own.placed);
        }
        let own = self.slices[inputs].filter(|own| tile.is_none() && depth(own.slice) == steps.len());
        let Some(OperandSlice { slice, beside: t, placed }) = own else {
            return self.walk(b, steps, &taken, (whole, tile), start);
        };
        let place = SlicePlace::new(b, slice, steps);
        let tile = match start {
            Start::Slice => converted(b, place.of(b, "tensor.extract_slice", &[whole], slice, t), placed),
            Start::Empty => b.value("tensor.empty", &[], placed, &[]),
            Start::Filled(scalar) => {
                let empty = b.value("tensor.empty", &[], placed, &[]);
                ir::result(b.named_structured("linalg.fill", &[scalar, empty], &[1, 1], placed), 0)
            }
        };
        let made = self.walk(b, steps, &taken, (whole, Some(tile)), start);
        let home = converted(b, made, t);
        place.of(b, "tensor.insert_slice", &[home, whole], slice, whole.r#type())
    }

    /// One loop, or inside of all of them the operation on slices.
    fn walk(
        &self,
        b: Builder<'c>,
        steps: &mut Vec<Val<'c>>,
        operands: &[Val<'c>],
        (whole, tile): (Val<'c>, Option<Val<'c>>),
        start: Start<'c>,
    ) -> Val<'c> {
        let Some(count) = self.counts.get(steps.len()) else {
            let (op, out) = (b.copy(self.op), tile.unwrap_or(whole));
            ir::set_operands(op, &[operands, &[out]].concat());
            ir::set_type(ir::result(op, 0), out.r#type());
            return ir::result(op, 0);
        };
        let carried = tile.unwrap_or(whole);
        let bounds = [b.index(0), b.index(*count), b.index(1), carried];
        let arguments = [Type::index(b.context()), carried.r#type()];
        let (op, end) = b.with_body("scf.for", &bounds, &[carried.r#type()], &[], &arguments, "scf.yield");
        let inner = ir::arguments(ir::blocks(op)[0]);
        steps.push(inner[0]);
        let within = if tile.is_some() { (whole, Some(inner[1])) } else { (inner[1], None) };
        let made = self.nest(b.at(end), steps, operands, within, start);
        steps.pop();
        ir::set_operands(end, &[made]);
        ir::result(op, 0)
    }
}
