//! On a machine with places: TensorLayouts for the tensors of a module.
//!
//! A tensor that says its layout, or must keep its type, is where that says. What is in no place, an argument of a public
//! function or what an operation needs that is not planned, goes to places and comes from them by a `layout.convert`.

use super::remarks::what;
use super::steps::{StepKind, Steps, tensor_layout};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::PlanOptions;
use layout_dialect::MACHINE;
use layout_ir::{self as ir, Op};
use layout_plan::plan::sharding::{Home, Spread};
use layout_plan::plan::{LayoutPlan, PlannedLayout, PlannedRelayout};
use std::collections::HashSet;
use tensor_layout::places::Machine;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Checks that options and the module's machine are valid with places.
pub fn check(module: Op, machine: &Machine, options: PlanOptions) -> Result<(), Error> {
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
pub fn home(steps: &Steps, machine: &Machine, step: usize, leaf: usize) -> Home {
    let array = &steps.arrays[steps.steps[step].results[leaf]];
    match tensor_layout(array.r#type).filter(|_| array.is_whole()) {
        _ if array.cheap || !array.fixed => Home::Free,
        Some(layout) => Spread::of(&layout, machine).map_or(Home::Outside, Home::Given),
        None => Home::Outside,
    }
}

/// Remarks at what has no placement.
pub fn not_placed<'c>(steps: &Steps<'c>, machine: &Machine) -> Vec<Diagnostic<'c>> {
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
pub fn report<'c>(
    module: Op<'c>,
    steps: &Steps<'c>,
    plan: &LayoutPlan,
    target: &Target,
    costs: &str,
) -> Vec<Diagnostic<'c>> {
    let (machine, unit) = (target.machine(), target.unit());
    let levels = |bytes: &[i64]| {
        let one = |(axis, bytes): (&tensor_layout::places::Axis, &i64)| format!("{} {bytes}", axis.name);
        machine.axes.iter().zip(bytes).map(one).collect::<Vec<_>>().join(", ")
    };
    let message =
        format!("{costs}: {} arrays, bytes of the busiest place {}", steps.arrays.len(), levels(&plan.levels));
    let place = |layout: &PlannedLayout| match layout {
        PlannedLayout::Beside => "a memory beside the places".to_string(),
        layout => layout.to_string(),
    };
    let moved = |moved: &PlannedRelayout| {
        let PlannedRelayout { at, from, to, wanted_by, traffic, cost, .. } = moved;
        let step = &steps.steps[at.1];
        let message = format!(
            "{} goes to {} from {}: {cost} {unit}s, bytes of the busiest place {}",
            what(step.op, &step.kind),
            place(to),
            place(from),
            levels(&traffic.busiest)
        );
        let remark = Diagnostic::remark(ir::location(step.op), message);
        wanted_by.iter().map(|by| &steps.steps[by.1]).fold(remark, |remark, user| {
            remark.note(ir::location(user.op), format!("for {}", what(user.op, &user.kind)))
        })
    };
    let summary = Diagnostic::remark(ir::location(module), message);
    [summary].into_iter().chain(plan.relayouts.iter().map(moved)).collect()
}
