//! Where an array may lie while it lives: in the fastest memory, in memory space 0, or first in one and then in the other.
//!
//! `a` of 4,096 bytes is made at moment 3 and read at 4, 5 and 40. Where room is short between, it may be copied to memory
//! space 0 beside the kernels from moment 4 on, and be in the fastest memory until 5 only; what reads it at 40 pays for
//! reading it there, or it is brought back before. What is tried, in each layout:
//!
//! | where it lies | what that costs |
//! |---|---|
//! | near, all its life | nothing |
//! | far, all its life | writing it, and each read |
//! | near up to one of its reads, and far from then on | the copy, as far as it is not hidden, and each later read |
//! | far, and near between two of its reads, or from one on | the same for the copy, and each other read |
//! | near, then far, then near | both |
//! | some slices of it near and the others far, all its life | so much of writing and reading as is far |
//!
//! Where it changes is where it is not read for longest: at no more than three places, so that what is tried for one array is
//! bounded, and for all is linear in the program. A copy is in both memories while it runs.

use super::transfers::{Flight, KernelClock};
use std::cmp::Reverse;
use std::iter::once;
use std::ops::Range;
use tensor_layout::numbers::ceil_div_wide;

/// After how many of its reads an array may change its memory. Plans of eight programs of `benches/memory.md` within a half of
/// what they take cost the same with 1, 2, 3 and 5, as far as searches of six seconds end.
const MOST_CUTS: usize = 3;

/// How much longer than needed copies may take, so that others have the rest of the bandwidth. With 1 alone those plans cost the
/// same; two arrays that leave beside one kernel need more.
const SPREADS: [i64; 3] = [1, 2, 4];

/// Into how many parts an array is cut where some of its slices are near. Of those plans, without parts seven cost more, up to
/// 14 %; with 2, two, up to 0.7 %; with 8, one costs 3 % less, and searches take longer.
const PARTS: i64 = 4;

/// When an array is made and read.
#[derive(Clone, Debug)]
pub struct Lifetime {
    /// When it is in memory.
    pub moments: Vec<Range<i64>>,
    /// When it is made; `None` for an argument, which is in memory space 0 before.
    pub made: Option<usize>,
    /// The moments at which it is read, in order.
    pub reads: Vec<usize>,
    /// The loop in which all of this is.
    pub inside: Option<usize>,
    /// Whether it may change its memory: not where a loop carries it.
    pub may_move: bool,
}

/// The costs of the memories of an array in a layout, in all rounds of its loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryCosts {
    /// The bytes of the array.
    pub bytes: i64,
    /// The slices along its major dimension.
    pub slices: i64,
    /// The extra cost of writing it far.
    pub write: i64,
    /// The extra cost of each of its reads where it is far.
    pub reads: Vec<i64>,
    /// Whether some of its reads save something where it is near that is counted elsewhere.
    pub saves: bool,
    /// The cost of a copy, beside the part that is not hidden.
    pub copy: i64,
    /// The latency and the moving time of a copy: to memory space 0, and back.
    pub takes: [[i64; 2]; 2],
}

impl MemoryCosts {
    /// The costs of an array that costs the same in all memories.
    pub fn of_bytes(bytes: i64) -> MemoryCosts {
        let reads = Vec::new();
        MemoryCosts { bytes, slices: 1, write: 0, reads, saves: false, copy: 0, takes: [[0; 2]; 2] }
    }
}

/// A copy of an array from the fastest memory to memory space 0, or back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Whether it is a copy to memory space 0.
    pub out: bool,
    /// When it runs.
    pub flight: Flight,
    /// From which moment on the array is read where it was copied to.
    pub done: i64,
}

/// Where an array lies over its life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Residency {
    /// The moments at which it is in the fastest memory, or some of its slices are.
    pub near: Vec<Range<i64>>,
    /// The same of memory space 0.
    pub far: Vec<Range<i64>>,
    /// The bytes that it takes in each.
    pub bytes: [i64; 2],
    /// The copies between, in order.
    pub moves: Vec<Move>,
    /// The moment before which it is made again, after some at which it is in no memory.
    pub again: Option<i64>,
    /// The cost.
    pub cost: i64,
}

impl Residency {
    /// Whether a kernel that runs at a moment reads the array, or some of its slices, in the fastest memory.
    pub fn is_read_near(&self, moment: i64) -> bool {
        let coming = |own: &Move| !own.out && own.flight.moments.contains(&moment);
        self.near.iter().any(|own| own.contains(&moment)) && !self.moves.iter().any(coming)
    }

