//! Floats of 8 and of 4 bits as `f32` and back, in integer arithmetic: LLVM has no such types.
//!
//! A number of `m` bits of mantissa and an exponent with the bias `b` has the code of its `f32`, cut to `m` bits, less
//! the difference of the biases: 1.5 in `f8e4m3fn` (`m = 3`, `b = 7`) is `0x3fc00000 >> 20 = 0x3fc`, less `120 << 3`,
//! `0x3c`. A number below the least normal one is a multiple of `2^(1 - b - m)`, and the code is the factor.
//!
//! `f8e8m0fnu` has no sign and no mantissa: its code `c` is `2^(c - 127)`, the exponent of an `f32`.

use crate::syntax::element_type;
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::formats::format;

fn on(w: &mut Writer, name: &str, a: &str, b: i64) -> String {
    let b = w.constant(&b.to_string(), "i32");
    w.op(&format!("arith.{name} {a}, {b} : i32"))
}

/// An `f32` as a float of 8 or 4 bits, rounded to the nearest, halves to even.
pub fn narrowed(w: &mut Writer, a: &str, to: ElementType) -> Option<String> {
    if to == ElementType::F8E8M0FNU {
        return exponent(w, a);
    }
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
    // Below the least normal number: the number in least steps.
    let number = w.op(&format!("arith.bitcast {size} : i32 to f32"));
    let scale = w.constant(&super::literal::decimal(2f64.powi((f.bias - 1 + f.mantissa) as i32)), "f32");
    let steps = w.op(&format!("arith.mulf {number}, {scale} : f32"));
    let steps = w.op(&format!("math.roundeven {steps} : f32"));
    let least = w.constant(&((128 - f.bias) << 23).to_string(), "i32");
    let below = w.compare("slt", &size, &least, "i32");
    // Only small numbers have a number of steps that fits into an integer.
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
    let sign = on(w, "shli", &sign, f.bits - 1);
    let mut signed = w.op(&format!("arith.ori {code}, {sign} : i32"));
    if f.one_zero {
        let zero = w.constant("0", "i32");
        let is_zero = w.compare("eq", &code, &zero, "i32");
        signed = w.select(&is_zero, &zero, &signed, "i32");
    }
    let cut = w.op(&format!("arith.trunci {signed} : i32 to i{}", f.bits));
    Some(w.op(&format!("arith.bitcast {cut} : i{} to {into}", f.bits)))
}

/// An `f32` as the nearest power of two, the higher one of two; NaN where it is not above 0.
fn exponent(w: &mut Writer, a: &str) -> Option<String> {
    let bits = w.op(&format!("arith.bitcast {a} : f32 to i32"));
    let half = on(w, "addi", &bits, 1 << 22);
    // Below 2^-126 there is only 2^-127; a number above 2^-127 becomes 2^-126.
    let next = on(w, "subi", &half, 1);
    let least = w.constant("0x800000", "i32");
    let below = w.compare("ult", &bits, &least, "i32");
    let sum = w.select(&below, &next, &half, "i32");
    let code = on(w, "shrui", &sum, 23);
    let (zero, infinity) = (w.constant("0", "i32"), w.constant("0x7F800000", "i32"));
    let positive = w.compare("sgt", &bits, &zero, "i32");
    let finite = w.compare("slt", &bits, &infinity, "i32");
    let inside = w.op(&format!("arith.andi {positive}, {finite} : i1"));
    let nan = w.constant("255", "i32");
    let code = w.select(&inside, &code, &nan, "i32");
    let byte = w.op(&format!("arith.trunci {code} : i32 to i8"));
    Some(w.op(&format!("arith.bitcast {byte} : i8 to {}", element_type(ElementType::F8E8M0FNU)?)))
}

/// A power of two of 8 bits as an `f32`.
fn power(w: &mut Writer, a: &str) -> Option<String> {
    let byte = w.op(&format!("arith.bitcast {a} : {} to i8", element_type(ElementType::F8E8M0FNU)?));
    let code = w.op(&format!("arith.extui {byte} : i8 to i32"));
    let normal = on(w, "shli", &code, 23);
    let (zero, least) = (w.constant("0", "i32"), w.constant("0x400000", "i32"));
    let is_least = w.compare("eq", &code, &zero, "i32");
    let bits = w.select(&is_least, &least, &normal, "i32");
    let (last, nan) = (w.constant("255", "i32"), w.constant("0x7FC00000", "i32"));
    let is_nan = w.compare("eq", &code, &last, "i32");
    let bits = w.select(&is_nan, &nan, &bits, "i32");
    Some(w.op(&format!("arith.bitcast {bits} : i32 to f32")))
}

/// A float of 8 or 4 bits as an `f32`.
pub fn widened(w: &mut Writer, a: &str, from: ElementType) -> Option<String> {
    if from == ElementType::F8E8M0FNU {
        return power(w, a);
    }
    let (f, of) = (format(from)?, element_type(from)?);
    let byte = w.op(&format!("arith.bitcast {a} : {of} to i{}", f.bits));
    let all = w.op(&format!("arith.extui {byte} : i{} to i32", f.bits));
    let code = on(w, "andi", &all, (1 << (f.bits - 1)) - 1);
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
    let sign = on(w, "shrui", &all, f.bits - 1);
    let one = w.constant("1", "i32");
    let is_negative = w.compare("eq", &sign, &one, "i32");
    let mut value = w.select(&is_negative, &negative, &size, "f32");
    // Every code is a number.
    if f.beyond == f.most {
        return Some(value);
    }
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
