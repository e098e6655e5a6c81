//! Traffic of the nodes of a machine: the bytes that they get and give at each level.
//!
//! The elements of an array in a place are a box: an interval of each dimension. Those in all places of a node are a
//! set of indices of each dimension, all of them combined; a set is a list of intervals, since cuts of a dimension may
//! be nested in any order. A node gets `|read| - |read and held|` elements from its parent.

use super::reading::{IndexRange, LoopNest};
use super::sets::{IndexSet, common, image, length, sets_of};
use super::spread::{NestedCut, Spread};
use super::time::{SteppedSets, TimeCut, groups};
use rustc_hash::FxHashMap;
use tensor_layout::limits;
use tensor_layout::places::Machine;
use tensor_layout::text::Error;

/// The most nodes of a machine, so that all of them can be looked at.
const MOST_NODES: i64 = limits::PLAN_PLACES;

/// The bytes of one array that an operation moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelBytes {
    /// By axis of the machine, the bytes that one node along it gets from its parent or gives to it, at most.
    pub busiest: Vec<i64>,
    /// The same for all nodes together.
    pub total: Vec<i64>,
}

impl LevelBytes {
    /// Whether each place holds what it uses: nothing moves at the last level.
    pub(super) fn is_in_place(&self) -> bool {
        self.total.last().is_none_or(|bytes| *bytes == 0)
    }

    /// So many times as much.
    pub fn times(mut self, times: i64) -> LevelBytes {
        self.busiest.iter_mut().chain(&mut self.total).for_each(|bytes| *bytes = bytes.saturating_mul(times));
        self
    }
}

/// For each node of each level, the indices of each dimension that its places have together.
pub struct Boxes {
    dims: usize,
    levels: Vec<NodeBoxes>,
}

/// The nodes of a level.
struct NodeBoxes {
    /// Whether a node has anything.
    live: Vec<bool>,
    /// By dimension, the sets that nodes have.
    sets: Vec<Vec<IndexSet>>,
    /// By node and dimension, which of them.
    own: Vec<u32>,
}

/// The levels of a machine.
pub struct Levels {
    /// The places of each axis, in each place of the one before.
    extents: Vec<i64>,
}

impl Levels {
    /// The levels of a machine.
    ///
    /// # Errors
    /// It has no places, or more than 2^16.
    pub fn new(machine: &Machine) -> Result<Levels, Error> {
        let extents: Vec<i64> = machine.axes.iter().map(|axis| axis.extent).collect();
        let places = extents.iter().try_fold(1i64, |n, extent| n.checked_mul(*extent).filter(|n| *n <= MOST_NODES));
        match places {
            Some(_) if !extents.is_empty() => Ok(Levels { extents }),
            Some(_) => Err(Error::new("the machine must have axes, found none")),
            None => Err(Error::new(format!("the machine must have at most {MOST_NODES} places, found more"))),
        }
    }

    /// The number of axes.
    pub fn count(&self) -> usize {
        self.extents.len()
    }

    /// The boxes that the places have of dimensions of these sizes.
    pub fn boxes(&self, sizes: &[i64], spread: &Spread) -> Boxes {
        let dims: Vec<(Vec<NestedCut>, i64)> =
            sizes.iter().enumerate().map(|(dim, size)| (spread.digits(dim), spread.block(dim, *size))).collect();
        let mut nodes = 1i64;
        let level = |level: usize| {
            nodes *= self.extents[level];
            let known = |digit: &NestedCut| digit.axis <= level;
            let sets = dims.iter().zip(sizes).map(|((digits, block), size)| sets_of(digits, &known, *block, *size));
            let mut own = NodeBoxes { live: Vec::new(), sets: sets.collect(), own: Vec::new() };
            for node in 0..nodes {
                let coordinates = self.coordinates(node, level);
                let mut live = coordinates.iter().enumerate().all(|(axis, at)| *at < spread.used(axis));
                for (dim, (digits, _)) in dims.iter().enumerate() {
                    let number = digits.iter().filter(|digit| known(digit)).fold(0, |number, digit| {
                        let at = coordinates[digit.axis] / spread.stride(digit.axis, digit.position) % digit.pieces;
                        number * digit.pieces + at
                    });
                    live &= !own.sets[dim][number as usize].is_empty();
                    own.own.push(number as u32);
                }
                own.live.push(live);
            }
            own
        };
        Boxes { dims: sizes.len(), levels: (0..self.extents.len()).map(level).collect() }
    }

