//! The memory of outputs: the temporaries that fit into it before an output is defined, and the tables of tuples.
//!
//! The caller allocates each output for the whole run. Until the output is defined, a temporary of at most its size may
//! be placed there, up to the instruction that overwrites it, as in XLA's buffer assignment:
//!
//! ```text
//! ENTRY main {
//!   x = f32[100] parameter(0)
//!   a = f32[100] reverse(x), dimensions={0}     in the memory of y
//!   b = f32[80] slice(a), slice={[0:80]}        beside: it is read where y is made
//!   ROOT y = f32[100] custom-call(b), ..
//! }
//! ```
//!
//! As in XLA, the largest temporaries are placed first, on ties the one that the result needs first, each in the
//! smallest output where nothing is live with it, on ties the one that the result needs last. The order decides which
//! temporary fits. Times are instructions of the entry, with each called computation inserted once. A buffer is also
//! empty in a loop whose state it is, from its last read to the new definition, and in a branch or call before the
//! definition of its result.

use super::buffers::{Buffer, FrameBuffers, Role};
use super::ranges::{EmptyTimes, PlacedRange, PlacedRanges};
use super::runs::{RunsAs, called, until};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::operation::Operation;
use tensor_layout::operations::shape::{Array, Shape, leaves};

/// A temporary in the memory of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InOutput {
    /// The computation of the temporary, and how it runs.
    pub frame: (usize, RunsAs),
    /// Its number among [`FrameBuffers::temporaries`].
    pub temporary: usize,
    /// The number of the output among the buffers of the entry.
    pub output: usize,
}

/// The temporaries placed in the memory of an output of the entry.
pub fn in_outputs(module: &Module, frames: &BTreeMap<(usize, RunsAs), FrameBuffers>) -> Vec<InOutput> {
    if !frames.contains_key(&(module.entry, RunsAs::Entry)) {
        return Vec::new();
    }
    let times = ProgramTimes::of(module, frames);
    let mut outputs = OpenOutputs::of(&times);
    if outputs.all.is_empty() {
        return Vec::new();
    }
    let mut candidates: Vec<Candidate> = times.all.keys().rev().flat_map(|frame| times.candidates(*frame)).collect();
    // The caller comes before the computations it runs.
    candidates.sort_by_key(|own| (Reverse(own.buffer.footprint.padded), Reverse(own.frame), own.needed));
    let mut all = Vec::new();
    for own in candidates {
        let (frame, temporary) = (own.frame, own.temporary);
        all.extend(outputs.place(own).map(|output| InOutput { frame, temporary, output }));
    }
    all.sort_by_key(|inside| (inside.frame, inside.temporary));
    all
}

/// A temporary that may be placed in an output.
struct Candidate<'m> {
    frame: (usize, RunsAs),
    /// Its number among the temporaries.
    temporary: usize,
    buffer: &'m Buffer,
    ranges: Vec<PlacedRange<'m>>,
    /// The times behind its definition and before its last read: nothing overwrites it there, and it overwrites nothing.
    between: (usize, usize),
    /// When the result needs it.
    needed: usize,
}

impl Candidate<'_> {
    /// The first and the last time at which its memory must be empty; the times of overwriting are not among them.
    fn wanted(&self) -> (usize, usize) {
        let ranges = || self.ranges.iter().map(|range| range.live).filter(|(from, to)| from < to);
        let from = ranges().map(|(from, _)| from.max(self.between.0)).min();
        let to = ranges().map(|(_, to)| to.min(self.between.1)).max();
        (from.unwrap_or(usize::MAX), to.unwrap_or(0))
    }
}

/// The outputs that are empty at some time, the smallest first.
struct OpenOutputs<'m> {
    /// The buffer of each, its number in the entry, and what is in it.
    all: Vec<(&'m Buffer, usize, PlacedRanges<'m>)>,
    empty: EmptyTimes,
}

