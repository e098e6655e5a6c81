//! The cuts over time that are tried for the loops of an operation: few, that need little room and bring little.
//!
//! Step sizes are first the divisors of what a place has of a loop, and the powers of two below it; where an array has tiles,
//! whole ones. Of each cut that is kept, two loops at a time then get the sizes that cut a loop into any number of steps, all
//! equally long but the last one: of one the size, of the other the largest that there is room for.
//!
//! Orders come from the arrays: an order of these says whose pieces stay longest. The loops that the first array does not
//! follow go inside, of those the ones that the second does not follow further inside, and so on. No other order brings any
//! array less often: what an array saves are the innermost loops that it does not follow, those of the array that saves most
//! contain those of the next, and sorted so each has all of its own inside.
//!
//! The search keeps the cut that brings least among those that fit into a room, of equals the one with fewest steps:
//! for the whole capacity, for parts of it, since values live beside, and for the least that is possible.

use super::reading::{IndexRange, LoopNest};
use super::sets::{image, length};
use super::spread::Spread;
use super::time::{TimeCut, follows, groups};
use std::cmp::Ordering;
use tensor_layout::numbers::near_gcd;

/// The most cuts of one operation that are looked at, for each order; step sizes are left out until there are no more.
/// 1024 x 512 x 512 on one place has 11 x 10 x 10 of them.
const MOST_CUTS: usize = 1 << 12;

/// The most arrays that follow different loops of which all orders are tried; of more, each is once the first.
const MOST_ORDERED: usize = 4;

/// Step sizes that differ by less than one part in so many are one: of 65536 there are 248 sizes so, of 496, and all of 1024.
const NEARLY: i64 = 64;

/// The most steps of one loop in a place, and of one loop in all places.
const MOST_STEPS: i64 = 1 << 12;
const MOST_PIECES: i64 = 1 << 16;

/// The parts of a capacity for which cuts are kept, in sixteenths.
const ROOMS: [i64; 6] = [16, 12, 8, 4, 2, 1];

/// An array that loops read or make, as the search for cuts sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Brought<'a> {
    /// Its sizes.
    pub sizes: &'a [i64],
    /// The ranges of its indices.
    pub ranges: &'a [IndexRange],
    /// The bits of an element.
    pub bits: i64,
    /// Whether it is made.
    pub is_result: bool,
    /// Whether elements are read one by one anywhere, which needs no room.
    pub is_scattered: bool,
    /// The cost of bringing all of it once.
    pub weight: i64,
    /// By dimension, the elements of a tile: of each, buffers hold whole tiles. None where elements have none.
    pub units: &'a [i64],
}

/// A cut, and which arrays are used where they lie.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutChoice {
    /// The cut.
    pub cut: TimeCut,
    /// By array, whether places use what they hold of it; else they have a buffer for a piece of it.
    pub in_place: Vec<bool>,
    /// The bytes of the buffers of one place.
    pub bytes: i64,
}

/// How the loops of an operation run.
#[derive(Clone, Debug)]
pub(super) struct LoopChoice {
    /// The number of their spread.
    pub spread: usize,
    /// With capacities, the steps of a place.
    pub cut: Option<CutChoice>,
}

impl LoopChoice {
    /// The bytes of the buffers of a place.
    pub(super) fn buffers(&self) -> i64 {
        self.cut.as_ref().map_or(0, |own| own.bytes)
    }
}

/// A step size of a loop, and what it means for each array.
struct StepSize {
    step: i64,
    count: i64,
    /// By array: the elements along the dimensions that follow the loop, in a piece and in all pieces.
    lengths: Vec<[i64; 2]>,
}

/// The cost of what a cut brings, its number of steps, and the room that it needs; less is better, the first first.
type Merit = (f64, i64, i64);

/// How often two loops at a time get other sizes. Of the plans of `benches/time.md`, none changes with a third time.
const ROUNDS: usize = 2;

/// The loops of an operation, and what is known of their steps.
struct CutSearch<'a> {
    arrays: &'a [Brought<'a>],
    /// By loop, its sizes, the largest last: few, and all that are equally long but the last one.
    sizes: [Vec<Vec<StepSize>>; 2],
    orders: Vec<Vec<usize>>,
}

