//! Reductions that keep a best plan, with or without capacities.
//!
//! - **Drop** a choice that is forbidden, or has no partner left at some neighbour.
//! - **Dominance**: drop a choice `k` for another `k'` that takes no more of any resource, and costs no more whatever
//!   the neighbours choose: `c(k') - c(k) + sum over edges of max over l of (e(k', l) - e(k, l)) <= 0`.
//! - **Merge** a variable into a neighbour whose choice determines its own, if tables do not grow by that.
//!
//! A reduction is tried wherever something has changed, until nothing changes.

use super::pairwise::{TOP, clamped, forbidden, plus};
use crate::solver::certificate::Reduction;
use crate::solver::network::{CostNetwork, FORBIDDEN};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The limit on table entries of a variable for the search for dominated choices.
const DOMINANCE_ENTRIES: usize = 1 << 16;

/// Table entries between two calls to the caller.
const LOOK: u64 = 1 << 18;

/// The span of an occupancy: the resource, the first moment, and the one after the last.
pub type Span = (u32, i64, i64);

/// The costs of the pairs of two variables, row-major, `ends[0]` first.
pub struct PairCosts {
    pub ends: [u32; 2],
    pub costs: Arc<Vec<i64>>,
}

/// The network during the reductions. Dropped choices cost [`TOP`].
pub struct Reduced {
    /// The costs of each variable; empty if it was merged.
    pub unary: Vec<Vec<i64>>,
    pub pairs: Vec<Option<PairCosts>>,
    /// For each variable, a map from neighbour to pair.
    near: Vec<FxHashMap<u32, u32>>,
    /// For each variable, the number of choices of all its neighbours.
    around: Vec<i64>,
    /// The amounts that each variable takes, for each choice.
    pub stays: Vec<FxHashMap<Span, Vec<i64>>>,
    /// The reductions so far, in order.
    pub steps: Vec<Reduction>,
    /// For each merge in `steps`: the merged variable, its target, and the choice that follows from each choice of the
    /// target.
    pub follows: Vec<(u32, u32, Vec<u32>)>,
    /// Variables whose choices are to be checked.
    queue: VecDeque<u32>,
    queued: Vec<bool>,
    /// Pairs whose ends may be merged.
    candidates: VecDeque<u32>,
}

impl Reduced {
    /// Reduces a network; the error is a variable without a possible choice. Calls `go` from time to time with the
    /// table entries visited since; if it declines, the result is the network reduced so far.
    pub fn new(network: &CostNetwork, mut go: impl FnMut(u64) -> bool) -> Result<Reduced, usize> {
        let count = network.variables().len();
        let clamp = |costs: &Vec<i64>| costs.iter().map(|cost| clamped(*cost)).collect::<Vec<i64>>();
        let mut reduced = Reduced {
            unary: network.variables().iter().map(clamp).collect(),
            pairs: Vec::with_capacity(network.edges().len()),
            near: vec![FxHashMap::default(); count],
            around: vec![0; count],
            stays: vec![FxHashMap::default(); count],
            steps: Vec::new(),
            follows: Vec::new(),
            queue: (0..count as u32).collect(),
            queued: vec![true; count],
            candidates: VecDeque::new(),
        };
        let mut known: FxHashMap<*const Vec<i64>, Arc<Vec<i64>>> = FxHashMap::default();
        for edge in network.edges() {
            let costs =
                known.entry(Arc::as_ptr(&edge.costs)).or_insert_with(|| match edge.costs.contains(&FORBIDDEN) {
                    true => Arc::new(clamp(&edge.costs)),
                    false => edge.costs.clone(),
                });
            reduced.add_pair(edge.ends.map(|end| end as u32), costs.clone());
        }
        for stay in network.occupancies() {
            let span = (stay.resource as u32, stay.moments.start, stay.moments.end);
            reduced.add_stay(stay.variable, span, stay.amounts.clone());
        }
        let mut work = 0;
        loop {
            // Merges first: a variable is then visited once, not after each merge.
            let seen = if let Some(pair) = reduced.candidates.pop_front() {
                reduced.try_merge(pair)
            } else if let Some(variable) = reduced.queue.pop_front() {
                reduced.queued[variable as usize] = false;
                let entries = reduced.entries(variable);
                reduced.visit(variable)?;
                entries
            } else {
                return Ok(reduced);
            };
            work += seen;
            if work >= LOOK && !go(std::mem::take(&mut work)) {
                return Ok(reduced);
            }
        }
    }

