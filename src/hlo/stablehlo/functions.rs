//! The operations of CHLO: opcodes of HLO, or expressions of them.
//!
//! A function without an opcode is computed as approximations that are in the literature: the complementary error
//! function and the Bessel function by the polynomials of Cephes, the inverse error function by those of Giles
//! ("Approximating the erfinv function"), the gamma functions by Lanczos's series with g = 7, and the zeta function by
//! Euler's and Maclaurin's formula. Types of less than 32 bits are computed in `f32`.

use super::complex;
use super::constants::{number, part_of};
use super::literals::constant;
use super::math::Math;
use super::products::ragged_dot;
use super::site::{Conversion, OperationSite, array_like, braces, comparison_type};
use super::writer::{Value, Written};
use crate::element::ElementType;
use crate::operations::shape::{Array, Dim, Shape};
use crate::text::Error;
use std::f64::consts::{LN_2, PI};

/// The operations, sorted.
pub(super) static ROWS: &[(&str, Conversion)] = &[
    ("acos", |site| complex::function(site, |complex, z| complex.acos(z), |site| site.one("acos", &[]))),
    ("acosh", |site| complex::function(site, |complex, z| complex.acosh(z), |site| site.one("acosh", &[]))),
    ("asin", |site| complex::function(site, |complex, z| complex.asin(z), |site| site.one("asin", &[]))),
    ("asinh", |site| complex::function(site, |complex, z| complex.asinh(z), |site| site.one("asinh", &[]))),
    ("atan", |site| complex::function(site, |complex, z| complex.atan(z), atan)),
    ("atanh", |site| complex::function(site, |complex, z| complex.atanh(z), |site| site.one("atanh", &[]))),
    ("bessel_i1e", |site| function(site, |math, x| math.bessel_i1e(&x[0]))),
    ("broadcast_add", |site| broadcast_operands(site, "add")),
    ("broadcast_and", |site| broadcast_operands(site, "and")),
    ("broadcast_atan2", |site| broadcast_operands(site, "atan2")),
    ("broadcast_compare", |site| {
        let direction = site.word(&["comparison_direction"])?;
        let kind = site.attribute(&["compare_type"]).map_or(Ok(None), |kind| comparison_type(&kind))?;
        let direction = ("direction", direction.0.to_string(), direction.1);
        broadcast_with(site, "compare", &[direction].into_iter().chain(kind).collect::<Vec<_>>())
    }),
    ("broadcast_complex", |site| broadcast_operands(site, "complex")),
    ("broadcast_divide", |site| broadcast_operands(site, "divide")),
    ("broadcast_maximum", |site| broadcast_operands(site, "maximum")),
    ("broadcast_minimum", |site| broadcast_operands(site, "minimum")),
    ("broadcast_multiply", |site| broadcast_operands(site, "multiply")),
    ("broadcast_or", |site| broadcast_operands(site, "or")),
    ("broadcast_power", |site| broadcast_operands(site, "power")),
    ("broadcast_remainder", |site| broadcast_operands(site, "remainder")),
    ("broadcast_select", |site| broadcast_operands(site, "select")),
    ("broadcast_shift_left", |site| broadcast_operands(site, "shift-left")),
    ("broadcast_shift_right_arithmetic", |site| broadcast_operands(site, "shift-right-arithmetic")),
    ("broadcast_shift_right_logical", |site| broadcast_operands(site, "shift-right-logical")),
    ("broadcast_subtract", |site| broadcast_operands(site, "subtract")),
    ("broadcast_xor", |site| broadcast_operands(site, "xor")),
    ("conj", conjugate),
    ("constant", constant),
    ("constant_like", constant_like),
    ("cosh", |site| site.one("cosh", &[])),
    ("digamma", |site| function(site, |math, x| math.digamma(&x[0]))),
    ("erf", |site| site.one("erf", &[])),
    ("erf_inv", |site| function(site, |math, x| math.erf_inv(&x[0]))),
    ("erfc", |site| function(site, |math, x| math.erfc(&x[0]))),
    ("is_inf", |site| is_infinite(site, true, f64::INFINITY)),
    ("is_neg_inf", |site| is_infinite(site, false, f64::NEG_INFINITY)),
    ("is_pos_inf", |site| is_infinite(site, false, f64::INFINITY)),
    ("lgamma", |site| function(site, |math, x| math.lgamma(&x[0]))),
    ("next_after", next_after),
    ("polygamma", |site| function(site, |math, x| math.polygamma(&x[0], &x[1]))),
    ("ragged_dot", ragged_dot),
    ("sinh", |site| site.one("sinh", &[])),
    ("square", |site| complex::function(site, |complex, z| complex.square(z), square)),
    ("tan", |site| site.one("tan", &[])),
    ("top_k", |site| {
        let k = site.need(&["k"])?;
        let attributes = [("k", k.integer()?.to_string(), k.at), ("largest", "true".to_string(), k.at)];
        site.tuple_of("topk", &attributes)
    }),
    ("zeta", |site| function(site, |math, x| math.zeta(&x[0], &x[1]))),
];

