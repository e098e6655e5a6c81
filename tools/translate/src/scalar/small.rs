//! Floats of 8 bits as `f32` and back, in integer arithmetic: LLVM has no such types.
//!
//! A number of `m` bits of mantissa and an exponent with the bias `b` has the code of its `f32`, cut to `m` bits, less the
//! difference of the biases: 1.5 in `f8e4m3fn` (`m = 3`, `b = 7`) is `0x3fc00000 >> 20 = 0x3fc`, less `120 << 3`, `0x3c`.
//! What is below the least normal number is a multiple of `2^(1 - b - m)`, and the code counts these.

use crate::syntax::element_type;
use crate::writer::Writer;
use tensor_layout::element::ElementType;

/// What is in the 8 bits.
struct Format {
    mantissa: i64,
    bias: i64,
    /// The code of the greatest number, of what is beyond it, and of NaN; without the sign.
    most: i64,
    beyond: i64,
    nan: i64,
    /// Whether NaN has the code of -0, so that there is no -0.
    one_zero: bool,
}

/// The format of a type; none of a type that has another width, or no sign.
fn format(e: ElementType) -> Option<Format> {
    use ElementType::{F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ};
    let with_infinity = |mantissa: i64, bias: i64| {
        let infinity = 0x80 - (1 << mantissa);
        let nan = infinity + (1 << (mantissa - 1));
        Format { mantissa, bias, most: infinity - 1, beyond: infinity, nan, one_zero: false }
    };
    let without = |mantissa, bias| Format { mantissa, bias, most: 0x7f, beyond: 0x80, nan: 0x80, one_zero: true };
    Some(match e {
        F8E5M2 => with_infinity(2, 15),
        F8E4M3 => with_infinity(3, 7),
        F8E3M4 => with_infinity(4, 3),
        F8E4M3FN => Format { mantissa: 3, bias: 7, most: 0x7e, beyond: 0x7f, nan: 0x7f, one_zero: false },
        F8E5M2FNUZ => without(2, 16),
        F8E4M3FNUZ => without(3, 8),
        F8E4M3B11FNUZ => without(3, 11),
        _ => return None,
    })
}

/// Whether a type is one of those here.
pub fn is_small(e: ElementType) -> bool {
    format(e).is_some()
}

fn on(w: &mut Writer, name: &str, a: &str, b: i64) -> String {
    let b = w.constant(&b.to_string(), "i32");
    w.op(&format!("arith.{name} {a}, {b} : i32"))
}

/// An `f32` as a float of 8 bits, rounded to the nearest, halves to even.
pub fn narrowed(w: &mut Writer, a: &str, to: ElementType) -> Option<String> {
    let (f, into) = (format(to)?, element_type(to)?);
    let dropped = 23 - f.mantissa;
    let bits = w.op(&format!("arith.bitcast {a} : f32 to i32"));
    let size = on(w, "andi", &bits, 0x7fff_ffff);
    let last = on(w, "shrui", &size, dropped);
    let odd = on(w, "andi", &last, 1);
    let half = on(w, "addi", &size, (1 << (dropped - 1)) - 1);
    let sum = w.op(&format!("arith.addi {half}, {odd} : i32"));
    let cut = on(w, "shrui", &sum, dropped);
    let normal = on(w, "subi", &cut, (127 - f.bias) << f.mantissa);
    // Below the least normal number: how many of the least steps.
    let number = w.op(&format!("arith.bitcast {size} : i32 to f32"));
    let scale = w.constant(&super::literal::decimal(2f64.powi((f.bias - 1 + f.mantissa) as i32)), "f32");
    let steps = w.op(&format!("arith.mulf {number}, {scale} : f32"));
    let steps = w.op(&format!("math.roundeven {steps} : f32"));
    let least = w.constant(&((128 - f.bias) << 23).to_string(), "i32");
    let below = w.compare("slt", &size, &least, "i32");
    // Only a small number has a number of steps that an integer holds.
    let zero = w.constant("0.0", "f32");
    let steps = w.select(&below, &steps, &zero, "f32");
    let steps = w.op(&format!("arith.fptosi {steps} : f32 to i32"));
    let code = w.select(&below, &steps, &normal, "i32");
    let most = w.constant(&f.most.to_string(), "i32");
    let over = w.compare("sgt", &code, &most, "i32");
    let beyond = w.constant(&f.beyond.to_string(), "i32");
    let code = w.select(&over, &beyond, &code, "i32");
    let nan = w.constant(&f.nan.to_string(), "i32");
    let is_nan = w.compare("uno", a, a, "f32");
    let code = w.select(&is_nan, &nan, &code, "i32");
    let sign = on(w, "shrui", &bits, 31);
    let sign = on(w, "shli", &sign, 7);
    let mut signed = w.op(&format!("arith.ori {code}, {sign} : i32"));
    if f.one_zero {
        let zero = w.constant("0", "i32");
        let is_zero = w.compare("eq", &code, &zero, "i32");
        signed = w.select(&is_zero, &zero, &signed, "i32");
    }
    let byte = w.op(&format!("arith.trunci {signed} : i32 to i8"));
    Some(w.op(&format!("arith.bitcast {byte} : i8 to {into}")))
}

/// A float of 8 bits as an `f32`.
pub fn widened(w: &mut Writer, a: &str, from: ElementType) -> Option<String> {
    let (f, of) = (format(from)?, element_type(from)?);
    let byte = w.op(&format!("arith.bitcast {a} : {of} to i8"));
    let all = w.op(&format!("arith.extui {byte} : i8 to i32"));
    let code = on(w, "andi", &all, 0x7f);
    let shifted = on(w, "shli", &code, 23 - f.mantissa);
    let normal = on(w, "addi", &shifted, (127 - f.bias) << 23);
    let normal = w.op(&format!("arith.bitcast {normal} : i32 to f32"));
    let steps = w.op(&format!("arith.uitofp {code} : i32 to f32"));
    let scale = w.constant(&super::literal::decimal(2f64.powi((1 - f.bias - f.mantissa) as i32)), "f32");
    let small = w.op(&format!("arith.mulf {steps}, {scale} : f32"));
    let least = w.constant(&(1i64 << f.mantissa).to_string(), "i32");
    let below = w.compare("ult", &code, &least, "i32");
    let size = w.select(&below, &small, &normal, "f32");
    let negative = w.op(&format!("arith.negf {size} : f32"));
    let sign = on(w, "shrui", &all, 7);
    let one = w.constant("1", "i32");
    let is_negative = w.compare("eq", &sign, &one, "i32");
    let mut value = w.select(&is_negative, &negative, &size, "f32");
    let nan = w.constant("0x7FC00000", "f32");
    if f.one_zero {
        let none = w.constant(&f.nan.to_string(), "i32");
        let is_nan = w.compare("eq", &all, &none, "i32");
        return Some(w.select(&is_nan, &nan, &value, "f32"));
    }
    if f.beyond != f.nan {
        let infinity = w.constant("0x7F800000", "f32");
        let signed = w.op(&format!("math.copysign {infinity}, {value} : f32"));
        let beyond = w.constant(&f.beyond.to_string(), "i32");
        let is_infinite = w.compare("eq", &code, &beyond, "i32");
        value = w.select(&is_infinite, &signed, &value, "f32");
    }
    let most = w.constant(&f.beyond.max(f.most).to_string(), "i32");
    let is_nan = w.compare(if f.beyond == f.nan { "sge" } else { "sgt" }, &code, &most, "i32");
    Some(w.select(&is_nan, &nan, &value, "f32"))
}
