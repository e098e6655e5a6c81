//! Elementwise instructions on one element of each operand.

use super::number::{Number, product, rounded, truth};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;

/// One element of the result, of type `to`, from elements of types `from`.
pub fn element(i: &Instruction, from: &[ElementType], to: ElementType, x: &[Number]) -> Number {
    let op = &*i.opcode;
    if let Some(moved) = any(i, from[0], to, x) {
        return moved;
    }
    let known = match x {
        _ if from.iter().any(|e| e.is_complex()) => complex(op, x),
        [a] if from[0].is_float() => float(op, a.real()).map(Number::Float),
        [a] => integer(op, from[0], a.int()).map(Number::Int),
        [a, b] if from[0].is_float() => float_arithmetic(op, a.real(), b.real()).map(Number::Float),
        [a, b] => integer_arithmetic(op, from[0], a.int(), b.int()).map(Number::Int),
        [a, b, c] if from[0].is_float() => Some(Number::Float(b.real().max(a.real()).min(c.real()))),
        [a, b, c] => Some(Number::Int(b.int().max(a.int()).min(c.int()))),
        _ => None,
    };
    known.unwrap_or_else(|| panic!("`{op}` is not interpreted"))
}

/// Instructions on elements of all types.
fn any(i: &Instruction, from: ElementType, to: ElementType, x: &[Number]) -> Option<Number> {
    Some(match &*i.opcode {
        "copy" | "custom-call" | "opt-barrier" | "optimization-barrier" => x[0],
        "select" => x[if x[0].int() != 0 { 1 } else { 2 }],
        "compare" => comparison(i, from, x[0], x[1]),
        "convert" => converted(x[0], from, to),
        "bitcast-convert" => Number::of_bits(to, x[0].bits(from)),
        "complex" => Number::Complex(x[0].real(), x[1].real()),
        "real" => Number::Float(x[0].real()),
        "imag" => Number::Float(x[0].parts().1),
        "is-finite" => truth(x[0].real().is_finite()),
        "reduce-precision" => Number::Float(reduced(i, x[0].real())),
        "stochastic-convert" => stochastic(x[0].real(), x[1].int(), to),
        _ => return None,
    })
}

/// A number converted to another type; floats saturate to integers.
fn converted(x: Number, from: ElementType, to: ElementType) -> Number {
    if !from.is_float() || to.is_float() || to.is_complex() || to == ElementType::Pred {
        return x;
    }
    let (x, bits) = (x.real(), to.bits().unwrap() as u32);
    let (lo, hi) = match to.is_signed() {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    Number::Int(if x.is_nan() { 0 } else { (x.trunc() as i128).clamp(lo, hi) })
}

/// Stochastic rounding: rounds up if the random bits are below the fraction.
fn stochastic(x: f64, random: i128, to: ElementType) -> Number {
    let whole = x.abs().trunc();
    let up = (random as f64) < ((x.abs() - whole) * 2f64.powi(32)).trunc();
    converted(Number::Float((whole + f64::from(u8::from(up))).copysign(x)), ElementType::F64, to)
}

/// A float of reduced precision: the nearest multiple of the mantissa's last bit, and 0 or infinity if the exponent
/// does not fit.
fn reduced(i: &Instruction, x: f64) -> f64 {
    let number = |name: &str| i.numbers(name).unwrap()[0] as i32;
    let (exponent, mantissa) = (number("exponent_bits"), number("mantissa_bits"));
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let last = 2f64.powi(x.abs().log2().floor() as i32 - mantissa);
    let near = (x / last).round_ties_even() * last;
    let bias = (1 << (exponent - 1)) - 1;
    match near.abs().log2().floor() as i32 {
        e if e > bias => f64::INFINITY.copysign(x),
        e if e <= -bias => 0f64.copysign(x),
        _ => near,
    }
}

/// The error function: the integral of its derivative, by Simpson's rule.
fn erf(x: f64) -> f64 {
    const STEPS: u32 = 2000;
    if x.is_nan() || x.abs() > 6.0 {
        return x.signum();
    }
    let step = x / f64::from(STEPS);
    let slope = |k: u32| (-(step * f64::from(k)).powi(2)).exp();
    let weight = |k: u32| if k == 0 || k == STEPS { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
    let sum: f64 = (0..=STEPS).map(|k| weight(k) * slope(k)).sum();
    sum * step / 3.0 * std::f64::consts::FRAC_2_SQRT_PI
}

/// Functions of one float.
fn float(op: &str, x: f64) -> Option<f64> {
    Some(match op {
        "negate" => -x,
        "abs" => x.abs(),
        "sign" if x == 0.0 || x.is_nan() => x,
        "sign" => x.signum(),
        "exponential" => x.exp(),
        "exponential-minus-one" => x.exp_m1(),
        "log" => x.ln(),
        "log-plus-one" => x.ln_1p(),
        "tanh" => x.tanh(),
        "logistic" => 1.0 / (1.0 + (-x).exp()),
        "sqrt" => x.sqrt(),
        "rsqrt" => 1.0 / x.sqrt(),
        "cbrt" => x.cbrt(),
        "sine" => x.sin(),
        "cosine" => x.cos(),
        "tan" => x.tan(),
        "erf" => erf(x),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "asinh" => x.asinh(),
        "acosh" => x.acosh(),
        "atanh" => x.atanh(),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "round-nearest-even" => x.round_ties_even(),
        "round-nearest-afz" => x.round(),
        _ => return None,
    })
}

/// Functions of one integer.
fn integer(op: &str, of: ElementType, x: i128) -> Option<i128> {
    Some(match op {
        "not" if of == ElementType::Pred => 1 - x,
        "not" => -1 - x,
        "negate" => -x,
        "abs" => x.abs(),
        "sign" => x.signum(),
        _ => return None,
    })
}

fn float_arithmetic(op: &str, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        "add" => a + b,
        "subtract" => a - b,
        "multiply" => a * b,
        "divide" => a / b,
        "remainder" => a % b,
        "maximum" | "minimum" if a.is_nan() || b.is_nan() => f64::NAN,
        "maximum" => a.max(b),
        "minimum" => a.min(b),
        "power" => a.powf(b),
        "atan2" => a.atan2(b),
        _ => return None,
    })
}

