//! Instruction orders with a lower peak.
//!
//! Each computation is ordered by itself, called computations first. A new order is kept if, with its own buffers, one
//! memory has a lower peak and none a higher peak than in the text; the main memory comes first.

use super::before::{dependences, reads_before_updates};
use super::buffers::{Classes, FrameBuffers, FrameMap, buffers, named};
use super::inside::{Counted, Frames, Timelines};
use super::live::{MemoryUse, Space, first_most, frames};
use super::names::Leaf;
use super::runs::{RunsAs, called, until};
use super::tasks::{OutputMemory, SearchedOrders, TaskGraphs, Tasks};
use crate::random::Random;
use crate::scheduling::{MOST_STEPS, TaskGraph, least_peak};
use std::collections::BTreeMap;
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::shape::count;
use tensor_layout::text::Error;

/// The instruction numbers of each computation with a new order, first to last.
type Orders = BTreeMap<usize, Vec<usize>>;

/// Instruction orders of computations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schedule {
    /// For each computation with a new order, its instruction numbers, first to last.
    pub orders: BTreeMap<usize, Vec<usize>>,
    /// For each memory space, a lower bound on [`temporaries`](super::Space::temporaries) in any order.
    pub bounds: BTreeMap<u8, i64>,
}

impl Schedule {
    /// A schedule of known orders, without bounds.
    pub fn of_orders(orders: BTreeMap<usize, Vec<usize>>) -> Schedule {
        Schedule { orders, ..Schedule::default() }
    }

    /// Finds an order with a low peak for each computation of a module.
    ///
    /// # Errors
    /// A malformed aliasing attribute; bytes that overflow 64 bits.
    pub fn least_memory(module: &Module) -> Result<Schedule, Error> {
        let mut best = Best::of_text(module)?;
        if may_copy(module)? {
            // Orders without copies come first: others must take less.
            best.search(true)?;
        }
        if let Some(orders) = every_order(module)? {
            // The least of all orders is the bound.
            let mut bounds: BTreeMap<u8, i64> = BTreeMap::new();
            let mut ordered = OrderedEntry::new(module);
            for order in orders {
                let used = MemoryUse::of(ordered.set(&order))?;
                for (space, own) in &used.spaces {
                    let least = bounds.entry(*space).or_insert(i64::MAX);
                    *least = own.temporaries.min(*least);
                }
                best.offer(&used, || Orders::from([(module.entry, order)]));
            }
            return Ok(Schedule { orders: best.orders, bounds });
        }
        let bounds = best.search(false)?;
        best.descend(&bounds)?;
        Ok(Schedule { orders: best.orders, bounds })
    }

    /// Orders only the computations that `is_ordered` accepts.
    fn of_computations(
        module: &Module,
        searched: SearchedOrders,
        is_ordered: &dyn Fn(usize) -> bool,
    ) -> Result<Schedule, Error> {
        let mut found = Schedule::default();
        let mut ordering = Ordering::new(module);
        let effects = module.effects();
        let mut bounds = Peaks::new();
        let mut steps = MOST_STEPS;
        let all: Vec<(usize, RunsAs)> = frames(module).into_iter().collect();
        for own in all.chunk_by(|a, b| a.0 == b.0) {
            let number = own[0].0;
            let mut before = ordering.all_peaks(own)?;
            let mut order: Vec<usize> = (0..module.computations[number].instructions.len()).collect();
            for (k, frame) in own.iter().enumerate() {
                // Tasks are numbered as in the text.
                let tasks = Tasks { module, frame: *frame, frames: &ordering.buffers, effects: &effects, searched };
                let [graphs, least] = ordering.graphs(&tasks, &bounds)?;
                let mut own_bounds = BTreeMap::new();
                for (space, graph) in &graphs {
                    if k > 0 {
                        own_bounds.insert(*space, least.get(space).unwrap_or(graph).least());
                        continue;
                    }
                    let new = least_peak(graph, &order, &mut steps)?;
                    let other = least.get(space).filter(|own| *own != graph);
                    let bound = other.map_or(new.bound, TaskGraph::least);
                    own_bounds.insert(*space, bound);
                    if new.order == order || !is_ordered(number) {
                        continue;
                    }
                    ordering.module.computations[number] = reordered(&module.computations[number], &new.order);
                    let after = ordering.all_peaks(own)?;
                    let is_better = match (frame.1, searched.outputs) {
                        (RunsAs::Entry, OutputMemory::Shared) => is_no_higher(&graphs, &new.order, &order)?,
                        _ => is_better(&after, &before, *space),
                    };
                    if is_better {
                        (order, before) = (new.order, after);
                    } else {
                        ordering.module.computations[number] = reordered(&module.computations[number], &order);
                    }
                }
                bounds.insert(*frame, own_bounds);
            }
            ordering.all_peaks(own)?;
            if order.iter().enumerate().any(|(k, task)| k != *task) {
                found.orders.insert(number, order);
            }
        }
        found.bounds = bounds.remove(&(module.entry, RunsAs::Entry)).unwrap_or_default();
        Ok(found)
    }

