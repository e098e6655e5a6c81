//! The order of least peak, by a search over sets of tasks that have run.
//!
//! A state is a set of tasks with all that have to run before them, and what else the tasks that are left depend on
//! ([`TaskState::memory`]): what is live after it does not depend on the order of those that have run. The
//! state whose peak so far is least is taken first, so each state is taken once, and the first that has all tasks is reached
//! by an order of least peak. States that are left have a peak of at least that of the one that is next: where the steps
//! are used up, that is a bound.
//!
//! A task that [may run at once](TaskState::is_free) does, without a choice.

use super::progress::TaskState;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A set of tasks, a bit for each, and the memory of a state.
type StateKey = Box<[u64]>;

/// What is searched for.
pub struct OrderSearch<P> {
    /// Before the first task.
    pub progress: P,
    /// The peak that an order has to be below.
    pub below: i64,
    /// A peak that none is below.
    pub least: i64,
}

/// What a search has found.
pub struct OrderSearched {
    /// An order below.
    pub order: Option<Vec<usize>>,
    /// What no order is below; that of the order, where there is one, or `below` where there is none, if all was searched.
    pub bound: i64,
}

/// The words of all states that are kept: 32 MB. Of the 92 programs of `benches/schedule.md`, one has a bound 23 % lower with half
/// as many, and one of 2^20 a peak 10 % higher; with twice as many two bounds are 24 and 31 % higher, but the steps are used up
/// before stretches are searched, and two peaks are 2.7 % higher.
const MOST_WORDS: usize = 1 << 22;

/// What stands for the peak of a set that was taken.
const TAKEN: i64 = i64::MIN;

/// How a state was reached.
struct Reached {
    from: usize,
    /// The tasks since then.
    tasks: Vec<u32>,
    state: StateKey,
}

impl<P: TaskState> OrderSearch<P> {
    /// Searches until it is done or the steps are used up, and takes what it used from them.
    pub fn run(mut self, steps: &mut u64) -> OrderSearched {
        let n = self.progress.graph().len();
        let (before, after) = (self.progress.graph().before.clone(), self.progress.graph().after.clone());
        let words = n.div_ceil(64);
        let mut first = vec![0; words];
        first.extend(self.progress.memory());
        let mut kept = first.len() + 8;
        let mut reached = vec![Reached { from: 0, tasks: Vec::new(), state: first.into() }];
        // The least peak at which each state was reached; that of those that were taken is below all.
        let mut best: FxHashMap<StateKey, i64> = FxHashMap::default();
        // The least peak first; of these the most tasks.
        let mut open = BinaryHeap::from([(Reverse(self.least), 0usize, 0usize)]);
        let mut waiting = vec![0u32; n];
        let cost = (self.progress.graph().touched.iter().map(Vec::len).sum::<usize>() + n) as u64;
        while let Some((Reverse(peak), _, number)) = open.pop() {
            if best.get(&reached[number].state) == Some(&TAKEN) {
                continue;
            }
            if *steps < cost || kept > MOST_WORDS {
                *steps = steps.saturating_sub(cost);
                return OrderSearched { order: None, bound: peak };
            }
            *steps -= cost;
            let mut set = reached[number].state[..words].to_vec();
            let done: Vec<usize> = members(&set).collect();
            self.progress.set(&done, &reached[number].state[words..]);
            waiting.iter_mut().zip(&before).for_each(|(own, before)| {
                *own = before.iter().filter(|task| !has(&set, **task)).count() as u32;
            });
            let mut ready: Vec<usize> = (0..n).filter(|task| waiting[*task] == 0 && !has(&set, *task)).collect();
            let mut next = 0;
            let mut since = 0;
            // All that are ready, until none of them is free.
            while since < ready.len() {
                next %= ready.len();
                let task = ready[next];
                *steps = steps.saturating_sub(self.progress.price());
                if !self.progress.is_free(task, peak) {
                    (next, since) = (next + 1, since + 1);
                    continue;
                }
                ready.swap_remove(next);
                since = 0;
                self.progress.step(task, 0);
                put(&mut set, task);
                reached[number].tasks.push(task as u32);
                for then in &after[task] {
                    waiting[*then] -= 1;
                    if waiting[*then] == 0 {
                        ready.push(*then);
                    }
                }
                *steps = steps.saturating_sub(ready.len() as u64);
            }
            let state: StateKey = [&set[..], &self.progress.memory()].concat().into();
            reached[number].state = state.clone();
            if ready.is_empty() {
                return OrderSearched { order: Some(told(&reached, number)), bound: peak };
            }
            if best.insert(state, TAKEN) == Some(TAKEN) {
                continue;
            }
            let depth: usize = set.iter().map(|word| word.count_ones() as usize).sum();
            for task in ready {
                for way in 0..self.progress.ways(task) {
                    *steps = steps.saturating_sub(self.progress.price());
                    let cost = self.progress.step(task, way);
                    let mut next = set.clone();
                    put(&mut next, task);
                    next.extend(self.progress.memory());
                    let next: StateKey = next.into();
                    self.progress.undo(task);
                    let Some(peak) = cost.map(|cost| peak.max(cost)).filter(|peak| *peak < self.below) else {
                        continue;
                    };
                    match best.get_mut(&next) {
                        Some(own) if *own <= peak => continue,
                        Some(own) => *own = peak,
                        None => drop(best.insert(next.clone(), peak)),
                    }
                    kept += next.len() + 8;
                    reached.push(Reached { from: number, tasks: vec![task as u32], state: next });
                    open.push((Reverse(peak), depth + 1, reached.len() - 1));
                }
            }
        }
        OrderSearched { order: None, bound: self.below }
    }
}

/// The tasks of a state in the order in which it was reached.
fn told(reached: &[Reached], mut number: usize) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    loop {
        order.extend(reached[number].tasks.iter().rev().map(|task| *task as usize));
        if number == 0 {
            break;
        }
        number = reached[number].from;
    }
    order.reverse();
    order
}

fn has(set: &[u64], task: usize) -> bool {
    set[task / 64] >> (task % 64) & 1 == 1
}

fn put(set: &mut [u64], task: usize) {
    set[task / 64] |= 1 << (task % 64);
}

/// The tasks of a set.
fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter()
        .enumerate()
        .flat_map(|(word, bits)| (0..64).filter(move |k| bits >> k & 1 == 1).map(move |k| word * 64 + k))
}
