//! The slices of its arrays that an operation takes in steps, one after the other.
//!
//! A product of 20 rows and 48 columns in steps of 8 × 16 takes rows 0 to 7, 8 to 15 and 16 to 19 of its left operand, and 16
//! columns at once of the right one: a loop of 3 steps, the last one smaller, and in it one of 3.
//!
//! The slice of step `t` of a loop of size `n` has indices `t * s` to `(t + 1) * s - 1`, as far as there are some. On places
//! it is spread over these: each element is in as many steps, and as often in a place, as in steps through what a place has of
//! each loop, and arrays that are beside the places do not care in which.

use super::reading::{IndexRange, LoopNest};
use super::spread::Spread;
use super::time::TimeCut;
use tensor_layout::places::TensorLayout;

/// The most loops whose last step is smaller: what runs in steps is written twice for each.
const MOST_RESTS: usize = 3;

/// The slices of an operation's arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationSlices {
    /// The loops over steps, the outermost first.
    pub loops: Vec<SliceLoop>,
    /// The slices of the operands; `None` for scalars.
    pub operands: Vec<Option<ArraySlice>>,
    /// The slices of the results.
    pub results: Vec<Option<ArraySlice>>,
}

/// A loop over steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SliceLoop {
    /// The number of the operation's loop.
    pub of: usize,
    /// How much of it runs in a step, in all places together.
    pub step: i64,
    /// The number of steps.
    pub count: i64,
    /// Whether the last one is smaller.
    pub has_rest: bool,
}

/// A slice of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArraySlice {
    /// By dimension, which of the loops over steps it follows, and the indices from one step to the next.
    pub follows: Vec<Option<(usize, i64)>>,
    /// Its sizes.
    pub sizes: Vec<i64>,
    /// By dimension, its size in the last step of the loop that it follows.
    pub last: Vec<i64>,
    /// The sizes of the array.
    pub whole: Vec<i64>,
    /// Whether it is one of an array that is in the places, which use what they hold of it. Its elements are then in other
    /// places than those that hold them, in this step.
    pub is_held: bool,
    /// On a machine with places, the layouts in which slices are used, by their sizes. Without one, elements are read where
    /// they are.
    pub layouts: Vec<(Vec<i64>, TensorLayout)>,
}

/// An array that is taken in slices.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlicedArray<'a> {
    pub ranges: &'a [IndexRange],
    pub sizes: &'a [i64],
    pub is_result: bool,
}

impl OperationSlices {
    /// The slices of arrays, those of the operands first, that a cut gives. None where it has one step, where an index does
    /// not begin with that of its loop, or too many loops have a smaller last step.
    pub(super) fn new(
        nest: &LoopNest,
        spread: &Spread,
        cut: &TimeCut,
        arrays: &[SlicedArray],
    ) -> Option<OperationSlices> {
        let mut loops = Vec::with_capacity(cut.order.len());
        for of in &cut.order {
            let (step, count) = (spread.pieces(*of).checked_mul(cut.steps[*of])?, cut.count(*of, nest, spread));
            let rest = nest.sizes[*of].checked_sub(step.checked_mul(count - 1)?)?;
            if rest < 1 {
                return None;
            }
            loops.push(SliceLoop { of: *of, step, count, has_rest: rest < step });
        }
        if loops.is_empty() || loops.iter().filter(|own| own.has_rest).count() > MOST_RESTS {
            return None;
        }
        let mut slices = OperationSlices { loops, operands: Vec::new(), results: Vec::new() };
        for array in arrays {
            let slice = if array.sizes.is_empty() { None } else { Some(slices.slice(nest, array)?) };
            if array.is_result { slices.results.push(slice) } else { slices.operands.push(slice) }
        }
        Some(slices)
    }

    fn slice(&self, nest: &LoopNest, array: &SlicedArray) -> Option<ArraySlice> {
        let whole = array.sizes.to_vec();
        let (sizes, last, follows) = (whole.clone(), whole.clone(), vec![None; whole.len()]);
        let mut found = ArraySlice { follows, sizes, last, whole, is_held: false, layouts: Vec::new() };
        for (dim, range) in array.ranges.iter().enumerate() {
            let position = self.loops.iter().position(|own| range.of_loop() == Some(own.of));
            let (Some(position), IndexRange::Along { of, stride, low, high, divisor }) = (position, *range) else {
                continue;
            };
            if (low, divisor) != (0, 1) {
                return None;
            }
            let SliceLoop { step, count, .. } = self.loops[position];
            let by_step = step.checked_mul(stride)?;
            let long = |steps: i64| steps.checked_sub(1)?.checked_mul(stride)?.checked_add(high)?.checked_add(1);
            let start = (count - 1).checked_mul(by_step)?;
            let last = long(nest.sizes[of].checked_sub(step.checked_mul(count - 1)?)?)?;
            if start.checked_add(last)? > array.sizes[dim] {
                return None;
            }
            (found.follows[dim], found.sizes[dim], found.last[dim]) = (Some((position, by_step)), long(step)?, last);
        }
        Some(found)
    }
}

impl ArraySlice {
    /// Whether it is less than the array.
    pub fn is_cut(&self) -> bool {
        self.follows.iter().any(Option::is_some)
    }

    /// Its sizes in steps of which some are the last ones of their loops.
    pub fn sizes_in(&self, is_last: &dyn Fn(usize) -> bool) -> Vec<i64> {
        let one = |(dim, follows): (usize, &Option<(usize, i64)>)| match follows {
            Some((position, _)) if is_last(*position) => self.last[dim],
            _ => self.sizes[dim],
        };
        self.follows.iter().enumerate().map(one).collect()
    }

    /// All sizes that it has in some step, the largest first.
    pub fn all_sizes(&self) -> Vec<Vec<i64>> {
        let mut positions: Vec<usize> = (self.follows.iter().zip(self.sizes.iter().zip(&self.last)))
            .filter_map(|(follows, (size, last))| follows.filter(|_| size != last).map(|(position, _)| position))
            .collect();
        positions.sort_unstable();
        positions.dedup();
        let one = |bits: usize| {
            let is_last = |position: usize| {
                positions.iter().position(|own| *own == position).is_some_and(|bit| bits >> bit & 1 == 1)
            };
            self.sizes_in(&is_last)
        };
        (0..1usize << positions.len().min(MOST_RESTS)).map(one).collect()
    }
}
