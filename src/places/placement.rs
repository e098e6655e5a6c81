//! A TensorLayout applied to sizes: the places of each element.
//!
//! Each part of the layout is a *digit* of its dimension's index: `index floordiv weight mod extent`, where the weight
//! is the product of the extents of the parts after it. A digit adds itself times its stride to the coordinate of its
//! axis; the local address is the last axis. Copies are digits that belong to no dimension. So `((4_PE, 3:8), (8:1))`
//! puts element `(i, j)` at `PE = i floordiv 3` and address `i mod 3 * 8 + j`.
//!
//! Two elements collide where their digits differ by `delta`, with `sum(delta * stride) = 0` on every axis. Dropping
//! the differences on all axes but one leaves a collision, so each axis is searched alone, from the largest stride to
//! the smallest, keeping only sums that the smaller ones can still bring back to 0. The least indices with a given
//! difference have the digits `max(0, delta)` and `max(0, -delta)`: the elements collide unless one of these is
//! padding. The message names them.
//!
//! Addresses and sizes count elements (or words, where the layout says so), not bytes. Numbers that do not fit in
//! 64 bits are an error.

use crate::maps::map::IndexingMap;
use crate::places::search::{Digit, Search};
use crate::places::tensor_layout::{ADDRESS, Broadcast, Fault, Spot, TensorLayout, beyond_parts};
use crate::text::{Error, from_str};
use crate::tiled::layout::dimensions;
use std::cmp::Reverse;

/// A TensorLayout applied to the sizes of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    layout: TensorLayout,
    sizes: Vec<i64>,
    padded: Vec<i64>,
    axes: Vec<String>,
    digits: Vec<Digit>,
}

/// The content of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// The element at this index.
    Element(Vec<i64>),
    /// Padding: the layout reaches the place, but no element is there.
    Padding,
    /// Nothing: the layout does not reach the place.
    Outside,
}

/// The offsets along an axis, from its coordinate, at which copies of an element are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copies {
    /// At every place of the axis.
    All,
    /// At the coordinate plus each sum of steps: `(extent, stride)`, by falling strides, as few steps as possible.
    Steps(Vec<(i64, i64)>),
}

impl Copies {
    /// Copies at each sum of `(extent, stride)`; all sums must differ.
    pub(crate) fn of_steps(mut steps: Vec<(i64, i64)>) -> Copies {
        steps.retain(|(extent, _)| *extent != 1);
        steps.sort_by_key(|(_, stride)| Reverse(*stride));
        let mut merged: Vec<(i64, i64)> = Vec::new();
        // Strides differ, or two copies would share a place; so each step merges with at most one other step, whose
        // stride is larger. The product of both extents fits, as the highest coordinate does.
        for (extent, stride) in steps {
            match merged.iter_mut().find(|(_, larger)| Some(*larger) == extent.checked_mul(stride)) {
                Some(step) => *step = (step.0 * extent, stride),
                None => merged.push((extent, stride)),
            }
        }
        merged.sort_by_key(|(_, stride)| Reverse(*stride));
        Copies::Steps(merged)
    }

    /// Whether both describe the same set of offsets.
    ///
    /// `n` steps of `s` are the exponents of `(1 - x^(n*s)) / (1 - x^s)`, and factorisation into `1 - x^k` is unique.
    /// [`Placement::copies`] leaves nothing to cancel, so the multisets of `n*s` and of `s` decide. So 4 steps of 3 and
    /// 3 of 2 are 6 of 2 and 2 of 3.
    pub fn same(&self, other: &Copies) -> bool {
        let (Copies::Steps(a), Copies::Steps(b)) = (self, other) else { return self == other };
        let ends = |steps: &[(i64, i64)]| {
            let mut ends = [
                steps.iter().map(|(n, s)| i128::from(*n) * i128::from(*s)).collect::<Vec<_>>(),
                steps.iter().map(|(_, s)| i128::from(*s)).collect(),
            ];
            ends.iter_mut().for_each(|all| all.sort_unstable());
            ends
        };
        ends(a) == ends(b)
    }
}

/// The reason why a layout cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misplaced {
    /// The error, with its offset in the text, if there is one.
    pub error: Error,
    /// Two elements that share a place, or the same element twice where its copies do.
    pub collide: Option<Box<[Vec<i64>; 2]>>,
}

impl From<Error> for Misplaced {
    fn from(error: Error) -> Misplaced {
        Misplaced { error, collide: None }
    }
}

/// A fault, and the two elements that collide, if any.
type Collision = (Fault, Option<Box<[Vec<i64>; 2]>>);