fn atan(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    function(site, |math, x| {
        let one = math.number(1.0);
        math.two("atan2", &x[0], &one)
    })
}

fn square(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let x = site.operand(0)?.clone();
    site.result("multiply", &[x.clone(), x], &[])
}

/// The complex conjugate; a real number is its own.
fn conjugate(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let array = site.operand_array(0)?;
    let x = site.operand(0)?.clone();
    let Some(part) = part_of(array.element) else { return Ok(vec![x]) };
    let shape = Shape::Array(Array { element: part, ..array });
    let re = site.step("re", &shape, "real", std::slice::from_ref(&x), &[]);
    let im = site.step("im", &shape, "imag", &[x], &[]);
    let negative = site.step("negative", &shape, "negate", &[im], &[]);
    site.result("complex", &[re, negative], &[])
}

fn constant_like(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let value = site.need(&["value"])?;
    let array = site.result_array()?;
    let text = number(value.at, value.untyped(), array.element)?;
    let scalar = site.scalar(&array, &text, value.at);
    site.result("broadcast", &[scalar], &[("dimensions", "{}".to_string(), value.at)])
}

/// An elementwise operation whose operands are broadcast to the result, the last dimensions on the last.
fn broadcast_operands(site: &mut OperationSite, opcode: &str) -> Result<Vec<Value>, Error> {
    broadcast_with(site, opcode, &[])
}

/// The same, with attributes.
fn broadcast_with(site: &mut OperationSite, opcode: &str, attributes: &[Written]) -> Result<Vec<Value>, Error> {
    site.needs_static()?;
    let given = site.attribute(&["broadcast_dimensions"]).map(|own| own.integers()).transpose()?;
    let (to, mut operands) = (site.result_array()?, Vec::new());
    for k in 0..site.operands.len() {
        let (array, value) = (site.operand_array(k)?, site.operand(k)?.clone());
        if array.dims == to.dims {
            operands.push(value);
            continue;
        }
        let (rank, last) = (array.dims.len(), to.dims.len());
        let first =
            last.checked_sub(rank).ok_or_else(|| site.error("must have operands of at most the result's rank"))?;
        let aligned = || (first..last).map(|dim| dim as i64).collect();
        let dims: Vec<i64> = given.clone().filter(|dims| dims.len() == rank).unwrap_or_else(aligned);
        let kept: Vec<usize> = (0..rank).filter(|dim| array.dims[*dim] != Dim::Exact(1)).collect();
        let smaller = array_like(&array, kept.iter().map(|dim| array.dims[*dim]).collect());
        let value = if kept.len() == rank { value } else { site.step("reshape", &smaller, "reshape", &[value], &[]) };
        let dims: Vec<i64> = kept.iter().map(|dim| dims[*dim]).collect();
        let at = site.operation.at;
        let whole = Shape::Array(Array { element: array.element, ..to.clone() });
        operands.push(site.step("broadcast", &whole, "broadcast", &[value], &[("dimensions", braces(&dims), at)]));
    }
    site.result(opcode, &operands, attributes)
}

