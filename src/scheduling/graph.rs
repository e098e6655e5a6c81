//! Tasks, what has to run before what, and the values that they touch.

use super::running::Running;
use crate::text::Error;
use std::ops::Range;

/// Bytes that are live from the first task that touches them to the last, both included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskValue {
    /// How many, at least 0.
    pub bytes: i64,
    /// The tasks that make and read them.
    pub tasks: Vec<usize>,
    /// Whether they are live before all tasks.
    pub from_start: bool,
    /// Whether they are live after all tasks.
    pub to_end: bool,
    /// The group whose memory they may lie in.
    pub group: Option<usize>,
}

impl TaskValue {
    /// So many bytes for these tasks.
    pub fn new(bytes: i64, tasks: &[usize]) -> TaskValue {
        TaskValue { bytes, tasks: tasks.to_vec(), ..TaskValue::default() }
    }
}

/// Tasks with what has to run before what.
#[derive(Clone, Debug)]
pub struct TaskGraph {
    /// For each task those that have to run before it, and those after it.
    pub(super) before: Vec<Vec<usize>>,
    pub(super) after: Vec<Vec<usize>>,
    pub(super) values: Vec<TaskValue>,
    /// The values that each task touches.
    pub(super) touched: Vec<Vec<usize>>,
    /// The bytes that each task takes beside its values.
    pub(super) beside: Vec<i64>,
    /// For each task its results that may be written over operands.
    pub(super) shares: Vec<Vec<(usize, usize)>>,
    /// The bytes of each group that are there anyway; of a part, less what values that it does not touch take of them.
    pub(super) free: Vec<i64>,
    /// The bytes of all values and all that is beside.
    all: i64,
}

/// Some tasks of a graph that follow each other in an order.
pub(super) struct Part {
    pub(super) graph: TaskGraph,
    /// The numbers of its tasks in the whole graph.
    pub(super) tasks: Vec<usize>,
}

impl TaskGraph {
    /// So many tasks, of which some have to run before others: pairs of the former and the latter. A task of a value has to
    /// be ordered by such pairs, too.
    ///
    /// # Errors
    /// The number of a task is not below that of the tasks; bytes below 0, or together above 2^61.
    pub fn new(tasks: usize, pairs: &[(usize, usize)], mut values: Vec<TaskValue>) -> Result<TaskGraph, Error> {
        let known = |task: &usize| match *task < tasks {
            true => Ok(()),
            false => Err(Error::new(format!("the number of a task must be below {tasks}, found {task}"))),
        };
        let mut graph = TaskGraph {
            before: vec![Vec::new(); tasks],
            after: vec![Vec::new(); tasks],
            values: Vec::new(),
            touched: vec![Vec::new(); tasks],
            beside: vec![0; tasks],
            shares: vec![Vec::new(); tasks],
            free: Vec::new(),
            all: 0,
        };
        for (first, then) in pairs {
            known(first)?;
            known(then)?;
            graph.after[*first].push(*then);
            graph.before[*then].push(*first);
        }
        graph.before.iter_mut().chain(&mut graph.after).for_each(|own| {
            own.sort_unstable();
            own.dedup();
        });
        for (number, value) in values.iter_mut().enumerate() {
            value.tasks.iter().try_for_each(known)?;
            value.tasks.sort_unstable();
            value.tasks.dedup();
            value.group = None;
            graph.all = added(graph.all, value.bytes)?;
            value.tasks.iter().for_each(|task| graph.touched[*task].push(number));
        }
        graph.values = values;
        Ok(graph)
    }

    /// Lets a task take so many bytes beside its values.
    ///
    /// # Errors
    /// There is no such task; the bytes are below 0, or with all others above 2^61.
    pub fn add_beside(&mut self, task: usize, bytes: i64) -> Result<(), Error> {
        let all = added(self.all, bytes)?;
        let own = self.beside.get_mut(task).ok_or_else(|| Error::new(format!("there must be a task {task}")))?;
        *own += bytes;
        self.all = all;
        Ok(())
    }

    /// Says that a task may write one of its values over another, where nothing touches that afterwards. Both are values that it
    /// touches.
    pub fn share(&mut self, task: usize, result: usize, operand: usize) {
        self.shares[task].push((result, operand));
    }

    /// Puts values into a group: of what they take together, so many bytes are there anyway.
    pub fn group(&mut self, values: &[usize], bytes: i64) {
        let group = self.free.len();
        self.free.push(bytes.max(0));
        values.iter().for_each(|value| self.values[*value].group = Some(group));
    }

    /// The number of tasks.
    pub fn len(&self) -> usize {
        self.before.len()
    }

    /// Whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// The bytes live at each task of an order.
    ///
    /// # Errors
    /// A task is missing, there twice, or before one that has to run before it.
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

    /// The most bytes that are live at once in an order.
    ///
    /// # Errors
    /// Those of [`TaskGraph::live`].
    pub fn peak(&self, order: &[usize]) -> Result<i64, Error> {
        Ok(self.live(order)?.into_iter().max().unwrap_or(0))
    }

    /// The same of what is known to be an order.
    pub(super) fn costs(&self, order: &[usize]) -> Vec<i64> {
        let mut running = Running::new(self);
        order.iter().map(|task| running.step(*task)).collect()
    }

    /// The most of them.
    pub(super) fn peak_of(&self, order: &[usize]) -> i64 {
        self.costs(order).into_iter().max().unwrap_or(0)
    }

