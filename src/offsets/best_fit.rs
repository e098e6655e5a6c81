//! Best fit: one walk through time; each range gets the smallest gap that holds it when it begins.

use super::LiveRange;
use std::collections::{BTreeMap, BTreeSet};

/// The offset of each range.
pub fn best_fit(ranges: &[LiveRange]) -> Vec<i64> {
    let mut begins: Vec<usize> = (0..ranges.len()).collect();
    begins.sort_by_key(|k| ranges[*k].live);
    let mut ends: Vec<(usize, usize)> = ranges.iter().enumerate().map(|(k, i)| (i.live.1, k)).collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let (mut offsets, mut gaps) = (vec![0; ranges.len()], Gaps::default());
    for k in begins {
        while let Some((_, ended)) = ends.next_if(|(end, _)| *end < ranges[k].live.0) {
            gaps.add(offsets[ended], ranges[ended].bytes);
        }
        offsets[k] = gaps.take(&ranges[k]);
    }
    offsets
}

/// The free bytes.
#[derive(Default)]
struct Gaps {
    /// The size of each gap below `total`, by start. No two gaps are adjacent.
    by_start: BTreeMap<i64, i64>,
    /// The same gaps, sorted by size.
    by_size: BTreeSet<(i64, i64)>,
    total: i64,
}

impl Gaps {
    /// Adds a gap, joined with adjacent ones.
    fn add(&mut self, mut start: i64, mut bytes: i64) {
        if bytes == 0 {
            return;
        }
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

    /// The offset in the smallest gap that holds the range, among the first few that are large enough before alignment;
    /// otherwise the last gap grows.
    fn take(&mut self, range: &LiveRange) -> i64 {
        let holds = |(size, start): &&(i64, i64)| range.align(*start) - start + range.bytes <= *size;
        let found = self.by_size.range((range.bytes, 0)..).take(8).find(holds).copied();
        let last = self.by_start.last_key_value().map(|(start, size)| (*start, *size));
        let (start, size) = match found {
            Some((size, start)) => (start, size),
            None => match last.filter(|(start, size)| start + size == self.total) {
                Some(last) => last,
                None => (self.total, 0),
            },
        };
        if size > 0 {
            self.remove(start, size);
        }
        let offset = range.align(start);
        let (gap, end) = (start + size, offset + range.bytes);
        self.add(start, offset - start);
        self.add(end, (gap - end).max(0));
        self.total = self.total.max(end);
        offset
    }
}