impl Placement {
    /// Reads a layout that states the sizes itself, by its prefix or its parts, and applies it to them.
    ///
    /// # Errors
    /// As [`TensorLayout::parse`] and [`Placement::new`], at the part at fault.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::places::{Held, Placement};
    /// let p = Placement::parse("((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))").unwrap();
    /// assert_eq!(p.axes(), ["L2B", "L1B", "MAB", "PE"]);
    /// assert_eq!(p.place(&[77, 38]).unwrap(), [1, 1, 1, 2, 5 * 8 + 1]);
    /// assert_eq!(p.held(&[1, 1, 1, 2, 41]).unwrap(), Held::Element(vec![77, 38]));
    /// let collision = Placement::parse("((4_PE, 3:7), (8:1))").unwrap_err();
    /// assert_eq!(*collision.collide.unwrap(), [vec![1, 0], vec![0, 7]]);
    /// ```
    pub fn parse(text: &str) -> Result<Placement, Misplaced> {
        let (layout, offsets) = TensorLayout::read(text)?;
        Placement::located(&layout, None).map_err(|(fault, collide)| Misplaced { error: offsets.error(fault), collide })
    }

    /// Applies `layout` to a tensor of these sizes, or of the sizes that the layout states.
    ///
    /// # Errors
    /// Sizes that differ from the layout's, counts that do not fit in 64 bits, and elements that share a place.
    pub fn new(layout: &TensorLayout, sizes: Option<&[i64]>) -> Result<Placement, Misplaced> {
        layout.check().map_err(|(_, error)| error)?;
        let misplaced = |(fault, collide): (Fault, _)| Misplaced { error: fault.1, collide };
        Placement::located(layout, sizes).map_err(misplaced)
    }

    /// Applies a layout whose fields are valid: sizes, then digits, then a search for collisions.
    fn located(layout: &TensorLayout, sizes: Option<&[i64]>) -> Result<Placement, Collision> {
        let padded = layout.padded_sizes().map_err(|error| ((None, error), None))?;
        let sizes = match sizes {
            Some(sizes) => sizes.to_vec(),
            None => layout.shape.clone().unwrap_or_else(|| padded.clone()),
        };
        check_sizes(layout, &sizes, &padded).map_err(|fault| (fault, None))?;
        let axes = layout.axes();
        let digits = digits(layout, &padded, &axes);
        let placement = Placement { layout: layout.clone(), sizes, padded, axes, digits };
        for axis in 0..=placement.axes.len() {
            match placement.collision(axis) {
                Ok(None) => {}
                Ok(Some(delta)) => return Err(placement.colliding(axis, &delta)),
                Err(error) => {
                    let spot = placement.digits.iter().rev().find(|d| d.axis == axis).map(|d| d.spot);
                    return Err(((spot, error), None));
                }
            }
        }
        Ok(placement)
    }

    /// The layout.
    pub fn layout(&self) -> &TensorLayout {
        &self.layout
    }

    /// The sizes of the tensor.
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    /// The sizes with padding.
    pub fn padded_sizes(&self) -> &[i64] {
        &self.padded
    }

    /// The named axes, in order of first appearance in the layout.
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// The digits: those of each dimension, the most significant first, then those of copies.
    pub fn digits(&self) -> &[Digit] {
        &self.digits
    }

