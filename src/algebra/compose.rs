//! Composition: `A o B` takes a coordinate of `B` to the place that `A` has for the place of `B`.
//!
//! Where `B` has the address alone, its places are indices of `A`; else its axes, and last the address, are the modes of
//! `A`. A digit of `B` steps through `A` as one digit for as many steps as carry in no digit of `A`, and from there on
//! as the next one. So `(4,2):(1,100) o 6:1` is `6/(4,2):(1,100)`, 4 steps of 1 and then 2 steps of 100, of which the
//! last two are padding. CuTe refuses that size, which its notation cannot say.
//!
//! Digits of `B` add up in the result if they carry in no digit of `A` together. As sums grow, the last coordinate
//! decides. Under flips the layouts must be linear in bits; see [`mod@super::bits`].

use crate::algebra::bits;
use crate::algebra::chain::{Count, Counted, split, take};
use crate::algebra::layout::{LayoutFunction, Place, written};
use crate::algebra::mode::{Digit, Mode, large};
use crate::limits;
use crate::numbers::ceil_div;
use crate::text::Error;
use smallvec::SmallVec;

/// The digits of the places of `B` as they go into the modes of `A`.
struct Steps<'a> {
    outer: &'a LayoutFunction,
    /// For each axis of `B` the mode of `A` that it indexes.
    modes: SmallVec<[Indexed<'a>; 1]>,
    /// The place of one step.
    place: Place,
}

/// A mode of `A` that an axis of `B` indexes, with the index that all digits of `B` have at their greatest.
struct Indexed<'a> {
    mode: &'a Mode,
    size: i64,
    links: Counted,
    /// The greatest stride.
    reach: i64,
    index: i64,
}

impl LayoutFunction {
    /// The layout that takes a coordinate of `inner` to the place of this layout at its place.
    ///
    /// Post-condition: `place(x)` of the result is `self.place(inner.place(x)[0])` for each index of `inner`.
    ///
    /// # Errors
    /// A place of `inner` that is no coordinate of this layout, and a result that is no layout, with the coordinate
    /// that shows it.
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// let [a, b] = ["(6,2):(8,2)", "(4,3):(3,1)"].map(|text| LayoutFunction::parse(text).unwrap());
    /// assert_eq!(a.compose(&b).unwrap().to_string(), "((2,2),3):((24,2),8)");
    /// ```
    pub fn compose(&self, inner: &LayoutFunction) -> Result<LayoutFunction, Error> {
        if !inner.flips.is_empty() {
            return bits::compose(self, inner);
        }
        let mut steps = Steps::new(self, &inner.axes, &inner.base)?;
        if steps.carry() {
            return Err(self.outside(inner, 0));
        }
        let mode = steps.mode(&inner.mode)?;
        let mut copies = self.copies.clone();
        for digit in &inner.copies {
            copies.extend(steps.digit(digit)?.digits());
        }
        let mut base = Place::from_slice(&self.base);
        for (indexed, at) in steps.modes.iter().zip(&inner.base) {
            if *at != 0 {
                indexed.mode.add(*at, &mut base);
            }
        }
        let (axes, flips) = (self.axes.clone(), self.flips.clone());
        let composed = LayoutFunction { axes, mode, copies, base, flips }.checked()?;
        if !steps.carry() {
            return Ok(composed);
        }
        // Padding may carry where no element does: the normal form of the elements decides.
        let plain = inner.coalesce();
        if inner.mode.is_padded() && !plain.mode.is_padded() {
            let plain = self.compose(&plain)?;
            if plain.coalesce() == composed.coalesce() {
                return Ok(composed);
            }
        }
        difference(self, inner, &composed)?.map_or(Ok(composed), Err)
    }

    /// The modes for named axes and the address.
    pub(super) fn modes_of(&self, axes: &[String]) -> Result<&[Mode], Error> {
        let modes = self.modes();
        if modes.len() == axes.len() + 1 && !self.mode.is_padded() {
            return Ok(modes);
        }
        let message = format!(
            "the outer layout must have a mode for each of {} and the address, found {} modes",
            axes.join(", "),
            modes.len()
        );
        Err(Error::new(message))
    }

    /// Appends the modes of the composition with so many elements of the modes of `inner`, the first the fastest.
    pub(super) fn compose_modes(&self, size: i64, inner: &[&Mode], modes: &mut Vec<Mode>) -> Result<(), Error> {
        let (before, mut steps) = (modes.len(), Steps::new(self, &[], &[0])?);
        for mode in inner {
            modes.push(steps.mode(mode)?);
        }
        if steps.carry() {
            let inner = Mode::Group { size, modes: inner.iter().map(|mode| (*mode).clone()).collect() };
            let composed = self.compose(&LayoutFunction::new(Vec::new(), inner)?)?;
            modes.splice(before.., composed.modes().iter().cloned());
        }
        Ok(())
    }
}

