//! Inverses and complements.
//!
//! A right inverse takes a place to an index at it, a left inverse the place of each index back to it. Digits sorted by
//! stride are a chain where each begins where the one before ends, as the strides 1, 4, 8 of extents 4, 2, 3. The
//! inverse of a chain has the same extents, with the weights of the digits in the index as strides. A gap in the chain
//! ends a right inverse; in a left inverse it is a digit that leads beyond the layout. The complement has the gaps.
//!
//! Along several axes each has a chain, and the inverse has a mode for each axis, the address last. Layouts of bits are
//! matrices, whose inverse is one.

use crate::algebra::bits::{Columns, inverse};
use crate::algebra::chain::Chain;
use crate::algebra::compose::LOOKED_AT;
use crate::algebra::layout::{LayoutFunction, written};
use crate::algebra::mode::{Digit, Mode, large};
use crate::numbers::ceil_div;
use crate::text::Error;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::HashMap;

/// The most elements among which two at one place are searched.
const SEARCHED: i64 = LOOKED_AT >> 4;

/// Digits with their weights in the index.
type Weighted = SmallVec<[(i64, Digit); 6]>;

impl LayoutFunction {
    /// The layout of places that takes each to the index of its element, if every place up to the last has one.
    ///
    /// Post-condition: `inverse.place(place(x)) == x` and `place(inverse.place(p)) == p`.
    ///
    /// # Errors
    /// Two elements at a place, and a place without one.
    pub fn inverse(&self) -> Result<LayoutFunction, Error> {
        let inverse = self.right_inverse()?;
        let copies = self.copies.iter().map(|digit| digit.extent).fold(1, i64::saturating_mul);
        let (found, all) = (inverse.size(), self.size().saturating_mul(copies));
        if found == all {
            return Ok(inverse);
        }
        self.injective()?;
        let message = format!(
            "an inverse needs an element at each place up to the last, found {found} of {all} at places from 0 on without a gap"
        );
        Err(Error::new(message).unsupported())
    }

    /// The largest layout of places from 0 on that takes each to an index of an element there.
    ///
    /// Post-condition: `place(inverse.place(p)) == p`. It ends before the first padding, and with padding after
    /// [`ALGEBRA_ELEMENTS`](crate::limits::ALGEBRA_ELEMENTS) places at most.
    ///
    /// # Errors
    /// A first element that is not at 0, and flips in a layout that is not linear in bits.
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// let layout = LayoutFunction::parse("(4,8):(8,1)").unwrap();
    /// assert_eq!(layout.right_inverse().unwrap().to_string(), "(8,4):(4,1)");
    /// ```
    pub fn right_inverse(&self) -> Result<LayoutFunction, Error> {
        if !self.flips.is_empty() {
            return self.inverse_of_flips(false);
        }
        self.at_zero()?;
        let axis = |axis: usize| {
            let mut found = Chain::new();
            for (weight, digit) in self.sorted(axis) {
                if digit.stride == found.size {
                    found.grow(Digit::new(digit.extent, 0, weight));
                }
            }
            found
        };
        if !self.mode.is_padded() {
            return joined((0..self.axes.len() + 1).map(axis));
        }
        let axes = (0..=self.axes.len()).map(|k| axis(k).mode()).collect();
        joined(self.without_padding(axes).iter().map(Mode::chain))
    }

    /// The modes of a right inverse, each up to its first place that holds padding.
    fn without_padding(&self, axes: Vec<Mode>) -> Vec<Mode> {
        let mut seen = vec![(0, vec![0; axes.len()])];
        let ended = axes.into_iter().enumerate().map(|(axis, mode)| {
            let mut next = Vec::new();
            let mut size = 0;
            for at in 0..mode.size().min(LOOKED_AT / seen.len() as i64) {
                let mut step = [0];
                mode.add(at, &mut step);
                let moved = seen.iter().map(|(index, place)| {
                    let mut place: Vec<i64> = place.clone();
                    place[axis] = at;
                    (index + step[0], place)
                });
                let moved: Vec<(i64, Vec<i64>)> = moved.collect();
                if moved.iter().any(|(index, place)| *index >= self.size() || self.place(*index) != *place) {
                    break;
                }
                next.extend(moved);
                size = at + 1;
            }
            seen = std::mem::take(&mut next);
            Mode::Group { size, modes: mode.modes().to_vec() }
        });
        ended.collect()
    }