fn is_infinite(site: &mut OperationSite, any_sign: bool, value: f64) -> Result<Vec<Value>, Error> {
    let shape = site.operand(0)?.shape.clone();
    let mut x = site.operand(0)?.clone();
    if any_sign {
        x = site.step("abs", &shape, "abs", &[x], &[]);
    }
    let array = site.operand_array(0)?;
    let infinity = Math { site, array }.number(value);
    let at = site.operation.at;
    site.result("compare", &[x, infinity], &[("direction", "EQ".to_string(), at)])
}

/// The next number from `x` towards `y`: the next pattern of bits.
fn next_after(site: &mut OperationSite) -> Result<Vec<Value>, Error> {
    let array = site.operand_array(0)?;
    let (x, y) = (site.operand(0)?.clone(), site.operand(1)?.clone());
    let (integer, width) = match array.element.bits() {
        Some(16) => (ElementType::S16, 16),
        Some(32) => (ElementType::S32, 32),
        Some(64) => (ElementType::S64, 64),
        _ => return Err(site.error("must have operands of 16, 32 or 64 bits").unsupported()),
    };
    let bits = Shape::Array(Array { element: integer, ..array.clone() });
    let own = Shape::Array(array.clone());
    let pattern = site.step("bits", &bits, "bitcast-convert", std::slice::from_ref(&x), &[]);
    let mut math = Math { site, array: array.clone() };
    let (zero, tiny_sign) = (math.number(0.0), math.compare("LT", &y, &x));
    let (is_zero, is_equal) = (math.compare("EQ", &x, &zero), math.compare("EQ", &x, &y));
    let (grows, is_positive) = (math.compare("GT", &y, &x), math.compare("GT", &x, &zero));
    let sum = math.two("add", &x, &y);
    let (x_nan, y_nan) = (math.compare("NE", &x, &x), math.compare("NE", &y, &y));
    let mut whole = Math { site: math.site, array: Array { element: integer, ..array } };
    let (one, lowest) = (whole.integer(1), whole.integer(i64::MIN >> (64 - width)));
    let (up, down) = (whole.two("add", &pattern, &one), whole.two("subtract", &pattern, &one));
    // Away from zero where the sign of the step is that of the number.
    let away = whole.same(&grows, &is_positive);
    let next = whole.select(&away, &up, &down);
    let least_negative = whole.two("or", &one, &lowest);
    let from_zero = whole.select(&tiny_sign, &least_negative, &one);
    let next = whole.select(&is_zero, &from_zero, &next);
    let value = site.step("next", &own, "bitcast-convert", &[next], &[]);
    let array = site.operand_array(0)?;
    let mut math = Math { site, array };
    let value = math.select(&is_equal, &y, &value);
    let any_nan = math.either(&x_nan, &y_nan);
    Ok(vec![math.select(&any_nan, &sum, &value)])
}

/// Computes a function of the operands, in `f32` for smaller types.
fn function(site: &mut OperationSite, of: impl Fn(&mut Math, &[Value]) -> Value) -> Result<Vec<Value>, Error> {
    let array = site.operand_array(0)?;
    let bits = array.element.bits().unwrap_or(64);
    if !array.element.is_float() {
        return Err(site.error(&format!("must have operands of a floating-point type, found `{}`", array.element)));
    }
    if site.short_name() == "bessel_i1e" && bits == 64 {
        return Err(site.error("must have operands of at most 32 bits, found `f64`").unsupported());
    }
    let wanted = if matches!(site.short_name(), "zeta" | "polygamma") { 2 } else { 1 };
    if site.operands.len() != wanted {
        return Err(site.error(&format!("must have {wanted} operands, found {}", site.operands.len())));
    }
    if bits >= 32 {
        let operands = site.operands.clone();
        return Ok(vec![of(&mut Math { site, array }, &operands)]);
    }
    let wide = Array { element: ElementType::F32, ..array };
    let shape = Shape::Array(wide.clone());
    let mut operands = Vec::new();
    for value in site.operands.clone() {
        operands.push(site.step("wide", &shape, "convert", &[value], &[]));
    }
    let value = of(&mut Math { site, array: wide }, &operands);
    site.result("convert", &[value], &[])
}