impl<'a> Steps<'a> {
    /// Steps from a place of a layout with these axes on.
    fn new(outer: &'a LayoutFunction, axes: &[String], base: &[i64]) -> Result<Steps<'a>, Error> {
        let modes = if axes.is_empty() { std::slice::from_ref(&outer.mode) } else { outer.modes_of(axes)? };
        let mut indexed = SmallVec::new();
        modes.iter().zip(base).for_each(|(mode, base)| indexed.push(Indexed::new(mode, *base)));
        Ok(Steps { outer, modes: indexed, place: Place::from_elem(0, outer.axes.len() + 1) })
    }

    /// The mode of the result that a mode of `inner` becomes.
    fn mode(&mut self, inner: &Mode) -> Result<Mode, Error> {
        inner.map(&mut |digit| self.digit(digit))
    }

    /// The digits of the result that a digit of `inner` becomes.
    fn digit(&mut self, digit: &Digit) -> Result<Mode, Error> {
        let Digit { extent, axis, stride } = *digit;
        if extent == 1 || stride == 0 {
            return Ok(Mode::Digit(Digit::new(extent, 0, 0)));
        }
        if stride < 0 {
            return Err(Error::new(format!("the strides of the inner layout must be at least 0, found {stride}")));
        }
        let (mut left, mut step, mut modes) = (extent, stride, Vec::new());
        loop {
            let steps = self.step(axis, step)?.min(left);
            let mode = Mode::Digit(self.moved(steps, step)?);
            self.modes[axis].take(steps, step);
            left = ceil_div(left, steps);
            if left == 1 && modes.is_empty() {
                return Ok(mode);
            }
            modes.push(mode);
            if left == 1 {
                return Ok(Mode::Group { size: extent, modes });
            }
            step = step.checked_mul(steps).ok_or_else(large)?;
        }
    }

    /// Takes a step along an axis. The number of such steps that carry nowhere: with one more, one does.
    fn step(&mut self, axis: usize, step: i64) -> Result<i64, Error> {
        let (indexed, place) = (&mut self.modes[axis], &mut self.place[..]);
        if indexed.reach.saturating_mul(step) >= 1 << 61 {
            return Err(large());
        }
        let links = &mut indexed.links[..];
        split(links, step);
        place.fill(0);
        let mut uncarried = i64::MAX;
        for Count { link, share, bound, .. } in links {
            place[link.digit.axis] += *share * link.digit.stride;
            if *share > 0 && *bound < i64::MAX {
                uncarried = uncarried.min((*bound - 1) / *share + 1);
            }
        }
        Ok(uncarried)
    }

    /// The digit of so many times the step that was taken.
    fn moved(&self, extent: i64, step: i64) -> Result<Digit, Error> {
        let mut moved = self.place.iter().enumerate().filter(|(_, at)| **at != 0);
        let Some((first, stride)) = moved.next() else { return Ok(Digit::new(extent, 0, 0)) };
        let Some((second, _)) = moved.next() else { return Ok(Digit::new(extent, first, *stride)) };
        let (first, second) = (self.outer.axis(first), self.outer.axis(second));
        let message = format!("a digit must move along one axis, found steps of {step} along {first} and {second}");
        Err(Error::new(message).unsupported())
    }

    /// Whether the digits may carry, or leave the coordinates of `outer`.
    fn carry(&self) -> bool {
        self.modes.iter().any(Indexed::carries)
    }
}

impl<'a> Indexed<'a> {
    fn new(mode: &'a Mode, index: i64) -> Indexed<'a> {
        let links = mode.chain().counted(index);
        let reach = links.iter().map(|count| count.link.digit.stride.saturating_abs()).max().unwrap_or(0);
        Indexed { mode, size: mode.size(), links, reach, index }
    }

    /// Takes one step less than so many.
    fn take(&mut self, steps: i64, step: i64) {
        self.index = self.index.saturating_add(step.saturating_mul(steps - 1));
        take(&mut self.links, steps - 1);
    }

    /// Whether the index is outside of the mode, or the share of a link is beyond its bound.
    fn carries(&self) -> bool {
        !(0..self.size).contains(&self.index) || self.links.iter().any(|count| count.sum >= count.bound)
    }
}

/// The error for a coordinate of `inner` where `composed` is not the composition, if there is one.
fn difference(
    outer: &LayoutFunction,
    inner: &LayoutFunction,
    composed: &LayoutFunction,
) -> Result<Option<Error>, Error> {
    let wrong = |index: i64| {
        let at = inner.coordinates(index);
        match outer.at_place(&inner.place(index)) {
            None => Some(outer.outside(inner, index)),
            Some(found) if found != composed.place(index) => Some(
                Error::new(format!(
                    "the composition is no layout: {at:?} is at {}, where its digits alone add up to {}",
                    written(&found),
                    written(&composed.place(index))
                ))
                .unsupported(),
            ),
            Some(_) => None,
        }
    };
    let all = inner.size();
    if let Some(error) = (0..all.min(LOOKED_AT)).find_map(wrong).or_else(|| wrong(all - 1)) {
        return Ok(Some(error));
    }
    if all > LOOKED_AT {
        let message = format!("digits may carry in the outer layout, with more than {LOOKED_AT} elements to look at");
        return Err(Error::new(message).undecided());
    }
    Ok(None)
}

/// The most elements that are looked at one by one.
pub(super) const LOOKED_AT: i64 = limits::ALGEBRA_ELEMENTS;
