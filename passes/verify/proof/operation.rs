//! Operations on elements, and which of them are the same.

use crate::reader::calc::{Calc, calc, infinity};
use crate::reader::flags::{NSW, NUW, REASSOC};
use crate::reader::model::{Element, Operator};
use std::rc::Rc;

/// An operation on elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its name, attributes and types, without flags of fast math.
    pub name: Rc<str>,
    /// What it computes.
    pub calc: Calc,
    /// The bits of an element of the result.
    pub width: u8,
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
            width: u8::try_from(to.bits).unwrap_or(0),
            flags: *flags,
        }
    }

    /// An operation that is known by its name alone.
    pub fn named(name: &str) -> Operation {
        Operation { name: name.into(), calc: Calc::Opaque, width: 0, flags: 0 }
    }

    /// The largest or least of floating-point numbers of a type.
    pub fn extreme(of: &str, largest: bool) -> Operation {
        let bits = if of.ends_with("16") { 16 } else { of[1..].parse().unwrap_or(0) };
        let element = Element { text: of.to_owned(), bits, integer: false };
        let name = if largest { "arith.maximumf" } else { "arith.minimumf" }.to_owned();
        Operation::of(&Operator { name, attributes: String::new(), flags: 0, from: element.clone(), to: element })
    }

    /// The type of the result's elements.
    pub fn element(&self) -> &str {
        self.name.rsplit(' ').next().unwrap_or_default()
    }

    /// Whether it computes what `meant` does where that does, and needs no flags but those of `meant` and the ones that are
    /// `allowed`.
    pub fn may_stand_for(&self, meant: &Operation, allowed: u32) -> bool {
        self.name == meant.name && self.flags & !(meant.flags | allowed) == 0
    }

    /// Whether its operands may be grouped in any way and come in any order; not where it promises that nothing overflows.
    pub fn in_any_order(&self, allowed: u32) -> bool {
        self.flags & (NSW | NUW) == 0 && self.calc.associates()
            || self.calc.associates_if_allowed() && (self.flags | allowed) & REASSOC != 0
    }

    /// The type of the largest or least floating-point numbers, and the bits of the infinity that changes none.
    pub fn infinity(&self) -> Option<(&str, u64)> {
        let of = self.element();
        let infinity = infinity(of)?;
        match self.calc {
            Calc::Maximum => Some((of, infinity | 1 << (self.width - 1))),
            Calc::Minimum => Some((of, infinity)),
            _ => None,
        }
    }

    /// Whether an operand that is a constant, `type bits`, changes nothing where operands come in any order.
    pub fn is_neutral(&self, constant: &str) -> bool {
        let bits = constant.split_once(' ').and_then(|(_, bits)| bits.parse().ok());
        if let Some((_, infinity)) = self.infinity() {
            return bits == Some(infinity);
        }
        (1..=64).contains(&self.width) && bits.is_some_and(|bits| self.calc.is_neutral(bits, self.width, true))
    }
}