    /// The module in these orders.
    ///
    /// # Errors
    /// A computation that does not exist; an order that is no permutation of the instructions, or violates a
    /// dependence.
    pub fn apply(&self, module: &Module) -> Result<Module, Error> {
        let (effects, frames) = (module.effects(), frames(module));
        let mut ordered = module.clone();
        for (number, order) in &self.orders {
            if !frames.iter().any(|frame| frame.0 == *number) {
                return Err(Error::new(format!("only computations that run have an order, found one of {number}")));
            }
            let computation = &module.computations[*number];
            check(order, &dependences(computation, &effects), &computation.instructions)
                .map_err(|error| Error::new(format!("the order of `{}`: {}", computation.name, error.message)))?;
            ordered.computations[*number] = reordered(computation, order);
        }
        Ok(ordered)
    }
}

/// Whether some order turns an update in place of the text into a copy.
fn may_copy(module: &Module) -> Result<bool, Error> {
    let buffers = Ordering::as_it_is(module)?.buffers;
    for (number, frame) in frames(module) {
        let classes = named(module, number, frame, &buffers)?;
        if !reads_before_updates(&module.computations[number], &classes).is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The most orders of a program that are all tried, and its most instructions. Each order takes a count of the memory:
/// 720 orders of 59 instructions take 0.3 s in a build for development, and of 11 instructions 0.1 s.
const MOST_ORDERS: usize = 1000;
const MOST_LISTED: usize = 64;

/// All orders of a program without called computations, parameters first; `None` for more than [`MOST_ORDERS`], and for more than
/// [`MOST_LISTED`] instructions.
///
/// # Errors
/// As [`Schedule::least_memory`].
fn every_order(module: &Module) -> Result<Option<Vec<Vec<usize>>>, Error> {
    let (frames, computation) = (frames(module), &module.computations[module.entry]);
    let n = computation.instructions.len();
    if frames.len() > 1 || n > MOST_LISTED {
        return Ok(None);
    }
    let (mut before, mut after) = (vec![0; n], vec![Vec::new(); n]);
    for (first, then) in dependences(computation, &module.effects()) {
        before[then] += 1;
        after[first].push(then);
    }
    let mut all = Vec::new();
    // Each entry is an order so far, with the numbers of predecessors that are still to come.
    let mut open = vec![(Vec::with_capacity(n), before)];
    while let Some((order, before)) = open.pop() {
        let ready = (0..n).filter(|k| before[*k] == 0);
        let parameter = |k: &usize| computation.parameters.contains(k);
        // A parameter is live from the beginning wherever it is.
        let next: Vec<usize> = match ready.clone().find(parameter) {
            Some(k) => vec![k],
            None => ready.collect(),
        };
        if next.is_empty() {
            all.push(order);
        } else {
            for k in next {
                let (mut order, mut before) = (order.clone(), before.clone());
                order.push(k);
                before[k] = usize::MAX;
                after[k].iter().for_each(|then| before[*then] -= 1);
                open.push((order, before));
            }
        }
        if all.len() + open.len() > MOST_ORDERS {
            return Ok(None);
        }
    }
    Ok(Some(all))
}

/// Whether no peak of an order is higher than that of another.
fn is_no_higher(graphs: &TaskGraphs, new: &[usize], old: &[usize]) -> Result<bool, Error> {
    for graph in graphs.values() {
        if graph.peak(new)? > graph.peak(old)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the peak of one memory is lower, and none is higher.
fn is_better(new: &[BTreeMap<u8, i64>], old: &[BTreeMap<u8, i64>], space: u8) -> bool {
    let of = |peaks: &BTreeMap<u8, i64>, space: &u8| peaks.get(space).copied().unwrap_or(0);
    let all = || new.iter().zip(old);
    let higher = |(new, old): (&BTreeMap<u8, i64>, &BTreeMap<u8, i64>)| new.iter().any(|(k, own)| *own > of(old, k));
    !all().any(higher) && all().any(|(new, old)| of(new, &space) < of(old, &space))
}

/// The orders that are counted around one that is not known to be the least.
const MOST_MOVES: usize = 16_000;
/// The limit on the instructions of all these orders, with those of called computations. Of 40 random programs of 64
/// instructions the temporaries are 8 % less together than with a quarter of these orders.
const MOST_COUNTED: usize = 512_000;

/// The best orders of a module so far.
struct Best<'m> {
    module: &'m Module,
    /// The peak of each memory in the order of the text, and in these orders.
    text: BTreeMap<u8, i64>,
    peaks: BTreeMap<u8, i64>,
    orders: Orders,
}

impl Best<'_> {
    fn of_text(module: &Module) -> Result<Best<'_>, Error> {
        let text = space_peaks(&MemoryUse::of(module)?);
        Ok(Best { module, peaks: text.clone(), text, orders: Orders::new() })
    }

    /// Offers the orders of two searches, and returns a lower bound on the temporaries of all orders.
    fn search(&mut self, keep_updates: bool) -> Result<BTreeMap<u8, i64>, Error> {
        let (module, mut bounds) = (self.module, BTreeMap::new());
        for outputs in [OutputMemory::Reserved, OutputMemory::Shared] {
            let searched = SearchedOrders { keep_updates, outputs };
            let found = Schedule::of_computations(module, searched, &|_| true)?;
            bounds = found.bounds.clone();
            // A computation with a lower peak may reach it while the caller's buffers are full.
            if !self.offer_schedule(&found)? && found.orders.keys().any(|number| *number != module.entry) {
                let entry = Schedule::of_computations(module, searched, &|number| number == module.entry)?;
                self.offer_schedule(&entry)?;
            }
        }
        Ok(bounds)
    }

    fn offer_schedule(&mut self, found: &Schedule) -> Result<bool, Error> {
        let used = MemoryUse::of(&found.apply(self.module)?)?;
        Ok(self.offer(&used, || found.orders.clone()))
    }

    /// Takes other orders if a peak is lower than in the best ones, and none is higher than in the text.
    fn offer(&mut self, used: &MemoryUse, orders: impl FnOnce() -> Orders) -> bool {
        let peaks = space_peaks(used);
        let is_allowed = peaks.iter().all(|(space, peak)| self.text.get(space).is_some_and(|text| peak <= text));
        let is_better = is_allowed && peaks < self.peaks;
        if is_better {
            (self.peaks, self.orders) = (peaks, orders());
        }
        is_better
    }

    /// Moves single instructions of the entry, while the cost does not rise and the least peaks are above their
    /// bounds: from the best order first, then from random ones. An entry with more instructions than moves stays.
    fn descend(&mut self, bounds: &BTreeMap<u8, i64>) -> Result<(), Error> {
        let entry = self.module.entry;
        let n = self.module.computations[entry].instructions.len();
        let (mut before, mut after) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        for (first, then) in dependences(&self.module.computations[entry], &self.module.effects()) {
            before[then].push(first);
            after[first].push(then);
        }
        let mut random = Random::new(0);
        let mut moved = |order: &[usize]| {
            let mut moved = order.to_vec();
            let task = moved.remove(random.below(n));
            let first = moved.iter().rposition(|own| before[task].contains(own)).map_or(0, |at| at + 1);
            let last = moved.iter().position(|own| after[task].contains(own)).unwrap_or(n - 1);
            moved.insert(first + random.below(last - first + 1), task);
            moved
        };
        let mut called = self.orders.clone();
        let mut order = called.remove(&entry).unwrap_or_else(|| (0..n).collect());
        let start = Schedule::of_orders(called.clone()).apply(self.module)?;
        let instructions: usize = start.computations.iter().map(|own| own.instructions.len()).sum();
        let moves = MOST_MOVES.min(MOST_COUNTED / instructions);
        if moves < n {
            return Ok(());
        }
        let mut counter = Counter::new(&start)?;
        let is_least = |used: &MemoryUse| {
            used.spaces.iter().all(|(space, own)| bounds.get(space).is_some_and(|bound| own.temporaries <= *bound))
        };
        let first = counter.count(&order)?;
        let (whole, mut is_done) = (first.spaces.clone(), is_least(first));
        let mut least = cost(first, &whole);
        for number in 1..=moves {
            if is_done {
                break;
            }
            // About as many moves from each start as one order has.
            let is_start = number % (n * n) == 0;
            let other = if is_start { (0..4 * n).fold(order.clone(), |order, _| moved(&order)) } else { moved(&order) };
            let used = counter.count(&other)?;
            let found = cost(used, &whole);
            if found > least && !is_start {
                continue;
            }
            (order, least) = (other, found);
            if space_peaks(used) < self.peaks {
                let used = MemoryUse::of(&counter.ordered.module)?;
                let orders = || called.clone().into_iter().chain([(entry, order.clone())]).collect();
                is_done = self.offer(&used, orders) && is_least(&used);
            }
        }
        Ok(())
    }
}

/// The part of the mean square of live temporaries in the cost of an order. Of two orders with one peak, that with less
/// live at other moments is more often near a better one.
const SQUARES: f64 = 0.2;

/// The cost of an order to the moves: the temporaries of each memory and a part of the mean square of those that are
/// live, as shares of the temporaries in a first order.
fn cost(used: &MemoryUse, first: &BTreeMap<u8, Space>) -> f64 {
    let of_space = |(space, own): (&u8, &Space)| {
        let whole = first.get(space).map_or(1, |first| first.temporaries.max(1)) as f64;
        let live = used.live_temporaries(*space);
        let squares: f64 = live.iter().map(|bytes| (*bytes as f64 / whole).powi(2)).sum();
        own.temporaries as f64 / whole + SQUARES * squares / live.len().max(1) as f64
    };
    used.spaces.iter().map(of_space).sum()
}

/// A module whose entry is put into one order after another.
struct OrderedEntry {
    module: Module,
    /// The instruction numbers in the first order.
    order: Vec<usize>,
}

impl OrderedEntry {
    fn new(module: &Module) -> OrderedEntry {
        OrderedEntry {
            module: module.clone(),
            order: (0..module.computations[module.entry].instructions.len()).collect(),
        }
    }

    fn set(&mut self, order: &[usize]) -> &Module {
        let mut place = vec![0; order.len()];
        self.order.iter().enumerate().for_each(|(at, k)| place[*k] = at);
        let moved: Vec<usize> = order.iter().map(|k| place[*k]).collect();
        reorder(&mut self.module.computations[self.module.entry], &moved);
        self.order.copy_from_slice(order);
        &self.module
    }
}

/// The memory use of a program in one order of its entry after another.
struct Counter<'m> {
    ordered: OrderedEntry,
    /// The leaves of the entry in the first order.
    leaves: Classes<'m>,
    used: MemoryUse,
}

