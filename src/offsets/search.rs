//! The exact search: offsets within a capacity, or a proof that there are none.
//!
//! If a solution exists, so does one in which nothing can be moved down: each range is at 0 or at the end, rounded up,
//! of a range that overlaps it in time. The search builds these from below. Its state is a *floor* at each moment,
//! below which nothing more is placed ([`Niches`]). A step chooses a moment, and each branch chooses the lowest range
//! above its floor:
//!
//! ```text
//! bytes                   The floor has a niche of moments 1 and 2. What is live at moment 1 alone, or at 1 and 2, may
//!  |  ##       ####       lie at its bottom. What is live at moment 0 too cannot: its least offset is the floor there.
//!  |  ##  ..   ####       If nothing lies at the bottom at moment 1, the floor there rises to the least place where
//!  |  ## ##### ####       something can: the least offset of the others, or the end of one that would support it.
//!     0   1  2   3  moment
//! ```
//!
//! 1. Only the two ends of niches are chosen, where few ranges fit: those that begin or end there. The best one has the
//!    fewest ranges, divided by the number of times its capacity was exceeded.
//! 2. A branch ends if the floor plus the bytes of all unplaced ranges exceeds the capacity at a moment.
//! 3. Unplaced ranges that share no moment with the others are a part, solved by itself: if it has no solution, choices
//!    in other parts do not help.
//! 4. Parts without solution are stored, as a 128-bit hash of their floors and unplaced ranges, and not tried again.
//! 5. When its steps are used up, the search restarts with another order of the branches and more steps; the parts
//!    stored by 4 stay.

use super::niches::Niches;
use super::{LiveRange, PlacingOrder, neighbours};
use std::collections::HashSet;

/// The result of a search.
#[derive(Debug)]
pub enum Attempt {
    /// The offset of each range.
    Offsets(Vec<i64>),
    /// No offsets exist within the capacity.
    Impossible,
    /// The steps did not suffice.
    Unknown,
}

/// The orders in which ranges at the bottom of a niche are tried.
const ORDERS: [PlacingOrder; 4] = [PlacingOrder::Area, PlacingOrder::Length, PlacingOrder::Bytes, PlacingOrder::Crowd];

/// The steps of a search in one order before another is tried. In each round the plain orders get twice as many, and
/// shuffled ones as many again. Of 168 rectangles cut into 100 to 450, with up to half of the cuts pinwheels and up to
/// 5 % taken out, 115 are found in 20 million steps; with ten times as many before another order, 114.
const STEPS: u64 = 20_000;

/// The limit on stored parts without solution, in 40 MB. Above it, all are dropped.
const MOST_FAILED: usize = 1 << 20;

/// Searches for offsets with all ends within `capacity`. Deducts from `steps`, each a visit of a range at a moment.
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
    /// The rank of each range in the order.
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

    /// Places the unplaced ranges in an interval that no unplaced range crosses; `None` if the steps end. Undoes its
    /// placements if it fails.
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
                // A range with the same moments and bytes gives the same result.
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
