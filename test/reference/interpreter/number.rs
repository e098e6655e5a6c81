//! Array elements: integers, floats and complex numbers, rounded to their types.

use tensor_layout::element::ElementType;

/// An array element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer or boolean.
    Int(i128),
    /// A float.
    Float(f64),
    /// Real and imaginary parts.
    Complex(f64, f64),
}

impl Number {
    /// The number as a real one; the real part of a complex number.
    pub fn real(self) -> f64 {
        match self {
            Number::Int(x) => x as f64,
            Number::Float(x) | Number::Complex(x, _) => x,
        }
    }

    /// The number as an integer.
    pub fn int(self) -> i128 {
        match self {
            Number::Int(x) => x,
            Number::Float(x) | Number::Complex(x, _) => x as i128,
        }
    }

    /// The real and imaginary parts.
    pub fn parts(self) -> (f64, f64) {
        match self {
            Number::Complex(re, im) => (re, im),
            other => (other.real(), 0.0),
        }
    }

    /// Converts the number to an element type. Integers wrap.
    pub fn to(self, e: ElementType) -> Number {
        match e {
            ElementType::Pred => Number::Int(i128::from(self.real() != 0.0)),
            ElementType::C64 => Number::Complex(f64::from(self.parts().0 as f32), f64::from(self.parts().1 as f32)),
            ElementType::C128 => Number::Complex(self.parts().0, self.parts().1),
            e if e.is_float() => Number::Float(rounded(e, self.real())),
            _ => {
                let width = e.bits().expect("a number") as u32;
                let all = self.int().rem_euclid(1i128 << width);
                Number::Int(if e.is_signed() && all >= 1i128 << (width - 1) { all - (1i128 << width) } else { all })
            }
        }
    }

    /// The bits of an element of a type.
    pub fn bits(self, e: ElementType) -> u64 {
        match e {
            ElementType::F64 => self.real().to_bits(),
            ElementType::F32 => (self.real() as f32).to_bits().into(),
            ElementType::BF16 => u64::from((self.real() as f32).to_bits() >> 16),
            ElementType::C64 => {
                let (re, im) = self.parts();
                u64::from((re as f32).to_bits()) | u64::from((im as f32).to_bits()) << 32
            }
            e if e.is_float() || e.is_complex() => panic!("the bits of {} are not interpreted", e.name()),
            e => self.int().rem_euclid(1 << e.bits().expect("a number")) as u64,
        }
    }

    /// The element of a type with these bits.
    pub fn of_bits(e: ElementType, bits: u64) -> Number {
        match e {
            ElementType::F64 => Number::Float(f64::from_bits(bits)),
            ElementType::F32 => Number::Float(f64::from(f32::from_bits(bits as u32))),
            ElementType::BF16 => Number::Float(f64::from(f32::from_bits((bits as u32) << 16))),
            ElementType::C64 => {
                let part = |bits: u64| f64::from(f32::from_bits(bits as u32));
                Number::Complex(part(bits), part(bits >> 32))
            }
            e if e.is_float() || e.is_complex() => panic!("the bits of {} are not interpreted", e.name()),
            e => Number::Int(bits.into()).to(e),
        }
    }
}

/// The float rounded to an element type.
pub fn rounded(e: ElementType, x: f64) -> f64 {
    match e {
        ElementType::F64 => x,
        ElementType::F32 => f64::from(x as f32),
        ElementType::BF16 => {
            let bits = (x as f32).to_bits();
            let up = (bits.wrapping_add(0x7fff + ((bits >> 16) & 1))) & 0xffff_0000;
            f64::from(f32::from_bits(if x.is_nan() { bits } else { up }))
        }
        ElementType::F8E8M0FNU => power(x),
        e if e.is_float() => of_a_byte(e, x),
        e => Number::Float(x).to(e).real(),
    }
}

/// A boolean.
pub fn truth(b: bool) -> Number {
    Number::Int(b.into())
}

/// The product of two complex numbers.
pub fn product(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// The nearest power of two, the higher one of two; NaN if the number is not positive or not finite.
fn power(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return f64::NAN;
    }
    let nearest = (-127..=127).map(|k| 2f64.powi(k)).rev().find(|power| x * 4.0 >= power * 3.0);
    nearest.unwrap_or(2f64.powi(-127))
}

/// The nearest float of 8 or 4 bits, of two the one with an even code, by trying all codes.
fn of_a_byte(e: ElementType, x: f64) -> f64 {
    let (mantissa, bias, greatest) = match e {
        ElementType::F8E5M2 => (2, 15, 0x7b),
        ElementType::F8E4M3 => (3, 7, 0x77),
        ElementType::F8E3M4 => (4, 3, 0x6f),
        ElementType::F4E2M1FN => (1, 1, 7),
        ElementType::F8E4M3FN => (3, 7, 0x7e),
        ElementType::F8E5M2FNUZ => (2, 16, 0x7f),
        ElementType::F8E4M3FNUZ => (3, 8, 0x7f),
        ElementType::F8E4M3B11FNUZ => (3, 11, 0x7f),
        e => panic!("{} is not interpreted", e.name()),
    };
    // The number after the greatest one also counts: values nearer to it are out of range.
    let value = |code: i32| {
        let (high, low) = (code >> mantissa, f64::from(code & ((1 << mantissa) - 1)) / 2f64.powi(mantissa));
        if high == 0 { low * 2f64.powi(1 - bias) } else { (1.0 + low) * 2f64.powi(high - bias) }
    };
    let far = |code: &i32| (x.abs() - value(*code)).abs();
    let nearest = (0..=greatest + 1).min_by(|a, b| far(a).total_cmp(&far(b)).then((a % 2).cmp(&(b % 2)))).unwrap();
    let has_infinity = matches!(e, ElementType::F8E5M2 | ElementType::F8E4M3 | ElementType::F8E3M4);
    match nearest > greatest {
        true if e == ElementType::F4E2M1FN => value(greatest).copysign(x),
        true if has_infinity => f64::INFINITY.copysign(x),
        true => f64::NAN,
        false => value(nearest).copysign(x),
    }
}