impl Math<'_, '_, '_> {
    fn erfc(&mut self, x: &Value) -> Value {
        let (abs, square) = (self.one("abs", x), self.two("multiply", x, x));
        let negative = self.one("negate", &square);
        let power = self.one("exponential", &negative);
        let tail = if self.is_wide() {
            let mut ratio = |p: &[f64], q: &[f64]| {
                let (p, q) = (self.polynomial(&abs, p), self.polynomial(&abs, q));
                self.two("divide", &p, &q)
            };
            let (near, far) = (ratio(&ERFC_P, &ERFC_Q), ratio(&ERFC_R, &ERFC_S));
            let ratio = self.below(&abs, 8.0, &near, &far);
            let (tail, zero) = (self.two("multiply", &power, &ratio), self.number(0.0));
            // From 27.3 on, the result is below every number of the type.
            let end = self.number(27.3);
            let is_far = self.compare("GE", &abs, &end);
            self.select(&is_far, &zero, &tail)
        } else {
            let one = self.number(1.0);
            let inverse = self.two("divide", &one, &abs);
            let y = self.two("multiply", &inverse, &inverse);
            let (near, far) = (self.polynomial(&y, &ERFC_NEAR), self.polynomial(&y, &ERFC_FAR));
            let factor = self.below(&abs, 2.0, &near, &far);
            let scaled = self.two("multiply", &power, &inverse);
            self.two("multiply", &scaled, &factor)
        };
        let two = self.number(2.0);
        let mirrored = self.two("subtract", &two, &tail);
        let tail = self.below(x, 0.0, &mirrored, &tail);
        let erf = self.one("erf", x);
        let one = self.number(1.0);
        let middle = self.two("subtract", &one, &erf);
        self.below(&abs, 1.0, &middle, &tail)
    }

    fn erf_inv(&mut self, x: &Value) -> Value {
        let negative = self.one("negate", x);
        let product = self.two("multiply", x, &negative);
        let log = self.one("log-plus-one", &product);
        let w = self.one("negate", &log);
        let root = self.one("sqrt", &w);
        let factor = if self.is_wide() {
            let (near, middle, far) = (
                self.with("subtract", &w, 3.125),
                self.with("subtract", &root, 3.25),
                self.with("subtract", &root, 5.0),
            );
            let near = self.polynomial(&near, &ERF_INV_64.0);
            let (middle, far) = (self.polynomial(&middle, &ERF_INV_64.1), self.polynomial(&far, &ERF_INV_64.2));
            let tail = self.below(&w, 16.0, &middle, &far);
            self.below(&w, 6.25, &near, &tail)
        } else {
            let (near, far) = (self.with("subtract", &w, 2.5), self.with("subtract", &root, 3.0));
            let (near, far) = (self.polynomial(&near, &ERF_INV_32.0), self.polynomial(&far, &ERF_INV_32.1));
            self.below(&w, 5.0, &near, &far)
        };
        let value = self.two("multiply", &factor, x);
        let infinite = self.with("multiply", x, f64::INFINITY);
        let (abs, one) = (self.one("abs", x), self.number(1.0));
        let at_end = self.compare("EQ", &abs, &one);
        self.select(&at_end, &infinite, &value)
    }

    /// Lanczos's series at `z`, and the negative of its derivative.
    fn lanczos(&mut self, z: &Value) -> (Value, Value) {
        let (mut sum, mut slope) = (self.number(LANCZOS[0]), self.number(0.0));
        for (k, coefficient) in LANCZOS.iter().enumerate().skip(1) {
            let (coefficient, place) = (self.number(*coefficient), self.with("add", z, k as f64));
            let term = self.two("divide", &coefficient, &place);
            sum = self.two("add", &sum, &term);
            let change = self.two("divide", &term, &place);
            slope = self.two("add", &slope, &change);
        }
        (sum, slope)
    }

    /// `z + 7.5`, and its logarithm, exact for large and small `z`.
    fn log_of_place(&mut self, z: &Value) -> (Value, Value) {
        let place = self.with("add", z, LANCZOS_PLACE);
        let part = self.with("divide", z, LANCZOS_PLACE);
        let part = self.one("log-plus-one", &part);
        let log = self.with("add", &part, LANCZOS_PLACE.ln());
        (place, log)
    }

    /// The argument of the series: `x - 1`, or `-x` below 1/2, where the reflection formula holds.
    fn reflected(&mut self, x: &Value) -> Value {
        let (negative, less) = (self.one("negate", x), self.with("subtract", x, 1.0));
        self.below(x, 0.5, &negative, &less)
    }

    fn lgamma(&mut self, x: &Value) -> Value {
        let z = self.reflected(x);
        let (sum, _) = self.lanczos(&z);
        let (place, log) = self.log_of_place(&z);
        // (z + 1/2 - t / log t) log t keeps its precision for large z.
        let half = self.with("add", &z, 0.5);
        let ratio = self.two("divide", &place, &log);
        let factor = self.two("subtract", &half, &ratio);
        let main = self.two("multiply", &factor, &log);
        let (log_sum, half_log) = (self.one("log", &sum), (LN_2 + PI.ln()) / 2.0);
        let main = self.with("add", &main, half_log);
        let value = self.two("add", &main, &log_sum);
        let abs = self.one("abs", x);
        let floor = self.one("floor", &abs);
        let fraction = self.two("subtract", &abs, &floor);
        let rest = self.one("negate", &fraction);
        let rest = self.with("add", &rest, 1.0);
        let fraction = self.two("minimum", &fraction, &rest);
        let angle = self.with("multiply", &fraction, PI);
        let sine = self.one("sine", &angle);
        let log_sine = self.one("log", &sine);
        let log_pi = self.number(PI.ln());
        let reflection = self.two("subtract", &log_pi, &log_sine);
        let mirrored = self.two("subtract", &reflection, &value);
        let is_finite = self.pred();
        let is_finite = self.site.step("is_finite", &is_finite, "is-finite", &[log_sine], &[]);
        let infinite = self.number(f64::INFINITY);
        let mirrored = self.select(&is_finite, &mirrored, &infinite);
        let value = self.below(x, 0.5, &mirrored, &value);
        let at_end = self.compare("EQ", &abs, &infinite);
        self.select(&at_end, &infinite, &value)
    }

    fn digamma(&mut self, x: &Value) -> Value {
        let z = self.reflected(x);
        let (sum, slope) = self.lanczos(&z);
        let (place, log) = self.log_of_place(&z);
        let ratio = self.two("divide", &slope, &sum);
        let value = self.two("subtract", &log, &ratio);
        let seven = self.number(7.0);
        let ratio = self.two("divide", &seven, &place);
        let value = self.two("subtract", &value, &ratio);
        // The nearest integer apart, the angle keeps its precision.
        let nearest = self.with("add", x, 0.5);
        let nearest = self.one("floor", &nearest);
        let fraction = self.two("subtract", x, &nearest);
        let angle = self.with("multiply", &fraction, PI);
        let (cosine, sine) = (self.one("cosine", &angle), self.one("sine", &angle));
        let scaled = self.with("multiply", &cosine, PI);
        let reflection = self.two("divide", &scaled, &sine);
        let mirrored = self.two("subtract", &value, &reflection);
        let value = self.below(x, 0.5, &mirrored, &value);
        let (zero, nan, floor) = (self.number(0.0), self.number(f64::NAN), self.one("floor", x));
        let is_whole = self.compare("EQ", x, &floor);
        let undefined = self.select(&is_whole, &nan, &value);
        let at_most_zero = self.compare("LE", x, &zero);
        self.select(&at_most_zero, &undefined, &value)
    }

    /// The Bessel function of order 1, scaled by `exp(-|x|)`, by series of Chebyshev.
    fn bessel_i1e(&mut self, x: &Value) -> Value {
        let abs = self.one("abs", x);
        let near = self.with("multiply", &abs, 0.5);
        let near = self.with("subtract", &near, 2.0);
        let near = self.chebyshev(&near, &BESSEL_NEAR);
        let near = self.two("multiply", &near, &abs);
        let thirty_two = self.number(32.0);
        let far = self.two("divide", &thirty_two, &abs);
        let far = self.with("subtract", &far, 2.0);
        let (far, root) = (self.chebyshev(&far, &BESSEL_FAR), self.one("sqrt", &abs));
        let far = self.two("divide", &far, &root);
        let eight = self.number(8.0);
        let is_near = self.compare("LE", &abs, &eight);
        let (value, sign) = (self.select(&is_near, &near, &far), self.one("sign", x));
        self.two("multiply", &sign, &value)
    }

    fn chebyshev(&mut self, x: &Value, coefficients: &[f64]) -> Value {
        let (mut last, mut before) = (self.number(0.0), self.number(0.0));
        let mut oldest = before.clone();
        for coefficient in coefficients {
            (oldest, before) = (before, last.clone());
            let product = self.two("multiply", x, &before);
            let difference = self.two("subtract", &product, &oldest);
            last = self.with("add", &difference, *coefficient);
        }
        let difference = self.two("subtract", &last, &oldest);
        self.with("multiply", &difference, 0.5)
    }

    /// The sum of `(q + k)^-x` over all `k` from 0.
    fn zeta(&mut self, x: &Value, q: &Value) -> Value {
        const TERMS: usize = 9;
        let exponent = self.one("negate", x);
        let mut sum = self.number(0.0);
        for k in 0..TERMS {
            let place = self.with("add", q, k as f64);
            let term = self.two("power", &place, &exponent);
            sum = self.two("add", &sum, &term);
        }
        let place = self.with("add", q, TERMS as f64);
        let power = self.two("power", &place, &exponent);
        let less = self.with("subtract", x, 1.0);
        let integral = self.two("multiply", &power, &place);
        let integral = self.two("divide", &integral, &less);
        let half = self.with("multiply", &power, 0.5);
        sum = self.two("add", &sum, &integral);
        sum = self.two("add", &sum, &half);
        let mut factor = self.two("divide", x, &place);
        let square = self.two("multiply", &place, &place);
        for (k, coefficient) in BERNOULLI.iter().enumerate() {
            let scaled = self.two("multiply", &factor, &power);
            let term = self.with("multiply", &scaled, *coefficient);
            sum = self.two("add", &sum, &term);
            let (first, second) = (self.with("add", x, (2 * k + 1) as f64), self.with("add", x, (2 * k + 2) as f64));
            let rising = self.two("multiply", &first, &second);
            let rising = self.two("divide", &rising, &square);
            factor = self.two("multiply", &factor, &rising);
        }
        let (one, zero, nan, infinity) =
            (self.number(1.0), self.number(0.0), self.number(f64::NAN), self.number(f64::INFINITY));
        // At poles, and for a negative q whose power is no real number.
        let floor = self.one("floor", q);
        let is_whole = self.compare("EQ", q, &floor);
        let at_pole = self.select(&is_whole, &infinity, &nan);
        let is_positive = self.compare("GT", q, &zero);
        let sum = self.select(&is_positive, &sum, &at_pole);
        let is_one = self.compare("EQ", x, &one);
        let sum = self.select(&is_one, &infinity, &sum);
        self.below(x, 1.0, &nan, &sum)
    }

    /// The derivative of order `n` of the digamma function.
    fn polygamma(&mut self, n: &Value, x: &Value) -> Value {
        let order = self.with("add", n, 1.0);
        let (log, zeta, digamma) = (self.lgamma(&order), self.zeta(&order, x), self.digamma(x));
        let factorial = self.one("exponential", &log);
        let value = self.two("multiply", &factorial, &zeta);
        let parity = self.with("remainder", n, 2.0);
        let (zero, negative) = (self.number(0.0), self.one("negate", &value));
        let is_even = self.compare("EQ", &parity, &zero);
        let value = self.select(&is_even, &negative, &value);
        let is_zero = self.compare("EQ", n, &zero);
        self.select(&is_zero, &digamma, &value)
    }
}

