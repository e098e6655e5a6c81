//! A judge in the loop: something that knows better than the costs here what a plan takes, and is slow.
//!
//! The judge prices the best plan first, then default layouts of arguments and results, and then those that it chooses
//! itself; of the best of them also the layouts inside, which it else chooses. So the plan that is found is never above any of
//! these. Where it says that a program begins with a copy of an argument, or ends with one of a result, it is asked about the
//! layouts on the other side of these copies, too.
//!
//! Then, for each layout of an argument or a result, the best plan with that layout is looked at: of those arguments and
//! results first whose layout was changed least often, and of these in the order of what the plan costs here. The layouts
//! that are nearly as good are where the costs are most likely to be wrong, and where the costs leave out what matters, it
//! matters for one array and not for another. The plan that the judge likes best is the one that the next changes are made
//! to, and what it has learned goes into the costs: where a change to one layout costs `found` more by the judge and
//! `expected` more here, that layout costs `found - expected` more from then on.
//!
//! Plans whose arguments and results have the same orders are one to the judge, and are priced once.

use super::layout_plan::{EntryChange, LayoutPlan, Unplanned};
use super::planned_layout::PlannedLayout;
use super::planner::{GoOn, Planner};
use super::program::EntryOrders;
use super::tiled::TiledPlanner;
use crate::solver::{Certificate, CostNetwork, FORBIDDEN, NetworkError, Options, min_marginals, solve};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most that a layout is taken to cost more or less than here, so that all costs add up within 64 bits.
const MOST_LEARNED: i64 = 1 << 40;

/// A question to a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// A plan.
    Plan,
    /// The judge's default layouts of arguments and results; the plan has those of the machine.
    Default,
    /// The layouts of arguments and results that the judge chooses; the plan is the best so far.
    Auto,
    /// The best plan so far, with its layouts of all values.
    Inner,
    /// A plan that has the layouts beyond the copies of an earlier answer.
    ReadBack,
}

/// The answer of a judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// The cost.
    pub cost: i64,
    /// The layouts of arguments and results that it is the cost of; `None` where these are the plan's.
    pub entry: Option<EntryOrders>,
    /// The same where each argument that is only copied has the order of the copy, and each result that is a copy the order
    /// of what is copied.
    pub read_back: Option<EntryOrders>,
}

/// The judgement of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lesson {
    /// The question.
    pub question: Question,
    /// How it differs from the best plan before.
    pub changed: Vec<EntryChange>,
    /// The cost of the plan here.
    pub cost: i64,
    /// The cost by the judge, or its error.
    pub judged: Result<i64, String>,
    /// How much more the change costs here than the best plan before.
    pub expected: i64,
    /// How much more it costs by the judge.
    pub found: Option<i64>,
}

/// The plan that a judge likes best.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JudgedPlan {
    /// The plan.
    pub plan: LayoutPlan,
    /// Whether the judge likes it best with its layouts of all values, and not of arguments and results alone.
    pub inner: bool,
    /// The least cost here that was found.
    pub least: i64,
    /// The answer.
    pub lessons: Vec<Lesson>,
}

/// A function that prices a plan: the answer, or why there is none; `None` where it is to be asked no more.
pub type Judge<'j> = dyn FnMut(Question, &LayoutPlan) -> Option<Result<Price, String>> + 'j;

impl TiledPlanner<'_, '_> {
    /// The plan that a judge likes best after at most `most` questions. `go_on` is asked now and then; when it says no, no
    /// more plans are made. Where the judge has chosen layouts that the problem lacks, it is [another](TiledPlanner::offering)
    /// afterwards.
    ///
    /// # Errors
    /// Why there is no plan.
    pub fn judged(
        &mut self,
        options: &Options,
        most: usize,
        go_on: &mut GoOn,
        judge: &mut Judge,
    ) -> Result<JudgedPlan, Unplanned> {
        let first = self.plan(options, go_on)?;
        let ends = self.ends();
        let free = ends.iter().any(|(variable, _)| self.problem.choices.ways[*variable].len() > 1);
        let mut trial = JudgedSearch {
            planner: self,
            options,
            go_on,
            free,
            over: false,
            ended: most == 0,
            most,
            ends,
            proof: first.solution.certificate.clone(),
            seen: FxHashSet::default(),
            copied: BinaryHeap::new(),
            learned: FxHashMap::default(),
            changed: FxHashMap::default(),
            pinned: FxHashMap::default(),
            best: first.clone(),
            inner: false,
            score: None,
            entry_score: None,
            lessons: Vec::new(),
        };
        trial.ask(judge, Question::Plan, first, None)?;
        if trial.free {
            // The machine's default layouts: with them no plan is worse than doing nothing.
            let default = trial.planner.entry_choices(&trial.ends, |_, _| Some(0));
            if let Some(plan) = default.map_or(Ok(None), |default| trial.forced(&default))? {
                trial.ask(judge, Question::Default, plan, None)?;
            }
            trial.ask(judge, Question::Auto, trial.best.clone(), None)?;
        }
        trial.ask(judge, Question::Inner, trial.best.clone(), None)?;
        while !trial.ended && !trial.over {
            if let Some(plan) = trial.read_back()? {
                trial.ask(judge, Question::ReadBack, plan, None)?;
                continue;
            }
            let Some((end, choice, plan)) = trial.next()? else { break };
            trial.ask(judge, Question::Plan, plan, Some((end, choice)))?;
        }
        Ok(JudgedPlan { plan: trial.best, inner: trial.inner, least: trial.proof.cost, lessons: trial.lessons })
    }
}

