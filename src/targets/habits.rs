//! The layouts in which operations are made, whatever is wanted of them: a compiler for registers computes products, sorts
//! and sums along a line in a layout of its own, and copies.
//!
//! | operation | made in |
//! |---|---|
//! | product | of one dimension of the rows and one of the columns minor and second-minor in the way that pads least, the second-minor one being the longest of its kind, then columns, rows, and batch dimensions |
//! | sort, top k | of the sorted dimension second-minor; where it is longer than a register's lanes, minor if that pads less |
//! | sums along a whole dimension | of that dimension most major, unless it is the last or fits into a register's rows: then row-major, or with it second-minor |
//!
//! Found by asking XLA's compiler for a TPU for its own choice of the entry of single operations: the rule of products gives
//! the order of 244 of 257 products of up to four dimensions, and the minor dimension of 255. There the last dimension that
//! fills rows was second-minor; of 28 products of two dimensions of one kind it is the longest one in all.

use super::product::LoopProduct;
use super::target::Target;
use crate::numbers::ceil_div;
use crate::operations::operation::{Algorithm, Operation, WindowDim};
use crate::operations::shape::Array;
use std::cmp::Reverse;
use std::ops::Range;

/// Registers, as far as they say how operations are made.
#[derive(Clone, Copy)]
struct Registers {
    rows: i64,
    lanes: i64,
}

impl Target {
    /// The order, minor to major, in which an operation makes its first result where `wanted` is wanted, and takes and makes
    /// all of the same dimensions. `None` where it makes what is wanted. `summed` are the dimensions of the result that are
    /// summed over after it.
    pub fn made_in(
        &self,
        operation: &Operation,
        operands: &[&Array],
        results: &[&Array],
        wanted: &[usize],
        summed: &[usize],
    ) -> Option<Vec<usize>> {
        let model = &self.machine().model;
        let (rows, lanes) = model.registers.filter(|_| self.has_tiles())?;
        let registers = Registers { rows, lanes };
        match operation {
            Operation::Dot { lhs_batch, lhs_contracting, .. } if LoopProduct::of(operation, operands).is_none() => {
                let (lhs, sizes) = (operands.first()?.dims.len(), results.first()?.sizes()?);
                let first = lhs_batch.len();
                let middle = lhs.checked_sub(lhs_contracting.len()).filter(|middle| *middle <= sizes.len())?;
                registers.product(&sizes, first, middle, summed)
            }
            Operation::Algorithm(algorithm) => {
                let sizes = operands.first()?.sizes()?;
                match **algorithm {
                    Algorithm::Sort { dim } => registers.sorted(&sizes, dim, wanted),
                    Algorithm::TopK { .. } => registers.sorted(&sizes, sizes.len().checked_sub(1)?, wanted),
                    _ => None,
                }
            }
            Operation::ReduceWindow { window } => {
                let sizes = results.first()?.sizes()?;
                let long = |dim: &usize| window.get(*dim).is_some_and(|own: &WindowDim| own.size > 1);
                let mut along = (0..sizes.len()).filter(long);
                let dim = along.next().filter(|dim| window[*dim].size >= sizes[*dim])?;
                if along.next().is_some() { None } else { registers.scanned(&sizes, dim) }
            }
            _ => None,
        }
    }
}

/// `n` rounded up to a multiple.
fn up(n: i64, by: i64) -> i64 {
    ceil_div(n, by).saturating_mul(by)
}

impl Registers {
    /// How many times its size a dimension takes in the lanes, in millionths.
    fn in_lanes(self, n: i64) -> i128 {
        i128::from(up(n, self.lanes)) * 1_000_000 / i128::from(n.max(1))
    }

    /// The same in the rows, of which a tile has a power of two.
    fn in_rows(self, n: i64) -> i128 {
        let tile = (0..31).map(|k| 1i64 << k).find(|tile| *tile >= n.min(self.rows)).unwrap_or(1);
        i128::from(up(n, tile)) * 1_000_000 / i128::from(n.max(1))
    }

    /// How many times its size an array takes with one dimension in the lanes and one in the rows.
    fn padded(self, sizes: &[i64], minor: usize, second: usize) -> i128 {
        self.in_lanes(sizes[minor]) * self.in_rows(sizes[second])
    }

    /// A product: batch dimensions up to `first`, rows up to `middle`, then columns.
    fn product(self, sizes: &[i64], first: usize, middle: usize, summed: &[usize]) -> Option<Vec<usize>> {
        let (rows, columns) = (first..middle, middle..sizes.len());
        let minor = |dims: Range<usize>| dims.min_by_key(|dim| (self.in_lanes(sizes[*dim]), Reverse(*dim)));
        let second = |dims: Range<usize>| dims.max_by_key(|dim| (sizes[*dim], *dim));
        let pairs =
            [(minor(columns.clone())?, second(rows.clone())?), (minor(rows.clone())?, second(columns.clone())?)];
        // Of equals, sums over rows are cheaper than over lanes, but long dimensions fill lanes.
        let cost = |(minor, second): &(usize, usize)| {
            let summed = summed.contains(minor) && sizes[*minor] <= sizes[*second];
            (self.padded(sizes, *minor, *second), summed)
        };
        let (minor, second) = pairs.into_iter().min_by_key(cost)?;
        let rest = columns.rev().chain(rows.rev()).chain((0..first).rev());
        Some([minor, second].into_iter().chain(rest.filter(|dim| *dim != minor && *dim != second)).collect())
    }

    /// An array whose lines along a dimension are sorted.
    fn sorted(self, sizes: &[i64], dim: usize, wanted: &[usize]) -> Option<Vec<usize>> {
        let other = *wanted.iter().find(|other| **other != dim)?;
        let [in_lanes, in_rows] = [self.padded(sizes, dim, other), self.padded(sizes, other, dim)];
        let pair = if sizes[dim] > self.lanes && in_lanes < in_rows { [dim, other] } else { [other, dim] };
        Some(pair.into_iter().chain(wanted.iter().copied().filter(|other| !pair.contains(other))).collect())
    }

    /// An array in which a window is as long as a dimension.
    fn scanned(self, sizes: &[i64], dim: usize) -> Option<Vec<usize>> {
        let others = || (0..sizes.len()).rev().filter(|other| *other != dim);
        match (sizes.len(), dim) {
            (0..3, _) => None,
            (rank, dim) if sizes[dim] > self.rows => {
                let last = dim + 1 == rank;
                Some(if last { (0..rank).rev().collect() } else { others().chain([dim]).collect() })
            }
            _ => {
                let minor = others().min_by_key(|dim| self.in_lanes(sizes[*dim]))?;
                Some([minor, dim].into_iter().chain(others().filter(|other| *other != minor)).collect())
            }
        }
    }
}
