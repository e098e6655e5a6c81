//! Windows that touch the data at one place each.
//!
//! XLA:TPU writes a product with a batch dimension as a convolution over it. For a batch of 8, a base dilation of 8
//! spreads the data over 57 places, and a window of 8 places moves by 7. Place `w` of window `o` is at `7*o + w`, where
//! there is an element only if 8 divides it. The only such place is `w = o`, with element `o`; the 7 others are
//! padding.
//!
//! In general, place `w` of window `o` is on element `e` where `o*stride + w*window_dilation - low = e*base_dilation`.
//! If each window has one solution inside the window and the data, and both are affine in `o`, the convolution needs no
//! loop over the window's places, and no padding.

use crate::numbers::ceil_div_wide;
use crate::numbers::{gcd, inverse};
use crate::operations::operation::WindowDim;

/// An arithmetic progression `start + step * o`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progression {
    /// The number for `o = 0`.
    pub start: i64,
    /// The step from one number to the next; 0 if there is only one.
    pub step: i64,
}

/// The only place of each window that touches an element of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DegenerateWindow {
    /// The place in window `o`, as the kernel counts: backwards if the window is reversed.
    pub place: Progression,
    /// The element of the data.
    pub element: Progression,
}

impl WindowDim {
    /// The places where `windows` windows touch `data` elements, if each window has one such place, and this place and
    /// its element are affine in the window's number.
    pub fn degenerate_window(&self, data: i64, windows: i64) -> Option<DegenerateWindow> {
        let last = (windows > 0).then(|| windows - 1)?;
        let [[place, element], end] = [self.first(data, 0)?, self.first(data, last)?];
        let step = |from: i128, to: i128| if last == 0 { Some(0) } else { exact(to - from, last.into()) };
        let steps = [step(place, end[0])?, step(element, end[1])?];
        // Both are affine, so the numbers between the first and the last window also solve the equation, inside the
        // window and the data. They are the only solutions unless the next or the previous solution of one of them is
        // inside.
        if self.has_another([place, element], steps, data, last.into()) {
            return None;
        }
        let (place, step) = match self.reversed {
            true => (i128::from(self.size) - 1 - place, -steps[0]),
            false => (place, steps[0]),
        };
        let line =
            |start: i128, step: i128| Some(Progression { start: start.try_into().ok()?, step: step.try_into().ok()? });
        Some(DegenerateWindow { place: line(place, step)?, element: line(element, steps[1])? })
    }

    /// The first solution for a window: the place and the element.
    fn first(&self, data: i64, window: i64) -> Option<[i128; 2]> {
        let (dilation, base) = (i128::from(self.window_dilation), i128::from(self.base_dilation));
        if dilation < 1 || base < 1 {
            return None;
        }
        let behind = i128::from(self.low) - i128::from(window) * i128::from(self.stride);
        // The first and the last place that are inside the data.
        let start = ceil_div_wide(behind, dilation).max(0);
        let end = (behind + (i128::from(data) - 1) * base).div_euclid(dilation).min(i128::from(self.size) - 1);
        let common = gcd(dilation, base);
        let (period, behind_of) = (base / common, exact(behind, common)?);
        let residue = (behind_of.rem_euclid(period) * inverse(dilation / common, period)?).rem_euclid(period);
        let place = start + (residue - start).rem_euclid(period);
        (place <= end).then(|| [place, (place * dilation - behind) / base])
    }

    /// Whether one of the windows 0 to `last`, whose first solutions are affine, has a second solution.
    fn has_another(&self, [place, element]: [i128; 2], steps: [i128; 2], data: i64, last: i128) -> bool {
        let (dilation, base) = (i128::from(self.window_dilation), i128::from(self.base_dilation));
        let common = gcd(dilation, base);
        let (next_place, next_element) = (base / common, dilation / common);
        let sizes = [i128::from(self.size), i128::from(data)];
        // The distance to the end from the next solution, and to the start from the previous one.
        let after =
            [(sizes[0] - 1 - next_place - place, -steps[0]), (sizes[1] - 1 - next_element - element, -steps[1])];
        let before = [(place - next_place, steps[0]), (element - next_element, steps[1])];
        [after, before].iter().any(|left| {
            let inside = left.iter().map(|(start, step)| not_negative(*start, *step, last));
            let (from, to) = inside.fold((0, last), |all, own| (all.0.max(own.0), all.1.min(own.1)));
            from <= to
        })
    }
}

/// The first and the last of the numbers 0 to `last` with `start + step * o >= 0`; the first is larger if there is
/// none.
fn not_negative(start: i128, step: i128, last: i128) -> (i128, i128) {
    match step.signum() {
        0 if start < 0 => (1, 0),
        0 => (0, last),
        1 => (ceil_div_wide(-start, step), last),
        _ => (0, start.div_euclid(-step)),
    }
}

fn exact(a: i128, b: i128) -> Option<i128> {
    (a % b == 0).then_some(a / b)
}
