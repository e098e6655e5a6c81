//! The exact search: offsets below a capacity, or that there are none.
//!
//! Where a solution exists, one does in which nothing can be moved down. It is found by placing intervals in the order of
//! their offsets, each at the least place above all that it meets and that are placed. So the state is a *floor*, the end
//! of what is placed, at each moment, and a step chooses the interval that comes next. A branch ends where
//!
//! 1. at some moment the floor, or the least offset of what is unplaced there, and the bytes of all that is unplaced there
//!    exceed the capacity;
//! 2. another unplaced interval would end below the offset that is chosen: it could be moved down into the hole.
//!
//! Unplaced intervals that share no moment with the others are solved by themselves: if one such part has no solution,
//! another choice in another part does not help.

use super::{Interval, neighbours};
use std::cmp::Reverse;

/// What a search found.
#[derive(Debug)]
pub enum Found {
    /// The offset of each interval.
    Offsets(Vec<i64>),
    /// There are none below the capacity.
    Impossible,
    /// The steps did not suffice.
    Unknown,
}

/// Which interval is tried first where several can begin at the same offset: that of the most...
#[derive(Clone, Copy, Debug)]
enum Order {
    /// ...bytes of all at one of its moments.
    Crowd,
    /// ...moments times bytes.
    Area,
    /// ...moments.
    Length,
    /// ...bytes.
    Bytes,
}

const ORDERS: [Order; 4] = [Order::Crowd, Order::Area, Order::Length, Order::Bytes];

/// The steps of a search in one order before another is tried: of rectangles cut into 50 to 450, those that are found at
/// all are mostly found in fewer. In each round the orders as they are get twice as many, and changed ones as many again.
const STEPS: u64 = 20_000;

/// Searches for offsets of which no end exceeds `capacity`, with so many steps (each an unplaced interval at a choice),
/// which are counted down.
pub fn search(intervals: &[Interval], live: &[Vec<usize>], capacity: i64, steps: &mut u64) -> Found {
    let meets = neighbours(intervals, live);
    let all: Vec<usize> = (0..intervals.len()).filter(|k| intervals[*k].bytes > 0).collect();
    for round in 0.. {
        for order in ORDERS {
            for (seed, given) in [(0, STEPS << round.min(40)), (round + 1, STEPS)] {
                let mut given = given.min(*steps);
                *steps -= given;
                let mut state = State::new(intervals, live, &meets, capacity, &mut given);
                state.rank(order, seed);
                let solved = state.solve(&all, 0);
                let offsets = state.offsets;
                *steps += given;
                match solved {
                    Some(true) => return Found::Offsets(offsets),
                    Some(false) => return Found::Impossible,
                    None if *steps == 0 => return Found::Unknown,
                    None => {}
                }
            }
        }
    }
    Found::Unknown
}

/// What a step changed, to be taken back.
enum Change {
    Floor(usize, i64),
    Least(usize, i64),
    Placed(usize),
}

struct State<'a> {
    intervals: &'a [Interval],
    capacity: i64,
    steps: &'a mut u64,
    /// For each moment those that are live, and for each interval those that it meets.
    live: &'a [Vec<usize>],
    meets: &'a [Vec<usize>],
    /// For each interval its number in the order.
    rank: Vec<usize>,
    is_placed: Vec<bool>,
    offsets: Vec<i64>,
    /// For each interval the least offset above what is placed.
    least: Vec<i64>,
    /// For each moment the end of what is placed, and the bytes of what is not.
    floor: Vec<i64>,
    rest: Vec<i64>,
    trail: Vec<Change>,
    /// The choice at which a moment was looked at last.
    seen: Vec<u64>,
    choice: u64,
}

