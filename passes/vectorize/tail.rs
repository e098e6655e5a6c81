//! The rest of a dimension, static or known only at run time.

use crate::buffers::index::IndexVars;
use layout_ir::{Builder, Val};
use melior::ir::Type;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use tensor_layout::maps::Interval;

/// The number of remaining elements of a dimension.
#[derive(Clone, Copy)]
pub enum Tail {
    /// A static number.
    Known(i64),
    /// The value of this variable, always less than `below`; at least one inside the block.
    Open { var: usize, below: i64 },
}

/// Compares two values by the number of a predicate.
pub fn compare<'c>(b: Builder<'c>, predicate: i64, x: Val<'c>, y: Val<'c>, result: Type<'c>) -> Val<'c> {
    let predicate = IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), predicate);
    b.value("arith.cmpi", &[x, y], result, &[b.named("predicate", predicate)])
}

/// Predicates: equal, unequal, and signed less and greater.
pub const EQUAL: i64 = 0;
pub const UNEQUAL: i64 = 1;
pub const LESS: i64 = 2;
pub const GREATER: i64 = 4;

/// A variable bound to a value, for the code after its definition.
pub fn variable<'c>(vars: &mut IndexVars<'c>, v: Val<'c>) -> usize {
    let var = vars.unbound(Interval::new(0, i64::MAX));
    vars.bind(var, v);
    var
}
