//! The exact search: offsets below a capacity, or that there are none.
//!
//! Where a solution exists, one does in which nothing can be moved down. It is found by placing ranges in the order of
//! their offsets, each at the least place above all that it meets and that are placed. So the state is a *floor*, the end
//! of what is placed, at each moment, and a step chooses the range that comes next. A branch ends where
//!
//! 1. at some moment the floor, or the least offset of what is unplaced there, and the bytes of all that is unplaced there
//!    exceed the capacity;
//! 2. another unplaced range would end below the offset that is chosen: it could be moved down into the hole.
//!
//! Unplaced ranges that share no moment with the others are solved by themselves: if one such part has no solution,
//! another choice in another part does not help.

use super::{LiveRange, PlacingOrder, crowd, neighbours};

/// What a search found.
#[derive(Debug)]
pub enum Attempt {
    /// The offset of each range.
    Offsets(Vec<i64>),
    /// There are none below the capacity.
    Impossible,
    /// The steps did not suffice.
    Unknown,
}

/// Which is tried first where several can begin at the same offset.
const ORDERS: [PlacingOrder; 4] = [PlacingOrder::Crowd, PlacingOrder::Area, PlacingOrder::Length, PlacingOrder::Bytes];

/// The steps of a search in one order before another is tried: of rectangles cut into 50 to 450, those that are found at
/// all are mostly found in fewer. In each round the orders as they are get twice as many, and changed ones as many again.
const STEPS: u64 = 20_000;

/// Searches for offsets of which no end exceeds `capacity`, with so many steps (each an unplaced range at a choice),
/// which are counted down.
pub fn search(ranges: &[LiveRange], live: &[Vec<usize>], capacity: i64, steps: &mut u64) -> Attempt {
    let meets = neighbours(ranges, live);
    let all: Vec<usize> = (0..ranges.len()).filter(|k| ranges[*k].bytes > 0).collect();
    for round in 0.. {
        for order in ORDERS {
            for (seed, given) in [(0, STEPS << round.min(40)), (round + 1, STEPS)] {
                let mut given = given.min(*steps);
                *steps -= given;
                let mut state = Floors::new(ranges, live, &meets, capacity, &mut given);
                state.rank(order, seed);
                let solved = state.solve(&all, 0);
                let offsets = state.offsets;
                *steps += given;
                match solved {
                    Some(true) => return Attempt::Offsets(offsets),
                    Some(false) => return Attempt::Impossible,
                    None if *steps == 0 => return Attempt::Unknown,
                    None => {}
                }
            }
        }
    }
    Attempt::Unknown
}

/// What a step changed, to be taken back.
enum Undo {
    Floor(usize, i64),
    Least(usize, i64),
    Placed(usize),
}

struct Floors<'a> {
    ranges: &'a [LiveRange],
    capacity: i64,
    steps: &'a mut u64,
    /// For each moment those that are live, and for each range those that it meets.
    live: &'a [Vec<usize>],
    meets: &'a [Vec<usize>],
    /// For each range its number in the order.
    rank: Vec<usize>,
    is_placed: Vec<bool>,
    offsets: Vec<i64>,
    /// For each range the least offset above what is placed.
    least: Vec<i64>,
    /// For each moment the end of what is placed, and the bytes of what is not.
    floor: Vec<i64>,
    rest: Vec<i64>,
    trail: Vec<Undo>,
    /// The choice at which a moment was looked at last.
    seen: Vec<u64>,
    choice: u64,
}

