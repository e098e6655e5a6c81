//! Orders of tasks with a low peak of live bytes, and a lower bound for any order.
//!
//! A task needs its values while it runs; a value is live from the first task that touches it to the last. Let `a`,
//! `b`, `c` define 100 bytes each, and `s`, `t`, `u` compute 1 byte each from one of them. The order `a b c s t u` has
//! 301 bytes live at `s`, and `a s b t c u` 103 at `u`:
//!
//! ```
//! use layout_plan::scheduling::{MOST_STEPS, TaskGraph, TaskValue, least_peak};
//!
//! let large = |k: usize| TaskValue::new(100, &[k, k + 3]);
//! let small = |k: usize| TaskValue { to_end: true, ..TaskValue::new(1, &[k + 3]) };
//! let values = (0..3).map(large).chain((0..3).map(small)).collect();
//! let graph = TaskGraph::new(6, &[(0, 3), (1, 4), (2, 5)], values).unwrap();
//! let given: Vec<usize> = (0..6).collect();
//! assert_eq!(graph.peak(&given).unwrap(), 301);
//! let found = least_peak(&graph, &given, &mut MOST_STEPS.clone()).unwrap();
//! assert_eq!((found.peak, found.bound), (103, 103));
//! ```
//!
//! The live bytes at a task are the values live then, and the bytes beside it, with two deductions:
//!
//! - A result that may overwrite an operand without later readers takes no bytes at the task
//!   that defines it ([`TaskGraph::share`]).
//! - The values of a group may use preallocated slots, one value in each at a time ([`TaskGraph::group`]).
//!   This is a lower bound; [`TaskGraph::add_places`] assigns values to places, for the bytes that an order takes
//!   ([`placed`]).
//!
//! 1. The graph is cut at each task that depends on all before it and precedes all after it. The parts are ordered
//!    separately, without loss.
//! 2. In each part, the given order, list scheduling and depth first, each from the front and from the back, are
//!    compared ([`listing`]).
//! 3. An exact search visits sets of tasks that may be done together, from the start and from the end ([`search`]). If
//!    its steps run out, it has a proven lower bound.
//! 4. If a gap is left, stretches of the best order around its peak are searched in the same way.
//! 5. If values have places, a graph of few tasks is searched once more as a whole, from the end, where the place of
//!    each value is known ([`placed`]).
//!
//! The result has no larger peak than the given order. All is deterministic.

pub mod graph;
pub mod listing;
pub mod parts;
pub mod placed;
pub mod progress;
pub mod running;
pub mod search;

pub use graph::{TaskGraph, TaskValue};

use parts::TaskPart;
use placed::{PlacedTasks, Places};
use running::Running;
use search::{OrderSearch, OrderSearched, SearchSide};
use tensor_layout::text::Error;

/// An order of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskOrder {
    /// The task numbers, first to last.
    pub order: Vec<usize>,
    /// The peak of live bytes.
    pub peak: i64,
    /// A lower bound on the peak of any order.
    pub bound: i64,
}

/// The steps of all exact searches of a program, each a touch of a value or a word of a state: about 0.1 µs, together 4
/// seconds. Of 160 random programs of 64 instructions, 153 are searched to the end in them; with 150 million, 156.
pub const MOST_STEPS: u64 = 40_000_000;

/// The tasks of a stretch searched around a peak. With 24, 32 and 48 the peaks of the 92 programs of
/// `benches/schedule.md` are the lowest; with 16 and fewer two are 2.7 % higher, with 64 one is 1.4 % higher.
const STRETCH: usize = 24;

/// The limit on stretches of one part. It bounds the time in a part with many equal peaks, as each takes time in
/// proportion to the part. Two of the 92 programs of `benches/schedule.md` have peaks 2.7 % lower with one than
/// without; with more than one no peak is lower.
const MOST_STRETCHES: usize = 64;

/// The limit on tasks of a graph searched with places: a state has as many entries, and each step visits all.
const MOST_PLACED: usize = 128;

