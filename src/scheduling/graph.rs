//! Tasks, what has to run before what, and the values that they touch.

use crate::text::Error;

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
    /// The place in which they are before all tasks, of those that [`TaskGraph::add_places`] says.
    pub starts_in: Option<usize>,
    /// The place in which they lie after all tasks, if it is vacant when they are made.
    pub ends_in: Option<usize>,
}

impl TaskValue {
    /// So many bytes for these tasks.
    pub fn new(bytes: i64, tasks: &[usize]) -> TaskValue {
        TaskValue { bytes, tasks: tasks.to_vec(), ..TaskValue::default() }
    }
}

/// Tasks with what has to run before what.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The number of places in memory that is there anyway.
    pub(super) places: usize,
    /// The values that have to be in a place in the end.
    pub(super) ends: Vec<(usize, usize)>,
    /// The bytes of all values and all that is beside.
    pub(super) all: i64,
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
            places: 0,
            ends: Vec::new(),
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
            (value.group, value.starts_in, value.ends_in) = (None, None, None);
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

    /// Says which values are in memory that is there anyway, each place of which has room for one at a time: those that start
    /// in a place, and those that have to be in one in the end. A value is in the first place that is said of it. Of one place
    /// and of each start is one value.
    pub fn add_places(&mut self, places: usize, starts: &[(usize, usize)], ends: &[(usize, usize)]) {
        self.places = places;
        self.ends = ends.to_vec();
        for (value, place) in starts {
            self.values[*value].starts_in.get_or_insert(*place);
        }
        for (value, place) in ends {
            self.values[*value].ends_in.get_or_insert(*place);
        }
    }

    /// The number of tasks.
    pub fn len(&self) -> usize {
        self.before.len()
    }

    /// Whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty()
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
