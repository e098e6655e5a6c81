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
use crate::algebra::layout::{LayoutFunction, written};
use crate::algebra::mode::{Digit, Mode, large};
use crate::limits;
use crate::numbers::ceil_div;
use crate::text::Error;

/// The digits of the places of `B` as they go into each mode of `A`.
struct Steps<'a> {
    outer: &'a LayoutFunction,
    /// For each axis of `B` the mode of `A` that it indexes, coalesced.
    chains: Vec<Mode>,
    /// The greatest stride of each of these.
    reach: Vec<i128>,
    /// The place of one step, while it is computed.
    place: Vec<i64>,
    /// For each axis the number of steps and the step, of each digit.
    taken: Vec<(usize, i64, i64)>,
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
        if inner.flips.is_empty() {
            return Steps::new(self, inner)?.compose(inner);
        }
        bits::compose(self, inner)
    }

    /// The modes that the axes of `inner` are, coalesced.
    pub(super) fn indexed_by(&self, inner: &LayoutFunction) -> Result<Vec<Mode>, Error> {
        if inner.axes.is_empty() {
            return Ok(vec![self.mode.coalesced()]);
        }
        let (axes, modes) = (inner.axes.join(", "), self.modes());
        if modes.len() == inner.axes.len() + 1 && !self.mode.is_padded() {
            return Ok(modes.iter().map(Mode::coalesced).collect());
        }
        let message = format!(
            "the outer layout must have a mode for each of {axes} and the address, found {} modes",
            modes.len()
        );
        Err(Error::new(message))
    }
}

impl<'a> Steps<'a> {
    fn new(outer: &'a LayoutFunction, inner: &LayoutFunction) -> Result<Steps<'a>, Error> {
        let chains = outer.indexed_by(inner)?;
        let greatest = |chain: &Mode| {
            let mut most = 0;
            chain.each(1, &mut |_, digit| most = most.max(i128::from(digit.stride).abs()));
            most
        };
        let (reach, place) = (chains.iter().map(greatest).collect(), vec![0; outer.axes.len() + 1]);
        Ok(Steps { outer, chains, reach, place, taken: Vec::new() })
    }

    fn compose(mut self, inner: &LayoutFunction) -> Result<LayoutFunction, Error> {
        let first = self.chains.iter().zip(&inner.base).find(|(chain, at)| !(0..chain.size()).contains(*at));
        if first.is_some() {
            return Err(self.outer.outside(inner, 0));
        }
        let mode = inner.mode.map(&mut |digit| self.digit(digit))?;
        let copies = inner.copies.iter().map(|digit| self.digit(digit)).collect::<Result<Vec<_>, _>>()?;
        let copies = copies.iter().flat_map(Mode::digits).chain(self.outer.copies.iter().copied()).collect();
        let mut base = self.outer.base.clone();
        for (chain, at) in self.chains.iter().zip(&inner.base) {
            chain.add(*at, &mut base);
        }
        let (axes, flips) = (self.outer.axes.clone(), self.outer.flips.clone());
        let composed = LayoutFunction { axes, mode, copies, base, flips }.checked()?;
        if !self.carries(inner) {
            return Ok(composed);
        }
        // Padding may carry where no element does: the normal form of the elements decides.
        let plain = inner.coalesce();
        if inner.mode.is_padded() && !plain.mode.is_padded() {
            let plain = self.outer.compose(&plain)?;
            if plain.coalesce() == composed.coalesce() {
                return Ok(composed);
            }
        }
        difference(self.outer, inner, &composed)?.map_or(Ok(composed), Err)
    }

    /// The digits of the result that a digit of `inner` becomes.
    fn digit(&mut self, digit: &Digit) -> Result<Mode, Error> {
        let Digit { extent, axis, stride } = *digit;
        if stride < 0 && extent > 1 {
            return Err(Error::new(format!("the strides of the inner layout must be at least 0, found {stride}")));
        }
        let (mut left, mut step, mut modes) = (extent, stride, Vec::new());
        loop {
            let steps = self.chains[axis].uncarried(step).min(left);
            let mode = Mode::Digit(self.step(axis, steps, step)?);
            self.taken.push((axis, steps, step));
            left = ceil_div(left, steps.max(1));
            if left <= 1 && modes.is_empty() {
                return Ok(mode);
            }
            modes.push(mode);
            if left <= 1 {
                return Ok(Mode::Group { size: extent, modes });
            }
            step = step.checked_mul(steps).ok_or_else(large)?;
        }
    }

    /// The digit of the result of steps that carry nowhere.
    fn step(&mut self, axis: usize, extent: i64, step: i64) -> Result<Digit, Error> {
        if extent == 1 || step == 0 {
            return Ok(Digit::new(extent, 0, 0));
        }
        if self.reach[axis].saturating_mul(step.into()) >= 1 << 61 {
            return Err(large());
        }
        self.place.fill(0);
        self.chains[axis].add(step, &mut self.place);
        let mut moved = self.place.iter().enumerate().filter(|(_, at)| **at != 0);
        let Some((first, stride)) = moved.next() else { return Ok(Digit::new(extent, 0, 0)) };
        let Some((second, _)) = moved.next() else { return Ok(Digit::new(extent, first, *stride)) };
        let (first, second) = (self.outer.axis(first), self.outer.axis(second));
        let message = format!("a digit must move along one axis, found steps of {step} along {first} and {second}");
        Err(Error::new(message).unsupported())
    }

    /// Whether the digits may carry, or leave the coordinates of `outer`.
    fn carries(&self, inner: &LayoutFunction) -> bool {
        self.chains.iter().enumerate().any(|(axis, chain)| {
            let base = inner.base[axis];
            let (mut total, mut sum, mut own) = (base, Vec::new(), Vec::new());
            chain.split(base, &mut sum);
            for (_, steps, step) in self.taken.iter().filter(|(of, ..)| *of == axis) {
                let most = (steps - 1).saturating_mul(*step);
                total = total.saturating_add(most);
                own.clear();
                chain.split(most, &mut own);
                sum.iter_mut().zip(&own).for_each(|(sum, own)| *sum = sum.saturating_add(*own));
            }
            own.clear();
            chain.split(total, &mut own);
            base < 0 || total >= chain.size() || own != sum
        })
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
