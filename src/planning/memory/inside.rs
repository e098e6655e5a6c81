//! The peak of a called computation, beside the buffers of the instruction that runs it.
//!
//! These buffers are not always full. A loop's state is empty in the body from the last read of the old value to the
//! definition of the new one. The result of a branch or called computation is empty before its definition, and the
//! operand of a `call` after its last read. Temporaries may use this space, so it is subtracted from the peak:
//!
//! ```text
//! body {
//!   p = f32[100] parameter(0)      the state: f32[100]
//!   a = f32[100] copy(p)           beside it
//!   b = f32[100] reverse(a)        in the state's buffer, which is empty
//!   ROOT r = f32[100] reverse(b)   beside both, in the state's buffer: 400 bytes beside the state, not 800
//! }
//! ```

use super::buffers::{FrameBuffers, Role};
use super::names::Leaf;
use super::runs::{RunsAs, called};
use std::collections::BTreeMap;
use tensor_layout::hlo::Computation;
use tensor_layout::operations::shape::count;

/// The live bytes of a computation by instruction, for each memory space.
pub type Timelines = BTreeMap<u8, Vec<i64>>;

/// The frames of the computations that instructions run, and their live bytes.
#[derive(Clone, Copy)]
pub struct Frames<'f> {
    /// The buffers of each frame.
    pub buffers: &'f BTreeMap<(usize, RunsAs), FrameBuffers>,
    /// The live bytes of temporaries.
    pub timelines: &'f BTreeMap<(usize, RunsAs), Timelines>,
}

/// A buffer of the calling computation: its number, its bytes, its memory space.
pub type Counted = (usize, i64, u8);

/// The peak of the computation that an instruction runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramePeak {
    /// The bytes beside the instruction's buffers.
    pub bytes: i64,
    /// The computation, and how it runs.
    pub frame: (usize, RunsAs),
    /// The instruction at the peak.
    pub at: usize,
    /// The caller's buffers that are empty at the peak.
    pub vacant: Vec<usize>,
}

impl Frames<'_> {
    /// The peaks of the computations that an instruction runs, for each memory with more live bytes than its buffers
    /// hold. `counted` maps leaves of its result and operands to the buffers that count.
    pub fn inside(
        &self,
        computation: &Computation,
        k: usize,
        is_pair: bool,
        counted: &dyn Fn(Leaf) -> Option<Counted>,
    ) -> BTreeMap<u8, FramePeak> {
        let instruction = &computation.instructions[k];
        let mut most: BTreeMap<u8, FramePeak> = BTreeMap::new();
        for frame in called(instruction) {
            let Some(timelines) = self.timelines.get(&frame) else { continue };
            let end = self.buffers[&frame].of.len();
            let vacant = if is_pair { Vec::new() } else { self.vacant(computation, k, frame, counted) };
            for (space, bytes) in timelines {
                let mut change = vec![0i128; end + 1];
                for ((_, bytes, _), (from, to)) in vacant.iter().filter(|((_, _, own), _)| own == space) {
                    change[*from] += i128::from(*bytes);
                    change[to + 1] -= i128::from(*bytes);
                }
                let mut empty = 0;
                for (at, bytes) in bytes.iter().enumerate() {
                    empty += change[at];
                    // Empty bytes are less than all buffers together, which fit.
                    let bytes = i64::try_from(i128::from(*bytes) - empty).unwrap_or(0);
                    if bytes > most.get(space).map_or(0, |most| most.bytes) {
                        let now = vacant
                            .iter()
                            .filter(|((_, _, own), (from, to))| own == space && (*from..=*to).contains(&at));
                        let vacant = now.map(|((buffer, ..), _)| *buffer).collect();
                        most.insert(*space, FramePeak { bytes, frame, at, vacant });
                    }
                }
            }
        }
        most
    }

    /// The buffers of an instruction that are empty while a computation runs, each with the first and last instruction
    /// of the empty range.
    fn vacant(
        &self,
        computation: &Computation,
        k: usize,
        frame: (usize, RunsAs),
        counted: &dyn Fn(Leaf) -> Option<Counted>,
    ) -> Vec<(Counted, (usize, usize))> {
        let instruction = &computation.instructions[k];
        let found = &self.buffers[&frame];
        let end = found.of.len() - 1;
        let returns = frame.1 == RunsAs::Body || !matches!(&*instruction.opcode, "while");
        let mut all: BTreeMap<usize, (Counted, Option<(usize, usize)>)> = BTreeMap::new();
        let mut add = |counted: Option<Counted>, range: Option<(usize, usize)>| {
            let Some(counted) = counted else { return };
            let range = range.filter(|(from, to)| from <= to);
            // A buffer of two leaves is not empty while either is live.
            all.entry(counted.0).and_modify(|own| own.1 = None).or_insert((counted, range));
        };
        let results = if returns { count(&instruction.shape) } else { 0 };
        for leaf in 0..results {
            add(
                counted((k, leaf)),
                found.before_result(leaf, frame.1).and_then(|(from, to)| Some((from, to.checked_sub(1)?))),
            );
        }
        if matches!(&*instruction.opcode, "call" | "conditional") {
            for (number, operand) in instruction.operands.iter().enumerate() {
                for leaf in 0..count(&computation.instructions[*operand].shape) {
                    let last = found.parameter(number, leaf).filter(|_| instruction.opcode == "call");
                    let last = last.map(|buffer| found.buffers[buffer].live.1);
                    add(counted((*operand, leaf)), last.map(|last| (last + 1, end)));
                }
            }
        }
        all.into_values().filter_map(|(counted, range)| Some((counted, range?))).collect()
    }
}

impl FrameBuffers {
    /// The range in which the buffer of a result is empty; the end is excluded.
    pub(super) fn before_result(&self, leaf: usize, frame: RunsAs) -> Option<(usize, usize)> {
        let result = (*self.of[self.root].get(leaf)?)?;
        let made = &self.buffers[result];
        (made.role == Role::Result).then_some(())?;
        if frame != RunsAs::Body {
            return Some((0, made.live.0));
        }
        let state = self.parameter(0, leaf)?;
        // Otherwise the result is copied there, and the state is full until then.
        (result != state && self.buffers[state].live.1 < made.live.0).then_some(())?;
        Some((self.buffers[state].live.1 + 1, made.live.0))
    }

    /// The buffer of a leaf of a parameter.
    pub(super) fn parameter(&self, number: usize, leaf: usize) -> Option<usize> {
        *self.of[*self.parameters.get(number)?].get(leaf)?
    }
}
