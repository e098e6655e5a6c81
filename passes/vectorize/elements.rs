//! The encoding of values as elements in memory; `narrow` converts between both.

use crate::kernel::access::Operand;
use crate::kernel::body::Body;
use crate::kernel::nest::Nest;
use layout_ir as ir;
use melior::ir::Type;

/// The encoding of a value as an element in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Narrow<'c> {
    /// The value itself.
    Same,
    /// A byte that is 0 or 1.
    Bool,
    /// An integer with a value of this type in its low bits.
    LowBits(Type<'c>),
}

impl<'c> Narrow<'c> {
    /// The encoding of each operand of a nest. Elements that are only moved between memories of one kind stay encoded.
    pub fn of_operands(nest: &Nest<'c>, body: &Body<'c>) -> Vec<Narrow<'c>> {
        let of = |o: &Operand<'c>| match o.access.element_encoding {
            element_encoding if !element_encoding.is_whole() => Narrow::LowBits(element_encoding.element),
            element_encoding if is_bool(element_encoding.element) => Narrow::Bool,
            _ => Narrow::Same,
        };
        let all: Vec<Narrow> = nest.operands.iter().map(of).collect();
        let moves = body.only_moves() && !all.iter().any(|narrow| matches!(narrow, Narrow::LowBits(_)));
        if moves { vec![Narrow::Same; all.len()] } else { all }
    }
}

/// Whether elements have one bit.
pub fn is_bool(element: Type) -> bool {
    ir::bits(element) == Some(1)
}
