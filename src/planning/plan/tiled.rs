//! Planning tiled layouts: the problem with capacities, and the plan that the layouts of the program are.

use super::build_steps::BuildSteps;
use super::classes::{LayoutClasses, LayoutId};
use super::clone_cheap::made_again;
use super::holders::HeldIn;
use super::layout_plan::{Doubt, LaidOut, LayoutPlan, PlanDecoder, PlannedRelayout, Unplanned};
use super::moving::{ends, form};
use super::placing::{Placed, Residence};
use super::planned_layout::PlannedLayout;
use super::planner::{GoOn, ListedLayouts, Planner};
use super::prices::Prices;
use super::problem::{LayoutProblem, Located, Taken};
use super::program::{EntryOrders, InstanceKind, Made, Program};
use super::residency::Residency;
use super::sharding::steps::PlannedSteps;
use super::sharding::tile_steps::tile_steps;
use super::space::{HeldBytes, LimitedSpace, SpaceLimit, SpaceTaken};
use super::ways::{AliasOf, EntryLayouts, MadeIn, Tied, Way};
use crate::solver::{Certificate, CostNetwork, FORBIDDEN, Marginal, NetworkError, Options, solve, solve_from};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use tensor_layout::operations::facts::Facts;
use tensor_layout::operations::graph::Graph;
use tensor_layout::places::Machine;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// A program whose layouts are to be planned.
pub struct TiledPlanner<'a, 't> {
    pub(super) problem: LayoutProblem<'a, 't>,
    network: CostNetwork,
    /// The problem with capacities, where there are some.
    limited: Option<LimitedSpace>,
    /// The capacities that were asked for, of which some bytes may be kept.
    asked: (Vec<SpaceLimit>, Residence),
    /// Orders that arguments and results were offered beside those of the target.
    offered: Vec<EntryOrders>,
}

impl<'a, 't> TiledPlanner<'a, 't> {
    /// Poses the problem of the graph with number `entry`; other graphs are those that it calls.
    ///
    /// # Errors
    /// A fault of the program: a size without a bound, costs that do not fit in 64 bits.
    pub fn new(
        graphs: &'a [Graph],
        entry: usize,
        facts: &Facts,
        target: &'t Target,
        ends: EntryLayouts,
    ) -> Result<TiledPlanner<'a, 't>, Unplanned> {
        let program = Program::new(graphs, entry, facts).map_err(|error| Unplanned::Wrong(None, error))?;
        TiledPlanner::of_program(&program, target, ends)
    }

    /// Poses the problem of a program.
    ///
    /// # Errors
    /// The errors of [`TiledPlanner::new`], and a fixed layout that has no meaning on its array.
    pub fn of_program(
        program: &Program<'a>,
        target: &'t Target,
        ends: EntryLayouts,
    ) -> Result<TiledPlanner<'a, 't>, Unplanned> {
        TiledPlanner::of_program_within(program, (target, ends), &mut |_| true)
    }

