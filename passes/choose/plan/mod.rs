//! `layout-plan`: a layout for every tensor of a module at once.
//!
//! ```text
//! module --walk--> steps --layout_plan::plan--> a layout for each array --write--> module
//! ```
//!
//! [`layout_plan::plan`] chooses; here a module becomes the program that it reads, and gets the layouts that it says.
//! A tensor is one array in one layout. Where an operation takes it in another, a `layout.convert` stands behind the
//! tensor, for all that want it so. What the plan keeps in registers, inside of a kernel, has a layout as well.
//!
//! | file | what it holds |
//! |---|---|
//! | `steps` | the program while it is made: steps, arrays, what operands are to be |
//! | `loops` | single operations: structured ones, slices, constants |
//! | `structured` | structured operations as operations of HLO |
//! | `block_loops` | loops over blocks as gathers and scatters |
//! | `walk` | the match over all operations |
//! | `write` | types and conversions of a plan |
//! | `copies` | its copies between memories |
//! | `remarks` | the plan for people |
//! | `search_time` | when a search ends |
//! | `places` | machines with places: TensorLayouts |
//! | `slices` | which operations run in steps, and of what they take slices |
//! | `slice_loops` | these as loops over slices |
//!
//! Not promised: that lowering makes the kernels that the costs are about.

mod block_loops;
mod copies;
mod loops;
mod places;
mod remarks;
mod search_time;
mod slice_loops;
mod slices;
mod steps;
mod structured;
mod walk;
mod write;

use crate::choose::inline_calls;
use crate::models::{ModelCalls, Purpose};
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::{PlanMachine, PlanOptions};
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream;
use copies::PlannedCopies;
use layout_dialect::MACHINE;
use layout_ir::{self as ir, Builder, Op, Rewriter};
use layout_plan::plan::sharding::ShardingPlanner;
use layout_plan::plan::{ArrayName, EntryLayouts, Planner, Residence, SpaceLimit, TiledPlanner, Unplanned};
use layout_plan::solver;
use melior::ir::ValueLike;
use melior::ir::operation::OperationMutLike;
use remarks::{Unknown, costs};
use search_time::SearchTime;
use slices::Sliced;
use steps::Steps;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;
use walk::{PlanWalk, operations_of};
use write::PlannedTypes;

/// Chooses layouts for the tensors of a module; returns [`Next::Unchanged`] if there are no tensors to choose for.
pub(crate) fn run<'c>(stage: StageInput<'c, PlanOptions>) -> StageResult<'c> {
    let StageInput { rewriter, options, number } = stage;
    let module = rewriter.root();
    if !ir::all_operations(module).into_iter().any(has_tensors) {
        return Ok(Next::Unchanged);
    }
    let target = target(module, options.machine).map_err(|error| at(module, error))?;
    if number == 0 {
        // As in HLO, each call gets layouts of its own, and what is computed twice has one.
        inline_calls::run(StageInput { rewriter, options: (), number })?;
        return Ok(Next::Run { passes: inline_calls::PASSES.to_owned(), number: 1, changed: true });
    }
    let calls = ModelCalls::of(rewriter, module, Purpose::Costs)?;
    let planned = plan(rewriter, options, &target, &calls);
    calls.restore();
    planned
}

/// Chooses layouts where operations of other compilers are calls.
fn plan<'c>(rewriter: &'c Rewriter, options: PlanOptions, target: &Target, calls: &ModelCalls<'c>) -> StageResult<'c> {
    let module = rewriter.root();
    let operations = operations_of(module);
    let unknown = Unknown::of(&operations);
    unknown.remarks().iter().for_each(upstream::emit);
    let steps = PlanWalk::of(module, &operations, options.entry, target).map_err(|(op, error)| at(op, error))?;
    if steps.arrays.is_empty() {
        return Ok(Next::Unchanged);
    }
    let mut time = SearchTime::new(options.seconds);
    let (search, program, machine) = (time.options(), steps.program(), target.machine());
    let unplanned = |why| unplanned(module, &steps, why);
    let mut go_on = |progress: &_| time.go_on(progress);
    let mut planner: Box<dyn Planner> = if steps.has_places() {
        places::check(module, machine, options).map_err(|error| at(module, error))?;
        let home = |(_, step, leaf): ArrayName| places::home(&steps, machine, step, leaf);
        let found = ShardingPlanner::of_program_within(&program, (machine, &home), &mut go_on);
        Box::new(found.map_err(unplanned)?)
    } else {
        let ends = (target, EntryLayouts::Free);
        Box::new(TiledPlanner::of_program_within(&program, ends, &mut go_on).map_err(unplanned)?)
    };
    let mut near = None;
    if options.capacity > 0 {
        let limit = limit(target, options.capacity).map_err(|error| at(module, error))?;
        near = Some(limit.space);
        // Without memory spaces in types nothing says where a copy goes; with them, a tensor is in one as a whole.
        let residence = if options.spaces { Residence::Whole } else { Residence::ForLife };
        planner.limit(&[limit], residence, &mut go_on).map_err(unplanned)?;
    }
    let mut plan = planner.plan_in_steps(&search, &mut go_on).map_err(unplanned)?;
    let laid_out = planner.laid_out(&plan).map_err(unplanned)?;
    let own = calls.cost(module);
    (plan.cost, plan.bound) = (plan.cost.saturating_add(own), plan.bound.saturating_add(own));
    let costs = costs(&plan, target, &unknown);
    time.left(module, &costs, (plan.cost, plan.bound)).iter().for_each(upstream::emit);
    let context = Builder::before(module).context();
    let (copies, not_copied) = PlannedCopies::of(module, &steps, &plan.transfers);
    let types = PlannedTypes::new(context, &steps, laid_out, (options.spaces, copies));
    let types = types.map_err(|error| at(module, error))?;
    let planned = slices::planned(&plan.steps, near.filter(|_| options.spaces));
    let (sliced, refused) = slices::of(context, &steps, &planned).map_err(|error| at(module, error))?;
    let attribute = steps.has_places().then(|| layout_dialect::machine_attribute(context, machine)).transpose();
    let attribute = attribute.map_err(|error| at(module, error))?;
    let not_placed = if steps.has_places() { places::not_placed(&steps, machine) } else { Vec::new() };
    let not_cut = slices::not_cut(&steps, &plan.steps);
    not_placed.iter().chain(&not_cut).chain(&refused).chain(&not_copied).for_each(upstream::emit);
    if options.report {
        let report = if steps.has_places() { places::report } else { remarks::of };
        report(module, &steps, &plan, target, &costs).iter().for_each(upstream::emit);
    }
    write(rewriter, &types, sliced).map_err(|error| at(module, error))?;
    attribute.into_iter().for_each(|machine| ir::edit(module).set_attribute(MACHINE, machine));
    Ok(Next::Changed)
}