impl<'m> OpenOutputs<'m> {
    fn of(times: &ProgramTimes<'m>) -> OpenOutputs<'m> {
        let entry = (times.module.entry, RunsAs::Entry);
        let own = &times.frames[&entry];
        let arguments = own.arguments_of_outputs();
        // The memory of a donated argument is that of its output.
        let is_output = |k: &usize| own.buffers[*k].role == Role::Result || arguments.get(k) == Some(k);
        let mut outputs: Vec<usize> = (0..own.buffers.len()).filter(is_output).collect();
        let needed = needed(&times.module.computations[entry.0]);
        let first = |k: &usize| (needed[own.buffers[*k].made.0], own.buffers[*k].made.1);
        outputs.sort_by_key(|k| (own.buffers[*k].footprint.padded, Reverse(first(k))));
        let end = own.of.len() - 1;
        let (mut all, mut empty) = (Vec::new(), Vec::new());
        for output in outputs {
            let mut ranges = Vec::new();
            times.occupy(entry, output, (own.buffers[output].live.0, end), &mut ranges);
            let last = ranges.iter().map(|range| range.live.0).max().unwrap_or(0);
            let whole = ranges.len();
            // A donated argument occupies the memory of its output until its last read.
            if let Some(argument) = arguments.get(&output) {
                times.occupy(entry, *argument, (0, own.buffers[*argument].live.1), &mut ranges);
            }
            let first = ranges[whole..].iter().map(|range| range.live.1).min().unwrap_or(0);
            // Most outputs of a program that only returns its arguments, or changes them in place, are never empty.
            if first <= last && last > 0 {
                let mut placed = PlacedRanges::default();
                placed.extend(ranges);
                all.push((&own.buffers[output], output, placed));
                empty.push((first, last));
            }
        }
        OpenOutputs { all, empty: EmptyTimes::new(&empty) }
    }

    /// Places a temporary in the first output that has room for it.
    fn place(&mut self, own: Candidate<'m>) -> Option<usize> {
        let (bytes, space) = (own.buffer.footprint.padded, own.buffer.space);
        let wanted = own.wanted();
        let mut next = self.all.partition_point(|(output, ..)| output.footprint.padded < bytes);
        while let Some(output) = self.empty.next(next, wanted) {
            let (buffer, number, there) = &mut self.all[output];
            if buffer.space == space && !own.ranges.iter().any(|range| there.meet(range)) {
                there.extend(own.ranges);
                return Some(*number);
            }
            next = output + 1;
        }
        None
    }
}

/// The postorder number of each instruction, in a depth-first walk from the results through the operands.
fn needed(computation: &Computation) -> Vec<usize> {
    let instructions = &computation.instructions;
    let mut is_used = vec![false; instructions.len()];
    instructions.iter().flat_map(|own| own.operands.iter().chain(&own.control)).for_each(|k| is_used[*k] = true);
    let mut place = vec![usize::MAX; instructions.len()];
    let mut next = 0;
    for root in (0..instructions.len()).filter(|k| !is_used[*k]) {
        let mut stack = vec![(root, 0)];
        while let Some((k, at)) = stack.pop() {
            let own = &instructions[k];
            if place[k] != usize::MAX {
                continue;
            }
            if let Some(before) = own.control.get(at).or_else(|| own.operands.get(at - own.control.len())) {
                stack.extend([(k, at + 1), (*before, 0)]);
            } else {
                place[k] = next;
                next += 1;
            }
        }
    }
    place
}

/// A computation that runs once, in times of the program: the entry with called computations inserted.
struct RunTimes {
    /// For each instruction, its first time, called computations included, and the time after.
    times: Vec<(usize, usize)>,
    /// For each buffer, the calling instructions whose result contains it, with the leaf number.
    made: FxHashMap<usize, Vec<(usize, usize)>>,
}

/// All computations that run once.
struct ProgramTimes<'m> {
    module: &'m Module,
    frames: &'m BTreeMap<(usize, RunsAs), FrameBuffers>,
    calls: FxHashMap<usize, usize>,
    all: BTreeMap<(usize, RunsAs), RunTimes>,
}

/// The limit on nested calls whose temporaries may be placed in outputs; it bounds the stack.
const MOST_DEPTH: usize = 64;

