//! Tasks run one after the other, with the place of each value: where it lies in memory that is there anyway, it takes none.
//!
//! A result that is written over its operand lies where that lies; values that are written over each other are a chain. A
//! chain takes no bytes where its first value starts in a place, as a parameter does. Nor does it where its last value ends
//! in a place, as a result does, and that is vacant when the first value is made. So whether a value takes bytes depends on
//! what comes later: a chain that is begun in a place owes its last value to it, and where another value turns out to be the
//! last, the order that was begun so is none.
//!
//! ```text
//! a = f(x)         begun in the place of the output z, to which it is owed
//! b = g(a)         takes bytes: `a` is read again
//! z = a + 1        written over `a`, if it is the last to read it
//! ```

use super::graph::TaskGraph;
use super::progress::TaskState;

/// Where a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueHome {
    /// In memory of its own.
    Own,
    /// Where the value lay that started in this place.
    Started(usize),
    /// In a place in which a value that is written over it has to end.
    Owed(usize),
    /// In the place in which it ends.
    Ended(usize),
}

impl ValueHome {
    fn place(self) -> Option<usize> {
        match self {
            ValueHome::Own => None,
            ValueHome::Started(place) | ValueHome::Owed(place) | ValueHome::Ended(place) => Some(place),
        }
    }
}

/// What of a graph does not depend on the order.
pub struct Places<'g> {
    graph: &'g TaskGraph,
    /// For each value the places in which what is written over it, and over that, may end; sorted.
    ends: Vec<Vec<usize>>,
    /// Whether a value may lie where one that starts in a place lies.
    may_start: Vec<bool>,
}

/// The state after some tasks.
#[derive(Clone)]
pub struct PlacedTasks<'p> {
    places: &'p Places<'p>,
    done: Vec<bool>,
    tasks_done: usize,
    /// The tasks of each value that have not run.
    left: Vec<usize>,
    homes: Vec<ValueHome>,
    /// The live values in each place.
    occupants: Vec<usize>,
    /// The bytes of live values in memory of their own.
    own: i64,
    /// The state before the last task.
    saved: Option<Box<PlacedTasks<'p>>>,
}

impl<'g> Places<'g> {
    /// Of a graph.
    pub fn new(graph: &'g TaskGraph) -> Places<'g> {
        let count = graph.values.len();
        let mut ends: Vec<Vec<usize>> = graph.values.iter().map(|value| value.ends_in.into_iter().collect()).collect();
        let mut may_start: Vec<bool> = graph.values.iter().map(|value| value.starts_in.is_some()).collect();
        let pairs: Vec<(usize, usize)> = graph.shares.iter().flatten().copied().collect();
        // Chains are no longer than there are values.
        for _ in 0..count {
            let mut changed = false;
            for (result, operand) in &pairs {
                let new: Vec<usize> =
                    ends[*result].iter().filter(|place| !ends[*operand].contains(place)).copied().collect();
                changed |= !new.is_empty() || may_start[*operand] && !may_start[*result];
                ends[*operand].extend(new);
                may_start[*result] |= may_start[*operand];
            }
            if !changed {
                break;
            }
        }
        ends.iter_mut().for_each(|own| own.sort_unstable());
        Places { graph, ends, may_start }
    }

    /// The bytes live at each task of what is known to be an order.
    pub fn costs(&self, order: &[usize]) -> Vec<i64> {
        let mut placed = PlacedTasks::new(self);
        // Which value is written over which, and when each is touched last.
        let mut over: Vec<Option<usize>> = vec![None; self.graph.values.len()];
        let mut touched: Vec<(usize, usize)> = vec![(0, 0); self.graph.values.len()];
        for (at, task) in order.iter().enumerate() {
            for (result, operand) in placed.written_over(*task) {
                over[operand] = Some(result);
            }
            for value in &self.graph.touched[*task] {
                if placed.is_first(*value) {
                    touched[*value].0 = at;
                }
                touched[*value].1 = at;
            }
            placed.pass(*task);
        }
        // The last moment of what starts in each place.
        let mut taken: Vec<Option<usize>> = vec![None; self.graph.places];
        let mut ends: Vec<Option<usize>> = vec![None; self.graph.values.len()];
        let last = |mut value: usize| {
            while let Some(next) = over[value] {
                value = next;
            }
            value
        };
        for (value, own) in self.graph.values.iter().enumerate() {
            if let Some(place) = own.starts_in.filter(|_| own.to_end || !own.tasks.is_empty()) {
                let last = last(value);
                let to_end = self.graph.values[last].to_end;
                taken[place] = Some(if to_end { order.len() } else { touched[last].1 });
            }
        }
        let mut begun = vec![true; self.graph.values.len()];
        over.iter().flatten().for_each(|result| begun[*result] = false);
        let is_new = |value: &usize| begun[*value] && !self.graph.values[*value].from_start;
        for value in (0..ends.len()).filter(is_new) {
            let is_vacant = |place: &usize| taken[*place].is_none_or(|last| last < touched[value].0);
            ends[value] = self.graph.values[last(value)].ends_in.filter(is_vacant);
        }
        let mut placed = PlacedTasks::new(self);
        order.iter().map(|task| placed.run(*task, |value| ends[value]).unwrap_or(i64::MAX)).collect()
    }
}

impl<'p> PlacedTasks<'p> {
    /// Before the first task.
    pub fn new(places: &'p Places<'p>) -> PlacedTasks<'p> {
        let values = &places.graph.values;
        let mut placed = PlacedTasks {
            places,
            done: vec![false; places.graph.len()],
            tasks_done: 0,
            left: values.iter().map(|value| value.tasks.len()).collect(),
            homes: vec![ValueHome::Own; values.len()],
            occupants: vec![0; places.graph.places],
            own: 0,
            saved: None,
        };
        for (value, own) in values.iter().enumerate() {
            if let Some(place) = own.starts_in {
                placed.homes[value] = ValueHome::Started(place);
            }
            if placed.is_live(value) {
                placed.count(value, 1);
            }
        }
        placed
    }

