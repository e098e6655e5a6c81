//! Operations that are planned in steps: which of them become loops over slices, and of what.
//!
//! A structured operation, or an elementwise one, all of whose results are planned in steps. A product whose result has its
//! dimensions in another order than the plan's product has the slices of that in its own order. What makes no loops says why
//! in a remark, but for reshapes of tensors beside the places: these move nothing.

use super::remarks::what;
use super::steps::{Step, StepKind, Steps, Want, with_tensor_layout};
use crate::buffers::operations::{ELEMENTWISE, is};
use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Op, Val};
use layout_plan::plan::sharding::{ArraySlice, OperationSlices, PlannedSteps};
use melior::Context;
use melior::ir::{Type, ValueLike};
use tensor_layout::operations::Operation;
use tensor_layout::text::Error;

/// An operation that becomes loops over slices.
pub struct Sliced<'c> {
    pub op: Op<'c>,
    /// Its slices, without those of arrays that are not its own.
    pub slices: OperationSlices,
    /// By operand: what it takes of it.
    pub operands: Vec<Option<SliceTypes<'c>>>,
    /// By result.
    pub results: Vec<SliceTypes<'c>>,
}

/// The slices of an operand or a result, and their types.
pub struct SliceTypes<'c> {
    pub slice: ArraySlice,
    pub used: UsedIn<'c>,
}

/// Where slices are used.
pub enum UsedIn<'c> {
    /// In the places, as these types say, by the sizes of slices; where there is none, elements are read where they are.
    Places(Vec<(Vec<i64>, Type<'c>)>),
    /// In this memory space, in the layout of the whole.
    Space(u8),
    /// In no other memory than the whole.
    SameMemory,
}

/// An operation that a plan cuts into steps.
pub struct PlannedCut<'p> {
    /// The number of the step.
    pub step: usize,
    /// The number of steps over time.
    pub count: i64,
    /// The slices that it takes in these steps.
    pub slices: Option<&'p OperationSlices>,
    /// Where slices are used on a machine without places, if they are in a memory of their own.
    pub space: Option<u8>,
}

/// The operations that a plan cuts; slices are used in a memory space, where types say these.
pub fn planned(all: &[PlannedSteps], space: Option<u8>) -> Vec<PlannedCut<'_>> {
    let cut = all.iter().filter(|own| !own.loops.is_empty());
    let count = |own: &PlannedSteps| own.loops.iter().fold(1i64, |n, own| n.saturating_mul(own.count));
    cut.map(|own| PlannedCut { step: own.by.1, count: count(own), slices: own.slices.as_ref(), space }).collect()
}

/// Remarks at operations for whose smallest steps there is no room.
pub fn not_cut<'c>(steps: &Steps<'c>, all: &[PlannedSteps]) -> Vec<Diagnostic<'c>> {
    let one = |own: &PlannedSteps| {
        let (needs, room, step) = (own.needs?, own.room?, &steps.steps[own.by.1]);
        let message = format!(
            "{} is not cut: its smallest steps need {needs} bytes, and tensors leave {room}",
            what(step.op, &step.kind)
        );
        Some(Diagnostic::remark(ir::location(step.op), message))
    };
    all.iter().filter_map(one).collect()
}

/// The operations that become loops over slices, and remarks at those that run in one step though they are planned in
/// several.
///
/// # Errors
/// A layout is none in MLIR.
pub fn of<'c>(
    context: &'c Context,
    steps: &Steps<'c>,
    planned: &[PlannedCut],
) -> Result<(Vec<Sliced<'c>>, Vec<Diagnostic<'c>>), Error> {
    let (mut all, mut remarks): (Vec<Sliced<'c>>, Vec<Diagnostic<'c>>) = (Vec::new(), Vec::new());
    for own in planned {
        let step = &steps.steps[own.step];
        // What a call or a loop hands on is no operation, and what is cheap is made where it is wanted.
        let is_made = |array: &usize| steps.arrays[*array].cheap;
        if !matches!(step.kind, StepKind::Operation(_)) || step.results.iter().any(is_made) || is_view(step) {
            continue;
        }
        let sliced = match own.slices {
            None => Err("its slices would not be ranges of indices"),
            Some(slices) => sliced(steps, own.step, slices),
        };
        match sliced {
            // What is added to a product is part of its operation.
            _ if all.iter().any(|known| known.op == step.op) => {}
            Ok((operands, results)) => {
                if operands.iter().flatten().chain(&results).any(|slice| slice.is_held) {
                    let message = format!(
                        "{} runs in steps, for which what the places hold of its tensors goes through a memory beside \
                         them: that moves more than is planned",
                        what(step.op, &step.kind)
                    );
                    remarks.push(Diagnostic::remark(ir::location(step.op), message));
                }
                let typed = |v: Val<'c>, slice: ArraySlice| SliceTypes::new(context, v, slice, own.space);
                let operands = ir::operands(step.op)
                    .into_iter()
                    .zip(operands)
                    .map(|(v, slice)| slice.map(|slice| typed(v, slice)).transpose())
                    .collect::<Result<Vec<_>, Error>>()?;
                let results = ir::results(step.op).into_iter().zip(results).map(|(v, slice)| typed(v, slice));
                let results = results.collect::<Result<Vec<_>, Error>>()?;
                let slices = own.slices.cloned().ok_or_else(|| Error::new("an operation has no slices"))?;
                all.push(Sliced { op: step.op, slices, operands, results });
            }
            Err(why) => {
                let message =
                    format!("{} is planned in {} steps and runs in one: {why}", what(step.op, &step.kind), own.count);
                remarks.push(Diagnostic::remark(ir::location(step.op), message));
            }
        }
    }
    Ok((all, remarks))
}

