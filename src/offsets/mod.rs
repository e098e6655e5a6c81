//! Offsets in one memory for live ranges: no two ranges live together overlap, and the total size is as low as the
//! search finds.
//!
//! ```
//! use tensor_layout::offsets::{LiveRange, SearchLimits, offsets};
//!
//! // The last one lies where the first has ended.
//! let of = |first, last, bytes| LiveRange { live: (first, last), bytes, alignment: 64 };
//! let arena = offsets(&[of(0, 1, 128), of(1, 2, 64), of(2, 3, 128)], &SearchLimits::default()).unwrap();
//! assert_eq!((arena.offsets, arena.bytes, arena.peak), (vec![0, 128, 0], 192, 192));
//! ```
//!
//! 1. The *peak*, the maximum of live bytes, is a lower bound.
//! 2. `best_fit` walks through time and gives each range the smallest gap that holds it, in O(n log n).
//! 3. `lowest_gap` places ranges in several orders, each in its lowest gap, and keeps the lowest end.
//! 4. `search` is exact, on the state of `niches`. Its first target is the peak, then sizes between the impossible ones
//!    and the best found, until its steps are used up.
//!
//! For very many ranges ([`LARGEST_OVERLAP`]) only `best_fit` runs, and above [`LARGEST_SEARCH`] the search is skipped.
//! All are deterministic.

mod best_fit;
mod lowest_gap;
mod niches;
mod search;

use std::cmp::Reverse;
use std::fmt;
use std::ops::RangeInclusive;

/// A buffer with its live range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveRange {
    /// The first and the last moment, both included.
    pub live: (usize, usize),
    /// The size in bytes.
    pub bytes: i64,
    /// The alignment of the offset.
    pub alignment: i64,
}

impl LiveRange {
    /// The moments at which it is live.
    fn moments(&self) -> RangeInclusive<usize> {
        self.live.0..=self.live.1
    }

    /// Aligns `from` upwards; `i64::MAX` on overflow, above every capacity of a search.
    fn align(&self, from: i64) -> i64 {
        let end = from.checked_add(self.alignment - 1);
        end.map_or(i64::MAX, |end| end / self.alignment * self.alignment)
    }
}

/// The limits of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// The bytes of the memory; no lower size is searched for. `None` searches for the lowest.
    pub capacity: Option<i64>,
    /// Steps of the exact search, about 10 ns each.
    pub steps: u64,
}

impl Default for SearchLimits {
    /// No capacity, and a tenth of a second at most.
    fn default() -> SearchLimits {
        SearchLimits { capacity: None, steps: 2_000_000 }
    }
}

/// The placement of all ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arena {
    /// The offset of each range.
    pub offsets: Vec<i64>,
    /// The largest end.
    pub bytes: i64,
    /// The maximum of live bytes.
    pub peak: i64,
    /// A proven lower bound on `bytes`, at least `peak`. If equal to `bytes`, the result is optimal.
    pub bound: i64,
}

/// The reason why there are no offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoOffsets {
    /// A range that ends before it begins, has a negative size, or an alignment below one.
    Wrong {
        /// The number of the range.
        range: usize,
    },
    /// The sum of all sizes, each rounded up to its alignment, overflows 64 bits.
    TooLarge,
    /// The peak exceeds the capacity.
    Peak {
        /// The first moment at the peak.
        moment: usize,
        /// The live bytes at the peak.
        bytes: i64,
        /// The capacity of the memory.
        capacity: i64,
    },
    /// The peak fits, but no offsets are known.
    Fragments {
        /// The lowest size found.
        bytes: i64,
        /// The capacity of the memory.
        capacity: i64,
        /// Whether it is proven that none exist.
        is_proved: bool,
    },
}

impl fmt::Display for NoOffsets {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NoOffsets::Wrong { range } => write!(
                f,
                "range {range} must not end before it begins, and needs 0 bytes or more and an alignment of 1 or more"
            ),
            NoOffsets::TooLarge => f.write_str("the bytes of all ranges do not fit in 64 bits"),
            NoOffsets::Peak { moment, bytes, capacity } => {
                write!(f, "{bytes} bytes are live at moment {moment}, and the memory has {capacity}")
            }
            NoOffsets::Fragments { bytes, capacity, is_proved: true } => {
                write!(f, "no offsets fit in {capacity} bytes; the fewest found are {bytes}")
            }
            NoOffsets::Fragments { bytes, capacity, is_proved: false } => {
                write!(
                    f,
                    "no offsets were found that fit in {capacity} bytes, only in {bytes}; more steps may find some"
                )
            }
        }
    }
}

