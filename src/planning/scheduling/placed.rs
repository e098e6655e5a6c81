//! Tasks run from the last to the first, with the place of each value: a value in preallocated memory takes no bytes.
//!
//! A result that overwrites its operand has the operand's place; values that overwrite each other form a chain. A chain
//! takes no bytes if its first value starts in a place, as a parameter does, or if its last value ends in a place, as a
//! result does, that is vacant when the first value is defined. From the end, the last value of a chain comes first, so
//! its end is known. A choice exists only where a value starts in a place; a task visited later decides whether the
//! order can go on:
//!
//! ```text
//! a = f(x)         in the place of the result z, as z is written over it
//! b = g(a)         takes bytes: nothing is written over it
//! z = a + 1        written over `a`, if it is the last to read it
//! ```
//!
//! If two states after the same tasks have the same values in the places where some value starts, the one with fewer
//! values that take bytes is no worse.

use super::graph::TaskGraph;
use super::progress::{LiveBytes, TaskState};

/// The memory of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueHome {
    /// Memory of its own.
    Own,
    /// The place where it, or a value that it overwrites, starts.
    Started(usize),
    /// The place where it, or a value that overwrites it, ends.
    Ended(usize),
}

impl ValueHome {
    fn place(self) -> Option<usize> {
        match self {
            ValueHome::Own => None,
            ValueHome::Started(place) | ValueHome::Ended(place) => Some(place),
        }
    }
}

/// The parts of the state that do not depend on the order.
pub struct Places<'g> {
    graph: &'g TaskGraph,
    reversed: TaskGraph,
    /// For each value, the places where it or a value below it in a possible chain starts.
    starts: Vec<Vec<usize>>,
    /// Whether a value may be in a chain that ends in a place.
    may_end: Vec<bool>,
    /// Whether a value starts in each place.
    is_started: Vec<bool>,
    /// The operands that each value may overwrite.
    operands: Vec<Vec<usize>>,
}

/// The state before some tasks; all later tasks have run.
#[derive(Clone)]
pub struct PlacedTasks<'p> {
    places: &'p Places<'p>,
    tasks_left: usize,
    /// The number of tasks of each value that have not run.
    left: Vec<usize>,
    homes: Vec<ValueHome>,
    /// The number of live values in each place.
    occupants: Vec<usize>,
    /// The bytes of live values in memory of their own.
    own: i64,
}

impl<'g> Places<'g> {
    /// The places of a graph.
    pub fn new(graph: &'g TaskGraph) -> Places<'g> {
        let count = graph.values.len();
        let mut starts: Vec<Vec<usize>> =
            graph.values.iter().map(|value| value.starts_in.into_iter().collect()).collect();
        let mut may_end: Vec<bool> = graph.values.iter().map(|value| value.ends_in.is_some()).collect();
        let mut is_started = vec![false; graph.places];
        graph.values.iter().filter_map(|value| value.starts_in).for_each(|place| is_started[place] = true);
        let mut operands = vec![Vec::new(); count];
        let pairs: Vec<(usize, usize)> = graph.shares.iter().flatten().copied().collect();
        pairs.iter().for_each(|(result, operand)| operands[*result].push(*operand));
        // Chains are no longer than the number of values.
        for _ in 0..count {
            let mut changed = false;
            for (result, operand) in &pairs {
                let new: Vec<usize> =
                    starts[*operand].iter().filter(|place| !starts[*result].contains(place)).copied().collect();
                changed |= !new.is_empty() || may_end[*result] && !may_end[*operand];
                starts[*result].extend(new);
                may_end[*operand] |= may_end[*result];
            }
            if !changed {
                break;
            }
        }
        starts.iter_mut().for_each(|own| own.sort_unstable());
        Places { graph, reversed: graph.reversed(), starts, may_end, is_started, operands }
    }

    /// The bytes live at each task of a valid order.
    pub fn costs(&self, order: &[usize]) -> Vec<i64> {
        let values = &self.graph.values;
        let chains = Chains::new(self.graph, order);
        let homes = chains.homes();
        let mut change = vec![0; order.len() + 1];
        let mut costs: Vec<i64> = order.iter().map(|task| self.graph.beside[*task]).collect();
        for (value, own) in values.iter().enumerate().filter(|(value, _)| homes[*value] == ValueHome::Own) {
            let touched = chains.touched[value];
            let from = if own.from_start { Some(0) } else { touched.map(|own| own.0) };
            let to = if own.to_end { Some(order.len()) } else { touched.map(|own| own.1 + 1) };
            if let (Some(from), Some(to)) = (from, to) {
                change[from] += own.bytes;
                change[to] -= own.bytes;
                if let (Some(operand), Some(cost)) = (chains.under[value], costs.get_mut(from)) {
                    *cost -= own.bytes.min(values[operand].bytes);
                }
            }
        }
        let mut live = 0;
        for (cost, change) in costs.iter_mut().zip(change) {
            live += change;
            *cost += live;
        }
        if let Some(last) = costs.last_mut() {
            *last += exchanged(self.graph, &homes);
        }
        costs
    }
}

/// The chains of values in an order.
struct Chains<'g> {
    graph: &'g TaskGraph,
    /// The number of tasks.
    end: usize,
    /// The first and last touch of each value.
    touched: Vec<Option<(usize, usize)>>,
    /// The value above and below each one in its chain.
    over: Vec<Option<usize>>,
    under: Vec<Option<usize>>,
}

