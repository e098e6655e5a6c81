//! A plan as remarks: what it costs, and where layouts meet.

use super::steps::{StepKind, Steps};
use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Op};
use layout_plan::plan::{LayoutPlan, PlannedRelayout, PlannedTransfer, SpaceTaken};
use melior::ir::Location;
use std::collections::HashSet;
use tensor_layout::targets::Target;

/// The remarks about a plan: on the module, then on each operation whose result is brought into another layout, then on each
/// whose result is copied to another memory.
pub fn of<'c>(module: Op<'c>, steps: &Steps<'c>, plan: &LayoutPlan, target: &Target) -> Vec<Diagnostic<'c>> {
    let unit = target.unit();
    let bytes = plan.relayouts.iter().fold(0i64, |all, moved| all.saturating_add(moved.bytes));
    let message = format!(
        "the plan costs {} {unit}s and every plan at least {}: {} arrays, {} relayouts of {bytes} bytes",
        plan.cost,
        plan.bound,
        steps.arrays.len(),
        plan.relayouts.len()
    );
    let mut summary = Diagnostic::remark(ir::location(module), message);
    for SpaceTaken { space, bytes, padding, peak, at, .. } in &plan.taken {
        let op = steps.steps.get(at.1).map_or(module, |step| step.op);
        let message =
            format!("memory space {space} holds at most {peak} bytes, here; {bytes} in all, {padding} of padding");
        summary = summary.note(ir::location(op), message);
    }
    let mut all = vec![summary];
    let moved = |moved: &PlannedRelayout| {
        let PlannedRelayout { at, from, to, bytes, cost, wanted_by, .. } = moved;
        let step = &steps.steps[at.1];
        let message = format!("{} becomes {to} from {from}: {bytes} bytes, {cost} {unit}s", what(step.op, &step.kind));
        let mut seen: HashSet<String> = HashSet::new();
        let mut remark = Diagnostic::remark(ir::location(step.op), message);
        for (_, user) in wanted_by {
            let user = &steps.steps[*user];
            let (location, note): (Location, String) =
                (ir::location(user.op), format!("for {}", what(user.op, &user.kind)));
            if seen.insert(format!("{location} {note}")) {
                remark = remark.note(location, note);
            }
        }
        remark
    };
    all.extend(plan.relayouts.iter().map(moved));
    let copied = |transfer: &PlannedTransfer| {
        let PlannedTransfer { at, bytes, from, to, exposed, .. } = transfer;
        let step = &steps.steps[at.1];
        let message = format!(
            "{} is copied from memory space {from} to {to}: {bytes} bytes, kernels wait {exposed} {unit}s",
            what(step.op, &step.kind)
        );
        let ends = ["starts", "is done"].into_iter().zip(transfer.nodes);
        ends.fold(Diagnostic::remark(ir::location(step.op), message), |remark, (verb, (_, node))| {
            let step = &steps.steps[node];
            remark.note(ir::location(step.op), format!("{verb} before {}", what(step.op, &step.kind)))
        })
    };
    all.extend(plan.transfers.iter().map(copied));
    all
}

/// A step for people.
pub fn what(op: Op, kind: &StepKind) -> String {
    match kind {
        StepKind::Argument(_) => "an argument".to_string(),
        StepKind::Result(_) => "a result of the function".to_string(),
        StepKind::Merge if ir::name(op) == "func.func" => "an argument or result of the function".to_string(),
        StepKind::Merge if ir::name(op).starts_with("scf.") => format!("what `{}` carries", ir::name(op)),
        _ => format!("`{}`", ir::name(op)),
    }
}
