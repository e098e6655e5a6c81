//! The loops of one place in steps: what a place holds of each array at once, and how often it is brought.
//!
//! `y[m,n] += x[m,k] * w[k,n]` with 64 × 64 × 64 in a place, in steps of 16 × 32 × 64: 4 × 2 × 1 steps. With the loops over
//! steps in the order m, n, a place holds 16 × 64 of `x`, 64 × 32 of `w` and 16 × 32 of `y`. `x` stays while n runs, and
//! each of its 4 pieces is brought once; the 2 pieces of `w` change in every step and are brought 4 times each; a piece of
//! `y` is done when the next one comes, and goes once.
//!
//! The rule: a piece stays over the loops that its array does not follow and that are inside of all that it follows. So it
//! is brought as often as the other loops that it does not follow run. A result that is brought again is what was summed up
//! before: of `r` visits, `r` write and `r - 1` read.
//!
//! A piece is brought as a whole, also where it overlaps the one before, as those of windows do. All places take the same
//! number of steps; in the last ones some may have nothing to do.

use super::reading::{IndexRange, LoopNest};
use super::sets::{IndexSet, image, length, sets_at};
use super::spread::Spread;

/// How the loops of a place are cut into steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TimeCut {
    /// By loop, how much of it runs in a step, at least 1.
    pub steps: Vec<i64>,
    /// The loops that have several steps, the outermost first.
    pub order: Vec<usize>,
}

/// The sets of indices that places have of a dimension or of a loop: by piece of the spread, then by step.
pub(super) type SteppedSets = Vec<Vec<IndexSet>>;

impl TimeCut {
    /// All of each loop in one step.
    pub fn whole(nest: &LoopNest, spread: &Spread) -> TimeCut {
        let steps = nest.sizes.iter().enumerate().map(|(of, size)| spread.block(of, *size)).collect();
        TimeCut { steps, order: Vec::new() }
    }

    /// These steps, with the loops that have several in the order given, the outermost first; others of the order do not
    /// count.
    pub fn new(steps: Vec<i64>, order: &[usize], nest: &LoopNest, spread: &Spread) -> TimeCut {
        let mut cut = TimeCut { steps, order: Vec::new() };
        cut.order = order.iter().copied().filter(|of| cut.count(*of, nest, spread) > 1).collect();
        cut
    }

    /// The number of steps of a loop.
    pub fn count(&self, of: usize, nest: &LoopNest, spread: &Spread) -> i64 {
        let (block, step) = (spread.block(of, nest.sizes[of]), self.steps[of].max(1));
        block / step + i64::from(block % step != 0)
    }

    /// The number of all steps.
    pub fn all(&self, nest: &LoopNest, spread: &Spread) -> i64 {
        self.order.iter().fold(1i64, |n, of| n.saturating_mul(self.count(*of, nest, spread)))
    }

    /// How often each piece of an array is brought.
    pub fn visits(&self, ranges: &[IndexRange], nest: &LoopNest, spread: &Spread) -> i64 {
        let own = |of: &usize| follows(ranges, *of);
        let outer = &self.order[..self.order.iter().rposition(own).map_or(0, |last| last + 1)];
        let others = outer.iter().filter(|of| !own(of));
        others.fold(1i64, |n, of| n.saturating_mul(self.count(*of, nest, spread)))
    }

    /// Whether pieces of an array change from step to step.
    pub fn changes(&self, ranges: &[IndexRange]) -> bool {
        self.order.iter().any(|of| follows(ranges, *of))
    }

    /// The most elements that a place has of an array of `sizes` in a step.
    pub fn piece(&self, ranges: &[IndexRange], sizes: &[i64], nest: &LoopNest, spread: &Spread) -> i64 {
        let mut elements = 1i64;
        for group in groups(ranges) {
            let Some(of) = ranges[group[0]].of_loop() else {
                elements = elements.saturating_mul(sizes[group[0]]);
                continue;
            };
            let sets = self.sets(of, usize::MAX, nest, spread);
            let length = |set: &IndexSet| {
                let one = |dim: &usize| length(&image(set, ranges[*dim], sizes[*dim]));
                group.iter().map(one).fold(1i64, i64::saturating_mul)
            };
            elements = elements.saturating_mul(sets.iter().flatten().map(length).max().unwrap_or(0));
        }
        elements
    }

    /// The indices of a loop that the nodes of a level have in each step, all places of a node together.
    pub(super) fn sets(&self, of: usize, level: usize, nest: &LoopNest, spread: &Spread) -> SteppedSets {
        let (size, digits) = (nest.sizes[of], spread.digits(of));
        let (block, count) = (spread.block(of, size), self.count(of, nest, spread));
        let known = |digit: &super::spread::NestedCut| digit.axis <= level && !digit.is_address();
        let values: i64 = digits.iter().filter(|digit| known(digit)).map(|digit| digit.pieces).product();
        let mut all: SteppedSets = vec![Vec::new(); values as usize];
        for step in 0..count {
            let start = step.saturating_mul(self.steps[of]);
            let within = [start, start.saturating_add(self.steps[of]).min(block)];
            let sets = sets_at(&digits, &known, block, size, within);
            all.iter_mut().zip(sets).for_each(|(own, set)| own.push(set));
        }
        all
    }
}

/// Whether an array has an index that follows a loop.
pub(super) fn follows(ranges: &[IndexRange], of: usize) -> bool {
    ranges.iter().any(|range| range.of_loop() == Some(of))
}

/// The dimensions of an array that follow one loop together; those that follow none are alone.
pub(super) fn groups(ranges: &[IndexRange]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (dim, range) in ranges.iter().enumerate() {
        let same = |group: &&mut Vec<usize>| range.of_loop().is_some() && ranges[group[0]].of_loop() == range.of_loop();
        match found.iter_mut().find(same) {
            Some(group) => group.push(dim),
            None => found.push(vec![dim]),
        }
    }
    found
}