    /// A layout of places that takes that of each element to its index.
    ///
    /// Post-condition: `inverse.place(place(x)) == x`.
    ///
    /// # Errors
    /// Two elements at a place, and strides that are no multiples of what the smaller ones reach.
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// let layout = LayoutFunction::parse("(2,3):(4,16)").unwrap();
    /// assert_eq!(layout.left_inverse().unwrap().to_string(), "(4,2,2,3):(6,1,24,2)");
    /// ```
    pub fn left_inverse(&self) -> Result<LayoutFunction, Error> {
        if !self.flips.is_empty() {
            return self.inverse_of_flips(true);
        }
        self.at_zero()?;
        let mut fresh = self.size();
        let mut found = SmallVec::<[Chain; 1]>::new();
        for axis in 0..=self.axes.len() {
            let (mut inverse, mut end) = (Chain::new(), 1);
            for (weight, digit) in self.sorted(axis) {
                let gap = self.gap(axis, end, &digit)?;
                inverse.grow(Digit::new(gap, 0, fresh));
                inverse.grow(Digit::new(digit.extent, 0, weight));
                fresh = fresh.checked_mul(gap).ok_or_else(large)?;
                end = digit.stride * digit.extent;
            }
            found.push(inverse);
        }
        let mut copied = false;
        self.mode.each(1, &mut |_, digit| copied |= digit.stride == 0 && digit.extent > 1);
        if copied {
            self.injective()?;
        }
        joined(found.into_iter())
    }

    /// The layout of what is between the places of this one: the sums of both are all numbers below a multiple of the
    /// end of this one, each once. Without a size it has only the gaps; with one, it goes on to it, rounded up.
    ///
    /// It has places before bits flip, so that a product stays under the same flips.
    ///
    /// # Errors
    /// A size below the end of this layout, strides that are no multiples of what the smaller ones reach, and axes.
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// let layout = LayoutFunction::parse("(2,2):(1,6)").unwrap();
    /// assert_eq!(layout.complement(Some(24)).unwrap().to_string(), "(3,2):(2,12)");
    /// assert!(layout.complement(Some(7)).is_err());
    /// ```
    pub fn complement(&self, size: Option<i64>) -> Result<LayoutFunction, Error> {
        let end = self.extent(self.axes.len());
        if let Some(size) = size.filter(|size| *size < end) {
            let message =
                format!("the complement must be within at least {end} places, which {self} reaches, found {size}");
            return Err(Error::new(message));
        }
        LayoutFunction::of_chain(&self.gaps(size.unwrap_or(1))?)
    }

    /// The complement within at least so many places, fewer than the layout reaches too.
    pub(super) fn gaps(&self, size: i64) -> Result<Chain, Error> {
        self.on_the_address("complement")?;
        let (mut end, mut gaps) = (1i64, Chain::new());
        for (_, digit) in self.sorted(0) {
            gaps.grow(Digit::new(self.gap(0, end, &digit)?, 0, end));
            end = digit.stride.checked_mul(digit.extent).ok_or_else(large)?;
        }
        gaps.grow(Digit::new(ceil_div(size, end), 0, end));
        Ok(gaps)
    }

    /// Refuses axes.
    pub(super) fn on_the_address(&self, what: &str) -> Result<(), Error> {
        match self.axes.first() {
            None => Ok(()),
            Some(axis) => Err(Error::new(format!("a {what} must be of the address alone, found the axis {axis}"))),
        }
    }

    fn at_zero(&self) -> Result<(), Error> {
        if self.base.iter().all(|base| *base == 0) {
            return Ok(());
        }
        let message = format!("the first element must be at 0 to invert digits, found it at {}", written(&self.base));
        Err(Error::new(message).unsupported())
    }

    /// The digits along an axis, by rising strides, without those of stride 0.
    fn sorted(&self, axis: usize) -> Weighted {
        let mut digits = Weighted::new();
        let mut found = |weight: i64, digit: &Digit| match digits.last_mut() {
            _ if digit.axis != axis || digit.stride == 0 || digit.extent == 1 => {}
            Some((first, last)) if last.extent * last.stride == digit.stride && *first * last.extent == weight => {
                last.extent *= digit.extent;
            }
            _ => digits.push((weight, *digit)),
        };
        match self.mode.is_padded() {
            true => self.mode.coalesced().each(1, &mut found),
            false => self.mode.each(1, &mut found),
        }
        // A copy has the index of its element.
        self.copies.iter().for_each(|digit| found(0, digit));
        digits.sort_unstable_by_key(|(weight, digit)| (digit.stride, Reverse(digit.extent), *weight));
        digits
    }

