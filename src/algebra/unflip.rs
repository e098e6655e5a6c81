//! Inverses of digits under flips of bits, as under a swizzle of sizes that are no powers of two.
//!
//! A layout takes an index to the sum `s` of its digits, and flips take `s` to the place. The inverse takes the place
//! through the flips back to `s`, and `s` to the index. In the text of a layout flips come last, so there is one if each
//! bit that flips is a bit of the index too: then these flip. In `Sw<1,0,1> o (4,3):(1,4)` bits 0 and 1 of the place are
//! those of the index. In `Sw<1,0,2> o (3,4):(4,1)` bit 0 of the place is a step of 3 in the index, which is no bit.

use crate::algebra::bits::inverse;
use crate::algebra::compose::LOOKED_AT;
use crate::algebra::layout::{Flip, LayoutFunction, written};
use crate::algebra::mode::Mode;
use crate::text::Error;

/// A bit of a sum: the axis and its number.
type SumBit = (usize, u32);

impl LayoutFunction {
    /// The inverse of the digits, right or left, with flips among the bits of the index.
    ///
    /// # Errors
    /// A bit that flips and is no bit of the index, and an element at another place than these flips say.
    pub(super) fn inverse_of_digits(&self, left: bool) -> Result<LayoutFunction, Error> {
        let plain = LayoutFunction { flips: Vec::new(), ..self.clone() };
        let mut inverse = if left { plain.left_inverse()? } else { plain.right_inverse()? };
        let back = self.flips_back()?;
        let bits = back.iter().map(|(bit, _)| self.index_bit(&inverse, *bit)).collect::<Result<Vec<_>, Error>>()?;
        let numbered = |set: u64| bits.iter().enumerate().filter(move |(k, _)| set >> k & 1 == 1);
        for (bit, (_, of)) in bits.iter().zip(&back) {
            let of = numbered(*of).fold(0, |of, (_, bit)| of ^ 1 << bit);
            if of != 1 << bit {
                inverse.flips.push(Flip { axis: 0, bit: *bit, of: vec![of] });
            }
        }
        let inverse = inverse.checked()?;
        if left { self.checked_left(inverse) } else { self.checked_right(inverse) }
    }

    /// The bits that flip or are read by a flip, each with the set of these bits whose exclusive or it was before.
    fn flips_back(&self) -> Result<Vec<(SumBit, u64)>, Error> {
        let flips = self.flips_within();
        let mut bits: Vec<SumBit> = flips.iter().map(|flip| (flip.axis, flip.bit)).collect();
        for (axis, of) in flips.iter().flat_map(|flip| flip.of.iter().enumerate()) {
            bits.extend((0..62).filter(|bit| of >> bit & 1 == 1).map(|bit| (axis, bit)));
        }
        bits.sort_unstable();
        bits.dedup();
        let reads = |flip: &Flip, (axis, bit): SumBit| flip.of[axis] >> bit & 1 == 1;
        let column = |bit: &SumBit| {
            let changed = bits.iter().enumerate().filter(|(_, other)| {
                let flip = flips.iter().find(|flip| (flip.axis, flip.bit) == **other);
                flip.map_or(*other == bit, |flip| reads(flip, *bit))
            });
            changed.fold(0u64, |column, (k, _)| column | 1 << k)
        };
        let columns: Vec<u64> = bits.iter().map(column).collect();
        let back = inverse(&columns)
            .ok_or_else(|| Error::new(format!("the flips of {self} have no inverse among the bits of its places")))?;
        let row = |k: usize| back.iter().enumerate().fold(0, |row, (j, column)| row | (column >> k & 1) << j);
        Ok(bits.iter().enumerate().map(|(k, bit)| (*bit, row(k))).collect())
    }

