//! Offsets in one memory for what is live in intervals of time: no two that are live together overlap, and the end of all
//! is as low as can be found.
//!
//! ```
//! use tensor_layout::offsets::{Interval, Limits, offsets};
//!
//! // The last one fits between the first two only where these do not lie side by side.
//! let of = |first, last, bytes| Interval { live: (first, last), bytes, alignment: 64 };
//! let found = offsets(&[of(0, 1, 128), of(1, 2, 64), of(2, 3, 128)], &Limits::default()).unwrap();
//! assert_eq!((found.of, found.bytes, found.peak), (vec![64, 0, 64], 192, 192));
//! ```
//!
//! 1. The *peak*, the most bytes that are live at one moment, is a lower bound.
//! 2. `best_fit` walks through time and gives each interval the smallest gap that holds it, in O(n log n).
//! 3. `lowest_gap` places intervals in several orders, each in its lowest gap, and keep the lowest end.
//! 4. `search` is exact. It is asked for the peak first, then for ends between what is known to be impossible and the best
//!    that was found, until its steps are used up.
//!
//! The second alone decides where the intervals are very many ([`LARGEST_OVERLAP`]), and the last does nothing above
//! [`LARGEST_SEARCH`]. All are deterministic.

mod best_fit;
mod lowest_gap;
mod search;

use std::fmt;
use std::ops::RangeInclusive;

/// Bytes that are needed from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The first and the last moment, both included.
    pub live: (usize, usize),
    /// How many bytes.
    pub bytes: i64,
    /// What the offset is a multiple of.
    pub alignment: i64,
}

impl Interval {
    /// The moments at which it is live.
    fn moments(&self) -> RangeInclusive<usize> {
        self.live.0..=self.live.1
    }

    /// Whether both are live at some moment.
    fn meets(&self, other: &Interval) -> bool {
        self.live.0 <= other.live.1 && other.live.0 <= self.live.1
    }

    /// The least offset from `from` on that it may have.
    fn align(&self, from: i64) -> i64 {
        (from + self.alignment - 1) / self.alignment * self.alignment
    }
}

/// How long to search, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of the memory: a lower end than this is not searched for. Without it, the lowest.
    pub capacity: Option<i64>,
    /// Steps of the exact search, of 10 to 50 ns each.
    pub steps: u64,
}

impl Default for Limits {
    /// No capacity, and a tenth of a second at most.
    fn default() -> Limits {
        Limits { capacity: None, steps: 2_000_000 }
    }
}

/// Where each interval lies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offsets {
    /// The offset of each interval.
    pub of: Vec<i64>,
    /// The largest end.
    pub bytes: i64,
    /// The most bytes that are live at one moment.
    pub peak: i64,
    /// A largest end that is shown to be impossible to go below: `peak` or more. Where it is `bytes`, this is the optimum.
    pub bound: i64,
}

/// Why there are no offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoOffsets {
    /// An interval ends before it begins, has less than no bytes, or an alignment below one.
    Wrong {
        /// Its number.
        interval: usize,
    },
    /// 64 bits do not hold the bytes, each rounded up to its alignment, of all.
    TooLarge,
    /// More bytes are live together than the memory has.
    Peak {
        /// The first moment at which most are live.
        moment: usize,
        /// These bytes.
        bytes: i64,
        /// What the memory has.
        capacity: i64,
    },
    /// The bytes that are live together would fit, but no offsets are known.
    Fragments {
        /// The lowest end that was found.
        bytes: i64,
        /// What the memory has.
        capacity: i64,
        /// Whether it is shown that there are none.
        is_proved: bool,
    },
}

