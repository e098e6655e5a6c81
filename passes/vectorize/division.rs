//! Quotients and remainders of integers, in vectors that cannot trap.
//!
//! Unused lanes hold anything, zeros mostly, and `arith.divsi` of a vector is undefined if one divisor is 0. So
//! each lane with divisor 0 divides by 1, and the quotient is computed
//!
//! - by the operation itself for a constant divisor, except 0 and -1: LLVM multiplies and shifts;
//! - in f32 for 8 and 16 bits, and in f64 for 32 bits, as machines have no division of integer vectors;
//! - by the operation itself for 64 bits and indices, as one division for each lane in LLVM. There a lane with the
//!   least number over -1 divides by 1, too.
//!
//! The floating-point quotient is exact once its fraction is cut off. With `p` bits of a significand, 24 or 53, and
//! `|x| < 2^p`: let `z = |x| / |y|`. If `z` is an integer, it is below `2^p` and is not rounded. Else the next larger
//! integer is at least `1 / |y|` away. Rounding moves `z` by at most `z * 2^-p`, which is less than `1 / |y|` as
//! `|x| < 2^p`, so it does not reach that integer. Nor does it go below the integer part of `z`, a number of `p` bits.
//!
//! The least number of 32 bits over -1 has an unspecified quotient, as in `arith`; for 8 and 16 bits the quotient is
//! itself.

use super::kernel::Kernel;
use super::tail::{EQUAL, LESS, UNEQUAL, compare};
use crate::kernel::body::{Argument, Body};
use crate::pass::upstream::{self, Folded};
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::attribute::{DenseElementsAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, ValueLike};

/// The longest chain of operations between a divisor and a constant. The guard of a division imported from HLO,
/// `select(y == 0 || x == least && y == -1, 1, y)`, has four.
const DEPTH: usize = 4;

