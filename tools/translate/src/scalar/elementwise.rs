//! The table of elementwise instructions, with their operations on single elements.
//!
//! HLO defines some results that `arith` leaves undefined: `x / 0` is -1, with the remainder `x`; the least number
//! divided by -1 is itself; and a shift past the width gives 0 or the sign. The operations here give these results.

use super::complex;
use super::convert::{self, convert, reinterpreted};
use super::literal::{decimal, elements};
use super::order::key;
use super::precision::reduced;
use crate::syntax::element_type;
use crate::tensor::{Fault, ImportResult};
use crate::writer::Writer;
use tensor_layout::element::ElementType::{self, Pred};
use tensor_layout::formats::is_small;
use tensor_layout::hlo::{Instruction, Values};

/// An instruction on single elements.
struct ScalarSite<'a> {
    i: &'a Instruction,
    /// The operands, floats in the operation's precision.
    operands: &'a [String],
    /// The type of the first operand, and its text.
    first: ElementType,
    of: &'a str,
    /// The types of all operands.
    from: &'a [ElementType],
    /// The type of the result, and its text.
    to: ElementType,
    into: &'a str,
}

/// Writes an instruction; `None` where it does not take elements of this type.
type Rule = fn(&mut Writer, &ScalarSite) -> Option<String>;

/// Instructions of several operations, or with more than their operands; the others are in [`float_op`] and
/// [`integer_op`].
const RULES: &[(&str, Rule)] = &[
    ("bitcast-convert", |w, s| reinterpreted(w, &s.operands[0], s.first, s.to)),
    ("clamp", clamp),
    ("compare", compare),
    ("convert", |w, s| convert(w, &s.operands[0], s.first, s.to)),
    ("copy", |_, s| Some(s.operands[0].clone())),
    ("divide", divide),
    ("imag", |w, s| s.first.is_float().then(|| w.constant("0.0", s.of))),
    ("is-finite", is_finite),
    ("logistic", logistic),
    ("negate", negate),
    ("not", not),
    ("power", power),
    ("real", |_, s| s.first.is_float().then(|| s.operands[0].clone())),
    ("reduce-precision", reduce_precision),
    ("remainder", divide),
    ("select", |w, s| Some(w.select(&s.operands[0], &s.operands[1], &s.operands[2], s.into))),
    ("shift-left", shift),
    ("shift-right-arithmetic", shift),
    ("shift-right-logical", shift),
    ("sign", sign),
    ("stochastic-convert", stochastic),
];

/// The result element of an elementwise instruction, from one element of each operand, with types `from`.
///
/// # Errors
/// The instruction has no counterpart on elements of these types.
pub fn elementwise(
    w: &mut Writer,
    i: &Instruction,
    operands: &[String],
    from: &[ElementType],
    to: ElementType,
) -> ImportResult<String> {
    let (Some(&first), Some(into)) = (from.first(), element_type(to)) else { return Err(not_imported(i)) };
    if to.is_complex() || from.iter().any(|e| e.is_complex()) {
        if i.opcode == "select" {
            return Ok(w.select(&operands[0], &operands[1], &operands[2], &into));
        }
        let wrong = || Fault::from(format!("`{}` of complex numbers cannot be imported", i.opcode));
        if i.opcode == "complex" {
            // The parts may be of another precision.
            let parts = operands.iter().zip(from).map(|(x, e)| convert(w, x, *e, convert::real(to)));
            let parts = parts.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
            return complex::elementwise(w, i, &parts, convert::real(to), to).ok_or_else(wrong);
        }
        return complex::elementwise(w, i, operands, first, to).ok_or_else(wrong);
    }
    if is_small(wanted(first, to)) && !matches!(&*i.opcode, "copy" | "convert" | "bitcast-convert") {
        return in_f32(w, i, operands, from, to);
    }
    // Floats may differ in precision; the operation has its result's, or its first operand's.
    let wanted = wanted(first, to);
    let changes = matches!(&*i.opcode, "convert" | "bitcast-convert") || !wanted.is_float();
    let own_precision = |e: ElementType| if changes || !e.is_float() { e } else { wanted };
    let same = |(x, e): (&String, &ElementType)| convert(w, x, *e, own_precision(*e));
    let operands = operands.iter().zip(from).map(same).collect::<Option<Vec<_>>>().ok_or_else(|| not_imported(i))?;
    let first = own_precision(first);
    let of = element_type(first).ok_or_else(|| not_imported(i))?;
    let single = match first.is_float() {
        true if i.opcode == "convert" => None,
        true => float_op(&i.opcode),
        false => integer_op(&i.opcode, first),
    };
    if let Some(name) = single {
        return Ok(w.same(name, &operands, &of));
    }
    let rule = RULES.iter().find(|(name, _)| *name == i.opcode).map(|(_, rule)| rule);
    let site = ScalarSite { i, operands: &operands, first, of: &of, from, to, into: &into };
    rule.and_then(|rule| rule(w, &site)).ok_or_else(|| not_imported(i))
}