    /// The number of elements.
    pub fn elements(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// The number of elements with padding, over all places, each copy counted once.
    pub fn padded_elements(&self) -> i64 {
        self.padded.iter().product()
    }

    /// The number of elements that one place holds, padding included.
    pub fn local_elements(&self) -> i64 {
        self.digits.iter().filter(|d| d.axis == self.axes.len()).map(|d| d.extent).product()
    }

    /// One more than the highest coordinate of an element or padding along each axis, last the local address. An axis
    /// that is broadcast whole counts 1.
    pub fn extents(&self) -> Vec<i64> {
        let mut extents = vec![1; self.axes.len() + 1];
        for digit in &self.digits {
            extents[digit.axis] += (digit.extent - 1) * digit.stride;
        }
        extents
    }

    /// The coordinates of the first copy of an element: along each axis of [`Placement::axes`], last the local address.
    /// Along a broadcast axis the coordinate is the least.
    ///
    /// Post-condition: `held(place(i)) == Held::Element(i)`, and each coordinate is less than its entry of
    /// [`Placement::extents`].
    ///
    /// # Errors
    /// The index is not in the shape.
    pub fn place(&self, index: &[i64]) -> Result<Vec<i64>, Error> {
        let mut place = vec![0; self.axes.len() + 1];
        self.place_into(index, &mut place)?;
        Ok(place)
    }

    /// [`Placement::place`] into a given slice, one entry for each axis and one for the address.
    ///
    /// # Errors
    /// As [`Placement::place`], and where `place` has another length.
    pub fn place_into(&self, index: &[i64], place: &mut [i64]) -> Result<(), Error> {
        if index.len() != self.sizes.len() {
            let (rank, other) = (dimensions(self.sizes.len()), dimensions(index.len()));
            return Err(Error::new(format!("the index must have {rank}, as the shape has, found {other}")));
        }
        if let Some(dim) = (0..index.len()).find(|&dim| index[dim] < 0 || index[dim] >= self.sizes[dim]) {
            let (at, size) = (index[dim], self.sizes[dim]);
            return Err(Error::new(format!(
                "the index of dimension {dim} must be at least 0 and less than its size {size}, found {at}"
            )));
        }
        if place.len() != self.axes.len() + 1 {
            return Err(Error::new(format!("a place has {} coordinates", self.axes.len() + 1)));
        }
        place.fill(0);
        for digit in &self.digits {
            if let Some(dim) = digit.dim {
                place[digit.axis] += index[dim] / digit.weight % digit.extent * digit.stride;
            }
        }
        Ok(())
    }

    /// The copies along an axis.
    pub fn copies(&self, axis: usize) -> Copies {
        let whole = |b: &Broadcast| matches!(b, Broadcast::Axis(name) if self.axes.get(axis) == Some(name));
        if self.layout.broadcast.iter().any(whole) {
            return Copies::All;
        }
        Copies::of_steps(self.copying(axis).map(|d| (d.extent, d.stride)).collect())
    }

    fn copying(&self, axis: usize) -> impl Iterator<Item = &Digit> {
        self.digits.iter().filter(move |d| d.dim.is_none() && d.axis == axis)
    }

    /// The content of a place, given by its coordinates along [`Placement::axes`] and the local address.
    ///
    /// # Errors
    /// The place has another number of coordinates, or finding the element takes too many steps.
    pub fn held(&self, place: &[i64]) -> Result<Held, Error> {
        if place.len() != self.axes.len() + 1 {
            let axes = self.axes.iter().map(String::as_str).chain([ADDRESS]).collect::<Vec<_>>().join(", ");
            return Err(Error::new(format!("a place must have the coordinates {axes}, found {} numbers", place.len())));
        }
        self.held_where(place, |_| true)
    }

    /// Whether a place holds an element at any address; coordinates as in [`Placement::held`] without the address.
    ///
    /// # Errors
    /// As [`Placement::held`].
    pub fn is_used(&self, place: &[i64]) -> Result<bool, Error> {
        if place.len() != self.axes.len() {
            return Err(Error::new(format!(
                "a place must have {} coordinates, found {}",
                self.axes.len(),
                place.len()
            )));
        }
        // If the place holds any element, it holds one with all address digits 0.
        let place = [place, &[0]].concat();
        Ok(matches!(self.held_where(&place, |axis| axis < self.axes.len())?, Held::Element(_)))
    }

    /// Whether some element has this coordinate along an axis.
    pub(crate) fn is_used_along(&self, axis: usize, coordinate: i64) -> Result<bool, Error> {
        let mut place = vec![0; self.axes.len() + 1];
        place[axis] = coordinate;
        Ok(matches!(self.held_where(&place, |other| other == axis)?, Held::Element(_)))
    }

    fn held_where(&self, place: &[i64], asked: impl Fn(usize) -> bool) -> Result<Held, Error> {
        if place.iter().any(|c| *c < 0) {
            return Ok(Held::Outside);
        }
        let empty = self.sizes.contains(&0);
        for padding in [false, true] {
            if !padding && empty {
                continue;
            }
            let most = |d: &Digit| if padding { d.extent - 1 } else { self.most(d) };
            let mut order: Vec<(Digit, i64)> =
                self.digits.iter().filter(|d| asked(d.axis)).map(|d| (*d, most(d))).collect();
            order.retain(|(d, most)| *most > 0 && d.stride > 0);
            order.sort_by_key(|(d, _)| (d.axis, Reverse(d.stride)));
            let mut search = Search::new(order, if padding { &self.padded } else { &self.sizes });
            let wanted: Vec<i128> = place.iter().map(|c| i128::from(*c)).collect();
            let unreached = |axis: usize| {
                let whole = axis < self.axes.len() && self.copies(axis) == Copies::All;
                asked(axis) && !whole && wanted[axis] != 0 && !search.order.iter().any(|(d, _)| d.axis == axis)
            };
            if (0..wanted.len()).any(unreached) {
                continue;
            }
            if search.element(0, &mut wanted.clone())? {
                return Ok(if padding { Held::Padding } else { Held::Element(std::mem::take(&mut search.plus)) });
            }
        }
        Ok(Held::Outside)
    }

    /// The coordinates along each axis and the local address as a map of the index.
    pub fn map(&self) -> IndexingMap {
        IndexingMap::of_sizes(&self.sizes, self.layout.exprs())
    }

    /// The highest value of a digit over all elements. The tensor must not be empty.
    fn most(&self, digit: &Digit) -> i64 {
        let size = digit.dim.map_or(i64::MAX, |dim| self.sizes[dim]);
        (digit.extent - 1).min((size - 1) / digit.weight)
    }

    /// Digit differences of two elements, or two copies, that share their coordinate along an axis, if there are such.
    fn collision(&self, axis: usize) -> Result<Option<Vec<i64>>, Error> {
        if self.sizes.contains(&0) {
            return Ok(None);
        }
        let mut order: Vec<(Digit, i64)> =
            self.digits.iter().filter(|d| d.axis == axis).map(|d| (*d, self.most(d))).collect();
        order.retain(|(_, most)| *most > 0);
        order.sort_by_key(|(d, _)| Reverse(d.stride));
        let mut search = Search::new(order, &self.sizes);
        if (0..search.order.len()).all(|k| i128::from(search.order[k].0.stride) > search.reach[k + 1]) {
            return Ok(None);
        }
        if !search.difference(0, 0)? {
            return Ok(None);
        }
        let number = |d: &Digit| search.order.iter().position(|(o, _)| o.spot == d.spot);
        Ok(Some(self.digits.iter().map(|d| number(d).map_or(0, |k| search.delta[k])).collect()))
    }

    fn colliding(&self, axis: usize, delta: &[i64]) -> Collision {
        let mut elements = [vec![0; self.sizes.len()], vec![0; self.sizes.len()]];
        let mut spot = None;
        let mut copies = false;
        for (digit, delta) in self.digits.iter().zip(delta).filter(|(_, delta)| **delta != 0) {
            spot = Some(digit.spot);
            match digit.dim {
                Some(dim) => elements[usize::from(*delta < 0)][dim] += delta.abs() * digit.weight,
                None => copies = true,
            }
        }
        let [a, b] = &elements;
        let along = self.axes.get(axis).map_or(ADDRESS, String::as_str);
        let message = match () {
            () if a == b => format!("two copies of each element share a place along {along}"),
            () if copies => format!("copies of the elements {a:?} and {b:?} share a place along {along}"),
            () => format!("the elements {a:?} and {b:?} share a place: their coordinates along {along} are the same"),
        };
        ((spot, Error::new(message)), Some(Box::new(elements)))
    }
}

/// Checks that a layout with these padded sizes applies to these sizes.
fn check_sizes(layout: &TensorLayout, sizes: &[i64], padded: &[i64]) -> Result<(), Fault> {
    if sizes.len() != layout.rank() {
        let (rank, other) = (dimensions(layout.rank()), dimensions(sizes.len()));
        return Err((None, Error::new(format!("the shape must have the {rank} of the layout, found {other}"))));
    }
    if let Some(own) = layout.shape.as_ref().filter(|own| **own != sizes) {
        let message = format!("the shape must have the sizes {own:?} of the layout's prefix, found {sizes:?}");
        return Err((None, Error::new(message)));
    }
    for (dim, (size, most)) in sizes.iter().zip(padded).enumerate() {
        if *size < 0 {
            return Err((None, Error::new(format!("a size must be at least 0, found {size}"))));
        }
        if size > most {
            return Err((None, Error::new(beyond_parts(dim, *size, *most))));
        }
    }
    let mut elements = 1i64;
    for (dim, size) in padded.iter().enumerate() {
        elements = elements.checked_mul(*size).ok_or_else(|| {
            let message = "the number of elements, padding included, does not fit in 64 bits";
            (Some(Spot::Part(dim, 0)), Error::new(message).too_large())
        })?;
    }
    Ok(())
}

/// The digits of a layout: those of each dimension, the most significant first, then those of copies.
fn digits(layout: &TensorLayout, padded: &[i64], axes: &[String]) -> Vec<Digit> {
    let number = |axis: Option<&String>| match axis {
        None => axes.len(),
        Some(axis) => axes.iter().position(|a| a == axis).unwrap_or(axes.len()),
    };
    let mut digits = Vec::new();
    for (dim, parts) in layout.dims.iter().enumerate() {
        let mut weight = padded[dim];
        for (k, part) in parts.iter().enumerate() {
            weight /= part.extent;
            digits.push(Digit {
                dim: Some(dim),
                weight,
                extent: part.extent,
                axis: number(part.axis.as_ref()),
                stride: part.stride,
                spot: Spot::Part(dim, k),
            });
        }
    }
    for (k, broadcast) in layout.broadcast.iter().enumerate() {
        if let Broadcast::Part { extent, axis, stride } = broadcast {
            let (axis, stride) = (number(Some(axis)), stride.unwrap_or(1));
            digits.push(Digit { dim: None, weight: 1, extent: *extent, axis, stride, spot: Spot::Broadcast(k) });
        }
    }
    digits
}

from_str!(Placement: Misplaced);
