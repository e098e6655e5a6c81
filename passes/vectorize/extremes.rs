//! Maximum and minimum of floating-point numbers, computed as integers.
//!
//! `arith.maximumf` returns NaN if an operand is NaN, and orders +0 above -0. x86 has no such instruction: LLVM
//! needs six. So an accumulator has three parts, each of which takes one instruction for an element, and the
//! result is computed from them once, behind the loops. As integers, numbers with a clear sign are in their order,
//! those with the sign set in the opposite one, and NaN is beyond the infinity of its sign:
//!
//! ```text
//! signed:  0xFF800001  -NaN   less than  0x80000000  -0      0x7F800000  +inf   less than  0x7FC00000  +NaN
//!
//! top    = the largest as signed integer         the largest with a clear sign, if there is any; +NaN above all
//! low    = the least as unsigned integer         the nearest to zero of the only sign that there is
//! bottom = the largest as unsigned integer       the least with the sign set, if there is any; -NaN below all
//!
//! largest = bottom > -inf as unsigned ? bottom : top >= 0 ? top : low
//! least   = top > +inf as signed ? top : bottom < 0 ? bottom : low
//! ```
//!
//! Zeros and infinities are numbers like any other, and a NaN result is one of the elements. If there
//! are several, the choice is unspecified, as with `arith.maximumf`.
//!
//! Not promised: fewer instructions on other machines. AArch64 has one for floating-point numbers, and AVX2 has none
//! for integers of 64 bits; there the code does not change.

use super::plan::{Mode, VectorPlan};
use super::tail::{GREATER, LESS, compare};
use crate::kernel::combiner::Combiner;
use crate::pass::options::{LowerMemrefsOptions, Target};
use layout_ir::{self as ir, Builder, Val};
use melior::ir::ValueLike;
use melior::ir::r#type::IntegerType;

/// The unsigned predicate of `arith.cmpi`: greater.
const ABOVE: i64 = 8;

/// An accumulator, or one of the three parts of an extreme's accumulator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    Whole,
    Top,
    Low,
    Bottom,
}

/// The parts of the accumulators of an extreme, each with the operation that adds an element.
pub const PARTS: [(Piece, &str); 3] =
    [(Piece::Top, "arith.maxsi"), (Piece::Low, "arith.minui"), (Piece::Bottom, "arith.maxui")];

/// The result of a reduction to a maximum or minimum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    Largest,
    Least,
}

impl Extreme {
    /// The extreme of this combiner; `None` if the machine does better without it, or has too few registers.
    pub fn of(combiner: Option<&Combiner>, plan: &VectorPlan, target: &LowerMemrefsOptions) -> Option<Extreme> {
        let op = combiner?.op;
        let widest = match target.vectorize {
            Target::Avx512 => 64,
            Target::Avx2 => 32,
            Target::Neon | Target::None => 0,
        };
        let bits = ir::bits(ir::result(op, 0).r#type()).filter(|bits| [16, 32, 64].contains(bits))?;
        match ir::name(op) {
            _ if plan.mode == Mode::Elementwise || bits > widest => None,
            // Contractions have as many accumulators as registers can hold with one part each.
            _ if 4 * plan.accumulators() > i64::from(target.vector_registers()) => None,
            "arith.maximumf" => Some(Extreme::Largest),
            "arith.minimumf" => Some(Extreme::Least),
            _ => None,
        }
    }

    /// The result from the parts of an accumulator. `infinity` is the neutral number, beyond which NaN lies. All values
    /// are integers.
    pub fn put_together<'c>(self, b: Builder<'c>, [top, low, bottom]: [Val<'c>; 3], infinity: Val<'c>) -> Val<'c> {
        let t = top.r#type();
        let lanes = ir::vector(t).expect("registers are vectors").shape;
        let bits = ir::vector_type(&lanes, IntegerType::new(b.context(), 1).into());
        let is = |predicate, x, y| compare(b, predicate, x, y, bits);
        let select = |condition, x, y| b.value("arith.select", &[condition, x, y], t, &[]);
        let zero = b.constant(ir::zeros(t));
        match self {
            Extreme::Largest => select(is(ABOVE, bottom, infinity), bottom, select(is(LESS, top, zero), low, top)),
            Extreme::Least => select(is(GREATER, top, infinity), top, select(is(LESS, bottom, zero), bottom, low)),
        }
    }
}
