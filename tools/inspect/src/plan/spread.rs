//! `layout-inspect plan` for a machine with places: TensorLayouts for all values, and the traffic of each level.

use super::answer::{
    BESIDE, CollectiveAnswer, EntryArrays, LeftAnswer, LevelAnswer, Names, PlanAnswer, RelayoutAnswer, SearchEnd,
    StepArrayAnswer, StepLoopAnswer, StepsAnswer,
};
use super::shardings;
use crate::clock::Clock;
use crate::schedule::ScheduleOption;
use layout_plan::plan::sharding::{
    Home, LeastRule, PlannedMove, PlannedSteps, Pod, SpreadPlan, Spreader, StepLoop, SteppedTouch,
};
use layout_plan::plan::{ArrayName, SpaceLimit, Unplanned};
use layout_plan::solver::Progress;
use std::collections::BTreeMap;
use tensor_layout::operations::{Facts, Graph, Shape, leaves};
use tensor_layout::places::TensorLayout;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Whether values of a program have TensorLayouts on this machine.
pub fn has_places(target: &Target) -> bool {
    !target.machine().axes.is_empty()
}

/// Whether the places of a machine are devices, for which HLO text may have shardings.
pub fn has_devices(target: &Target) -> bool {
    Pod::of(target.machine()).is_some()
}

/// Refuses the options that have no meaning on a machine with places. On devices, comparing is allowed: with the
/// shardings of the text.
///
/// # Errors
/// One of them is used; the first one.
pub fn only(target: &Target, asked: &[(&str, bool, &str)]) -> Result<(), Error> {
    let compares = |name: &str| has_devices(target) && name.ends_with("compare");
    match asked.iter().find(|(name, asked, _)| *asked && has_places(target) && !compares(name)) {
        Some((name, _, why)) => Err(Error::new(format!("`{name}` is for machines without places, found axes: {why}"))),
        None => Ok(()),
    }
}

/// Why layouts of a file have no meaning on a machine with places.
pub const NO_FILE_LAYOUTS: &str = "layouts of HLO text are for one memory, and no TensorLayouts";

/// Why a judge has no meaning there.
pub const NO_JUDGE: &str =
    "a judge prices layouts of arguments and results beside the machine's default ones, and there are none";

/// Why a page has no meaning there.
pub const NO_PAGE: &str = "the page shows tiled layouts";