impl<'m> ProgramTimes<'m> {
    fn of(module: &'m Module, frames: &'m BTreeMap<(usize, RunsAs), FrameBuffers>) -> ProgramTimes<'m> {
        let mut calls: FxHashMap<usize, usize> = FxHashMap::default();
        for (number, _) in module.computations.iter().flat_map(|own| &own.instructions).flat_map(called) {
            *calls.entry(number).or_default() += 1;
        }
        let mut times = ProgramTimes { module, frames, calls, all: BTreeMap::new() };
        times.run((module.entry, RunsAs::Entry), &mut 0, 0);
        times
    }

    /// Inserts a computation, with those that it runs.
    fn run(&mut self, frame: (usize, RunsAs), time: &mut usize, depth: usize) {
        let computation = &self.module.computations[frame.0];
        let until = until(computation);
        let mut own = RunTimes { times: Vec::with_capacity(until.len()), made: FxHashMap::default() };
        for (k, instruction) in computation.instructions.iter().enumerate() {
            let first = *time;
            // Asynchronous computations run beside others, so they are not inserted.
            for inner in called(instruction).into_iter().filter(|_| until[k] == k && depth < MOST_DEPTH) {
                if self.calls[&inner.0] == 1 && self.frames.contains_key(&inner) {
                    self.run(inner, time, depth + 1);
                }
            }
            *time += 1;
            own.times.push((first, *time));
            if !called(instruction).is_empty() {
                for (leaf, buffer) in self.frames[&frame].of[k].iter().enumerate() {
                    buffer.iter().for_each(|buffer| own.made.entry(*buffer).or_default().push((k, leaf)));
                }
            }
        }
        self.all.insert(frame, own);
    }

    /// The temporaries of a computation.
    fn candidates(&self, frame: (usize, RunsAs)) -> Vec<Candidate<'m>> {
        let (found, times) = (&self.frames[&frame], &self.all[&frame].times);
        let needed = needed(&self.module.computations[frame.0]);
        let numbers = (0..found.buffers.len()).filter(|k| found.buffers[*k].role == Role::Temporary).map(Some);
        let all = found.temporaries().zip(numbers.chain(std::iter::repeat(None))).enumerate();
        let all = all.filter(|(_, (buffer, _))| buffer.footprint.padded > 0);
        let candidate = |(temporary, (buffer, number)): (usize, (&'m Buffer, Option<usize>))| {
            let (first, last) = (times[buffer.live.0], times[buffer.live.1]);
            let mut ranges = Vec::new();
            match number {
                Some(number) => self.occupy(frame, number, buffer.live, &mut ranges),
                None => ranges.push(PlacedRange { frame, found, number, live: (first.0, last.1) }),
            }
            let (between, needed) = ((first.1, last.0), needed[buffer.made.0]);
            Candidate { frame, temporary, buffer, ranges, between, needed }
        };
        all.map(candidate).collect()
    }

    /// Adds the ranges in which a buffer occupies the memory of an output, from one instruction to another. Inside
    /// called computations that return the buffer, only the times when it is full count.
    fn occupy(
        &self,
        frame: (usize, RunsAs),
        buffer: usize,
        (from, to): (usize, usize),
        ranges: &mut Vec<PlacedRange<'m>>,
    ) {
        let own = &self.all[&frame];
        let mut first = own.times[from].0;
        let range = |live| PlacedRange { frame, found: &self.frames[&frame], number: Some(buffer), live };
        for (k, leaf) in own.made.get(&buffer).into_iter().flatten().filter(|(k, _)| (from..=to).contains(k)) {
            let instruction = &self.module.computations[frame.0].instructions[*k];
            let is_loop = instruction.opcode == "while";
            // An operand of a branch may be there.
            if !is_loop && self.frames[&frame].buffers[buffer].live.0 < *k {
                continue;
            }
            for inner in called(instruction).into_iter().filter(|inner| inner.1 == RunsAs::Body || !is_loop) {
                let Some(inside) = self.all.get(&inner) else { continue };
                ranges.push(range((first, inside.times[0].0)));
                self.occupy_inside(inner, *leaf, ranges);
                first = inside.times[inside.times.len() - 1].1;
            }
        }
        ranges.push(range((first, own.times[to].1)));
    }

    /// The ranges in a called computation, for the buffer of one leaf of its result.
    fn occupy_inside(&self, frame: (usize, RunsAs), leaf: usize, ranges: &mut Vec<PlacedRange<'m>>) {
        let found = &self.frames[&frame];
        let end = found.of.len() - 1;
        let result = found.of[found.root].get(leaf).copied().flatten();
        let state = found.parameter(0, leaf).filter(|_| frame.1 == RunsAs::Body);
        match (result, found.before_result(leaf, frame.1)) {
            (Some(result), _) if state == Some(result) => self.occupy(frame, result, (0, end), ranges),
            (Some(result), Some((empty, made))) => {
                if let (Some(state), Some(last)) = (state, empty.checked_sub(1)) {
                    self.occupy(frame, state, (0, last), ranges);
                }
                self.occupy(frame, result, (made, end), ranges);
            }
            _ => {
                let times = &self.all[&frame].times;
                ranges.push(PlacedRange { frame, found, number: None, live: (times[0].0, times[end].1) });
            }
        }
    }
}

