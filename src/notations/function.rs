//! Layouts of all notations as functions of the [algebra](crate::algebra).
//!
//! Dimension `k` is mode `k`, so an index counts dimension 0 fastest, whatever the order in memory. A part is a digit,
//! and padding ends a mode. Bases of several bits are a matrix over bits. A map is the digits that it has from its first
//! element on, or such a matrix; both are compared with it element by element.

use crate::algebra::{Digit, LayoutFunction, Mode, linear};
use crate::conversion::meaning::Meaning;
use crate::expr::Expr;
use crate::limits;
use crate::maps::map::IndexingMap;
use crate::notations::described::{Described, Description};
use crate::places::placement::{Copies, Placement};
use crate::text::Error;

impl Described {
    /// The layout as a function.
    ///
    /// # Errors
    /// No elements, and a map that is no such function, with the element that shows it.
    ///
    /// ```
    /// use tensor_layout::notations::read;
    /// let tiles = read("f32[3,5]{1,0:T(2,2)}").unwrap().function().unwrap();
    /// assert_eq!(tiles.to_string(), "(3/(2,2),5/(2,3)):((2,12),(1,4))");
    /// ```
    pub fn function(&self) -> Result<LayoutFunction, Error> {
        if self.description.sizes().contains(&0) {
            return Err(Error::new("a layout of the algebra must have at least one element, found none"));
        }
        if let Description::Function { function, .. } = &self.description {
            return Ok((**function).clone());
        }
        match (self.placement(), &self.description) {
            (Ok(placement), _) => placed(&placement, None),
            (Err(_), Description::Map(meaning)) => mapped(meaning),
            (Err(error), _) => Err(error),
        }
    }
}

/// The function of a TensorLayout, from a first place on.
fn placed(placement: &Placement, base: Option<Vec<i64>>) -> Result<LayoutFunction, Error> {
    let address = placement.axes().len();
    let named: Vec<usize> = (0..address).filter(|axis| placement.copies(*axis) != Copies::All).collect();
    let number = |axis: usize| named.iter().position(|own| *own == axis).unwrap_or(named.len());
    let digit = |extent, axis, stride| Digit::new(extent, number(axis), stride);
    let modes = placement.sizes().iter().enumerate().map(|(dim, size)| {
        let own = placement.digits().iter().rev().filter(|digit| digit.dim == Some(dim));
        let modes = own.map(|own| Mode::Digit(digit(own.extent, own.axis, own.stride))).collect();
        Mode::Group { size: *size, modes }.coalesced()
    });
    let mut modes: Vec<Mode> = modes.collect();
    // A dimension is one mode, also where it is the only one and has several digits.
    let mode = if let [Mode::Digit(_)] = modes[..] { modes.remove(0) } else { Mode::group(modes) };
    let copies = placement.digits().iter().filter(|own| own.dim.is_none());
    let copies = copies.map(|own| digit(own.extent, own.axis, own.stride)).collect();
    let axes = named.iter().map(|axis| placement.axes()[*axis].clone()).collect();
    LayoutFunction::new(axes, mode)?.with_places(base, copies)
}

/// The function of a map.
fn mapped(meaning: &Meaning) -> Result<LayoutFunction, Error> {
    let place = |map: &IndexingMap, index: &[i64]| map.evaluate(index).ok().flatten().unwrap_or_default();
    let first = place(&meaning.map, &vec![0; meaning.sizes.len()]);
    let mut moved = meaning.clone();
    for (result, first) in moved.map.results.iter_mut().zip(&first) {
        *result = std::mem::replace(result, Expr::Const(0)) + Expr::Const(-first);
    }
    if let Ok(placement) = Described::new(Description::Map(Box::new(moved))).placement() {
        return placed(&placement, Some(first));
    }
    let (sizes, map) = (&meaning.sizes, &meaning.map);
    let all = sizes.iter().product::<i64>();
    let indexed = |mut index: i64| {
        let next = |size: &i64| {
            let at = index % size;
            index /= size;
            at
        };
        place(map, &sizes.iter().map(next).collect::<Vec<_>>())
    };
    let found = linear(&meaning.axes, sizes, &indexed)?;
    if all > limits::ALGEBRA_ELEMENTS {
        let message =
            format!("a map must have at most {} elements to be looked at, found {all}", limits::ALGEBRA_ELEMENTS);
        return Err(Error::new(message).too_large());
    }
    match (0..all).find(|index| found.place(*index) != indexed(*index)) {
        None => Ok(found),
        Some(index) => {
            let at = found.coordinates(index);
            Err(Error::new(format!(
                "the places are neither sums of digits nor linear in bits, as element {at:?} shows"
            ))
            .unsupported())
        }
    }
}
