//! Evaluation of `arith` and `math` operations, on bits.
//!
//! Each result of numbers with a point is rounded once, to nearest even: one operation in `f64`, exact or with more than twice the
//! digits, and then in the type of the result. NaNs that are computed are alike. `functions` has what is of `math`. Others are
//! opaque: some number of the operands.

use crate::reader::calc::Calc;
use crate::reader::flags::{EXACT, NINF, NNAN, NSW, NSZ, NUW};
use crate::reader::floats::{Format, parts};
use crate::reader::functions::{self, Computed};
use crate::reader::model::{Element, Operator};

pub fn signed(bits: u64, width: u32) -> i64 {
    if (1..64).contains(&width) { ((bits << (64 - width)) as i64) >> (64 - width) } else { bits as i64 }
}

/// The number of the bits of a floating-point type; 0 of any other.
fn number(bits: u64, element: &Element) -> f64 {
    element.float.map_or(0.0, |float| float.number(bits))
}

/// A number as the bits of a floating-point type, rounded to nearest even.
fn rounded(x: f64, element: &Element) -> u64 {
    element.float.map_or(0, |float| float.rounded(x))
}

/// A sum that is rounded to odd, which keeps another rounding to fewer digits right.
fn to_odd(x: f64, y: f64) -> f64 {
    let sum = x + y;
    let part = sum - x;
    let lost = (x - (sum - part)) + (y - part);
    if lost == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    f64::from_bits(if (lost > 0.0) == (sum > 0.0) { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// An integer of at most 64 bits as a number that is rounded once more: to odd, where it has more digits than `f64`, which keeps
/// the second rounding right.
fn from_integer(n: i128, to: &Element) -> f64 {
    let size = n.unsigned_abs();
    let beyond = (u128::BITS - size.leading_zeros()).saturating_sub(f64::MANTISSA_DIGITS);
    if beyond == 0 || to.text == "f64" {
        return n as f64;
    }
    let is_inexact = size & ((1 << beyond) - 1) != 0;
    let odd = (size >> beyond | u128::from(is_inexact)) << beyond;
    if n < 0 { -(odd as f64) } else { odd as f64 }
}

/// A power of integers; of one below 1, a quotient of 1 that is rounded towards 0.
fn power(base: i64, exponent: i64) -> u64 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 => (1 - 2 * (exponent & 1)) as u64,
            _ => 0,
        };
    }
    let (mut all, mut square, mut rest) = (1_u64, base as u64, exponent);
    while rest > 0 {
        all = if rest & 1 == 1 { all.wrapping_mul(square) } else { all };
        (square, rest) = (square.wrapping_mul(square), rest >> 1);
    }
    all
}

/// How many choices of inputs there are.
pub const CHOICES: usize = 3;