impl<'g> Chains<'g> {
    fn new(graph: &'g TaskGraph, order: &[usize]) -> Chains<'g> {
        let values = &graph.values;
        let mut touched: Vec<Option<(usize, usize)>> = vec![None; values.len()];
        for (at, task) in order.iter().enumerate() {
            graph.touched[*task]
                .iter()
                .for_each(|value| touched[*value] = Some((touched[*value].map_or(at, |own| own.0), at)));
        }
        let (mut over, mut under) = (vec![None; values.len()], vec![None; values.len()]);
        for (at, task) in order.iter().enumerate() {
            let is_first = |value: usize| !values[value].from_start && touched[value].is_some_and(|own| own.0 == at);
            let is_last = |value: usize| !values[value].to_end && touched[value].is_some_and(|own| own.1 == at);
            for (result, operand) in written_over(&graph.shares[*task], is_first, is_last) {
                (over[operand], under[result]) = (Some(result), Some(operand));
            }
        }
        Chains { graph, end: order.len(), touched, over, under }
    }

    /// The last value of a chain.
    fn last(&self, mut value: usize) -> usize {
        while let Some(next) = self.over[value] {
            value = next;
        }
        value
    }

    /// By place, the last task that touches the chain that starts there.
    fn taken(&self) -> Vec<Option<usize>> {
        let values = &self.graph.values;
        let mut taken = vec![None; self.graph.places];
        for (value, own) in values.iter().enumerate() {
            if let Some(place) = own.starts_in.filter(|_| own.to_end || self.touched[value].is_some()) {
                let last = self.last(value);
                taken[place] = if values[last].to_end { Some(self.end) } else { self.touched[last].map(|own| own.1) };
            }
        }
        taken
    }

    /// The memory of each value.
    fn homes(&self) -> Vec<ValueHome> {
        let (values, taken) = (&self.graph.values, self.taken());
        let mut homes = vec![ValueHome::Own; values.len()];
        for first in (0..values.len()).filter(|value| self.under[*value].is_none()) {
            let begun = self.touched[first].map_or(0, |own| own.0);
            let is_vacant = |place: &usize| taken[*place].is_none_or(|last| last < begun);
            let end = || values[self.last(first)].ends_in.filter(|_| !values[first].from_start).filter(is_vacant);
            let home = values[first].starts_in.map(ValueHome::Started).or_else(|| end().map(ValueHome::Ended));
            let mut value = Some(first);
            while let Some(own) = value {
                homes[own] = home.unwrap_or(ValueHome::Own);
                value = self.over[own];
            }
        }
        homes
    }
}

/// The results of a task that overwrite operands, each the first one without later readers.
fn written_over(
    shares: &[(usize, usize)],
    is_first: impl Fn(usize) -> bool,
    is_last: impl Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (result, operand) in shares {
        let is_open = found.iter().all(|(a, b)| a != result && b != operand);
        if is_open && is_first(*result) && is_last(*operand) {
            found.push((*result, *operand));
        }
    }
    found
}

/// The bytes of values that must change place at the end, while the new place still holds another result.
fn exchanged(graph: &TaskGraph, homes: &[ValueHome]) -> i64 {
    let is_held = |place: usize| graph.ends.iter().any(|(value, _)| homes[*value] == ValueHome::Started(place));
    let moved = |(value, place): &&(usize, usize)| {
        matches!(homes[*value], ValueHome::Started(from) if from != *place) && is_held(*place)
    };
    graph.ends.iter().filter(moved).map(|(value, _)| graph.values[*value].bytes).sum()
}

impl<'p> PlacedTasks<'p> {
    /// The state after the last task.
    pub fn new(places: &'p Places<'p>) -> PlacedTasks<'p> {
        let values = &places.graph.values;
        PlacedTasks {
            places,
            tasks_left: places.graph.len(),
            left: values.iter().map(|value| value.tasks.len()).collect(),
            homes: vec![ValueHome::Own; values.len()],
            occupants: vec![0; places.graph.places],
            own: 0,
        }
    }