/// The place of Lanczos's series: g + 1/2.
const LANCZOS_PLACE: f64 = 7.5;

const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// Bernoulli numbers of index 2, 4, .. over the factorials of their indices.
const BERNOULLI: [f64; 10] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3_617.0 / 10_670_622_842_880_000.0,
    43_867.0 / 5_109_094_217_170_944_000.0,
    -174_611.0 / 802_857_662_698_291_200_000.0,
];

const ERFC_NEAR: [f64; 9] = [
    2.326_819_970_068_386e-2,
    -1.387_039_388_740_657e-1,
    3.687_424_674_597_105e-1,
    -5.824_733_027_278_666e-1,
    6.210_004_621_745_983e-1,
    -4.944_515_323_274_145e-1,
    3.404_879_937_665_872e-1,
    -2.741_127_028_184_656e-1,
    5.638_259_427_386_472e-1,
];

const ERFC_FAR: [f64; 8] = [
    -1.047_766_399_936_249e1,
    1.297_719_955_372_516e1,
    -7.495_518_717_768_503,
    2.921_019_019_210_786,
    -1.015_265_279_202_7,
    4.218_463_358_204_948e-1,
    -2.820_767_439_740_514e-1,
    5.641_895_067_754_075e-1,
];

const ERFC_P: [f64; 9] = [
    2.461_969_814_735_305e-10,
    5.641_895_648_310_688e-1,
    7.463_210_564_422_699,
    4.863_719_709_856_814e1,
    1.965_208_329_560_771e2,
    5.264_451_949_954_774e2,
    9.345_285_271_719_576e2,
    1.027_551_886_895_157e3,
    5.575_353_353_693_993e2,
];

