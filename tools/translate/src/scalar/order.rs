//! The total order of floats: -NaN, -inf, .., -0, 0, .., inf, NaN.

use crate::syntax::element_type;
use crate::writer::Writer;
use tensor_layout::element::ElementType;

/// A float as an integer of its width, so that the order of the signed integers is the total order. Where the sign bit
/// is set, all other bits are inverted: the greatest magnitude becomes the least number.
pub fn key(w: &mut Writer, a: &str, e: ElementType) -> Option<(String, String)> {
    let (of, bits) = (element_type(e)?, e.bits()?);
    let int = format!("i{bits}");
    let raw = w.op(&format!("arith.bitcast {a} : {of} to {int}"));
    let (sign, one) = (w.constant(&(bits - 1).to_string(), &int), w.constant("1", &int));
    let ones = w.same("arith.shrsi", &[raw.clone(), sign], &int);
    let mask = w.same("arith.shrui", &[ones, one], &int);
    Some((w.same("arith.xori", &[raw, mask], &int), int))
}

/// Whether a number comes before another, floats in the total order.
pub fn less(w: &mut Writer, a: &str, b: &str, e: ElementType) -> Option<String> {
    if e.is_complex() {
        return None;
    }
    if e.is_float() {
        let ((a, of), (b, _)) = (key(w, a, e)?, key(w, b, e)?);
        return Some(w.compare("slt", &a, &b, &of));
    }
    let of = element_type(e)?;
    Some(w.compare(if e.is_signed() { "slt" } else { "ult" }, a, b, &of))
}