    /// The number of entries of a variable's tables.
    fn entries(&self, variable: u32) -> u64 {
        let around = u64::try_from(self.around[variable as usize]).unwrap_or(0);
        1 + around * self.unary[variable as usize].len() as u64
    }

    fn visit(&mut self, variable: u32) -> Result<(), usize> {
        if self.unary[variable as usize].is_empty() {
            return Ok(());
        }
        let mut changed = self.drop_choices(variable);
        if self.alive(variable) == 0 {
            return Err(variable as usize);
        }
        changed |= self.drop_dominated(variable);
        if changed {
            let mut near: Vec<(u32, u32)> = self.near[variable as usize].iter().map(|(v, at)| (*v, *at)).collect();
            near.sort_unstable();
            for (other, pair) in near {
                self.push(other);
                self.candidates.push_back(pair);
            }
        }
        Ok(())
    }

    /// Merges the ends of a pair if possible; returns the entries visited.
    fn try_merge(&mut self, pair: u32) -> u64 {
        let Some(PairCosts { ends: [a, b], .. }) = self.pairs[pair as usize] else { return 1 };
        let merges = [(a, b), (b, a)]
            .into_iter()
            .filter_map(|(from, into)| Some((self.moved(from), from, into, self.mergeable(from, into)?)));
        let Some((_, from, into, follows)) = merges.min_by_key(|(moved, ..)| *moved) else { return 1 };
        let entries = self.entries(from);
        self.merge(from, into, follows);
        entries
    }

    /// The cost of merging a variable: the number of its pairs and stays.
    fn moved(&self, variable: u32) -> usize {
        self.near[variable as usize].len() + self.stays[variable as usize].len()
    }

    fn push(&mut self, variable: u32) {
        if !std::mem::replace(&mut self.queued[variable as usize], true) {
            self.queue.push_back(variable);
        }
    }

    pub fn alive(&self, variable: u32) -> usize {
        self.unary[variable as usize].iter().filter(|cost| !forbidden(**cost)).count()
    }

    fn add_pair(&mut self, ends: [u32; 2], costs: Arc<Vec<i64>>) {
        let [a, b] = ends;
        if let Some(at) = self.near[a as usize].get(&b) {
            let pair = self.pairs[*at as usize].as_mut().expect("neighbours have a pair");
            let costs = if pair.ends == ends { costs } else { Arc::new(turned(&costs, self.unary[a as usize].len())) };
            Arc::make_mut(&mut pair.costs).iter_mut().zip(&*costs).for_each(|(sum, cost)| *sum = plus(*sum, *cost));
            self.candidates.push_back(*at);
            return;
        }
        let at = self.pairs.len() as u32;
        self.pairs.push(Some(PairCosts { ends, costs }));
        self.candidates.push_back(at);
        for (end, other) in [(a, b), (b, a)] {
            self.near[end as usize].insert(other, at);
            self.around[end as usize] += self.unary[other as usize].len() as i64;
        }
    }

    fn add_stay(&mut self, variable: usize, span: Span, amounts: Vec<i64>) {
        match self.stays[variable].entry(span) {
            Entry::Occupied(mut sums) => sums.get_mut().iter_mut().zip(amounts).for_each(|(sum, more)| *sum += more),
            Entry::Vacant(entry) => drop(entry.insert(amounts)),
        }
    }

    /// The costs of the pair of two neighbours, and the strides along the choices of each.
    fn view(&self, a: u32, b: u32) -> (&[i64], usize, usize) {
        let pair = self.pairs[self.near[a as usize][&b] as usize].as_ref().expect("neighbours have a pair");
        match pair.ends[0] == a {
            true => (&pair.costs, self.unary[b as usize].len(), 1),
            false => (&pair.costs, 1, self.unary[a as usize].len()),
        }
    }