/// The type that gives the precision of floats: the result's, or the first operand's.
fn wanted(first: ElementType, to: ElementType) -> ElementType {
    if to.is_float() { to } else { first }
}

/// An instruction on floats of 8 or 4 bits, in `f32`.
fn in_f32(
    w: &mut Writer,
    i: &Instruction,
    operands: &[String],
    from: &[ElementType],
    to: ElementType,
) -> ImportResult<String> {
    let wide = |e: ElementType| if is_small(e) { ElementType::F32 } else { e };
    let of: Vec<ElementType> = from.iter().map(|e| wide(*e)).collect();
    let each = operands.iter().zip(from.iter().zip(&of));
    let operands =
        each.map(|(x, (from, to))| convert::converted(w, x, *from, *to)).collect::<ImportResult<Vec<_>>>()?;
    let value = elementwise(w, i, &operands, &of, wide(to))?;
    convert::converted(w, &value, wide(to), to)
}

/// The only element of a constant; `None` where the text leaves its value out, or MLIR has no text for it.
pub fn constant(w: &mut Writer, values: &Values, e: ElementType) -> Option<String> {
    let of = element_type(e)?;
    if e.is_complex() {
        return complex::of_literal(w, values, e);
    }
    let [value] = &elements(values, e)?[..] else { return None };
    Some(w.constant(value, &of))
}

fn not_imported(i: &Instruction) -> Fault {
    format!("`{}` cannot be imported", i.opcode).into()
}

fn compare(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    let direction = s.i.attribute("direction").unwrap_or("");
    if s.first.is_float() && s.i.attribute("type") == Some("TOTALORDER") {
        let ((a, of), (b, _)) = (key(w, &s.operands[0], s.first)?, key(w, &s.operands[1], s.first)?);
        return Some(w.compare(predicate(direction, ElementType::S32)?, &a, &b, &of));
    }
    let predicate = predicate(direction, s.first)?;
    Some(w.compare(predicate, &s.operands[0], &s.operands[1], s.of))
}

/// Clamps a value; the operands are the lower bound, the value and the upper bound.
fn clamp(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    let (low, high) = if s.first.is_float() {
        ("arith.maximumf", "arith.minimumf")
    } else if s.first.is_signed() {
        ("arith.maxsi", "arith.minsi")
    } else {
        ("arith.maxui", "arith.minui")
    };
    let raised = w.same(low, &s.operands[..2], s.of);
    Some(w.same(high, &[raised, s.operands[2].clone()], s.of))
}

fn not(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    let ones = w.constant(if s.first == Pred { "true" } else { "-1" }, s.of);
    Some(w.same("arith.xori", &[s.operands[0].clone(), ones], s.of))
}

/// The negation of an integer; a float's is one operation.
fn negate(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    let zero = w.constant("0", s.of);
    Some(w.same("arith.subi", &[zero, s.operands[0].clone()], s.of))
}

/// The sign: -1, 0 or 1; for floats also -0.0 and NaN, which are their own sign.
fn sign(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    let a = &s.operands[0];
    if s.first.is_float() {
        let (zero, one) = (w.constant("0.0", s.of), w.constant("1.0", s.of));
        let nonzero = w.compare("one", a, &zero, s.of);
        let unit = w.same("math.copysign", &[one, a.clone()], s.of);
        return Some(w.select(&nonzero, &unit, a, s.of));
    }
    if !s.first.is_signed() {
        return None;
    }
    let last = s.first.bits()? - 1;
    let (zero, shift) = (w.constant("0", s.of), w.constant(&last.to_string(), s.of));
    let negative = w.same("arith.shrsi", &[a.clone(), shift], s.of);
    let one = w.constant("1", s.of);
    let positive = w.compare("sgt", a, &zero, s.of);
    Some(w.select(&positive, &one, &negative, s.of))
}

/// `1 / (1 + exp(-x))`.
fn logistic(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    if !s.first.is_float() {
        return None;
    }
    let one = w.constant("1.0", s.of);
    let negative = w.same("arith.negf", s.operands, s.of);
    let power = w.same("math.exp", &[negative], s.of);
    let sum = w.same("arith.addf", &[one.clone(), power], s.of);
    Some(w.same("arith.divf", &[one, sum], s.of))
}

/// `x - x` is NaN for an infinity and for NaN, and 0 for all others.
fn is_finite(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    if !s.first.is_float() {
        return None;
    }
    let a = &s.operands[0];
    let gap = w.same("arith.subf", &[a.clone(), a.clone()], s.of);
    Some(w.compare("ord", &gap, &gap, s.of))
}

