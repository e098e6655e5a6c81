//! A plan as remarks: what it costs, and where layouts meet.

use super::steps::{StepKind, Steps};
use crate::buffers::operations::is_known;
use crate::models::model_of;
use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Op};
use layout_plan::plan::{LayoutPlan, PlannedRelayout, PlannedTransfer, SpaceTaken};
use melior::ir::{Location, ValueLike};
use std::collections::HashSet;
use tensor_layout::targets::Target;

/// The operations on tensors that nothing is known of: the first of each name, and how many there are.
pub struct Unknown<'c>(Vec<(Op<'c>, usize)>);

impl<'c> Unknown<'c> {
    pub fn of(operations: &[Op<'c>]) -> Unknown<'c> {
        let mut all: Vec<(Op<'c>, usize)> = Vec::new();
        let has_tensor =
            |op: Op| ir::operands(op).iter().chain(&ir::results(op)).any(|v| ir::tensor(v.r#type()).is_some());
        for op in operations {
            if is_known(ir::name(*op)) || ir::indexing_maps(*op).is_some() || !has_tensor(*op) {
                continue;
            }
            match all.iter_mut().find(|(first, _)| ir::name(*first) == ir::name(*op)) {
                Some((_, count)) => *count += 1,
                None => all.push((*op, 1)),
            }
        }
        Unknown(all)
    }

    /// A remark for each name.
    pub fn remarks(&self) -> Vec<Diagnostic<'c>> {
        let remark = |(op, count): &(Op<'c>, usize)| {
            let message = format!(
                "nothing is known of `{}`, {count} in all: its tensors keep their layouts, and its cost is not counted",
                ir::name(*op)
            );
            Diagnostic::remark(ir::location(*op), message)
        };
        self.0.iter().map(remark).collect()
    }
}

/// The cost of a plan and the bound for every plan, with what they leave out.
pub fn costs(plan: &LayoutPlan, target: &Target, Unknown(unknown): &Unknown) -> String {
    let costs = format!("the plan costs {} {}s and every plan at least {}", plan.cost, target.unit(), plan.bound);
    match unknown.iter().map(|(_, count)| count).sum::<usize>() {
        0 => costs,
        1 => format!("{costs}, without 1 operation that nothing is known of"),
        count => format!("{costs}, without {count} operations that nothing is known of"),
    }
}

/// The remarks about a plan: on the module, then on each operation whose result is brought into another layout, then on each
/// whose result is copied to another memory.
pub fn of<'c>(
    module: Op<'c>,
    steps: &Steps<'c>,
    plan: &LayoutPlan,
    target: &Target,
    costs: &str,
) -> Vec<Diagnostic<'c>> {
    let unit = target.unit();
    let bytes = plan.relayouts.iter().fold(0i64, |all, moved| all.saturating_add(moved.bytes));
    let message =
        format!("{costs}: {} arrays, {} relayouts of {bytes} bytes", steps.arrays.len(), plan.relayouts.len());
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
        StepKind::Merge if ir::name(op) == "func.func" && model_of(op).is_none() => {
            "an argument or result of the function".to_string()
        }
        StepKind::Merge if ir::name(op).starts_with("scf.") => format!("what `{}` carries", ir::name(op)),
        _ => format!("`{}`", model_of(op).unwrap_or(ir::name(op))),
    }
}