impl FrameBuffers {
    /// The argument's buffer for each output that must be in one; the first alias of an output counts.
    fn arguments_of_outputs(&self) -> FxHashMap<usize, usize> {
        let mut all = FxHashMap::default();
        for pair in &self.donated {
            let output = self.of[self.root].get(pair.result).copied().flatten();
            if let (Some(output), Some(argument)) = (output, self.of[self.parameters[pair.operand]][pair.leaf]) {
                all.entry(output).or_insert(argument);
            }
        }
        all
    }
}

/// The bytes of the tables that XLA:TPU makes for a tuple output: 4 for each part, rounded up to a multiple of 512, for
/// it and each tuple in it. Measured with outputs of 5, 70 and 200 parts: 512, 512 and 1024. Tiles on an array of the
/// output identify XLA:TPU.
pub fn tables(output: &Shape) -> i64 {
    if is_tiled(output) { tables_of(output) } else { 0 }
}

fn is_tiled(output: &Shape) -> bool {
    leaves(output).iter().any(|array: &&Array| !array.layout.tiles.is_empty())
}

/// The bytes of the tables of all tuples that some computations make; each has its own memory. A tuple is made unless
/// it renames another or is returned: the loop owns its body's, and the output the entry's. Measured with 33 programs,
/// for which XLA's buffer assignment has 0 to 44 such tables.
pub fn inner_tables<'m>(output: &Shape, computations: impl Iterator<Item = &'m Computation>) -> i64 {
    if !is_tiled(output) {
        return 0;
    }
    let made = |computation: &'m Computation| {
        let inner = computation.instructions.iter().enumerate().filter(|(k, _)| *k != computation.root);
        inner.filter(|(_, own)| makes_tuple(own)).map(|(_, own)| tables_of(&own.shape)).sum::<i64>()
    };
    computations.map(made).sum()
}

/// Whether an instruction makes a tuple, rather than rename an operand or part of one.
fn makes_tuple(instruction: &Instruction) -> bool {
    let other_name = matches!(
        instruction.operation,
        Operation::Parameter { .. }
            | Operation::GetTupleElement { .. }
            | Operation::Leaves { .. }
            | Operation::Bitcast
            | Operation::While { .. }
    );
    let is_tuple = matches!(instruction.shape, Shape::Tuple(_));
    is_tuple && !other_name && !matches!(&*instruction.opcode, "opt-barrier" | "domain")
}

/// The bytes of the table of a tuple, and of the tuples in it.
fn tables_of(shape: &Shape) -> i64 {
    let Shape::Tuple(parts) = shape else { return 0 };
    // A text of fewer than 2^60 bytes has no more parts.
    (parts.len().max(1) as i64 * 4 + 511) / 512 * 512 + parts.iter().map(tables_of).sum::<i64>()
}