    /// Drops choices without a partner at some neighbour.
    fn drop_choices(&mut self, variable: u32) -> bool {
        let v = variable as usize;
        let mut dropped = Vec::new();
        for choice in (0..self.unary[v].len()).filter(|choice| !forbidden(self.unary[v][*choice])) {
            let alone = self.near[v].keys().any(|other| {
                let (costs, own, step) = self.view(variable, *other);
                let unary = self.unary[*other as usize].iter().enumerate();
                !unary.into_iter().any(|(l, cost)| !forbidden(*cost) && !forbidden(costs[choice * own + l * step]))
            });
            if alone {
                dropped.push(choice);
            }
        }
        for choice in &dropped {
            self.unary[v][*choice] = TOP;
            self.steps.push(Reduction::Drop { variable: v, choice: *choice });
        }
        !dropped.is_empty()
    }

    fn drop_dominated(&mut self, variable: u32) -> bool {
        let v = variable as usize;
        let near: usize = self.near[v].keys().map(|other| self.unary[*other as usize].len()).sum();
        let alive: Vec<usize> = (0..self.unary[v].len()).filter(|k| !forbidden(self.unary[v][*k])).collect();
        if alive.len() < 2 || near * alive.len() * alive.len() > DOMINANCE_ENTRIES * 64 {
            return false;
        }
        let sides: Vec<Side> = self.near[v].keys().map(|other| self.side(variable, *other)).collect();
        let cheapest: Vec<Vec<Option<usize>>> =
            alive.iter().map(|k| sides.iter().map(|side| side.cheapest(*k)).collect()).collect();
        let mut gone = vec![false; alive.len()];
        let mut dropped = Vec::new();
        for (at, choice) in alive.iter().enumerate() {
            let others = (0..alive.len()).filter(|other| *other != at && !gone[*other]);
            let by = others.map(|other| alive[other]).find(|by| {
                self.stays[v].values().all(|amounts| amounts[*by] <= amounts[*choice])
                    && dominates(&sides, &cheapest[at], self.unary[v][*by] - self.unary[v][*choice], *by, *choice)
            });
            if let Some(by) = by {
                gone[at] = true;
                dropped.push((*choice, by));
            }
        }
        for (choice, by) in &dropped {
            self.unary[v][*choice] = TOP;
            self.steps.push(Reduction::Dominated { variable: v, choice: *choice, by: *by });
        }
        !dropped.is_empty()
    }

