//! A search for digits that have given coordinates (the element at a place), and for differences of digits that cancel
//! (elements that share a place). [`crate::places::placement`] says why each axis may be searched alone.

use crate::numbers::{gcd, inverse};
use crate::places::tensor_layout::Spot;
use crate::text::Error;

/// One part of a layout: a digit of an index, or of the number of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Digit {
    /// The dimension of the index; `None` for copies.
    pub dim: Option<usize>,
    /// The distance of a step in the index of the dimension; 1 for copies.
    pub weight: i64,
    /// The number of values, at least 1.
    pub extent: i64,
    /// The axis, as a number in [`Placement::axes`](crate::places::Placement::axes); their count means the local
    /// address.
    pub axis: usize,
    /// The distance of a step along the axis.
    pub stride: i64,
    /// The position in the layout.
    pub spot: Spot,
}

/// The most steps of a search for a collision or an element. Layouts whose strides divide each other, as all in use do,
/// need one step for each part.
const SEARCHED: usize = 1 << 20;

/// A walk through the values of digits, grouped by axis and by falling strides.
pub struct Search<'a> {
    /// The digits, each with its highest value.
    pub order: Vec<(Digit, i64)>,
    /// The reach along its axis of the digits from each one on; 0 after the last.
    pub reach: Vec<i128>,
    /// The common divisor of the strides along its axis of the digits from each one on; 0 after the last.
    divisor: Vec<i128>,
    sizes: &'a [i64],
    /// The difference of each digit.
    pub delta: Vec<i64>,
    /// The indices that the positive and the negative differences add up to.
    pub plus: Vec<i64>,
    minus: Vec<i64>,
    left: usize,
}

