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
    /// The number that is added to products of values.
    pub fn constant(&self) -> i64 {
        match self {
            Subscript::Constant(c) => *c,
            Subscript::Sum(all) => all.iter().map(Subscript::constant).fold(0, i64::wrapping_add),
            Subscript::Times(s, c) => s.constant().wrapping_mul(*c),
            Subscript::Value(_) | Subscript::Quotient(..) | Subscript::Remainder(..) => 0,
        }
    }

    /// The same expression of the numbers of its values, and these.
    pub fn pattern(&self) -> (Subscript, Vec<ValueId>) {
        let mut values = vec![];
        (self.numbered(&mut values), values)
    }

    fn numbered(&self, values: &mut Vec<ValueId>) -> Subscript {
        match self {
            Subscript::Constant(c) => Subscript::Constant(*c),
            Subscript::Value(value) => {
                values.push(*value);
                Subscript::Value(values.len() - 1)
            }
            Subscript::Sum(all) => Subscript::Sum(all.iter().map(|s| s.numbered(values)).collect()),
            Subscript::Times(s, c) => Subscript::Times(Box::new(s.numbered(values)), *c),
            Subscript::Quotient(s, c) => Subscript::Quotient(Box::new(s.numbered(values)), *c),
            Subscript::Remainder(s, c) => Subscript::Remainder(Box::new(s.numbered(values)), *c),
        }
    }

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