    /// The same within a time: `go_on` is asked now and then; when it says no, nothing is decided.
    ///
    /// # Errors
    /// The errors of [`TiledPlanner::of_program`], and [`Unplanned::Undecided`].
    pub fn of_program_within(
        program: &Program<'a>,
        (target, ends): (&'t Target, EntryLayouts),
        go_on: &mut GoOn,
    ) -> Result<TiledPlanner<'a, 't>, Unplanned> {
        let mut steps = BuildSteps::new(go_on);
        steps.step().map_err(|error| Unplanned::from(((0, 0), error)))?;
        let program = made_again(program).map_err(|error| Unplanned::Wrong(None, error))?;
        let problem = LayoutProblem::within(program, LayoutClasses::new(target), ends, &mut steps)?;
        let network = problem.network(&Prices::new(&problem.choices.classes), &mut steps)?;
        let asked = (Vec::new(), Residence::default());
        Ok(TiledPlanner { problem, network, limited: None, asked, offered: Vec::new() })
    }

    /// The same problem where arguments and results may be laid out in any order, and in these ones for certain: there are
    /// too many orders of five dimensions for a list. `go_on` is asked now and then; when it says no, nothing is decided.
    ///
    /// # Errors
    /// Orders that do not fit the arguments and results, and those of [`TiledPlanner::of_program`] and [`Planner::limit`].
    pub fn offering(&self, orders: &[EntryOrders], go_on: &mut GoOn) -> Result<TiledPlanner<'a, 't>, Unplanned> {
        let offered = [&self.offered[..], orders].concat();
        let (program, target) = (self.problem.program.clone(), self.problem.choices.classes.target);
        let mut classes = LayoutClasses::new(target);
        classes.offer_entries(&program, &offered).map_err(|error| Unplanned::Wrong(None, error))?;
        let mut steps = BuildSteps::new(go_on);
        let problem = LayoutProblem::within(program, classes, EntryLayouts::Free, &mut steps)?;
        let network = problem.network(&Prices::new(&problem.choices.classes), &mut steps)?;
        let asked = (Vec::new(), self.asked.1);
        let mut planner = TiledPlanner { problem, network, limited: None, asked, offered };
        planner.limit(&self.asked.0, self.asked.1, go_on)?;
        Ok(planner)
    }

    /// The orders that were offered, see [`TiledPlanner::offering`].
    pub fn offered(&self) -> &[EntryOrders] {
        &self.offered
    }

    /// The exceeded capacities. A space of several memories, as a cache and what is behind it, has that of the largest.
    fn exceeded_by(&self, taken: &[SpaceTaken]) -> Vec<SpaceLimit> {
        let memories = &self.problem.choices.classes.target.machine().memories;
        let over = |taken: &SpaceTaken| {
            let own = memories.iter().filter(|memory| memory.space == taken.space).map(|memory| memory.bytes).max();
            let limit = own.map(|bytes| SpaceLimit { space: taken.space, bytes });
            limit.filter(|limit| taken.peak > limit.bytes && self.asked.0.iter().all(|own| own.space != limit.space))
        };
        taken.iter().filter_map(over).collect()
    }

    /// The most bytes of an array in each memory that it may be in, and those of a second layout.
    fn most_held(&self, made: usize, moments: &[Range<i64>]) -> Vec<HeldBytes> {
        let LayoutProblem { program, choices, holders, .. } = &self.problem;
        let (class, prices) = (choices.class[made], Prices::new(&choices.classes));
        let is_far = self.problem.is_outer(made);
        let held = |layout: LayoutId| HeldBytes {
            layout,
            space: if is_far { 0 } else { prices.space(class, layout) },
            bytes: choices.classes.all[class].bytes[usize::from(layout)],
            moments: moments.to_vec(),
        };
        let ways = choices.ways[program.made[made].by].iter();
        let first: Vec<HeldBytes> = ways.map(|way| held(way.results[program.made[made].result])).collect();
        let states = holders[made].iter().flat_map(|(_, states)| states.iter());
        let second: Vec<HeldBytes> = states.filter_map(|(_, second)| second.map(held)).collect();
        let mut most = Vec::new();
        for all in [first, second] {
            // With a capacity of the fastest memory, what is there may be in memory space 0.
            let far = self.limited.is_some().then(|| all.iter().map(|own| HeldBytes { space: 0, ..own.clone() }));
            let mut by_space: BTreeMap<u8, HeldBytes> = BTreeMap::new();
            for own in far.into_iter().flatten().chain(all.iter().cloned()) {
                let largest = by_space.entry(own.space).or_insert_with(|| own.clone());
                if own.bytes > largest.bytes {
                    *largest = own;
                }
            }
            most.extend(by_space.into_values());
        }
        most
    }

    /// Puts in the capacities that were asked for, of which the fastest memory leaves so many bytes to pieces of arrays that
    /// are not in it.
    fn keep_within(&mut self, bytes: i64, go_on: &mut GoOn) -> Result<(), Unplanned> {
        let prices = Prices::new(&self.problem.choices.classes);
        let (mut limits, residence) = (self.asked.0.clone(), self.asked.1);
        for limit in limits.iter_mut().filter(|limit| bytes > 0 && Some(limit.space) == prices.fastest()) {
            limit.bytes = limit.bytes.saturating_sub(bytes).max(0);
        }
        let (network, limits) = (self.network.clone(), (&limits[..], residence));
        self.limited = Some(LimitedSpace::new(&self.problem, &prices, network, limits, &mut BuildSteps::new(go_on))?);
        Ok(())
    }

    /// The problem with a capacity of nothing in the fastest memory, where that has another one.
    fn network_of_nothing(&self) -> Option<CostNetwork> {
        let limited = self.limited.as_ref()?;
        let fastest = Prices::new(&self.problem.choices.classes).fastest()?;
        let resource = limited.limits.iter().position(|limit| limit.space == fastest && limit.bytes > 0)?;
        Some(limited.network.with_nothing_of(resource))
    }

    /// Each array in the default layout where its operation has that, other names of an array as that is, and where
    /// capacities leave a choice all in memory space 0, or else all near. It need not be legal.
    fn in_defaults(&self) -> Vec<usize> {
        let ways = &self.problem.choices.ways;
        let mut second: FxHashMap<usize, &[HeldIn]> = FxHashMap::default();
        second.extend(self.problem.holders.iter().flatten().map(|(variable, states)| (*variable, &states[..])));
        let mut lies: FxHashMap<usize, &[Residency]> = FxHashMap::default();
        lies.extend(self.placed().iter().flatten().map(|own| (own.variable, &own.states[..])));
        let of_way = |way: &Way| {
            // What must be taken as it is made would bind those that come later.
            let binds = way.tied == Some(Tied::Result) || way.home == Some(AliasOf::Result);
            let others = way.results.iter().filter(|id| **id != 0).count();
            (usize::from(binds), others, way.operands.iter().flatten().filter(|id| **id != 0).count())
        };
        let completed = |is_far: bool| {
            self.network().completed(Vec::new(), |variable, choice| {
                if let Some(own) = ways.get(variable) {
                    of_way(&own[choice])
                } else if let Some(states) = second.get(&variable) {
                    (usize::from(states[choice].1.is_some()), 0, 0)
                } else if let Some(own) = lies.get(&variable).map(|states| &states[choice]) {
                    let side = if is_far { &own.near } else { &own.far };
                    (usize::from(own.again.is_some() || !side.is_empty()), 0, 0)
                } else {
                    (0, 0, 0)
                }
            })
        };
        let far = completed(true);
        if lies.is_empty() || self.network().cost(&far).is_ok() { far } else { completed(false) }
    }

    /// The steps of the operations of a plan.
    fn steps(&self, plan: &LayoutPlan) -> Result<Vec<PlannedSteps>, Unplanned> {
        tile_steps(&self.working_sets(plan)?)
    }

    /// The arrays that may be in another memory, where there are capacities.
    pub(super) fn placed(&self) -> &[Option<Placed>] {
        self.limited.as_ref().map_or(&[], |limited| &limited.placed)
    }

    /// The capacity of the fastest memory that was asked for.
    pub(super) fn fast_limit(&self) -> Option<&SpaceLimit> {
        let fastest = Prices::new(&self.problem.choices.classes).fastest();
        self.asked.0.iter().find(|limit| Some(limit.space) == fastest)
    }

    /// The operation at which choices are not possible.
    fn disagreed(&self, choices: &[usize], error: &NetworkError) -> Located {
        let variable = match error {
            NetworkError::ForbiddenChoice { variable, .. } => *variable,
            NetworkError::ForbiddenPair { ends, .. } => ends[1],
            _ => choices.len(),
        };
        let made = self.array_of(variable).map(|made| self.problem.program.name(made));
        let wrong = match error {
            NetworkError::ForbiddenChoice { .. } | NetworkError::ForbiddenPair { .. } => {
                Error::new("the operation cannot take its operands in the layouts of the file").unsupported()
            }
            error => error.clone().into(),
        };
        (made.map_or((0, 0), |(graph, node, _)| (graph, node)), wrong)
    }

    /// The ways that come nearest to the layouts of the program.
    fn given_choices(&self) -> Result<Vec<usize>, Located> {
        let LayoutProblem { program, choices, holders, kernels, .. } = &self.problem;
        let mut chosen: Vec<usize> = Vec::with_capacity(self.network.variables().len());
        let missing = |made: usize| {
            let (by, layouts) = (program.made[made].by, &choices.classes.all[choices.class[made]].layouts);
            let (own, default) = (&layouts[usize::from(choices.given[made])], &layouts[0]);
            let why = match program.instances[by].kind {
                InstanceKind::Argument(..) | InstanceKind::Result(_) => {
                    format!("the layout of the file is {own}, and arguments and results are in the default, {default}")
                }
                _ => format!("the operation is not planned with a result in {own}, the layout of the file"),
            };
            (program.instances[by].node, Error::new(why).unsupported())
        };
        for (k, instance) in program.instances.iter().enumerate() {
            let results =
                |way: &Way| instance.results.iter().zip(&way.results).all(|(made, id)| choices.given[*made] == *id);
            let alike = |way: &Way| {
                let same = |(made, id): (&usize, &Option<LayoutId>)| id.is_none_or(|id| choices.given[*made] == id);
                instance.operands.iter().zip(&way.operands).filter(|pair| same(*pair)).count()
            };
            let first = |fits: &dyn Fn(&Way) -> bool| choices.ways[k].iter().position(fits);
            // A name follows the array that it names where they cannot both have their layouts of the file: what takes the
            // name copies it then.
            let named = instance.operands.first().filter(|_| kernels.renamed[k]).and_then(|made| {
                let by = program.made[*made].by;
                Some(choices.ways[by][*chosen.get(by)?].results[program.made[*made].result])
            });
            let follows = named.and_then(|own| {
                let takes = |way: &Way| way.operands[0] == Some(own);
                first(&|way| takes(way) && results(way)).or_else(|| first(&takes))
            });
            // A reshape that moves elements between these layouts is made in its form, with copies before and after it.
            let form = form(program, choices, k).filter(|_| first(&|way| results(way) && alike(way) == 1).is_none());
            let in_form = form.and_then(|form| first(&|way| ends(program, choices, k, way) == Some(form)));
            // What is made in another layout than that of the file is copied by those that take it.
            let copied = matches!(instance.kind, InstanceKind::Operation(_));
            let ways = choices.ways[k].iter().enumerate().filter(|(_, way)| copied || results(way));
            let best = ways.max_by_key(|(number, way)| (results(way), alike(way), std::cmp::Reverse(*number)));
            let best = follows.or(in_form).or(best.map(|(number, _)| number));
            chosen.push(best.ok_or_else(|| missing(instance.results[0]))?);
        }
        self.problem.settle(&mut chosen);
        for (made, holder) in holders.iter().enumerate() {
            let Some((_, states)) = holder else { continue };
            let by = program.made[made].by;
            let own = choices.ways[by][chosen[by]].results[program.made[made].result];
            let alone = states.iter().position(|state| *state == (own, None));
            chosen.push(alone.ok_or_else(|| missing(made))?);
        }
        Ok(chosen)
    }

    /// The problem whose plans do without a relayout.
    fn network_without(&self, relayout: &PlannedRelayout) -> Result<CostNetwork, Error> {
        let prices = Prices::new(&self.problem.choices.classes);
        let mut network = self.network().clone();
        for taken in self.problem.taken().filter(|taken| relayout.taken_by.contains(&taken.by)) {
            let (from, table) = self.as_made(&prices, &taken)?;
            network.add_edge(from, taken.by.0, table)?;
        }
        Ok(network)
    }

    /// The variable of an operand's array, and for each pair of its choices and the ways of the operation whether the
    /// operation takes the array as it is made.
    fn as_made(&self, prices: &Prices, taken: &Taken) -> Result<(usize, Vec<i64>), Error> {
        let (user, maker) = (taken.by.0, self.problem.program.made[taken.made].by);
        let result = self.problem.program.made[taken.made].result;
        let holder = self.problem.holders[taken.made].as_ref();
        let states = match holder {
            Some((_, states)) => states.iter().map(|state| (*state, MadeIn::default())).collect::<Vec<_>>(),
            None => {
                let ways = self.problem.choices.ways[maker].iter();
                ways.map(|way| ((way.results[result], None), way.origin())).collect()
            }
        };
        let mut table = Vec::new();
        for (state, origin) in states {
            for way in self.problem.choices.ways[user].iter() {
                let met = self.problem.met(prices, taken, state, origin, way)?;
                table.push(if state.1.is_none() && met.from == met.to { 0 } else { FORBIDDEN });
            }
        }
        Ok((holder.map_or(maker, |(variable, _)| *variable), table))
    }
}

impl Planner for TiledPlanner<'_, '_> {
    fn program(&self) -> &Program<'_> {
        &self.problem.program
    }

