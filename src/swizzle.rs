//! Swizzles: bits of an address, flipped by other bits of it.
//!
//! `Sw<B,M,S>` of CuTe flips `B` bits: bit `M + k` by bit `M + S + k`, and for `S` below 0 bit `M - S + k` by bit
//! `M + k`. The bits that flip stay as they are, so a swizzle is its own inverse.

use crate::text::{Cursor, Error, from_str};
use std::fmt;

/// The most bits of an address.
const MOST_BITS: u32 = 62;

/// A swizzle of the bits of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

impl Swizzle {
    /// A swizzle of `bits` bits, the lowest of all at `base`, flipped by those `shift` bits above.
    ///
    /// # Errors
    /// A shift by fewer than `bits`, and bits beyond 62.
    pub fn new(bits: u32, base: u32, shift: i32) -> Result<Swizzle, Error> {
        if shift.unsigned_abs() < bits {
            let message = format!("a swizzle of {bits} bits must shift by at least as many, found {shift}");
            return Err(Error::new(message));
        }
        let end = [bits, base, shift.unsigned_abs()].into_iter().try_fold(0u32, u32::checked_add);
        if end.is_none_or(|end| end > MOST_BITS) {
            let message = format!("a swizzle must stay within {MOST_BITS} bits, found one that does not");
            return Err(Error::new(message).too_large());
        }
        Ok(Swizzle { bits, base, shift })
    }

    /// Reads `Sw<B,M,S>`.
    ///
    /// # Errors
    /// The error at the byte at fault.
    ///
    /// ```
    /// use tensor_layout::swizzle::Swizzle;
    /// let swizzle = Swizzle::parse("Sw<2,0,3>").unwrap();
    /// assert_eq!((swizzle.of(8), swizzle.of(swizzle.of(8))), (9, 8));
    /// ```
    pub fn parse(text: &str) -> Result<Swizzle, Error> {
        let mut cursor = Cursor::new(text);
        let swizzle = Swizzle::read(&mut cursor)?.ok_or_else(|| cursor.expected("`Sw<B,M,S>`"))?;
        cursor.finish("the end of the swizzle")?;
        Ok(swizzle)
    }

    /// Reads `Sw<B,M,S>`, or `S<B,M,S>` of some versions, if the cursor is at one.
    pub(crate) fn read(cursor: &mut Cursor) -> Result<Option<Swizzle>, Error> {
        let Some(word @ ("Sw" | "S")) = cursor.peek_word() else { return Ok(None) };
        cursor.advance(word.len());
        let mut numbers = [0; 3];
        for (k, number) in numbers.iter_mut().enumerate() {
            cursor.expect(if k == 0 { "<" } else { "," }, "`<B,M,S>`, the bits, the lowest of them and the shift")?;
            let at = cursor.at();
            let negative = k == 2 && cursor.eat("-");
            let value = cursor.integer("a number of bits")?;
            let small = i32::try_from(value).ok().filter(|value| *value <= MOST_BITS as i32);
            let small = small.ok_or_else(|| {
                let message = format!("a swizzle must stay within {MOST_BITS} bits, found {value}");
                Error::at(at, message).too_large()
            })?;
            *number = if negative { -small } else { small };
        }
        let at = cursor.at();
        cursor.expect(">", "`>` to close the swizzle")?;
        let [bits, base, shift] = numbers;
        let swizzle = Swizzle::new(bits.unsigned_abs(), base.unsigned_abs(), shift);
        swizzle.map(Some).map_err(|error| Error { at: Some(at), ..error })
    }

    /// The pairs of bits: the one that is flipped, and the one that flips it.
    pub fn flips(self) -> impl Iterator<Item = (u32, u32)> {
        let (flipped, by) = match u32::try_from(self.shift) {
            Ok(up) => (self.base, self.base + up),
            Err(_) => (self.base + self.shift.unsigned_abs(), self.base),
        };
        (0..self.bits).map(move |k| (flipped + k, by + k))
    }

    /// The number of addresses that one run keeps side by side: a swizzle moves no bit below its base.
    pub fn run(self) -> i64 {
        1 << self.base
    }

    /// The number of addresses of the least block that the swizzle maps to itself: two to the power of its highest
    /// bit plus one.
    pub fn block(self) -> i64 {
        self.flips().map(|(flipped, by)| 2 << flipped.max(by)).max().unwrap_or(1)
    }

    /// The bits that flip others.
    pub fn flipping(self) -> i64 {
        self.flips().fold(0, |mask, (_, by)| mask | 1 << by)
    }

    /// The distance from the bits that flip down to those that are flipped; below 0, up to them.
    pub fn distance(self) -> i32 {
        self.shift
    }

    /// The place of an address, which is not negative.
    pub fn of(self, address: i64) -> i64 {
        self.flips().fold(address, |place, (flipped, by)| place ^ (address >> by & 1) << flipped)
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits, self.base, self.shift)
    }
}

from_str!(Swizzle: Error);
