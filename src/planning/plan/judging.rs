//! A judge in the loop: something that knows better than the costs here what a plan takes, and is slow.
//!
//! The judge prices the best plan first. Then, for each layout of an argument or a result, the best plan with that layout
//! is looked at: of those arguments and results first whose layout was changed least often, and of these in the order of
//! what the plan costs here. The layouts that are nearly as good are where the costs are most likely to be wrong, and where
//! the costs leave out what matters, it matters for one array and not for another. The plan that the judge likes best is the one that the next changes are made to, and what it has
//! learned goes into the costs: where a change to one layout costs `found` more by the judge and `expected` more here,
//! that layout costs `found - expected` more from then on.
//!
//! Plans whose arguments and results have the same orders are one to the judge, and are priced once.

use super::layout_plan::{LayoutPlan, Unplanned};
use super::planner::Planner;
use super::program::Doing;
use crate::solver::{Certificate, CostNetwork, FORBIDDEN, NetworkError, Options, Progress, min_marginals, solve};
use rustc_hash::{FxHashMap, FxHashSet};
use tensor_layout::tiled::layout::Layout;

/// An argument or a result in another layout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryChange {
    /// Whether it is an argument.
    pub argument: bool,
    /// Its number among the arrays of all arguments, or of all results.
    pub number: usize,
    /// The layout.
    pub layout: Layout,
}

/// What a judge has said of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lesson {
    /// How it differs from the best plan before.
    pub changed: Vec<EntryChange>,
    /// What the plan costs here.
    pub cost: i64,
    /// What the judge says.
    pub judged: Result<i64, String>,
    /// How much more the change costs here than the best plan before.
    pub expected: i64,
    /// How much more it costs by the judge.
    pub found: Option<i64>,
}

/// What prices a plan: its cost, or why it has none; `None` where it is to be asked no more.
pub type Judge<'j> = dyn FnMut(&LayoutPlan) -> Option<Result<i64, String>> + 'j;

/// What is asked now and then whether the search may go on.
type GoOn<'g> = dyn FnMut(&Progress) -> bool + 'g;

impl Planner<'_, '_> {
    /// The plan that a judge likes best of at most `most` plans, and what it has said of each. `go_on` is asked now and
    /// then; when it says no, no more plans are made.
    ///
    /// # Errors
    /// Why there is no plan.
    pub fn judged(
        &self,
        options: &Options,
        most: usize,
        go_on: &mut GoOn,
        judge: &mut Judge,
    ) -> Result<(LayoutPlan, Vec<Lesson>), Unplanned> {
        let first = self.plan(options, go_on)?;
        let mut trial = Trial {
            planner: self,
            options,
            go_on,
            over: false,
            ends: self.ends(),
            proof: first.solution.certificate.clone(),
            seen: FxHashSet::default(),
            learned: FxHashMap::default(),
            changed: FxHashMap::default(),
            pinned: FxHashMap::default(),
            best: first.clone(),
            score: None,
            lessons: Vec::new(),
        };
        if most > 0 {
            trial.judge(first, judge, None);
        }
        if trial.lessons.len() < most && !trial.over {
            // The machine's default layouts: with them no plan is worse than doing nothing.
            let default: FxHashMap<usize, usize> =
                trial.ends.iter().filter_map(|end| Some((end.0, trial.default(*end)?))).collect();
            if let Some(plan) = trial.forced(&default)? {
                trial.judge(plan, judge, None);
            }
        }
        while trial.lessons.len() < most && !trial.over {
            let Some((end, choice, plan)) = trial.next()? else { break };
            trial.judge(plan, judge, Some((end, choice)));
        }
        Ok((trial.best, trial.lessons))
    }

    /// The variables of arguments and results, and the arrays that they make.
    fn ends(&self) -> Vec<(usize, usize)> {
        let instances = self.posed.program.instances.iter().enumerate();
        let ends = instances.filter(|(_, own)| matches!(own.doing, Doing::Argument(..) | Doing::Result(_)));
        ends.filter(|(k, _)| self.posed.choices.ways[*k].len() > 1).map(|(k, own)| (k, own.results[0])).collect()
    }
}

/// A search with a judge.
struct Trial<'p, 'a, 't, 'g> {
    planner: &'p Planner<'a, 't>,
    options: &'p Options,
    go_on: &'p mut GoOn<'g>,
    /// Whether `go_on` or the judge has ended the search.
    over: bool,
    /// The variables whose layouts are tried, and their arrays.
    ends: Vec<(usize, usize)>,
    /// The proof of the bound of all plans.
    proof: Certificate,
    /// The orders of the entry of all plans that were judged.
    seen: FxHashSet<Vec<Vec<usize>>>,
    /// What a choice costs more than its costs here say.
    learned: FxHashMap<(usize, usize), i64>,
    /// How often the layout of an end was changed.
    changed: FxHashMap<usize, usize>,
    /// The choices of the best plan that a change has made.
    pinned: FxHashMap<usize, usize>,
    best: LayoutPlan,
    score: Option<i64>,
    lessons: Vec<Lesson>,
}

impl Trial<'_, '_, '_, '_> {
    /// The choice of an end that is the target's default.
    fn default(&self, (variable, made): (usize, usize)) -> Option<usize> {
        let result = self.planner.posed.program.made[made].result;
        self.planner.posed.choices.ways[variable].iter().position(|way| way.results[result] == 0)
    }

