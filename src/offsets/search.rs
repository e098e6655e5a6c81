//! The exact search: offsets below a capacity, or that there are none.
//!
//! Where a solution exists, one does in which nothing can be moved down: each range lies at 0 or at the end, rounded
//! up, of one that it meets. The search builds these from below. Its state is a *floor* at each moment, below which
//! nothing more is placed ([`Niches`]). A step chooses a moment, and a branch says which range is the lowest one above
//! its floor:
//!
//! ```text
//! bytes                   The floor has a niche of moments 1 and 2. What is live at moment 1 alone, or at 1 and 2, may
//!  |  ##       ####       lie at its bottom. What is live at moment 0 too cannot: its least offset is the floor there.
//!  |  ##  ..   ####       If nothing lies at the bottom at moment 1, the floor there rises to the least place where
//!  |  ## ##### ####       something can: the least offset of the others, or the end of one that would support it.
//!     0   1  2   3  moment
//! ```
//!
//! 1. Only moments at the two ends of niches are chosen, where few ranges fit: those that begin or end there. Of these
//!    the one with the fewest, divided by how often the capacity was exceeded there.
//! 2. A branch ends where the floor and the bytes of all that is unplaced exceed the capacity at a moment.
//! 3. Unplaced ranges that share no moment with the others are a part that is solved by itself: if it has no solution,
//!    another choice in another part does not help.
//! 4. Parts without solution are kept, as 128 bits of hash of their floors and unplaced ranges, and not tried again.
//! 5. The search begins again with another order of the branches when its steps are used up, and more of them; what is
//!    kept by 4 stays.

use super::niches::Niches;
use super::{LiveRange, PlacingOrder, neighbours};
use std::collections::HashSet;

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

/// Which is tried first where several can lie at the bottom of a niche.
const ORDERS: [PlacingOrder; 4] = [PlacingOrder::Area, PlacingOrder::Length, PlacingOrder::Bytes, PlacingOrder::Crowd];

/// The steps of a search in one order before another is tried. In each round the orders as they are get twice as many,
/// and changed ones as many again. Of 168 rectangles cut into 100 to 450, with up to half of the cuts pinwheels and up to
/// 5 % taken out, 115 are found in 20 million steps; with ten times as many before another order, 114.
const STEPS: u64 = 20_000;

/// The most parts without solution that are kept, in 40 MB. Beyond, all are forgotten.
const MOST_FAILED: usize = 1 << 20;

/// Searches for offsets of which no end exceeds `capacity`, with so many steps (each a range at a moment that is looked
/// at), which are counted down.
pub fn search(ranges: &[LiveRange], live: &[Vec<usize>], capacity: i64, steps: &mut u64) -> Attempt {
    let meets = neighbours(ranges, live);
    let (mut failed, mut exceeded) = (HashSet::new(), vec![0; live.len()]);
    for round in 0.. {
        for order in ORDERS {
            for (seed, given) in [(0, STEPS << round.min(40)), (round + 1, STEPS)] {
                let mut niches = Niches::new(ranges, live, &meets, capacity, exceeded);
                let rank = niches.ranked(order, seed);
                let given = given.min(*steps);
                *steps -= given;
                niches.steps = given;
                let mut tree = ChoiceTree { niches, rank, failed };
                let solved = tree.whole();
                let ChoiceTree { niches, failed: kept, .. } = tree;
                *steps += niches.steps;
                (failed, exceeded) = (kept, niches.exceeded);
                match solved {
                    Some(true) => return Attempt::Offsets(niches.offsets),
                    Some(false) => return Attempt::Impossible,
                    None if *steps == 0 => return Attempt::Unknown,
                    None => {}
                }
            }
        }
    }
    Attempt::Unknown
}

/// The tree of choices.
struct ChoiceTree<'a> {
    niches: Niches<'a>,
    /// For each range its number in the order.
    rank: Vec<usize>,
    /// The keys of parts without solution.
    failed: HashSet<u128>,
}

impl ChoiceTree<'_> {
    fn whole(&mut self) -> Option<bool> {
        if !self.niches.settle_all() {
            return Some(false);
        }
        self.solve(0, self.niches.live.len() - 1)
    }

    /// Places what is unplaced from one moment to another, which nothing unplaced crosses; None where the steps end.
    /// What is placed is taken back if it fails.
    fn solve(&mut self, first: usize, last: usize) -> Option<bool> {
        let mark = self.niches.mark();
        for (first, last) in self.niches.parts(first, last) {
            if !self.solve_part(first, last)? {
                self.niches.take_back(mark);
                return Some(false);
            }
        }
        Some(true)
    }

    fn solve_part(&mut self, first: usize, last: usize) -> Option<bool> {
        let key = self.niches.key(first, last);
        if self.failed.contains(&key) {
            return Some(false);
        }
        let mark = self.niches.mark();
        loop {
            if self.niches.steps == 0 {
                return None;
            }
            let niche = self.niches.choose(first, last);
            let mut next: Vec<usize> = self.niches.at_floor(niche.moment).collect();
            next.sort_unstable_by_key(|k| (std::cmp::Reverse(self.niches.joints(*k, &niche)), self.rank[*k]));
            for (at, &k) in next.iter().enumerate() {
                // One of the same moments and bytes leads to the same.
                if next[..at].iter().any(|other| self.niches.ranges[*other] == self.niches.ranges[k]) {
                    continue;
                }
                let before = self.niches.mark();
                if self.niches.put(k) && self.niches.settle() && self.solve(first, last)? {
                    return Some(true);
                }
                self.niches.take_back(before);
            }
            let above = self.niches.above(niche.moment);
            if !above.is_some_and(|above| self.niches.raise(niche.moment, above) && self.niches.settle()) {
                break;
            }
        }
        self.niches.take_back(mark);
        if self.failed.len() >= MOST_FAILED {
            self.failed.clear();
        }
        self.failed.insert(key);
        Some(false)
    }
}