    /// The number of the copy whose result a kernel that runs at a moment reads; none where it reads what was made. What was
    /// brought near is read there as long as it is near.
    pub fn read_after(&self, moment: i64) -> Option<usize> {
        let end = |done: i64| self.near.iter().find(|own| own.contains(&done)).map_or(i64::MAX, |own| own.end);
        self.moves.iter().rposition(|own| own.done <= moment && (own.out || moment < end(own.done)))
    }
}

/// A stretch of points, moments at which an array is made or read, at which it is near.
type Stretch = Range<usize>;

/// All that is tried for an array.
pub struct Residencies<'c> {
    /// How long kernels take.
    pub clock: &'c KernelClock,
    /// When the array is made and read.
    pub life: &'c Lifetime,
    /// The costs of its memories.
    pub costs: &'c MemoryCosts,
}

impl Residencies<'_> {
    /// Near or far all the time; an argument is far.
    pub fn of_life(&self) -> Vec<Residency> {
        let (life, bytes) = (&self.life.moments, self.costs.bytes);
        let far = Residency { far: life.clone(), bytes: [0, bytes], ..Residency::default() };
        let write = if self.life.made.is_some() { self.costs.write } else { 0 };
        let cost = self.costs.reads.iter().fold(write, |sum, cost| sum.saturating_add(*cost));
        if self.life.made.is_none() {
            return vec![Residency { cost, ..far }];
        }
        vec![Residency { near: life.clone(), bytes: [bytes, 0], ..Residency::default() }, Residency { cost, ..far }]
    }

    /// All, with `parts` also some slices near and the others far.
    pub fn over_time(&self, parts: bool) -> Vec<Residency> {
        let mut all = self.of_life();
        let far = all.last().map_or(0, |far| far.cost);
        let moves = self.life.may_move && !self.life.reads.is_empty();
        let more = match (self.life.made, moves) {
            (Some(made), true) => self.moved(made),
            (Some(_), false) => Vec::new(),
            (None, true) => self.brought(0, 0, &self.cuts()),
            (None, false) => Vec::new(),
        };
        let sliced = if parts && self.life.made.is_some() { self.in_parts(far) } else { Vec::new() };
        // What costs as much as being far takes more room.
        all.extend(sliced.into_iter().chain(more).filter(|own| self.costs.saves || own.cost < far));
        all
    }

    /// Some slices near, the others far.
    fn in_parts(&self, far: i64) -> Vec<Residency> {
        let MemoryCosts { bytes, slices, .. } = *self.costs;
        let up = |n: i64, part: i64| ceil_div_wide(i128::from(n) * i128::from(part), i128::from(slices));
        let whole = |n: i128| i64::try_from(n).unwrap_or(i64::MAX);
        let mut near: Vec<i64> =
            (1..PARTS).map(|part| whole(i128::from(slices) * i128::from(part) / i128::from(PARTS))).collect();
        near.dedup();
        let part = |near: &i64| Residency {
            near: self.life.moments.clone(),
            far: self.life.moments.clone(),
            bytes: [whole(up(bytes, *near)), whole(up(bytes, slices - *near))],
            moves: Vec::new(),
            again: None,
            cost: whole(up(far, slices - *near)),
        };
        near.iter().filter(|near| **near > 0 && **near < slices).map(part).collect()
    }

    /// The points after which the array may change its memory: those with the longest time to the next, in order.
    pub(super) fn cuts(&self) -> Vec<usize> {
        let points = self.points();
        let gap = |k: usize| self.clock.time(points[k] + 1..points[k + 1]);
        let mut cuts: Vec<usize> = (0..points.len().saturating_sub(1)).collect();
        cuts.sort_by_key(|k| Reverse(gap(*k)));
        cuts.truncate(MOST_CUTS);
        cuts.sort_unstable();
        cuts
    }

    /// The moments at which the array is made and read.
    pub(super) fn points(&self) -> Vec<usize> {
        self.life.made.iter().chain(&self.life.reads).copied().collect()
    }

    /// The extra cost of the reads at some points where the array is far.
    fn reading(&self, points: Stretch) -> i64 {
        let first = usize::from(self.life.made.is_some());
        let reads = points.start.saturating_sub(first)..points.end.saturating_sub(first);
        self.costs.reads[reads].iter().fold(0, |sum, cost| sum.saturating_add(*cost))
    }

    /// An array that is made far, or near and copied out, and perhaps brought back.
    fn moved(&self, made: usize) -> Vec<Residency> {
        let (points, cuts) = (self.points(), self.cuts());
        let mut all = self.brought(made + 1, 1, &cuts);
        all.iter_mut().for_each(|own| own.cost = own.cost.saturating_add(self.costs.write));
        for cut in &cuts {
            for flight in self.copies_out(made, points[*cut], points[*cut + 1]) {
                let done = flight.moments.end;
                let near = made as i64..done.max(points[*cut] as i64 + 1);
                let cost = self.costs.copy.saturating_add(flight.exposed);
                let out = Move { out: true, flight, done };
                let last = self.life.moments.iter().map(|own| own.end).max().unwrap_or(near.end);
                let mut found = vec![Residency {
                    far: once(made as i64 + 1..last).collect(),
                    cost: self.reading(*cut + 1..points.len()),
                    ..Residency::default()
                }];
                let later: Vec<usize> = cuts.iter().copied().filter(|later| later > cut).collect();
                found.extend(self.brought(near.end as usize, *cut + 1, &later));
                for mut own in found {
                    own.near.insert(0, near.clone());
                    own.far[0].start = made as i64 + 1;
                    own.moves.insert(0, out.clone());
                    own.bytes = [self.costs.bytes; 2];
                    own.cost = own.cost.saturating_add(cost);
                    all.push(own);
                }
            }
        }
        all
    }

    /// The copies out of an array that is near up to a moment and read far from another on.
    fn copies_out(&self, made: usize, until: usize, next: usize) -> Vec<Flight> {
        let takes = self.costs.takes[0];
        let of = |end: usize| {
            let time = self.clock.time(made + 1..end);
            Flight::new(made as i64 + 1..end as i64, time, takes)
        };
        let mut ends = vec![until + 1];
        for spread in SPREADS {
            let need = takes[0].saturating_add(takes[1]).saturating_mul(spread);
            let end = self.clock.ahead(made + 1, self.life.inside, need).map(|end| end.max(until + 1));
            ends.extend(end.filter(|end| *end <= next));
        }
        ends.sort_unstable();
        ends.dedup();
        ends.into_iter().map(of).collect()
    }

    /// An array that is in memory space 0 from a moment on, read from point `begin` on, and near for some of its points: from
    /// the first one or from after a cut, up to another cut or the last.
    fn brought(&self, from: usize, begin: usize, cuts: &[usize]) -> Vec<Residency> {
        let points = self.points();
        if self.costs.reads.iter().all(|cost| *cost == 0) && !self.costs.saves {
            return Vec::new();
        }
        let starts = [begin].into_iter().chain(cuts.iter().map(|cut| cut + 1).filter(|start| *start > begin));
        let mut all = Vec::new();
        for start in starts.filter(|start| *start < points.len()) {
            let ends = cuts.iter().map(|cut| cut + 1).chain([points.len()]).filter(|end| *end > start);
            for end in ends {
                for flight in self.copies_back(from, points[start]) {
                    let reads = [begin..start, end..points.len()].map(|far| self.reading(far));
                    let reads = reads[0].saturating_add(reads[1]);
                    let far = match self.life.made {
                        // Its last reads are near.
                        Some(made) if end == points.len() => once(made as i64..points[start] as i64).collect(),
                        _ => self.life.moments.clone(),
                    };
                    let near = flight.moments.start..points[end - 1] as i64 + 1;
                    let cost = self.costs.copy.saturating_add(flight.exposed).saturating_add(reads);
                    let back = Move { out: false, flight, done: points[start] as i64 };
                    let (near, moves, bytes) = (vec![near], vec![back], [self.costs.bytes; 2]);
                    all.push(Residency { near, far, bytes, moves, cost, again: None });
                }
            }
        }
        all
    }

    /// The copies of an array, in memory space 0 from a moment on, back to the fastest memory for another.
    fn copies_back(&self, from: usize, until: usize) -> Vec<Flight> {
        let takes = self.costs.takes[1];
        let need = takes[0].saturating_add(takes[1]);
        let of = |first: usize| {
            let time = self.clock.time(first..until);
            Flight::new(first as i64..until as i64, time, takes)
        };
        let first = |spread: &i64| self.clock.behind(until, self.life.inside, need.saturating_mul(*spread));
        let mut firsts: Vec<usize> = SPREADS.iter().filter_map(first).filter(|first| *first >= from).collect();
        if firsts.is_empty() && from <= until {
            firsts.push(from);
        }
        firsts.dedup();
        firsts.into_iter().map(of).collect()
    }
}