/// The result of an operation, as bits, of one of the choices of inputs.
pub fn evaluate((operator, calc): &(Operator, Calc), choice: usize, count: usize, value: impl Fn(usize) -> u64) -> u64 {
    let (from, to) = (&operator.from, &operator.to);
    let (a, b) = (value(0), value(1));
    let [sa, sb] = [a, b].map(|bits| signed(bits, from.bits));
    let [x, y] = [a, b].map(|bits| number(bits, from));
    let by = u32::try_from(b).ok().filter(|by| *by < to.bits);
    let sign = to.float.map_or(0, Format::sign);
    // The product or sum of two f32 is exact or correctly rounded twice in f64; of two f64 it is f64's own.
    match calc {
        Calc::Add => a.wrapping_add(b),
        Calc::Sub => a.wrapping_sub(b),
        Calc::Mul => a.wrapping_mul(b),
        Calc::DivU => a.checked_div(b).unwrap_or(0),
        Calc::DivS => sa.checked_div(sb).unwrap_or(0) as u64,
        Calc::FloorDivS | Calc::CeilDivS => {
            let (quotient, rest) = (sa.checked_div(sb).unwrap_or(0), sa.checked_rem(sb).unwrap_or(0));
            let below = rest != 0 && (rest < 0) != (sb < 0);
            let above = rest != 0 && (rest < 0) == (sb < 0);
            match calc {
                Calc::FloorDivS => quotient.wrapping_sub(i64::from(below)) as u64,
                _ => quotient.wrapping_add(i64::from(above)) as u64,
            }
        }
        Calc::CeilDivU => {
            if b == 0 {
                0
            } else {
                a.div_ceil(b)
            }
        }
        Calc::RemU => a.checked_rem(b).unwrap_or(0),
        Calc::RemS => sa.checked_rem(sb).unwrap_or(0) as u64,
        Calc::And => a & b,
        Calc::Or => a | b,
        Calc::Xor => a ^ b,
        Calc::Shl => by.map_or(0, |by| a << by),
        Calc::ShrU => by.map_or(0, |by| a >> by),
        Calc::ShrS => by.map_or(0, |by| (sa >> by) as u64),
        Calc::MinS => sa.min(sb) as u64,
        Calc::MaxS => sa.max(sb) as u64,
        Calc::MinU => a.min(b),
        Calc::MaxU => a.max(b),
        Calc::Compare(predicate) => u64::from(match predicate {
            0 => a == b,
            1 => a != b,
            2 => sa < sb,
            3 => sa <= sb,
            4 => sa > sb,
            5 => sa >= sb,
            6 => a < b,
            7 => a <= b,
            8 => a > b,
            _ => a >= b,
        }),
        Calc::Select => {
            if a & 1 == 1 {
                b
            } else {
                value(2)
            }
        }
        Calc::ExtU | Calc::Trunc | Calc::Same => a,
        Calc::ExtS => sa as u64,
        Calc::AddF => rounded(x + y, to),
        Calc::SubF => rounded(x - y, to),
        Calc::MulF => rounded(x * y, to),
        Calc::DivF => rounded(x / y, to),
        // It is exact.
        Calc::RemF => rounded(x % y, to),
        // Without negative zeros, the sign of 0 is the one NaN.
        Calc::NegF | Calc::AbsF if a & !sign == 0 && to.float.is_some_and(|float| !float.has_signed_zeros()) => a,
        Calc::NegF => a ^ sign,
        Calc::AbsF => a & !sign,
        Calc::AbsI => sa.wrapping_abs() as u64,
        Calc::Maximum | Calc::Minimum if x.is_nan() || y.is_nan() => rounded(f64::NAN, to),
        Calc::Maximum | Calc::MaxNum => {
            let first = y.is_nan() || x > y || x == y && !x.is_sign_negative();
            if first { a } else { b }
        }
        Calc::Minimum | Calc::MinNum => {
            let first = y.is_nan() || x < y || x == y && x.is_sign_negative();
            if first { a } else { b }
        }
        Calc::CompareF(predicate) => {
            let unordered = x.is_nan() || y.is_nan();
            let ordered = match predicate & 7 {
                0 => false,
                1 => x == y,
                2 => x > y,
                3 => x >= y,
                4 => x < y,
                5 => x <= y,
                6 => x != y,
                _ => true,
            };
            // 0 is false, 1 to 7 are ordered, 8 to 14 (ueq to uno) unordered, 15 is true.
            u64::from(match predicate {
                0 => false,
                1..=7 => !unordered && ordered,
                8 => unordered || x == y,
                9 => unordered || x > y,
                10 => unordered || x >= y,
                11 => unordered || x < y,
                12 => unordered || x <= y,
                13 => unordered || x != y,
                14 => unordered,
                _ => true,
            })
        }
        Calc::WidenBf16 => a << 16,
        Calc::Convert => rounded(x, to),
        Calc::PowerOfTwo => rounded(if a == 255 { f64::NAN } else { 2_f64.powi(a as i32 - 127) }, to),
        Calc::FromS => rounded(from_integer(sa.into(), to), to),
        Calc::FromU => rounded(from_integer(a.into(), to), to),
        Calc::ToS => x as i64 as u64,
        Calc::ToU => x as u64,
        Calc::First => a,
        Calc::Fma if to.text == "f64" => x.mul_add(y, f64::from_bits(value(2))).to_bits(),
        Calc::Fma if to.text == "f32" => (x as f32).mul_add(y as f32, f32::from_bits(value(2) as u32)).to_bits().into(),
        Calc::Fma => rounded(to_odd(x * y, number(value(2), to)), to),
        Calc::PowI => power(sa, sb),
        Calc::Part(_) | Calc::Create | Calc::Composed => opaque(operator, choice, count, value),
        Calc::Swapped => opaque(operator, choice, count, |k| if k == 0 { a.min(b) } else { a.max(b) }),
        Calc::Opaque => match functions::known(operator, (x, y), (a, b)) {
            Some((Computed::Bits(bits), _)) => bits,
            Some((Computed::Number(number), _)) => rounded(number, to),
            None => opaque(operator, choice, count, value),
        },
    }
}

/// Whether the value of an operation is known, and exactly; of some others it is known nearly or not at all.
pub fn is_known((operator, calc): &(Operator, Calc)) -> Option<bool> {
    match calc {
        Calc::Opaque => (),
        Calc::Part(_) | Calc::Create | Calc::Swapped | Calc::Composed => return None,
        _ => return Some(true),
    }
    functions::known(operator, (1.0, 1.0), (1, 1)).map(|(_, is_exact)| is_exact)
}

