//! Operations on elements, and which of them are the same.

use crate::reader::arith;
use crate::reader::calc::{Calc, calc};
use crate::reader::flags::{FREE, NSW, NUW};
use crate::reader::model::{Element, Operator};
use std::rc::Rc;

/// An operation on elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its name, attributes and types, without flags of fast math.
    pub name: Rc<str>,
    /// The operation of MLIR, and what it computes.
    pub operator: Rc<(Operator, Calc)>,
    /// As the reader numbers them.
    pub flags: u32,
}

impl Operation {
    /// An operation of MLIR.
    pub fn of(operator: &Operator) -> Operation {
        let Operator { name, attributes, flags, from, to } = operator;
        Operation {
            name: format!("{name} {attributes}{} {}", from.text, to.text).into(),
            operator: Rc::new((operator.clone(), calc(operator))),
            flags: *flags,
        }
    }

    /// The operation that makes one condition of two, both of which are to hold.
    pub fn conjunction() -> Operation {
        let (name, bit) = ("arith.andi".to_owned(), Element::new("i1", 1));
        Operation::of(&Operator { name, attributes: String::new(), flags: 0, from: bit.clone(), to: bit })
    }

    /// The computation.
    pub fn calc(&self) -> Calc {
        self.operator.1
    }

    /// The type of the result's elements.
    pub fn element(&self) -> &Element {
        &self.operator.0.to
    }

    /// An operation that is known by its name alone.
    pub fn named(name: &str) -> Operation {
        let none = Element::new("", 0);
        let operator =
            Operator { name: String::new(), attributes: String::new(), flags: 0, from: none.clone(), to: none };
        Operation { name: name.into(), operator: Rc::new((operator, Calc::Opaque)), flags: 0 }
    }

    /// Whether it computes what `meant` does where that does, and needs no flags but those of `meant` and the ones that are
    /// `allowed`.
    pub fn may_stand_for(&self, meant: &Operation, allowed: u32) -> bool {
        self.name == meant.name && self.flags & !(meant.flags | allowed) == 0
    }

    /// Whether its operands may be grouped in any way and come in any order; not where it promises that nothing overflows.
    pub fn in_any_order(&self, allowed: u32) -> bool {
        self.flags & (NSW | NUW) == 0 && self.calc().associates()
            || (self.flags | allowed) & self.calc().order_flags() != 0
    }

    /// Whether an operand that is a constant, `type bits`, changes nothing where operands come in any order.
    pub fn is_neutral(&self, constant: &str) -> bool {
        let bits = constant.split_once(' ').and_then(|(_, bits)| bits.parse().ok());
        bits.is_some_and(|bits| self.calc().is_neutral(bits, self.element(), self.flags, true))
    }

    /// The result on operands that are known; none of what is not computed exactly, left open, or promised otherwise, and of NaN.
    /// Flags that are not allowed leave several results.
    pub fn evaluated(&self, operands: &[u64], allowed: u32) -> Option<u64> {
        let value = |k: usize| operands.get(k).copied().unwrap_or(0);
        let ends = (value(0), value(operands.len().min(2).saturating_sub(1)));
        let width = self.element().bits;
        let is_computed = arith::is_known(&self.operator) == Some(true) && (1..=64).contains(&width);
        if !is_computed || arith::is_open(&self.operator, ends.0, ends.1) {
            return None;
        }
        let result = arith::evaluate(&self.operator, 0, operands.len(), value) & (u64::MAX >> (64 - width));
        // NaNs are alike, whatever their bits.
        let is_nan = self.element().float.is_some_and(|float| float.is_nan(result));
        let flags = self.flags & !allowed;
        let is_free = flags & FREE != 0
            || arith::leaves_sign(&self.operator, flags, ends, result)
            || arith::breaks(&self.operator, self.flags, ends, result);
        (!is_nan && !is_free).then_some(result)
    }
}
