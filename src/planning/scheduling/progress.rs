//! The interface between the search over sets of tasks and the tasks that have run.

use super::graph::TaskGraph;

/// The state after some tasks.
pub trait TaskState {
    /// The graph.
    fn graph(&self) -> &TaskGraph;

    /// The state beside the set of tasks that have run, on which the bytes of later tasks depend.
    fn memory(&self) -> Vec<u64>;

    /// Whether, after the same tasks, every order that continues from `other` continues from `memory`, with no more
    /// bytes.
    fn is_no_worse(&self, memory: &[u64], other: &[u64]) -> bool;

    /// The number of ways in which a task may run, at least 1.
    fn ways(&self, task: usize) -> usize;

    /// Runs a task in one way, and returns the bytes live while it runs; `None` if no order continues from there.
    fn step(&mut self, task: usize, way: usize) -> Option<i64>;

    /// Undoes the last task.
    fn undo(&mut self, task: usize);

    /// The live bytes.
    fn live(&self) -> LiveBytes;

    /// Whether running a ready task now costs no later task anything but the bytes that it leaves live.
    fn is_settled(&self, task: usize) -> bool;
}

/// The bytes live after some tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveBytes {
    /// The bytes that count.
    pub counted: i64,
    /// The bytes outside groups.
    pub plain: i64,
    /// For each group, the number of live values of each size.
    pub grouped: Vec<Vec<usize>>,
}

impl LiveBytes {
    /// Whether these count at most as much as the other ones, whatever else is live: values that can be put in place
    /// of other ones as large count no more than those.
    pub fn is_at_most(&self, other: &LiveBytes, graph: &TaskGraph) -> bool {
        let groups = graph.groups.iter().zip(self.grouped.iter().zip(&other.grouped));
        let more = groups.map(|(group, (own, other))| group.beside_slots(own, other)).sum::<i64>();
        self.plain - other.plain + more <= 0
    }
}