/// A cut that is the best so far.
struct BestCut<'s> {
    merit: Merit,
    now: Vec<&'s StepSize>,
    order: usize,
}

/// Cuts of the loops of an operation, whose arrays are used where they lie as one of `in_place` says, into buffers of at
/// most `room` bytes. None where the least does not fit.
pub fn cuts(nest: &LoopNest, spread: &Spread, arrays: &[Brought], in_place: &[Vec<bool>], room: i64) -> Vec<CutChoice> {
    let search = CutSearch::new(nest, spread, arrays);
    let [sizes, _] = &search.sizes;
    // For each part of the room, and last for the least that is possible.
    let mut found: Vec<Vec<Option<BestCut>>> = Vec::new();
    found.resize_with(in_place.len(), || (0..=ROOMS.len()).map(|_| None).collect());
    let mut at = vec![0; sizes.len()];
    loop {
        let now: Vec<&StepSize> = sizes.iter().zip(&at).map(|(all, at)| &all[*at]).collect();
        let bytes: Vec<i64> = (0..arrays.len()).map(|k| search.buffer(k, &now)).collect();
        for order in 0..search.orders.len() {
            let costs: Vec<f64> = (0..arrays.len()).map(|k| search.cost(k, order, &now)).collect();
            for (own, found) in in_place.iter().zip(&mut found) {
                let brought = |k: &usize| !own[*k];
                let need = (0..own.len()).filter(brought).fold(0i64, |sum, k| sum.saturating_add(bytes[k]));
                let cost: f64 = (0..own.len()).filter(brought).map(|k| costs[k]).sum();
                let count = steps(&now);
                let mut put = |place: usize, merit: Merit| {
                    if found[place].as_ref().is_none_or(|best| compare(&merit, &best.merit) == Ordering::Less) {
                        found[place] = Some(BestCut { merit, now: now.clone(), order });
                    }
                };
                for (place, part) in ROOMS.iter().enumerate() {
                    if need <= part_of(room, *part) {
                        put(place, (cost, count, need));
                    }
                }
                if need <= room {
                    put(ROOMS.len(), (need as f64, count, cost as i64));
                }
            }
        }
        let Some(next) = (0..at.len()).rev().find(|of| at[*of] + 1 < sizes[*of].len()) else { break };
        at[next] += 1;
        at[next + 1..].fill(0);
    }
    let mut all: Vec<CutChoice> = Vec::new();
    for (own, found) in in_place.iter().zip(found) {
        for (place, candidate) in found.into_iter().enumerate() {
            let Some(mut best) = candidate else { continue };
            if let Some(part) = ROOMS.get(place) {
                search.refine(own, part_of(room, *part), &mut best);
            }
            let steps = best.now.iter().map(|size| size.step).collect();
            let cut = TimeCut::new(steps, &search.orders[best.order], nest, spread);
            let choice = CutChoice { cut, in_place: own.clone(), bytes: search.need(own, &best.now) };
            if !all.contains(&choice) {
                all.push(choice);
            }
        }
    }
    all
}

/// So many sixteenths of a room.
fn part_of(room: i64, part: i64) -> i64 {
    i64::try_from(i128::from(room) * i128::from(part) / 16).unwrap_or(i64::MAX)
}

/// The number of all steps.
fn steps(now: &[&StepSize]) -> i64 {
    now.iter().fold(1i64, |n, size| n.saturating_mul(size.count))
}