    /// What no order has less than: what each task touches, all that may be shared shared.
    pub fn least(&self) -> i64 {
        let mut least = 0;
        let mut grouped = vec![0; self.free.len()];
        for task in 0..self.len() {
            let mut sum = self.beside[task];
            let touched = &self.touched[task];
            for value in touched.iter().map(|value| &self.values[*value]) {
                match value.group {
                    Some(group) => grouped[group] += value.bytes,
                    None => sum += value.bytes,
                }
            }
            for (result, bytes) in Running::savings(self, task, |_, _| true) {
                match self.values[result].group {
                    Some(group) => grouped[group] -= bytes,
                    None => sum -= bytes,
                }
            }
            for group in touched.iter().filter_map(|value| self.values[*value].group) {
                sum += (std::mem::take(&mut grouped[group]) - self.free[group]).max(0);
            }
            least = least.max(sum);
        }
        least
    }

    /// The parts between tasks that all others run before or after, whatever the order, in this order.
    pub(super) fn cut(&self, order: &[usize]) -> Vec<Part> {
        let n = order.len();
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(k, task)| place[*task] = k);
        // All before a task lead to it if each has something after it that is no later than the task.
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
        if parts.len() <= 1 {
            return parts.into_iter().map(|range| self.part(order, range)).collect();
        }
        self.parts(order, &parts)
    }

    /// Some tasks of an order, with what is live around them.
    pub(super) fn part(&self, order: &[usize], range: Range<usize>) -> Part {
        let mut running = Running::new(self);
        order[..range.start].iter().for_each(|task| _ = running.step(*task));
        self.part_of(&running, &order[range])
    }

    /// The same of ranges that follow each other.
    fn parts(&self, order: &[usize], ranges: &[Range<usize>]) -> Vec<Part> {
        let mut running = Running::new(self);
        let mut found = Vec::with_capacity(ranges.len());
        for range in ranges {
            found.push(self.part_of(&running, &order[range.clone()]));
            order[range.clone()].iter().for_each(|task| _ = running.step(*task));
        }
        found
    }

    /// The part that these tasks are after those that have run.
    fn part_of(&self, running: &Running, tasks: &[usize]) -> Part {
        let mut number = rustc_hash::FxHashMap::default();
        tasks.iter().enumerate().for_each(|(k, task)| _ = number.insert(*task, k));
        let mut pairs = Vec::new();
        for (k, task) in tasks.iter().enumerate() {
            pairs.extend(self.after[*task].iter().filter_map(|then| Some((k, *number.get(then)?))));
        }
        let mut of = rustc_hash::FxHashMap::default();
        let (mut values, mut live) = (Vec::new(), Vec::new());
        for value in tasks.iter().flat_map(|task| &self.touched[*task]) {
            of.entry(*value).or_insert_with(|| {
                let own = &self.values[*value];
                let inside: Vec<usize> = own.tasks.iter().filter_map(|task| number.get(task).copied()).collect();
                let to_end = own.to_end || running.left(*value) > inside.len();
                live.push((*value, running.is_live(*value)));
                values.push(TaskValue { tasks: inside, from_start: running.is_live(*value), to_end, ..own.clone() });
                values.len() - 1
            });
        }
        let (plain, mut grouped) = running.bytes();
        let mut around = plain;
        for (value, _) in live.iter().filter(|(_, live)| *live) {
            match self.values[*value].group {
                Some(group) => grouped[group] -= self.values[*value].bytes,
                None => around -= self.values[*value].bytes,
            }
        }
        // The groups that the part does not touch are as they are.
        let mut kept: Vec<Option<usize>> = vec![None; self.free.len()];
        let mut free = Vec::new();
        for value in &mut values {
            let Some(group) = value.group else { continue };
            value.group = Some(*kept[group].get_or_insert_with(|| {
                free.push(self.free[group] - grouped[group]);
                free.len() - 1
            }));
        }
        for (group, bytes) in grouped.iter().enumerate().filter(|(group, _)| kept[*group].is_none()) {
            around += (bytes - self.free[group]).max(0);
        }
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
            free,
            all: self.all,
        };
        for (first, then) in pairs {
            graph.after[first].push(then);
            graph.before[then].push(first);
        }
        for (k, task) in tasks.iter().enumerate() {
            graph.shares[k] = self.shares[*task].iter().map(|(result, operand)| (of[result], of[operand])).collect();
        }
        Part { graph, tasks: tasks.to_vec() }
    }

    /// The graph whose orders are those of this one from the end to the beginning, with the same bytes live.
    pub(super) fn reversed(&self) -> TaskGraph {
        let mut graph = self.clone();
        std::mem::swap(&mut graph.before, &mut graph.after);
        for value in &mut graph.values {
            std::mem::swap(&mut value.from_start, &mut value.to_end);
        }
        graph.shares.iter_mut().flatten().for_each(|(result, operand)| std::mem::swap(result, operand));
        graph
    }
}

/// The most bytes of all tasks and values together, so that sums and differences of two such sums fit in 64 bits.
const MOST_BYTES: i64 = 1 << 61;

/// The sum, where it is not too large.
fn added(sum: i64, bytes: i64) -> Result<i64, Error> {
    if bytes < 0 {
        return Err(Error::new(format!("the bytes of a value must be 0 or more, found {bytes}")));
    }
    sum.checked_add(bytes)
        .filter(|sum| *sum <= MOST_BYTES)
        .ok_or_else(|| Error::new(format!("the bytes of all values must be at most {MOST_BYTES} together")).too_large())
}