    fn is_live(&self, value: usize) -> bool {
        let own = &self.places.graph.values[value];
        (own.to_end || self.left[value] < own.tasks.len()) && (own.from_start || self.left[value] > 0)
    }

    /// Whether the next task to run, from the end, is the first of a value: all others have run.
    fn is_first(&self, value: usize) -> bool {
        !self.places.graph.values[value].from_start && self.left[value] == 1
    }

    /// Whether the task is the last of a value: no other has run.
    fn is_last(&self, value: usize) -> bool {
        let own = &self.places.graph.values[value];
        !own.to_end && self.left[value] == own.tasks.len()
    }

    /// The results of a task that overwrite operands if it runs now.
    fn written_over(&self, task: usize) -> Vec<(usize, usize)> {
        written_over(&self.places.graph.shares[task], |value| self.is_first(value), |value| self.is_last(value))
    }

    fn count(&mut self, value: usize, sign: i64) {
        match self.homes[value].place() {
            None => self.own += sign * self.places.graph.values[value].bytes,
            Some(place) if sign > 0 => self.occupants[place] += 1,
            Some(place) => self.occupants[place] -= 1,
        }
    }

    /// The values that nothing overwrites and that become live when a task runs, from the end.
    fn begun(&self, task: usize, over: &[(usize, usize)]) -> Vec<usize> {
        let graph = self.places.graph;
        let is_read = |value: &usize| self.is_last(*value) && over.iter().all(|(_, operand)| operand != value);
        let mut all: Vec<usize> = graph.touched[task].iter().copied().filter(is_read).collect();
        if self.tasks_left == graph.len() {
            all.extend((0..graph.values.len()).filter(|value| graph.values[*value].to_end && self.is_live(*value)));
        }
        all
    }

    /// The number of possible homes of such a value.
    fn choices(&self, value: usize) -> usize {
        let own = &self.places.graph.values[value];
        match own.starts_in {
            Some(_) => 1,
            None => self.ends(value).iter().flatten().count() + self.places.starts[value].len(),
        }
    }

    /// Its possible homes outside places where a value starts.
    fn ends(&self, value: usize) -> [Option<ValueHome>; 2] {
        let end = self.places.graph.values[value].ends_in;
        let own = end.is_none_or(|place| self.places.is_started[place]).then_some(ValueHome::Own);
        [end.map(ValueHome::Ended), own]
    }

    /// One of the possible homes.
    fn home(&self, value: usize, choice: usize) -> ValueHome {
        if let Some(place) = self.places.graph.values[value].starts_in {
            return ValueHome::Started(place);
        }
        let started = self.places.starts[value].iter().map(|place| ValueHome::Started(*place));
        self.ends(value).into_iter().flatten().chain(started).nth(choice).unwrap_or(ValueHome::Own)
    }

    /// Whether a live value may still overwrite the value that starts in a place.
    fn may_start(&self, value: usize, place: usize) -> bool {
        self.places.graph.values[value].starts_in == Some(place)
            || self.places.operands[value]
                .iter()
                .any(|operand| self.is_last(*operand) && self.places.starts[*operand].contains(&place))
    }
}

