//! Conversions of one element between types: by value, by bits, and to a part of the bits.

use super::literal::decimal;
use super::small::{narrowed, widened};
use crate::syntax::element_type;
use crate::tensor::{Fault, ImportResult};
use crate::writer::Writer;
use tensor_layout::element::ElementType::{self, Pred};
use tensor_layout::formats::is_small;

/// A number converted to another type.
///
/// # Errors
/// There is no conversion between these types.
pub fn converted(w: &mut Writer, value: &str, from: ElementType, to: ElementType) -> ImportResult<String> {
    let wrong = || Fault::from(format!("`{}` as `{}` cannot be imported", from.name(), to.name()));
    convert(w, value, from, to).ok_or_else(wrong)
}

/// A number converted to another type; `None` where there is no conversion.
pub fn convert(w: &mut Writer, a: &str, from: ElementType, to: ElementType) -> Option<String> {
    let (of, into) = (element_type(from)?, element_type(to)?);
    if from == to || of == into {
        return Some(a.to_string());
    }
    if to.is_complex() {
        return with_parts(w, a, from, to);
    }
    if from.is_complex() {
        let value = re(w, a, from)?;
        return convert(w, &value, real(from), to);
    }
    let (narrow, wide) = (from.bits()?, to.bits()?);
    let cast = |name: &str, a: &str, of: &str, into: &str| format!("arith.{name} {a} : {of} to {into}");
    Some(match (from.is_float(), to.is_float()) {
        // Floats of 8 and of 4 bits go through `f32`.
        (true, _) if is_small(from) => {
            let value = widened(w, a, from)?;
            convert(w, &value, ElementType::F32, to)?
        }
        (_, true) if is_small(to) => {
            let value = convert(w, a, from, ElementType::F32)?;
            narrowed(w, &value, to)?
        }
        (true, true) if narrow < wide => w.op(&cast("extf", a, &of, &into)),
        (true, true) if narrow > wide => w.op(&cast("truncf", a, &of, &into)),
        (true, true) => {
            let middle = if narrow < 32 { "f32" } else { "f64" };
            let wide = w.op(&cast("extf", a, &of, middle));
            w.op(&cast("truncf", &wide, middle, &into))
        }
        (false, true) => w.op(&cast(if from.is_signed() { "sitofp" } else { "uitofp" }, a, &of, &into)),
        (true, false) if to == Pred => {
            let zero = w.constant("0.0", &of);
            w.compare("une", a, &zero, &of)
        }
        (false, false) if to == Pred => {
            let zero = w.constant("0", &of);
            w.compare("ne", a, &zero, &of)
        }
        (true, false) => float_to_integer(w, a, from, to)?,
        (false, false) if narrow > wide => w.op(&cast("trunci", a, &of, &into)),
        (false, false) => w.op(&cast(if from.is_signed() { "extsi" } else { "extui" }, a, &of, &into)),
    })
}

/// The type of a complex number's parts.
pub fn real(e: ElementType) -> ElementType {
    if e == ElementType::C64 { ElementType::F32 } else { ElementType::F64 }
}

/// A real or a complex number as a complex one of another type.
fn with_parts(w: &mut Writer, a: &str, from: ElementType, to: ElementType) -> Option<String> {
    let (of, into) = (real(to), element_type(to)?);
    let parts = if from.is_complex() {
        [re(w, a, from)?, im(w, a, from)?].map(|x| convert(w, &x, real(from), of))
    } else {
        [convert(w, a, from, of), Some(w.constant("0.0", &element_type(of)?))]
    };
    let [Some(re), Some(im)] = parts else { return None };
    Some(w.op(&format!("complex.create {re}, {im} : {into}")))
}

/// The real part.
pub fn re(w: &mut Writer, a: &str, e: ElementType) -> Option<String> {
    Some(w.op(&format!("complex.re {a} : {}", element_type(e)?)))
}

/// The imaginary part.
pub fn im(w: &mut Writer, a: &str, e: ElementType) -> Option<String> {
    Some(w.op(&format!("complex.im {a} : {}", element_type(e)?)))
}