impl<'m> Counter<'m> {
    fn new(module: &'m Module) -> Result<Counter<'m>, Error> {
        let used = MemoryUse::of(module)?;
        let leaves = named(module, module.entry, RunsAs::Entry, &used.frames)?;
        Ok(Counter { ordered: OrderedEntry::new(module), leaves, used })
    }

    fn count(&mut self, order: &[usize]) -> Result<&MemoryUse, Error> {
        let module = self.ordered.set(order);
        let entry = &module.computations[module.entry];
        self.used.recount(module, self.leaves.reordered(entry, order).buffers(entry, RunsAs::Entry))?;
        Ok(&self.used)
    }
}

/// The peak of each memory.
fn space_peaks(used: &MemoryUse) -> BTreeMap<u8, i64> {
    used.spaces.iter().map(|(space, own)| (*space, own.peak)).collect()
}

/// Checks that an order has each instruction once, after its dependences.
fn check(order: &[usize], pairs: &[(usize, usize)], instructions: &[Instruction]) -> Result<(), Error> {
    let n = instructions.len();
    let mut place = vec![None; n];
    for (k, task) in order.iter().enumerate() {
        match place.get_mut(*task) {
            Some(own @ None) => *own = Some(k),
            Some(_) => return Err(Error::new(format!("`{}` must be there once", instructions[*task].name))),
            None => return Err(Error::new(format!("a number must be below {n}, found {task}"))),
        }
    }
    if order.len() != n {
        return Err(Error::new(format!("there must be {n} instructions, found {}", order.len())));
    }
    match pairs.iter().find(|(first, then)| place[*first] > place[*then]) {
        Some((first, then)) => {
            let [first, then] = [first, then].map(|k| &instructions[*k].name);
            Err(Error::new(format!("`{first}` must run before `{then}`, found it after that")))
        }
        None => Ok(()),
    }
}

/// The computation in another order.
fn reordered(computation: &Computation, order: &[usize]) -> Computation {
    let mut reordered = computation.clone();
    reorder(&mut reordered, order);
    reordered
}

/// Puts a computation into another order of its instructions.
fn reorder(computation: &mut Computation, order: &[usize]) {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, task)| place[*task] = k);
    let mut from: Vec<_> = std::mem::take(&mut computation.instructions).into_iter().map(Some).collect();
    computation.instructions = order.iter().filter_map(|k| from[*k].take()).collect();
    for own in &mut computation.instructions {
        own.operands.iter_mut().chain(&mut own.control).for_each(|k| *k = place[*k]);
    }
    computation.parameters.iter_mut().for_each(|k| *k = place[*k]);
    computation.root = place[computation.root];
}