impl TaskState for PlacedTasks<'_> {
    fn graph(&self) -> &TaskGraph {
        &self.places.reversed
    }

    fn memory(&self) -> Vec<u64> {
        let mut words = vec![0; self.homes.len().div_ceil(64)];
        let places = self.places.graph.places;
        for value in (0..self.homes.len()).filter(|value| self.is_live(*value)) {
            match self.homes[value] {
                ValueHome::Own => words[value / 64] |= 1 << (value % 64),
                ValueHome::Ended(place) if self.places.is_started[place] => {
                    words.push(((2 * value + 1) * places + place) as u64);
                }
                ValueHome::Ended(_) => {}
                ValueHome::Started(place) => words.push((2 * value * places + place) as u64),
            }
        }
        words
    }

    fn is_no_worse(&self, memory: &[u64], other: &[u64]) -> bool {
        let own = self.homes.len().div_ceil(64);
        memory[own..] == other[own..] && memory.iter().zip(&other[..own]).all(|(own, other)| own & !other == 0)
    }

    fn ways(&self, task: usize) -> usize {
        let over = self.written_over(task);
        self.begun(task, &over).into_iter().map(|value| self.choices(value)).product()
    }

    fn step(&mut self, task: usize, mut way: usize) -> Option<i64> {
        let graph = self.places.graph;
        let over = self.written_over(task);
        let mut kept = true;
        for value in self.begun(task, &over) {
            let choices = self.choices(value);
            self.homes[value] = self.home(value, way % choices);
            way /= choices;
            kept &= self.homes[value].place().is_none_or(|place| self.occupants[place] == 0);
            self.count(value, 1);
        }
        let mut saved = 0;
        for (result, operand) in &over {
            let home = self.homes[*result];
            self.homes[*operand] = home;
            self.count(*operand, 1);
            let starts = graph.values[*operand].starts_in;
            kept &= starts.is_none_or(|place| home == ValueHome::Started(place));
            if home == ValueHome::Own {
                saved += graph.values[*result].bytes.min(graph.values[*operand].bytes);
            }
        }
        let mut cost = graph.beside[task] + self.own - saved;
        if self.tasks_left == graph.len() {
            cost += exchanged(graph, &self.homes);
        }
        for value in &graph.touched[task] {
            let begins = self.is_first(*value);
            if begins {
                let is_over = || over.iter().any(|(result, _)| result == value);
                kept &= !matches!(self.homes[*value], ValueHome::Started(_)) || is_over();
                self.count(*value, -1);
            }
            self.left[*value] -= 1;
            if let (ValueHome::Started(place), false) = (self.homes[*value], begins) {
                kept &= self.may_start(*value, place);
            }
        }
        self.tasks_left -= 1;
        kept.then_some(cost)
    }

    fn undo(&mut self, task: usize) {
        let graph = self.places.graph;
        self.tasks_left += 1;
        graph.touched[task].iter().for_each(|value| self.left[*value] += 1);
        for value in &graph.touched[task] {
            if self.is_first(*value) {
                self.count(*value, 1);
            }
        }
        for value in &graph.touched[task] {
            if self.is_last(*value) {
                self.count(*value, -1);
            }
        }
        if self.tasks_left == graph.len() {
            for value in (0..graph.values.len()).filter(|value| graph.values[*value].to_end) {
                if self.is_live(value) {
                    self.count(value, -1);
                }
            }
        }
    }

    fn live(&self) -> LiveBytes {
        LiveBytes { counted: self.own, plain: self.own, grouped: Vec::new() }
    }

    /// Whether each value that the task reads last can use no place, or uses one that is vacant all the time.
    fn is_settled(&self, task: usize) -> bool {
        if self.tasks_left == self.places.graph.len() {
            return false;
        }
        let over = self.written_over(task);
        let settled = |value: &usize| {
            let result = || over.iter().find(|(_, operand)| operand == value).map(|(result, _)| self.homes[*result]);
            let is_vacant = |home: ValueHome| home.place().is_some_and(|place| !self.places.is_started[place]);
            self.places.starts[*value].is_empty() && (!self.places.may_end[*value] || result().is_some_and(is_vacant))
        };
        self.places.graph.touched[task].iter().filter(|value| self.is_last(**value)).all(settled)
    }
}