impl<'a> State<'a> {
    fn new(
        intervals: &'a [Interval],
        live: &'a [Vec<usize>],
        meets: &'a [Vec<usize>],
        capacity: i64,
        steps: &'a mut u64,
    ) -> State<'a> {
        State {
            intervals,
            capacity,
            steps,
            live,
            meets,
            rank: (0..intervals.len()).collect(),
            // What has no bytes is anywhere.
            is_placed: intervals.iter().map(|interval| interval.bytes == 0).collect(),
            offsets: vec![0; intervals.len()],
            least: vec![0; intervals.len()],
            floor: vec![0; live.len()],
            rest: live.iter().map(|live| live.iter().map(|k| intervals[*k].bytes).sum()).collect(),
            trail: Vec::new(),
            seen: vec![0; live.len()],
            choice: 0,
        }
    }

    /// Puts the intervals in an order; with a seed above 0 each is exchanged with one of the next few.
    fn rank(&mut self, order: Order, seed: u64) {
        let key = |k: &usize| {
            let interval = &self.intervals[*k];
            let length = interval.moments().count() as i64;
            let crowd = interval.moments().map(|moment| self.rest[moment]).max().unwrap_or(0);
            Reverse(match order {
                Order::Crowd => (crowd, length, interval.bytes),
                Order::Area => (length.saturating_mul(interval.bytes), crowd, length),
                Order::Length => (length, interval.bytes, crowd),
                Order::Bytes => (interval.bytes, length, crowd),
            })
        };
        let mut ranked: Vec<usize> = (0..self.intervals.len()).collect();
        ranked.sort_by_cached_key(key);
        let mut random = seed;
        for at in 0..if seed > 0 { ranked.len() } else { 0 } {
            // A linear congruence of 64 bits, of which the upper ones are used.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let other = at + (random >> 33) as usize % 8;
            ranked.swap(at, other.min(self.intervals.len() - 1));
        }
        ranked.into_iter().enumerate().for_each(|(at, k)| self.rank[k] = at);
    }

    /// Places these, none below `from`; None where the steps end. What is placed is taken back if it fails.
    fn solve(&mut self, unplaced: &[usize], from: i64) -> Option<bool> {
        let mark = self.trail.len();
        for part in parts(self.intervals, unplaced) {
            if !self.solve_part(&part, from)? {
                self.take_back(mark);
                return Some(false);
            }
        }
        Some(true)
    }

    fn solve_part(&mut self, part: &[usize], from: i64) -> Option<bool> {
        let place = |state: &Self, k: usize| state.intervals[k].align(state.least[k].max(from));
        let end = part.iter().map(|k| place(self, *k) + self.intervals[*k].bytes).min()?;
        let mut next: Vec<(i64, usize, usize)> =
            part.iter().map(|k| (place(self, *k), self.rank[*k], *k)).filter(|(place, ..)| *place < end).collect();
        next.sort_unstable();
        let mut tried: Vec<(i64, Interval)> = Vec::new();
        for (offset, _, k) in next {
            let left = self.steps.checked_sub(part.len() as u64);
            *self.steps = left.unwrap_or(0);
            left?;
            // One of the same moments and bytes leads to the same.
            if tried.contains(&(offset, self.intervals[k])) {
                continue;
            }
            tried.push((offset, self.intervals[k]));
            let mark = self.trail.len();
            self.put(k, offset);
            let rest: Vec<usize> = part.iter().copied().filter(|other| *other != k).collect();
            if self.fits(k, &rest, offset) && self.solve(&rest, offset)? {
                return Some(true);
            }
            self.take_back(mark);
        }
        Some(false)
    }

    fn put(&mut self, k: usize, offset: i64) {
        let interval = self.intervals[k];
        let end = offset + interval.bytes;
        (self.is_placed[k], self.offsets[k]) = (true, offset);
        self.trail.push(Change::Placed(k));
        for moment in interval.moments() {
            self.trail.push(Change::Floor(moment, self.floor[moment]));
            self.floor[moment] = end;
            self.rest[moment] -= interval.bytes;
        }
        for &other in &self.meets[k] {
            if !self.is_placed[other] && self.least[other] < end {
                self.trail.push(Change::Least(other, self.least[other]));
                self.least[other] = end;
            }
        }
    }

    fn take_back(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop().expect("longer than the mark") {
                Change::Floor(moment, floor) => self.floor[moment] = floor,
                Change::Least(k, least) => self.least[k] = least,
                Change::Placed(k) => {
                    self.is_placed[k] = false;
                    let interval = self.intervals[k];
                    interval.moments().for_each(|moment| self.rest[moment] += interval.bytes);
                }
            }
        }
    }

    /// Whether what is unplaced fits above the floor, after `k` was placed, where none of it lies below `from`.
    fn fits(&mut self, k: usize, rest: &[usize], from: i64) -> bool {
        self.choice += 1;
        for other in rest {
            let interval = &self.intervals[*other];
            let is_changed = interval.meets(&self.intervals[k]);
            for moment in interval.moments() {
                if self.floor[moment].max(from) + self.rest[moment] > self.capacity {
                    return false;
                }
                if !is_changed || self.seen[moment] == self.choice {
                    continue;
                }
                self.seen[moment] = self.choice;
                let unplaced = self.live[moment].iter().filter(|k| !self.is_placed[**k]);
                let least = unplaced.map(|k| self.intervals[*k].align(self.least[*k].max(from))).min();
                if least.is_some_and(|least| least + self.rest[moment] > self.capacity) {
                    return false;
                }
            }
        }
        true
    }
}

/// The intervals in parts of which no two share a moment.
fn parts(intervals: &[Interval], all: &[usize]) -> Vec<Vec<usize>> {
    let mut sorted = all.to_vec();
    sorted.sort_unstable_by_key(|k| intervals[*k].live);
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut last = 0;
    for k in sorted {
        let (first, end) = intervals[k].live;
        match parts.last_mut() {
            Some(part) if first <= last => part.push(k),
            _ => parts.push(vec![k]),
        }
        last = last.max(end);
    }
    parts
}