impl<'a> CutSearch<'a> {
    fn new(nest: &LoopNest, spread: &Spread, arrays: &'a [Brought<'a>]) -> CutSearch<'a> {
        let tried = (0..nest.sizes.len()).map(|of| tried(of, nest, spread, arrays));
        let (mut few, all): (Vec<Vec<i64>>, Vec<Vec<i64>>) = tried.unzip();
        while few.iter().fold(1usize, |n, own| n.saturating_mul(own.len())) > MOST_CUTS {
            let Some(longest) = few.iter_mut().max_by_key(|own| own.len()) else { break };
            // Every second one goes, but for the first and the last.
            let last = longest.len() - 1;
            let mut k = 0;
            longest.retain(|_| {
                k += 1;
                k == 1 || (last + 1 - k).is_multiple_of(2)
            });
        }
        let sizes = [few, all].map(|sizes| sized(&sizes, nest, spread, arrays));
        CutSearch { arrays, sizes, orders: orders(nest.sizes.len(), arrays) }
    }

    /// The bytes of the buffer for a piece of array `k`.
    fn buffer(&self, k: usize, now: &[&StepSize]) -> i64 {
        self.arrays[k].buffer(now.iter().map(|size| size.lengths[k][0]))
    }

    /// The bytes of all buffers, of arrays that are not used where they lie.
    fn need(&self, own: &[bool], now: &[&StepSize]) -> i64 {
        let brought = (0..own.len()).filter(|k| !own[*k]);
        brought.fold(0i64, |sum, k| sum.saturating_add(self.buffer(k, now)))
    }

    /// The cost of array `k` in these steps: as a whole, times what its pieces have together, times their visits.
    fn cost(&self, k: usize, order: usize, now: &[&StepSize]) -> f64 {
        let array = &self.arrays[k];
        let together: f64 = (now.iter().zip(&self.sizes[0]))
            .filter_map(|(now, all)| {
                let uncut = all.last()?.lengths[k][1];
                Some(now.lengths[k][1] as f64 / uncut.max(1) as f64)
            })
            .product();
        let (mut visits, mut others) = (1.0, 1.0);
        for of in self.orders[order].iter().filter(|of| now[**of].count > 1) {
            match follows(array.ranges, *of) {
                true => visits *= std::mem::replace(&mut others, 1.0),
                false => others *= now[*of].count as f64,
            }
        }
        let times = if array.is_result { 2.0 * visits - 1.0 } else { visits };
        array.weight as f64 * together * times
    }

    /// Gives two loops at a time the sizes with which least is brought: of one each, of the other the largest for which there
    /// is room. What brings as much as before stays: there the last step is as long as the others.
    fn refine<'s>(&'s self, own: &[bool], room: i64, best: &mut BestCut<'s>) {
        let (all, before) = (&self.sizes[1], best.merit.0);
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (a, b) in (0..all.len()).flat_map(|a| (a + 1..all.len()).map(move |b| (a, b))) {
                if all[a].len() < 2 || all[b].len() < 2 {
                    continue;
                }
                let mut now = best.now.clone();
                for size in &all[a] {
                    now[a] = size;
                    let (mut fits, mut longer) = (0, all[b].len());
                    while fits < longer {
                        let middle = (fits + longer) / 2;
                        now[b] = &all[b][middle];
                        if self.need(own, &now) <= room { fits = middle + 1 } else { longer = middle }
                    }
                    let Some(last) = fits.checked_sub(1) else { continue };
                    now[b] = &all[b][last];
                    let cost = (0..own.len()).filter(|k| !own[*k]).map(|k| self.cost(k, best.order, &now)).sum();
                    let merit = (cost, steps(&now), self.need(own, &now));
                    if cost < before && compare(&merit, &best.merit) == Ordering::Less {
                        *best = BestCut { merit, now: now.clone(), order: best.order };
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
    }
}

/// The bytes of the buffers of a place in the smallest steps, by array: the least that any cut of loops that are spread so
/// needs.
pub fn least(nest: &LoopNest, spread: &Spread, arrays: &[Brought]) -> Vec<i64> {
    let first = |of: usize| tried(of, nest, spread, arrays).0.first().copied().into_iter().collect();
    let sizes = sized(&(0..nest.sizes.len()).map(first).collect::<Vec<_>>(), nest, spread, arrays);
    let now: Vec<&StepSize> = sizes.iter().filter_map(|all| all.first()).collect();
    arrays.iter().enumerate().map(|(k, array)| array.buffer(now.iter().map(|size| size.lengths[k][0]))).collect()
}

/// The bytes of the pieces of an array that is brought in these steps: of the largest one, and of all, as often as they come
/// and go.
pub fn pieces(nest: &LoopNest, spread: &Spread, array: &Brought, cut: &TimeCut) -> [i64; 2] {
    let lengths: Vec<[i64; 2]> = (0..nest.sizes.len()).map(|of| lengths(of, cut, nest, spread, array)).collect();
    let [piece, all] = [0, 1].map(|side| array.buffer(lengths.iter().map(|own| own[side])));
    let visits = cut.visits(array.ranges, nest, spread);
    let times = if array.is_result { visits.saturating_mul(2).saturating_sub(1) } else { visits };
    [piece, all.saturating_mul(times)]
}

impl<'a> Brought<'a> {
    /// An array with ranges of indices and sizes, whose elements come together.
    pub fn new((ranges, sizes): (&'a [IndexRange], &'a [i64]), bits: i64, is_result: bool, weight: i64) -> Brought<'a> {
        Brought { sizes, ranges, bits, is_result, is_scattered: false, weight, units: &[] }
    }

    /// The bytes of the buffer for so many elements.
    pub fn bytes(&self, elements: i64) -> i64 {
        if self.is_scattered {
            return 0;
        }
        let bits = i128::from(elements) * i128::from(self.bits);
        i64::try_from((bits + 7) / 8).unwrap_or(i64::MAX)
    }

    /// The same for a piece that is so long along the dimensions of each loop.
    fn buffer(&self, lengths: impl Iterator<Item = i64>) -> i64 {
        let own = (0..self.ranges.len()).filter(|dim| self.ranges[*dim].of_loop().is_none());
        let whole = own.fold(1i64, |n, dim| n.saturating_mul(self.in_tiles(dim, self.sizes[dim])));
        self.bytes(lengths.fold(whole, i64::saturating_mul))
    }

    /// The elements of a tile along a dimension.
    fn unit(&self, dim: usize) -> i64 {
        self.units.get(dim).map_or(1, |unit| (*unit).max(1))
    }

    /// So many elements along a dimension in whole tiles.
    fn in_tiles(&self, dim: usize, elements: i64) -> i64 {
        let unit = self.unit(dim);
        (elements / unit + i64::from(elements % unit != 0)).saturating_mul(unit)
    }
}

