//! Utilisation: the places of a tree of memories that a layout uses.
//!
//! `((4_L2B:2, 64:8), (8:1, 2_W:1))` reaches L2B 6, so there are 7 L2Bs and 14 places, of which it uses 8: L2Bs 1, 3
//! and 5 are empty. A place is used if it holds an element; padding does not count. Elements that differ in a digit of
//! a named axis are in different places, or they would collide; so places are counted as combinations of those digits,
//! one dimension at a time, without walking through them.

use crate::places::placement::{Copies, Placement};
use crate::places::search::Digit;
use crate::text::Error;

/// The numbers of used and of all places.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Utilisation {
    /// The number of coordinates along each named axis.
    pub extents: Vec<i64>,
    /// The places that hold an element.
    pub used: i128,
    /// All places.
    pub places: i128,
}

impl Placement {
    /// The most places that a search for unused ones visits.
    pub const LOOKED_AT: usize = 1 << 16;

    /// Counts the used places, where the axes of [`Placement::axes`] have `extents`, or by default the extents of the
    /// layout; an axis that is broadcast whole then counts 1.
    ///
    /// # Errors
    /// Extents of another number of axes, an extent too small for an element, and more places than 127 bits hold.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::places::Placement;
    /// let p = Placement::parse("((4_L2B:2, 64:8), (8:1, 2_W:1))").unwrap();
    /// let found = p.utilisation(None).unwrap();
    /// assert_eq!((found.extents, found.used, found.places), (vec![7, 2], 8, 14));
    /// assert_eq!(p.utilisation(Some(&[16, 2])).unwrap().places, 32);
    /// assert_eq!(p.unused_along(0, 7, 9).unwrap(), [1, 3, 5]);
    /// ```
    pub fn utilisation(&self, extents: Option<&[i64]>) -> Result<Utilisation, Error> {
        let axes = self.axes().len();
        let mut own = self.extents();
        own.truncate(axes);
        let extents = extents.map_or(own, <[i64]>::to_vec);
        if extents.len() != axes {
            return Err(Error::new(format!("expected {axes} extents, one for each axis, found {}", extents.len())));
        }
        let large = || Error::new("the number of places does not fit in 127 bits").too_large();
        let product = |n: i128, by: i128| n.checked_mul(by).ok_or_else(large);
        let places = extents.iter().try_fold(1, |n, extent| product(n, (*extent).max(0).into()))?;
        if self.sizes().contains(&0) {
            return Ok(Utilisation { extents, used: 0, places });
        }
        for (axis, extent) in extents.iter().enumerate() {
            let last = self.last(axis);
            if last >= *extent {
                let name = &self.axes()[axis];
                return Err(Error::new(format!(
                    "the extent of {name} must be greater than {last}, where an element is, found {extent}"
                )));
            }
        }
        let mut used = 1;
        for (dim, size) in self.sizes().iter().enumerate() {
            let digits: Vec<&Digit> = self.digits().iter().filter(|d| d.dim == Some(dim)).collect();
            used = product(used, combinations(&digits, *size, axes))?;
        }
        for copy in self.digits().iter().filter(|d| d.dim.is_none()) {
            used = product(used, copy.extent.into())?;
        }
        for axis in (0..axes).filter(|axis| self.copies(*axis) == Copies::All) {
            used = product(used, extents[axis].into())?;
        }
        Ok(Utilisation { extents, used, places })
    }

    /// The highest coordinate of an element along an axis. The tensor must not be empty.
    fn last(&self, axis: usize) -> i64 {
        let along = |d: &&Digit| d.axis == axis;
        let copies: i64 = self.digits().iter().filter(along).filter(|d| d.dim.is_none()).map(reached).sum();
        let dims = self.sizes().iter().enumerate().map(|(dim, size)| {
            let digits: Vec<&Digit> = self.digits().iter().filter(|d| d.dim == Some(dim)).collect();
            // The highest is that of the last index, or of an index that shares the first digits of the last index, has
            // the next digit one less, and all others at their maxima.
            let mut behind: i64 = digits.iter().copied().filter(along).map(reached).sum();
            let (mut before, mut highest) = (0, 0);
            for digit in digits {
                let stride = if digit.axis == axis { digit.stride } else { 0 };
                behind -= (digit.extent - 1) * stride;
                let value = (size - 1) / digit.weight % digit.extent;
                if value > 0 {
                    highest = highest.max(before + (value - 1) * stride + behind);
                }
                before += value * stride;
            }
            highest.max(before)
        });
        copies + dims.sum::<i64>()
    }

    /// The first `most` places without an element, of axes with these extents. Visits [`Placement::LOOKED_AT`] places,
    /// so there may be others.
    ///
    /// # Errors
    /// As [`Placement::held`].
    pub fn unused(&self, extents: &[i64], most: usize) -> Result<Vec<Vec<i64>>, Error> {
        let mut found = Vec::new();
        let mut place = vec![0; extents.len()];
        for _ in 0..Self::LOOKED_AT {
            if found.len() == most || extents.iter().any(|extent| *extent <= 0) {
                break;
            }
            if !self.is_used(&place)? {
                found.push(place.clone());
            }
            let moved = place.iter_mut().zip(extents).rev().any(|(coordinate, extent)| {
                let more = *coordinate + 1 < *extent;
                *coordinate = if more { *coordinate + 1 } else { 0 };
                more
            });
            if !moved {
                break;
            }
        }
        Ok(found)
    }

    /// The first `most` coordinates without an element along an axis with this extent, whatever the other coordinates.
    /// Visits [`Placement::LOOKED_AT`] coordinates.
    ///
    /// # Errors
    /// As [`Placement::held`].
    pub fn unused_along(&self, axis: usize, extent: i64, most: usize) -> Result<Vec<i64>, Error> {
        let mut found = Vec::new();
        for coordinate in (0..extent).take(Self::LOOKED_AT) {
            if found.len() == most {
                break;
            }
            if !self.is_used_along(axis, coordinate)? {
                found.push(coordinate);
            }
        }
        Ok(found)
    }
}

/// The largest coordinate that a digit adds along its axis.
fn reached(digit: &Digit) -> i64 {
    (digit.extent - 1) * digit.stride
}

/// The number of combinations of the digits of named axes over the indices below `size`, at least 1.
fn combinations(digits: &[&Digit], size: i64, named: usize) -> i128 {
    let of_axis = |d: &&Digit| d.axis < named;
    // The product of all extents after a digit; no more than the padded size.
    let mut behind: i128 = digits.iter().copied().filter(of_axis).map(|d| i128::from(d.extent)).product();
    let mut count = 0;
    for digit in digits {
        let value = (size - 1) / digit.weight % digit.extent;
        if of_axis(digit) {
            behind /= i128::from(digit.extent);
            count += i128::from(value) * behind;
        } else if value > 0 {
            return count + behind;
        }
    }
    count + 1
}
