//! The cuts over time that are tried for the loops of an operation: few, that need little room and bring little.
//!
//! Step sizes are the divisors of what a place has of a loop, and the powers of two below it. Orders come from the arrays:
//! an order of these says whose pieces stay longest. The loops that the first array does not follow go inside, of those the
//! ones that the second does not follow further inside, and so on. No other order brings any array less often: what an array
//! saves are the innermost loops that it does not follow, those of the array that saves most contain those of the next, and
//! sorted so each has all of its own inside.
//!
//! Of all cuts that fit into a room, the one that brings least is kept, of equals the one with fewest steps: for the whole
//! capacity, for parts of it, since values live beside, and for the least that is possible.

use super::reading::{IndexRange, LoopNest};
use super::sets::{image, length};
use super::spread::Spread;
use super::time::{TimeCut, follows, groups};
use std::cmp::Ordering;

/// The most cuts of one operation that are looked at, for each order; step sizes are left out until there are no more.
/// 1024 x 512 x 512 on one place has 11 x 10 x 10 of them.
const MOST_CUTS: usize = 1 << 12;

/// The most arrays that follow different loops of which all orders are tried; of more, each is once the first.
const MOST_ORDERED: usize = 4;

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
    /// What it costs to bring all of it once.
    pub weight: i64,
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

/// What a cut brings, in how many steps, and the room that it needs; less is better, the first first.
type Merit = (f64, i64, i64);