    /// The places between the end of smaller digits and the next one, in ends.
    fn gap(&self, axis: usize, end: i64, digit: &Digit) -> Result<i64, Error> {
        if digit.stride >= end && digit.stride % end == 0 {
            return Ok(digit.stride / end);
        }
        self.injective()?;
        let message = format!(
            "the strides along {} must be multiples of what the smaller ones reach, {end}, found {} in {self}",
            self.axis(axis),
            digit.stride
        );
        Err(Error::new(message).unsupported())
    }

    /// Refuses two elements at one place, if there are two among the first.
    fn injective(&self) -> Result<(), Error> {
        let mut seen = HashMap::new();
        for index in 0..self.size().min(SEARCHED) {
            let place = self.place(index);
            let shared = written(&place);
            if let Some(other) = seen.insert(place, index) {
                let (a, b) = (self.coordinates(other), self.coordinates(index));
                return Err(Error::new(format!("the elements {a:?} and {b:?} share the place {shared}")));
            }
        }
        Ok(())
    }

    /// The inverse under flips: of a matrix over bits, or of the digits, with the same flips back among the bits of the
    /// index.
    fn inverse_of_flips(&self, left: bool) -> Result<LayoutFunction, Error> {
        match Columns::new(self) {
            Some(columns) => self.inverse_of_bits(columns, left),
            None => self.inverse_of_digits(left),
        }
    }

    /// The inverse of a matrix, which is completed by the bits of places that no column has.
    fn inverse_of_bits(&self, columns: Columns, left: bool) -> Result<LayoutFunction, Error> {
        let reached =
            |axis: usize| columns.columns.iter().chain([&columns.first]).fold(0, |all, column| all | column[axis]);
        let widths: Vec<u32> = (0..=self.axes.len()).map(|axis| 64 - reached(axis).leading_zeros()).collect();
        if widths.iter().sum::<u32>() > 62 {
            return Err(large());
        }
        let packed =
            |place: &[i64]| place.iter().zip(&widths).rev().fold(0u64, |all, (at, width)| all << width | *at as u64);
        let (mut rows, mut matrix, mut indices) = (Vec::<u64>::new(), Vec::new(), Vec::new());
        for (bit, column) in columns.columns.iter().enumerate() {
            let own = packed(column);
            let rest = rows.iter().fold(own, |rest, row| rest.min(rest ^ row));
            if rest == 0 && left {
                self.injective()?;
            }
            if rest != 0 {
                rows.push(rest);
                rows.sort_unstable_by_key(|row| Reverse(*row));
                matrix.push(own);
                indices.push(1i64 << bit);
            }
        }
        let tops: u64 = rows.iter().fold(0, |tops, row| tops | 1 << (63 - row.leading_zeros()));
        for (k, bit) in (0..widths.iter().sum()).filter(|bit| tops >> bit & 1 == 0).enumerate() {
            matrix.push(1 << bit);
            indices.push(self.size().checked_shl(k as u32).filter(|bit| *bit > 0).ok_or_else(large)?);
        }
        let inverted = inverse(&matrix).ok_or_else(|| Error::new("a matrix was not completed").internal())?;
        let index = |place: u64| {
            let of =
                inverted.iter().enumerate().filter(|(bit, _)| place >> bit & 1 == 1).fold(0, |of, (_, own)| of ^ own);
            indices.iter().enumerate().filter(|(k, _)| of >> k & 1 == 1).fold(0, |index, (_, bit)| index ^ bit)
        };
        let (mut result, mut modes, mut below) = (Vec::new(), Vec::new(), 0);
        for width in &widths {
            let own = (below..below + width).map(|bit| vec![index(1 << bit)]);
            let own: Vec<Vec<i64>> = own.take_while(|column| left || column[0] < self.size()).collect();
            modes.push(Mode::Digit(Digit::new(1 << own.len(), 0, 0)));
            result.extend(own);
            below += width;
        }
        let mode = if modes.len() == 1 { modes.remove(0) } else { Mode::group(modes) };
        let first = index(packed(&columns.first));
        if first >= self.size() && !left {
            return self.at_zero().and(Err(large()));
        }
        Columns { first: vec![first], columns: result }.layout(&[], &mode)
    }
}

/// The layout with a mode for each axis, or that of the only one.
fn joined(mut axes: impl ExactSizeIterator<Item = Chain>) -> Result<LayoutFunction, Error> {
    if axes.len() > 1 {
        return LayoutFunction::new(Vec::new(), Mode::group(axes.map(|axis| axis.mode()).collect()));
    }
    LayoutFunction::of_chain(&axes.next().unwrap_or_else(Chain::new))
}