    fn is_live(&self, value: usize) -> bool {
        let own = &self.places.graph.values[value];
        (own.from_start || self.left[value] < own.tasks.len()) && (own.to_end || self.left[value] > 0)
    }

    fn is_first(&self, value: usize) -> bool {
        let own = &self.places.graph.values[value];
        !own.from_start && self.left[value] == own.tasks.len()
    }

    fn is_last(&self, value: usize) -> bool {
        !self.places.graph.values[value].to_end && self.left[value] == 1
    }

    fn count(&mut self, value: usize, sign: i64) {
        match self.homes[value].place() {
            None => self.own += sign * self.places.graph.values[value].bytes,
            Some(place) if sign > 0 => self.occupants[place] += 1,
            Some(place) => self.occupants[place] -= 1,
        }
    }

    /// The results of a task that are written over operands, each over the first that nothing reads afterwards.
    fn written_over(&self, task: usize) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (result, operand) in &self.places.graph.shares[task] {
            let is_open = found.iter().all(|(a, b)| a != result && b != operand);
            if is_open && self.is_first(*result) && self.is_last(*operand) {
                found.push((*result, *operand));
            }
        }
        found
    }

    /// Notes that a task has run.
    fn pass(&mut self, task: usize) {
        self.places.graph.touched[task].iter().for_each(|value| self.left[*value] -= 1);
        self.done[task] = true;
        self.tasks_done += 1;
    }

    /// Runs a task, where `begun` says in which place a value is begun that is written over none: the bytes that are live
    /// while it runs; `None` where a place does not get what it is owed.
    fn run(&mut self, task: usize, begun: impl Fn(usize) -> Option<usize>) -> Option<i64> {
        let graph = self.places.graph;
        let over = self.written_over(task);
        let mut saved = 0;
        let new: Vec<usize> = graph.touched[task].iter().copied().filter(|value| self.is_first(*value)).collect();
        for value in &new {
            let own = &graph.values[*value];
            let ended = |place: usize| {
                if own.ends_in == Some(place) { ValueHome::Ended(place) } else { ValueHome::Owed(place) }
            };
            let operand = over.iter().find(|(result, _)| result == value).map(|(_, operand)| *operand);
            self.homes[*value] = match (operand, operand.map(|operand| self.homes[operand])) {
                (Some(_), Some(ValueHome::Owed(place))) => ended(place),
                (Some(operand), Some(ValueHome::Own)) => {
                    saved += own.bytes.min(graph.values[operand].bytes);
                    ValueHome::Own
                }
                (_, Some(home)) => home,
                (_, None) => begun(*value).map_or(ValueHome::Own, ended),
            };
        }
        new.iter().for_each(|value| self.count(*value, 1));
        let mut cost = graph.beside[task] + self.own - saved;
        let mut kept = true;
        for value in &graph.touched[task] {
            if self.is_last(*value) {
                kept &= !matches!(self.homes[*value], ValueHome::Owed(_))
                    || over.iter().any(|(_, operand)| operand == value);
                self.count(*value, -1);
            }
        }
        self.pass(task);
        for value in &graph.touched[task] {
            if let ValueHome::Owed(place) = self.homes[*value] {
                kept &= !self.is_live(*value) || self.may_end(*value, place);
            }
        }
        if self.tasks_done == graph.len() {
            cost += self.exchanged();
        }
        kept.then_some(cost)
    }

    /// Whether a task that is left may write over a value what may end in a place.
    fn may_end(&self, value: usize, place: usize) -> bool {
        let graph = self.places.graph;
        graph.values[value].tasks.iter().filter(|task| !self.done[**task]).any(|task| {
            let shares = &graph.shares[*task];
            shares.iter().any(|(result, operand)| *operand == value && self.places.ends[*result].contains(&place))
        })
    }

    /// The bytes of values that have to go from one place to another in the end, while that holds a result, too.
    fn exchanged(&self) -> i64 {
        let graph = self.places.graph;
        let is_held =
            |place: usize| graph.ends.iter().any(|(value, _)| self.homes[*value] == ValueHome::Started(place));
        let moved = |(value, place): &&(usize, usize)| {
            matches!(self.homes[*value], ValueHome::Started(from) if from != *place) && is_held(*place)
        };
        graph.ends.iter().filter(moved).map(|(value, _)| graph.values[*value].bytes).sum()
    }

    /// In which places the values may be begun that a task makes: for each way the value of each place.
    fn begun(&self, task: usize) -> Vec<Vec<(usize, usize)>> {
        let graph = self.places.graph;
        let over = self.written_over(task);
        let mut all = vec![Vec::new()];
        for value in graph.touched[task].iter().filter(|value| self.is_first(**value)) {
            let vacant = |place: &usize| self.occupants[*place] == 0;
            if over.iter().any(|(result, _)| result == value) {
                continue;
            }
            if let Some(place) = graph.values[*value].ends_in.filter(vacant) {
                all.iter_mut().for_each(|way: &mut Vec<(usize, usize)>| way.push((*value, place)));
                continue;
            }
            let places = self.places.ends[*value].iter().copied().filter(vacant);
            for place in places.filter(|place| graph.values[*value].ends_in != Some(*place)).collect::<Vec<_>>() {
                let more: Vec<_> = all
                    .iter()
                    .filter(|way| way.iter().all(|(other, taken)| other != value && *taken != place))
                    .map(|way| [&way[..], &[(*value, place)]].concat())
                    .collect();
                all.extend(more);
            }
        }
        all
    }
}

