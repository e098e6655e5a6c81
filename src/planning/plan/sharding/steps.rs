//! The steps of an operation of a plan: the loops over them, the pieces of each array, and what moves beside what must.

use super::lower_bound::LeastRule;
use super::reading::LoopNest;
use super::slices::OperationSlices;
use super::spread::Spread;
use super::time::TimeCut;
use crate::plan::planned_layout::PlannedLayout;
use crate::plan::program::ArrayName;
use std::cmp::Reverse;

/// The steps of an operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedSteps {
    /// The operation.
    pub by: (usize, usize),
    /// The loops that run in several steps, the outermost first.
    pub loops: Vec<StepLoop>,
    /// The arrays that it reads, then those that it makes; scalars apart.
    pub arrays: Vec<SteppedTouch>,
    /// By axis of the machine, the bytes that the busiest node gets or gives in all steps, as often as the operation runs.
    /// Without places one level, the fastest memory.
    pub levels: Vec<i64>,
    /// The bytes that it gets or gives at least, whatever the layouts and the steps are.
    pub least: Vec<i64>,
    /// By which rule.
    pub rule: LeastRule,
    /// Without places, the bytes of the fastest memory that arrays leave.
    pub room: Option<i64>,
    /// Without places, the bytes that the smallest steps need, where there is less room: then there are no loops, and the
    /// operation reads and writes its arrays where they lie.
    pub needs: Option<i64>,
    /// The slices that it takes in steps; `None` where it has one step, or a slice is no range of indices.
    pub slices: Option<OperationSlices>,
}

/// A loop over steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepLoop {
    /// The number of the operation's loop.
    pub of: usize,
    /// How much of it a place runs in a step.
    pub step: i64,
    /// The number of steps.
    pub count: i64,
}

/// An array of an operation that runs in steps.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SteppedTouch {
    /// The array.
    pub at: ArrayName,
    /// The number of the operand; `None` for a result.
    pub operand: Option<usize>,
    /// Whether places use what they hold of it, or all of it is in the fastest memory; else there is a buffer for a piece.
    pub in_place: bool,
    /// The dimensions that are cut, each with the number of steps.
    pub cut: Vec<(usize, i64)>,
    /// Where its elements are used, and on places when; `None` where that is no layout, as with windows, which overlap, or
    /// with steps that are not equally long.
    pub layout: Option<PlannedLayout>,
    /// The bytes of the buffer, padding included.
    pub bytes: i64,
    /// Whether there is a second buffer, in which the next piece comes while one is used.
    pub is_double: bool,
    /// By axis of the machine, the bytes that the busiest node gets or gives, as often as the operation runs.
    pub levels: Vec<i64>,
}

impl PlannedSteps {
    /// An operation without steps and arrays, on a machine of so many levels.
    pub(super) fn new(by: (usize, usize), levels: usize, rule: LeastRule) -> PlannedSteps {
        let (loops, arrays, levels, least) = (Vec::new(), Vec::new(), vec![0; levels], Vec::new());
        PlannedSteps { by, loops, arrays, levels, least, rule, room: None, needs: None, slices: None }
    }

    /// Takes over the loops of a cut.
    pub(super) fn cut(&mut self, cut: &TimeCut, nest: &LoopNest, spread: &Spread) {
        let own = |of: &usize| StepLoop { of: *of, step: cut.steps[*of], count: cut.count(*of, nest, spread) };
        self.loops = cut.order.iter().map(own).collect();
    }

    /// Adds an array with what it moves.
    pub(super) fn add(&mut self, array: SteppedTouch) {
        self.levels.iter_mut().zip(&array.levels).for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
        self.arrays.push(array);
    }

    /// Gives a second buffer to each array that changes between steps, those that move most first, while there is room.
    pub(super) fn double(&mut self, mut room: i64, changes: &dyn Fn(usize) -> bool) {
        let mut order: Vec<usize> = (0..self.arrays.len()).collect();
        order.sort_by_key(|k| Reverse(self.arrays[*k].levels.last().copied()));
        for k in order {
            let array = &mut self.arrays[k];
            if !array.in_place && array.bytes <= room && changes(k) {
                (array.is_double, room) = (true, room - array.bytes);
            }
        }
    }
}
