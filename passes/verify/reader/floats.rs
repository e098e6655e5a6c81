//! Floating-point types that are computed: a row for each, and the numbers that bits are.

use crate::reader::flags::NINF;

/// A floating-point type of a sign, an exponent and a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// The bits of the exponent.
    exponent: u32,
    /// The bits of the fraction.
    pub fraction: u32,
    bias: i32,
    special: Special,
}

/// The encodings of values that are no finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Special {
    /// Infinities and NaN, with all bits of the exponent.
    Ieee,
    /// NaN, with all bits but the sign.
    AllOnes,
    /// NaN, in place of the negative zero.
    NegativeZero,
    /// None.
    Finite,
}

impl Format {
    /// The format of a type as MLIR prints it; none of a type of more than 64 bits, and of `f8E8M0FNU`, which has no zero.
    pub fn of(text: &str) -> Option<Format> {
        use Special::*;
        let (exponent, fraction, bias, special) = match text {
            "f64" => (11, 52, 1023, Ieee),
            "f32" => (8, 23, 127, Ieee),
            "tf32" => (8, 10, 127, Ieee),
            "bf16" => (8, 7, 127, Ieee),
            "f16" => (5, 10, 15, Ieee),
            "f8E5M2" => (5, 2, 15, Ieee),
            "f8E4M3" => (4, 3, 7, Ieee),
            "f8E3M4" => (3, 4, 3, Ieee),
            "f8E4M3FN" => (4, 3, 7, AllOnes),
            "f8E5M2FNUZ" => (5, 2, 16, NegativeZero),
            "f8E4M3FNUZ" => (4, 3, 8, NegativeZero),
            "f8E4M3B11FNUZ" => (4, 3, 11, NegativeZero),
            "f6E3M2FN" => (3, 2, 3, Finite),
            "f6E2M3FN" => (2, 3, 1, Finite),
            "f4E2M1FN" => (2, 1, 1, Finite),
            _ => return None,
        };
        Some(Format { exponent, fraction, bias, special })
    }

    /// The bit of the sign.
    pub fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    /// The bits of the largest finite number.
    pub fn largest(self) -> u64 {
        match self.special {
            Special::Ieee => self.sign() - 1 - (1 << self.fraction),
            Special::AllOnes => self.sign() - 2,
            Special::NegativeZero | Special::Finite => self.sign() - 1,
        }
    }

    /// The bits of the greatest number where an operation has these flags: of types with infinities the infinity, unless a flag
    /// promises that there is none.
    pub fn greatest(self, flags: u32) -> u64 {
        self.largest() + u64::from(self.special == Special::Ieee && flags & NINF == 0)
    }

    /// The bits of the least zero.
    pub fn least_zero(self) -> u64 {
        if self.has_signed_zeros() { self.sign() } else { 0 }
    }

    /// Whether zeros have signs: a type without a negative zero has one NaN, which no operation on the sign changes.
    pub fn has_signed_zeros(self) -> bool {
        self.special != Special::NegativeZero
    }

    /// The bits of a number that is part of others, from the bit `low` on.
    pub fn part(self, bits: u64, low: u32) -> u64 {
        bits >> low & (self.sign() | (self.sign() - 1))
    }

    /// The bits of a NaN; of types without one, those of a zero.
    pub fn nan(self) -> u64 {
        match self.special {
            Special::Ieee => self.greatest(0) | 1 << (self.fraction - 1),
            Special::AllOnes => self.sign() - 1,
            Special::NegativeZero => self.sign(),
            Special::Finite => 0,
        }
    }

    /// Whether there are NaNs.
    pub fn has_nan(self) -> bool {
        self.special != Special::Finite
    }

    /// Whether a number of these bits is none.
    pub fn is_nan(self, bits: u64) -> bool {
        match self.special {
            Special::NegativeZero => bits == self.sign(),
            _ => bits & !self.sign() > self.greatest(0),
        }
    }

    /// The number of these bits.
    pub fn number(self, bits: u64) -> f64 {
        let scale = (bits & !self.sign()) >> self.fraction;
        let digits = bits & ((1 << self.fraction) - 1);
        let unit = |scale: u64| 2_f64.powi(scale as i32 - self.bias - self.fraction as i32);
        let size = match scale {
            _ if self.fraction == 52 => return f64::from_bits(bits),
            _ if self.fraction == 23 => return f32::from_bits(bits as u32).into(),
            _ if self.is_nan(bits) => return f64::NAN,
            _ if bits & !self.sign() > self.largest() => f64::INFINITY,
            0 => digits as f64 * unit(1),
            scale => (digits | 1 << self.fraction) as f64 * unit(scale),
        };
        if bits & self.sign() != 0 { -size } else { size }
    }

    /// The bits of a number that is rounded to nearest even. An overflow is infinity, without infinity NaN, and without both
    /// the largest number.
    pub fn rounded(self, x: f64) -> u64 {
        if x.is_nan() {
            return self.nan();
        }
        if self.fraction >= 23 {
            return if self.fraction == 52 { x.to_bits() } else { (x as f32).to_bits().into() };
        }
        let (sign, size) = (if x.is_sign_negative() { self.sign() } else { 0 }, x.abs());
        // The exponent of the least digit, of subnormal numbers that of the least normal one.
        let least = 1 - self.bias;
        let scale = ((size.to_bits() >> 52) as i32 - 1023).max(least);
        let units = (size * 2_f64.powi(self.fraction as i32 - scale)).round_ties_even();
        // As many units as the next power of two has carry into the exponent.
        let bits = (((scale - least) as u64) << self.fraction).saturating_add(units as u64);
        match self.special {
            Special::Ieee => sign | bits.min(self.greatest(0)),
            Special::Finite => sign | bits.min(self.largest()),
            _ if bits > self.largest() => self.nan(),
            Special::NegativeZero if bits == 0 => 0,
            _ => sign | bits,
        }
    }
}

/// The formats of the numbers that 64 bits of a type are, each with the place of its first bit: a complex number is two.
pub fn parts(text: &str) -> Vec<(Option<Format>, u32)> {
    let part = text.strip_prefix("complex<").and_then(|part| Format::of(part.strip_suffix('>')?));
    match part.map(|part| (Some(part), part.exponent + part.fraction + 1)) {
        Some((part, bits @ 1..=32)) => vec![(part, 0), (part, bits)],
        _ => vec![(Format::of(text), 0)],
    }
}
