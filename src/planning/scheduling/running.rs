//! Tasks run in order: the bytes live after them, and while each runs.

use super::graph::TaskGraph;
use super::progress::{LiveBytes, TaskState};

/// The state after some tasks.
#[derive(Clone, Debug)]
pub struct Running<'g> {
    graph: &'g TaskGraph,
    /// The number of tasks of each value that have not run.
    left: Vec<usize>,
    /// The live bytes outside groups, and (`grouped`) of each group.
    plain: i64,
    grouped: Vec<i64>,
    /// The counted bytes of all groups together.
    over: i64,
}

impl<'g> Running<'g> {
    /// The state before the first task.
    pub fn new(graph: &'g TaskGraph) -> Running<'g> {
        let left = graph.values.iter().map(|value| value.tasks.len()).collect();
        let mut running = Running { graph, left, plain: 0, grouped: vec![0; graph.free.len()], over: 0 };
        running.sum();
        running
    }

    fn sum(&mut self) {
        self.plain = 0;
        self.grouped.fill(0);
        for (value, own) in self.graph.values.iter().enumerate() {
            match own.group {
                _ if !self.is_live(value) => {}
                Some(group) => self.grouped[group] += own.bytes,
                None => self.plain += own.bytes,
            }
        }
        self.over = self.grouped.iter().zip(&self.graph.free).map(|(bytes, free)| (bytes - free).max(0)).sum();
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

    /// The live bytes outside groups, and of each group.
    pub fn bytes(&self) -> (i64, Vec<i64>) {
        (self.plain, self.grouped.clone())
    }

    /// The live bytes that count.
    pub fn counted(&self) -> i64 {
        self.plain + self.over
    }

    fn add(&mut self, value: usize, sign: i64) {
        let own = &self.graph.values[value];
        match own.group {
            None => self.plain += sign * own.bytes,
            Some(group) => self.add_grouped(group, sign * own.bytes),
        }
    }

    fn add_grouped(&mut self, group: usize, bytes: i64) {
        let free = self.graph.free[group];
        self.over -= (self.grouped[group] - free).max(0);
        self.grouped[group] += bytes;
        self.over += (self.grouped[group] - free).max(0);
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

    /// The bytes saved at a task, for each result that overwrites an operand: with several such operands, the largest
    /// saving.
    pub fn savings(graph: &TaskGraph, task: usize, mut shared: impl FnMut(usize, usize) -> bool) -> Vec<(usize, i64)> {
        let mut found: Vec<(usize, i64)> = Vec::new();
        for (result, operand) in &graph.shares[task] {
            if !shared(*result, *operand) {
                continue;
            }
            let bytes = graph.values[*result].bytes.min(graph.values[*operand].bytes);
            match found.iter_mut().find(|(own, _)| own == result) {
                Some((_, most)) => *most = bytes.max(*most),
                None => found.push((*result, bytes)),
            }
        }
        found
    }

    /// Runs a task, and returns the bytes live while it runs.
    pub fn run(&mut self, task: usize) -> i64 {
        let touched = &self.graph.touched[task];
        for value in touched {
            if self.is_first(*value) {
                self.add(*value, 1);
            }
        }
        let mut cost = self.graph.beside[task] + self.counted();
        if !self.graph.shares[task].is_empty() {
            let saved =
                Running::savings(self.graph, task, |result, operand| self.is_first(result) && self.is_last(operand));
            let grouped = |own: &&(usize, i64)| self.graph.values[own.0].group.is_some();
            cost -= saved.iter().filter(|own| !grouped(own)).map(|own| own.1).sum::<i64>();
            let before = self.over;
            for (result, bytes) in saved.iter().filter(grouped) {
                let group = self.graph.values[*result].group.unwrap_or(0);
                self.add_grouped(group, -bytes);
            }
            cost -= before - self.over;
            for (result, bytes) in saved.iter().filter(|own| self.graph.values[own.0].group.is_some()) {
                let group = self.graph.values[*result].group.unwrap_or(0);
                self.add_grouped(group, *bytes);
            }
        }
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