/// Finds an order of low peak, not above the given order's. The searches deduct their steps from `steps`.
///
/// # Errors
/// `given` is no order of the tasks.
pub fn least_peak(graph: &TaskGraph, given: &[usize], steps: &mut u64) -> Result<TaskOrder, Error> {
    graph.live(given)?;
    let (mut order, mut bound) = (Vec::with_capacity(given.len()), 0);
    for part in graph.cut(given) {
        let found = of_part(&part, steps);
        bound = bound.max(found.bound);
        order.extend(found.order.into_iter().map(|task| part.tasks[task]));
    }
    let places = Places::new(graph);
    let peak_of = |order: &[usize]| match graph.places {
        0 => graph.peak_of(order),
        _ => places.costs(order).into_iter().max().unwrap_or(0),
    };
    let (found, peak) = (peak_of(&order), peak_of(given));
    let mut best = match found < peak {
        true => TaskOrder { order, peak: found, bound },
        false => TaskOrder { order: given.to_vec(), peak, bound },
    };
    if best.peak > bound && graph.places > 0 && graph.len() <= MOST_PLACED {
        let side = SearchSide { progress: PlacedTasks::new(&places), from_end: true };
        let found = OrderSearch { sides: vec![side], below: best.peak, least: bound }.run(steps);
        best.bound = found.bound;
        if let Some(order) = found.order {
            best = TaskOrder { peak: peak_of(&order), order, ..best };
        }
    }
    best.bound = best.bound.min(best.peak);
    Ok(best)
}

/// Finds an order of a part between two cuts.
fn of_part(part: &TaskPart, steps: &mut u64) -> TaskOrder {
    let graph = &part.graph;
    let given: Vec<usize> = (0..graph.len()).collect();
    let bound = graph.least();
    let mut best = TaskOrder { peak: graph.peak_of(&given), order: given, bound };
    for order in listing::orders(graph).into_iter().take_while(|_| graph.len() > 1) {
        let peak = graph.peak_of(&order);
        if peak < best.peak {
            best = TaskOrder { order, peak, bound };
        }
    }
    if best.peak > bound {
        // The other half is for stretches.
        let mut half = *steps / 2;
        *steps -= half;
        let found = searched(graph, best.peak, bound, &mut half);
        *steps += half;
        best.bound = found.bound;
        if let Some(order) = found.order {
            (best.peak, best.order) = (graph.peak_of(&order), order);
        }
    }
    for _ in 0..MOST_STRETCHES {
        if best.peak <= best.bound || *steps == 0 || !improved(graph, &mut best, steps) {
            break;
        }
    }
    best
}

/// Searches an order below a peak, from both ends.
fn searched(graph: &TaskGraph, below: i64, least: i64, steps: &mut u64) -> OrderSearched {
    let reversed = graph.reversed();
    let side = |(graph, from_end)| SearchSide { progress: Running::new(graph), from_end };
    OrderSearch { sides: [(graph, false), (&reversed, true)].map(side).into(), below, least }.run(steps)
}

/// Reorders a stretch around the first peak; returns whether that peak is lower now.
fn improved(graph: &TaskGraph, best: &mut TaskOrder, steps: &mut u64) -> bool {
    let costs = graph.costs(&best.order);
    let Some(at) = costs.iter().position(|cost| *cost == best.peak) else { return false };
    for shift in [STRETCH / 2, STRETCH / 4, STRETCH * 3 / 4] {
        let first = at.saturating_sub(shift);
        let last = (first + STRETCH).min(best.order.len());
        let part = graph.part(&best.order, first..last);
        let found = searched(&part.graph, best.peak, part.graph.least(), steps);
        let Some(order) = found.order else { continue };
        best.order.splice(first..last, order.into_iter().map(|task| part.tasks[task]));
        best.peak = graph.peak_of(&best.order);
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long row of tasks around the example of this page: the stretch around the peak contains all of it.
    #[test]
    fn a_stretch_around_the_peak_is_ordered_anew() {
        const BEFORE: usize = 30;
        let large = |k: usize| TaskValue::new(100, &[BEFORE + k, BEFORE + k + 3]);
        let small = |k: usize| TaskValue { to_end: true, ..TaskValue::new(1, &[BEFORE + k + 3]) };
        let values = (0..3).map(large).chain((0..3).map(small)).collect();
        let mut pairs: Vec<(usize, usize)> = (0..3).map(|k| (BEFORE + k, BEFORE + k + 3)).collect();
        pairs.extend((1..BEFORE).map(|k| (k - 1, k)));
        let graph = TaskGraph::new(BEFORE + 6, &pairs, values).unwrap();
        let order: Vec<usize> = (0..BEFORE + 6).collect();
        let mut best = TaskOrder { peak: graph.peak(&order).unwrap(), order, bound: 0 };
        assert_eq!(best.peak, 301);
        assert!(improved(&graph, &mut best, &mut MOST_STEPS.clone()));
        assert_eq!((best.peak, graph.peak(&best.order).unwrap()), (103, 103));
        assert!(!improved(&graph, &mut best, &mut MOST_STEPS.clone()));
    }
}
