//! Tasks, their dependences, and the values that they touch.

use std::collections::BTreeSet;
use tensor_layout::text::Error;

/// A buffer that is live from the first task that touches it to the last, both included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskValue {
    /// The size, at least 0.
    pub bytes: i64,
    /// The tasks that define and read it.
    pub tasks: Vec<usize>,
    /// Whether it is live before all tasks.
    pub from_start: bool,
    /// Whether it is live after all tasks.
    pub to_end: bool,
    /// The group whose slots it may use, with the number of its size there, from [`TaskGraph::group`].
    pub group: Option<(usize, usize)>,
    /// The place that holds it before all tasks, from [`TaskGraph::add_places`].
    pub starts_in: Option<usize>,
    /// The place that holds it after all tasks, if vacant at its definition.
    pub ends_in: Option<usize>,
}

impl TaskValue {
    /// A value of this size, touched by these tasks.
    pub fn new(bytes: i64, tasks: &[usize]) -> TaskValue {
        TaskValue { bytes, tasks: tasks.to_vec(), ..TaskValue::default() }
    }
}

/// Values that may use preallocated slots: each slot holds one live value at a time, of at most its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SlotGroup {
    /// The sizes of the values, largest first.
    pub(super) sizes: Vec<i64>,
    /// For each of these sizes, the number of slots that hold it and nothing larger.
    pub(super) slots: Vec<usize>,
    /// In a part, the number of values of each size that are live all the time and that the part does not touch.
    pub(super) around: Vec<usize>,
}

impl SlotGroup {
    /// The bytes of live values that are in no slot, from the number of them by size. The largest values use the slots:
    /// no other choice leaves fewer bytes.
    pub(super) fn beside(&self, live: &[usize]) -> i64 {
        self.beside_slots(live, &self.slots)
    }

    /// The same, with other slots: a number for each size.
    pub(super) fn beside_slots(&self, live: &[usize], slots: &[usize]) -> i64 {
        let (mut empty, mut sum) = (0, 0);
        for ((live, slots), bytes) in live.iter().zip(slots).zip(&self.sizes) {
            empty += slots;
            let held = empty.min(*live);
            empty -= held;
            // The bytes of all values are below 2^61.
            sum += (live - held) as i64 * bytes;
        }
        sum
    }
}

/// Tasks with their dependences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskGraph {
    /// The predecessors and successors of each task.
    pub(super) before: Vec<Vec<usize>>,
    pub(super) after: Vec<Vec<usize>>,
    pub(super) values: Vec<TaskValue>,
    /// The values that each task touches.
    pub(super) touched: Vec<Vec<usize>>,
    /// The bytes that each task takes beside its values.
    pub(super) beside: Vec<i64>,
    /// For each task, its results that may overwrite operands.
    pub(super) shares: Vec<Vec<(usize, usize)>>,
    /// The groups of values that may use slots.
    pub(super) groups: Vec<SlotGroup>,
    /// The number of places in preallocated memory.
    pub(super) places: usize,
    /// The values that must be in a place at the end.
    pub(super) ends: Vec<(usize, usize)>,
    /// The sum of all values and of all bytes beside.
    pub(super) all: i64,
}

impl TaskGraph {
    /// A graph of so many tasks; the first of each pair must run before the second. The tasks of a value must be
    /// ordered by such pairs, too.
    ///
    /// # Errors
    /// A task number out of range; bytes below 0, or together above 2^61.
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
            groups: Vec::new(),
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

    /// Adds bytes that a task takes beside its values.
    ///
    /// # Errors
    /// An unknown task; bytes below 0, or with all others above 2^61.
    pub fn add_beside(&mut self, task: usize, bytes: i64) -> Result<(), Error> {
        let all = added(self.all, bytes)?;
        let own = self.beside.get_mut(task).ok_or_else(|| Error::new(format!("there must be a task {task}")))?;
        *own += bytes;
        self.all = all;
        Ok(())
    }

    /// Lets a task overwrite one of its values with another, if nothing touches it afterwards. The task must touch
    /// both.
    pub fn share(&mut self, task: usize, result: usize, operand: usize) {
        self.shares[task].push((result, operand));
    }

    /// Puts values into a group with slots of these sizes: a value in a slot takes no bytes. A slot holds one value at a
    /// time, of at most its size. Sizes are rounded down if the group has too many different ones.
    pub fn group(&mut self, values: &[usize], slots: &[i64]) {
        let sizes = (0..).map(|bits| self.sizes(values, bits)).find(|sizes| sizes.len() <= MOST_SIZES);
        let sizes = sizes.unwrap_or_default();
        let number = |bytes: i64| sizes.partition_point(|size| *size > bytes);
        for value in values {
            self.values[*value].group = Some((self.groups.len(), number(self.values[*value].bytes)));
        }
        let mut counts = vec![0; sizes.len()];
        for slot in slots {
            if let Some(count) = counts.get_mut(number(*slot)) {
                *count += 1;
            }
        }
        self.groups.push(SlotGroup { around: vec![0; sizes.len()], sizes, slots: counts });
    }

    /// The different sizes of values without so many of the lowest bits, largest first.
    fn sizes(&self, values: &[usize], bits: u32) -> Vec<i64> {
        let size = |value: &usize| self.values[*value].bytes >> bits << bits;
        values.iter().map(size).collect::<BTreeSet<i64>>().into_iter().rev().collect()
    }

    /// Assigns values to places in preallocated memory, each with room for one at a time: values that start in a place,
    /// and values that must end in one. The first place given for a value counts. Each place has at most one starting
    /// value.
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

    /// The reversed graph: its orders are reversed, with the same bytes live.
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

/// The limit on different sizes in a group: each task takes time in proportion to them. For a program of 20,000
/// instructions, each of another size, 64, 1,024 and all sizes take 2.0, 2.5 and 19.3 s in a build for development; the
/// bound is 574,936, 38,360 and 0 bytes below the order found.
const MOST_SIZES: usize = 1024;

/// The limit on the bytes of all tasks and values, so that sums and differences of two such sums fit in 64 bits.
const MOST_BYTES: i64 = 1 << 61;

/// The sum, if it is within the limit.
fn added(sum: i64, bytes: i64) -> Result<i64, Error> {
    if bytes < 0 {
        return Err(Error::new(format!("the bytes of a value must be 0 or more, found {bytes}")));
    }
    sum.checked_add(bytes)
        .filter(|sum| *sum <= MOST_BYTES)
        .ok_or_else(|| Error::new(format!("the bytes of all values must be at most {MOST_BYTES} together")).too_large())
}