/// Whether a step gives a tensor beside the places another shape.
fn is_view(step: &Step) -> bool {
    matches!(ir::name(step.op), "tensor.expand_shape" | "tensor.collapse_shape")
}

/// By operand, and by result, the slices of a step's operation.
type Slices = (Vec<Option<ArraySlice>>, Vec<ArraySlice>);

fn sliced(steps: &Steps, number: usize, slices: &OperationSlices) -> Result<Slices, &'static str> {
    let step = &steps.steps[number];
    let (op, kind) = (step.op, &step.kind);
    let is_structured = ir::indexing_maps(op).is_some();
    let known = match kind {
        StepKind::Operation(_) if is_structured => true,
        StepKind::Operation(Operation::Elementwise | Operation::Select) => is(ir::name(op), ELEMENTWISE),
        _ => false,
    };
    if !known {
        return Err("only structured and elementwise operations become loops");
    }
    let is_product = matches!(kind, StepKind::Operation(Operation::Dot { .. }));
    let is_last = ir::results(op).into_iter().zip(&step.results).all(|(v, made)| steps.array(v) == Some(*made));
    if !is_product && !is_last {
        return Err("it is a part of its operation");
    }
    let body = ir::blocks(op).first().copied().map(ir::operations).unwrap_or_default();
    if is_product && body.iter().any(|inner| ir::name(*inner) == "linalg.index") {
        return Err("it is a product that computes with indices");
    }
    let results = ir::results(op).len();
    let inputs = ir::operands(op).len() - if is_structured { results } else { 0 };
    let mut operands = vec![None; inputs];
    for (operand, want) in steps.wants.get(&ir::op_key(op)).into_iter().flatten() {
        if let (Want::Taken(step, position), true) = (want, *operand < inputs)
            && *step == number
        {
            operands[*operand] = slices.operands.get(*position).cloned().flatten();
        }
    }
    let unknown = |(v, slice): (&Val, &Option<ArraySlice>)| {
        slice.is_none() && ir::tensor(v.r#type()).is_some_and(|tensor| !tensor.shape.is_empty())
    };
    if ir::operands(op).iter().zip(&operands).any(unknown) {
        return Err("it has tensors that it does not read");
    }
    let made: Option<Vec<ArraySlice>> = slices.results.iter().cloned().collect();
    let mut made = made.filter(|made| made.len() == results).ok_or("it makes a scalar")?;
    let turned = steps.steps.iter().find_map(|other| match &other.kind {
        StepKind::Operation(Operation::Transpose { permutation }) if is_product && other.op == op => Some(permutation),
        _ => None,
    });
    if let Some(permutation) = turned {
        made = made.into_iter().map(|slice| permuted(&slice, permutation)).collect();
    }
    Ok((operands, made))
}

/// The slice of an array whose dimension `k` is dimension `permutation[k]` of another one.
fn permuted(slice: &ArraySlice, permutation: &[usize]) -> ArraySlice {
    let numbers = |own: &[i64]| permutation.iter().map(|from| own[*from]).collect::<Vec<i64>>();
    let mut turned = slice.clone();
    turned.follows = permutation.iter().map(|from| slice.follows[*from]).collect();
    [turned.sizes, turned.last, turned.whole] = [&slice.sizes, &slice.last, &slice.whole].map(|own| numbers(own));
    for (sizes, layout) in &mut turned.layouts {
        *sizes = numbers(sizes);
        layout.dims = permutation.iter().map(|from| layout.dims[*from].clone()).collect();
        layout.shape = layout.shape.take().map(|shape| numbers(&shape));
    }
    turned
}

impl<'c> SliceTypes<'c> {
    fn new(context: &'c Context, v: Val<'c>, slice: ArraySlice, space: Option<u8>) -> Result<SliceTypes<'c>, Error> {
        let Some(tensor) = ir::tensor(v.r#type()) else {
            return Ok(SliceTypes { slice, used: UsedIn::SameMemory });
        };
        let mut places = Vec::new();
        for (sizes, layout) in &slice.layouts {
            let shape = sizes.iter().copied().map(Some).collect();
            let plain = ir::tensor_type(&ir::Shaped { shape, layout: None, ..tensor.clone() });
            places.push((sizes.clone(), with_tensor_layout(context, plain, layout)?));
        }
        let used = match (places.is_empty(), space) {
            (false, _) => UsedIn::Places(places),
            (true, Some(space)) => UsedIn::Space(space),
            (true, None) => UsedIn::SameMemory,
        };
        Ok(SliceTypes { slice, used })
    }
}
