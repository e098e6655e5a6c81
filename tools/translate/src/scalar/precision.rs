//! `reduce-precision`: a float rounded to fewer bits of exponent and mantissa, in its own type.

use crate::syntax::element_type;
use crate::writer::Writer;
use tensor_layout::element::ElementType;

/// The bits of exponent and mantissa, without the leading one; `None` for a type without infinities or a sign.
fn parts(e: ElementType) -> Option<(i64, i64)> {
    Some(match e {
        ElementType::F16 => (5, 10),
        ElementType::BF16 => (8, 7),
        ElementType::F32 => (8, 23),
        ElementType::F64 => (11, 52),
        ElementType::F8E5M2 => (5, 2),
        _ => return None,
    })
}

/// The number with an exponent of `exponent` bits and a mantissa of `mantissa` bits: rounded to the nearest, halves to
/// even. Too large numbers become infinities, numbers below the least normal one become 0. NaN stays.
pub fn reduced(w: &mut Writer, a: &str, e: ElementType, exponent: i64, mantissa: i64) -> Option<String> {
    let ((wide, long), of, bits) = (parts(e)?, element_type(e)?, e.bits()?);
    let int = format!("i{bits}");
    let number = |w: &mut Writer, n: i128| {
        let signed = if n >= 1i128 << (bits - 1) { n - (1i128 << bits) } else { n };
        w.constant(&signed.to_string(), &int)
    };
    let raw = w.op(&format!("arith.bitcast {a} : {of} to {int}"));
    let mut x = raw.clone();
    if mantissa < long {
        // Half of the last kept bit, less one where that bit is even.
        let dropped = long - mantissa;
        let shift = number(w, dropped.into());
        let one = number(w, 1);
        let last = w.same("arith.shrui", &[x.clone(), shift], &int);
        let odd = w.same("arith.andi", &[last, one], &int);
        let half = number(w, (1i128 << (dropped - 1)) - 1);
        let bias = w.same("arith.addi", &[half, odd], &int);
        let sum = w.same("arith.addi", &[x, bias], &int);
        let mask = number(w, (1i128 << bits) - (1i128 << dropped));
        x = w.same("arith.andi", &[sum, mask], &int);
    }
    if exponent < wide {
        let bias = (1i128 << (wide - 1)) - 1;
        let reduced = (1i128 << (exponent - 1)) - 1;
        let (all, sign) = (((1i128 << wide) - 1) << long, 1i128 << (bits - 1));
        let (all_ones, sign_bit) = (number(w, all), number(w, sign));
        let found = w.same("arith.andi", &[x.clone(), all_ones.clone()], &int);
        let (most, least) = (number(w, (bias + reduced) << long), number(w, (bias - reduced) << long));
        let over = w.compare("ugt", &found, &most, &int);
        let under = w.compare("ule", &found, &least, &int);
        let zero = w.same("arith.andi", &[x.clone(), sign_bit], &int);
        let infinity = w.same("arith.ori", &[zero.clone(), all_ones], &int);
        let value = w.select(&over, &infinity, &x, &int);
        x = w.select(&under, &zero, &value, &int);
    }
    let nan = w.compare("uno", a, a, &of);
    let rounded = w.op(&format!("arith.bitcast {x} : {int} to {of}"));
    Some(w.select(&nan, a, &rounded, &of))
}