    fn machine(&self) -> &Machine {
        self.problem.choices.classes.target.machine()
    }

    fn network(&self) -> &CostNetwork {
        self.limited.as_ref().map_or(&self.network, |limited| &limited.network)
    }

    fn limits(&self) -> &[SpaceLimit] {
        self.limited.as_ref().map_or(&[], |limited| &limited.limits)
    }

    fn capacities(&self) -> &[SpaceLimit] {
        &self.asked.0
    }

    fn array_of(&self, variable: usize) -> Option<usize> {
        if let Some(instance) = self.problem.program.instances.get(variable) {
            return instance.results.first().copied();
        }
        let holder = |holder: &Option<(usize, _)>| holder.as_ref().is_some_and(|(own, _)| *own == variable);
        let placed = || self.placed().iter().position(|own| own.as_ref().is_some_and(|own| own.variable == variable));
        self.problem.holders.iter().position(holder).or_else(placed)
    }

    fn listed(&self, made: usize) -> Option<ListedLayouts> {
        let LayoutProblem { program, choices, .. } = &self.problem;
        let Made { by, result, .. } = program.made[made];
        let layouts = &choices.classes.all[choices.class[made]].layouts;
        let layouts = layouts.iter().map(|layout| Some(PlannedLayout::Tiled(layout.clone()))).collect();
        let chosen = choices.ways[by].iter().map(|way| usize::from(way.results[result])).collect();
        Some(ListedLayouts { variable: by, layouts, chosen })
    }

