//! Tasks run in order: the bytes live after them, and while each runs.

use super::graph::TaskGraph;
use super::progress::{LiveBytes, TaskState};

/// The state after some tasks.
#[derive(Clone, Debug)]
pub struct Running<'g> {
    graph: &'g TaskGraph,
    /// The number of tasks of each value that have not run.
    left: Vec<usize>,
    /// The live bytes outside groups.
    plain: i64,
    /// For each group, the number of live values of each size.
    grouped: Vec<Vec<usize>>,
    /// The live bytes of each group that are in no slot, and of all groups together.
    beside: Vec<i64>,
    all_beside: i64,
}

impl<'g> Running<'g> {
    /// The state before the first task.
    pub fn new(graph: &'g TaskGraph) -> Running<'g> {
        let left = graph.values.iter().map(|value| value.tasks.len()).collect();
        let grouped = graph.groups.iter().map(|group| group.around.clone()).collect();
        let beside = vec![0; graph.groups.len()];
        let mut running = Running { graph, left, plain: 0, grouped, beside, all_beside: 0 };
        for (value, own) in graph.values.iter().enumerate() {
            match own.group {
                _ if !running.is_live(value) => {}
                Some((group, size)) => running.grouped[group][size] += 1,
                None => running.plain += own.bytes,
            }
        }
        (0..graph.groups.len()).for_each(|group| running.count(group));
        running
    }

    /// Whether a value is live between the tasks that have run and the others.
    pub fn is_live(&self, value: usize) -> bool {
        let own = &self.graph.values[value];
        (own.from_start || self.left[value] < own.tasks.len()) && (own.to_end || self.left[value] > 0)
    }

    /// The number of tasks of a value that have not run.
    pub fn left(&self, value: usize) -> usize {
        self.left[value]
    }

    /// The live bytes that count.
    pub fn counted(&self) -> i64 {
        self.plain + self.all_beside
    }

    fn add(&mut self, value: usize, sign: i64) {
        let own = &self.graph.values[value];
        match own.group {
            None => self.plain += sign * own.bytes,
            Some((group, size)) => {
                let live = &mut self.grouped[group][size];
                *live = if sign > 0 { *live + 1 } else { *live - 1 };
                self.count(group);
            }
        }
    }

    /// Counts the bytes of a group again.
    fn count(&mut self, group: usize) {
        self.all_beside -= self.beside[group];
        self.beside[group] = self.graph.groups[group].beside(&self.grouped[group]);
        self.all_beside += self.beside[group];
    }

    /// Whether the next task of a value is its first.
    pub fn is_first(&self, value: usize) -> bool {
        let own = &self.graph.values[value];
        !own.from_start && self.left[value] == own.tasks.len()
    }

    /// Whether the next task of a value is its last.
    pub fn is_last(&self, value: usize) -> bool {
        !self.graph.values[value].to_end && self.left[value] == 1
    }

    /// The values that take no bytes at a task, one for each result that overwrites an operand: the smaller of the two,
    /// with the largest such operand.
    pub fn saved(graph: &TaskGraph, task: usize, mut shared: impl FnMut(usize, usize) -> bool) -> Vec<usize> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let bytes = |value: &usize| graph.values[*value].bytes;
        for (result, operand) in &graph.shares[task] {
            if !shared(*result, *operand) {
                continue;
            }
            let smaller = *[operand, result].into_iter().min_by_key(|value| bytes(value)).unwrap_or(operand);
            match found.iter_mut().find(|(own, _)| own == result) {
                Some((_, most)) if bytes(most) >= bytes(&smaller) => {}
                Some((_, most)) => *most = smaller,
                None => found.push((*result, smaller)),
            }
        }
        found.into_iter().map(|(_, smaller)| smaller).collect()
    }

    /// Runs a task, and returns the bytes live while it runs.
    pub fn run(&mut self, task: usize) -> i64 {
        let graph = self.graph;
        let touched = &graph.touched[task];
        for value in touched {
            if self.is_first(*value) {
                self.add(*value, 1);
            }
        }
        let mut saved = Vec::new();
        if !graph.shares[task].is_empty() {
            saved = Running::saved(graph, task, |result, operand| self.is_first(result) && self.is_last(operand));
            saved.sort_unstable();
            saved.dedup();
        }
        saved.iter().for_each(|value| self.add(*value, -1));
        let cost = graph.beside[task] + self.counted();
        saved.iter().for_each(|value| self.add(*value, 1));
        for value in touched {
            if self.is_last(*value) {
                self.add(*value, -1);
            }
            self.left[*value] -= 1;
        }
        cost
    }
}

impl TaskState for Running<'_> {
    fn graph(&self) -> &TaskGraph {
        self.graph
    }

    fn memory(&self) -> Vec<u64> {
        Vec::new()
    }

    fn ways(&self, _: usize) -> usize {
        1
    }

    fn step(&mut self, task: usize, _: usize) -> Option<i64> {
        Some(self.run(task))
    }

    fn undo(&mut self, task: usize) {
        for value in &self.graph.touched[task] {
            self.left[*value] += 1;
            if self.is_last(*value) {
                self.add(*value, 1);
            }
            if self.is_first(*value) {
                self.add(*value, -1);
            }
        }
    }

    fn is_no_worse(&self, _: &[u64], _: &[u64]) -> bool {
        true
    }

    fn live(&self) -> LiveBytes {
        LiveBytes { counted: self.counted(), plain: self.plain, grouped: self.grouped.clone() }
    }

    fn is_settled(&self, _: usize) -> bool {
        true
    }
}
