//! What a search over sets of tasks has to know of the tasks that have run.

use super::graph::TaskGraph;

/// The state after some tasks.
pub trait TaskState {
    /// The graph.
    fn graph(&self) -> &TaskGraph;

    /// Goes to the state after a set of tasks, with what [`memory`](Self::memory) said of it.
    fn set(&mut self, done: &[usize], memory: &[u64]);

    /// What the bytes of the tasks that are left depend on beside the set of those that have run.
    fn memory(&self) -> Vec<u64>;

    /// In how many ways a task may run: one or more.
    fn ways(&self, task: usize) -> usize;

    /// Runs a task in one of them: the bytes that are live while it runs; `None` where no order goes on from there.
    fn step(&mut self, task: usize, way: usize) -> Option<i64>;

    /// Takes back the task that ran last.
    fn undo(&mut self, task: usize);

    /// Whether a task that is ready may run now in the best order, where `most` bytes may be live anyway: while it runs no
    /// more are, and what it leaves takes no more than what it ends, whatever else is live.
    fn is_free(&mut self, task: usize, most: i64) -> bool;

    /// The steps that one task takes.
    fn price(&self) -> u64;
}
