//! The ranges of time in which buffers are in the memory of an output.
//!
//! Few ranges of one memory overlap: only where a buffer overwrites another one. The time is cut into stretches wherever a
//! range begins or ends, so a new range is compared only with those of its own stretches:
//!
//! ```text
//! ranges      a a a a         c c
//!                   b b b b b
//! stretches  |a    |ab|b     |c  |
//! ```

use super::buffers::FrameBuffers;
use super::runs::RunsAs;
use std::collections::BTreeMap;

/// A buffer in the memory of an output, or a candidate for it.
pub struct PlacedRange<'f> {
    pub frame: (usize, RunsAs),
    pub found: &'f FrameBuffers,
    /// The number among the buffers; `None` for a copy.
    pub number: Option<usize>,
    /// The live range in program times, end excluded.
    pub live: (usize, usize),
}

impl PlacedRange<'_> {
    fn meets(&self, other: &PlacedRange) -> bool {
        !(self.frame == other.frame && (self.is_over(other) || other.is_over(self)))
    }

    /// Whether it overwrites another buffer of its computation at its definition.
    fn is_over(&self, other: &PlacedRange) -> bool {
        self.number.zip(other.number).is_some_and(|pair| self.found.overwrites.contains(&pair))
    }
}

/// The ranges in one memory.
#[derive(Default)]
pub struct PlacedRanges<'f> {
    all: Vec<PlacedRange<'f>>,
    /// The stretches of time that are not empty, by their first time: the end, which is excluded, and the ranges.
    stretches: BTreeMap<usize, (usize, Vec<usize>)>,
}

impl<'f> PlacedRanges<'f> {
    /// Whether a buffer cannot be there in a range, because another one is.
    pub fn meet(&self, own: &PlacedRange) -> bool {
        let (from, to) = own.live;
        let before = self.stretches.range(..from).next_back().filter(|(_, (end, _))| *end > from);
        // A range may be empty.
        let inside = self.stretches.range(from..to.max(from));
        let mut there = before.filter(|_| from < to).into_iter().chain(inside).flat_map(|(_, (_, ranges))| ranges);
        there.any(|number| self.all[*number].meets(own))
    }

    fn add(&mut self, range: PlacedRange<'f>) {
        let (mut from, to) = range.live;
        if from >= to {
            return;
        }
        self.cut(from);
        self.cut(to);
        let number = self.all.len();
        self.all.push(range);
        while from < to {
            let next = self.stretches.range(from..to).next().map(|(start, _)| *start);
            let end = next.filter(|start| *start > from).unwrap_or(to);
            let stretch = self.stretches.entry(from).or_insert((end, Vec::new()));
            stretch.1.push(number);
            from = stretch.0;
        }
    }

    /// Cuts the stretch around a time in two.
    fn cut(&mut self, at: usize) {
        let Some((_, stretch)) = self.stretches.range_mut(..at).next_back().filter(|(_, (end, _))| *end > at) else {
            return;
        };
        let (end, ranges) = (stretch.0, stretch.1.clone());
        stretch.0 = at;
        self.stretches.insert(at, (end, ranges));
    }
}

impl<'f> Extend<PlacedRange<'f>> for PlacedRanges<'f> {
    fn extend<I: IntoIterator<Item = PlacedRange<'f>>>(&mut self, ranges: I) {
        ranges.into_iter().for_each(|range| self.add(range));
    }
}

/// The time in which each of some memories may be empty, from the end of its first range to the start of its last one, in
/// a tree: the memories that may be empty at a time are found without a look at the others.
pub struct EmptyTimes {
    /// The number of leaves, a power of two.
    leaves: usize,
    /// The root is number 1, the parts of `k` are `2 k` and `2 k + 1`: the earliest start and the latest end below it.
    tree: Vec<(usize, usize)>,
}

impl EmptyTimes {
    /// The tree of these times, one for each memory.
    pub fn new(times: &[(usize, usize)]) -> EmptyTimes {
        let leaves = times.len().next_power_of_two();
        let mut tree = vec![(usize::MAX, 0); 2 * leaves];
        tree[leaves..leaves + times.len()].copy_from_slice(times);
        for k in (1..leaves).rev() {
            let (a, b) = (tree[2 * k], tree[2 * k + 1]);
            tree[k] = (a.0.min(b.0), a.1.max(b.1));
        }
        EmptyTimes { leaves, tree }
    }

    /// The first memory, from this one on, that may be empty from a time to another one.
    pub fn next(&self, memory: usize, (from, to): (usize, usize)) -> Option<usize> {
        let may = |k: usize| self.tree[k].0 <= from && to <= self.tree[k].1;
        let mut k = Some(self.leaves + memory).filter(|_| memory < self.leaves)?;
        loop {
            if may(k) && k >= self.leaves {
                return Some(k - self.leaves);
            }
            if may(k) {
                k *= 2;
                continue;
            }
            // The last part below its whole is behind all parts of the whole.
            k >>= k.trailing_ones();
            if k == 0 {
                return None;
            }
            k += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use rustc_hash::FxHashSet;

    /// Random ranges of few buffers, some of them empty or backwards, meet those before them as by the definition.
    #[test]
    fn ranges_meet_where_they_overlap_and_none_overwrites_the_other() {
        const BUFFERS: usize = 6;
        let mut random = Random::new(0);
        let mut met = [0; 2];
        for _ in 0..400 {
            let pairs = (0..8).map(|_| (random.below(BUFFERS), random.below(BUFFERS)));
            let overwrites: FxHashSet<(usize, usize)> = pairs.collect();
            let found = FrameBuffers { overwrites: overwrites.clone(), ..FrameBuffers::default() };
            let (mut ranges, mut all) = (PlacedRanges::default(), Vec::<PlacedRange>::new());
            for _ in 0..12 {
                let frame = (random.below(2), RunsAs::Called);
                let number = Some(random.below(BUFFERS + 1)).filter(|number| *number < BUFFERS);
                let own = PlacedRange { frame, found: &found, number, live: (random.below(20), random.below(20)) };
                let is_over = |a: &PlacedRange, b: &PlacedRange| {
                    a.number.zip(b.number).is_some_and(|pair| overwrites.contains(&pair))
                };
                let meets = |other: &PlacedRange| {
                    let overlap = own.live.0.max(other.live.0) < own.live.1.min(other.live.1);
                    overlap && (own.frame != other.frame || !is_over(&own, other) && !is_over(other, &own))
                };
                let expected = all.iter().any(meets);
                assert_eq!(ranges.meet(&own), expected);
                met[usize::from(expected)] += 1;
                let again = PlacedRange { frame, found: &found, number, live: own.live };
                all.push(own);
                ranges.extend([again]);
            }
        }
        assert!(met.iter().all(|count| *count > 500), "{met:?}");
    }

    #[test]
    fn memories_are_found_by_the_times_in_which_they_may_be_empty() {
        let mut random = Random::new(1);
        let mut found = [0; 2];
        for _ in 0..200 {
            let count = random.below(20);
            let times: Vec<(usize, usize)> = (0..count).map(|_| (random.below(20), random.below(20))).collect();
            let tree = EmptyTimes::new(&times);
            for memory in 0..count + 2 {
                let (from, to) = (random.below(20), random.below(20));
                let may = |k: &usize| times[*k].0 <= from && to <= times[*k].1;
                let expected = (memory..count).find(may);
                assert_eq!(tree.next(memory, (from, to)), expected, "{times:?} {memory} {from} {to}");
                found[usize::from(expected.is_some())] += 1;
            }
        }
        assert!(found.iter().all(|count| *count > 300), "{found:?}");
    }
}
