//! Plans for writing a sum: the last term, and the terms before it.

use super::sum::Sum;

/// The cheapest plan found for a sum.
#[derive(Clone, Copy)]
pub(super) struct Planned {
    /// The cost of all terms with their coefficients and signs, and of a constant that is not 0.
    pub list: u32,
    /// Whether some term can be first without a sign.
    pub leads: bool,
    /// The chosen last term, as a number in [`Form::choices`](super::form::Form); `None` if there are only variables
    /// and a constant, and so no choice.
    pub choice: Option<u32>,
}

/// The candidates for the last term of a sum, and their order: a lower bound of the cost, the number, and the part of
/// that bound for the terms before.
pub(super) struct Tried {
    pub last: Vec<LastTerm>,
    pub order: Vec<(u32, usize, u32)>,
}

/// A last term of a sum, its coefficient, and the terms before it.
pub(super) type LastTerm = (CompoundTerm, i64, Sum);

/// A term that is not a variable.
pub(super) enum CompoundTerm {
    Quotient(Sum, i64),
    Remainder(Sum, i64),
    Min(Sum, Sum),
    Max(Sum, Sum),
}

impl Planned {
    /// The cost of the whole expression.
    pub fn total(&self) -> u32 {
        self.list.saturating_sub(1) + u32::from(self.list > 0 && !self.leads)
    }
}