/// A search with a judge.
struct JudgedSearch<'p, 'a, 't, 'g> {
    planner: &'p mut TiledPlanner<'a, 't>,
    options: &'p Options,
    go_on: &'p mut GoOn<'g>,
    /// Whether arguments and results may be laid out in any order.
    free: bool,
    /// Whether `go_on` has ended the search.
    over: bool,
    /// Whether the judge is asked no more.
    ended: bool,
    most: usize,
    /// The variables of arguments and then of results, and their arrays.
    ends: Vec<(usize, usize)>,
    /// The proof of the bound of all plans.
    proof: Certificate,
    /// The orders of the entry of all plans that were judged.
    seen: FxHashSet<EntryOrders>,
    /// Entries beyond the copies of what was judged, and the costs with these copies.
    copied: BinaryHeap<Reverse<(i64, EntryOrders)>>,
    /// The learned correction to the cost of a choice.
    learned: FxHashMap<(usize, usize), i64>,
    /// How often the layout of an end was changed.
    changed: FxHashMap<usize, usize>,
    /// The choices of the best plan that a change has made.
    pinned: FxHashMap<usize, usize>,
    best: LayoutPlan,
    inner: bool,
    score: Option<i64>,
    /// The price of the best plan's entry alone.
    entry_score: Option<i64>,
    lessons: Vec<Lesson>,
}

impl JudgedSearch<'_, '_, '_, '_> {
    /// The best plan with these orders of arguments and results; `None` where there is none.
    fn with_orders(&mut self, orders: &EntryOrders) -> Result<Option<LayoutPlan>, Unplanned> {
        if self.ordered(orders).is_none() && self.free {
            self.offer(orders)?;
        }
        self.ordered(orders).map_or(Ok(None), |choices| self.forced(&choices))
    }

    /// Offers arguments and results orders that are in no list, if time is left.
    fn offer(&mut self, orders: &EntryOrders) -> Result<(), Unplanned> {
        // Planned anew, the best plan might have other layouts inside than those that the judge has priced.
        if self.inner {
            return Ok(());
        }
        let offered = self.planner.offering(std::slice::from_ref(orders), self.go_on);
        let found = offered.and_then(|planner| Ok((planner.plan(self.options, self.go_on)?, planner)));
        let Ok((first, planner)) = found else { return Ok(()) };
        let before = std::mem::replace(self.planner, planner);
        let proof = std::mem::replace(&mut self.proof, first.solution.certificate);
        // Choices have other numbers now.
        let learned = std::mem::take(&mut self.learned);
        let best = self.ordered(&entry_orders(&self.best));
        let plan = best.as_ref().map_or(Ok(None), |best| self.forced(best))?;
        match plan.zip(best) {
            Some((plan, best)) => (self.best, self.pinned) = (plan, best),
            None => (*self.planner, self.proof, self.learned) = (before, proof, learned),
        }
        Ok(())
    }

    /// Whether a plan has these orders of arguments and results, or places all elements as they do.
    fn has_orders(&self, plan: &LayoutPlan, orders: &EntryOrders) -> bool {
        let chosen = |(variable, choice): (&usize, &usize)| plan.solution.choices()[*variable] == *choice;
        *orders == entry_orders(plan) || self.ordered(orders).is_some_and(|choices| choices.iter().all(chosen))
    }

    /// The choices with these orders of arguments and results.
    fn ordered(&self, orders: &EntryOrders) -> Option<FxHashMap<usize, usize>> {
        let classes = &self.planner.problem.choices.classes;
        self.planner.entry_choices(&self.ends, |end, class| classes.find(class, orders.get(end)?))
    }

    /// The plan beyond the copies of the best answer so far that has some and was not asked about.
    fn read_back(&mut self) -> Result<Option<LayoutPlan>, Unplanned> {
        while let Some(Reverse((_, orders))) = self.copied.pop() {
            let plan = self.with_orders(&orders)?;
            let plan = plan.filter(|plan| !self.seen.contains(&entry_orders(plan)));
            if plan.is_some() || self.over {
                return Ok(plan);
            }
        }
        Ok(None)
    }