impl TaskState for PlacedTasks<'_> {
    fn graph(&self) -> &TaskGraph {
        self.places.graph
    }

    fn set(&mut self, done: &[usize], homes: &[u64]) {
        let mut placed = PlacedTasks::new(self.places);
        done.iter().for_each(|task| placed.pass(*task));
        let places = self.places.graph.places as u64;
        placed.homes.fill(ValueHome::Own);
        for word in homes {
            let (value, kind, place) = (word / (3 * places), word / places % 3, (word % places) as usize);
            let kinds = [ValueHome::Started(place), ValueHome::Owed(place), ValueHome::Ended(place)];
            placed.homes[value as usize] = kinds[kind as usize];
        }
        (placed.own, placed.occupants) = (0, vec![0; self.places.graph.places]);
        for value in (0..placed.homes.len()).filter(|value| placed.is_live(*value)).collect::<Vec<_>>() {
            placed.count(value, 1);
        }
        *self = placed;
    }

    fn memory(&self) -> Vec<u64> {
        let places = self.places.graph.places as u64;
        let word = |value: usize| {
            let (kind, place) = match self.homes[value] {
                ValueHome::Own => return None,
                ValueHome::Started(place) => (0, place),
                ValueHome::Owed(place) => (1, place),
                ValueHome::Ended(place) => (2, place),
            };
            Some((value as u64 * 3 + kind) * places + place as u64)
        };
        (0..self.homes.len()).filter(|value| self.is_live(*value)).filter_map(word).collect()
    }

    fn ways(&self, task: usize) -> usize {
        self.begun(task).len()
    }

    fn step(&mut self, task: usize, way: usize) -> Option<i64> {
        let begun = self.begun(task).swap_remove(way);
        let before = PlacedTasks { saved: None, ..self.clone() };
        let cost = self.run(task, |value| begun.iter().find(|own| own.0 == value).map(|own| own.1));
        self.saved = Some(Box::new(before));
        cost
    }

    fn price(&self) -> u64 {
        // The state before is kept, to be taken back.
        4 * (self.homes.len() + self.done.len()) as u64
    }

    fn undo(&mut self, _: usize) {
        if let Some(before) = self.saved.take() {
            *self = *before;
        }
    }

    /// As of a graph without places; and other values that it touches are in no place, and come to none.
    fn is_free(&mut self, task: usize, most: i64) -> bool {
        let over = self.written_over(task);
        let is_settled = |value: &usize| {
            let plain = self.places.ends[*value].is_empty() && !self.places.may_start[*value];
            let vacant = |place: usize| self.occupants[place] == 0;
            plain
                || self.is_last(*value)
                || self.is_first(*value)
                    && (over.iter().any(|(result, _)| result == value)
                        || self.places.graph.values[*value].ends_in.is_some_and(vacant))
        };
        if !self.places.graph.touched[task].iter().all(is_settled) {
            return false;
        }
        let before = self.own;
        let cost = self.step(task, 0);
        let after = self.own;
        self.undo(task);
        after <= before && cost.is_some_and(|cost| cost <= most)
    }
}
