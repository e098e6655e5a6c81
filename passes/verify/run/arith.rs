//! What operations of `arith` and `math` compute, on bits.
//!
//! `f32` and `f64` are computed by the processor; `bf16` and `f16` in `f32`, rounded to nearest even, which is their own
//! result for one addition, product, quotient or root. `functions` has those of `math`. Others are opaque: some number of the operands.

use crate::reader::calc::Calc;
use crate::reader::flags::{EXACT, NSW, NUW};
use crate::reader::model::{Element, Operator};
use crate::run::functions::{self, Computed};

fn signed(bits: u64, width: u32) -> i64 {
    if (1..64).contains(&width) { ((bits << (64 - width)) as i64) >> (64 - width) } else { bits as i64 }
}

/// The number of the bits of a floating-point type.
fn number(bits: u64, element: &Element) -> f64 {
    if element.integer {
        return 0.0;
    }
    match &*element.text {
        "f64" => f64::from_bits(bits),
        "f32" => f32::from_bits(bits as u32).into(),
        "bf16" => f32::from_bits((bits as u32) << 16).into(),
        _ => {
            let (exponent, digits) = (bits >> 10 & 31, (bits & 1023) as f64 / 1024.0);
            let size = match exponent {
                0 => digits * 2_f64.powi(-14),
                31 if bits & 1023 == 0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1.0 + digits) * 2_f64.powi(exponent as i32 - 15),
            };
            if bits >> 15 & 1 == 1 { -size } else { size }
        }
    }
}

/// A number as the bits of a floating-point type, rounded to nearest even.
fn rounded(x: f64, element: &Element) -> u64 {
    if x.is_nan() {
        return match &*element.text {
            "f64" => 0x7ff8_0000_0000_0000,
            "f32" => 0x7fc0_0000,
            "bf16" => 0x7fc0,
            _ => 0x7e00,
        };
    }
    match &*element.text {
        "f64" => x.to_bits(),
        "f32" => (x as f32).to_bits().into(),
        "bf16" => {
            // What f32 rounds to odd keeps the second rounding right.
            let near = x as f32;
            let bits = near.to_bits();
            let odd = if f64::from(near) == x || bits & 1 == 1 || near.is_infinite() {
                bits
            } else if (f64::from(near) < x) == (x > 0.0) {
                bits + 1
            } else {
                bits - 1
            };
            u64::from((u64::from(odd) + 0x7fff + u64::from(odd >> 16 & 1)) as u32 >> 16)
        }
        _ => {
            let sign = if x.is_sign_negative() { 1 << 15 } else { 0 };
            let size = x.abs();
            let exponent = if size < 2_f64.powi(-14) { -14 } else { size.log2().floor().min(16.0) as i32 };
            let units = (size / 2_f64.powi(exponent - 10)).round_ties_even();
            if !(units < 2048.0 && exponent < 16 || units == 2048.0 && exponent < 15) {
                return sign | 0x7c00;
            }
            let above = ((exponent + 14) as u64) << 10;
            sign | (above + units as u64)
        }
    }
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

/// How many choices of inputs there are.
pub const CHOICES: usize = 3;

/// The result of an operation, as bits, of one of the choices of inputs.
pub fn evaluate((operator, calc): &(Operator, Calc), choice: usize, count: usize, value: impl Fn(usize) -> u64) -> u64 {
    let (from, to) = (&operator.from, &operator.to);
    let (a, b) = (value(0), value(1));
    let [sa, sb] = [a, b].map(|bits| signed(bits, from.bits));
    let [x, y] = [a, b].map(|bits| number(bits, from));
    let by = u32::try_from(b).ok().filter(|by| *by < to.bits);
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
        Calc::NegF => a ^ 1 << (to.bits - 1),
        Calc::AbsF => a & !(1 << (to.bits - 1)),
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
        Calc::FromS => rounded(from_integer(sa.into(), to), to),
        Calc::FromU => rounded(from_integer(a.into(), to), to),
        Calc::ToS => x as i64 as u64,
        Calc::ToU => x as u64,
        Calc::First => a,
        Calc::Fma if to.text == "f64" => x.mul_add(y, f64::from_bits(value(2))).to_bits(),
        Calc::Fma if to.text == "f32" => (x as f32).mul_add(y as f32, f32::from_bits(value(2) as u32)).to_bits().into(),
        Calc::Fma => rounded(x * y + number(value(2), to), to),
        Calc::Part(_) => opaque(operator, choice, count, value),
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
        Calc::Part(_) => return None,
        _ => return Some(true),
    }
    functions::known(operator, (1.0, 1.0), (1, 1)).map(|(_, is_exact)| is_exact)
}

/// What the most frequent operations on indices give, unless flags promise something that does not hold.
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

/// Whether an operation leaves open what its result is: a division by 0 or beyond its type, a shift by all bits, a number that
/// the integers of a type are not.
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
    let text = operator.name.bytes().chain(operator.attributes.bytes()).fold(0, |hash, byte| mix(hash, byte.into()));
    let hash = (0..count).fold(text, |hash, k| mix(hash, value(k)));
    inputs(&operator.to, hash)[choice]
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
    let small = rounded((hash % 4) as f64 - 1.0, element);
    let any = 0.5 + (hash >> 11) as f64 / (1_u64 << 53) as f64;
    match &*element.text {
        "f16" | "bf16" | "f32" | "f64" => {
            [small, rounded(any, element), rounded(if hash & 1 == 0 { 3.0 * any } else { -any }, element)]
        }
        _ => [hash, mix(hash, 1), mix(hash, 2)],
    }
}
