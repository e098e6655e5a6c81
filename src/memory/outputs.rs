//! The memory of outputs: which temporaries fit into it before an output is made, and the tables of tuples.
//!
//! The caller gives the memory of each output for the whole run. Until the output is made, a temporary that needs no
//! more bytes may lie there, up to the instruction that writes over it, and so does XLA's buffer assignment:
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
//! The largest temporaries are placed first, each in the smallest output in which nothing is live with it. Times are
//! those of the entry; what a `while`, a `call` or a `conditional` needs is live while that runs, and only two
//! temporaries of one such computation, which runs once, may share an output at that time. Where an output is what it
//! returns, they may also lie there while it [is empty](super::inside), up to the instruction that writes over them.
//! Those of computations below are left out.

use super::buffers::{Buffer, FrameBuffers, Role, RunsAs};
use super::runs::{called, until};
use crate::hlo::{Computation, Instruction, Module};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, leaves};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A temporary in the memory of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InOutput {
    /// The computation whose temporary it is, and how it runs.
    pub frame: (usize, RunsAs),
    /// Its number among [`FrameBuffers::temporaries`].
    pub temporary: usize,
    /// The number of the output among the buffers of the entry.
    pub output: usize,
}

/// When a temporary is live: in the entry, and in its own computation.
struct Candidate<'f> {
    frame: (usize, RunsAs),
    temporary: usize,
    found: &'f FrameBuffers,
    buffer: &'f Buffer,
    /// Its number among the buffers, if it is no copy.
    number: Option<usize>,
    live: (usize, usize),
}

impl Candidate<'_> {
    fn meets(&self, other: &Candidate) -> bool {
        let overlap = |a: (usize, usize), b: (usize, usize)| a.0 <= b.1 && b.0 <= a.1;
        let is_next = |own: usize| self.is_over(own) || self.is_written(own);
        let apart = || !overlap(self.buffer.live, other.buffer.live) || other.number.is_some_and(is_next);
        overlap(self.live, other.live) && !(self.frame == other.frame && apart())
    }

    /// Whether a buffer of its computation is written over it where that is made.
    fn is_written(&self, by: usize) -> bool {
        self.number.is_some_and(|number| self.found.overwrites.contains(&(by, number)))
    }

    /// Whether it is written over a buffer of its computation where it is made.
    fn is_over(&self, other: usize) -> bool {
        self.number.is_some_and(|number| self.found.overwrites.contains(&(number, other)))
    }
}

/// The temporaries that lie in the memory of an output of the entry.
pub fn in_outputs(module: &Module, frames: &BTreeMap<(usize, RunsAs), FrameBuffers>) -> Vec<InOutput> {
    let entry = (module.entry, RunsAs::Entry);
    let Some(own) = frames.get(&entry) else { return Vec::new() };
    let mut outputs: Vec<usize> = (0..own.buffers.len()).filter(|k| own.buffers[*k].role == Role::Result).collect();
    let arguments = own.arguments_of_outputs();
    outputs.extend(own.donated.iter().filter_map(|pair| own.of[own.parameters[pair.operand]][pair.leaf]));
    outputs.sort_by_key(|k| (own.buffers[*k].footprint.padded, *k));
    outputs.dedup();
    let mut candidates = Vec::new();
    for (frame, live) in runs(module) {
        let Some(found) = frames.get(&frame) else { continue };
        let numbers = (0..found.buffers.len()).filter(|k| found.buffers[*k].role == Role::Temporary).map(Some);
        let all = found.temporaries().zip(numbers.chain(std::iter::repeat(None))).enumerate();
        for (temporary, (buffer, number)) in all.filter(|(_, (buffer, _))| buffer.footprint.padded > 0) {
            let live = if frame == entry { buffer.live } else { live };
            candidates.push(Candidate { frame, temporary, found, buffer, number, live });
        }
    }
    candidates.sort_by_key(|candidate| Reverse(candidate.buffer.footprint.padded));
    let empty = empty(module, frames);
    // An output has room while it is empty, or before it is made where no argument is there until then.
    let emptied: HashSet<usize> = empty.keys().map(|(_, output)| *output).collect();
    outputs.retain(|output| {
        let made = own.buffers[*output].live.0;
        let is_free = arguments.get(output).is_none_or(|argument| own.buffers[*argument].live.1 <= made);
        made > 0 && is_free || emptied.contains(output)
    });
    let mut inside: HashMap<usize, Vec<Candidate>> = HashMap::new();
    for candidate in candidates {
        let fits = |output: &&usize| {
            let made = &own.buffers[**output];
            // An argument is in the memory of an output that is donated until it is read last.
            let in_entry = candidate.frame == entry;
            let after = arguments.get(*output).is_none_or(|argument| {
                own.buffers[*argument].live.1 < candidate.live.0 || in_entry && candidate.is_over(*argument)
            });
            let before = candidate.live.1 < made.live.0 || in_entry && candidate.is_written(**output);
            let is_empty = || empty.get(&(candidate.frame, **output)).is_some_and(|room| candidate.is_in(room));
            let first = made.space == candidate.buffer.space && (before && after || is_empty());
            let others = inside.get(output).into_iter().flatten();
            first && others.into_iter().all(|other| !other.meets(&candidate))
        };
        let first =
            outputs.partition_point(|output| own.buffers[*output].footprint.padded < candidate.buffer.footprint.padded);
        if let Some(output) = outputs[first..].iter().find(fits).copied() {
            inside.entry(output).or_default().push(candidate);
        }
    }
    let mut all: Vec<InOutput> = Vec::new();
    for (output, candidates) in inside {
        all.extend(candidates.iter().map(|c| InOutput { frame: c.frame, temporary: c.temporary, output }));
    }
    all.sort_by_key(|inside| (inside.frame, inside.temporary));
    all
}