/// Lower bounds on the peak of each computation, by memory space.
type Peaks = BTreeMap<(usize, RunsAs), BTreeMap<u8, i64>>;

/// A lower bound on the bytes that an instruction's computations need beside its buffers, which may be empty at their
/// peak.
fn least_inside(
    computation: &Computation,
    k: usize,
    bounds: &Peaks,
    is_pair: bool,
    counted: &dyn Fn(Leaf) -> Option<Counted>,
) -> BTreeMap<u8, i64> {
    let instruction = &computation.instructions[k];
    let mut empty: BTreeMap<usize, Counted> = BTreeMap::new();
    let operands = instruction.operands.iter().copied().filter(|_| instruction.opcode == "call");
    for own in operands.chain([k]).filter(|_| !is_pair) {
        let leaves = count(&computation.instructions[own].shape);
        empty.extend((0..leaves).filter_map(|leaf| counted((own, leaf))).map(|counted| (counted.0, counted)));
    }
    let mut most: BTreeMap<u8, i64> = BTreeMap::new();
    for (space, bytes) in called(instruction).iter().filter_map(|frame| bounds.get(frame)).flatten() {
        let of_space = empty.values().filter(|own| own.2 == *space);
        let bytes = of_space.fold(*bytes, |bytes, own| (bytes - own.1).max(0));
        let most = most.entry(*space).or_default();
        *most = bytes.max(*most);
    }
    most
}

