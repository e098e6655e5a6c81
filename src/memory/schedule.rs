//! Orders of the instructions of a program in which it takes less memory.
//!
//! Each computation is ordered for itself, those first that others run. An order is taken where no memory has a larger peak in
//! it than in the text's, by the buffers that it has, and one has a lower one: the main memory first.

use super::buffers::{FrameBuffers, RunsAs, buffers};
use super::live::{Timelines, first_most, frames, live, passes};
use super::tasks::{Peaks, Tasks};
use crate::hlo::{Computation, Instruction, Module};
use crate::scheduling::{MOST_STEPS, least_peak};
use crate::text::Error;
use std::collections::{BTreeMap, HashMap};

/// Orders of the instructions of computations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schedule {
    /// For each computation whose order is another than that of the text: the numbers of its instructions, first to last.
    pub orders: BTreeMap<usize, Vec<usize>>,
    /// By memory space, the bytes of temporaries that the program takes in any order, at least.
    pub bounds: BTreeMap<u8, i64>,
}

impl Schedule {
    /// Orders that were made before; nothing is known of bounds.
    pub fn of_orders(orders: BTreeMap<usize, Vec<usize>>) -> Schedule {
        Schedule { orders, bounds: BTreeMap::new() }
    }

    /// An order with a low peak for each computation of a module.
    ///
    /// # Errors
    /// An attribute about aliases cannot be read; 64 bits do not hold the bytes.
    pub fn least_memory(module: &Module) -> Result<Schedule, Error> {
        let mut found = Schedule::default();
        let mut ordering = Ordering { module: module.clone(), passed: HashMap::new(), timelines: BTreeMap::new() };
        let effects = module.effects();
        let (mut peaks, mut bounds) = (Peaks::new(), Peaks::new());
        let mut steps = MOST_STEPS;
        let all: Vec<(usize, RunsAs)> = frames(module).into_iter().collect();
        for own in all.chunk_by(|a, b| a.0 == b.0) {
            let number = own[0].0;
            let mut before = ordering.all_peaks(own)?;
            let mut order: Vec<usize> = (0..module.computations[number].instructions.len()).collect();
            for (k, frame) in own.iter().enumerate() {
                // In the numbers of the text.
                let tasks = Tasks { module, frame: *frame, passed: &ordering.passed, effects: &effects };
                let (graphs, _) = tasks.graphs(&peaks)?;
                // What computations take that are run here may be more than they take at least.
                let loose = peaks.iter().any(|(frame, own)| {
                    let least = |space| bounds.get(frame)?.get(space).copied();
                    own.iter().any(|(space, bytes)| *bytes > least(space).unwrap_or(0))
                });
                let least = if loose { tasks.graphs(&bounds)?.0 } else { BTreeMap::new() };
                let mut own_bounds = BTreeMap::new();
                for (space, graph) in graphs {
                    if k > 0 {
                        own_bounds.insert(space, least.get(&space).unwrap_or(&graph).least());
                        continue;
                    }
                    let new = least_peak(&graph, &order, &mut steps)?;
                    let bound = least.get(&space).map_or(new.bound, |graph| graph.least());
                    own_bounds.insert(space, bound);
                    if new.order == order {
                        continue;
                    }
                    ordering.module.computations[number] = reordered(&module.computations[number], &new.order);
                    let after = ordering.all_peaks(own)?;
                    if is_better(&after, &before, space) {
                        (order, before) = (new.order, after);
                    } else {
                        ordering.module.computations[number] = reordered(&module.computations[number], &order);
                    }
                }
                bounds.insert(*frame, own_bounds);
            }
            ordering.all_peaks(own)?;
            for (frame, own) in own.iter().zip(before) {
                peaks.insert(*frame, own);
            }
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
    /// A computation that there is not; an order that is none of its instructions, or has one before another that it has to
    /// come after.
    pub fn apply(&self, module: &Module) -> Result<Module, Error> {
        let effects = module.effects();
        let frames = frames(module);
        let mut ordered = module.clone();
        let passed = Ordering::new(module)?.passed;
        for (number, order) in &self.orders {
            let frame = frames.iter().find(|frame| frame.0 == *number).copied();
            let Some(frame) = frame else {
                return Err(Error::new(format!("only computations that run have an order, found one of {number}")));
            };
            let tasks = Tasks { module, frame, passed: &passed, effects: &effects };
            let (graphs, pairs) = tasks.graphs(&Peaks::new())?;
            drop(graphs);
            let name = &module.computations[*number].name;
            check(order, &pairs, &module.computations[*number].instructions)
                .map_err(|error| Error::new(format!("the order of `{name}`: {}", error.message)))?;
            ordered.computations[*number] = reordered(&module.computations[*number], order);
        }
        Ok(ordered)
    }
}

/// Whether peaks are lower in a memory and not higher in any.
fn is_better(new: &[BTreeMap<u8, i64>], old: &[BTreeMap<u8, i64>], space: u8) -> bool {
    let of = |peaks: &BTreeMap<u8, i64>, space: &u8| peaks.get(space).copied().unwrap_or(0);
    let all = || new.iter().zip(old);
    let higher = |(new, old): (&BTreeMap<u8, i64>, &BTreeMap<u8, i64>)| new.iter().any(|(k, own)| *own > of(old, k));
    !all().any(higher) && all().any(|(new, old)| of(new, &space) < of(old, &space))
}

/// That an order has each instruction once, each after those that it needs.
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

/// A computation in another order.
fn reordered(computation: &Computation, order: &[usize]) -> Computation {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, task)| place[*task] = k);
    let moved = |all: &[usize]| all.iter().map(|k| place[*k]).collect::<Vec<_>>();
    let one = |k: &usize| {
        let own = &computation.instructions[*k];
        Instruction { operands: moved(&own.operands), control: moved(&own.control), ..own.clone() }
    };
    Computation {
        instructions: order.iter().map(one).collect(),
        parameters: moved(&computation.parameters),
        root: place[computation.root],
        ..computation.clone()
    }
}

/// A module whose computations are being ordered, with what those take that are.
struct Ordering {
    module: Module,
    passed: HashMap<usize, Vec<Option<(usize, usize)>>>,
    timelines: BTreeMap<(usize, RunsAs), Timelines>,
}

impl Ordering {
    /// With the buffers of all computations as they are.
    fn new(module: &Module) -> Result<Ordering, Error> {
        let mut own = Ordering { module: module.clone(), passed: HashMap::new(), timelines: BTreeMap::new() };
        for frame in frames(module) {
            own.all_peaks(&[frame])?;
        }
        Ok(own)
    }

    /// The peaks of a computation in each of the ways in which it runs; what it runs is known.
    fn all_peaks(&mut self, frames: &[(usize, RunsAs)]) -> Result<Vec<BTreeMap<u8, i64>>, Error> {
        let mut all = Vec::with_capacity(frames.len());
        for (number, frame) in frames {
            let found: FrameBuffers = buffers(&self.module, *number, *frame, &self.passed)?;
            let computation = &self.module.computations[*number];
            self.passed.entry(*number).or_insert_with(|| passes(computation, &found));
            let own = live(computation, found.temporaries(), &self.timelines)?;
            all.push(own.iter().map(|(space, bytes)| (*space, first_most(bytes).1)).collect());
            self.timelines.insert((*number, *frame), own);
        }
        Ok(all)
    }
}
