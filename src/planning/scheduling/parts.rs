//! The live bytes of orders of a graph, and the parts that it is cut into.

use super::graph::{SlotGroup, TaskGraph, TaskValue};
use super::placed::Places;
use super::progress::{LiveBytes, TaskState};
use super::running::Running;
use rustc_hash::FxHashMap;
use std::ops::Range;
use tensor_layout::text::Error;

/// Consecutive tasks of an order, as a graph.
pub(super) struct TaskPart {
    pub(super) graph: TaskGraph,
    /// The numbers of its tasks in the whole graph.
    pub(super) tasks: Vec<usize>,
}

impl TaskGraph {
    /// The bytes live at each task of an order.
    ///
    /// # Errors
    /// A task that is missing, repeated, or before one that must run before it.
    pub fn live(&self, order: &[usize]) -> Result<Vec<i64>, Error> {
        let mut done = vec![false; self.len()];
        for task in order {
            let own = self.before.get(*task).filter(|_| !done[*task]).ok_or_else(|| {
                Error::new(format!("an order must have each of {} tasks once, found task {task} again", self.len()))
            })?;
            if let Some(missing) = own.iter().find(|before| !done[**before]) {
                return Err(Error::new(format!("task {missing} must run before task {task}, found it after that")));
            }
            done[*task] = true;
        }
        if order.len() != self.len() {
            return Err(Error::new(format!("an order must have {} tasks, found {}", self.len(), order.len())));
        }
        Ok(self.costs(order))
    }

    /// The bytes live at each task of an order, with values counted by place rather than by group.
    ///
    /// # Errors
    /// As [`TaskGraph::live`].
    pub fn placed(&self, order: &[usize]) -> Result<Vec<i64>, Error> {
        self.live(order)?;
        Ok(Places::new(self).costs(order))
    }

    /// The peak of live bytes in an order.
    ///
    /// # Errors
    /// As [`TaskGraph::live`].
    pub fn peak(&self, order: &[usize]) -> Result<i64, Error> {
        Ok(self.live(order)?.into_iter().max().unwrap_or(0))
    }

    /// The bytes live at each task of a valid order.
    pub(super) fn costs(&self, order: &[usize]) -> Vec<i64> {
        let mut running = Running::new(self);
        order.iter().map(|task| running.run(*task)).collect()
    }

    /// The peak of a valid order.
    pub(super) fn peak_of(&self, order: &[usize]) -> i64 {
        self.costs(order).into_iter().max().unwrap_or(0)
    }

    /// A lower bound on the peak of any order: the values that each task touches, with all possible sharing.
    pub fn least(&self) -> i64 {
        let mut least = 0;
        let mut grouped: Vec<Vec<usize>> = self.groups.iter().map(|group| group.around.clone()).collect();
        for task in 0..self.len() {
            let mut sum = self.beside[task];
            let mut saved = Running::saved(self, task, |_, _| true);
            saved.sort_unstable();
            let live = self.touched[task].iter().filter(|value| saved.binary_search(value).is_err());
            for own in live.clone().map(|value| &self.values[*value]) {
                match own.group {
                    Some((group, size)) => grouped[group][size] += 1,
                    None => sum += own.bytes,
                }
            }
            sum += self.groups.iter().zip(&grouped).map(|(group, live)| group.beside(live)).sum::<i64>();
            for (group, size) in live.filter_map(|value| self.values[*value].group) {
                grouped[group][size] -= 1;
            }
            least = least.max(sum);
        }
        least
    }

