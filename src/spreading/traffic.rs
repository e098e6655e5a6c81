//! What nodes of a machine get and give: the bytes at each level.
//!
//! What a place has of an array is a box: an interval of each dimension. What all places of a node have is a set of indices
//! of each dimension, all of them combined; a set is a list of intervals, since cuts of a dimension may be nested in any
//! order. A node gets `|read| - |read and held|` elements from its parent.

use super::reading::IndexRange;
use super::spread::{NestedCut, Spread};
use crate::places::Machine;
use crate::text::Error;

/// The most nodes of a machine, so that all of them can be looked at.
const MOST_NODES: i64 = 1 << 16;

/// What an operation moves of one array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelBytes {
    /// By axis of the machine, the bytes that one node along it gets from its parent or gives to it, at most.
    pub busiest: Vec<i64>,
    /// The same for all nodes together.
    pub total: Vec<i64>,
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

/// Half-open intervals in order, none empty, none next to each other.
type IndexSet = Vec<[i64; 2]>;

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

    /// What the places have of dimensions of these sizes.
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

    /// What places have of an array of so many dimensions that is in none of them.
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

    /// What moves where nodes read or make some of an array, and hold some of it.
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

    /// The cost of a traffic in units of the machine, rounded up.
    pub fn cost(machine: &Machine, traffic: &LevelBytes) -> i64 {
        let one = |(axis, bytes): (&crate::places::Axis, &i64)| {
            let link = machine.model.links.iter().find(|(name, _)| *name == axis.name);
            let rate = link.map_or(1_000_000, |(_, rate)| rate.millionths.max(1));
            i128::from(*bytes) * 1_000_000_000_000 / i128::from(rate)
        };
        let sum: i128 = machine.axes.iter().zip(&traffic.busiest).map(one).sum();
        i64::try_from((sum + 999_999) / 1_000_000).unwrap_or(i64::MAX)
    }
}

impl Boxes {
    /// What loops with these boxes read or make of an array of `sizes`.
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

/// How many indices sets of two lists have in common.
struct Common<'a> {
    /// The number of indices in each of the first list.
    read: Vec<i64>,
    sets: [&'a [IndexSet]; 2],
}

impl Common<'_> {
    fn of<'a>(read: &'a [IndexSet], held: &'a [IndexSet]) -> Common<'a> {
        let length = |set: &IndexSet| set.iter().map(|[start, end]| end - start).sum();
        Common { read: read.iter().map(length).collect(), sets: [read, held] }
    }

    fn both(&self, read: usize, held: usize) -> i64 {
        let (mut read, mut held) = (&self.sets[0][read][..], &self.sets[1][held][..]);
        let mut sum = 0;
        while let ([[start, end], ..], [[from, to], ..]) = (read, held) {
            sum += (end.min(to) - start.max(from)).max(0);
            if end < to { read = &read[1..] } else { held = &held[1..] }
        }
        sum
    }
}

/// The indices of a dimension of `size` in pieces of `block`, for all values of the digits that are known, in their order.
fn sets_of(digits: &[NestedCut], known: &dyn Fn(&NestedCut) -> bool, block: i64, size: i64) -> Vec<IndexSet> {
    let values: i64 = digits.iter().filter(|digit| known(digit)).map(|digit| digit.pieces).product();
    let mut sets: Vec<IndexSet> = vec![Vec::new(); values as usize];
    // All neighbours in one set are in one piece.
    let inner = digits.iter().rev().take_while(|digit| !known(digit));
    let span = inner.fold(block, |span, digit| span.saturating_mul(digit.pieces));
    let outer = &digits[..digits.iter().rposition(known).map_or(0, |last| last + 1)];
    let pieces: i64 = outer.iter().map(|digit| digit.pieces).product();
    for piece in 0..pieces {
        let [start, end] = [piece, piece + 1].map(|at| at.saturating_mul(span).min(size));
        if start == end {
            break;
        }
        let (mut below, mut number) = (pieces, 0);
        for digit in outer {
            below /= digit.pieces;
            if known(digit) {
                number = number * digit.pieces + piece / below % digit.pieces;
            }
        }
        add(&mut sets[number as usize], [start, end]);
    }
    sets
}

/// The indices that a range has for those of its loop.
fn image(set: &IndexSet, range: IndexRange, size: i64) -> IndexSet {
    let mut found = Vec::with_capacity(set.len());
    for own in set {
        let [start, end] = range.of(*own, size);
        if start < end {
            add(&mut found, [start, end]);
        }
    }
    found
}

/// Adds an interval behind all others, or one that reaches into the last.
fn add(set: &mut IndexSet, [start, end]: [i64; 2]) {
    match set.last_mut() {
        Some(last) if last[1] >= start => last[1] = last[1].max(end),
        _ => set.push([start, end]),
    }
}

fn bytes(elements: i64, bits: i64) -> i64 {
    let bits = i128::from(elements) * i128::from(bits);
    i64::try_from((bits + 7) / 8).unwrap_or(i64::MAX)
}
