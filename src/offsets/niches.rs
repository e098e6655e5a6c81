//! The state of the exact search: a floor at each moment, below which nothing more is placed.
//!
//! Invariants between two choices ([`settle`](Niches::settle)):
//!
//! - the least offset of an unplaced range is the highest floor of its moments, rounded up to its alignment;
//! - the floor of a moment is the lowest least offset of its unplaced ranges, so one of them is at each floor;
//! - the floor plus the bytes of all unplaced ranges is within the capacity at every moment.

use super::{LiveRange, PlacingOrder, crowd};

/// An undo record of a step.
enum Undo {
    Floor(usize, i64),
    Least(usize, i64),
    Placed(usize),
}

/// A moment at the end of a niche, a run of moments with one floor between higher ones.
pub struct Niche {
    /// The moment.
    pub moment: usize,
    /// The first and the last moment of the niche.
    first: usize,
    last: usize,
    /// The adjacent floors; the capacity if there is none.
    before: i64,
    after: i64,
}

/// The search state. Ranges of no bytes count as placed at 0.
pub struct Niches<'a> {
    pub ranges: &'a [LiveRange],
    /// The ranges live at each moment, and (`meets`) the ranges that overlap each one in time.
    pub live: &'a [Vec<usize>],
    meets: &'a [Vec<usize>],
    capacity: i64,
    /// The remaining steps.
    pub steps: u64,
    /// The offset of each placed range.
    pub offsets: Vec<i64>,
    is_placed: Vec<bool>,
    /// The least offset of each unplaced range.
    least: Vec<i64>,
    floor: Vec<i64>,
    /// For each moment, of unplaced ranges: the bytes, the number live, the number live at this and the next moment.
    rest: Vec<i64>,
    open: Vec<usize>,
    crossing: Vec<usize>,
    /// The number of times each moment exceeded the capacity.
    pub exceeded: Vec<u64>,
    trail: Vec<Undo>,
    /// The moments to settle.
    changed: Vec<usize>,
    is_changed: Vec<bool>,
    /// For each moment, the ranges that begin there.
    begin: Vec<Vec<usize>>,
}