    /// Where the fastest memory has a capacity, the best plan that is found with a capacity of nothing, which fits every
    /// capacity. So no capacity costs more than none, however early the search ends.
    fn start(&self, options: &Options, go_on: &mut GoOn) -> Vec<usize> {
        let start = self.in_defaults();
        let Some(network) = self.network_of_nothing() else { return start };
        solve_from(&network, &start, options, go_on).map_or(start, |found| found.certificate.choices)
    }

    fn decode(&self, certificate: Certificate) -> Result<LayoutPlan, Unplanned> {
        let prices = Prices::new(&self.problem.choices.classes);
        Ok(PlanDecoder { problem: &self.problem, prices, placed: self.placed(), certificate }.plan()?)
    }

    fn put_limits(&mut self, limits: &[SpaceLimit], residence: Residence, go_on: &mut GoOn) -> Result<(), Unplanned> {
        if limits.is_empty() {
            return Ok(());
        }
        self.asked.0.extend_from_slice(limits);
        self.asked.1 = residence;
        self.keep_within(0, go_on)
    }

    fn keep(&mut self, bytes: i64) -> Result<(), Unplanned> {
        self.keep_within(bytes, &mut |_| true)
    }

    fn given(&self) -> Option<i64> {
        self.network.cost(&self.given_choices().ok()?).ok()
    }

