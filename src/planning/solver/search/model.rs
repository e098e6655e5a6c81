//! The reduced network in flat arrays, and the moments at which capacities matter.
//!
//! Live variables change only at moments where an occupancy begins or ends, so one moment stands for all up to the
//! next. A moment is redundant if its live variables are all live at a neighbouring moment with no more room. The least
//! amount of each variable, taken for every choice, is subtracted from the capacity.

use super::answer::NoPlan;
use super::pairwise::{Pairwise, forbidden, plus};
use super::reduce::{Reduced, Span};
use crate::solver::certificate::Reduction;
use crate::solver::network::CostNetwork;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// The amount that each choice of a variable takes at some moments.
#[derive(Clone, Debug)]
pub struct Hold {
    /// A range of moment numbers.
    pub moments: Range<u32>,
    /// The offset of its amounts in [`WorkingNetwork::amounts`].
    pub amounts: usize,
}

/// A moment of a resource.
#[derive(Clone, Copy, Debug)]
pub struct ResourceMoment {
    pub resource: usize,
    pub time: i64,
    /// The capacity left for amounts that depend on choices.
    pub room: i64,
}

pub struct WorkingNetwork {
    pub pairwise: Pairwise,
    /// The link numbers of each variable.
    pub links_of: Vec<Vec<u32>>,
    /// The holds of each variable.
    pub holds: Vec<Vec<Hold>>,
    pub amounts: Vec<i64>,
    /// Sorted by resource, then by time.
    pub moments: Vec<ResourceMoment>,
    /// For each variable of the model, the variable of the network, and its remaining choices.
    pub names: Vec<(usize, Vec<u32>)>,
    pub reductions: Vec<Reduction>,
    /// The number of choices of each variable in the network.
    pub sizes: Vec<usize>,
    follows: Vec<(u32, u32, Vec<u32>)>,
    pub largest_cost: i64,
}

impl WorkingNetwork {
    /// Builds the reduced network; `go` is called as in [`Reduced::new`].
    pub fn new(network: &CostNetwork, go: impl FnMut(u64) -> bool) -> Result<WorkingNetwork, NoPlan> {
        let reduced = Reduced::new(network, go).map_err(|variable| NoPlan::Forbidden { variable })?;
        let mut number = vec![u32::MAX; reduced.unary.len()];
        let mut model = WorkingNetwork {
            pairwise: Pairwise::new(),
            links_of: Vec::new(),
            holds: Vec::new(),
            amounts: Vec::new(),
            moments: Vec::new(),
            names: Vec::new(),
            reductions: reduced.steps,
            sizes: network.variables().iter().map(Vec::len).collect(),
            follows: reduced.follows,
            largest_cost: network.largest_cost(),
        };
        for (variable, costs) in reduced.unary.iter().enumerate().filter(|(_, costs)| !costs.is_empty()) {
            let choices = (0..costs.len() as u32).filter(|choice| !forbidden(costs[*choice as usize]));
            let choices: Vec<u32> = choices.collect();
            number[variable] = model.names.len() as u32;
            model.pairwise.add_variable(choices.iter().map(|choice| costs[*choice as usize]));
            model.names.push((variable, choices));
        }
        model.links_of = vec![Vec::new(); model.names.len()];
        for pair in reduced.pairs.iter().flatten() {
            let width = reduced.unary[pair.ends[1] as usize].len();
            let ends = pair.ends.map(|end| number[end as usize]);
            for end in ends {
                model.links_of[end as usize].push(model.pairwise.links.len() as u32);
            }
            let [rows, columns] = ends.map(|end| &model.names[end as usize].1);
            let row = |i: &u32| &pair.costs[*i as usize * width..][..width];
            let costs = rows.iter().flat_map(|i| columns.iter().map(|j| row(i)[*j as usize]));
            model.pairwise.add_link(ends, costs);
        }
        model.add_moments(network, &reduced.stays, &number)?;
        Ok(model)
    }

