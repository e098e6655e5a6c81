//! Indices as expressions of what a program computes.

/// The number of a value of the statements; of a vector, all of its lanes.
pub type ValueId = usize;

/// An index: an expression of values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subscript {
    /// A number.
    Constant(i64),
    /// An index that the program computes.
    Value(ValueId),
    /// A sum.
    Sum(Vec<Subscript>),
    /// A product with a number.
    Times(Box<Subscript>, i64),
    /// The quotient by a positive number, rounded down.
    Quotient(Box<Subscript>, i64),
    /// The rest of that.
    Remainder(Box<Subscript>, i64),
}

impl Subscript {
    /// Adds the values that it is made of.
    pub fn values(&self, values: &mut Vec<ValueId>) {
        match self {
            Subscript::Constant(_) => {}
            Subscript::Value(value) => values.push(*value),
            Subscript::Sum(all) => all.iter().for_each(|s| s.values(values)),
            Subscript::Times(s, _) | Subscript::Quotient(s, _) | Subscript::Remainder(s, _) => s.values(values),
        }
    }
}
