//! Relayout plans: strided copies between places.

use crate::limits;
use std::fmt;

/// The most blocks of a plan.
pub const MAX_BLOCKS: usize = limits::RELAYOUT_BLOCKS;

/// A relayout of a tensor from one placement to another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RelayoutPlan {
    /// The named axes: the machine's from parent to child, or without a machine the layouts' in order of appearance;
    /// after them `Time` and `W`, where a layout names them.
    pub axes: Vec<String>,
    /// The memories of the source and the destination, as numbers in
    /// [`Machine::memories`](crate::places::Machine::memories), chosen by
    /// [`Machine::check`](crate::places::Machine::check). `None`, the places of the last axis, without a machine or
    /// memories.
    pub memories: [Option<usize>; 2],
    /// The elements to place, each counted once for each copy in the destination.
    pub elements: i64,
    /// Elements that stay in the same memory of the same place, so at one coordinate along each axis down to the
    /// memory's. 0 where the sides are in different memories.
    pub stay: i64,
    /// Staying elements that move neither in time, nor along the address, nor inside a word. If only one side has
    /// words, an address there counts as many elements as a word has.
    pub unmoved: i64,
    /// The levels of the tree, outermost first.
    pub levels: Vec<Level>,
    /// The copies. Together they fill every place of the destination once.
    pub blocks: Vec<Block>,
}

/// A level of the tree of places: the places of an axis, or groups of them, below a common parent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Level {
    /// The axis.
    pub axis: String,
    /// The number of places of the axis in one place of the level: 1, or more for a level of groups.
    pub group: i64,
    /// Elements for which this is the outermost level where source and destination places differ. A side whose memory
    /// hangs above the level has no place there, and so differs from each place of the other side: between memories at
    /// different depths, elements not counted further out count at the first level below the upper memory. 0 below both
    /// memories.
    pub cross: i64,
    /// Bytes that the busiest place of this level sends to its parent, for elements that go to another place of the
    /// level, with the same parent or not, or to a memory above. 0 where the source's memory hangs above the level.
    pub up: i64,
    /// Bytes that the busiest place of this level receives from its parent, likewise. 0 where the destination's memory
    /// hangs above the level.
    pub down: i64,
}

/// Coordinates as affine functions of counters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Affine {
    /// The coordinates where all counters are 0: along each axis of the plan (0 where the side's memory has none), last
    /// the address.
    pub base: Vec<i64>,
    /// The stride of each counter in each coordinate.
    pub strides: Vec<Vec<i64>>,
}

/// A strided copy from `source` to `destination`, for all values of the counters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Block {
    /// The number of values of each counter, each at least 2.
    pub sizes: Vec<i64>,
    /// The coordinates that are read.
    pub source: Affine,
    /// The coordinates that are written.
    pub destination: Affine,
}

/// A strided copy from one place to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copy {
    /// The coordinate of the source along each axis of the plan, and last its first address.
    pub source: Vec<i64>,
    /// The coordinates of the destination, likewise.
    pub destination: Vec<i64>,
    /// The number of values of each counter.
    pub sizes: Vec<i64>,
    /// The stride of each counter in the source's address.
    pub source_strides: Vec<i64>,
    /// The stride of each counter in the destination's address.
    pub destination_strides: Vec<i64>,
}

impl Affine {
    fn at(&self, counters: &[i64]) -> Vec<i64> {
        let mut at = self.base.clone();
        for (strides, counter) in self.strides.iter().zip(counters) {
            let moved = |at: i64, stride: i64| at.saturating_add(stride.saturating_mul(*counter));
            at.iter_mut().zip(strides).for_each(|(at, stride)| *at = moved(*at, *stride));
        }
        at
    }
}

/// A table: elements that stay, the number of blocks, and the traffic of each level.
impl fmt::Display for RelayoutPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "elements  {}", self.elements)?;
        writeln!(f, "stay      {} ({} do not move at all)", self.stay, self.unmoved)?;
        writeln!(f, "blocks    {}", self.blocks.len())?;
        let mut rows = vec![["level", "cross", "bytes up", "bytes down"].map(String::from)];
        for level in &self.levels {
            let name = match level.group {
                1 => level.axis.clone(),
                group => format!("{group} {}", level.axis),
            };
            rows.push([name, level.cross.to_string(), level.up.to_string(), level.down.to_string()]);
        }
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths = [0, 1, 2, 3].map(width);
        for row in &rows {
            write!(f, "{:<1$}", row[0], widths[0])?;
            for column in 1..4 {
                write!(f, "  {:>1$}", row[column], widths[column])?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Block {
    /// The number of copied elements; `i64::MAX` where 64 bits do not hold it, as in no block of a [`RelayoutPlan`].
    pub fn elements(&self) -> i64 {
        self.sizes.iter().copied().fold(1, i64::saturating_mul)
    }

    /// The copies between single places that make up the block.
    pub fn copies(&self) -> impl Iterator<Item = Copy> + '_ {
        let moves = |k: &usize| {
            let places = |strides: &[i64]| strides.split_last().is_some_and(|(_, axes)| axes.iter().any(|s| *s != 0));
            places(&self.source.strides[*k]) || places(&self.destination.strides[*k])
        };
        let (outer, inner): (Vec<usize>, Vec<usize>) = (0..self.sizes.len()).partition(moves);
        let addresses =
            |strides: &[Vec<i64>]| inner.iter().map(|k| strides[*k].last().copied().unwrap_or(0)).collect::<Vec<_>>();
        let (source_strides, destination_strides) =
            (addresses(&self.source.strides), addresses(&self.destination.strides));
        let sizes: Vec<i64> = inner.iter().map(|k| self.sizes[*k]).collect();
        let mut counters = Some(vec![0; self.sizes.len()]);
        std::iter::from_fn(move || {
            let now = counters.take()?;
            let copy = Copy {
                source: self.source.at(&now),
                destination: self.destination.at(&now),
                sizes: sizes.clone(),
                source_strides: source_strides.clone(),
                destination_strides: destination_strides.clone(),
            };
            let mut next = now;
            let more = outer.iter().rev().any(|&k| {
                next[k] = (next[k] + 1) % self.sizes[k];
                next[k] != 0
            });
            counters = more.then_some(next);
            Some(copy)
        })
    }
}
