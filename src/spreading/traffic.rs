//! What nodes of a machine get and give: the bytes at each level.
//!
//! A place's part of an array is a box: an interval of each dimension. So is what all places of a node have, and what they
//! read. A node gets `|read| - |read and held|` elements from its parent.

use super::reading::IndexRange;
use super::spread::Spread;
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

/// For each node of each level, the interval of each dimension that its places have together.
pub struct Boxes {
    dims: usize,
    levels: Vec<NodeBoxes>,
}

/// The nodes of a level.
struct NodeBoxes {
    /// Whether a node has anything.
    live: Vec<bool>,
    /// By node and dimension, half-open.
    ranges: Vec<[i64; 2]>,
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

    /// What the places have of dimensions of these sizes.
    pub fn boxes(&self, sizes: &[i64], spread: &Spread) -> Boxes {
        let mut nodes = 1i64;
        let level = |level: usize| {
            nodes *= self.extents[level];
            let mut own = NodeBoxes { live: Vec::new(), ranges: Vec::with_capacity(nodes as usize * sizes.len()) };
            let spans: Vec<i64> = (sizes.iter().enumerate())
                .map(|(dim, size)| spread.block(dim, *size).saturating_mul(spread.pieces(dim, level + 1)))
                .collect();
            let mut pieces = vec![0i64; sizes.len()];
            for node in 0..nodes {
                let mut live = self.pieces(node, level, spread, &mut pieces);
                for ((at, span), size) in pieces.iter().zip(&spans).zip(sizes) {
                    let [start, end] = [*at, at + 1].map(|at| at.saturating_mul(*span).min(*size));
                    live &= start < end;
                    own.ranges.push([start, end]);
                }
                own.live.push(live);
            }
            own
        };
        Boxes { dims: sizes.len(), levels: (0..self.extents.len()).map(level).collect() }
    }

    /// For each dimension the number of the piece that a node has, by its number along the axes up to `level`; whether it
    /// has any.
    fn pieces(&self, node: i64, level: usize, spread: &Spread, pieces: &mut [i64]) -> bool {
        pieces.fill(0);
        let mut below: i64 = self.extents[..=level].iter().product();
        let mut rest = node;
        for (extent, (axis, cuts)) in self.extents.iter().zip(spread.axes.iter().enumerate()).take(level + 1) {
            below /= extent;
            let coordinate = rest / below;
            rest %= below;
            let mut scale = spread.used(axis);
            if coordinate >= scale {
                return false;
            }
            for cut in cuts {
                scale /= cut.pieces;
                if let Some(dim) = cut.of {
                    pieces[dim] = pieces[dim] * cut.pieces + coordinate / scale % cut.pieces;
                }
            }
        }
        true
    }

    /// What moves where nodes read or make some of an array, and hold some of it.
    pub fn traffic(&self, read: &Boxes, held: &Boxes, bits: i64) -> LevelBytes {
        let mut traffic = LevelBytes::default();
        for (read, held) in read.levels.iter().zip(&held.levels).map(|(a, b)| (a.nodes(read.dims), b.nodes(held.dims)))
        {
            let (mut busiest, mut total) = (0i64, 0i64);
            for ((_, read), (holds, held)) in read.zip(held).filter(|((live, _), _)| *live) {
                let all = read.iter().fold(1i64, |n, [start, end]| n.saturating_mul(end - start));
                let both = read.iter().zip(held).fold(i64::from(holds), |n, ([start, end], [from, to])| {
                    n.saturating_mul((end.min(to) - start.max(from)).max(0))
                });
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
        let level = |own: &NodeBoxes| {
            let mut found =
                NodeBoxes { live: own.live.clone(), ranges: Vec::with_capacity(own.live.len() * ranges.len()) };
            for (_, loops) in own.nodes(self.dims) {
                found.ranges.extend(ranges.iter().zip(sizes).map(|(range, size)| {
                    let [start, end] = range.of(loops, *size);
                    [start, end.max(start)]
                }));
            }
            found
        };
        Boxes { dims: ranges.len(), levels: self.levels.iter().map(level).collect() }
    }
}

impl NodeBoxes {
    fn nodes(&self, dims: usize) -> impl Iterator<Item = (bool, &[[i64; 2]])> {
        self.live.iter().enumerate().map(move |(node, live)| (*live, &self.ranges[node * dims..(node + 1) * dims]))
    }
}

fn bytes(elements: i64, bits: i64) -> i64 {
    let bits = i128::from(elements) * i128::from(bits);
    i64::try_from((bits + 7) / 8).unwrap_or(i64::MAX)
}
