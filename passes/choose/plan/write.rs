//! Writes a plan into its module: types, conversions where layouts meet, and what is cheap made again in other layouts.
//!
//! All types are decided before anything changes.

use super::copies::PlannedCopies;
use super::loops::has_loops;
use super::steps::{ArrayId, Followed, StepKind, Steps, Want, layout_in, moves, with_tensor_layout};
use super::walk::operations_of;
use crate::analysis::functions::set_function_type;
use crate::bufferize::prepare_bufferization::elementwise;
use crate::buffers::operations::{ELEMENTWISE, is};
use crate::choose::indexing_analysis::reads;
use crate::choose::remove_conversions::{PLANNED, reshaped};
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use layout_plan::plan::{LaidOut, PlannedLayout};
use melior::Context;
use melior::ir::operation::OperationMutLike;
use melior::ir::{Attribute, Type, ValueLike};
use std::collections::{HashMap, HashSet};
use tensor_layout::operations::Operation;
use tensor_layout::places::TensorLayout;
use tensor_layout::text::Error;
use tensor_layout::tiled::Layout;

/// The layouts of a plan, as types.
pub struct PlannedTypes<'s, 'c> {
    context: &'c Context,
    steps: &'s Steps<'c>,
    /// By step.
    laid_out: HashMap<usize, LaidOut>,
    /// By array.
    types: Vec<Type<'c>>,
    /// By step and operand, where the type is not that of an array.
    taken: HashMap<(usize, usize), Type<'c>>,
    /// By array, the type in which an operation makes it, where it is another.
    made: HashMap<ArrayId, Type<'c>>,
    /// The copies between memories, with the types that they make.
    copies: PlannedCopies<'c>,
    copied: Vec<Vec<Type<'c>>>,
}