impl fmt::Display for NoOffsets {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NoOffsets::Wrong { interval } => write!(
                f,
                "interval {interval} must not end before it begins, and needs 0 bytes or more and an alignment of 1 or more"
            ),
            NoOffsets::TooLarge => f.write_str("the bytes of all intervals do not fit in 64 bits"),
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

/// The most pairs of a moment and an interval that is live at it, for all but the walk: they are listed. Only moments at
/// which an interval begins are counted.
pub const LARGEST_OVERLAP: usize = 1 << 22;

/// The most intervals for the exact search, which recurs once for each.
pub const LARGEST_SEARCH: usize = 1000;

/// Offsets for all intervals.
///
/// # Errors
/// An interval is wrong, the bytes are too many, or nothing was found that fits in the capacity.
pub fn offsets(intervals: &[Interval], limits: &Limits) -> Result<Offsets, NoOffsets> {
    check(intervals)?;
    let moments = Moments::of(intervals);
    let (peak, at) = moments.peak();
    if let Some(capacity) = limits.capacity.filter(|capacity| peak > *capacity) {
        return Err(NoOffsets::Peak { moment: moments.starts[at], bytes: peak, capacity });
    }
    let mut best = Offsets { of: best_fit::best_fit(&moments.intervals), bytes: 0, peak, bound: peak };
    best.bytes = end(intervals, &best.of);
    let enough = limits.capacity.unwrap_or(peak);
    if best.bytes > enough
        && let Some(live) = moments.live()
    {
        for order in lowest_gap::ORDERS {
            best.improve(intervals, lowest_gap::lowest_gap(&moments.intervals, &live, order));
        }
        if intervals.len() <= LARGEST_SEARCH {
            descend(&mut best, &moments.intervals, &live, limits);
        }
    }
    match limits.capacity {
        Some(capacity) if best.bytes > capacity => {
            Err(NoOffsets::Fragments { bytes: best.bytes, capacity, is_proved: best.bound > capacity })
        }
        _ => Ok(best),
    }
}

/// Asks the exact search for lower and lower ends.
fn descend(best: &mut Offsets, intervals: &[Interval], live: &[Vec<usize>], limits: &Limits) {
    let enough = limits.capacity.unwrap_or(best.peak);
    let (mut steps, mut target) = (limits.steps, enough);
    // Ends below this were tried without an answer.
    let mut tried = best.peak;
    while best.bytes > enough.max(best.bound) && steps > 0 {
        let mut given = if limits.capacity.is_some() { steps } else { steps.div_ceil(2) };
        steps -= given;
        match search::search(intervals, live, target, &mut given) {
            search::Found::Offsets(of) => best.improve(intervals, of),
            search::Found::Impossible => (best.bound, tried) = (target + 1, tried.max(target + 1)),
            search::Found::Unknown => tried = target + 1,
        }
        steps += given;
        if tried >= best.bytes {
            break;
        }
        target = tried + (best.bytes - tried) / 2;
    }
}

impl Offsets {
    /// Takes other offsets where they end lower.
    fn improve(&mut self, intervals: &[Interval], of: Vec<i64>) {
        let bytes = end(intervals, &of);
        if bytes < self.bytes {
            (self.of, self.bytes) = (of, bytes);
        }
    }
}

fn end(intervals: &[Interval], offsets: &[i64]) -> i64 {
    intervals.iter().zip(offsets).map(|(interval, offset)| offset + interval.bytes).max().unwrap_or(0)
}

/// # Errors
/// See [`offsets`]. Afterwards no sum of ends overflows, wherever the intervals are put one after another.
fn check(intervals: &[Interval]) -> Result<(), NoOffsets> {
    let mut all = 0_i64;
    for (k, interval) in intervals.iter().enumerate() {
        if interval.live.0 > interval.live.1 || interval.bytes < 0 || interval.alignment < 1 {
            return Err(NoOffsets::Wrong { interval: k });
        }
        let bytes = interval.bytes.checked_add(interval.alignment);
        all = bytes.and_then(|bytes| all.checked_add(bytes)).ok_or(NoOffsets::TooLarge)?;
    }
    Ok(())
}

/// Time with only the moments at which an interval begins: what is live together at some moment is so at one of these.
struct Moments {
    /// The moments that are left, as they were.
    starts: Vec<usize>,
    /// The intervals in numbers of these.
    intervals: Vec<Interval>,
}

impl Moments {
    fn of(intervals: &[Interval]) -> Moments {
        let mut starts: Vec<usize> = intervals.iter().map(|interval| interval.live.0).collect();
        starts.sort_unstable();
        starts.dedup();
        let number = |moment: usize| starts.partition_point(|start| *start <= moment) - 1;
        let intervals =
            intervals.iter().map(|i| Interval { live: (number(i.live.0), number(i.live.1)), ..*i }).collect();
        Moments { starts, intervals }
    }

    /// The most bytes that are live at a moment, and the first such moment.
    fn peak(&self) -> (i64, usize) {
        let mut changes = vec![0_i64; self.starts.len() + 1];
        for interval in &self.intervals {
            changes[interval.live.0] += interval.bytes;
            changes[interval.live.1 + 1] -= interval.bytes;
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

    /// The intervals that are live at each moment; None where they are more than [`LARGEST_OVERLAP`].
    fn live(&self) -> Option<Vec<Vec<usize>>> {
        let pairs: usize = self.intervals.iter().map(|i| i.live.1 - i.live.0 + 1).sum();
        (pairs <= LARGEST_OVERLAP).then_some(())?;
        let mut live = vec![Vec::new(); self.starts.len()];
        for (k, interval) in self.intervals.iter().enumerate() {
            interval.moments().for_each(|moment| live[moment].push(k));
        }
        Some(live)
    }
}

/// For each interval those that it meets, in order.
fn neighbours(intervals: &[Interval], live: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let of = |k: usize| {
        // What it meets is live at its first moment, or begins while it is live.
        let (first, last) = intervals[k].live;
        let begin = |m: usize| live[m].iter().filter(move |o| m == first || intervals[**o].live.0 == m);
        let mut met: Vec<usize> = (first..=last).flat_map(begin).copied().filter(|other| *other != k).collect();
        met.sort_unstable();
        met
    };
    (0..intervals.len()).map(of).collect()
}
