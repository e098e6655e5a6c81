//! The operation that adds an element to a reduction's result.
//!
//! The body of a sum is `%r = arith.addf %s, %e`, where `%s` is the result so far. If the order of additions does not
//! matter, `%s` may start as the neutral element in several accumulators, which the same operation combines at the end:
//! integers may always be reordered, floating-point numbers with `reassociate` or the operation's own fast-math flags.

use crate::pass::options::LowerMemrefsOptions;
use crate::pass::upstream::{self, FastMath};
use layout_ir::{self as ir, Op};
use melior::ir::{Attribute, BlockRef};

/// The operation that combines partial results.
pub struct Combiner<'c> {
    /// The operation, of two elements.
    pub op: Op<'c>,
    /// The operand number of the added element; the other operand is the result so far.
    pub element: usize,
    /// The neutral element.
    pub neutral: Attribute<'c>,
}

impl<'c> Combiner<'c> {
    /// The combiner in a reduction's body with one output, if additions can be reordered mathematically.
    pub fn of(body: BlockRef<'c, 'c>) -> Option<Combiner<'c>> {
        let output = *ir::arguments(body).last()?;
        let end = *ir::operations(body).last()?;
        let [result] = ir::operands(end)[..] else { return None };
        let op = ir::defining_op(result)?;
        let inside = ir::operations(body).iter().any(|o| ir::op_key(*o) == ir::op_key(op));
        if !inside || ir::uses(output).len() != 1 {
            return None;
        }
        let element = match ir::operands(op)[..] {
            [sum, _] if ir::key(sum) == ir::key(output) => 1,
            [_, sum] if ir::key(sum) == ir::key(output) => 0,
            _ => return None,
        };
        let neutral = upstream::neutral_element(op)?;
        Some(Combiner { op, element, neutral })
    }

    /// Whether elements may be added in another order than the program's.
    pub fn reorders(&self, options: &LowerMemrefsOptions) -> bool {
        // Sums and products round. For zeros of different signs, either may be the minimum or maximum.
        let free = match ir::name(self.op) {
            "arith.addf" | "arith.mulf" => FastMath::REASSOC,
            "arith.maxnumf" | "arith.minnumf" => FastMath::NO_SIGNED_ZEROS,
            _ => return true,
        };
        options.reassociate || FastMath::of(self.op).has(free)
    }
}