/// Evaluates the most frequent operations on indices, unless flags promise something that does not hold.
pub fn on_indices(operator: &Operator, a: i64, b: i64) -> Option<i64> {
    let (checked, wrapped) = match &*operator.name {
        "arith.addi" => (a.checked_add(b), a.wrapping_add(b)),
        "arith.subi" => (a.checked_sub(b), a.wrapping_sub(b)),
        "arith.muli" => (a.checked_mul(b), a.wrapping_mul(b)),
        _ => return None,
    };
    match operator.flags {
        0 => Some(wrapped),
        NSW => checked,
        _ => None,
    }
}

/// Whether what the flags of an operation promise does not hold.
pub fn breaks(operator: &(Operator, Calc), flags: u32, (a, b): (u64, u64), result: u64) -> bool {
    let (from, to) = (&operator.0.from, &operator.0.to);
    let numbers = [number(a, from), number(b, from), number(result, to)];
    let integers = flags & (NSW | NUW | EXACT);
    flags & NNAN != 0 && numbers.iter().any(|x| x.is_nan())
        || flags & NINF != 0 && numbers.iter().any(|x| x.is_infinite())
        || integers != 0 && from.integer && !keeps(operator, integers, a, b)
}

/// Whether an operation leaves open the sign of its result, a zero.
pub fn leaves_sign(operator: &(Operator, Calc), flags: u32, (a, b): (u64, u64), result: u64) -> bool {
    let (from, to) = (&operator.0.from, &operator.0.to);
    let is_zero = |bits: u64, element: &Element| element.float.is_some_and(|float| float.number(bits) == 0.0);
    let is_either = matches!(operator.1, Calc::MaxNum | Calc::MinNum) && is_zero(a, from) && is_zero(b, from) && a != b;
    is_either || flags & NSZ != 0 && is_zero(result, to)
}

/// Whether an operation leaves open what its result is: a division by 0 or beyond its type, a shift by all bits, a number that
/// the integers of a type are not, NaN in a type without one, the least power of two.
pub fn is_open((operator, calc): &(Operator, Calc), a: u64, b: u64) -> bool {
    let (from, to) = (&operator.from, &operator.to);
    let [sa, sb] = [a, b].map(|bits| signed(bits, from.bits));
    let fits = |low: f64, high: f64| {
        let top = 2_f64.powi(to.bits as i32 - 1);
        (low * top..high * top).contains(&number(a, from).trunc())
    };
    match calc {
        Calc::DivU | Calc::CeilDivU | Calc::RemU => b == 0,
        Calc::DivS | Calc::FloorDivS | Calc::CeilDivS | Calc::RemS => {
            sb == 0 || sb == -1 && sa == signed(1 << (from.bits - 1), from.bits)
        }
        Calc::Shl | Calc::ShrU | Calc::ShrS => b >= u64::from(to.bits),
        Calc::ToS => !fits(-1.0, 1.0),
        Calc::ToU => !fits(0.0, 2.0),
        Calc::PowI => sa == 0 && sb < 0,
        // Upstream's expansion makes 0 of the least power, which is subnormal.
        Calc::PowerOfTwo => a == 0,
        Calc::Convert | Calc::DivF | Calc::RemF if to.float.is_some_and(|float| !float.has_nan()) => {
            let (x, y) = (number(a, from), number(b, from));
            x.is_nan() || *calc != Calc::Convert && y == 0.0
        }
        _ => false,
    }
}

/// Whether what flags promise of an operation holds for these operands. Of numbers with a point, and of other flags than those
/// of integers, it is not said.
pub fn keeps(operator: &(Operator, Calc), flags: u32, a: u64, b: u64) -> bool {
    let (from, to, calc) = (&operator.0.from, &operator.0.to, operator.1);
    if flags & !(NSW | NUW | EXACT) != 0 || !from.integer || from.bits > 64 || is_open(operator, a, b) {
        return false;
    }
    let [sa, sb] = [a, b].map(|bits| i128::from(signed(bits, from.bits)));
    let (ua, ub) = (i128::from(a), i128::from(b));
    let by = |n: i128| n.checked_rem(ub) == Some(0);
    let (is_signed, is_unsigned, is_exact) = match calc {
        Calc::Add => (Some(sa + sb), Some(ua + ub), true),
        Calc::Sub => (Some(sa - sb), Some(ua - ub), true),
        Calc::Mul => (sa.checked_mul(sb), ua.checked_mul(ub), true),
        Calc::Shl => (sa.checked_mul(1 << b), ua.checked_mul(1 << b), true),
        Calc::Trunc => (Some(sa), Some(ua), true),
        Calc::DivU => (Some(0), Some(0), by(ua)),
        Calc::DivS => (Some(0), Some(0), sa % sb == 0),
        Calc::ShrU | Calc::ShrS => (Some(0), Some(0), ua % (1 << b) == 0),
        Calc::ExtU | Calc::FromU => (Some(0), Some(0), sa >= 0),
        _ => (None, None, false),
    };
    let top = 1_i128 << (to.bits.min(64) - 1);
    let fits = |n: Option<i128>, low: i128, high: i128| n.is_some_and(|n| low <= n && n < high);
    (flags & NSW == 0 || fits(is_signed, -top, top))
        && (flags & NUW == 0 || fits(is_unsigned, 0, 2 * top))
        && (flags & EXACT == 0 || is_exact)
}