/// When an output of the entry is empty in a computation that returns it: the first and the last instruction, and the
/// buffer that is made after that.
struct Room {
    live: (usize, usize),
    result: usize,
}

impl Candidate<'_> {
    /// Whether a temporary of the computation lies in the memory of the output while that is empty.
    fn is_in(&self, room: &Room) -> bool {
        let (from, to) = self.buffer.live;
        from >= room.live.0 && (to <= room.live.1 || self.is_written(room.result))
    }
}

/// By computation, and by output.
fn empty(module: &Module, frames: &BTreeMap<(usize, RunsAs), FrameBuffers>) -> HashMap<((usize, RunsAs), usize), Room> {
    let entry = (module.entry, RunsAs::Entry);
    let mut all = HashMap::new();
    for (frame, (k, _)) in runs(module).into_iter().filter(|(frame, (k, until))| *frame != entry && k == until) {
        let instruction = &module.computations[module.entry].instructions[k];
        let Some(found) = frames.get(&frame).filter(|_| frame.1 == RunsAs::Body || instruction.opcode != "while")
        else {
            continue;
        };
        for (leaf, output) in frames[&entry].of[k].iter().enumerate() {
            let (Some(output), Some((from, to))) = (output, found.before_result(leaf, frame.1)) else { continue };
            // An operand of a branch may lie there.
            if frame.1 != RunsAs::Body && frames[&entry].buffers[*output].live.0 < k {
                continue;
            }
            let result = found.of[found.root][leaf];
            if let (Some(result), Some(to)) = (result, to.checked_sub(1)) {
                all.insert((frame, *output), Room { live: (from, to), result });
            }
        }
    }
    all
}

impl FrameBuffers {
    /// The buffer of the argument that each output has to be in, of those that have to be in one; the first that is said of an
    /// output counts.
    fn arguments_of_outputs(&self) -> HashMap<usize, usize> {
        let mut all = HashMap::new();
        for pair in &self.donated {
            let output = self.of[self.root].get(pair.result).copied().flatten();
            if let (Some(output), Some(argument)) = (output, self.of[self.parameters[pair.operand]][pair.leaf]) {
                all.entry(output).or_insert(argument);
            }
        }
        all
    }
}

/// The entry, and what it alone runs, once: the first and the last of its instructions at which that runs.
fn runs(module: &Module) -> Vec<((usize, RunsAs), (usize, usize))> {
    let mut times: HashMap<usize, usize> = HashMap::new();
    for computation in &module.computations {
        for (number, _) in computation.instructions.iter().flat_map(called) {
            *times.entry(number).or_default() += 1;
        }
    }
    let entry: &Computation = &module.computations[module.entry];
    let until = until(entry);
    let mut runs = vec![((module.entry, RunsAs::Entry), (0, 0))];
    for (k, instruction) in entry.instructions.iter().enumerate() {
        let once = called(instruction).into_iter().filter(|(number, _)| times[number] == 1);
        runs.extend(once.map(|frame| (frame, (k, until[k]))));
    }
    runs
}

/// The bytes of the tables that XLA:TPU makes for an output that is a tuple: 4 for each part, a multiple of 512, for it
/// and for each tuple in it. Measured with outputs of 5, 70 and 200 parts: 512, 512 and 1024. A text is taken to be
/// XLA:TPU's where an array of the output has tiles.
pub fn tables(output: &Shape) -> i64 {
    if is_tiled(output) { tables_of(output) } else { 0 }
}

fn is_tiled(output: &Shape) -> bool {
    leaves(output).iter().any(|array: &&Array| !array.layout.tiles.is_empty())
}

/// The same of the tuples that some computations make, all of them together: each has its own place. A tuple is made where
/// it is no other name of one, and is not what the computation returns: that of a loop's body is the loop's, and that of
/// the entry the output's. Measured with 33 programs, of which XLA's buffer assignment has 0 to 44 such tables.
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

/// Whether an instruction has a tuple as its result that is not an operand's, or a part of one.
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