    /// The parts between the tasks that every other task must precede or follow, in this order.
    pub(super) fn cut(&self, order: &[usize]) -> impl Iterator<Item = TaskPart> {
        let n = order.len();
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(k, task)| place[*task] = k);
        // All tasks before one lead to it if each has a successor no later than it.
        let leads = |k: usize| self.after[order[k]].iter().map(|task| place[*task]).min().unwrap_or(n);
        let follows = |k: usize| self.before[order[k]].iter().map(|task| place[*task] + 1).max().unwrap_or(0);
        let mut furthest = vec![0; n + 1];
        for k in 0..n {
            furthest[k + 1] = furthest[k].max(leads(k));
        }
        let mut earliest = vec![n; n + 1];
        for k in (0..n).rev() {
            earliest[k] = earliest[k + 1].min(follows(k));
        }
        let mut ends: Vec<usize> = (0..n).filter(|k| furthest[*k] <= *k && earliest[k + 1] > *k).collect();
        ends.push(n);
        let mut parts = Vec::new();
        let mut first = 0;
        for end in ends {
            // A cut is a part of its own.
            for range in [first..end, end..(end + 1).min(n)] {
                if !range.is_empty() {
                    parts.push(range);
                }
            }
            first = end + 1;
        }
        let mut running = Running::new(self);
        parts.into_iter().map(move |range| {
            let part = self.part_of(&running, &order[range.clone()]);
            order[range].iter().for_each(|task| _ = running.run(*task));
            part
        })
    }

    /// Some tasks of an order, with the bytes live around them.
    pub(super) fn part(&self, order: &[usize], range: Range<usize>) -> TaskPart {
        let mut running = Running::new(self);
        order[..range.start].iter().for_each(|task| _ = running.run(*task));
        self.part_of(&running, &order[range])
    }

    /// The part of these tasks after those that have run.
    fn part_of(&self, running: &Running, tasks: &[usize]) -> TaskPart {
        let mut number = FxHashMap::default();
        tasks.iter().enumerate().for_each(|(k, task)| _ = number.insert(*task, k));
        let mut pairs = Vec::new();
        for (k, task) in tasks.iter().enumerate() {
            pairs.extend(self.after[*task].iter().filter_map(|then| Some((k, *number.get(then)?))));
        }
        let mut of = FxHashMap::default();
        let mut inside = Vec::new();
        for value in tasks.iter().flat_map(|task| &self.touched[*task]) {
            of.entry(*value).or_insert_with(|| {
                inside.push(*value);
                inside.len() - 1
            });
        }
        let value = |value: &usize| {
            let own = &self.values[*value];
            let tasks: Vec<usize> = own.tasks.iter().filter_map(|task| number.get(task).copied()).collect();
            let to_end = own.to_end || running.left(*value) > tasks.len();
            let TaskValue { bytes, group, .. } = *own;
            TaskValue { bytes, tasks, from_start: running.is_live(*value), to_end, group, ..TaskValue::default() }
        };
        let mut values: Vec<TaskValue> = inside.iter().map(value).collect();
        let (groups, around) = self.around(running, &inside, &mut values);
        let mut touched = vec![Vec::new(); tasks.len()];
        for (value, own) in values.iter().enumerate() {
            own.tasks.iter().for_each(|task| touched[*task].push(value));
        }
        let mut graph = TaskGraph {
            before: vec![Vec::new(); tasks.len()],
            after: vec![Vec::new(); tasks.len()],
            values,
            touched,
            beside: tasks.iter().map(|task| around + self.beside[*task]).collect(),
            shares: vec![Vec::new(); tasks.len()],
            groups,
            places: 0,
            ends: Vec::new(),
            all: self.all,
        };
        for (first, then) in pairs {
            graph.after[first].push(then);
            graph.before[then].push(first);
        }
        for (k, task) in tasks.iter().enumerate() {
            graph.shares[k] = self.shares[*task].iter().map(|(result, operand)| (of[result], of[operand])).collect();
        }
        TaskPart { graph, tasks: tasks.to_vec() }
    }

    /// The groups of a part with these values, which get its numbers of the groups, and the other bytes live around it.
    fn around(&self, running: &Running, inside: &[usize], values: &mut [TaskValue]) -> (Vec<SlotGroup>, i64) {
        let LiveBytes { plain: mut around, mut grouped, .. } = running.live();
        for value in inside.iter().filter(|value| running.is_live(**value)) {
            match self.values[*value].group {
                Some((group, size)) => grouped[group][size] -= 1,
                None => around -= self.values[*value].bytes,
            }
        }
        // Groups that the part does not touch keep their bytes.
        let mut kept: Vec<Option<usize>> = vec![None; self.groups.len()];
        let mut groups = Vec::new();
        for (group, _) in values.iter_mut().filter_map(|value| value.group.as_mut()) {
            let (own, around) = (&self.groups[*group], &mut grouped[*group]);
            *group = *kept[*group].get_or_insert_with(|| {
                groups.push(SlotGroup { around: std::mem::take(around), ..own.clone() });
                groups.len() - 1
            });
        }
        let untouched = self.groups.iter().zip(&grouped).zip(&kept).filter(|(_, kept)| kept.is_none());
        (groups, around + untouched.map(|((group, live), _)| group.beside(live)).sum::<i64>())
    }
}