/// Rounds to the numbers of bits in `exponent_bits` and `mantissa_bits`.
fn reduce_precision(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    let number = |name: &str| s.i.numbers(name)?.first().copied();
    let (exponent, mantissa) = (number("exponent_bits")?, number("mantissa_bits")?);
    reduced(w, &s.operands[0], s.first, exponent, mantissa)
}

/// A float as an integer, rounded up in magnitude where a random number of the given width is below the fraction.
fn stochastic(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    let (a, random) = (&s.operands[0], &s.operands[1]);
    let random_type = s.from.get(1)?;
    if !s.first.is_float() || !s.to.is_signed() || !random_type.is_unsigned() {
        return None;
    }
    let bits = element_type(*random_type)?;
    let size = w.same("math.absf", std::slice::from_ref(a), s.of);
    let whole = w.same("math.trunc", std::slice::from_ref(&size), s.of);
    let fraction = w.same("arith.subf", &[size, whole.clone()], s.of);
    let scale = w.constant(&decimal(2f64.powi(i32::try_from(random_type.bits()?).ok()?)), s.of);
    let part = w.same("arith.mulf", &[fraction, scale], s.of);
    let part = convert(w, &part, s.first, *random_type)?;
    let up = w.compare("ult", random, &part, &bits);
    let (zero, one) = (w.constant("0.0", s.of), w.constant("1.0", s.of));
    let more = w.select(&up, &one, &zero, s.of);
    let rounded = w.same("arith.addf", &[whole, more], s.of);
    let signed = w.same("math.copysign", &[rounded, a.clone()], s.of);
    convert(w, &signed, s.first, s.to)
}

/// A shift by the width or more gives 0, or the sign where the shift is arithmetic.
fn shift(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    if s.first.is_float() {
        return None;
    }
    let width = s.first.bits()?;
    let bits = w.constant(&width.to_string(), s.of);
    let inside = w.compare("ult", &s.operands[1], &bits, s.of);
    let (name, beyond) = match &*s.i.opcode {
        "shift-left" => ("arith.shli", w.constant("0", s.of)),
        "shift-right-logical" => ("arith.shrui", w.constant("0", s.of)),
        _ => {
            let last = w.constant(&(width - 1).to_string(), s.of);
            ("arith.shrsi", w.same("arith.shrsi", &[s.operands[0].clone(), last], s.of))
        }
    };
    let shifted = w.same(name, s.operands, s.of);
    Some(w.select(&inside, &shifted, &beyond, s.of))
}

/// Quotient or remainder of integers. Where `arith` leaves the result undefined, the divisor is replaced by 1, and the
/// result by HLO's: divided by zero, -1 and the dividend; the least number divided by -1, itself and 0.
fn divide(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    if s.first.is_float() || s.first == Pred {
        return None;
    }
    let (a, b, of) = (&s.operands[0], &s.operands[1], s.of);
    let (zero, one, ones) = (w.constant("0", of), w.constant("1", of), w.constant("-1", of));
    let by_zero = w.compare("eq", b, &zero, of);
    let mut undefined = by_zero.clone();
    let mut overflow = None;
    if s.first.is_signed() {
        let least = -(1i128 << (s.first.bits()? - 1));
        let least = w.constant(&least.to_string(), of);
        let is_least = w.compare("eq", a, &least, of);
        let by_ones = w.compare("eq", b, &ones, of);
        let both = w.same("arith.andi", &[is_least, by_ones], "i1");
        undefined = w.same("arith.ori", &[undefined, both.clone()], "i1");
        overflow = Some(both);
    }
    let divisor = w.select(&undefined, &one, b, of);
    let kind = if s.first.is_signed() { "s" } else { "u" };
    if s.i.opcode == "divide" {
        // The least number divided by 1 is itself.
        let quotient = w.same(&format!("arith.div{kind}i"), &[a.clone(), divisor], of);
        return Some(w.select(&by_zero, &ones, &quotient, of));
    }
    let rest = w.same(&format!("arith.rem{kind}i"), &[a.clone(), divisor], of);
    let rest = match overflow {
        Some(overflow) => w.select(&overflow, &zero, &rest, of),
        None => rest,
    };
    Some(w.select(&by_zero, a, &rest, of))
}