impl<'a> Niches<'a> {
    /// The state without placed ranges. `exceeded` are the counts of an earlier search.
    pub fn new(
        ranges: &'a [LiveRange],
        live: &'a [Vec<usize>],
        meets: &'a [Vec<usize>],
        capacity: i64,
        exceeded: Vec<u64>,
    ) -> Niches<'a> {
        let is_placed: Vec<bool> = ranges.iter().map(|range| range.bytes == 0).collect();
        let (mut begin, mut crossing) = (vec![Vec::new(); live.len()], vec![0; live.len()]);
        for (k, range) in ranges.iter().enumerate().filter(|(k, _)| !is_placed[*k]) {
            begin[range.live.0].push(k);
            crossing[range.live.0..range.live.1].iter_mut().for_each(|count| *count += 1);
        }
        Niches {
            open: live.iter().map(|live| live.iter().filter(|k| !is_placed[**k]).count()).collect(),
            ranges,
            live,
            meets,
            capacity,
            steps: 0,
            offsets: vec![0; ranges.len()],
            is_placed,
            least: vec![0; ranges.len()],
            floor: vec![0; live.len()],
            rest: crowd(ranges, live),
            crossing,
            exceeded,
            trail: Vec::new(),
            changed: Vec::new(),
            is_changed: vec![false; live.len()],
            begin,
        }
    }

    /// The rank of each range in an order; with a seed above 0, each is swapped with one of the next few.
    pub fn ranked(&self, order: PlacingOrder, seed: u64) -> Vec<usize> {
        let mut ordered = order.of(self.ranges, &self.rest);
        let mut random = seed;
        for at in 0..if seed > 0 { ordered.len() } else { 0 } {
            // A linear congruential generator of 64 bits; the upper bits are used.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let other = at + (random >> 33) as usize % 8;
            ordered.swap(at, other.min(self.ranges.len() - 1));
        }
        let mut rank = vec![0; ordered.len()];
        ordered.into_iter().enumerate().for_each(|(at, k)| rank[k] = at);
        rank
    }

    /// A mark of the state, for [`take_back`](Self::take_back).
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps as u64);
    }

    fn change(&mut self, moment: usize) {
        if !self.is_changed[moment] {
            self.is_changed[moment] = true;
            self.changed.push(moment);
        }
    }

    /// Runs [`settle`](Self::settle) for all moments.
    pub fn settle_all(&mut self) -> bool {
        (0..self.live.len()).for_each(|moment| self.change(moment));
        self.settle()
    }

    /// Raises floors and least offsets to a fixed point; false if the capacity is exceeded.
    pub fn settle(&mut self) -> bool {
        let mut fits = true;
        while let Some(moment) = self.changed.pop() {
            self.is_changed[moment] = false;
            if !fits || self.open[moment] == 0 {
                continue;
            }
            self.spend(self.live[moment].len());
            let unplaced = self.live[moment].iter().filter(|k| !self.is_placed[**k]);
            let bottom = unplaced.map(|k| self.least[*k]).min().unwrap_or(0);
            fits = if bottom > self.floor[moment] { self.raise(moment, bottom) } else { self.fits(moment) };
        }
        fits
    }

    /// Whether all unplaced ranges of a moment fit above its floor.
    fn fits(&mut self, moment: usize) -> bool {
        let fits = self.floor[moment].saturating_add(self.rest[moment]) <= self.capacity;
        self.exceeded[moment] += u64::from(!fits);
        fits
    }

    /// Raises a floor, and the ranges live there; false if the capacity is exceeded.
    pub fn raise(&mut self, moment: usize, to: i64) -> bool {
        self.trail.push(Undo::Floor(moment, self.floor[moment]));
        self.floor[moment] = to;
        let live = self.live;
        self.fits(moment) && {
            live[moment].iter().for_each(|k| self.lift(*k, to));
            true
        }
    }

    /// Raises the least offset of a range.
    fn lift(&mut self, k: usize, to: i64) {
        let to = self.ranges[k].align(to);
        if !self.is_placed[k] && to > self.least[k] {
            self.trail.push(Undo::Least(k, self.least[k]));
            self.least[k] = to;
            self.ranges[k].moments().for_each(|moment| self.change(moment));
        }
    }

    /// Places a range at its least offset; false if the capacity is exceeded.
    pub fn put(&mut self, k: usize) -> bool {
        let (range, meets) = (self.ranges[k], self.meets);
        let end = self.least[k].saturating_add(range.bytes);
        (self.is_placed[k], self.offsets[k]) = (true, self.least[k]);
        self.trail.push(Undo::Placed(k));
        let mut fits = true;
        for moment in range.moments() {
            self.trail.push(Undo::Floor(moment, self.floor[moment]));
            self.floor[moment] = end;
            self.rest[moment] -= range.bytes;
            self.open[moment] -= 1;
            self.crossing[moment] -= usize::from(moment < range.live.1);
            fits &= self.fits(moment);
            self.change(moment);
        }
        self.spend(range.live.1 - range.live.0 + meets[k].len());
        meets[k].iter().for_each(|other| self.lift(*other, end));
        fits
    }

    /// Undoes all changes since a [`mark`](Self::mark).
    pub fn take_back(&mut self, mark: usize) {
        while let Some(moment) = self.changed.pop() {
            self.is_changed[moment] = false;
        }
        while self.trail.len() > mark {
            match self.trail.pop().expect("longer than the mark") {
                Undo::Floor(moment, floor) => self.floor[moment] = floor,
                Undo::Least(k, least) => self.least[k] = least,
                Undo::Placed(k) => {
                    self.is_placed[k] = false;
                    let range = self.ranges[k];
                    for moment in range.moments() {
                        self.rest[moment] += range.bytes;
                        self.open[moment] += 1;
                        self.crossing[moment] += usize::from(moment < range.live.1);
                    }
                }
            }
        }
    }

    /// Splits an interval of moments where no unplaced range crosses, without moments that have none. The shortest
    /// parts come first: they fail soonest.
    pub fn parts(&self, first: usize, last: usize) -> Vec<(usize, usize)> {
        let (mut parts, mut from) = (Vec::new(), first);
        for moment in first..=last {
            if moment == last || self.crossing[moment] == 0 {
                if self.open[from] > 0 {
                    parts.push((from, moment));
                }
                from = moment + 1;
            }
        }
        parts.sort_by_key(|(first, last)| last - first);
        parts
    }

    /// The state of a part in 128 bits: its floors and unplaced ranges.
    pub fn key(&self, first: usize, last: usize) -> u128 {
        let mut key = 0_u128;
        for moment in first..=last {
            key = key.wrapping_add(mixed(2 * moment as u64, self.floor[moment] as u64));
            let unplaced = self.begin[moment].iter().filter(|k| !self.is_placed[**k]);
            unplaced.for_each(|k| key = key.wrapping_add(mixed(2 * *k as u64 + 1, 0)));
        }
        key
    }

    /// The unplaced ranges that may be placed at the floor of a moment.
    pub fn at_floor(&self, moment: usize) -> impl Iterator<Item = usize> {
        let floor = self.floor[moment];
        self.live[moment].iter().copied().filter(move |k| !self.is_placed[*k] && self.least[*k] == floor)
    }

    /// The moment to branch at: among the ends of niches, the fewest branches per time that its capacity was exceeded,
    /// and on ties the lowest floor.
    pub fn choose(&mut self, first: usize, last: usize) -> Niche {
        let (mut best, mut best_key) = (None, (0, 0, 0));
        let (mut begin, mut looked) = (first, last - first);
        for end in first..=last {
            let floor = self.floor[begin];
            if end < last && self.floor[end + 1] == floor {
                continue;
            }
            // Unplaced ranges have bytes, so every floor is below the capacity.
            let before = if begin > first { self.floor[begin - 1] } else { self.capacity };
            let after = if end < last { self.floor[end + 1] } else { self.capacity };
            let ends = (begin..=end).step_by((end - begin).max(1)).filter(|_| floor < before && floor < after);
            for moment in ends {
                looked += self.live[moment].len();
                let may_be_free = floor + self.rest[moment] < self.capacity;
                let branches = self.at_floor(moment).count() as u64 + u64::from(may_be_free);
                let exceeded = if branches < 2 { u64::MAX } else { self.exceeded[moment] + 1 };
                // Compares quotients by cross products.
                let (a, b) =
                    (u128::from(branches) * u128::from(best_key.1), u128::from(best_key.0) * u128::from(exceeded));
                if best.is_none() || a < b || (a == b && floor < best_key.2) {
                    best_key = (branches, exceeded, floor);
                    best = Some(Niche { moment, first: begin, last: end, before, after });
                }
            }
            begin = end + 1;
        }
        self.spend(looked);
        best.expect("the lowest floor is that of a niche")
    }

    /// The number of joints of a range at the bottom of a niche: 1 for the whole width, 1 for each end at a wall of
    /// equal height.
    pub fn joints(&self, k: usize, niche: &Niche) -> usize {
        let (begin, end) = (self.ranges[k].live.0 == niche.first, self.ranges[k].live.1 == niche.last);
        let top = self.least[k].saturating_add(self.ranges[k].bytes);
        let joins = [begin && end, begin && top == niche.before, end && top == niche.after];
        joins.into_iter().filter(|joins| *joins).count()
    }

    /// The lowest offset of a range at a moment if none is at its floor. If nothing can be moved down, such a range
    /// rests on another unplaced range that overlaps it in time. `None` if no range can.
    pub fn above(&self, moment: usize) -> Option<i64> {
        let place = |k: &usize| {
            if self.least[*k] > self.floor[moment] {
                return Some(self.least[*k]);
            }
            let unplaced = self.meets[*k].iter().filter(|other| !self.is_placed[**other]);
            let end = unplaced.map(|other| self.least[*other].saturating_add(self.ranges[*other].bytes)).min()?;
            Some(self.ranges[*k].align(end.max(self.least[*k].saturating_add(1))))
        };
        self.live[moment].iter().filter(|k| !self.is_placed[**k]).filter_map(place).min()
    }
}

/// A 128-bit hash of two numbers: two rounds of multiplications and shifts of each half.
fn mixed(a: u64, b: u64) -> u128 {
    let round = |x: u64| {
        let x = (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 29)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ (x >> 32)
    };
    let high = round(round(a).wrapping_add(b));
    let low = round(round(b ^ 0x5851_f42d_4c95_7f2d).wrapping_add(a) ^ high);
    (u128::from(high) << 64) | u128::from(low)
}