    /// The pairs with a neighbour, and its remaining choices.
    fn side(&self, variable: u32, other: u32) -> Side<'_> {
        let (costs, own, step) = self.view(variable, other);
        let unary = self.unary[other as usize].iter().enumerate();
        let places = unary.filter(|(_, cost)| !forbidden(**cost)).map(|(l, _)| l * step).collect();
        Side { costs, own, places }
    }

    /// For each choice of `into`, the only choice it leaves to its neighbour `from`; `None` if there are several, or
    /// tables would grow.
    fn mergeable(&self, from: u32, into: u32) -> Option<Vec<u32>> {
        let (f, i) = (from as usize, into as usize);
        let (size, new) = (self.unary[f].len() as i64, self.unary[i].len() as i64);
        let entries = self.around[f] - new;
        if (new - size) * entries > new * size {
            return None;
        }
        let (costs, own, step) = self.view(into, from);
        let alive: Vec<usize> = (0..self.unary[f].len()).filter(|j| !forbidden(self.unary[f][*j])).collect();
        let any = *alive.first()? as u32;
        let mut follows = Vec::with_capacity(self.unary[i].len());
        for (choice, unary) in self.unary[i].iter().enumerate() {
            let mut possible = alive.iter().filter(|j| !forbidden(costs[choice * own + **j * step]));
            let first = possible.next();
            if forbidden(*unary) {
                follows.push(any);
                continue;
            }
            if possible.next().is_some() {
                return None;
            }
            follows.push(*first? as u32);
        }
        Some(follows)
    }

    fn merge(&mut self, from: u32, into: u32, follows: Vec<u32>) {
        let (f, i) = (from as usize, into as usize);
        let (costs, own, step) = self.view(into, from);
        let more: Vec<i64> = follows
            .iter()
            .enumerate()
            .map(|(choice, j)| plus(costs[choice * own + *j as usize * step], self.unary[f][*j as usize]))
            .collect();
        self.unary[i].iter_mut().zip(more).for_each(|(sum, more)| *sum = plus(*sum, more));
        let at = self.near[f].remove(&into).expect("neighbours have a pair");
        self.near[i].remove(&from);
        self.around[i] -= self.unary[f].len() as i64;
        self.pairs[at as usize] = None;
        let mut moved: Vec<(u32, u32)> = self.near[f].drain().collect();
        moved.sort_unstable();
        for (other, at) in moved {
            let pair = self.pairs[at as usize].take().expect("neighbours have a pair");
            self.near[other as usize].remove(&from);
            self.around[other as usize] -= self.unary[f].len() as i64;
            let width = self.unary[other as usize].len();
            let costs = if pair.ends[0] == from { pair.costs } else { Arc::new(turned(&pair.costs, width)) };
            let rows = follows.iter().flat_map(|j| &costs[*j as usize * width..(*j as usize + 1) * width]);
            let costs: Vec<i64> = rows.copied().collect();
            self.add_pair([into, other], Arc::new(costs));
            self.push(other);
        }
        for (span, amounts) in std::mem::take(&mut self.stays[f]) {
            self.add_stay(i, span, follows.iter().map(|j| amounts[*j as usize]).collect());
        }
        self.unary[f] = Vec::new();
        self.steps.push(Reduction::Merge { from: f, into: i });
        self.follows.push((from, into, follows));
        self.push(into);
    }
}

/// The costs of a variable's pairs with one neighbour; choice `k` with place `p` is at `k * own + p`.
struct Side<'a> {
    costs: &'a [i64],
    own: usize,
    /// The places of the neighbour's remaining choices.
    places: Vec<usize>,
}

impl Side<'_> {
    fn cost(&self, choice: usize, place: usize) -> i64 {
        self.costs[choice * self.own + place]
    }

    /// The place where a choice costs least; `None` if it has no partner.
    fn cheapest(&self, choice: usize) -> Option<usize> {
        let least = self.places.iter().copied().min_by_key(|place| self.cost(choice, *place));
        least.filter(|place| !forbidden(self.cost(choice, *place)))
    }

    /// The largest extra cost of `by` over `choice`; `None` if `by` may be forbidden where `choice` is not.
    fn most(&self, by: usize, choice: usize) -> Option<i64> {
        let mut most = i64::MIN;
        for place in &self.places {
            let (new, old) = (self.cost(by, *place), self.cost(choice, *place));
            if forbidden(old) {
                continue;
            }
            if forbidden(new) {
                return None;
            }
            most = most.max(new - old);
        }
        Some(if most == i64::MIN { 0 } else { most })
    }
}

/// Whether `by`, which costs `more` by itself, can replace `choice` in every plan. `cheapest` has the places where
/// `choice` costs least: most failures already show there, in one look at each neighbour.
fn dominates(sides: &[Side], cheapest: &[Option<usize>], more: i64, by: usize, choice: usize) -> bool {
    let mut least = more;
    for (side, place) in sides.iter().zip(cheapest) {
        let Some(place) = place else { continue };
        let new = side.cost(by, *place);
        if forbidden(new) {
            return false;
        }
        least += new - side.cost(choice, *place);
    }
    if least > 0 {
        return false;
    }
    // The order of the neighbours does not matter for the sum of maxima.
    let most = sides.iter().try_fold(more, |sum, side| Some(sum + side.most(by, choice)?));
    most.is_some_and(|most| most <= 0)
}

/// Transposes a row-major table of `rows` rows.
fn turned(costs: &[i64], rows: usize) -> Vec<i64> {
    let columns = costs.len() / rows;
    (0..columns).flat_map(|j| (0..rows).map(move |i| costs[i * columns + j])).collect()
}