impl<'c> Kernel<'_, 'c> {
    /// An integer division of a body, of vectors.
    pub fn division(&self, b: Builder<'c>, body: &Body<'c>, op: Op<'c>, [x, y]: [Val<'c>; 2]) -> Val<'c> {
        let t = x.r#type();
        let bit = self.vector_of(IntegerType::new(b.context(), 1).into());
        let on = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], t, &[]);
        let name = ir::name(op);
        let signed = name.ends_with("si");
        let by = constant(body, ir::operands(op)[1], DEPTH).filter(|by| divides_safely(*by, signed));
        let y = by.map_or(y, |by| self.broadcast(b, b.constant(by)));
        let quotient = self.quotient(b, x, y, signed, by.is_some());
        if matches!(name, "arith.divsi" | "arith.divui") {
            return quotient;
        }
        let rest = on("arith.subi", x, on("arith.muli", quotient, y));
        if matches!(name, "arith.remsi" | "arith.remui") {
            return rest;
        }
        // Rounding up or down changes the quotient by one if there is a remainder, of the sign that is rounded.
        let zero = self.number(b, t, 0);
        let mut off = compare(b, UNEQUAL, rest, zero, bit);
        if signed {
            let differ = compare(b, LESS, on("arith.xori", rest, y), zero, bit);
            let wanted = match name {
                "arith.floordivsi" => differ,
                _ => compare(b, EQUAL, differ, b.constant(ir::zeros(bit)), bit),
            };
            off = b.value("arith.andi", &[off, wanted], bit, &[]);
        }
        let to = if name == "arith.floordivsi" { "arith.subi" } else { "arith.addi" };
        let one = self.number(b, t, 1);
        b.value("arith.select", &[off, on(to, quotient, one), quotient], t, &[])
    }

    /// The truncated quotient; `safe` if no lane can trap.
    fn quotient(&self, b: Builder<'c>, x: Val<'c>, y: Val<'c>, signed: bool, safe: bool) -> Val<'c> {
        let t = x.r#type();
        let kind = if signed { "si" } else { "ui" };
        let divide = |y: Val<'c>| b.value(&format!("arith.div{kind}"), &[x, y], t, &[]);
        if safe {
            return divide(y);
        }
        let bit = self.vector_of(IntegerType::new(b.context(), 1).into());
        let [zero, one] = [0, 1].map(|n| self.number(b, t, n));
        let mut unsafe_lanes = compare(b, EQUAL, y, zero, bit);
        let element = ir::vector(t).expect("operands are vectors").element;
        let bits = ir::bits(element).unwrap_or(64);
        if bits == 64 && signed {
            // Only the least number and 0 are their own negatives.
            let is_least = |v: Val<'c>| {
                let least = compare(b, EQUAL, v, b.value("arith.subi", &[zero, v], t, &[]), bit);
                let negative = compare(b, LESS, v, zero, bit);
                b.value("arith.andi", &[least, negative], bit, &[])
            };
            let by_minus_one = compare(b, EQUAL, y, self.number(b, t, -1), bit);
            let overflows = b.value("arith.andi", &[is_least(x), by_minus_one], bit, &[]);
            unsafe_lanes = b.value("arith.ori", &[unsafe_lanes, overflows], bit, &[]);
        }
        let y = b.value("arith.select", &[unsafe_lanes, one, y], t, &[]);
        if bits == 64 {
            return divide(y);
        }
        let word = self.vector_of(IntegerType::new(b.context(), 32).into());
        // Narrower numbers are all signed ones of 32 bits.
        let (kind, float) = match bits {
            32 => (kind, Type::float64(b.context())),
            _ => ("si", Type::float32(b.context())),
        };
        let float = self.vector_of(float);
        let [x, y] = [x, y].map(|v| {
            let wide = match (bits, signed) {
                (32, _) => v,
                (_, true) => b.value("arith.extsi", &[v], word, &[]),
                (_, false) => b.value("arith.extui", &[v], word, &[]),
            };
            b.value(&format!("arith.{kind}tofp"), &[wide], float, &[])
        });
        let quotient = b.value("arith.divf", &[x, y], float, &[]);
        let quotient = b.value(&format!("arith.fpto{kind}"), &[quotient], word, &[]);
        if bits == 32 { quotient } else { b.value("arith.trunci", &[quotient], t, &[]) }
    }

    /// The vector type of these elements.
    fn vector_of(&self, element: Type<'c>) -> Type<'c> {
        ir::vector_type(&[1 << self.plan.lanes.len()], element)
    }

    /// A vector of one integer.
    fn number(&self, b: Builder<'c>, t: Type<'c>, n: i64) -> Val<'c> {
        let element = ir::vector(t).expect("operands are vectors").element;
        let n = IntegerAttribute::new(element, n).into();
        b.constant(DenseElementsAttribute::new(t, &[n]).expect("a number makes a constant").into())
    }
}

/// The constant behind a value of a body, through at most `depth` operations.
fn constant<'c>(body: &Body<'c>, v: Val<'c>, depth: usize) -> Option<Attribute<'c>> {
    let argument = body.arguments.iter().find(|(argument, _)| ir::key(*argument) == ir::key(v));
    let v = match argument {
        Some((_, Argument::Value(v))) => *v,
        Some(_) => return None,
        None => v,
    };
    let op = ir::defining_op(v)?;
    if ir::name(op) == "arith.constant" {
        return ir::attribute(op, "value");
    }
    let within = depth.checked_sub(1).filter(|_| ir::blocks(op).is_empty())?;
    let operands: Vec<Option<Attribute>> = ir::operands(op).into_iter().map(|v| constant(body, v, within)).collect();
    match upstream::fold(op, &operands, true) {
        Folded::Operand(k) => operands[k],
        Folded::Constant(value) => Some(value),
        Folded::Unknown => None,
    }
}

/// Whether every number can be divided by this one.
fn divides_safely(by: Attribute, signed: bool) -> bool {
    ir::integer(by).is_some_and(|by| by != 0 && !(signed && by == -1))
}
