//! Evaluation of `math` operations, on numbers: exact, or as near as the processor's library has it.

use crate::reader::model::Operator;

/// The result of an operation that has no rule of its own, and whether it is exact; none where it is not known. `x` and `y` are the
/// operands as numbers, `a` and `b` as bits.
pub fn known(operator: &Operator, (x, y): (f64, f64), (a, b): (u64, u64)) -> Option<(Computed, bool)> {
    let (dialect, name) = operator.name.split_once('.')?;
    if dialect != "math" {
        return None;
    }
    let (from, to) = (&operator.from, &operator.to);
    let bits = u64::from(from.bits);
    if from.integer && to.integer && (1..=64).contains(&bits) {
        let unused = 64 - bits;
        let count = match name {
            "ctlz" => u64::from(a.leading_zeros()) - unused,
            "cttz" => u64::from(a.trailing_zeros()).min(bits),
            "ctpop" => a.count_ones().into(),
            _ => return None,
        };
        return Some((Computed::Bits(count), true));
    }
    if from.float.is_some() && to.text == "i1" {
        let is = match name {
            "isnan" => x.is_nan(),
            "isinf" => x.is_infinite(),
            "isfinite" => x.is_finite(),
            _ => return None,
        };
        return Some((Computed::Bits(is.into()), true));
    }
    let float = to.float?;
    if name == "copysign" {
        let sign = Some(float).filter(|float| float.has_signed_zeros())?.sign();
        return Some((Computed::Bits(a & !sign | b & sign), true));
    }
    // A type without NaN leaves open what a function is that has no value.
    if !float.has_nan() {
        return None;
    }
    let exact = match name {
        "ceil" => x.ceil(),
        "floor" => x.floor(),
        "round" => x.round(),
        "roundeven" => x.round_ties_even(),
        "trunc" => x.trunc(),
        // Rounded to fewer digits once more, it is that of these digits.
        "sqrt" => x.sqrt(),
        // Roundings to 8 bits are too far apart to be nearly the same.
        _ if to.bits < 16 => return None,
        _ => return near(name, x, y).map(|near| (Computed::Number(near), false)),
    };
    Some((Computed::Number(exact), true))
}

/// A result.
pub enum Computed {
    /// As bits.
    Bits(u64),
    /// As a number, to be rounded.
    Number(f64),
}

fn near(name: &str, x: f64, y: f64) -> Option<f64> {
    Some(match name {
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "expm1" => x.exp_m1(),
        "log" => x.ln(),
        "log2" => x.log2(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "atan2" => x.atan2(y),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "asinh" => x.asinh(),
        "acosh" => x.acosh(),
        "atanh" => x.atanh(),
        "cbrt" => x.cbrt(),
        "erf" => erf(x),
        "rsqrt" => x.sqrt().recip(),
        "powf" => x.powf(y),
        _ => return None,
    })
}

/// The error function: `2 / sqrt(pi) exp(-x^2)` times the sum of `2^n x^(2n + 1) / (1 3 5 .. (2n + 1))`.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut sum, mut term) = (0.0, x);
    for n in 1..160 {
        sum += term;
        term *= 2.0 * x * x / f64::from(2 * n + 1);
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}