/// Writes a plan into its module, and loops in place of what runs in steps.
///
/// # Errors
/// A layout is none in MLIR; then nothing has changed.
fn write<'c>(rewriter: &'c Rewriter, types: &PlannedTypes<'_, 'c>, sliced: Vec<Sliced<'c>>) -> Result<(), Error> {
    let structured = sliced.iter().map(|own| ir::op_key(own.op)).collect();
    let replaced = types.write(rewriter, &structured)?;
    slice_loops::write(rewriter, sliced, &replaced);
    Ok(())
}

/// Whether an operation takes or makes a tensor, or has one as an argument of its blocks.
fn has_tensors(op: Op) -> bool {
    let arguments = ir::blocks(op).into_iter().flat_map(ir::arguments);
    ir::operands(op).into_iter().chain(ir::results(op)).chain(arguments).any(|v| ir::tensor(v.r#type()).is_some())
}

/// The machine of a module, or the ready one of a name.
fn target(module: Op, machine: PlanMachine) -> Result<Target, Error> {
    if machine != PlanMachine::Own {
        return Target::parse(machine.name());
    }
    let own = ir::attribute(module, MACHINE).and_then(layout_dialect::machine);
    let ready: Vec<&str> = PlanMachine::ALL[1..].iter().map(|machine| machine.name()).collect();
    let missing = || {
        format!(
            "layout-plan needs a machine: `{MACHINE}` on the module, or the option machine, one of {}",
            ready.join(", ")
        )
    };
    Target::new(own.ok_or_else(|| Error::new(missing()))?)
}

/// A capacity of the fastest memory, or of that of the places.
fn limit(target: &Target, bytes: u64) -> Result<SpaceLimit, Error> {
    let (machine, memories) = (target.machine(), &target.machine().memories);
    let memory = match machine.axes.is_empty() {
        true => memories.iter().rfind(|memory| memory.axis.is_none() && memory.space != 0).or(memories.first()),
        false => machine.memory_of_places().map(|(memory, _)| &memories[memory]),
    };
    let memory = memory.ok_or_else(|| Error::new("the option capacity needs a machine with a memory, found none"))?;
    // More than any program takes.
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX).min(solver::LARGEST_SUM);
    Ok(SpaceLimit { space: memory.space, bytes })
}

fn at<'c>(op: Op<'c>, error: Error) -> Vec<Diagnostic<'c>> {
    vec![Diagnostic::error(ir::location(op), error.message)]
}

/// Why there is no plan, at the operation that is at fault.
fn unplanned<'c>(module: Op<'c>, steps: &Steps<'c>, why: Unplanned) -> Vec<Diagnostic<'c>> {
    let place = |(_, step): (usize, usize)| steps.steps.get(step).map_or(module, |step| step.op);
    let error = |op, why: String| Diagnostic::error(ir::location(op), format!("no layouts can be planned: {why}"));
    match why {
        Unplanned::Wrong(node, why) => vec![error(node.map_or(module, place), why.message)],
        Unplanned::Short { memory, at, least, capacity, arrays, .. } => {
            let more = least.saturating_sub(capacity);
            let why = format!("here `{memory}` must hold {least} bytes, {more} more than its capacity {capacity}");
            let taken = |all: Diagnostic<'c>, ((graph, step, _), bytes): ((usize, usize, usize), i64)| {
                let op = place((graph, step));
                all.note(ir::location(op), format!("`{}` makes {bytes} bytes of it", ir::name(op)))
            };
            vec![arrays.into_iter().fold(error(place(at), why), taken)]
        }
        why => vec![error(module, why.to_string())],
    }
}
