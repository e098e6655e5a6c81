//! What is known of variables: an interval for each, and constraints on expressions of them.

use crate::expr::Expr;
use std::fmt;

/// All integers from `lo` to `hi`, both included; `i64::MIN` and `i64::MAX` mean "no bound known".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Interval {
    /// The least value.
    pub lo: i64,
    /// The greatest value.
    pub hi: i64,
}

impl Interval {
    /// Every integer.
    pub const ALL: Interval = Interval { lo: i64::MIN, hi: i64::MAX };

    /// `[lo, hi]`.
    pub const fn new(lo: i64, hi: i64) -> Interval {
        Interval { lo, hi }
    }

    /// Whether both ends are known.
    pub(crate) fn is_bounded(self) -> bool {
        self.lo != i64::MIN && self.hi != i64::MAX
    }

    /// Whether a number is inside. Where there is no bound, that is so of numbers beyond 64 bits too.
    pub(crate) fn contains(self, x: i128) -> bool {
        (self.lo == i64::MIN || i128::from(self.lo) <= x) && (self.hi == i64::MAX || x <= self.hi.into())
    }

    /// Whether both ends of another interval are inside.
    pub(crate) fn holds(self, other: Interval) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// What is in both intervals.
    pub(crate) fn meet(self, other: Interval) -> Interval {
        Interval::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.lo, self.hi)
    }
}

/// What is known of the points at which an expression is evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domain {
    /// The interval of each variable.
    pub vars: Vec<Interval>,
    /// Expressions with the interval of their values.
    pub constraints: Vec<(Expr, Interval)>,
}