/// The peak of each memory.
fn peaks(timelines: &Timelines) -> BTreeMap<u8, i64> {
    timelines.iter().map(|(space, bytes)| (*space, first_most(bytes).1)).collect()
}

/// A module during ordering, with the memory use of the computations already ordered.
struct Ordering {
    module: Module,
    buffers: FrameMap,
    timelines: BTreeMap<(usize, RunsAs), Timelines>,
}

impl Ordering {
    fn new(module: &Module) -> Ordering {
        Ordering { module: module.clone(), buffers: FrameMap::new(), timelines: BTreeMap::new() }
    }

    /// The module in its own order, with the buffers of all computations.
    fn as_it_is(module: &Module) -> Result<Ordering, Error> {
        let mut own = Ordering::new(module);
        for frame in frames(module) {
            own.all_peaks(&[frame])?;
        }
        Ok(own)
    }

    /// The task graphs of a computation beside the orders so far of what it runs, and, if it runs any, with the least
    /// that these need in any order, which may be at another time.
    fn graphs(&self, tasks: &Tasks, bounds: &Peaks) -> Result<[TaskGraphs; 2], Error> {
        let computation = &tasks.module.computations[tasks.frame.0];
        let until = until(computation);
        let graphs = tasks.graphs(&|k, counted| {
            let most = self.inside().inside(computation, k, until[k] != k, counted);
            most.into_iter().map(|(space, inside)| (space, inside.bytes)).collect()
        })?;
        let runs = computation.instructions.iter().any(|own| !called(own).is_empty());
        let least = |k: usize, counted: &dyn Fn(Leaf) -> Option<Counted>| {
            least_inside(computation, k, bounds, until[k] != k, counted)
        };
        Ok([graphs, if runs { tasks.graphs(&least)? } else { TaskGraphs::new() }])
    }

