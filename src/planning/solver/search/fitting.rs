//! A plan made legal, and then better, by changing one choice at a time.
//!
//! The plan of a priced problem is near the best one, but exceeds capacities here and there. First, changes that relieve
//! moments over capacity are made, those first that cost least for what they relieve; none may exceed a capacity elsewhere.
//! Then changes that save something and fit, those first that save most for what they take. Relief and take are weighed by
//! the prices of the moments. Each change is looked at once, and again when a neighbour has changed.

use super::model::{ResourceMoment, WorkingNetwork};
use super::pairwise::{forbidden, plus};
use super::rooms::Rooms;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// The price of a moment without one, in shares of the plan's cost for all of its room.
const LEAST_PRICE: f64 = 1e-4;

/// A plan that is changed.
pub struct Fitting<'a> {
    model: &'a WorkingNetwork,
    pub plan: Vec<u32>,
    /// The use at each moment of the model.
    used: Vec<i64>,
    /// For each moment the sum of the prices before it, and of all.
    prices: Vec<f64>,
    /// How often each variable or a neighbour has changed: older changes are stale.
    version: Vec<u32>,
    /// The changes to look at.
    open: BinaryHeap<QueuedChange>,
    /// The number of choices and pairs looked at.
    pub work: u64,
}

/// A change of a choice.
struct QueuedChange {
    /// The cost for what it relieves or takes; the lowest is best.
    rate: f64,
    variable: u32,
    choice: u32,
    version: u32,
}

impl Ord for QueuedChange {
    fn cmp(&self, other: &QueuedChange) -> Ordering {
        let key = |own: &QueuedChange| (own.variable, own.choice, own.version);
        other.rate.total_cmp(&self.rate).then_with(|| key(other).cmp(&key(self)))
    }
}

