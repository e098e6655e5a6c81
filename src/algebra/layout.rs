//! A layout as a function from coordinates to places.
//!
//! A mode is a digit, which adds `coordinate * stride` to the coordinate of an axis, or a group of modes, of which the
//! first varies fastest. So `(2,4):(1,6)` takes index 5, the coordinates 1 and 2, to `1*1 + 2*6 = 13`. A group may have
//! fewer elements than the product of its modes: `5/(2,3):(1,4)` is 5 elements in 3 pairs, and the sixth is padding.
//!
//! The sum starts at a base. Bits of the sum may flip bits of the sum, for swizzles; all of them read the sum before
//! the first flip.

use crate::algebra::chain::Chain;
use crate::algebra::mode::{Digit, Mode, large};
use crate::text::Error;
use smallvec::{SmallVec, smallvec};

/// A coordinate along each axis, last the address.
pub(super) type Place = SmallVec<[i64; 2]>;

/// A layout as a function from coordinates to places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LayoutFunction {
    pub(super) axes: Vec<String>,
    pub(super) mode: Mode,
    pub(super) copies: Vec<Digit>,
    pub(super) base: Place,
    pub(super) flips: Vec<Flip>,
}

/// A bit of a place that becomes the exclusive or of bits of the sum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Flip {
    /// The number of the axis.
    pub axis: usize,
    /// The number of the bit.
    pub bit: u32,
    /// For each axis the bits of the sum.
    pub of: Vec<i64>,
}

/// The bound of places, strides and sizes, so that a sum of two of them fits.
const FITS: i64 = 1 << 62;

impl LayoutFunction {
    /// A layout of these digits along the named axes and the address.
    ///
    /// # Errors
    /// A size below 1, a group with more elements than its modes, and places that do not fit in 62 bits.
    ///
    /// ```
    /// use tensor_layout::algebra::{Digit, LayoutFunction, Mode};
    /// let mode = Mode::group([Digit::new(2, 0, 1), Digit::new(4, 0, 6)].map(Mode::Digit).into());
    /// let layout = LayoutFunction::new(Vec::new(), mode).unwrap();
    /// assert_eq!((layout.place(5), layout.to_string()), (vec![13], "(2,4):(1,6)".to_string()));
    /// ```
    pub fn new(axes: Vec<String>, mode: Mode) -> Result<LayoutFunction, Error> {
        let base = smallvec![0; axes.len() + 1];
        LayoutFunction { axes, mode, copies: Vec::new(), base, flips: Vec::new() }.checked()
    }

    /// The layout of digits along the address alone.
    pub(super) fn of_chain(chain: &Chain) -> Result<LayoutFunction, Error> {
        let (axes, copies, flips) = (Vec::new(), Vec::new(), Vec::new());
        if chain.size >= FITS || chain.reach() >= FITS {
            return Err(large());
        }
        Ok(LayoutFunction { axes, mode: chain.mode(), copies, base: Place::from_slice(&[0]), flips })
    }

    /// The same axes, copies, base and flips with other modes.
    pub(super) fn with_mode(&self, mode: Mode) -> Result<LayoutFunction, Error> {
        self.replaced(mode).checked()
    }

    fn replaced(&self, mode: Mode) -> LayoutFunction {
        let LayoutFunction { axes, copies, base, flips, .. } = self;
        let base = Place::from_slice(base);
        LayoutFunction { axes: axes.clone(), mode, copies: copies.clone(), base, flips: flips.clone() }
    }

    /// The same layout from a first place on, with copies.
    pub(crate) fn with_places(self, base: Option<Vec<i64>>, copies: Vec<Digit>) -> Result<LayoutFunction, Error> {
        let base = base.map_or_else(|| self.base.clone(), Place::from_vec);
        LayoutFunction { base, copies, ..self }.checked()
    }

    /// The digits of a mode alone: without base, copies and flips.
    pub(super) fn alone(&self, mode: &Mode) -> Result<LayoutFunction, Error> {
        LayoutFunction::new(self.axes.clone(), mode.clone())
    }

    /// Whether there are no base, no copies and no flips.
    pub(super) fn has_digits_alone(&self) -> bool {
        self.flips.is_empty() && self.copies.is_empty() && self.base.iter().all(|base| *base == 0)
    }

    /// Refuses what no function of this module makes.
    pub(super) fn checked(mut self) -> Result<LayoutFunction, Error> {
        // A copy at the place of its element is none.
        self.copies.retain(|digit| digit.stride != 0 && digit.extent != 1);
        let digits = self.mode.check()?;
        let base = self.base.iter().map(|base| base.saturating_abs());
        let all = base.chain(self.copies.iter().map(Digit::reach)).fold(digits, i64::saturating_add);
        if all >= FITS { Err(large()) } else { Ok(self) }
    }

    /// The named axes.
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// The name of an axis, or of the address.
    pub(super) fn axis(&self, axis: usize) -> &str {
        self.axes.get(axis).map_or("the address", String::as_str)
    }

    /// All modes as one.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The place before the first digit adds: for each axis, last the address.
    pub fn base(&self) -> &[i64] {
        &self.base
    }

    /// The digits that belong to no mode: an element has a copy at each of their sums.
    pub fn copies(&self) -> &[Digit] {
        &self.copies
    }

    /// The bits that change in the sum.
    pub fn flips(&self) -> &[Flip] {
        &self.flips
    }

    /// The modes: those of the outermost group, or the only one.
    pub fn modes(&self) -> &[Mode] {
        self.mode.modes()
    }

    /// The number of elements.
    pub fn size(&self) -> i64 {
        self.mode.size()
    }

