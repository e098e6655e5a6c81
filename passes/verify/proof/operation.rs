//! Operations on elements, and which of them are the same.

use crate::reader::calc::{Calc, calc};
use crate::reader::flags::{NSW, NUW};
use crate::reader::model::{Element, Operator};
use std::rc::Rc;

/// An operation on elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its name, attributes and types, without flags of fast math.
    pub name: Rc<str>,
    /// The computation.
    pub calc: Calc,
    /// The type of the result's elements.
    pub element: Rc<Element>,
    /// As the reader numbers them.
    pub flags: u32,
}

impl Operation {
    /// An operation of MLIR.
    pub fn of(operator: &Operator) -> Operation {
        let Operator { name, attributes, flags, from, to } = operator;
        Operation {
            name: format!("{name} {attributes}{} {}", from.text, to.text).into(),
            calc: calc(operator),
            element: Rc::new(to.clone()),
            flags: *flags,
        }
    }

    /// An operation that is known by its name alone.
    pub fn named(name: &str) -> Operation {
        Operation { name: name.into(), calc: Calc::Opaque, element: Rc::new(Element::new("", 0)), flags: 0 }
    }

    /// Whether it computes what `meant` does where that does, and needs no flags but those of `meant` and the ones that are
    /// `allowed`.
    pub fn may_stand_for(&self, meant: &Operation, allowed: u32) -> bool {
        self.name == meant.name && self.flags & !(meant.flags | allowed) == 0
    }

    /// Whether its operands may be grouped in any way and come in any order; not where it promises that nothing overflows.
    pub fn in_any_order(&self, allowed: u32) -> bool {
        self.flags & (NSW | NUW) == 0 && self.calc.associates() || (self.flags | allowed) & self.calc.order_flags() != 0
    }

    /// Whether an operand that is a constant, `type bits`, changes nothing where operands come in any order.
    pub fn is_neutral(&self, constant: &str) -> bool {
        let bits = constant.split_once(' ').and_then(|(_, bits)| bits.parse().ok());
        bits.is_some_and(|bits| self.calc.is_neutral(bits, &self.element, self.flags, true))
    }
}