    /// The empty boxes of an array of so many dimensions that is in no place.
    pub fn nowhere(&self, dims: usize) -> Boxes {
        let mut nodes = 1;
        let level = |extent: &i64| {
            nodes *= *extent as usize;
            NodeBoxes { live: vec![false; nodes], sets: vec![vec![Vec::new()]; dims], own: vec![0; nodes * dims] }
        };
        Boxes { dims, levels: self.extents.iter().map(level).collect() }
    }

    /// Where a node of a level is along each axis.
    fn coordinates(&self, node: i64, level: usize) -> Vec<i64> {
        let mut rest = node;
        let mut all: Vec<i64> = self.extents[..=level]
            .iter()
            .rev()
            .map(|extent| {
                let at = rest % extent;
                rest /= extent;
                at
            })
            .collect();
        all.reverse();
        all
    }

    /// The traffic where nodes read or make some of an array, and hold some of it.
    pub fn traffic(&self, read: &Boxes, held: &Boxes, bits: i64) -> LevelBytes {
        let mut traffic = LevelBytes::default();
        for (read, held) in read.levels.iter().zip(&held.levels) {
            let common = read.sets.iter().zip(&held.sets).map(|(read, held)| Common::of(read, held));
            let common: Vec<Common> = common.collect();
            let dims = common.len();
            let (mut busiest, mut total) = (0i64, 0i64);
            for node in (0..read.live.len()).filter(|node| read.live[*node]) {
                let (mut all, mut both) = (1i64, i64::from(held.live[node]));
                for (dim, common) in common.iter().enumerate() {
                    let [read, held] = [read, held].map(|boxes| boxes.own[node * dims + dim] as usize);
                    all = all.saturating_mul(common.read[read]);
                    both = both.saturating_mul(common.both(read, held));
                }
                busiest = busiest.max(all - both);
                total = total.saturating_add(all - both);
            }
            traffic.busiest.push(bytes(busiest, bits));
            traffic.total.push(bytes(total, bits));
        }
        traffic
    }

    /// The traffic where loops run in steps, as [`TimeCut`] says: the elements that nodes read and make, `read`, are
    /// brought or taken in pieces, but for those that they hold.
    pub fn traffic_in_steps(&self, read: &Boxes, held: &Boxes, array: &SteppedArray) -> LevelBytes {
        let SteppedArray { nest, loops, cut, ranges, sizes, bits, .. } = *array;
        let times = array.visits();
        let groups = groups(ranges);
        let mut traffic = LevelBytes::default();
        for (level, (read, held)) in read.levels.iter().zip(&held.levels).enumerate() {
            let dims = sizes.len();
            let sets: Vec<SteppedSets> = (groups.iter())
                .map(|group| match ranges[group[0]].of_loop() {
                    Some(of) => cut.sets(of, level, nest, loops),
                    None => vec![vec![vec![[0, sizes[group[0]]]]]],
                })
                .collect();
            let mut known: FxHashMap<(usize, u32, Vec<u32>), [i64; 2]> = FxHashMap::default();
            let (mut busiest, mut total) = (0i64, 0i64);
            for node in (0..read.live.len()).filter(|node| read.live[*node]) {
                let mut product = [1i64, i64::from(held.live[node])];
                for (number, group) in groups.iter().enumerate() {
                    let own = read.own[node * dims + group[0]];
                    let theirs: Vec<u32> = group.iter().map(|dim| held.own[node * dims + dim]).collect();
                    let sums = known.entry((number, own, theirs)).or_insert_with_key(|(.., theirs)| {
                        sums(&sets[number][own as usize], group, theirs, &held.sets, (ranges, sizes))
                    });
                    product.iter_mut().zip(sums).for_each(|(product, sum)| *product = product.saturating_mul(*sum));
                }
                let moved = (product[0] - product[1]).saturating_mul(times);
                busiest = busiest.max(moved);
                total = total.saturating_add(moved);
            }
            traffic.busiest.push(bytes(busiest, bits));
            traffic.total.push(bytes(total, bits));
        }
        traffic
    }

    /// The cost of a traffic in units of the machine, rounded up.
    pub fn cost(machine: &Machine, traffic: &LevelBytes) -> i64 {
        let one = |(axis, bytes): (&tensor_layout::places::Axis, &i64)| {
            let link = machine.model.links.iter().find(|(name, _)| *name == axis.name);
            let rate = link.map_or(1_000_000, |(_, rate)| rate.millionths.max(1));
            i128::from(*bytes) * 1_000_000_000_000 / i128::from(rate)
        };
        let sum: i128 = machine.axes.iter().zip(&traffic.busiest).map(one).sum();
        i64::try_from((sum + 999_999) / 1_000_000).unwrap_or(i64::MAX)
    }
}