/// Arithmetic on integers and booleans. Division by 0 gives -1, its remainder the dividend; a shift by at least the
/// width shifts out all bits.
fn integer_arithmetic(op: &str, of: ElementType, a: i128, b: i128) -> Option<i128> {
    let width = i128::from(of.bits().unwrap_or(64));
    let fits = (0..width).contains(&b);
    Some(match op {
        "add" if of == ElementType::Pred => i128::from(a + b != 0),
        "add" => a + b,
        "subtract" => a - b,
        "multiply" => a.wrapping_mul(b),
        "divide" if b == 0 => -1,
        "divide" => a / b,
        "remainder" if b == 0 => a,
        "remainder" => a % b,
        "maximum" => a.max(b),
        "minimum" => a.min(b),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "shift-left" if fits => a << b,
        "shift-right-logical" if fits => a.rem_euclid(1 << width) >> b,
        "shift-left" | "shift-right-logical" => 0,
        "shift-right-arithmetic" => a >> if fits { b } else { width - 1 },
        _ => return None,
    })
}

/// Compares two numbers. `type=TOTALORDER` orders floats from -NaN to NaN, with -0 before 0.
fn comparison(i: &Instruction, from: ElementType, a: Number, b: Number) -> Number {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (Number::Complex(..), _) => Some(if a == b { Equal } else { Less }),
        _ if i.attribute("type") == Some("TOTALORDER") => {
            Some(rounded(from, a.real()).total_cmp(&rounded(from, b.real())))
        }
        _ => a.real().partial_cmp(&b.real()),
    };
    truth(match i.attribute("direction").unwrap() {
        "EQ" => order == Some(Equal),
        "NE" => order != Some(Equal),
        "LT" => order == Some(Less),
        "LE" => matches!(order, Some(Less | Equal)),
        "GT" => order == Some(Greater),
        _ => matches!(order, Some(Greater | Equal)),
    })
}

fn exp((re, im): (f64, f64)) -> (f64, f64) {
    (re.exp() * im.cos(), re.exp() * im.sin())
}

fn log((re, im): (f64, f64)) -> (f64, f64) {
    (re.hypot(im).ln(), im.atan2(re))
}

fn quotient(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let size = b.0 * b.0 + b.1 * b.1;
    let (re, im) = product(a, (b.0, -b.1));
    (re / size, im / size)
}

/// `x^y = exp(y * log(x))`.
fn power(x: (f64, f64), y: (f64, f64)) -> (f64, f64) {
    if x == (0.0, 0.0) { (f64::from(u8::from(y == (0.0, 0.0))), 0.0) } else { exp(product(y, log(x))) }
}

fn sinh((re, im): (f64, f64)) -> (f64, f64) {
    (re.sinh() * im.cos(), re.cosh() * im.sin())
}

fn cosh((re, im): (f64, f64)) -> (f64, f64) {
    (re.cosh() * im.cos(), re.sinh() * im.sin())
}

/// Instructions on complex numbers.
fn complex(op: &str, x: &[Number]) -> Option<Number> {
    let a = x[0].parts();
    let turned = |(re, im): (f64, f64)| (-im, re);
    let back = |(re, im): (f64, f64)| (im, -re);
    let one = (1.0, 0.0);
    let (re, im) = match (op, x.get(1).map(|b| b.parts())) {
        ("abs", _) => return Some(Number::Float(a.0.hypot(a.1))),
        ("add", Some(b)) => (a.0 + b.0, a.1 + b.1),
        ("subtract", Some(b)) => (a.0 - b.0, a.1 - b.1),
        ("multiply", Some(b)) => product(a, b),
        ("divide", Some(b)) => quotient(a, b),
        ("power", Some(b)) => power(a, b),
        ("negate", _) => (-a.0, -a.1),
        ("sign", _) if a == (0.0, 0.0) => a,
        ("sign", _) => (a.0 / a.0.hypot(a.1), a.1 / a.0.hypot(a.1)),
        ("exponential", _) => exp(a),
        ("exponential-minus-one", _) => (exp(a).0 - 1.0, exp(a).1),
        ("log", _) => log(a),
        ("log-plus-one", _) => log((a.0 + 1.0, a.1)),
        ("sqrt", _) => power(a, (0.5, 0.0)),
        ("rsqrt", _) => power(a, (-0.5, 0.0)),
        ("logistic", _) => quotient(one, (1.0 + exp((-a.0, -a.1)).0, exp((-a.0, -a.1)).1)),
        ("tanh", _) => quotient(sinh(a), cosh(a)),
        ("sinh", _) => sinh(a),
        ("cosh", _) => cosh(a),
        ("sine", _) => back(sinh(turned(a))),
        ("cosine", _) => cosh(turned(a)),
        _ => return None,
    };
    Some(Number::Complex(re, im))
}
