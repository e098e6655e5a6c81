//! The formats of floats of 8 and of 4 bits.

use crate::element::ElementType;

/// The format of a float.
#[non_exhaustive]
pub struct Format {
    /// The bits of a number, with its sign.
    pub bits: i64,
    /// The bits of the mantissa.
    pub mantissa: i64,
    /// The bias of the exponent.
    pub bias: i64,
    /// The code of the greatest number, without the sign.
    pub most: i64,
    /// The code of numbers beyond it: of infinity, where the type has one.
    pub beyond: i64,
    /// The code of NaN.
    pub nan: i64,
    /// Whether NaN has the code of -0, so that there is no -0.
    pub one_zero: bool,
}

impl Format {
    /// A format of IEEE: the largest exponent is that of infinities and NaN.
    pub fn ieee(bits: i64, mantissa: i64, bias: i64) -> Format {
        let infinity = (1 << (bits - 1)) - (1 << mantissa);
        let nan = infinity + (1 << (mantissa - 1));
        Format { bits, mantissa, bias, most: infinity - 1, beyond: infinity, nan, one_zero: false }
    }
}

/// The format of a type; `None` for a type of another width, or without a sign.
pub fn format(e: ElementType) -> Option<Format> {
    use ElementType::{F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ};
    let without =
        |mantissa, bias| Format { bits: 8, mantissa, bias, most: 0x7f, beyond: 0x80, nan: 0x80, one_zero: true };
    Some(match e {
        F8E5M2 => Format::ieee(8, 2, 15),
        F8E4M3 => Format::ieee(8, 3, 7),
        F8E3M4 => Format::ieee(8, 4, 3),
        F8E4M3FN => Format { bits: 8, mantissa: 3, bias: 7, most: 0x7e, beyond: 0x7f, nan: 0x7f, one_zero: false },
        // Numbers beyond the greatest one saturate, and NaN becomes -0.
        F4E2M1FN => Format { bits: 4, mantissa: 1, bias: 1, most: 7, beyond: 7, nan: 8, one_zero: false },
        F8E5M2FNUZ => without(2, 16),
        F8E4M3FNUZ => without(3, 8),
        F8E4M3B11FNUZ => without(3, 11),
        _ => return None,
    })
}

/// Whether a type is a float of 8 or of 4 bits.
pub fn is_small(e: ElementType) -> bool {
    e == ElementType::F8E8M0FNU || format(e).is_some()
}

/// The bits of an infinity or a NaN with this sign; `None` for other types.
pub fn special(x: f64, e: ElementType) -> Option<i64> {
    if e == ElementType::F8E8M0FNU {
        return Some(0xff);
    }
    let f = format(e)?;
    let code = if x.is_nan() { f.nan } else { f.beyond };
    Some(if x.is_sign_negative() { code | 1 << (f.bits - 1) } else { code })
}