impl PartialOrd for QueuedChange {
    fn partial_cmp(&self, other: &QueuedChange) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueuedChange {
    fn eq(&self, other: &QueuedChange) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for QueuedChange {}

/// The aim of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    Relief,
    Saving,
}

impl<'a> Fitting<'a> {
    /// Starts from a plan without forbidden choices and pairs, with prices of some moments.
    pub fn new(model: &'a WorkingNetwork, rooms: &Rooms, prices: &[f64], plan: Vec<u32>) -> Fitting<'a> {
        let cost = model.cost(&plan).unsigned_abs().max(1) as f64;
        let least = |moment: &ResourceMoment| LEAST_PRICE * cost / moment.room.max(1) as f64;
        let mut each: Vec<f64> = model.moments.iter().map(least).collect();
        for (moment, price) in rooms.moments.iter().zip(prices) {
            let own = &mut each[*moment as usize];
            *own = own.max(*price);
        }
        let mut sum = 0.0;
        let mut sums = vec![0.0];
        sums.extend(each.into_iter().map(|price| {
            sum += price;
            sum
        }));
        Fitting {
            model,
            used: Rooms::usage(model, &plan),
            plan,
            prices: sums,
            version: vec![0; model.names.len()],
            open: BinaryHeap::new(),
            work: 0,
        }
    }

    /// Makes the plan legal if that works out, and then better; whether it is legal.
    pub fn run(&mut self) -> bool {
        if self.is_over() {
            self.change_all(Aim::Relief);
        }
        if self.is_over() {
            return false;
        }
        self.change_all(Aim::Saving);
        true
    }

    fn is_over(&self) -> bool {
        self.used.iter().zip(&self.model.moments).any(|(used, moment)| *used > moment.room)
    }

    /// Makes all changes that serve an aim.
    fn change_all(&mut self, aim: Aim) {
        self.open.clear();
        (0..self.plan.len() as u32).for_each(|variable| self.offer(variable, aim));
        while let Some(QueuedChange { variable, choice, version, .. }) = self.open.pop() {
            let is_stale = version != self.version[variable as usize];
            let serves = || aim == Aim::Saving || self.relieves(variable, choice);
            if is_stale || !serves() || !self.change(variable, choice) {
                continue;
            }
            let near = self.model.links_of[variable as usize].iter().map(|link| {
                let [a, b] = self.model.pairwise.links[*link as usize].ends;
                if a == variable { b } else { a }
            });
            let near: Vec<u32> = near.chain([variable]).collect();
            near.iter().for_each(|changed| self.version[*changed as usize] += 1);
            near.into_iter().for_each(|changed| self.offer(changed, aim));
        }
    }

    /// Offers the changes of a variable that serve an aim.
    fn offer(&mut self, variable: u32, aim: Aim) {
        if aim == Aim::Relief && self.model.holds[variable as usize].is_empty() {
            return;
        }
        let version = self.version[variable as usize];
        let now = self.plan[variable as usize];
        for choice in (0..self.model.pairwise.size(variable) as u32).filter(|choice| *choice != now) {
            let takes = self.takes(variable, choice);
            if aim == Aim::Relief && takes >= 0.0 {
                continue;
            }
            let Some(more) = self.cost(variable, choice) else { continue };
            let rate = match aim {
                Aim::Relief => more as f64 / -takes,
                Aim::Saving if more >= 0 => continue,
                Aim::Saving if takes <= 0.0 => f64::NEG_INFINITY,
                Aim::Saving => more as f64 / takes,
            };
            self.open.push(QueuedChange { rate, variable, choice, version });
        }
    }

    /// The cost of a change; `None` if it is forbidden.
    fn cost(&mut self, variable: u32, choice: u32) -> Option<i64> {
        let (model, old) = (self.model, self.plan[variable as usize]);
        let costs = model.pairwise.costs(variable);
        let mut more = plus(costs[choice as usize], -costs[old as usize]);
        self.work += 1 + model.links_of[variable as usize].len() as u64;
        for at in &model.links_of[variable as usize] {
            let link = model.pairwise.links[*at as usize];
            let (table, width) = (model.pairwise.table(link), model.pairwise.size(link.ends[1]));
            let pair = |own: u32| match link.ends[0] == variable {
                true => table[own as usize * width + self.plan[link.ends[1] as usize] as usize],
                false => table[self.plan[link.ends[0] as usize] as usize * width + own as usize],
            };
            let new = pair(choice);
            if forbidden(new) {
                return None;
            }
            more = plus(more, new - pair(old));
        }
        (!forbidden(more)).then_some(more)
    }

    /// The moments at which a change takes more or less than before, and how much more.
    fn differences(&self, variable: u32, choice: u32) -> impl Iterator<Item = (Range<usize>, i64)> + '_ {
        let old = self.plan[variable as usize] as usize;
        let holds = self.model.holds[variable as usize].iter();
        let differences = holds.map(move |hold| {
            let amounts = &self.model.amounts[hold.amounts..];
            (hold.moments.start as usize..hold.moments.end as usize, amounts[choice as usize] - amounts[old])
        });
        differences.filter(|(_, more)| *more != 0)
    }

    /// The capacity that a change takes more, at the prices of the moments.
    fn takes(&self, variable: u32, choice: u32) -> f64 {
        let paid = |(moments, more): (Range<usize>, i64)| {
            more as f64 * (self.prices[moments.end] - self.prices[moments.start])
        };
        self.differences(variable, choice).map(paid).sum()
    }

    /// Whether a change takes less at a moment over its capacity.
    fn relieves(&self, variable: u32, choice: u32) -> bool {
        let is_over = |at: usize| self.used[at] > self.model.moments[at].room;
        self.differences(variable, choice).any(|(mut moments, more)| more < 0 && moments.any(is_over))
    }

    /// Makes a change if no moment is over its capacity by it; whether it was made.
    fn change(&mut self, variable: u32, choice: u32) -> bool {
        let differences: Vec<_> = self.differences(variable, choice).collect();
        self.add(&differences, 1);
        let fits = |at: usize| self.used[at] <= self.model.moments[at].room;
        let fits = differences.iter().all(|(moments, more)| *more < 0 || moments.clone().all(fits));
        if fits {
            self.plan[variable as usize] = choice;
        } else {
            self.add(&differences, -1);
        }
        fits
    }

    fn add(&mut self, differences: &[(Range<usize>, i64)], times: i64) {
        for (moments, more) in differences {
            self.used[moments.clone()].iter_mut().for_each(|used| *used += more * times);
        }
    }
}