impl Boxes {
    /// The boxes of an array of `sizes` that loops with these boxes read or make.
    pub fn of_array(&self, ranges: &[IndexRange], sizes: &[i64]) -> Boxes {
        let level = |loops: &NodeBoxes| {
            let mut found = NodeBoxes { live: loops.live.clone(), sets: Vec::new(), own: Vec::new() };
            for (range, size) in ranges.iter().zip(sizes) {
                found.sets.push(match range.of_loop() {
                    Some(of) => loops.sets[of].iter().map(|set| image(set, *range, *size)).collect(),
                    None => vec![vec![[0, *size]]],
                });
            }
            for node in 0..loops.live.len() {
                let own = |range: &IndexRange| range.of_loop().map_or(0, |of| loops.own[node * self.dims + of]);
                found.own.extend(ranges.iter().map(own));
            }
            found
        };
        Boxes { dims: ranges.len(), levels: self.levels.iter().map(level).collect() }
    }
}

/// An array that loops read or make in steps.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SteppedArray<'a> {
    /// The loops.
    pub nest: &'a LoopNest,
    /// How these are spread.
    pub loops: &'a Spread,
    /// How those of a place are cut into steps.
    pub cut: &'a TimeCut,
    /// The ranges of the array's indices.
    pub ranges: &'a [IndexRange],
    /// Its sizes.
    pub sizes: &'a [i64],
    /// The bits of an element.
    pub bits: i64,
    /// Whether it is made: what is summed up before is read again.
    pub is_result: bool,
}

impl<'a> SteppedArray<'a> {
    /// An array with ranges of indices and sizes.
    pub fn new(
        nest: &'a LoopNest,
        loops: &'a Spread,
        cut: &'a TimeCut,
        (ranges, sizes): (&'a [IndexRange], &'a [i64]),
        bits: i64,
        is_result: bool,
    ) -> SteppedArray<'a> {
        SteppedArray { nest, loops, cut, ranges, sizes, bits, is_result }
    }

    /// How often each piece is brought or taken.
    fn visits(&self) -> i64 {
        let visits = self.cut.visits(self.ranges, self.nest, self.loops);
        if self.is_result { visits.saturating_mul(2) - 1 } else { visits }
    }

    /// The same, where all pieces together are as much as the whole; `None` where they may overlap.
    pub(super) fn times(&self) -> Option<i64> {
        let plain = |group: &Vec<usize>| {
            let range = self.ranges[group[0]];
            let is_cut = range.of_loop().is_some_and(|of| self.cut.order.contains(&of));
            !is_cut || group.len() == 1 && range.is_loop()
        };
        groups(self.ranges).iter().all(plain).then(|| self.visits())
    }
}

/// Over all steps of a loop, the indices of the dimensions that follow it, and those of them that are held.
fn sums(
    steps: &[IndexSet],
    group: &[usize],
    held: &[u32],
    sets: &[Vec<IndexSet>],
    (ranges, sizes): (&[IndexRange], &[i64]),
) -> [i64; 2] {
    let mut sums = [0i64; 2];
    for step in steps {
        let mut product = [1i64; 2];
        for (dim, held) in group.iter().zip(held) {
            let own = match ranges[*dim].of_loop() {
                Some(_) => image(step, ranges[*dim], sizes[*dim]),
                None => step.clone(),
            };
            let both = common(&own, &sets[*dim][*held as usize]);
            product = [product[0].saturating_mul(length(&own)), product[1].saturating_mul(both)];
        }
        sums = [sums[0].saturating_add(product[0]), sums[1].saturating_add(product[1])];
    }
    sums
}

/// How many indices sets of two lists have in common.
struct Common<'a> {
    /// The number of indices in each of the first list.
    read: Vec<i64>,
    sets: [&'a [IndexSet]; 2],
}

impl Common<'_> {
    fn of<'a>(read: &'a [IndexSet], held: &'a [IndexSet]) -> Common<'a> {
        Common { read: read.iter().map(length).collect(), sets: [read, held] }
    }

    fn both(&self, read: usize, held: usize) -> i64 {
        common(&self.sets[0][read], &self.sets[1][held])
    }
}

fn bytes(elements: i64, bits: i64) -> i64 {
    let bits = i128::from(elements) * i128::from(bits);
    i64::try_from((bits + 7) / 8).unwrap_or(i64::MAX)
}
