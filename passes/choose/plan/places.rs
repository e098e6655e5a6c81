//! On a machine with places: TensorLayouts for the tensors of a module.
//!
//! A tensor that says its layout, or must keep its type, is where that says. What is in no place, an argument of a public
//! function or what an operation needs that is not planned, goes to places and comes from them by a `layout.convert`.

use super::remarks::what;
use super::search_time::SearchTime;
use super::slices;
use super::steps::{StepKind, Steps, tensor_layout};
use super::write::PlannedTypes;
use super::{at, no_memory, unplanned, write};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::PlanOptions;
use crate::pass::upstream;
use layout_dialect::MACHINE;
use layout_ir::{self as ir, Builder, Op, Rewriter};
use layout_plan::plan::SpaceLimit;
use layout_plan::plan::sharding::{Home, PlannedMove, Spread, SpreadPlan, Spreader};
use melior::ir::operation::OperationMutLike;
use std::collections::HashSet;
use tensor_layout::places::{Machine, TensorLayout};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Chooses TensorLayouts for the tensors of a module.
pub fn run<'c>(
    rewriter: &'c Rewriter,
    steps: &Steps<'c>,
    target: &Target,
    options: PlanOptions,
    time: &mut SearchTime,
) -> Result<(), Vec<Diagnostic<'c>>> {
    let (module, machine) = (rewriter.root(), target.machine());
    check(module, machine, options).map_err(|error| at(module, error))?;
    let program = steps.program();
    let unplanned = |why| unplanned(module, steps, why);
    let home = |(_, step, leaf): (usize, usize, usize)| home(steps, machine, step, leaf);
    let search = time.options();
    let mut go_on = |progress: &_| time.go_on(progress);
    let mut spreader = Spreader::of_program_within(&program, (machine, &home), &mut go_on).map_err(unplanned)?;
    if options.capacity > 0 {
        let (memory, _) = machine.memory_of_places().ok_or_else(|| at(module, no_memory()))?;
        let bytes = i64::try_from(options.capacity).unwrap_or(i64::MAX);
        let limit = SpaceLimit { space: machine.memories[memory].space, bytes };
        spreader = spreader.limited_within(&[limit], &mut go_on).map_err(unplanned)?;
    }
    let plan = spreader.plan(&search, &mut go_on).map_err(unplanned)?;
    time.left(module, target.unit(), (plan.cost, plan.bound)).iter().for_each(upstream::emit);
    let context = Builder::before(module).context();
    let placed = spreader.placed(&plan).map_err(|error| at(module, error))?;
    let types = PlannedTypes::over_places(context, steps, &placed).map_err(|error| at(module, error))?;
    let cut = slices::over_places(&placed, &plan);
    let (sliced, remarks) = slices::of(context, steps, &cut).map_err(|error| at(module, error))?;
    let attribute = layout_dialect::machine_attribute(context, machine).map_err(|error| at(module, error))?;
    not_placed(steps, machine).iter().chain(&remarks).for_each(upstream::emit);
    if options.report {
        report(module, steps, &plan, target).iter().for_each(upstream::emit);
    }
    write(rewriter, &types, sliced).map_err(|error| at(module, error))?;
    ir::edit(module).set_attribute(MACHINE, attribute);
    Ok(())
}

/// That nothing is asked for that has no meaning with places.
fn check(module: Op, machine: &Machine, options: PlanOptions) -> Result<(), Error> {
    let own = ir::attribute(module, MACHINE).and_then(layout_dialect::machine);
    if own.is_some_and(|own| own != *machine) {
        let message =
            format!("the option machine and `{MACHINE}` of the module must be the same machine where it has places");
        return Err(Error::new(message));
    }
    if options.spaces {
        let message = format!("the option spaces is for machines without places, found {} axes", machine.axes.len());
        return Err(Error::new(message));
    }
    Ok(())
}

/// Where an array is.
fn home(steps: &Steps, machine: &Machine, step: usize, leaf: usize) -> Home {
    let array = &steps.arrays[steps.steps[step].results[leaf]];
    match tensor_layout(array.r#type).filter(|_| array.is_whole()) {
        _ if array.cheap || !array.fixed => Home::Free,
        Some(layout) => Spread::of(&layout, machine).map_or(Home::Outside, Home::Given),
        None => Home::Outside,
    }
}

/// Remarks at what has no placement.
fn not_placed<'c>(steps: &Steps<'c>, machine: &Machine) -> Vec<Diagnostic<'c>> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for step in &steps.steps {
        let mut told = |message: String| {
            if seen.insert((ir::op_key(step.op), message.clone())) {
                all.push(Diagnostic::remark(ir::location(step.op), message));
            }
        };
        let touched = || step.operands.iter().chain(&step.results).map(|number| &steps.arrays[*number]);
        if matches!(step.kind, StepKind::Opaque) && touched().any(|array| !array.array.dims.is_empty()) {
            told(format!(
                "{} has no placement: what it takes and makes keeps the types that are written",
                what(step.op, &step.kind)
            ));
        }
        for array in step.results.iter().map(|number| &steps.arrays[*number]).filter(|array| array.fixed) {
            if let Some(Err(error)) = tensor_layout(array.r#type).map(|layout| Spread::of(&layout, machine)) {
                told(format!("the layout of {} is kept, but not planned with: {error}", what(step.op, &step.kind)));
            }
        }
    }
    all
}

/// The plan as remarks: what it costs, and what moves where.
fn report<'c>(module: Op<'c>, steps: &Steps<'c>, plan: &SpreadPlan, target: &Target) -> Vec<Diagnostic<'c>> {
    let (machine, unit) = (target.machine(), target.unit());
    let levels = |bytes: &[i64]| {
        let one = |(axis, bytes): (&tensor_layout::places::Axis, &i64)| format!("{} {bytes}", axis.name);
        machine.axes.iter().zip(bytes).map(one).collect::<Vec<_>>().join(", ")
    };
    let message = format!(
        "the plan costs {} {unit}s and every plan at least {}: {} arrays, bytes of the busiest place {}",
        plan.cost,
        plan.bound,
        steps.arrays.len(),
        levels(&plan.levels)
    );
    let place = |layout: &Option<TensorLayout>| {
        layout.as_ref().map_or("a memory beside the places".to_string(), TensorLayout::to_string)
    };
    let moved = |PlannedMove { at, by, from, to, traffic, cost, .. }: &PlannedMove| {
        let (step, user) = (&steps.steps[at.1], &steps.steps[by.1]);
        let message = format!(
            "{} goes to {} from {}: {cost} {unit}s, bytes of the busiest place {}",
            what(step.op, &step.kind),
            place(to),
            place(from),
            levels(&traffic.busiest)
        );
        let note = format!("for {}", what(user.op, &user.kind));
        Diagnostic::remark(ir::location(step.op), message).note(ir::location(user.op), note)
    };
    let summary = Diagnostic::remark(ir::location(module), message);
    [summary].into_iter().chain(plan.moves.iter().map(moved)).collect()
}