/// Cuts of the loops of an operation, whose arrays are used where they lie as one of `in_place` says, into buffers of at
/// most `room` bytes. None where the least does not fit.
pub fn cuts(nest: &LoopNest, spread: &Spread, arrays: &[Brought], in_place: &[Vec<bool>], room: i64) -> Vec<CutChoice> {
    let sizes = step_sizes(nest, spread, arrays);
    let orders = orders(nest.sizes.len(), arrays);
    // For each part of the room, and last for the least that is possible.
    let mut found: Vec<Vec<Option<(Merit, CutChoice)>>> = vec![vec![None; ROOMS.len() + 1]; in_place.len()];
    let mut at = vec![0; sizes.len()];
    loop {
        let now: Vec<&StepSize> = sizes.iter().zip(&at).map(|(all, at)| &all[*at]).collect();
        let count = now.iter().fold(1i64, |n, size| n.saturating_mul(size.count));
        let bytes: Vec<i64> = arrays.iter().enumerate().map(|(k, array)| buffer(array, k, &now)).collect();
        for order in &orders {
            let order: Vec<usize> = order.iter().copied().filter(|of| now[*of].count > 1).collect();
            let cut = TimeCut { steps: now.iter().map(|size| size.step).collect(), order };
            let costs: Vec<f64> =
                arrays.iter().enumerate().map(|(k, array)| cost(array, k, &cut, &now, &sizes)).collect();
            for (own, found) in in_place.iter().zip(&mut found) {
                let brought = |k: &usize| !own[*k];
                let need = (0..own.len()).filter(brought).fold(0i64, |sum, k| sum.saturating_add(bytes[k]));
                let cost: f64 = (0..own.len()).filter(brought).map(|k| costs[k]).sum();
                let choice = || CutChoice { cut: cut.clone(), in_place: own.clone(), bytes: need };
                let mut put = |place: usize, merit: Merit| {
                    if found[place].as_ref().is_none_or(|(best, _)| compare(&merit, best) == Ordering::Less) {
                        found[place] = Some((merit, choice()));
                    }
                };
                for (place, part) in ROOMS.iter().enumerate() {
                    if i128::from(need) * 16 <= i128::from(room) * i128::from(*part) {
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
    for (_, choice) in found.into_iter().flatten().flatten() {
        if !all.contains(&choice) {
            all.push(choice);
        }
    }
    all
}

/// The bytes of the buffers of a place in the smallest steps, by array: the least that any cut of loops that are spread so
/// needs.
pub fn least(nest: &LoopNest, spread: &Spread, arrays: &[Brought]) -> Vec<i64> {
    let sizes = step_sizes(nest, spread, arrays);
    let now: Vec<&StepSize> = sizes.iter().filter_map(|all| all.first()).collect();
    arrays.iter().enumerate().map(|(k, array)| buffer(array, k, &now)).collect()
}

impl<'a> Brought<'a> {
    /// An array with ranges of indices and sizes, whose elements come together.
    pub fn new((ranges, sizes): (&'a [IndexRange], &'a [i64]), bits: i64, is_result: bool, weight: i64) -> Brought<'a> {
        Brought { sizes, ranges, bits, is_result, is_scattered: false, weight }
    }

    /// The bytes of the buffer for so many elements.
    pub fn bytes(&self, elements: i64) -> i64 {
        if self.is_scattered {
            return 0;
        }
        let bits = i128::from(elements) * i128::from(self.bits);
        i64::try_from((bits + 7) / 8).unwrap_or(i64::MAX)
    }
}

fn compare(a: &Merit, b: &Merit) -> Ordering {
    a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2)))
}

/// The bytes of the buffer for a piece of array `k`.
fn buffer(array: &Brought, k: usize, now: &[&StepSize]) -> i64 {
    array.bytes(now.iter().fold(whole(array), |n, size| n.saturating_mul(size.lengths[k][0])))
}

/// The elements along the dimensions of an array that follow no loop.
fn whole(array: &Brought) -> i64 {
    let own = array.ranges.iter().zip(array.sizes).filter(|(range, _)| range.of_loop().is_none());
    own.fold(1i64, |n, (_, size)| n.saturating_mul(*size))
}

/// What it costs to bring array `k` in these steps: as a whole, times what its pieces have together, times their visits.
fn cost(array: &Brought, k: usize, cut: &TimeCut, now: &[&StepSize], sizes: &[Vec<StepSize>]) -> f64 {
    let together: f64 = (now.iter().zip(sizes))
        .filter_map(|(now, all)| {
            let uncut = all.last()?.lengths[k][1];
            Some(now.lengths[k][1] as f64 / uncut.max(1) as f64)
        })
        .product();
    let own = |of: &usize| follows(array.ranges, *of);
    let outer = &cut.order[..cut.order.iter().rposition(own).map_or(0, |last| last + 1)];
    let visits: f64 = outer.iter().filter(|of| !own(of)).map(|of| now[*of].count as f64).product();
    let times = if array.is_result { 2.0 * visits - 1.0 } else { visits };
    array.weight as f64 * together * times
}

/// The step sizes of each loop, the largest last.
fn step_sizes(nest: &LoopNest, spread: &Spread, arrays: &[Brought]) -> Vec<Vec<StepSize>> {
    let mut all: Vec<Vec<i64>> = (0..nest.sizes.len()).map(|of| tried(of, nest, spread)).collect();
    while all.iter().fold(1usize, |n, own| n.saturating_mul(own.len())) > MOST_CUTS {
        let Some(longest) = all.iter_mut().max_by_key(|own| own.len()) else { break };
        // Every second one goes, but for the first and the last.
        let last = longest.len() - 1;
        let mut k = 0;
        longest.retain(|_| {
            k += 1;
            k == 1 || (last + 1 - k).is_multiple_of(2)
        });
    }
    let sized = |(of, own): (usize, Vec<i64>)| {
        let one = |step: i64| {
            let mut cut = TimeCut::whole(nest, spread);
            cut.steps[of] = step;
            let lengths = arrays.iter().map(|array| lengths(of, &cut, nest, spread, array)).collect();
            StepSize { step, count: cut.count(of, nest, spread), lengths }
        };
        own.into_iter().map(one).collect()
    };
    all.into_iter().enumerate().map(sized).collect()
}

/// The step sizes that are tried for a loop.
fn tried(of: usize, nest: &LoopNest, spread: &Spread) -> Vec<i64> {
    let block = spread.block(of, nest.sizes[of]);
    let most = (MOST_PIECES / spread.pieces(of).max(1)).clamp(1, MOST_STEPS);
    // Pieces of one place that are no neighbours stay together.
    if !nest.cuttable[of] || most == 1 || spread.local.iter().any(|cut| cut.of == Some(of)) {
        return vec![block];
    }
    let divisors = (1..=most.min(block)).filter(|count| block % count == 0).map(|count| block / count);
    let powers = (0..62).map(|bit| 1i64 << bit).filter(|step| *step < block && (block - 1) / step < most);
    let mut found: Vec<i64> = divisors.chain(powers).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The elements of an array along the dimensions that follow a loop, in a piece and in all pieces of a place.
fn lengths(of: usize, cut: &TimeCut, nest: &LoopNest, spread: &Spread, array: &Brought) -> [i64; 2] {
    let group = groups(array.ranges).into_iter().find(|own| array.ranges[own[0]].of_loop() == Some(of));
    let Some(group) = group else { return [1, 1] };
    let block = spread.block(of, nest.sizes[of]);
    if let [dim] = group[..]
        && array.sizes[dim] == nest.sizes[of]
        && array.ranges[dim].is_loop()
    {
        return [cut.steps[of], block];
    }
    let sets = cut.sets(of, usize::MAX, nest, spread);
    let piece = |set: &_| {
        let one = |dim: &usize| length(&image(set, array.ranges[*dim], array.sizes[*dim]));
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
