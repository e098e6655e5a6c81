//! Accumulators of reductions; of the largest or least of many floating-point numbers they are integers.
//!
//! `arith.maximumf` gives NaN where an operand is one, and takes +0 for larger than -0. x86 has no such instruction: LLVM
//! makes six of each. So an accumulator has three parts, each of which takes one instruction for an element, and the
//! result is made of them once, behind the loops. As integers, numbers with a clear sign are in their order, those with
//! the sign set in the opposite one, and NaN is behind the infinity of its sign:
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
//! Zeros and infinities are numbers like any other, and a result that is NaN is one of the elements. Which one, if there
//! are several, is left open, as it is by `arith.maximumf`.
//!
//! Not promised: fewer instructions on other machines. AArch64 has one for floating-point numbers, and AVX2 has none for
//! integers of 64 bits; there the code stays as it is.

use super::extreme::Extreme;
use super::kernel::{Kernel, Part, Sums};
use super::registers::Key;
use super::rest::{GREATER, LESS, compare};
use crate::kernel::combiner::Combiner;
use layout_ir::{self as ir, Builder, Val};
use melior::ir::ValueLike;
use melior::ir::r#type::IntegerType;
use std::collections::BTreeMap;

/// The unsigned predicate of `arith.cmpi`: greater.
const ABOVE: i64 = 8;

/// The parts of the accumulators of an extreme, each with the operation that adds an element.
const PARTS: [(Part, &str); 3] =
    [(Part::Top, "arith.maxsi"), (Part::Low, "arith.minui"), (Part::Bottom, "arith.maxui")];

impl<'c> Kernel<'_, 'c> {
    /// Accumulators that start from these elements.
    pub fn accumulators(&self, b: Builder<'c>, elements: impl IntoIterator<Item = (Key, Val<'c>)>) -> Sums<'c> {
        let mut sums = Sums::new();
        for (key, element) in elements {
            if self.extreme.is_none() {
                sums.insert((key, Part::Whole), element);
                continue;
            }
            let integers = self.integers(b, element);
            sums.extend(PARTS.map(|(part, _)| ((key, part), integers)));
        }
        sums
    }

    /// Adds an element, which is any number of the reduction's type, to the parts of an accumulator.
    pub fn take(&self, b: Builder<'c>, sums: &mut Sums<'c>, key: Key, element: Val<'c>) {
        let integers = self.integers(b, element);
        for (part, op) in PARTS {
            let part = sums.get_mut(&(key, part)).expect("accumulators stay");
            *part = b.value(op, &[*part, integers], integers.r#type(), &[]);
        }
    }

    /// What accumulators have come to.
    pub fn results(&self, b: Builder<'c>, sums: &Sums<'c>) -> BTreeMap<Key, Val<'c>> {
        let first = |of: &&(Key, Part)| matches!(of.1, Part::Whole | Part::Top);
        let result = |of: &(Key, Part)| match self.extreme {
            Some(extreme) => (of.0, self.put_together(b, extreme, PARTS.map(|(part, _)| sums[&(of.0, part)]))),
            None => (of.0, sums[of]),
        };
        sums.keys().filter(first).map(result).collect()
    }

    /// The result of two elements.
    pub fn combined(&self, b: Builder<'c>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        let Combiner { op, .. } = *self.combiner.as_ref().expect("this mode has a combiner");
        let Some(extreme) = self.extreme else {
            return b.value(ir::name(op), &[x, y], x.r#type(), &self.attributes(b, op));
        };
        let [x, y] = [x, y].map(|element| self.integers(b, element));
        self.put_together(b, extreme, PARTS.map(|(_, op)| b.value(op, &[x, y], x.r#type(), &[])))
    }

    /// The result of the parts of an accumulator.
    fn put_together(&self, b: Builder<'c>, extreme: Extreme, [top, low, bottom]: [Val<'c>; 3]) -> Val<'c> {
        let t = top.r#type();
        let Combiner { op, neutral, .. } = *self.combiner.as_ref().expect("an extreme has a combiner");
        let lanes = ir::vector(t).expect("registers are vectors").shape;
        let bits = ir::vector_type(&lanes, IntegerType::new(b.context(), 1).into());
        let is = |predicate, x, y| compare(b, predicate, x, y, bits);
        let select = |condition, x, y| b.value("arith.select", &[condition, x, y], t, &[]);
        // The infinity behind which NaN is changes no result.
        let element = ir::result(op, 0).r#type();
        let infinity = b.value("vector.broadcast", &[b.constant(neutral)], ir::vector_type(&lanes, element), &[]);
        let (infinity, zero) = (self.integers(b, infinity), b.constant(ir::zeros(t)));
        let integers = match extreme {
            Extreme::Largest => select(is(ABOVE, bottom, infinity), bottom, select(is(LESS, top, zero), low, top)),
            Extreme::Least => select(is(GREATER, top, infinity), top, select(is(LESS, bottom, zero), bottom, low)),
        };
        self.cast(b, integers, element)
    }

    /// A register as integers.
    fn integers(&self, b: Builder<'c>, v: Val<'c>) -> Val<'c> {
        let element = ir::vector(v.r#type()).expect("registers are vectors").element;
        let bits = ir::bits(element).expect("the plan has checked the elements' types");
        self.cast(b, v, IntegerType::new(b.context(), bits as u32).into())
    }
}