    fn given_plan(&self) -> Result<Option<LayoutPlan>, Located> {
        let choices = self.given_choices()?;
        let cost = self.network.cost(&choices).map_err(|error| self.disagreed(&choices, &error))?;
        let certificate = Certificate { choices, cost, bound: cost, reductions: Vec::new(), proof: Vec::new() };
        let prices = Prices::new(&self.problem.choices.classes);
        PlanDecoder { problem: &self.problem, prices, placed: &[], certificate }.plan().map(Some)
    }

    /// Operations whose smallest steps need more than the capacity are not cut, nor are those for which no plan leaves so many
    /// bytes.
    fn plan_in_steps(&mut self, options: &Options, go_on: &mut GoOn) -> Result<LayoutPlan, Unplanned> {
        let mut kept = 0;
        let mut last: Option<LayoutPlan> = None;
        loop {
            let room = if kept > 0 { self.keep(kept) } else { Ok(()) };
            let found = room.and_then(|()| self.plan(options, &mut *go_on));
            let plan = match (found, last) {
                (Ok(plan), _) => LayoutPlan { steps: self.steps(&plan)?, kept, ..plan },
                (Err(_), Some(last)) => return self.keep(last.kept).map(|()| last),
                (Err(why), None) => return Err(why),
            };
            let capacity = self.fast_limit().map_or(0, |limit| limit.bytes);
            let needed = plan.steps.iter().filter_map(|own| own.needs.filter(|needs| *needs <= capacity)).max();
            match needed {
                // What needs no more than is kept has room, so this is more each time.
                Some(needs) if needs > kept => (last, kept) = (Some(plan), needs),
                _ => return Ok(plan),
            }
        }
    }

    fn laid_out(&self, plan: &LayoutPlan) -> Result<Vec<LaidOut>, Unplanned> {
        self.tiled_operations(plan)
    }

    fn exceeded(&self, plan: &LayoutPlan) -> Vec<SpaceLimit> {
        self.exceeded_by(&plan.taken)
    }

    /// Whether a plan does in which each array takes the most that it can.
    fn may_exceed(&self) -> Result<bool, Unplanned> {
        let moments = self.problem.moments();
        let most: Vec<Vec<HeldBytes>> =
            moments.iter().enumerate().map(|(made, moments)| self.most_held(made, moments)).collect();
        let taken = self.problem.taken_space(&most).map_err(|error| Unplanned::Wrong(None, error))?;
        Ok(!self.exceeded_by(&taken).is_empty())
    }

    fn add_steps(&self, plan: &mut LayoutPlan) -> Result<(), Unplanned> {
        plan.steps = self.steps(plan)?;
        Ok(())
    }

    fn doubt(&self, plan: &LayoutPlan, options: &Options, go_on: &mut GoOn) -> Option<Doubt> {
        self.doubt_of(plan, options, go_on)
    }

    fn without(&self, relayout: &PlannedRelayout, options: &Options, go_on: &mut GoOn) -> Option<Marginal> {
        let Ok(network) = self.network_without(relayout) else { return Some(Marginal::default()) };
        Some(Marginal::of(solve(&network, options, go_on).map(|found| (found.cost(), found.bound())), options))
    }
}