fn compare(a: &Merit, b: &Merit) -> Ordering {
    a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2)))
}

/// The step sizes of each loop, with the lengths of the arrays' pieces.
fn sized(sizes: &[Vec<i64>], nest: &LoopNest, spread: &Spread, arrays: &[Brought]) -> Vec<Vec<StepSize>> {
    let one = |of: usize, step: i64| {
        let mut cut = TimeCut::whole(nest, spread);
        cut.steps[of] = step;
        let lengths = arrays.iter().map(|array| lengths(of, &cut, nest, spread, array)).collect();
        StepSize { step, count: cut.count(of, nest, spread), lengths }
    };
    sizes.iter().enumerate().map(|(of, own)| own.iter().map(|step| one(of, *step)).collect()).collect()
}

/// The step sizes that are tried for a loop, in whole tiles of the arrays that follow it, the largest last: few, and those
/// that cut it into steps that are equally long but for the last one.
fn tried(of: usize, nest: &LoopNest, spread: &Spread, arrays: &[Brought]) -> (Vec<i64>, Vec<i64>) {
    let block = spread.block(of, nest.sizes[of]);
    let mut unit = 1i64;
    for array in arrays.iter().filter(|array| !array.is_scattered) {
        for (dim, range) in array.ranges.iter().enumerate().filter(|(_, range)| range.of_loop() == Some(of)) {
            if range.is_loop() {
                unit = lcm(unit, array.unit(dim)).min(block);
            }
        }
    }
    let tiles = block / unit + i64::from(block % unit != 0);
    let most = (MOST_PIECES / spread.pieces(of).max(1)).clamp(1, MOST_STEPS);
    // Pieces of one place that are no neighbours stay together.
    if !nest.cuttable[of] || most == 1 || tiles == 1 || spread.local.iter().any(|cut| cut.of == Some(of)) {
        return (vec![block], vec![block]);
    }
    let step = |tiles: i64| tiles.saturating_mul(unit).min(block);
    let divisors = (1..=most.min(tiles)).filter(|count| tiles % count == 0).map(|count| step(tiles / count));
    let powers = (0..62).map(|bit| 1i64 << bit).filter(|own| *own < tiles && (tiles - 1) / own < most).map(step);
    let mut few: Vec<i64> = divisors.chain(powers).collect();
    // Of sizes that are nearly the same, one.
    let mut all = vec![block];
    for count in 2..=most.min(tiles) {
        let (own, last) = (tiles / count + i64::from(tiles % count != 0), all.last().copied().unwrap_or(block));
        if step(own) < last - last / NEARLY {
            all.push(step(own));
        }
    }
    for own in [&mut few, &mut all] {
        own.sort_unstable();
        own.dedup();
    }
    (few, all)
}

