//! Constants: the text of an attribute's elements.

use tensor_layout::element::ElementType;
use tensor_layout::formats::special;
use tensor_layout::hlo::{Literal, Values};

/// The value of a constant as an attribute's text: a splat, or nested lists. `None` where it is left out or has no
/// text.
pub fn dense(literal: &Literal, e: ElementType, sizes: &[i64]) -> Option<String> {
    let all = elements(&literal.values, e)?;
    match all.first() {
        None => Some(String::new()),
        Some(first) if all.iter().all(|x| x == first) => Some(first.clone()),
        _ => {
            let (mut out, mut at) = (String::new(), 0);
            nested(&all, sizes, &mut at, &mut out);
            Some(out)
        }
    }
}

/// The text of each element of a constant, row-major. `None` where one is left out or has no text.
pub fn elements(values: &Values, e: ElementType) -> Option<Vec<String>> {
    Some(match values {
        Values::Booleans(values) => values.iter().map(bool::to_string).collect(),
        Values::Integers(values) => values.iter().map(|x| signless(*x, e)).collect(),
        Values::Floats(values) => values.iter().map(|x| float(*x, e)).collect::<Option<_>>()?,
        Values::Complex(values) => {
            let part = if e == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            let one = |(re, im): &(f64, f64)| Some(format!("({}, {})", float(*re, part)?, float(*im, part)?));
            values.iter().map(one).collect::<Option<_>>()?
        }
        Values::Elided | Values::Tuple(_) => return None,
    })
}

fn nested(all: &[String], sizes: &[i64], at: &mut usize, out: &mut String) {
    let Some((size, rest)) = sizes.split_first() else {
        out.push_str(&all[*at]);
        *at += 1;
        return;
    };
    out.push('[');
    for k in 0..*size {
        out.push_str(if k == 0 { "" } else { ", " });
        nested(all, rest, at, out);
    }
    out.push(']');
}

/// An integer as a literal of a signless type, which MLIR reads as a signed number.
fn signless(x: i128, e: ElementType) -> String {
    let bits = e.bits().unwrap_or(64);
    let turned = if x >= 1i128 << (bits - 1) && bits > 1 { x - (1i128 << bits) } else { x };
    turned.to_string()
}

/// A floating-point number as a literal: decimal, or its bits for infinities and NaN.
pub fn float(x: f64, e: ElementType) -> Option<String> {
    use ElementType::{BF16, F16, F32, F64};
    if x.is_finite() {
        return Some(decimal(x));
    }
    let width = e.bits()? as usize / 4;
    let (infinity, nan, sign) = match e {
        F16 => (0x7C00u64, 0x7E00, 1u64 << 15),
        BF16 => (0x7F80, 0x7FC0, 1 << 15),
        F32 => (0x7F80_0000, 0x7FC0_0000, 1 << 31),
        F64 => (0x7FF0 << 48, 0x7FF8 << 48, 1 << 63),
        _ => return special(x, e).map(|bits| format!("0x{bits:0width$X}")),
    };
    let bits = if x.is_nan() { nan } else { infinity } | if x.is_sign_negative() { sign } else { 0 };
    Some(format!("0x{bits:0width$X}"))
}

/// A decimal number with the point that MLIR requires.
pub fn decimal(x: f64) -> String {
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{digits}{}e{exponent}", if digits.contains('.') { "" } else { ".0" })
}
