//! The state of the exact search: at each moment the floor, below which nothing more is placed.
//!
//! What holds between two choices ([`settle`](Niches::settle)):
//!
//! - the least offset of an unplaced range is the highest floor of its moments, rounded up to its alignment;
//! - the floor of a moment is the least offset of an unplaced range that is live there. So one lies at each floor;
//! - the floor and the bytes of all that is unplaced do not exceed the capacity at any moment.

use super::{LiveRange, PlacingOrder, crowd};

/// What a step changed, to be taken back.
enum Undo {
    Floor(usize, i64),
    Least(usize, i64),
    Placed(usize),
}

/// A moment at the end of a niche, a run of moments of one floor between higher ones.
pub struct Niche {
    /// The moment.
    pub moment: usize,
    /// The first moment of the niche and the last.
    first: usize,
    last: usize,
    /// The floors beside it; the capacity where there is none.
    before: i64,
    after: i64,
}

/// The state. Ranges of no bytes count as placed at 0.
pub struct Niches<'a> {
    pub ranges: &'a [LiveRange],
    /// For each moment those that are live, and for each range those that it meets.
    pub live: &'a [Vec<usize>],
    meets: &'a [Vec<usize>],
    capacity: i64,
    /// The steps that are left.
    pub steps: u64,
    /// For each range its offset, where it is placed.
    pub offsets: Vec<i64>,
    is_placed: Vec<bool>,
    /// For each unplaced range the least offset.
    least: Vec<i64>,
    floor: Vec<i64>,
    /// For each moment, of what is unplaced: the bytes, how many are live, how many at this and the next moment.
    rest: Vec<i64>,
    open: Vec<usize>,
    crossing: Vec<usize>,
    /// How often the capacity was exceeded at each moment.
    pub exceeded: Vec<u64>,
    trail: Vec<Undo>,
    /// The moments at which something changed.
    changed: Vec<usize>,
    is_changed: Vec<bool>,
    /// For each moment the ranges that begin there.
    begin: Vec<Vec<usize>>,
}

impl<'a> Niches<'a> {
    /// Nothing is placed. `exceeded` are the counts of an earlier search.
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

    /// For each range its number in an order; with a seed above 0 each is exchanged with one of the next few.
    pub fn ranked(&self, order: PlacingOrder, seed: u64) -> Vec<usize> {
        let mut ordered = order.of(self.ranges, &self.rest);
        let mut random = seed;
        for at in 0..if seed > 0 { ordered.len() } else { 0 } {
            // A linear congruence of 64 bits, of which the upper ones are used.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let other = at + (random >> 33) as usize % 8;
            ordered.swap(at, other.min(self.ranges.len() - 1));
        }
        let mut rank = vec![0; ordered.len()];
        ordered.into_iter().enumerate().for_each(|(at, k)| rank[k] = at);
        rank
    }

    /// How far the state is, for [`take_back`](Self::take_back).
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

    /// [`settle`](Self::settle) for all moments.
    pub fn settle_all(&mut self) -> bool {
        (0..self.live.len()).for_each(|moment| self.change(moment));
        self.settle()
    }

    /// Raises floors and least offsets until each is what the others make it; false where the capacity is exceeded.
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

    /// Whether all that is unplaced at a moment fits above its floor.
    fn fits(&mut self, moment: usize) -> bool {
        let fits = self.floor[moment].saturating_add(self.rest[moment]) <= self.capacity;
        self.exceeded[moment] += u64::from(!fits);
        fits
    }

    /// Raises a floor, and with it what is live there; false where the capacity is exceeded.
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

    /// Places a range at its least offset; false where the capacity is exceeded.
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

    /// Takes back what was changed since a [`mark`](Self::mark).
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

    /// The moments from one to another in parts that nothing unplaced crosses, without those at which nothing is
    /// unplaced. The shortest are first: they fail soonest.
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

    /// The state of a part in 128 bits: its floors and what is unplaced.
    pub fn key(&self, first: usize, last: usize) -> u128 {
        let mut key = 0_u128;
        for moment in first..=last {
            key = key.wrapping_add(mixed(2 * moment as u64, self.floor[moment] as u64));
            let unplaced = self.begin[moment].iter().filter(|k| !self.is_placed[**k]);
            unplaced.for_each(|k| key = key.wrapping_add(mixed(2 * *k as u64 + 1, 0)));
        }
        key
    }

    /// The unplaced ranges that may lie at the floor of a moment.
    pub fn at_floor(&self, moment: usize) -> impl Iterator<Item = usize> {
        let floor = self.floor[moment];
        self.live[moment].iter().copied().filter(move |k| !self.is_placed[*k] && self.least[*k] == floor)
    }

    /// The moment to branch at: of those at the ends of niches the one with the fewest branches for the times that its
    /// capacity was exceeded, and of these the lowest.
    pub fn choose(&mut self, first: usize, last: usize) -> Niche {
        let (mut best, mut best_key) = (None, (0, 0, 0));
        let (mut begin, mut looked) = (first, last - first);
        for end in first..=last {
            let floor = self.floor[begin];
            if end < last && self.floor[end + 1] == floor {
                continue;
            }
            // What is unplaced has bytes, so every floor is below the capacity.
            let before = if begin > first { self.floor[begin - 1] } else { self.capacity };
            let after = if end < last { self.floor[end + 1] } else { self.capacity };
            let ends = (begin..=end).step_by((end - begin).max(1)).filter(|_| floor < before && floor < after);
            for moment in ends {
                looked += self.live[moment].len();
                let may_be_free = floor + self.rest[moment] < self.capacity;
                let branches = self.at_floor(moment).count() as u64 + u64::from(may_be_free);
                let exceeded = if branches < 2 { u64::MAX } else { self.exceeded[moment] + 1 };
                // Quotients are compared by their products.
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

    /// How well a range at the bottom of a niche joins what is beside it: 1 for the whole width, 1 for each end at a
    /// wall whose height is that of the range.
    pub fn joints(&self, k: usize, niche: &Niche) -> usize {
        let (begin, end) = (self.ranges[k].live.0 == niche.first, self.ranges[k].live.1 == niche.last);
        let top = self.least[k].saturating_add(self.ranges[k].bytes);
        let joins = [begin && end, begin && top == niche.before, end && top == niche.after];
        joins.into_iter().filter(|joins| *joins).count()
    }

    /// The least place of the lowest range at a moment if none is at its floor, as [`Niches`] has it. Where nothing can
    /// be moved down, such a range is supported by another unplaced one that it meets. None where nothing can be.
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

/// Two numbers in 128 bits that look random: two rounds of multiplications and shifts of each half.
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
