//! Orders by rules: list scheduling, and depth first.

use super::graph::TaskGraph;
use super::running::Running;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The limit on ready tasks, least growth first, checked for a fit below the peak so far. It bounds the work per task
/// with many ready. Of 107 random graphs of up to 12 tasks whose given order can be improved
/// (`test/plan/scheduling.rs`), the rules alone find a least peak in 93, with 0 in 92; the programs of
/// `benches/schedule.md` have the same peaks with each number from 0 to 100,000.
const LOOKED_AT: usize = 32;

/// The orders by all rules.
pub fn orders(graph: &TaskGraph) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let reversed = graph.reversed();
    found.push(Listing::new(graph).order());
    let mut order = Listing::new(&reversed).order();
    order.reverse();
    found.push(order);
    found.push(depth_first(graph));
    let mut order = depth_first(&reversed);
    order.reverse();
    found.push(order);
    found
}

/// The ready tasks, sorted in two ways.
struct Listing<'g> {
    graph: &'g TaskGraph,
    running: Running<'g>,
    done: Vec<bool>,
    waiting: Vec<usize>,
    /// For each ready task, the bytes that it adds, and the bytes it takes while it runs.
    keys: Vec<Option<(i64, i64)>>,
    /// The ready tasks by added bytes, and by taken bytes; on ties the lowest number first.
    by_added: BTreeSet<(i64, i64, usize)>,
    by_taken: BTreeSet<(i64, i64, usize)>,
}

impl<'g> Listing<'g> {
    fn new(graph: &'g TaskGraph) -> Listing<'g> {
        let n = graph.len();
        let (done, waiting) = (vec![false; n], graph.before.iter().map(Vec::len).collect());
        let (by_added, by_taken) = (BTreeSet::new(), BTreeSet::new());
        Listing { graph, running: Running::new(graph), done, waiting, keys: vec![None; n], by_added, by_taken }
    }

    /// The size of a value for the rules: 0 if it ends in preallocated memory.
    fn bytes(&self, value: usize) -> i64 {
        let own = &self.graph.values[value];
        let has_slots = |(group, _): (usize, usize)| self.graph.groups[group].slots.iter().any(|slots| *slots > 0);
        let is_there = own.to_end && own.group.is_some_and(has_slots);
        if is_there { 0 } else { own.bytes }
    }

    /// Inserts a task into the ready ones, or updates its position.
    fn put(&mut self, task: usize) {
        self.remove(task);
        let (mut added, mut taken) = (0, self.graph.beside[task]);
        for value in &self.graph.touched[task] {
            match (self.running.is_first(*value), self.running.is_last(*value)) {
                (true, true) => taken += self.bytes(*value),
                (true, false) => {
                    added += self.bytes(*value);
                    taken += self.bytes(*value);
                }
                (false, true) => added -= self.bytes(*value),
                (false, false) => {}
            }
        }
        let shared = |result: usize, operand: usize| self.running.is_first(result) && self.running.is_last(operand);
        let saved = Running::saved(self.graph, task, shared);
        taken -= saved.into_iter().map(|value| self.bytes(value)).sum::<i64>();
        self.keys[task] = Some((added, taken));
        self.by_added.insert((added, taken, task));
        self.by_taken.insert((taken, added, task));
    }

    fn remove(&mut self, task: usize) {
        if let Some((added, taken)) = self.keys[task].take() {
            self.by_added.remove(&(added, taken, task));
            self.by_taken.remove(&(taken, added, task));
        }
    }

    fn order(mut self) -> Vec<usize> {
        let n = self.graph.len();
        for task in (0..n).filter(|task| self.graph.before[*task].is_empty()) {
            self.put(task);
        }
        let (mut order, mut peak) = (Vec::with_capacity(n), 0);
        while let Some(least) = self.by_taken.first() {
            let room = peak - self.running.counted();
            let fits = self.by_added.iter().take(LOOKED_AT).find(|(_, taken, _)| *taken <= room);
            let task = fits.unwrap_or(least).2;
            self.remove(task);
            let touched = &self.graph.touched[task];
            let first: Vec<bool> = touched.iter().map(|value| self.running.is_first(*value)).collect();
            peak = peak.max(self.running.run(task));
            self.done[task] = true;
            order.push(task);
            // Other tasks of these values add other bytes now: after a first touch, or before the last.
            for (value, first) in touched.iter().zip(first) {
                if !first && self.running.left(*value) != 1 {
                    continue;
                }
                for other in &self.graph.values[*value].tasks {
                    if self.keys[*other].is_some() {
                        self.put(*other);
                    }
                }
            }
            for then in &self.graph.after[task] {
                self.waiting[*then] -= 1;
                if self.waiting[*then] == 0 {
                    self.put(*then);
                }
            }
        }
        order
    }
}

/// Orders each task right after its predecessors, first the one whose peak exceeds its result most: on trees the rule
/// of Sethi and Ullman.
fn depth_first(graph: &TaskGraph) -> Vec<usize> {
    let n = graph.len();
    let mut makes = vec![0i64; n];
    let mut waiting: Vec<usize> = graph.before.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..n).filter(|task| waiting[*task] == 0).collect();
    let mut at = 0;
    while let Some(task) = order.get(at).copied() {
        at += 1;
        for then in &graph.after[task] {
            waiting[*then] -= 1;
            if waiting[*then] == 0 {
                order.push(*then);
            }
        }
    }
    let mut made = vec![false; graph.values.len()];
    for task in &order {
        for value in &graph.touched[*task] {
            if !std::mem::replace(&mut made[*value], true) && !graph.values[*value].from_start {
                makes[*task] = makes[*task].saturating_add(graph.values[*value].bytes);
            }
        }
    }
    // For each task, its predecessors in the order taken, and the peak with them alone.
    let mut peaks = vec![0i64; n];
    let mut needs: Vec<Vec<usize>> = vec![Vec::new(); n];
    for task in order {
        let mut own = graph.before[task].clone();
        own.sort_by_key(|before| (Reverse(peaks[*before].saturating_sub(makes[*before])), *before));
        let (mut live, mut peak) = (0i64, 0i64);
        for before in &own {
            peak = peak.max(live.saturating_add(peaks[*before]));
            live = live.saturating_add(makes[*before]);
        }
        peaks[task] = peak.max(live.saturating_add(makes[task]).saturating_add(graph.beside[task]));
        needs[task] = own;
    }
    let (mut done, mut found) = (vec![false; n], Vec::with_capacity(n));
    for sink in (0..n).filter(|task| graph.after[*task].is_empty()) {
        let mut stack = vec![(sink, 0)];
        while let Some((task, next)) = stack.pop() {
            match needs[task].get(next) {
                Some(before) => {
                    stack.push((task, next + 1));
                    if !done[*before] {
                        stack.push((*before, 0));
                    }
                }
                None if !std::mem::replace(&mut done[task], true) => found.push(task),
                None => {}
            }
        }
    }
    found
}
