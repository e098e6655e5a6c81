//! Places for what is live in intervals of a text, in one walk over it.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes that are needed from one number of the text to another, both included.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// The first and the last number.
    pub live: (usize, usize),
    /// How many bytes.
    pub bytes: i64,
}

/// The place of each interval and the bytes of all: no two that meet overlap. None where the bytes are too many to count.
pub fn places(intervals: &[Interval]) -> Option<(Vec<i64>, i64)> {
    let mut begins: Vec<usize> = (0..intervals.len()).collect();
    begins.sort_by_key(|k| intervals[*k].live);
    let mut ends: Vec<(usize, usize)> = intervals.iter().enumerate().map(|(k, i)| (i.live.1, k)).collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let (mut places, mut gaps) = (vec![0; intervals.len()], Gaps::default());
    for k in begins {
        while let Some((_, ended)) = ends.next_if(|(end, _)| *end < intervals[k].live.0) {
            gaps.add(places[ended], intervals[ended].bytes);
        }
        places[k] = gaps.take(intervals[k].bytes)?;
    }
    Some((places, gaps.total))
}

/// The bytes that nothing has.
#[derive(Default)]
struct Gaps {
    /// The bytes of each gap below `total`, by its start. No two are side by side.
    by_start: BTreeMap<i64, i64>,
    /// The same, with the bytes first.
    by_size: BTreeSet<(i64, i64)>,
    total: i64,
}

impl Gaps {
    /// Adds a gap, joined with those beside it.
    fn add(&mut self, mut start: i64, mut bytes: i64) {
        if let Some(after) = self.by_start.get(&(start + bytes)).copied() {
            self.remove(start + bytes, after);
            bytes += after;
        }
        if let Some((before, size)) = self.by_start.range(..start).next_back().map(|(before, size)| (*before, *size))
            && before + size == start
        {
            self.remove(before, size);
            (start, bytes) = (before, size + bytes);
        }
        self.by_start.insert(start, bytes);
        self.by_size.insert((bytes, start));
    }

    fn remove(&mut self, start: i64, bytes: i64) {
        self.by_start.remove(&start);
        self.by_size.remove(&(bytes, start));
    }

    /// The start of the smallest gap of so many bytes; where there is none, the last one grows. None where that overflows.
    fn take(&mut self, bytes: i64) -> Option<i64> {
        if let Some((size, start)) = self.by_size.range((bytes, 0)..).next().copied() {
            self.remove(start, size);
            if size > bytes {
                self.add(start + bytes, size - bytes);
            }
            return Some(start);
        }
        let last = self.by_start.last_key_value().map(|(start, size)| (*start, *size));
        let start = match last.filter(|(start, size)| start + size == self.total) {
            Some((start, size)) => {
                self.remove(start, size);
                start
            }
            None => self.total,
        };
        self.total = start.checked_add(bytes)?;
        Some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of many kinds, from a linear congruence.
    fn intervals(seed: u64) -> Vec<Interval> {
        let mut state = seed;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let count = 1 + below(60);
        (0..count)
            .map(|_| {
                let from = below(100) as usize;
                Interval { live: (from, from + below(40) as usize), bytes: 64 * (1 + below(9) as i64) }
            })
            .collect()
    }

    #[test]
    fn what_is_live_at_once_has_bytes_of_its_own() {
        for seed in 0..2000 {
            let intervals = intervals(seed);
            let (places, total) = places(&intervals).unwrap();
            let mut at_once = 0;
            for (k, (one, place)) in intervals.iter().zip(&places).enumerate() {
                assert!(*place >= 0 && place + one.bytes <= total);
                for (other, at) in intervals.iter().zip(&places).skip(k + 1) {
                    let meet = one.live.0 <= other.live.1 && other.live.0 <= one.live.1;
                    assert!(!meet || place + one.bytes <= *at || at + other.bytes <= *place, "{one:?} {other:?}");
                }
                let now = |i: &&Interval| i.live.0 <= one.live.0 && one.live.0 <= i.live.1;
                at_once = at_once.max(intervals.iter().filter(now).map(|i| i.bytes).sum());
            }
            assert!(total >= at_once && total <= intervals.iter().map(|i| i.bytes).sum());
        }
    }

    #[test]
    fn too_many_bytes_are_none() {
        let large = Interval { live: (0, 1), bytes: i64::MAX / 64 * 64 };
        assert!(places(&[large, large]).is_none());
    }
}
