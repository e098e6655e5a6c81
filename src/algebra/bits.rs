//! Layouts that are linear in the bits of the index.
//!
//! If all sizes are powers of two and no two digits reach a common bit of a place, sums are exclusive ors: the place of
//! `i xor j` is the place of `i` xor that of `j`. Then the places of the powers of two, the columns of a matrix over
//! bits, determine the layout, and composing layouts multiplies matrices.

use crate::algebra::chain::Chain;
use crate::algebra::layout::{Flip, LayoutFunction, Place};
use crate::algebra::mode::{Digit, Mode, large};
use crate::text::Error;
use smallvec::smallvec;

/// The most bits of places and indices together.
const MOST_BITS: usize = 62;

/// The place of index 0, and what each bit of the index flips in it.
pub(super) struct Columns {
    pub first: Vec<i64>,
    pub columns: Vec<Vec<i64>>,
}

impl Columns {
    /// The columns of a layout; `None` if it is not linear in bits, or has copies.
    pub fn new(layout: &LayoutFunction) -> Option<Columns> {
        let mut seen = layout.base.clone();
        for digit in layout.mode.digits() {
            for bit in 0..digit.extent.trailing_zeros() {
                let step = digit.stride << bit;
                if digit.extent.count_ones() != 1 || step < 0 || seen[digit.axis] & step != 0 {
                    return None;
                }
                seen[digit.axis] |= step;
            }
            if digit.extent.count_ones() != 1 {
                return None;
            }
        }
        if layout.mode.is_padded() || !layout.copies.is_empty() || seen.iter().any(|bits| *bits < 0) {
            return None;
        }
        Some(Columns::of(layout.size(), &|index| layout.place(index)))
    }

    /// The columns of a function of so many indices, a power of two.
    pub fn of(size: i64, place: &dyn Fn(i64) -> Vec<i64>) -> Columns {
        let first = place(0);
        let column = |bit| place(1i64 << bit).iter().zip(&first).map(|(a, b)| a ^ b).collect();
        Columns { columns: (0..size.trailing_zeros()).map(column).collect(), first }
    }

    /// The layout with the sizes of a mode and these columns.
    ///
    /// Each column gets a bit of the sum of its own, one that it flips where there is one left, and each bit of the
    /// place is the exclusive or of those of the columns that flip it.
    pub fn layout(&self, axes: &[String], mode: &Mode) -> Result<LayoutFunction, Error> {
        let mut all: Vec<&Vec<i64>> = self.columns.iter().collect();
        all.push(&self.first);
        let address = axes.len();
        let reached = |axis: usize| all.iter().fold(0, |bits, column| bits | column[axis]);
        let mut fresh = 64 - reached(address).leading_zeros();
        let mut used: Vec<i64> = vec![0; address + 1];
        let mut own = vec![None; all.len()];
        for single in [true, false] {
            for (k, column) in all.iter().enumerate().filter(|(_, column)| ones(column) > 0) {
                if own[k].is_some() || single != (ones(column) == 1) {
                    continue;
                }
                let free = |axis: &usize| column[*axis] & !used[*axis] != 0;
                let (axis, bit) = match (0..=address).rev().find(free) {
                    Some(axis) => (axis, 63 - (column[axis] & !used[axis]).leading_zeros()),
                    None => (address, fresh),
                };
                fresh = fresh.max(bit + 1);
                if bit as usize >= MOST_BITS {
                    return Err(large());
                }
                used[axis] |= 1 << bit;
                own[k] = Some((axis, bit));
            }
        }
        let flips = flips(&all, &own, address);
        let mut base: Place = smallvec![0; address + 1];
        own.pop().flatten().into_iter().for_each(|(axis, bit)| base[axis] = 1 << bit);
        let mut next = own.into_iter();
        let mode = mode.map(&mut |digit| {
            let mut chain = Chain::new();
            for _ in 0..digit.extent.trailing_zeros() {
                let (axis, stride) = next.next().flatten().map_or((0, 0), |(axis, bit)| (axis, 1 << bit));
                chain.grow(Digit::new(2, axis, stride));
            }
            Ok(chain.mode())
        })?;
        LayoutFunction { axes: axes.to_vec(), mode, copies: Vec::new(), base, flips }.checked()
    }
}