    /// The flips by bits that are 1 in a sum, without those that change nothing. A bit that is 0 in all sums stays what it
    /// flips.
    fn flips_within(&self) -> Vec<Flip> {
        let masks: Vec<i64> = (0..=self.axes.len()).map(|axis| self.sum_bits(axis)).collect();
        let mut flips = self.flips.clone();
        for flip in &mut flips {
            flip.of.iter_mut().zip(&masks).for_each(|(of, mask)| *of &= mask);
            flip.of[flip.axis] |= 1 << flip.bit & !masks[flip.axis];
        }
        let changes =
            |flip: &Flip| flip.of.iter().enumerate().any(|(axis, of)| *of != i64::from(axis == flip.axis) << flip.bit);
        flips.retain(changes);
        flips
    }

    /// The bits that are 1 in a sum along an axis: those of each digit alone, if no two share one, so that none carry.
    fn sum_bits(&self, axis: usize) -> i64 {
        let below = |number: i64| (1i64 << (64 - number.leading_zeros())) - 1;
        let (mut bits, mut shared) = (0, false);
        self.mode.each(1, &mut |_, digit| {
            if digit.axis == axis && digit.extent > 1 && digit.stride > 0 {
                let own = below((digit.extent - 1) * digit.stride) & -(1 << digit.stride.trailing_zeros());
                shared |= bits & own != 0;
                bits |= own;
            }
        });
        if shared { below(self.extent(axis) - 1) } else { bits }
    }

    /// The bit of the index that a bit of a place is.
    fn index_bit(&self, inverse: &LayoutFunction, (axis, bit): SumBit) -> Result<u32, Error> {
        let mut place = vec![0; self.axes.len() + 1];
        place[axis] = 1 << bit;
        match inverse.at_place(&place).as_deref() {
            Some([index]) if index.count_ones() == 1 => Ok(index.trailing_zeros()),
            found => {
                let inside = found.filter(|index| index[0] < self.size());
                let found = inside.map_or("no element".to_string(), |index| {
                    format!("the element {:?}, {} further on in the index", self.coordinates(index[0]), index[0])
                });
                let message = format!(
                    "the inverse is no layout: a bit that flips must be a bit of the index, found bit {bit} along {}, which without the flips has {found}",
                    self.axis(axis)
                );
                Err(Error::new(message).unsupported())
            }
        }
    }

    fn checked_left(&self, inverse: LayoutFunction) -> Result<LayoutFunction, Error> {
        self.few(self.size())?;
        let wrong = (0..self.size()).find(|index| inverse.at_place(&self.place(*index)) != Some(vec![*index]));
        wrong.map_or(Ok(inverse.clone()), |index| Err(self.unlike(index, &inverse)))
    }

    /// Refuses an inverse that is wrong at a place of an element; it ends before a place without one.
    fn checked_right(&self, inverse: LayoutFunction) -> Result<LayoutFunction, Error> {
        self.few(inverse.size())?;
        let place = |at: i64| if self.axes.is_empty() { vec![at] } else { inverse.coordinates(at) };
        let right = |at: &i64| {
            let index = inverse.place(*at)[0];
            (0..self.size()).contains(&index) && self.place(index) == place(*at)
        };
        let Some(end) = (0..inverse.size()).find(|at| !right(at)) else { return Ok(inverse) };
        self.few(self.size())?;
        if let Some(index) = (0..self.size()).find(|index| self.place(*index) == place(end)) {
            return Err(self.unlike(index, &inverse));
        }
        // The first element is at 0, so this is not the first place.
        inverse.with_mode(Mode::Group { size: end, modes: inverse.modes().to_vec() })
    }

    /// Refuses more elements than are looked at one by one.
    fn few(&self, count: i64) -> Result<(), Error> {
        if count <= LOOKED_AT {
            return Ok(());
        }
        let message = format!("an inverse of digits under flips must have at most {LOOKED_AT} elements, found {count}");
        Err(Error::new(message).too_large())
    }

    fn unlike(&self, index: i64, inverse: &LayoutFunction) -> Error {
        let place = self.place(index);
        let found = inverse.at_place(&place).map_or("none".to_string(), |index| written(&index));
        let message = format!(
            "the inverse is no layout: the element {:?} is at {}, for which flips of the bits of its index {index} give {found}",
            self.coordinates(index),
            written(&place)
        );
        Error::new(message).unsupported()
    }
}
