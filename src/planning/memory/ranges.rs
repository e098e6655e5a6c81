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
use std::ops::Range;

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

/// The memories that have a range in each block of time, which says of most memories without a look at their ranges whether
/// a buffer can be there.
pub struct TimeBlocks {
    /// The length of a block.
    length: usize,
    /// By block, a bit for each memory.
    taken: Vec<Vec<u64>>,
}

impl TimeBlocks {
    /// The number of blocks.
    const MOST: usize = 256;

    /// The blocks of so many times, for so many memories.
    pub fn new(times: usize, memories: usize) -> TimeBlocks {
        let length = times.div_ceil(TimeBlocks::MOST).max(1);
        TimeBlocks { length, taken: vec![vec![0; memories.div_ceil(64)]; times.div_ceil(length)] }
    }

    /// Adds a range of a memory.
    pub fn add(&mut self, memory: usize, live: (usize, usize)) {
        for block in self.touched(live) {
            self.taken[block][memory / 64] |= 1 << (memory % 64);
        }
    }

    /// The memories with a range in a block that is touched.
    pub fn near(&self, ranges: &[PlacedRange]) -> Vec<u64> {
        self.memories(ranges.iter().flat_map(|range| self.touched(range.live)))
    }

    /// The memories with a range in a block that lies in a range and between two times.
    pub fn inside(&self, ranges: &[PlacedRange], (first, last): (usize, usize)) -> Vec<u64> {
        let whole = |range: &PlacedRange| {
            let (from, to) = (range.live.0.max(first), range.live.1.min(last));
            from.div_ceil(self.length)..to / self.length
        };
        self.memories(ranges.iter().flat_map(whole))
    }

    fn touched(&self, (from, to): (usize, usize)) -> Range<usize> {
        if from < to { from / self.length..to.div_ceil(self.length) } else { 0..0 }
    }

    fn memories(&self, blocks: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut found = vec![0; self.taken.first().map_or(0, Vec::len)];
        for block in blocks {
            found.iter_mut().zip(&self.taken[block]).for_each(|(found, taken)| *found |= taken);
        }
        found
    }
}

/// Whether a memory is in a set.
pub fn contains(memories: &[u64], memory: usize) -> bool {
    memories[memory / 64] >> (memory % 64) & 1 == 1
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
}