impl std::error::Error for NoOffsets {}

/// The limit on pairs of a moment and a range live at it, for all but `best_fit`: the pairs are listed. Only moments at
/// which a range begins count.
pub const LARGEST_OVERLAP: usize = 1 << 22;

/// The limit on ranges for the exact search, whose recursion is as deep.
pub const LARGEST_SEARCH: usize = 1000;

/// Finds offsets for all ranges.
///
/// # Errors
/// A malformed range, an overflow, or no offsets found within the capacity.
pub fn offsets(ranges: &[LiveRange], limits: &SearchLimits) -> Result<Arena, NoOffsets> {
    check(ranges)?;
    let moments = Moments::of(ranges);
    let (peak, at) = moments.peak();
    if let Some(capacity) = limits.capacity.filter(|capacity| peak > *capacity) {
        return Err(NoOffsets::Peak { moment: moments.starts[at], bytes: peak, capacity });
    }
    let mut best = Arena { offsets: best_fit::best_fit(&moments.ranges), bytes: 0, peak, bound: peak };
    best.bytes = end(ranges, &best.offsets);
    let enough = limits.capacity.unwrap_or(peak);
    if best.bytes > enough
        && let Some(live) = moments.live()
    {
        let meets = neighbours(&moments.ranges, &live);
        for order in [PlacingOrder::Bytes, PlacingOrder::Area, PlacingOrder::Length] {
            best.improve(ranges, lowest_gap::lowest_gap(&moments.ranges, &live, &meets, order));
        }
        if ranges.len() <= LARGEST_SEARCH {
            descend(&mut best, &moments.ranges, &live, limits);
        }
    }
    match limits.capacity {
        Some(capacity) if best.bytes > capacity => {
            Err(NoOffsets::Fragments { bytes: best.bytes, capacity, is_proved: best.bound > capacity })
        }
        _ => Ok(best),
    }
}

/// Runs the exact search for lower and lower sizes.
fn descend(best: &mut Arena, ranges: &[LiveRange], live: &[Vec<usize>], limits: &SearchLimits) {
    let enough = limits.capacity.unwrap_or(best.peak);
    let (mut steps, mut target) = (limits.steps, enough);
    // Lower sizes were tried without an answer.
    let mut tried = best.peak;
    while best.bytes > enough.max(best.bound) && steps > 0 {
        let mut given = if limits.capacity.is_some() { steps } else { steps.div_ceil(2) };
        steps -= given;
        match search::search(ranges, live, target, &mut given) {
            search::Attempt::Offsets(found) => best.improve(ranges, found),
            search::Attempt::Impossible => (best.bound, tried) = (target + 1, tried.max(target + 1)),
            search::Attempt::Unknown => tried = target + 1,
        }
        steps += given;
        if tried >= best.bytes {
            break;
        }
        target = tried + (best.bytes - tried) / 2;
    }
}

impl Arena {
    /// Takes over other offsets if they end lower.
    fn improve(&mut self, ranges: &[LiveRange], offsets: Vec<i64>) {
        let bytes = end(ranges, &offsets);
        if bytes < self.bytes {
            (self.offsets, self.bytes) = (offsets, bytes);
        }
    }
}

fn end(ranges: &[LiveRange], offsets: &[i64]) -> i64 {
    ranges.iter().zip(offsets).map(|(range, offset)| offset + range.bytes).max().unwrap_or(0)
}

/// # Errors
/// As [`offsets`]. Afterwards no sum of ends overflows, for ranges placed one after another.
fn check(ranges: &[LiveRange]) -> Result<(), NoOffsets> {
    let mut all = 0_i64;
    for (k, range) in ranges.iter().enumerate() {
        if range.live.0 > range.live.1 || range.bytes < 0 || range.alignment < 1 {
            return Err(NoOffsets::Wrong { range: k });
        }
        let bytes = range.bytes.checked_add(range.alignment);
        all = bytes.and_then(|bytes| all.checked_add(bytes)).ok_or(NoOffsets::TooLarge)?;
    }
    Ok(())
}