/// A float as an integer. A number out of range becomes the nearest integer, and NaN becomes 0.
fn float_to_integer(w: &mut Writer, a: &str, from: ElementType, to: ElementType) -> Option<String> {
    let (of, into, middle) = (element_type(from)?, element_type(to)?, "f64");
    let bits = u32::try_from(to.bits()?).ok()?;
    let (least, most) = match to.is_signed() {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let wide =
        if from.bits() == Some(64) { a.to_string() } else { w.op(&format!("arith.extf {a} : {of} to {middle}")) };
    let name = if to.is_signed() { "fptosi" } else { "fptoui" };
    let inside = w.op(&format!("arith.{name} {wide} : {middle} to {into}"));
    let above = w.constant(&decimal(most as f64 + if bits < 53 { 1.0 } else { 0.0 }), middle);
    let below = w.constant(&decimal(least as f64), middle);
    // MLIR reads a literal of a signless type as a signed number: the greatest unsigned one is -1.
    let most = if to.is_signed() { most } else { -1 };
    let (least, most, zero) =
        (w.constant(&least.to_string(), &into), w.constant(&most.to_string(), &into), w.constant("0", &into));
    let over = w.compare("oge", &wide, &above, middle);
    let under = w.compare("ole", &wide, &below, middle);
    let nan = w.compare("uno", &wide, &wide, middle);
    let value = w.select(&over, &most, &inside, &into);
    let value = w.select(&under, &least, &value, &into);
    Some(w.select(&nan, &zero, &value, &into))
}

/// The bits of a value as another type of the same size; `None` where there is no cast.
pub fn reinterpreted(w: &mut Writer, a: &str, from: ElementType, to: ElementType) -> Option<String> {
    let (of, into) = (element_type(from)?, element_type(to)?);
    match from.bits() == to.bits() {
        _ if of == into => Some(a.to_string()),
        true => {
            let bits = bits(w, a, from)?;
            of_bits(w, &bits, to)
        }
        // A `pred` takes a byte in memory.
        false if !from.is_float() && !to.is_float() && (from == Pred || to == Pred) => convert(w, a, from, to),
        false => None,
    }
}

/// The bits of a value, an integer `i32` for `f32`; the real part of a complex number is in the lower half.
pub fn bits(w: &mut Writer, a: &str, from: ElementType) -> Option<String> {
    let (of, n) = (element_type(from)?, from.bits()?);
    let all = format!("i{n}");
    if !from.is_complex() {
        return Some(if of == all { a.to_string() } else { w.op(&format!("arith.bitcast {a} : {of} to {all}")) });
    }
    let (part, half) = (element_type(real(from))?, format!("i{}", n / 2));
    let halves = [re(w, a, from)?, im(w, a, from)?].map(|x| {
        let short = w.op(&format!("arith.bitcast {x} : {part} to {half}"));
        w.op(&format!("arith.extui {short} : {half} to {all}"))
    });
    let by = w.constant(&(n / 2).to_string(), &all);
    let high = w.same("arith.shli", &[halves[1].clone(), by], &all);
    Some(w.same("arith.ori", &[halves[0].clone(), high], &all))
}

/// The value with these bits: the inverse of [`bits`].
pub fn of_bits(w: &mut Writer, bits: &str, to: ElementType) -> Option<String> {
    let (into, n) = (element_type(to)?, to.bits()?);
    let all = format!("i{n}");
    if !to.is_complex() {
        return Some(if into == all {
            bits.to_string()
        } else {
            w.op(&format!("arith.bitcast {bits} : {all} to {into}"))
        });
    }
    let (part, half) = (element_type(real(to))?, format!("i{}", n / 2));
    let by = w.constant(&(n / 2).to_string(), &all);
    let high = w.same("arith.shrui", &[bits.to_string(), by], &all);
    let [re, im] = [bits, &high].map(|x| {
        let short = w.op(&format!("arith.trunci {x} : {all} to {half}"));
        w.op(&format!("arith.bitcast {short} : {half} to {part}"))
    });
    Some(w.op(&format!("complex.create {re}, {im} : {into}")))
}

/// A part of a value's bits, as a narrower type. The index of loop `number` selects the part, the least significant
/// first.
pub fn part(w: &mut Writer, a: &str, from: ElementType, to: ElementType, number: usize) -> Option<String> {
    let (wide, narrow) = (from.bits()?, to.bits()?);
    if narrow >= wide {
        return None;
    }
    let (all, part) = (format!("i{wide}"), format!("i{narrow}"));
    let bits = bits(w, a, from)?;
    let index = w.op(&format!("linalg.index {number} : index"));
    let (place, width) =
        (w.op(&format!("arith.index_cast {index} : index to {all}")), w.constant(&narrow.to_string(), &all));
    let by = w.same("arith.muli", &[place, width], &all);
    let shifted = w.same("arith.shrui", &[bits, by], &all);
    let cut = w.op(&format!("arith.trunci {shifted} : {all} to {part}"));
    of_bits(w, &cut, to)
}