const ERFC_Q: [f64; 9] = [
    1.0,
    1.322_819_511_547_45e1,
    8.670_721_408_859_897e1,
    3.549_377_788_878_199e2,
    9.757_085_017_432_055e2,
    1.823_909_166_879_097_4e3,
    2.246_337_608_187_109_8e3,
    1.656_663_091_941_613_5e3,
    5.575_353_408_177_277e2,
];

const ERFC_R: [f64; 6] = [
    5.641_895_835_477_551e-1,
    1.275_366_707_599_781,
    5.019_050_422_511_805,
    6.160_210_979_930_536,
    7.409_742_699_504_489,
    2.978_866_653_721_002_4,
];

const ERFC_S: [f64; 7] = [
    1.0,
    2.260_528_632_201_173,
    9.396_035_249_380_014,
    1.204_895_398_080_966_6e1,
    1.708_144_507_475_659e1,
    9.608_968_090_632_859,
    3.369_076_451_000_815,
];

const ERF_INV_32: ([f64; 9], [f64; 9]) = (
    [
        2.810_226_36e-8,
        3.432_739_39e-7,
        -3.523_387_7e-6,
        -4.391_506_54e-6,
        2.185_808_7e-4,
        -1.253_725_03e-3,
        -4.177_681_64e-3,
        0.246_640_727,
        1.501_409_41,
    ],
    [
        -2.002_142_57e-4,
        1.009_505_58e-4,
        1.349_343_22e-3,
        -3.673_428_44e-3,
        5.739_507_73e-3,
        -7.622_461_3e-3,
        9.438_870_47e-3,
        1.001_674_06,
        2.832_976_82,
    ],
);