/// The least common multiple, or the first of two whose multiple does not fit.
fn lcm(a: i64, b: i64) -> i64 {
    a.checked_mul(b / near_gcd(a, b).max(1)).unwrap_or(a)
}

/// The elements of an array along the dimensions that follow a loop, in a piece and in all pieces of a place.
fn lengths(of: usize, cut: &TimeCut, nest: &LoopNest, spread: &Spread, array: &Brought) -> [i64; 2] {
    let group = groups(array.ranges).into_iter().find(|own| array.ranges[own[0]].of_loop() == Some(of));
    let Some(group) = group else { return [1, 1] };
    let block = spread.block(of, nest.sizes[of]);
    if let [dim] = group[..]
        && array.sizes[dim] == nest.sizes[of]
        && array.ranges[dim].is_loop()
        && (cut.steps[of] == block || cut.steps[of] % array.unit(dim) == 0)
    {
        return [array.in_tiles(dim, cut.steps[of]), array.in_tiles(dim, block)];
    }
    let sets = cut.sets(of, usize::MAX, nest, spread);
    let piece = |set: &_| {
        let one = |dim: &usize| array.in_tiles(*dim, length(&image(set, array.ranges[*dim], array.sizes[*dim])));
        group.iter().map(one).fold(1i64, i64::saturating_mul)
    };
    let largest = sets.iter().flatten().map(piece).max().unwrap_or(0);
    let sum = |steps: &Vec<_>| steps.iter().map(piece).fold(0i64, i64::saturating_add);
    [largest, sets.iter().map(sum).max().unwrap_or(0)]
}

/// The orders of loops in which the arrays stay longest, one after the other; the outermost loop first.
fn orders(loops: usize, arrays: &[Brought]) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<bool>> = Vec::new();
    for array in arrays {
        let own: Vec<bool> = (0..loops).map(|of| follows(array.ranges, of)).collect();
        if !sets.contains(&own) {
            sets.push(own);
        }
    }
    let mut firsts: Vec<Vec<usize>> = Vec::new();
    if sets.len() <= MOST_ORDERED {
        permute(&mut (0..sets.len()).collect(), 0, &mut firsts);
    } else {
        firsts = (0..sets.len()).map(|first| vec![first]).collect();
    }
    let mut found: Vec<Vec<usize>> = Vec::new();
    for first in firsts {
        let mut order: Vec<usize> = (0..loops).collect();
        // A stable sort: what is followed comes first, which is outside.
        for set in first.iter().rev() {
            order.sort_by_key(|of| !sets[*set][*of]);
        }
        if !found.contains(&order) {
            found.push(order);
        }
    }
    found
}

/// All orders of what is from `from` on.
fn permute(all: &mut Vec<usize>, from: usize, found: &mut Vec<Vec<usize>>) {
    if from >= all.len() {
        found.push(all.clone());
    }
    for k in from..all.len() {
        all.swap(from, k);
        permute(all, from + 1, found);
        all.swap(from, k);
    }
}

/// The sum of bytes.
pub(super) fn total(all: &[(usize, i64)]) -> i64 {
    all.iter().fold(0i64, |sum, (_, bytes)| sum.saturating_add(*bytes))
}