    /// The problem with what was learned, and with some choices made.
    fn network(&self, forced: &FxHashMap<usize, usize>) -> Result<CostNetwork, NetworkError> {
        let from = self.planner.network();
        let mut network = CostNetwork::new();
        for (variable, costs) in from.variables().iter().enumerate() {
            let cost = |(choice, cost): (usize, &i64)| match forced.get(&variable) {
                Some(only) if *only != choice => FORBIDDEN,
                _ if *cost == FORBIDDEN => FORBIDDEN,
                _ => cost.saturating_add(self.learned.get(&(variable, choice)).copied().unwrap_or(0)),
            };
            network.add_variable(costs.iter().enumerate().map(cost).collect())?;
        }
        for edge in from.edges() {
            network.add_edge(edge.ends[0], edge.ends[1], edge.costs.clone())?;
        }
        for capacity in from.capacities() {
            network.add_resource(*capacity)?;
        }
        for own in from.occupancies() {
            network.add_occupancy(own.variable, own.resource, own.moments.clone(), own.amounts.clone())?;
        }
        Ok(network)
    }

    /// The best plan with some choices made; `None` where there is none.
    fn forced(&mut self, forced: &FxHashMap<usize, usize>) -> Result<Option<LayoutPlan>, Unplanned> {
        let network = self.network(forced).map_err(wrong)?;
        let (ask, over) = (&mut self.go_on, &mut self.over);
        let solution = solve(&network, self.options, &mut |progress| {
            *over |= !ask(progress);
            !*over
        });
        let Ok(solution) = solution else { return Ok(None) };
        let choices = solution.certificate.choices;
        let Ok(cost) = self.planner.network().cost(&choices) else { return Ok(None) };
        self.planner.told(Certificate { choices, cost, ..self.proof.clone() }).map(Some)
    }

    /// The change to the best plan that comes next and that the judge has not seen.
    fn next(&mut self) -> Result<Option<(usize, usize, LayoutPlan)>, Unplanned> {
        // Without what is pinned, so that pinned layouts have alternatives, too.
        let network = self.network(&FxHashMap::default()).map_err(wrong)?;
        let variables: Vec<usize> = self.ends.iter().map(|(variable, _)| *variable).collect();
        let ask = &mut self.go_on;
        let found = min_marginals(&network, &variables, self.options, &mut |progress| ask(progress));
        let mut all = Vec::new();
        for (variable, marginals) in variables.iter().zip(found.unwrap_or_default()) {
            let own = self.best.solution.choices()[*variable];
            let others = marginals.into_iter().enumerate().filter(|(choice, _)| *choice != own);
            let changed = self.changed.get(variable).copied().unwrap_or(0);
            all.extend(others.filter_map(|(choice, other)| Some((changed, other.cost?, *variable, choice))));
        }
        all.sort_unstable();
        for (_, _, variable, choice) in all {
            let mut forced = self.pinned.clone();
            forced.insert(variable, choice);
            if let Some(plan) = self.forced(&forced)?.filter(|plan| !self.seen.contains(&entry_orders(plan))) {
                return Ok(Some((variable, choice, plan)));
            }
            if self.over {
                break;
            }
        }
        Ok(None)
    }

    /// Asks the judge, learns from what it says, and keeps the plan if it is better.
    fn judge(&mut self, plan: LayoutPlan, judge: &mut Judge, change: Option<(usize, usize)>) {
        if !self.seen.insert(entry_orders(&plan)) {
            return;
        }
        if let Some((variable, _)) = change {
            *self.changed.entry(variable).or_default() += 1;
        }
        let Some(judged) = judge(&plan) else {
            self.over = true;
            return;
        };
        let expected = plan.cost.saturating_sub(self.best.cost);
        let found = judged.as_ref().ok().zip(self.score).map(|(judged, best)| judged.saturating_sub(best));
        self.lessons.push(Lesson {
            changed: changes(&self.best, &plan),
            cost: plan.cost,
            judged: judged.clone(),
            expected,
            found,
        });
        if let Some((change, found)) = change.zip(found) {
            let learned = self.learned.entry(change).or_default();
            *learned = found.saturating_sub(expected);
        }
        if let Ok(judged) = judged
            && self.score.is_none_or(|best| judged < best)
        {
            if let Some((variable, choice)) = change {
                self.pinned.insert(variable, choice);
            } else if self.score.is_some() {
                self.pinned = self.ends.iter().map(|(end, _)| (*end, plan.solution.choices()[*end])).collect();
            }
            self.score = Some(judged);
            self.best = plan;
        }
    }
}

fn wrong(error: NetworkError) -> Unplanned {
    Unplanned::Wrong(None, error.into())
}

/// The orders of all arguments and results: what a judge sees.
fn entry_orders(plan: &LayoutPlan) -> Vec<Vec<usize>> {
    plan.arguments.iter().chain(&plan.results).map(|layout| layout.minor_to_major.clone()).collect()
}

/// How the entry of a plan differs from that of another.
fn changes(from: &LayoutPlan, to: &LayoutPlan) -> Vec<EntryChange> {
    let side = |argument: bool, from: &[Layout], to: &[Layout]| {
        let differ = from.iter().zip(to).enumerate().filter(|(_, (from, to))| from != to);
        differ.map(|(number, (_, to))| EntryChange { argument, number, layout: to.clone() }).collect::<Vec<_>>()
    };
    [side(true, &from.arguments, &to.arguments), side(false, &from.results, &to.results)].concat()
}