const ERF_INV_64: ([f64; 23], [f64; 19], [f64; 17]) = (
    [
        -3.644_412_064_017_82e-21,
        -1.685_059_138_182_016_6e-19,
        1.285_848_071_525_64e-18,
        1.115_787_767_802_518e-17,
        -1.333_171_662_854_621e-16,
        2.097_276_787_596_856_2e-17,
        6.637_638_134_358_324e-15,
        -4.054_566_272_975_207e-14,
        -8.151_934_197_605_472e-14,
        2.633_509_315_308_232_3e-12,
        -1.297_513_325_345_353_2e-11,
        -5.415_412_054_294_628e-11,
        1.051_212_273_321_532_3e-9,
        -4.112_633_980_346_984e-9,
        -2.907_036_995_788_200_5e-8,
        4.234_787_782_793_240_4e-7,
        -1.365_469_200_083_467_9e-6,
        -1.388_252_336_278_646_9e-5,
        0.000_186_734_208_034_057_14,
        -0.000_740_702_534_166_267,
        -0.006_033_670_871_430_149,
        0.240_158_182_425_589_6,
        1.653_654_562_683_102_7,
    ],
    [
        2.213_737_692_177_578_7e-9,
        9.075_656_193_888_539e-8,
        -2.751_740_629_706_454_5e-7,
        1.823_962_921_438_922_8e-8,
        1.502_740_396_890_982_8e-6,
        -4.013_867_526_981_546e-6,
        2.923_444_908_995_544_6e-6,
        1.247_530_448_167_178_7e-5,
        -4.731_822_900_905_573e-5,
        6.828_485_145_957_317e-5,
        2.403_111_038_709_789_3e-5,
        -0.000_355_037_520_362_847_5,
        0.000_953_289_379_737_380_5,
        -0.001_688_275_556_023_504_7,
        0.002_491_442_096_107_85,
        -0.003_751_208_507_569_241,
        0.005_370_914_553_590_064,
        1.005_258_967_694_159_2,
        3.083_885_610_492_220_6,
    ],
    [
        -2.710_992_061_643_857_3e-11,
        -2.555_641_816_996_525e-10,
        1.507_657_269_350_054_8e-9,
        -3.789_465_440_126_737e-9,
        7.615_701_208_078_34e-9,
        -1.496_002_662_714_924e-8,
        2.914_795_345_090_108e-8,
        -6.771_199_775_845_234e-8,
        2.290_048_222_802_665_5e-7,
        -9.929_827_294_231_7e-7,
        4.526_062_597_223_154e-6,
        -1.968_177_810_553_167e-5,
        7.599_527_703_001_776e-5,
        -0.000_215_030_119_300_444_77,
        -0.000_138_719_318_336_231_22,
        1.010_300_464_864_534_4,
        4.849_906_401_408_584,
    ],
);

const BESSEL_NEAR: [f64; 17] = [
    9.381_537_386_495_772e-9,
    -4.445_059_128_796_328e-8,
    2.003_294_753_552_135_3e-7,
    -8.568_720_264_695_455e-7,
    3.470_251_308_137_678_5e-6,
    -1.327_316_365_603_943_6e-5,
    4.781_565_107_550_054e-5,
    -1.617_608_158_258_967_5e-4,
    5.122_859_561_685_758e-4,
    -1.513_572_450_631_253e-3,
    4.156_422_944_312_888e-3,
    -1.056_408_489_462_619_8e-2,
    2.472_644_903_062_651_7e-2,
    -5.294_598_120_809_499e-2,
    1.026_436_586_898_471e-1,
    -1.764_165_183_578_340_6e-1,
    2.525_871_864_436_336_5e-1,
];

const BESSEL_FAR: [f64; 7] = [
    -3.835_380_385_964_237e-9,
    -2.631_468_846_889_519_5e-8,
    -2.512_236_237_870_209e-7,
    -3.882_564_808_877_69e-6,
    -1.105_889_387_626_237_2e-4,
    -9.761_097_491_361_469e-3,
    7.785_762_350_182_801e-1,
];