    /// The problem with what was learned, and with some choices made.
    fn network(&self, forced: &FxHashMap<usize, usize>) -> Result<CostNetwork, NetworkError> {
        self.planner.network().with_costs(|variable, choice, cost| match forced.get(&variable) {
            Some(only) if *only != choice => FORBIDDEN,
            _ if cost == FORBIDDEN => FORBIDDEN,
            _ => cost.saturating_add(self.learned.get(&(variable, choice)).copied().unwrap_or(0)),
        })
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
        self.planner.decode(Certificate { choices, cost, ..self.proof.clone() }).map(Some)
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
    fn ask(
        &mut self,
        judge: &mut Judge,
        question: Question,
        mut plan: LayoutPlan,
        change: Option<(usize, usize)>,
    ) -> Result<(), Unplanned> {
        let is_known = !self.seen.insert(entry_orders(&plan));
        if self.ended || is_known && !matches!(question, Question::Auto | Question::Inner) {
            return Ok(());
        }
        if let Some((variable, _)) = change {
            *self.changed.entry(variable).or_default() += 1;
        }
        let Some(price) = judge(question, &plan) else {
            self.ended = true;
            return Ok(());
        };
        let mut is_other = false;
        let judged = match price {
            Ok(Price { entry: None, .. }) if question == Question::Auto => {
                Err("the judge does not say the `entry` that it has chosen".to_string())
            }
            Ok(price) => {
                // Copies after a change that has made the program dearer lead back to where it was.
                let may_lead_on = change.is_none() || self.entry_score.is_none_or(|best| price.cost < best);
                let read_back = price.read_back.filter(|_| may_lead_on);
                self.copied.extend(read_back.map(|read_back| Reverse((price.cost, read_back))));
                let other = price.entry.filter(|entry| !self.has_orders(&plan, entry));
                is_other = other.is_some();
                match other.map_or(Ok(Some(plan.clone())), |other| self.with_orders(&other))? {
                    Some(priced) => {
                        plan = priced;
                        self.seen.insert(entry_orders(&plan));
                        Ok(price.cost)
                    }
                    None => Err(format!("{} with layouts of arguments and results that no plan has", price.cost)),
                }
            }
            Err(error) => Err(error),
        };
        let expected = plan.cost.saturating_sub(self.best.cost);
        let found = judged.as_ref().ok().zip(self.entry_score).map(|(judged, best)| judged.saturating_sub(best));
        let changed = changes(&self.best, &plan);
        self.lessons.push(Lesson { question, changed, cost: plan.cost, judged: judged.clone(), expected, found });
        self.ended = self.lessons.len() >= self.most;
        let change = change.filter(|_| !is_other);
        if let Some((change, found)) = change.zip(found) {
            let learned = self.learned.entry(change).or_default();
            *learned = found.saturating_sub(expected).clamp(-MOST_LEARNED, MOST_LEARNED);
        }
        if let Ok(judged) = judged
            && self.score.is_none_or(|best| judged < best)
        {
            self.keep(question, plan, judged, (change, is_other));
        }
        Ok(())
    }

    /// Keeps the plan of an answer as the best one: what it was changed in is left as it is from then on, or its whole entry
    /// where the judge has chosen that.
    fn keep(
        &mut self,
        question: Question,
        plan: LayoutPlan,
        judged: i64,
        (change, is_other): (Option<(usize, usize)>, bool),
    ) {
        if let Some((variable, choice)) = change {
            self.pinned.insert(variable, choice);
        } else if is_other || !matches!(question, Question::Plan | Question::Inner) {
            self.pinned = self.ends.iter().map(|(end, _)| (*end, plan.solution.choices()[*end])).collect();
        }
        self.inner = question == Question::Inner && !is_other;
        if !self.inner {
            self.entry_score = Some(judged);
        }
        (self.score, self.best) = (Some(judged), plan);
    }
}

fn wrong(error: NetworkError) -> Unplanned {
    Unplanned::Wrong(None, error.into())
}

/// The orders of all arguments and results: what a judge sees.
fn entry_orders(plan: &LayoutPlan) -> Vec<Vec<usize>> {
    plan.arguments.iter().chain(&plan.results).map(|layout| layout.order().to_vec()).collect()
}

/// How the entry of a plan differs from that of another.
fn changes(from: &LayoutPlan, to: &LayoutPlan) -> Vec<EntryChange> {
    let side = |argument: bool, from: &[PlannedLayout], to: &[PlannedLayout]| {
        let differ = from.iter().zip(to).enumerate().filter(|(_, (from, to))| from != to);
        differ.map(|(number, (_, to))| EntryChange { argument, number, layout: to.clone() }).collect::<Vec<_>>()
    };
    [side(true, &from.arguments, &to.arguments), side(false, &from.results, &to.results)].concat()
}