    /// The frames of the computations ordered so far.
    fn inside(&self) -> Frames<'_> {
        Frames { buffers: &self.buffers, timelines: &self.timelines }
    }

    /// The peaks of a computation for each way in which it runs; called computations must be done.
    fn all_peaks(&mut self, frames: &[(usize, RunsAs)]) -> Result<Vec<BTreeMap<u8, i64>>, Error> {
        let mut all = Vec::with_capacity(frames.len());
        for (number, frame) in frames {
            let found: FrameBuffers = buffers(&self.module, *number, *frame, &self.buffers)?;
            let computation = &self.module.computations[*number];
            let own = self.inside().live(computation, &found, &vec![true; found.temporaries().count()])?;
            all.push(peaks(&own));
            self.timelines.insert((*number, *frame), own);
            self.buffers.insert((*number, *frame), found);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A count around known leaves is that of the program in the new order.
    #[test]
    fn counts_of_orders_are_those_of_the_programs() {
        let texts = [
            include_str!("../../../test/plan/memory/branch_in_loop.hlo"),
            include_str!("../../../test/plan/memory/branch_updates_state.hlo"),
            include_str!("../../../test/plan/memory/loop_of_three.hlo"),
            include_str!("../../../test/schedule/two_results.hlo"),
            include_str!("../../../test/schedule/chain_into_a_result.hlo"),
        ];
        let mut random = Random::new(0);
        for text in texts {
            let module = Module::parse(text).expect("a program");
            let pairs = dependences(&module.computations[module.entry], &module.effects());
            let mut counter = Counter::new(&module).expect("a program");
            let all = module.computations[module.entry].instructions.len();
            for _ in 0..50 {
                let (mut left, mut order): (Vec<usize>, Vec<usize>) = ((0..all).collect(), Vec::new());
                while !left.is_empty() {
                    let is_ready = |k: &usize| pairs.iter().all(|(first, then)| then != k || order.contains(first));
                    let ready: Vec<usize> = left.iter().copied().filter(is_ready).collect();
                    let next = ready[random.below(ready.len())];
                    left.retain(|k| *k != next);
                    order.push(next);
                }
                let found = counter.count(&order).expect("a program");
                let (spaces, outputs) = (found.spaces.clone(), found.in_outputs.clone());
                let whole = MemoryUse::of(&counter.ordered.module).expect("a program");
                assert_eq!((spaces, outputs), (whole.spaces, whole.in_outputs), "{order:?}\n{text}");
            }
        }
    }
}