/// Power of integers by squaring, as in XLA's CPU backend: the low [`EXPONENT_BITS`] bits of the exponent count, and
/// products wrap. With a negative exponent the power is 0, for the bases 1 and -1 it is 1 or -1; the same where the
/// highest bit of an unsigned exponent is set.
fn power(w: &mut Writer, s: &ScalarSite) -> Option<String> {
    /// With more bits the result exceeds 64 bits, except for odd bases.
    const EXPONENT_BITS: i64 = 6;
    if s.first.is_float() || s.first == Pred {
        return None;
    }
    let (base, exponent, of) = (&s.operands[0], &s.operands[1], s.of);
    let (zero, one) = (w.constant("0", of), w.constant("1", of));
    let bits = s.first.bits()?.min(EXPONENT_BITS);
    let (mut result, mut square, mut rest) = (one.clone(), base.clone(), exponent.clone());
    for bit in 0..bits {
        let last = w.same("arith.andi", &[rest.clone(), one.clone()], of);
        let is_set = w.compare("ne", &last, &zero, of);
        let product = w.same("arith.muli", &[result.clone(), square.clone()], of);
        result = w.select(&is_set, &product, &result, of);
        if bit + 1 < bits {
            square = w.same("arith.muli", &[square.clone(), square.clone()], of);
            rest = w.same("arith.shrui", &[rest, one.clone()], of);
        }
    }
    let ones = w.constant("-1", of);
    let last = w.same("arith.andi", &[exponent.clone(), one.clone()], of);
    let is_odd = w.compare("ne", &last, &zero, of);
    let sign = w.select(&is_odd, &ones, &one, of);
    let is_ones = w.compare("eq", base, &ones, of);
    let inverse = w.select(&is_ones, &sign, &zero, of);
    let is_one = w.compare("eq", base, &one, of);
    let inverse = w.select(&is_one, &one, &inverse, of);
    let is_negative = w.compare("slt", exponent, &zero, of);
    Some(w.select(&is_negative, &inverse, &result, of))
}

/// The operation of a floating-point instruction that has a single counterpart.
fn float_op(opcode: &str) -> Option<&'static str> {
    Some(match opcode {
        "abs" => "math.absf",
        "acos" => "math.acos",
        "acosh" => "math.acosh",
        "add" => "arith.addf",
        "asin" => "math.asin",
        "asinh" => "math.asinh",
        "atanh" => "math.atanh",
        "atan2" => "math.atan2",
        "cbrt" => "math.cbrt",
        "ceil" => "math.ceil",
        "cosh" => "math.cosh",
        "cosine" => "math.cos",
        "divide" => "arith.divf",
        "erf" => "math.erf",
        "exponential" => "math.exp",
        "exponential-minus-one" => "math.expm1",
        "floor" => "math.floor",
        "log" => "math.log",
        "log-plus-one" => "math.log1p",
        "maximum" => "arith.maximumf",
        "minimum" => "arith.minimumf",
        "multiply" => "arith.mulf",
        "negate" => "arith.negf",
        "power" => "math.powf",
        "remainder" => "arith.remf",
        "round-nearest-afz" => "math.round",
        "round-nearest-even" => "math.roundeven",
        "rsqrt" => "math.rsqrt",
        "sine" => "math.sin",
        "sinh" => "math.sinh",
        "sqrt" => "math.sqrt",
        "subtract" => "arith.subf",
        "tan" => "math.tan",
        "tanh" => "math.tanh",
        _ => return None,
    })
}

/// The operation of an integer instruction that has a single counterpart.
fn integer_op(opcode: &str, e: ElementType) -> Option<&'static str> {
    Some(match opcode {
        "abs" if e.is_signed() => "math.absi",
        // For `pred`, a sum is `or`, a product `and`.
        "add" if e == Pred => "arith.ori",
        "multiply" if e == Pred => "arith.andi",
        "add" => "arith.addi",
        "and" => "arith.andi",
        "count-leading-zeros" => "math.ctlz",
        "maximum" if e.is_signed() => "arith.maxsi",
        "maximum" => "arith.maxui",
        "minimum" if e.is_signed() => "arith.minsi",
        "minimum" => "arith.minui",
        "multiply" => "arith.muli",
        "or" => "arith.ori",
        "popcnt" => "math.ctpop",
        "subtract" if e != Pred => "arith.subi",
        "xor" => "arith.xori",
        _ => return None,
    })
}

/// The predicate of `arith.cmpf` or `arith.cmpi` for a direction of HLO.
fn predicate(direction: &str, e: ElementType) -> Option<&'static str> {
    let place = ["EQ", "NE", "LT", "LE", "GT", "GE"].iter().position(|known| *known == direction)?;
    Some(
        match (e.is_float(), e.is_signed()) {
            (true, _) => ["oeq", "une", "olt", "ole", "ogt", "oge"],
            (false, true) => ["eq", "ne", "slt", "sle", "sgt", "sge"],
            (false, false) => ["eq", "ne", "ult", "ule", "ugt", "uge"],
        }[place],
    )
}
