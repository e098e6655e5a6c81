//! Instructions on complex numbers, as operations of `complex`.

use super::convert::{convert, im, re, real, reinterpreted};
use crate::syntax::element_type;
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Instruction, Values};

/// A complex constant.
pub fn constant(w: &mut Writer, re: f64, im: f64, e: ElementType) -> Option<String> {
    let (of, into) = (element_type(real(e))?, element_type(e)?);
    let text = |x: f64| super::literal::float(x, real(e));
    Some(w.op(&format!("complex.constant [{} : {of}, {} : {of}] : {into}", text(re)?, text(im)?)))
}

/// The only number of a literal.
pub fn of_literal(w: &mut Writer, values: &Values, e: ElementType) -> Option<String> {
    match values {
        Values::Complex(values) => match values[..] {
            [(re, im)] => constant(w, re, im, e),
            _ => None,
        },
        _ => None,
    }
}

/// The result of an elementwise instruction for operands of type `first`, where one or the result is complex.
pub fn elementwise(
    w: &mut Writer,
    i: &Instruction,
    operands: &[String],
    first: ElementType,
    to: ElementType,
) -> Option<String> {
    let (of, into, a) = (element_type(first)?, element_type(to)?, operands.first()?);
    if let Some(name) = single(&i.opcode) {
        return first.is_complex().then(|| w.op(&format!("{name} {} : {of}", operands.join(", "))));
    }
    Some(match &*i.opcode {
        "copy" | "opt-barrier" => a.clone(),
        "convert" => convert(w, a, first, to)?,
        "bitcast-convert" => reinterpreted(w, a, first, to)?,
        "complex" => w.op(&format!("complex.create {} : {into}", operands.join(", "))),
        "real" => re(w, a, first)?,
        "imag" => im(w, a, first)?,
        "abs" => w.op(&format!("complex.abs {a} : {of}")),
        "compare" => {
            let predicate = match i.attribute("direction")? {
                "EQ" => "eq",
                "NE" => "neq",
                _ => return None,
            };
            w.op(&format!("complex.{predicate} {}, {} : {of}", a, operands.get(1)?))
        }
        "is-finite" => finite(w, a, first)?,
        "logistic" => logistic(w, a, first)?,
        "cbrt" => {
            let third = constant(w, 1.0 / 3.0, 0.0, first)?;
            w.op(&format!("complex.pow {a}, {third} : {of}"))
        }
        "cosh" => hyperbolic(w, a, first, "complex.add")?,
        "sinh" => hyperbolic(w, a, first, "complex.sub")?,
        _ => return None,
    })
}

/// The operation of an instruction that has a single counterpart.
fn single(opcode: &str) -> Option<&'static str> {
    Some(match opcode {
        "add" => "complex.add",
        "subtract" => "complex.sub",
        "multiply" => "complex.mul",
        "divide" => "complex.div",
        "negate" => "complex.neg",
        "sign" => "complex.sign",
        "exponential" => "complex.exp",
        "exponential-minus-one" => "complex.expm1",
        "log" => "complex.log",
        "log-plus-one" => "complex.log1p",
        "sqrt" => "complex.sqrt",
        "rsqrt" => "complex.rsqrt",
        "tanh" => "complex.tanh",
        "tan" => "complex.tan",
        "sine" => "complex.sin",
        "cosine" => "complex.cos",
        "power" => "complex.pow",
        "atan2" => "complex.atan2",
        _ => return None,
    })
}

/// Half of `exp(z) + exp(-z)`, or of the difference. Each power is halved by its exponent: an infinity times one half with no
/// imaginary part has NaN, and half a power may be a number where the power is none.
fn hyperbolic(w: &mut Writer, a: &str, e: ElementType, name: &str) -> Option<String> {
    let of = element_type(e)?;
    let half = constant(w, -std::f64::consts::LN_2, 0.0, e)?;
    let negative = w.op(&format!("complex.neg {a} : {of}"));
    let powers = [a.to_string(), negative].map(|x| {
        let exponent = w.op(&format!("complex.add {x}, {half} : {of}"));
        w.op(&format!("complex.exp {exponent} : {of}"))
    });
    Some(w.op(&format!("{name} {}, {} : {of}", powers[0], powers[1])))
}

/// Whether both parts are finite: the difference of a part with itself is NaN where it is not.
fn finite(w: &mut Writer, a: &str, e: ElementType) -> Option<String> {
    let of = element_type(real(e))?;
    let (re, im) = (re(w, a, e)?, im(w, a, e)?);
    let parts = [re, im].map(|x| {
        let gap = w.same("arith.subf", &[x.clone(), x], &of);
        w.compare("ord", &gap, &gap, &of)
    });
    Some(w.same("arith.andi", &parts, "i1"))
}

/// `1 / (1 + exp(-z))`.
fn logistic(w: &mut Writer, a: &str, e: ElementType) -> Option<String> {
    let of = element_type(e)?;
    let one = constant(w, 1.0, 0.0, e)?;
    let negative = w.op(&format!("complex.neg {a} : {of}"));
    let power = w.op(&format!("complex.exp {negative} : {of}"));
    let sum = w.op(&format!("complex.add {one}, {power} : {of}"));
    Some(w.op(&format!("complex.div {one}, {sum} : {of}")))
}