/// An operand that changes.
enum Change<'c> {
    /// It becomes of this type.
    Convert(Type<'c>),
    /// It is an empty tensor of this type.
    Empty(Type<'c>),
}

impl<'s, 'c> PlannedTypes<'s, 'c> {
    /// The types of all arrays, with memory spaces where these are asked for.
    ///
    /// # Errors
    /// A layout is none in MLIR.
    pub fn new(
        context: &'c Context,
        steps: &'s Steps<'c>,
        laid_out: Vec<LaidOut>,
        (spaces, copies): (bool, PlannedCopies<'c>),
    ) -> Result<PlannedTypes<'s, 'c>, Error> {
        let elsewhere = if spaces { in_loops(steps) } else { HashSet::new() };
        let mut types: Vec<Type<'c>> = steps.arrays.iter().map(|array| array.r#type).collect();
        let (mut taken, mut made) = (HashMap::new(), HashMap::new());
        for own in &laid_out {
            let (number, step) = (own.node.1, &steps.steps[own.node.1]);
            for (k, (result, layout)) in step.results.iter().zip(&own.results).enumerate() {
                let array = &steps.arrays[*result];
                // What is cheap is made again where another layout is wanted.
                if array.fixed || array.cheap || !array.is_whole() {
                    continue;
                }
                if let Some(layout) = layout.places() {
                    types[*result] = with_tensor_layout(context, array.r#type, layout)?;
                } else if let Some(layout) = layout.tiled() {
                    let planned = elsewhere.contains(result).then(|| own.spaces[k]);
                    let space = copies.made_in(*result).or(planned).unwrap_or(layout.memory_space);
                    let layout = Layout { memory_space: space, ..layout.clone() };
                    types[*result] = steps.with_layout(context, array.r#type, &layout)?;
                }
            }
            for (k, (operand, layout)) in step.operands.iter().zip(&own.operands).enumerate() {
                let (layout, array) = (layout.as_ref().and_then(PlannedLayout::places), &steps.arrays[*operand]);
                if let (Some(layout), true) = (layout, array.is_whole()) {
                    taken.insert((number, k), with_tensor_layout(context, array.r#type, layout)?);
                }
            }
        }
        for own in &laid_out {
            let step = &steps.steps[own.node.1];
            for (result, layout) in step.results.iter().zip(&own.made) {
                let layout = layout.as_ref().and_then(PlannedLayout::places);
                if let (Some(layout), true) = (layout, has_loops(step.op)) {
                    made.extend(brought_home(context, steps, *result, layout, &types)?);
                }
            }
        }
        let laid_out: HashMap<usize, LaidOut> = laid_out.into_iter().map(|own| (own.node.1, own)).collect();
        follow(context, steps, &laid_out, &mut types)?;
        let copied = copies.types(context, steps, &types)?;
        Ok(PlannedTypes { context, steps, laid_out, types, taken, made, copies, copied })
    }

    /// The type that a value will have.
    fn of(&self, v: Val<'c>) -> Type<'c> {
        self.steps.array(v).map_or(v.r#type(), |array| self.types[array])
    }

    /// The change of an operand; none where it stays.
    fn change(&self, op: Op<'c>, v: Val<'c>, want: Want<'c>) -> Result<Option<Change<'c>>, Error> {
        let own = self.of(v);
        let convert = |t: Type<'c>| (t != own).then_some(Change::Convert(t));
        Ok(match want {
            Want::Kept(t) => convert(t),
            Want::As(array) => convert(self.types[array]),
            Want::Filled(array) => convert(self.types[array]).map(|_| Change::Empty(self.types[array])),
            Want::Taken(step, operand) if self.taken.contains_key(&(step, operand)) => {
                convert(self.taken[&(step, operand)])
            }
            Want::Taken(step, operand) => {
                let Some(laid_out) = self.laid_out.get(&step) else { return Ok(None) };
                if self.steps.array(v).is_none() {
                    return Ok(None);
                }
                // Only operations with loops of their own have operands in other layouts than their results.
                let in_place = laid_out.in_place[operand] && has_loops(op);
                let taken = laid_out.operands[operand].as_ref();
                let wanted = if in_place { Some(&laid_out.read[operand]) } else { taken };
                let Some(wanted) = wanted.and_then(PlannedLayout::tiled) else { return Ok(None) };
                let typed = |layout: &Layout| self.steps.with_layout(self.context, own, layout);
                let held = Layout { memory_space: layout_in(own).memory_space, ..wanted.clone() };
                match typed(&held)? == own {
                    true => None,
                    false => convert(typed(wanted)?),
                }
            }
        })
    }

    /// Writes the plan into the module. Elementwise operations of these keys become structured ones, as do those of several
    /// layouts: by key, what replaces an operation.
    ///
    /// # Errors
    /// A layout is none in MLIR; then nothing has changed.
    pub fn write(&self, rewriter: &'c Rewriter, structured: &HashSet<usize>) -> Result<HashMap<usize, Op<'c>>, Error> {
        let operations = operations_of(rewriter.root());
        let mut changes = Vec::new();
        for op in &operations {
            for (operand, want) in self.steps.wants.get(&ir::op_key(*op)).into_iter().flatten() {
                let change = self.change(*op, ir::operands(*op)[*operand], *want)?;
                changes.extend(change.map(|change| (*op, *operand, change)));
            }
        }
        for op in &operations {
            let values = ir::results(*op).into_iter().chain(ir::blocks(*op).into_iter().flat_map(ir::arguments));
            for v in values.filter(|v| self.of(*v) != v.r#type()) {
                ir::set_type(v, self.of(v));
            }
        }
        self.copies.write(&self.copied);
        let mut made = HashMap::new();
        for (op, operand, change) in changes {
            let v = unconverted(ir::operands(op)[operand]);
            let new = match change {
                Change::Convert(t) if v.r#type() == t => v,
                Change::Empty(t) => Builder::before(op).value("tensor.empty", &[], t, &[]),
                Change::Convert(t) => *made.entry((ir::key(v), t)).or_insert_with(|| converted(v, t)),
            };
            ir::edit(op).set_operand(operand, new);
        }
        let mut replaced = HashMap::new();
        for op in &operations {
            match ir::name(*op) {
                name if is(name, ELEMENTWISE) && (structured.contains(&ir::op_key(*op)) || self.is_mixed(*op)) => {
                    replaced.extend(elementwise(rewriter, *op).map(|new| (ir::op_key(*op), new)));
                }
                "layout.convert" => self.settle(rewriter, *op),
                "func.func" => set_function_type(*op),
                _ => {}
            }
        }
        operations.iter().for_each(|op| self.bring_home(*op));
        Ok(replaced)
    }

    /// Has an operation with loops make a result in other places than those that hold it, and brings it there after that.
    fn bring_home(&self, op: Op<'c>) {
        let (results, inputs) = (ir::results(op), ir::operands(op).len().saturating_sub(ir::results(op).len()));
        for (k, result) in results.into_iter().enumerate() {
            let made = self.steps.array(result).filter(|array| self.steps.steps[self.steps.arrays[*array].by].op == op);
            let Some(t) = made.and_then(|array| self.made.get(&array)) else { continue };
            let (held, start) = (result.r#type(), ir::operands(op)[inputs + k]);
            let start = match reads(op, inputs + k) {
                true => converted(start, *t),
                false => Builder::before(op).value("tensor.empty", &[], *t, &[]),
            };
            ir::edit(op).set_operand(inputs + k, start);
            ir::set_type(result, *t);
            let home = converted(result, held);
            ir::replace_all_uses(result, home);
            ir::defining_op(home).into_iter().for_each(|home| ir::edit(home).set_operand(0, result));
        }
    }

    /// Removes a conversion of the program between equal types, and keeps any other.
    fn settle(&self, rewriter: &'c Rewriter, op: Op<'c>) {
        let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
        if source.r#type() == result.r#type() {
            ir::replace_all_uses(result, source);
            rewriter.erase(op);
        } else if self.steps.array(result).is_some() && moves(source.r#type(), result.r#type()) {
            let unit = Attribute::unit(self.context);
            ["keep", PLANNED].into_iter().for_each(|name| ir::edit(op).set_attribute(name, unit));
        }
    }

    /// Whether an elementwise operation has tensors of several layouts.
    fn is_mixed(&self, op: Op<'c>) -> bool {
        let planned = ir::results(op).into_iter().all(|v| self.steps.array(v).is_some());
        let all = ir::operands(op).into_iter().chain(ir::results(op));
        let layouts: Vec<Option<Attribute>> = all.filter_map(|v| ir::tensor(v.r#type())).map(|t| t.layout).collect();
        planned && layouts.windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// Gives the arrays that follow others types in their orders.
///
/// # Errors
/// A layout is none in MLIR.
fn follow<'c>(
    context: &'c Context,
    steps: &Steps<'c>,
    laid_out: &HashMap<usize, LaidOut>,
    types: &mut [Type<'c>],
) -> Result<(), Error> {
    for (array, followed) in &steps.follows {
        let own = &steps.arrays[*array];
        let layout = match followed {
            Followed::Taken(step, operand) => laid_out.get(step).and_then(|own| own.operands[*operand].as_ref()),
            Followed::Made(array) => {
                let made = &steps.arrays[*array];
                laid_out.get(&made.by).map(|own| &own.results[made.result])
            }
        };
        let layout = layout.and_then(PlannedLayout::tiled);
        if let Some((sizes, layout)) = own.array.sizes().zip(layout).filter(|_| !own.fixed) {
            let layout = steps.target.layout(own.array.element, &sizes, &layout.minor_to_major)?;
            types[*array] = steps.with_layout(context, own.r#type, &layout)?;
        }
    }
    Ok(())
}

/// The arrays that operations with loops make, and that only such take: these read from any memory and write to any. All
/// others would have to be copied from one memory to the other.
fn in_loops(steps: &Steps) -> HashSet<ArrayId> {
    let made = steps.steps.iter().filter(|step| matches!(step.kind, StepKind::Operation(_)) && has_loops(step.op));
    let mut found: HashSet<ArrayId> = made.flat_map(|step| step.results.iter().copied()).collect();
    for step in steps.steps.iter().filter(|step| !matches!(step.kind, StepKind::Operation(_)) || !has_loops(step.op)) {
        step.operands.iter().for_each(|array| {
            found.remove(array);
        });
    }
    found
}

/// The type in which a structured operation makes its result, where an array that it makes on the way says it and it is not
/// the one that the result is held in.
fn brought_home<'c>(
    context: &'c Context,
    steps: &Steps<'c>,
    made: ArrayId,
    layout: &TensorLayout,
    types: &[Type<'c>],
) -> Result<Option<(ArrayId, Type<'c>)>, Error> {
    let by = &steps.steps[steps.arrays[made].by];
    let inputs = ir::operands(by.op).len().saturating_sub(ir::results(by.op).len());
    let StepKind::Operation(operation) = &by.kind else { return Ok(None) };
    // What sums something up: a product, of which an array of the same operation may be made, or loops.
    let is_summed = matches!(operation, Operation::Dot { .. } | Operation::Loops(_));
    if ir::indexing_maps(by.op).is_none() || !is_summed || inputs == 0 {
        return Ok(None);
    }
    let result = match operation {
        Operation::Dot { .. } => ir::result(by.op, 0),
        _ => ir::result(by.op, steps.arrays[made].result),
    };
    let Some(array) = steps.array(result) else { return Ok(None) };
    let after = steps.steps.iter().find(|step| step.operands.contains(&made));
    let permutation = after.and_then(|step| match &step.kind {
        StepKind::Operation(Operation::Transpose { permutation }) if step.op == by.op => Some(permutation),
        _ => None,
    });
    let mut layout = layout.clone();
    if let Some(permutation) = permutation {
        layout.dims = permutation.iter().map(|from| layout.dims[*from].clone()).collect();
        layout.shape = layout.shape.map(|shape| permutation.iter().map(|from| shape[*from]).collect());
    }
    let t = with_tensor_layout(context, steps.arrays[array].r#type, &layout)?;
    Ok((t != types[array]).then_some((array, t)))
}

/// The source of a value, before conversions between equal types.
fn unconverted(mut v: Val) -> Val {
    while let Some(op) = ir::defining_op(v).filter(|op| ir::name(*op) == "layout.convert")
        && ir::operands(op)[0].r#type() == v.r#type()
    {
        v = ir::operands(op)[0];
    }
    v
}

/// A value in another type: made again where that is cheap, else converted, right after it.
fn converted<'c>(v: Val<'c>, t: Type<'c>) -> Val<'c> {
    let after = ir::after(v).expect("a value is before the end of its block");
    let b = Builder::before(after);
    let b = ir::defining_op(v).map_or(b, |op| b.located(op));
    if let Some(op) = ir::defining_op(v) {
        match ir::name(op) {
            "tensor.empty" | "tensor.splat" | "tensor.from_elements" => {
                return b.value(ir::name(op), &ir::operands(op), t, &[]);
            }
            "arith.constant" => {
                if let Some(constant) = reshaped(op, t) {
                    return b.constant(constant);
                }
            }
            "linalg.fill" => {
                let empty = b.value("tensor.empty", &[], t, &[]);
                return ir::result(b.named_structured("linalg.fill", &[ir::operands(op)[0], empty], &[1, 1], t), 0);
            }
            _ => {}
        }
    }
    let (unit, moves) = (Attribute::unit(b.context()), moves(v.r#type(), t));
    // What moves nothing, from a row-major type to one that does not say so, may go.
    let attributes = if moves { vec![b.named("keep", unit), b.named(PLANNED, unit)] } else { Vec::new() };
    b.value("layout.convert", &[v], t, &attributes)
}
