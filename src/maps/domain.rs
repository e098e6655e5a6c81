//! Domains: an interval for each variable, and constraints on expressions of them.

use crate::expr::Expr;
use std::fmt;

/// All integers from `lo` to `hi`, both included. Ends are exact: `i64::MAX` is 2^63 - 1, and no greater number is
/// inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Interval {
    /// The least value.
    pub lo: i64,
    /// The greatest value.
    pub hi: i64,
}

impl Interval {
    /// Every integer of 64 bits.
    pub const ALL: Interval = Interval { lo: i64::MIN, hi: i64::MAX };

    /// No integer.
    pub(crate) const EMPTY: Interval = Interval { lo: 1, hi: 0 };

    /// `[lo, hi]`.
    pub const fn new(lo: i64, hi: i64) -> Interval {
        Interval { lo, hi }
    }

    /// Whether a number is inside.
    pub(crate) fn contains(self, x: i128) -> bool {
        i128::from(self.lo) <= x && x <= self.hi.into()
    }

    /// Whether both ends of another interval are inside.
    pub(crate) fn holds(self, other: impl Into<WideInterval>) -> bool {
        let other = other.into();
        i128::from(self.lo) <= other.lo && other.hi <= self.hi.into()
    }
}

/// Closed bounds of values of up to 128 bits, as in sums of products of 64 bits. An end at `i128::MIN` or `i128::MAX`
/// is unknown, and stays so in sums and quotients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WideInterval {
    pub lo: i128,
    pub hi: i128,
}

impl WideInterval {
    /// The interval with unknown ends.
    pub const ALL: WideInterval = WideInterval { lo: i128::MIN, hi: i128::MAX };

    /// `[lo, hi]`.
    pub const fn new(lo: i128, hi: i128) -> WideInterval {
        WideInterval { lo, hi }
    }

    /// One value.
    pub fn one(value: i64) -> WideInterval {
        Interval::new(value, value).into()
    }

    /// The least value, if known.
    pub fn least(&self) -> Option<i128> {
        (self.lo != i128::MIN).then_some(self.lo)
    }

    /// The greatest value, if known.
    pub fn most(&self) -> Option<i128> {
        (self.hi != i128::MAX).then_some(self.hi)
    }

    /// The intersection of both intervals.
    pub fn meet(self, other: WideInterval) -> WideInterval {
        WideInterval::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    /// The bounds of `a + c * x` for `a` and `x` with these bounds; `c` is not 0.
    pub fn plus(self, c: i64, x: WideInterval) -> WideInterval {
        let (least, most) = if c > 0 { (x.least(), x.most()) } else { (x.most(), x.least()) };
        let sum = |a: Option<i128>, x: Option<i128>| a?.checked_add(x?.checked_mul(c.into())?);
        WideInterval::new(sum(self.least(), least).unwrap_or(i128::MIN), sum(self.most(), most).unwrap_or(i128::MAX))
    }

    /// The bounds of an integer `x` whose multiple `d * x`, for `d > 0`, has these bounds.
    pub fn divided(self, d: impl Into<i128>) -> WideInterval {
        let d = d.into();
        let up = |x: i128| x.div_euclid(d) + i128::from(x.rem_euclid(d) != 0);
        let (least, most) = (self.least().map(up), self.most().map(|x| x.div_euclid(d)));
        WideInterval::new(least.unwrap_or(i128::MIN), most.unwrap_or(i128::MAX))
    }

    /// The interval, if both ends fit in 64 bits.
    pub fn narrow(self) -> Option<Interval> {
        Some(Interval::new(self.lo.try_into().ok()?, self.hi.try_into().ok()?))
    }

    /// The part of the interval that fits in 64 bits.
    pub fn within_64_bits(self) -> Interval {
        Interval::new(self.lo.try_into().unwrap_or(i64::MIN), self.hi.try_into().unwrap_or(i64::MAX))
    }
}

impl From<Interval> for WideInterval {
    fn from(i: Interval) -> WideInterval {
        WideInterval::new(i.lo.into(), i.hi.into())
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.lo, self.hi)
    }
}

/// The points at which an expression is evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domain {
    /// The interval of each variable.
    pub vars: Vec<Interval>,
    /// Expressions with the interval of their values.
    pub constraints: Vec<(Expr, Interval)>,
}