/// The layout of these sizes that has the places of a function at index 0 and at the powers of two.
///
/// # Errors
/// A size that is no power of two.
pub(crate) fn linear(axes: &[String], sizes: &[i64], place: &dyn Fn(i64) -> Vec<i64>) -> Result<LayoutFunction, Error> {
    if let Some((dim, size)) = sizes.iter().enumerate().find(|(_, size)| size.count_ones() != 1) {
        let message =
            format!("the places are no sums of digits, and the size of dimension {dim} is no power of two, {size}");
        return Err(Error::new(message).unsupported());
    }
    let modes = Mode::group(sizes.iter().map(|size| Mode::Digit(Digit::new(*size, 0, 0))).collect());
    Columns::of(modes.size(), place).layout(axes, &modes)
}

fn ones(column: &[i64]) -> u32 {
    column.iter().map(|bits| bits.count_ones()).sum()
}

/// The flips that make of the bits of the columns the columns.
fn flips(all: &[&Vec<i64>], own: &[Option<(usize, u32)>], address: usize) -> Vec<Flip> {
    let mut flips = Vec::new();
    for axis in 0..=address {
        for bit in 0..MOST_BITS as u32 {
            let mut of = vec![0; address + 1];
            let pairs = all.iter().zip(own).filter_map(|(column, own)| Some((column, (*own)?)));
            pairs.clone().filter(|(column, _)| column[axis] >> bit & 1 == 1).for_each(|(_, (a, b))| of[a] |= 1 << b);
            let mut same = vec![0; address + 1];
            same[axis] = pairs.filter(|(_, own)| *own == (axis, bit)).fold(0, |same, _| same | 1 << bit);
            if of != same {
                flips.push(Flip { axis, bit, of });
            }
        }
    }
    flips
}

/// The composition of layouts of bits.
pub(super) fn compose(outer: &LayoutFunction, inner: &LayoutFunction) -> Result<LayoutFunction, Error> {
    let unlike = |which: &str, layout: &LayoutFunction| {
        let message = format!(
            "a layout that is composed with a swizzle inside must be linear in bits, found the {which} one, {layout}"
        );
        Error::new(message).unsupported()
    };
    if !inner.axes.is_empty() {
        outer.modes_of(&inner.axes)?;
    }
    let own = Columns::new(inner).ok_or_else(|| unlike("inner", inner))?;
    Columns::new(outer).ok_or_else(|| unlike("outer", outer))?;
    let powers = (0..own.columns.len()).map(|bit| 1 << bit);
    if let Some(index) = [0].into_iter().chain(powers).find(|index| outer.at_place(&inner.place(*index)).is_none()) {
        return Err(outer.outside(inner, index));
    }
    let columns = Columns::of(inner.size(), &|index| outer.at_place(&inner.place(index)).unwrap_or_default());
    columns.layout(&outer.axes, &inner.mode)
}

/// The inverse of a square matrix over bits; column `k` of the argument is the set of its rows with a 1. `None` if
/// there is no inverse.
pub(crate) fn inverse(columns: &[u64]) -> Option<Vec<u64>> {
    let size = columns.len();
    if size > 64 {
        return None;
    }
    // Each entry is a sum of columns: its value, and the set of these columns.
    let mut sums: Vec<(u64, u64)> = columns.iter().enumerate().map(|(k, column)| (*column, 1 << k)).collect();
    for row in 0..size {
        let pivot = (row..size).find(|k| sums[*k].0 >> row & 1 == 1)?;
        sums.swap(row, pivot);
        let (value, of) = sums[row];
        for (k, sum) in sums.iter_mut().enumerate() {
            if k != row && sum.0 >> row & 1 == 1 {
                *sum = (sum.0 ^ value, sum.1 ^ of);
            }
        }
    }
    Some(sums.into_iter().map(|(_, of)| of).collect())
}