    /// The sizes of the modes.
    pub fn sizes(&self) -> Vec<i64> {
        self.modes().iter().map(Mode::size).collect()
    }

    /// One more than the greatest sum of digits along an axis, before bits flip.
    pub(super) fn extent(&self, axis: usize) -> i64 {
        let mut extent = self.base[axis] + 1;
        let mut reach = |_, digit: &Digit| {
            if digit.axis == axis {
                extent += (digit.extent - 1) * digit.stride.max(0);
            }
        };
        self.mode.each(1, &mut reach);
        self.copies.iter().for_each(|digit| reach(0, digit));
        extent
    }

    /// The place of the element with this index, which counts the first mode fastest: its coordinate along each axis,
    /// last the address.
    pub fn place(&self, index: i64) -> Vec<i64> {
        let mut place = self.base.to_vec();
        self.mode.add(index, &mut place);
        self.flip(&mut place);
        place
    }

    /// The places of the element with this index and of its copies.
    pub(super) fn places(&self, index: i64) -> Vec<Vec<i64>> {
        let mut sums = vec![self.base.to_vec()];
        self.mode.add(index, &mut sums[0]);
        for digit in &self.copies {
            let steps = |sum: &Vec<i64>| {
                let moved = |step| {
                    let mut sum = sum.clone();
                    sum[digit.axis] += step * digit.stride;
                    sum
                };
                (0..digit.extent).map(moved).collect::<Vec<_>>()
            };
            sums = sums.iter().flat_map(steps).collect();
        }
        sums.iter_mut().for_each(|sum| self.flip(sum));
        sums
    }

    fn flip(&self, place: &mut [i64]) {
        if self.flips.is_empty() {
            return;
        }
        let sum = place.to_vec();
        for flip in &self.flips {
            let ones: u32 = flip.of.iter().zip(&sum).map(|(of, at)| (of & at).count_ones()).sum();
            place[flip.axis] = place[flip.axis] & !(1 << flip.bit) | i64::from(ones % 2) << flip.bit;
        }
    }

    /// The coordinates of an index, one for each mode.
    pub fn coordinates(&self, index: i64) -> Vec<i64> {
        let mut rest = index;
        let next = |mode: &Mode| {
            let at = rest % mode.size();
            rest /= mode.size();
            at
        };
        self.modes().iter().map(next).collect()
    }

    /// The index of coordinates, one for each mode.
    ///
    /// # Errors
    /// Another number of coordinates, and one beyond its size.
    pub fn index(&self, coordinates: &[i64]) -> Result<i64, Error> {
        let sizes = self.sizes();
        if coordinates.len() != sizes.len() {
            let message = format!("the layout has {} modes, found {} coordinates", sizes.len(), coordinates.len());
            return Err(Error::new(message));
        }
        let (mut index, mut weight) = (0, 1);
        for (k, (at, size)) in coordinates.iter().zip(sizes).enumerate() {
            if !(0..size).contains(at) {
                return Err(Error::new(format!("coordinate {k} must be at least 0 and below {size}, found {at}")));
            }
            index += at * weight;
            weight *= size;
        }
        if index >= self.size() {
            return Err(Error::new(format!("an index must be below the size {}, found {index}", self.size())));
        }
        Ok(index)
    }

    /// The function with the fewest digits, without nested modes.
    ///
    /// ```
    /// use tensor_layout::algebra::LayoutFunction;
    /// let layout = LayoutFunction::parse("((2,1),(3,5)):((1,7),(2,60))").unwrap();
    /// assert_eq!(layout.coalesce().to_string(), "(6,5):(1,60)");
    /// ```
    #[must_use]
    pub fn coalesce(&self) -> LayoutFunction {
        let mut copies = self.copies.clone();
        copies.sort_unstable_by_key(|digit| (digit.axis, digit.stride));
        let mut chain = Chain::new();
        copies.into_iter().for_each(|digit| chain.grow(digit));
        LayoutFunction { copies: chain.digits(), ..self.replaced(self.mode.coalesced()) }
    }

    /// The modes in another order: mode `k` is `order[k]` of this layout.
    ///
    /// # Errors
    /// An order that does not name each mode once.
    pub fn permute(&self, order: &[usize]) -> Result<LayoutFunction, Error> {
        let modes = self.modes();
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if sorted != (0..modes.len()).collect::<Vec<_>>() {
            let message = format!("an order must name each of the {} modes once, found {order:?}", modes.len());
            return Err(Error::new(message));
        }
        self.mode.whole("permuted")?;
        self.with_mode(Mode::group(order.iter().map(|mode| modes[*mode].clone()).collect()))
    }

    /// The place for a place of `inner`; `None` where it is no coordinate.
    pub(super) fn at_place(&self, place: &[i64]) -> Option<Vec<i64>> {
        match place {
            [index] => (0..self.size()).contains(index).then(|| self.place(*index)),
            _ => self.index(place).ok().map(|index| self.place(index)),
        }
    }

    /// The error for an index of `inner` whose place is no coordinate of this layout.
    pub(super) fn outside(&self, inner: &LayoutFunction, index: i64) -> Error {
        let sizes: Vec<String> = self.sizes().iter().map(i64::to_string).collect();
        Error::new(format!(
            "the outer layout has {} elements, found {:?} of the inner layout at {}",
            sizes.join("x"),
            inner.coordinates(index),
            written(&inner.place(index))
        ))
    }
}

/// A place as text: a number, or the coordinates of all axes.
pub(super) fn written(place: &[i64]) -> String {
    match place {
        [address] => address.to_string(),
        _ => format!("{place:?}"),
    }
}
