//! What a search over sets of tasks has to know of the tasks that have run.

use super::graph::TaskGraph;

/// The state after some tasks.
pub trait TaskState {
    /// The graph.
    fn graph(&self) -> &TaskGraph;

    /// What the bytes of the tasks that are left depend on beside the set of those that have run.
    fn memory(&self) -> Vec<u64>;

    /// Whether after the same tasks all orders go on from one memory that go on from the other, with no more bytes.
    fn is_no_worse(&self, memory: &[u64], other: &[u64]) -> bool;

    /// In how many ways a task may run: one or more.
    fn ways(&self, task: usize) -> usize;

    /// Runs a task in one of them: the bytes that are live while it runs; `None` where no order goes on from there.
    fn step(&mut self, task: usize, way: usize) -> Option<i64>;

    /// Takes back the task that ran last.
    fn undo(&mut self, task: usize);

    /// The live bytes.
    fn live(&self) -> LiveBytes;

    /// Whether no other task takes more because a task that is ready runs now, but for the bytes that it leaves live.
    fn is_settled(&self, task: usize) -> bool;
}

/// The bytes that are live after some tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveBytes {
    /// Those that count.
    pub counted: i64,
    /// Those of no group.
    pub plain: i64,
    /// Those of each group.
    pub grouped: Vec<i64>,
}

impl LiveBytes {
    /// Whether no more count than of others, whatever else is live.
    pub fn is_at_most(&self, other: &LiveBytes) -> bool {
        let groups = self.grouped.iter().zip(&other.grouped);
        self.plain - other.plain + groups.map(|(own, other)| (own - other).max(0)).sum::<i64>() <= 0
    }
}