/// A well-mixed number of two.
pub fn mix(a: u64, b: u64) -> u64 {
    let mut x = (a ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(b);
    x = (x ^ (x >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 29)
}

/// Some number of the operands of an operation that is not computed.
pub fn opaque(operator: &Operator, choice: usize, count: usize, value: impl Fn(usize) -> u64) -> u64 {
    let Operator { name, attributes, from, to, .. } = operator;
    let text = [name, attributes, &from.text, &to.text].into_iter().flat_map(|text| text.bytes());
    let text = text.fold(0, |hash, byte| mix(hash, byte.into()));
    // NaNs are alike.
    let plain = |bits: u64| from.float.filter(|float| float.is_nan(bits)).map_or(bits, Format::nan);
    let hash = (0..count).fold(text, |hash, k| mix(hash, plain(value(k))));
    inputs(to, hash)[choice]
}

/// Values of an element for all choices of inputs: a small integer, any number, and one of any sign.
pub fn inputs(element: &Element, hash: u64) -> [u64; CHOICES] {
    let signed = |n: u64| (hash % (2 * n + 1)).wrapping_sub(n);
    if element.integer {
        return match (element.bits, &*element.text) {
            (1, _) => [hash & 1, hash >> 1 & 1, hash >> 2 & 1],
            (_, "index") => [hash % 3, 1 + hash / 3 % 3, signed(8)],
            _ => [hash % 3, hash % 5, signed(8)],
        };
    }
    let numbers = |float: Format, hash: u64| {
        let any = 0.5 + (hash >> 11) as f64 / (1_u64 << 53) as f64;
        [(hash % 4) as f64 - 1.0, any, if hash & 1 == 0 { 3.0 * any } else { -any }].map(|x| float.rounded(x))
    };
    if let Some(float) = element.float {
        return numbers(float, hash);
    }
    let [(Some(float), _), (_, low)] = parts(&element.text)[..] else { return [hash, mix(hash, 1), mix(hash, 2)] };
    let [re, im] = [hash, mix(hash, 1)].map(|hash| numbers(float, hash));
    std::array::from_fn(|choice| re[choice] | im[choice] << low)
}

/// Values of an element at which operations differ: numbers at which roundings change, the least and the largest of each kind,
/// and at the end, where they are tried first, NaNs with several bits, zeros and infinities.
pub fn special(element: &Element) -> Vec<u64> {
    match parts(&element.text)[..] {
        [(Some(float), _)] => special_numbers(float),
        [(Some(float), _), (_, low)] => {
            let all = special_numbers(float);
            (0..all.len()).map(|k| all[k] | all[(5 * k + 3) % all.len()] << low).collect()
        }
        _ => special_integers(element.bits),
    }
}

fn special_integers(bits: u32) -> Vec<u64> {
    let top = 1_u64 << (bits.clamp(1, 64) - 1);
    let near = [0, 1, 2, 3, 5, 7, 8, u64::from(bits), 100];
    let mut all: Vec<u64> = near.iter().flat_map(|n| [*n, n.wrapping_neg()]).collect();
    all.extend([top, top - 1, top + 1, top >> 1, top | top >> 1, 0x5555_5555_5555_5555]);
    all.iter_mut().for_each(|n| *n &= top | (top - 1));
    all.sort_unstable();
    all.dedup();
    all
}

fn special_numbers(float: Format) -> Vec<u64> {
    let (sign, fraction, above) = (float.sign(), float.fraction, float.largest() + 1);
    let near = [0.3, 0.5, 1.0, 1.5, 2.5, 3.0, 7.0, 100.7].map(|x| float.rounded(x));
    // One more than an integer can be and keep a half, the numbers around 1, and the least and largest of each kind.
    let whole = float.rounded(2_f64.powi(fraction as i32));
    let edges = [1, (1 << fraction) - 1, 1 << fraction, above - 1, whole - 1, whole + 1, near[2] + 1, near[2] - 1];
    // Of a type with infinities, `above` is the first one, and NaNs are beyond it.
    let others = [above | 1, above | ((1 << fraction) - 1), 0, float.nan(), above];
    let sizes = near.into_iter().chain(edges).chain(others);
    sizes.flat_map(|size| [size, size | sign]).map(|bits| bits & (sign | (sign - 1))).collect()
}
