//! The spreads that are tried, of loops and of values.
//!
//! Loops are cut along one axis after the other, the parents first, into as many pieces as the axis has places or as many
//! as there are elements for. Of all ways to do so, those stay at each level in which a node reads and makes fewest bytes, and
//! of equals those with the shortest sides (a beam search). Values get what the loops that make and read them would have
//! them in, and loops what other loops leave in values, so that a chain of operations has candidates in which nothing moves.
//! Loops that only stream are not searched: they take what their values have, as far as these have anything.

use super::reading::{IndexRange, LoopNest};
use super::spread::{AxisCut, Spread};
use std::collections::BTreeSet;
use tensor_layout::places::Machine;

/// Spreads that are kept at each level.
const BEAM: usize = 48;

/// Spreads of the loops of an operation that the beam gives.
pub const BEST: usize = 10;

/// Spreads of the loops of an operation, in all.
pub const MOST_OF_LOOPS: usize = 20;

/// Spreads of a value.
pub const MOST_OF_VALUES: usize = 24;

/// An array that loops read or make: its sizes, indices and bits of an element.
pub struct Touched<'a> {
    /// Its sizes.
    pub sizes: &'a [i64],
    /// The ranges of its indices.
    pub ranges: &'a [IndexRange],
    /// The bits of an element.
    pub bits: i64,
}

/// Spreads of loops in which nodes read and make few bytes, best first.
pub fn anchored(machine: &Machine, nest: &LoopNest, arrays: &[Touched]) -> Vec<Spread> {
    let mut beam: Vec<(i128, i128, Spread)> = vec![(0, 0, Spread::default())];
    for axis in &machine.axes {
        let rate = machine.model.links.iter().find(|(name, _)| *name == axis.name);
        let rate = rate.map_or(1_000_000, |(_, rate)| rate.millionths.max(1));
        let mut next: Vec<(i128, i128, Spread)> = Vec::new();
        for (cost, sides, spread) in &beam {
            let room: Vec<i64> = (0..nest.sizes.len())
                .map(|of| if nest.cuttable[of] { spread.block(of, nest.sizes[of]) } else { 1 })
                .collect();
            for cuts in cut_all(axis.extent, &room) {
                let mut spread = spread.clone();
                spread.axes.push(cuts);
                let bits =
                    arrays.iter().map(|array| i128::from(array.bits).saturating_mul(boxed(nest, &spread, array)));
                let bits = bits.fold(0, i128::saturating_add);
                let own: i128 =
                    nest.sizes.iter().enumerate().map(|(of, size)| i128::from(spread.block(of, *size))).sum();
                let added = bits.saturating_mul(1_000_000) / i128::from(rate);
                next.push((cost.saturating_add(added), sides + own, spread));
            }
        }
        next.sort();
        next.dedup();
        next.truncate(BEAM);
        beam = next;
    }
    beam.into_iter().map(|(.., spread)| spread).take(BEST).collect()
}

/// The elements of an array that a node of the last level reads or makes.
fn boxed(nest: &LoopNest, spread: &Spread, array: &Touched) -> i128 {
    let loops: Vec<[i64; 2]> = (nest.sizes.iter().enumerate()).map(|(of, size)| [0, spread.block(of, *size)]).collect();
    let of = |(range, size): (&IndexRange, &i64)| {
        let IndexRange::Along { of, stride, low, high, divisor } = *range else { return i128::from(*size) };
        let length = i128::from(loops[of][1] - 1) * i128::from(stride) + i128::from(high) - i128::from(low);
        (length.div_euclid(i128::from(divisor)) + 1).clamp(0, i128::from(*size))
    };
    array.ranges.iter().zip(array.sizes).map(of).fold(1, i128::saturating_mul)
}

/// All ways to cut loops with so much room into `extent` pieces together; into the most that there is room for.
fn cut_all(extent: i64, room: &[i64]) -> Vec<Vec<AxisCut>> {
    let mut divisors: Vec<i64> = (1..=extent).filter(|n| extent % n == 0).collect();
    divisors.reverse();
    for pieces in divisors {
        let mut found = Vec::new();
        cut(pieces, 0, room, &mut Vec::new(), &mut found);
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

fn cut(pieces: i64, of: usize, room: &[i64], cuts: &mut Vec<AxisCut>, found: &mut Vec<Vec<AxisCut>>) {
    if pieces == 1 {
        found.push(cuts.clone());
        return;
    }
    let Some(own) = room.get(of) else { return };
    for n in (1..=pieces.min(*own)).filter(|n| pieces % n == 0) {
        if n > 1 {
            cuts.push(AxisCut::of(of, n));
        }
        cut(pieces / n, of + 1, room, cuts, found);
        if n > 1 {
            cuts.pop();
        }
    }
}

/// The spread in which an array is read or made by loops that are spread so; loops that the array does not follow make
/// copies.
pub fn of_array(spread: &Spread, ranges: &[IndexRange]) -> Spread {
    let mut spread = spread.renamed(&|of| ranges.iter().position(|range| range.of_loop() == Some(of)));
    spread.settle();
    spread
}

/// The spread of loops in which an array that is spread so is read or made where it is, as far as its loops may be cut.
pub fn of_loops(spread: &Spread, ranges: &[IndexRange], nest: &LoopNest) -> Spread {
    let mut spread = spread.renamed(&|dim| ranges[dim].of_loop().filter(|of| nest.cuttable[*of]));
    spread.axes.iter_mut().for_each(|cuts| cuts.retain(|cut| cut.of.is_some()));
    spread.settle();
    spread
}

/// Candidates in the order in which they were found, each once.
#[derive(Clone, Debug, Default)]
pub struct SpreadSet {
    /// The candidates.
    pub all: Vec<Spread>,
    known: BTreeSet<Spread>,
}

impl SpreadSet {
    /// Adds one, up to `most` in all.
    pub fn add(&mut self, spread: Spread, most: usize) {
        if self.all.len() < most && self.known.insert(spread.clone()) {
            self.all.push(spread);
        }
    }
}