    fn add_moments(
        &mut self,
        network: &CostNetwork,
        stays: &[FxHashMap<Span, Vec<i64>>],
        number: &[u32],
    ) -> Result<(), NoPlan> {
        // The amounts independent of choices, and the moments where amounts that depend on the choice begin and end.
        let mut changes: BTreeMap<(usize, i64), Change> = BTreeMap::new();
        let mut left: Vec<(u32, Span, Vec<i64>)> = Vec::new();
        for (variable, stays) in stays.iter().enumerate().filter(|(_, stays)| !stays.is_empty()) {
            let choices = &self.names[number[variable] as usize].1;
            let mut spans: Vec<Span> = stays.keys().copied().collect();
            spans.sort_unstable();
            for span in spans {
                let amounts: Vec<i64> = choices.iter().map(|choice| stays[&span][*choice as usize]).collect();
                let least = amounts.iter().copied().min().unwrap_or(0);
                let most = amounts.iter().copied().max().unwrap_or(0);
                let [begin, end] = [span.1, span.2].map(|moment| (span.0 as usize, moment));
                changes.entry(begin).or_default().add(least, most, u32::from(most > least), 0);
                changes.entry(end).or_default().add(-least, -most, 0, u32::from(most > least));
                if most > least {
                    left.push((number[variable], span, amounts.iter().map(|amount| amount - least).collect()));
                }
            }
        }
        self.moments = moments(network, &changes)
            .map_err(|(resource, moment, least)| shortage(network, stays, resource, moment, least))?;
        self.holds = vec![Vec::new(); self.names.len()];
        let mut found: FxHashMap<(u32, u32, u32), usize> = FxHashMap::default();
        for (variable, (resource, begin, end), amounts) in left {
            let at = |time| self.moments.partition_point(|m| (m.resource, m.time) < (resource as usize, time)) as u32;
            let moments = at(begin)..at(end);
            if moments.is_empty() {
                continue;
            }
            match found.get(&(variable, moments.start, moments.end)) {
                Some(at) => {
                    let sums = &mut self.amounts[*at..*at + amounts.len()];
                    sums.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += amount);
                }
                None => {
                    found.insert((variable, moments.start, moments.end), self.amounts.len());
                    self.holds[variable as usize].push(Hold { moments, amounts: self.amounts.len() });
                    self.amounts.extend(amounts);
                }
            }
        }
        Ok(())
    }

    /// The power of 2 to scale costs by for integer duals: sums, `load` included, stay below 2^58.
    pub fn shift(&self, load: f64) -> u32 {
        (57.0 - (1.0 + self.largest_cost as f64 + load).log2().ceil()).clamp(0.0, 40.0) as u32
    }

    /// Translates a plan of the model to one of the network.
    pub fn lifted(&self, plan: &[u32]) -> Vec<usize> {
        let mut choices = vec![0u32; self.sizes.len()];
        for ((variable, names), choice) in self.names.iter().zip(plan) {
            choices[*variable] = names[*choice as usize];
        }
        for (from, into, follows) in self.follows.iter().rev() {
            choices[*from as usize] = follows[choices[*into as usize] as usize];
        }
        choices.into_iter().map(|choice| choice as usize).collect()
    }

    /// A plan of the model that costs no more than a legal plan of the network, and takes no more.
    pub fn narrowed(&self, choices: &[usize]) -> Option<Vec<u32>> {
        let mut choices = choices.to_vec();
        for step in &self.reductions {
            if let Reduction::Dominated { variable, choice, by } = step
                && choices[*variable] == *choice
            {
                choices[*variable] = *by;
            }
        }
        let place = |(variable, names): &(usize, Vec<u32>)| {
            let at = names.iter().position(|name| *name as usize == choices[*variable]);
            at.and_then(|at| u32::try_from(at).ok())
        };
        self.names.iter().map(place).collect()
    }

    /// The cost of a plan without regard to capacities; forbidden if a choice or pair is.
    pub fn cost(&self, plan: &[u32]) -> i64 {
        let unary =
            plan.iter().enumerate().map(|(v, choice)| self.pairwise.unary[self.pairwise.start[v] + *choice as usize]);
        let pairs = self.pairwise.links.iter().map(|link| self.pair_cost(*link, plan));
        unary.chain(pairs).fold(0, plus)
    }

    pub fn pair_cost(&self, link: super::pairwise::Binary, plan: &[u32]) -> i64 {
        let [i, j] = link.ends.map(|end| plan[end as usize] as usize);
        self.pairwise.tables[link.table + i * self.pairwise.size(link.ends[1]) + j]
    }
}

/// The changes of use at a moment.
#[derive(Default)]
struct Change {
    least: i64,
    most: i64,
    begin: u32,
    end: u32,
}

impl Change {
    fn add(&mut self, least: i64, most: i64, begin: u32, end: u32) {
        self.least += least;
        self.most += most;
        self.begin += begin;
        self.end += end;
    }
}

/// The moments that matter; if even the least amounts exceed a capacity, the worst moment with its least amount.
fn moments(
    network: &CostNetwork,
    changes: &BTreeMap<(usize, i64), Change>,
) -> Result<Vec<ResourceMoment>, (usize, i64, i64)> {
    let mut kept: Vec<(ResourceMoment, bool)> = Vec::new();
    let mut worst: Option<(i64, (usize, i64, i64))> = None;
    let (mut least, mut most) = (0, 0);
    // Whether variables began or ended since the last kept moment.
    let (mut began, mut ended) = (true, true);
    for ((resource, time), change) in changes {
        least += change.least;
        most += change.most;
        let room = network.capacities()[*resource] - least;
        if room < 0 && worst.is_none_or(|(excess, _)| -room > excess) {
            worst = Some((-room, (*resource, *time, least)));
        }
        began |= change.begin > 0;
        ended |= change.end > 0;
        // A moment where everything fits does not matter, but stands for the others until the end.
        let matters = most - least > room;
        let moment = ResourceMoment { resource: *resource, time: *time, room };
        while let Some((last, _)) = kept.last() {
            if last.resource == *resource && !ended && last.room >= room {
                kept.pop();
                // The state before the removed moment is not known any more.
                (began, ended) = (true, true);
            } else {
                break;
            }
        }
        let covered = kept.last().is_some_and(|(last, _)| last.resource == *resource && !began && last.room <= room);
        if !covered {
            kept.push((moment, matters));
            (began, ended) = (false, false);
        }
    }
    match worst {
        Some((_, worst)) => Err(worst),
        None => Ok(kept.into_iter().filter(|(_, matters)| *matters).map(|(moment, _)| moment).collect()),
    }
}

fn shortage(
    network: &CostNetwork,
    stays: &[FxHashMap<Span, Vec<i64>>],
    resource: usize,
    moment: i64,
    least: i64,
) -> NoPlan {
    let lives = |span: &Span| span.0 as usize == resource && (span.1..span.2).contains(&moment);
    let amount = |v: &usize| -> i64 {
        let amounts = stays[*v].iter().filter(|(span, _)| lives(span));
        amounts.filter_map(|(_, amounts)| amounts.iter().min()).sum()
    };
    let mut variables: Vec<usize> = (0..stays.len()).filter(|v| stays[*v].keys().any(lives)).collect();
    variables.sort_by_key(|v| std::cmp::Reverse(amount(v)));
    NoPlan::Shortage { resource, moment, least, capacity: network.capacities()[resource], variables }
}