impl<'a> Floors<'a> {
    fn new(
        ranges: &'a [LiveRange],
        live: &'a [Vec<usize>],
        meets: &'a [Vec<usize>],
        capacity: i64,
        steps: &'a mut u64,
    ) -> Floors<'a> {
        Floors {
            ranges,
            capacity,
            steps,
            live,
            meets,
            rank: (0..ranges.len()).collect(),
            // What has no bytes is anywhere.
            is_placed: ranges.iter().map(|range| range.bytes == 0).collect(),
            offsets: vec![0; ranges.len()],
            least: vec![0; ranges.len()],
            floor: vec![0; live.len()],
            rest: crowd(ranges, live),
            trail: Vec::new(),
            seen: vec![0; live.len()],
            choice: 0,
        }
    }

    /// Puts the ranges in an order; with a seed above 0 each is exchanged with one of the next few.
    fn rank(&mut self, order: PlacingOrder, seed: u64) {
        let mut ranked = order.of(self.ranges, &self.rest);
        let mut random = seed;
        for at in 0..if seed > 0 { ranked.len() } else { 0 } {
            // A linear congruence of 64 bits, of which the upper ones are used.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let other = at + (random >> 33) as usize % 8;
            ranked.swap(at, other.min(self.ranges.len() - 1));
        }
        ranked.into_iter().enumerate().for_each(|(at, k)| self.rank[k] = at);
    }

    /// Places these, none below `from`; None where the steps end. What is placed is taken back if it fails.
    fn solve(&mut self, unplaced: &[usize], from: i64) -> Option<bool> {
        let mark = self.trail.len();
        for part in parts(self.ranges, unplaced) {
            if !self.solve_part(&part, from)? {
                self.take_back(mark);
                return Some(false);
            }
        }
        Some(true)
    }

    fn solve_part(&mut self, part: &[usize], from: i64) -> Option<bool> {
        let place = |state: &Self, k: usize| state.ranges[k].align(state.least[k].max(from));
        let end = part.iter().map(|k| place(self, *k) + self.ranges[*k].bytes).min()?;
        let mut next: Vec<(i64, usize, usize)> =
            part.iter().map(|k| (place(self, *k), self.rank[*k], *k)).filter(|(place, ..)| *place < end).collect();
        next.sort_unstable();
        let mut tried: Vec<(i64, LiveRange)> = Vec::new();
        for (offset, _, k) in next {
            let left = self.steps.checked_sub(part.len() as u64);
            *self.steps = left.unwrap_or(0);
            left?;
            // One of the same moments and bytes leads to the same.
            if tried.contains(&(offset, self.ranges[k])) {
                continue;
            }
            tried.push((offset, self.ranges[k]));
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
        let range = self.ranges[k];
        let end = offset + range.bytes;
        (self.is_placed[k], self.offsets[k]) = (true, offset);
        self.trail.push(Undo::Placed(k));
        for moment in range.moments() {
            self.trail.push(Undo::Floor(moment, self.floor[moment]));
            self.floor[moment] = end;
            self.rest[moment] -= range.bytes;
        }
        for &other in &self.meets[k] {
            if !self.is_placed[other] && self.least[other] < end {
                self.trail.push(Undo::Least(other, self.least[other]));
                self.least[other] = end;
            }
        }
    }

    fn take_back(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop().expect("longer than the mark") {
                Undo::Floor(moment, floor) => self.floor[moment] = floor,
                Undo::Least(k, least) => self.least[k] = least,
                Undo::Placed(k) => {
                    self.is_placed[k] = false;
                    let range = self.ranges[k];
                    range.moments().for_each(|moment| self.rest[moment] += range.bytes);
                }
            }
        }
    }

    /// Whether what is unplaced fits above the floor, after `k` was placed, where none of it lies below `from`.
    fn fits(&mut self, k: usize, rest: &[usize], from: i64) -> bool {
        self.choice += 1;
        for other in rest {
            let range = &self.ranges[*other];
            let is_changed = range.meets(&self.ranges[k]);
            for moment in range.moments() {
                if self.floor[moment].max(from) + self.rest[moment] > self.capacity {
                    return false;
                }
                if !is_changed || self.seen[moment] == self.choice {
                    continue;
                }
                self.seen[moment] = self.choice;
                let unplaced = self.live[moment].iter().filter(|k| !self.is_placed[**k]);
                let least = unplaced.map(|k| self.ranges[*k].align(self.least[*k].max(from))).min();
                if least.is_some_and(|least| least + self.rest[moment] > self.capacity) {
                    return false;
                }
            }
        }
        true
    }
}

/// The ranges in parts of which no two share a moment.
fn parts(ranges: &[LiveRange], all: &[usize]) -> Vec<Vec<usize>> {
    let mut sorted = all.to_vec();
    sorted.sort_unstable_by_key(|k| ranges[*k].live);
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut last = 0;
    for k in sorted {
        let (first, end) = ranges[k].live;
        match parts.last_mut() {
            Some(part) if first <= last => part.push(k),
            _ => parts.push(vec![k]),
        }
        last = last.max(end);
    }
    parts
}
