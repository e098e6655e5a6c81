//! How a sum is to be written: the last term, and then what is left of the sum.

use super::sum::Sum;

/// The cheapest way found to write a sum.
#[derive(Clone, Copy)]
pub(super) struct Planned {
    /// Each term with its coefficient and the sign before it, and a constant that is not 0.
    pub list: u32,
    /// Whether some term can be first without a sign.
    pub leads: bool,
    /// The last term that is chosen, as a place in the form's list of those; none where there are only variables and a
    /// constant, and nothing to choose.
    pub choice: Option<u32>,
}

/// The last terms that are tried for a sum, and the order in which: what each costs at least, its place, and what of that
/// the terms before it cost.
pub(super) struct Tried {
    pub last: Vec<LastTerm>,
    pub order: Vec<(u32, usize, u32)>,
}

/// A last term of a sum, its coefficient, and the terms before it.
pub(super) type LastTerm = (CompoundTerm, i64, Sum);

/// A term that is no variable.
pub(super) enum CompoundTerm {
    Quotient(Sum, i64),
    Remainder(Sum, i64),
    Min(Sum, Sum),
    Max(Sum, Sum),
}

impl Planned {
    /// What the whole expression costs.
    pub fn total(&self) -> u32 {
        self.list.saturating_sub(1) + u32::from(self.list > 0 && !self.leads)
    }
}