/// Time reduced to the moments at which a range begins; ranges that overlap do so at one of these.
struct Moments {
    /// The original numbers of these moments.
    starts: Vec<usize>,
    /// The ranges in numbers of these.
    ranges: Vec<LiveRange>,
}

impl Moments {
    fn of(ranges: &[LiveRange]) -> Moments {
        let mut starts: Vec<usize> = ranges.iter().map(|range| range.live.0).collect();
        starts.sort_unstable();
        starts.dedup();
        let number = |moment: usize| starts.partition_point(|start| *start <= moment) - 1;
        let ranges = ranges.iter().map(|i| LiveRange { live: (number(i.live.0), number(i.live.1)), ..*i }).collect();
        Moments { starts, ranges }
    }

    /// The peak, and the first moment at it.
    fn peak(&self) -> (i64, usize) {
        let mut changes = vec![0_i64; self.starts.len() + 1];
        for range in &self.ranges {
            changes[range.live.0] += range.bytes;
            changes[range.live.1 + 1] -= range.bytes;
        }
        let (mut peak, mut live) = ((0, 0), 0);
        for (moment, change) in changes.iter().enumerate() {
            live += change;
            if live > peak.0 {
                peak = (live, moment);
            }
        }
        peak
    }

    /// The ranges live at each moment; `None` above [`LARGEST_OVERLAP`] pairs.
    fn live(&self) -> Option<Vec<Vec<usize>>> {
        let pairs: usize = self.ranges.iter().map(|i| i.live.1 - i.live.0 + 1).sum();
        (pairs <= LARGEST_OVERLAP).then_some(())?;
        let mut live = vec![Vec::new(); self.starts.len()];
        for (k, range) in self.ranges.iter().enumerate() {
            range.moments().for_each(|moment| live[moment].push(k));
        }
        Some(live)
    }
}

/// The order in which ranges are placed, largest first, by...
#[derive(Clone, Copy, Debug)]
enum PlacingOrder {
    /// ...live bytes of all ranges at one of its moments.
    Crowd,
    /// ...moments times bytes.
    Area,
    /// ...moments.
    Length,
    /// ...bytes.
    Bytes,
}

impl PlacingOrder {
    /// The range numbers in this order; `crowd` has the live bytes at each moment.
    fn of(self, ranges: &[LiveRange], crowd: &[i64]) -> Vec<usize> {
        let key = |k: &usize| {
            let range = &ranges[*k];
            let length = (range.live.1 - range.live.0 + 1) as i64;
            let crowd = || range.moments().map(|moment| crowd[moment]).max().unwrap_or(0);
            Reverse(match self {
                PlacingOrder::Crowd => (crowd(), length, range.bytes),
                PlacingOrder::Area => (length.saturating_mul(range.bytes), crowd(), length),
                PlacingOrder::Length => (length, range.bytes, crowd()),
                PlacingOrder::Bytes => (range.bytes, length, crowd()),
            })
        };
        let mut ordered: Vec<usize> = (0..ranges.len()).collect();
        ordered.sort_by_cached_key(key);
        ordered
    }
}

/// The live bytes at each moment.
fn crowd(ranges: &[LiveRange], live: &[Vec<usize>]) -> Vec<i64> {
    live.iter().map(|live| live.iter().map(|k| ranges[*k].bytes).sum()).collect()
}

/// For each range, the ranges that overlap it in time, in order.
fn neighbours(ranges: &[LiveRange], live: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut begins = vec![Vec::new(); live.len()];
    ranges.iter().enumerate().for_each(|(k, range)| begins[range.live.0].push(k));
    let of = |k: usize| {
        // Such a range is live at the first moment, or begins later.
        let (first, last) = ranges[k].live;
        let later = begins[first + 1..=last].iter().flatten();
        let mut met: Vec<usize> = live[first].iter().chain(later).copied().filter(|other| *other != k).collect();
        met.sort_unstable();
        met
    };
    (0..ranges.len()).map(of).collect()
}