impl<'a> Search<'a> {
    /// A walk through digits in this order, with indices below these sizes.
    pub fn new(order: Vec<(Digit, i64)>, sizes: &'a [i64]) -> Search<'a> {
        let (mut reach, mut divisor) = (vec![0; order.len() + 1], vec![0; order.len() + 1]);
        for (k, (digit, most)) in order.iter().enumerate().rev() {
            let same = order.get(k + 1).is_some_and(|(next, _)| next.axis == digit.axis);
            let behind = if same { reach[k + 1] } else { 0 };
            reach[k] = behind + i128::from(*most) * i128::from(digit.stride);
            divisor[k] = gcd(i128::from(digit.stride), if same { divisor[k + 1] } else { 0 });
        }
        let (delta, plus, minus) = (vec![0; order.len()], vec![0; sizes.len()], vec![0; sizes.len()]);
        Search { order, reach, divisor, sizes, delta, plus, minus, left: SEARCHED }
    }

    fn step(&mut self) -> Result<(), Error> {
        let message = "finding the elements that share a place takes more than 2^20 steps";
        self.left = self.left.checked_sub(1).ok_or_else(|| Error::new(message))?;
        Ok(())
    }

    /// The reach along its axis of the digits after this one.
    fn behind(&self, k: usize) -> i128 {
        let axis = self.order[k].0.axis;
        if self.order.get(k + 1).is_some_and(|(next, _)| next.axis == axis) { self.reach[k + 1] } else { 0 }
    }

    /// Adds a difference to the indices; undoes it and returns false if an index would leave the shape.
    fn moved(&mut self, k: usize, delta: i64) -> bool {
        let digit = self.order[k].0;
        let Some(dim) = digit.dim else { return true };
        let index = if delta > 0 { &mut self.plus[dim] } else { &mut self.minus[dim] };
        // At most the size, and then once more at most the size.
        let Some(more) = index.checked_add(delta.abs() * digit.weight).filter(|i| *i < self.sizes[dim]) else {
            return false;
        };
        *index = more;
        true
    }

    fn back(&mut self, k: usize, delta: i64) {
        let digit = self.order[k].0;
        let Some(dim) = digit.dim else { return };
        let index = if delta > 0 { &mut self.plus[dim] } else { &mut self.minus[dim] };
        *index -= delta.abs() * digit.weight;
    }

    /// Searches differences from digit `k` on, not all 0, that bring `sum` back to 0; the first non-zero one is
    /// positive.
    pub fn difference(&mut self, k: usize, sum: i128) -> Result<bool, Error> {
        self.step()?;
        if k == self.order.len() {
            return Ok(sum == 0 && self.delta.iter().any(|d| *d != 0));
        }
        let (digit, most) = self.order[k];
        let (stride, most, behind) = (i128::from(digit.stride), i128::from(most), self.behind(k));
        let started = self.delta[..k].iter().any(|d| *d != 0);
        let least = if started { -most } else { 0 };
        let (low, high) = match stride {
            0 => (least, most),
            s => (least.max(-(sum + behind).div_euclid(s)), most.min((behind - sum).div_euclid(s))),
        };
        // The common divisor of all smaller strides must divide the rest.
        let below = if behind > 0 { self.divisor[k + 1] } else { 0 };
        let Some((first, period)) = residue(stride, sum, below) else { return Ok(false) };
        // Small differences first, and 0 last while all are 0: near elements are easier to picture.
        let least = if started { low } else { low.max(1) };
        let near = 0.clamp(least, high.max(least));
        let mut up = near + (first - near).rem_euclid(period);
        let mut down = up - period;
        while up <= high || down >= least {
            let value = if up <= high && (down < least || up.abs() <= down.abs()) { up } else { down };
            if value == up {
                up += period;
            } else {
                down -= period;
            }
            if self.differs_by(k, sum, value)? {
                return Ok(true);
            }
        }
        Ok(!started && low <= 0 && self.differs_by(k, sum, 0)?)
    }

    /// [`Search::difference`] with difference `value` at digit `k`.
    fn differs_by(&mut self, k: usize, sum: i128, value: i128) -> Result<bool, Error> {
        self.step()?;
        // Between the extent and its negative, so 64 bits hold it.
        let delta = value as i64;
        if !self.moved(k, delta) {
            return Ok(false);
        }
        self.delta[k] = delta;
        if self.difference(k + 1, sum + value * i128::from(self.order[k].0.stride))? {
            return Ok(true);
        }
        self.back(k, delta);
        self.delta[k] = 0;
        Ok(false)
    }

    /// Searches digits from `k` on that have the remaining coordinates `left`, with an index in the shape.
    pub fn element(&mut self, k: usize, left: &mut [i128]) -> Result<bool, Error> {
        self.step()?;
        if k == self.order.len() {
            return Ok(true);
        }
        let (digit, most) = self.order[k];
        let (stride, behind, wanted) = (i128::from(digit.stride), self.behind(k), left[digit.axis]);
        let low = -(behind - wanted).div_euclid(stride);
        let mut value = i128::from(most).min(wanted.div_euclid(stride));
        while value >= low.max(0) {
            let delta = value as i64;
            if self.moved(k, delta) {
                left[digit.axis] = wanted - value * stride;
                let done = left[digit.axis] == 0 || behind > 0;
                if done && self.element(k + 1, left)? {
                    return Ok(true);
                }
                self.back(k, delta);
            }
            self.step()?;
            value -= 1;
        }
        left[digit.axis] = wanted;
        Ok(false)
    }
}

/// The values `first + k * period` with `sum + value * stride` divisible by `by`, as `(first, period)`; `None` without
/// any. A `by` of 0 allows all values.
fn residue(stride: i128, sum: i128, by: i128) -> Option<(i128, i128)> {
    if by == 0 {
        // The caller's bounds leave at most one value.
        return Some((0, 1));
    }
    let common = gcd(stride, by);
    if sum % common != 0 {
        return None;
    }
    let period = by / common;
    let inverse = inverse(stride / common, period)?;
    Some(((-sum / common).rem_euclid(period) * inverse % period, period))
}