/// The planner of a machine with places; without a clock it may take any time. `home` is the given home of each array.
///
/// # Errors
/// The program, the machine, or the capacities are wrong.
pub fn posed<'a, 'm>(
    names: &Names<'m>,
    (graphs, facts): (&'a [Graph], &Facts),
    home: &dyn Fn(ArrayName) -> Home,
    limits: &[SpaceLimit],
    clock: Option<&mut Clock>,
) -> Result<Spreader<'a, 'm>, Unplanned> {
    let mut clock = clock;
    let mut go_on = |progress: &Progress| clock.as_mut().is_none_or(|clock| clock.go_on(progress));
    let machine = (names.target.machine(), home);
    let spreader = Spreader::within(graphs, names.module.entry, facts, machine, &mut go_on)?;
    spreader.limited_within(limits, &mut go_on)
}

/// The home of an array that the planner decides about.
pub fn free(_: ArrayName) -> Home {
    Home::Free
}

/// The best plan in which values have the shardings of the text, where it has any.
///
/// # Errors
/// A sharding that does not fit the devices, or why there is no such plan.
pub fn given(
    names: &Names,
    graphs: &[Graph],
    facts: &Facts,
    limits: &[SpaceLimit],
    clock: &mut Clock,
) -> Result<PlanAnswer, Unplanned> {
    let known = shardings::given(names)?;
    let home = |at| known.get(&at).map_or(Home::Free, |spread| Home::Given(spread.clone()));
    let spreader = posed(names, (graphs, facts), &home, limits, Some(&mut *clock))?;
    Ok(plan_of(names, &spreader, clock)?.1)
}

/// A layout as text, or [`BESIDE`].
pub fn text(layout: &Option<TensorLayout>) -> String {
    layout.as_ref().map_or(BESIDE.to_string(), TensorLayout::to_string)
}

/// The best plan and its answer.
///
/// # Errors
/// There is no plan.
pub fn plan_of(names: &Names, spreader: &Spreader, clock: &mut Clock) -> Result<(SpreadPlan, PlanAnswer), Unplanned> {
    let plan = spreader.plan(&clock.options(), &mut |progress| clock.go_on(progress))?;
    let left = LeftAnswer::of(SearchEnd::of(plan.cost, plan.bound, clock), 0);
    let answer = PlanAnswer { left, warnings: names.module.warning_messages(), ..answer(names, &plan) };
    Ok((plan, answer))
}

/// The answer of a plan.
pub fn answer(names: &Names, plan: &SpreadPlan) -> PlanAnswer {
    // Scalars are in every place.
    let entry = |layouts: &[Option<TensorLayout>], shapes: &[&Shape]| {
        let own = shapes.iter().flat_map(|shape| leaves(shape)).map(|array| array.dims.is_empty());
        let one = |(layout, is_scalar)| if is_scalar { "()".to_string() } else { text(layout) };
        layouts.iter().zip(own).map(one).collect::<Vec<_>>()
    };
    let main = &names.module.computations[names.module.entry];
    let shapes: Vec<&Shape> = main.parameters.iter().map(|number| &main.instructions[*number].shape).collect();
    let mut values = texts(names, plan, |layout| Some(layout.to_string()));
    for at in &plan.beside {
        values.entry(names.array(*at)).or_default().push(BESIDE.to_string());
    }
    let sharded = if has_devices(names.target) { texts(names, plan, shardings::text) } else { BTreeMap::new() };
    PlanAnswer {
        cost: plan.cost,
        bound: plan.bound,
        unit: names.target.unit().to_string(),
        schedule: ScheduleOption::File,
        entry: EntryArrays {
            arguments: entry(&plan.arguments, &shapes),
            results: entry(&plan.results, &[&main.instructions[main.root].shape]),
        },
        values,
        shardings: sharded,
        work: plan.work,
        spaces: BTreeMap::new(),
        stays: Vec::new(),
        transfers: Vec::new(),
        recomputed: Vec::new(),
        relayouts: plan.moves.iter().map(|moved| relayout(names, moved)).collect(),
        levels: levels(names, &plan.levels),
        steps: plan.steps.iter().map(|own| steps(names, own)).collect(),
        kept: plan.kept,
        peak: plan.taken.iter().map(|taken| (taken.space.to_string(), taken.peak)).collect(),
        memories: names.memories(&plan.taken),
        left: None,
        given: None,
        compare: None,
        judged: None,
        warnings: Vec::new(),
    }
}

/// The bytes of each level of the machine.
fn levels(names: &Names, bytes: &[i64]) -> Vec<LevelAnswer> {
    let axes = names.target.machine().axes.iter();
    axes.zip(bytes).map(|(axis, bytes)| LevelAnswer { axis: axis.name.clone(), bytes: *bytes }).collect()
}

/// Texts about the layouts of each value, each text once.
fn texts(
    names: &Names,
    plan: &SpreadPlan,
    text: impl Fn(&TensorLayout) -> Option<String>,
) -> BTreeMap<String, Vec<String>> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (at, layout) in &plan.values {
        let own = texts.entry(names.array(*at)).or_default();
        own.extend(text(layout).filter(|text| !own.contains(text)));
    }
    texts
}

/// The answer about an array that an operation has in other places than those that hold it.
fn relayout(names: &Names, moved: &PlannedMove) -> RelayoutAnswer {
    RelayoutAnswer {
        at: names.array(moved.at),
        from: text(&moved.from),
        to: text(&moved.to),
        bytes: moved.traffic.total.iter().fold(0i64, |sum, bytes| sum.saturating_add(*bytes)),
        cost: moved.cost,
        wanted_by: vec![names.node(moved.by).to_string()],
        without: None,
        undecided: false,
        levels: levels(names, &moved.traffic.busiest),
        collectives: moved.collectives.iter().map(CollectiveAnswer::from).collect(),
    }
}

/// The answer about an operation that runs in steps.
fn steps(names: &Names, own: &PlannedSteps) -> StepsAnswer {
    let one = |own: &StepLoop| StepLoopAnswer { r#loop: own.of, step: own.step, count: own.count };
    StepsAnswer {
        by: names.node(own.by).to_string(),
        loops: own.loops.iter().map(one).collect(),
        arrays: own.arrays.iter().map(|array| stepped(names, array)).collect(),
        levels: levels(names, &own.levels),
        least: levels(names, &own.least),
        rule: match own.rule {
            LeastRule::Product { .. } => "product".to_string(),
            _ => "compulsory".to_string(),
        },
        needs: None,
        room: None,
    }
}

/// The answer about an array of an operation that runs in steps.
fn stepped(names: &Names, array: &SteppedTouch) -> StepArrayAnswer {
    StepArrayAnswer {
        at: names.array(array.at),
        operand: array.operand,
        in_place: array.in_place,
        cut: array.cut.iter().map(|(dim, count)| [*dim as i64, *count]).collect(),
        layout: array.layout.as_ref().map(TensorLayout::to_string),
        bytes: array.bytes,
        double: array.is_double,
        levels: levels(names, &array.levels),
    }
}
