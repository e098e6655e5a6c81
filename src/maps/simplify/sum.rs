//! Sums of atoms with rational coefficients, the arithmetic under the normal form.
//!
//! `(3 + 2*a0 - a4) / 5` has the constant 3, the terms `[(0, 2), (4, -1)]` and the denominator 5; it is in lowest
//! terms, so equal sums are equal values. Arithmetic is checked: what leaves [`FAR`] is `None`.

use super::terms::{Atom, Near, TermList};
use crate::maps::domain::Interval;
use crate::numbers::gcd;

/// Beyond this, a bound is as good as none; it leaves room to add up many of them.
pub(super) const FAR: i128 = 1 << 100;

/// `(constant + Σ coefficient * atom) / den`, in lowest terms. Its value is an integer on the domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sum {
    pub terms: TermList,
    pub constant: i128,
    pub den: i128,
}

/// Whether `d` divides `x`; `d` is not 0.
pub(super) fn divides(d: i128, x: i128) -> bool {
    match (i64::try_from(d), i64::try_from(x)) {
        (Ok(d), Ok(x)) => d == -1 || x % d == 0,
        _ => x % d == 0,
    }
}

/// `x` modulo `m > 0`, in `0..m`.
pub(super) fn residue(x: i128, m: i128) -> i128 {
    match (i64::try_from(x), i64::try_from(m)) {
        (Ok(x), Ok(m)) => x.rem_euclid(m).into(),
        _ => x.rem_euclid(m),
    }
}

/// `a * b`, where 128 bits hold it.
pub(super) fn product(a: i128, b: i128) -> Option<i128> {
    match (i64::try_from(a), i64::try_from(b)) {
        // One instruction, and it always fits.
        (Ok(a), Ok(b)) => Some(i128::from(a) * i128::from(b)),
        _ => a.checked_mul(b),
    }
}

/// `x / d`, where `d > 0` divides `x`.
pub(super) fn quotient(x: i128, d: i128) -> i128 {
    match (i64::try_from(x), i64::try_from(d)) {
        (Ok(x), Ok(d)) => (x / d).into(),
        _ => x / d,
    }
}

/// `x / d` for `d > 0`, rounded towards minus infinity.
pub(super) fn floor_div(x: i128, d: i128) -> i128 {
    match (i64::try_from(x), i64::try_from(d)) {
        (Ok(x), Ok(d)) => x.div_euclid(d).into(),
        _ => x.div_euclid(d),
    }
}

/// No bound. What is added to it, or multiplied or divided with it, leaves it so, through [`low`] and [`high`].
const NONE: i128 = i128::MAX;

/// A lower bound, none beyond [`FAR`].
pub(super) fn low(x: i128) -> i128 {
    if x <= -FAR { -NONE } else { x.min(FAR) }
}

/// An upper bound, none beyond [`FAR`].
pub(super) fn high(x: i128) -> i128 {
    if x >= FAR { NONE } else { x.max(-FAR) }
}

/// The bounds `a + c * x`, one by one.
pub(super) fn plus_bounds(a: (i128, i128), c: i128, x: (i128, i128)) -> (i128, i128) {
    let (x, y) = if c > 0 { x } else { (x.1, x.0) };
    let (x, y) = (low(c.saturating_mul(x)), high(c.saturating_mul(y)));
    (low(a.0.saturating_add(x)), high(a.1.saturating_add(y)))
}

/// The bounds of what is an integer and `d > 0` times which has these.
pub(super) fn divided_bounds((lo, hi): (i128, i128), d: i128) -> (i128, i128) {
    let lo = if lo <= -FAR { lo } else { -floor_div(-lo, d) };
    (lo, if hi >= FAR { hi } else { floor_div(hi, d) })
}

/// An interval as bounds.
pub(super) fn bounds(i: Interval) -> (i128, i128) {
    let lo = if i.lo == i64::MIN { -NONE } else { i.lo.into() };
    (lo, if i.hi == i64::MAX { NONE } else { i.hi.into() })
}

impl Sum {
    pub fn constant(constant: i128) -> Sum {
        Sum { constant, terms: TermList::NONE, den: 1 }
    }

    pub fn atom(a: Atom) -> Sum {
        Sum { constant: 0, terms: TermList::one(a, 1), den: 1 }
    }

    pub fn coefficient(&self, atom: Atom) -> i128 {
        self.terms.coefficient(atom)
    }

    /// `self + other * num / den`.
    pub fn plus(&self, other: &Sum, num: i128, den: i128) -> Option<Sum> {
        let (d1, d2) = (self.den, if den == 1 { other.den } else { product(other.den, den)? });
        let (m1, m2) = if d1 == d2 {
            (1, num)
        } else {
            let g = gcd(d1, d2);
            (quotient(d2, g), product(quotient(d1, g), num)?)
        };
        let mix = |a: i128, b: i128| product(a, m1)?.checked_add(product(b, m2)?);
        let (constant, den) = (mix(self.constant, other.constant)?, product(d1, m1)?);
        let terms = match near_mixed(&self.terms, m1, &other.terms, m2) {
            Some(terms) => TermList::Near(terms),
            None => mixed(&self.terms, &other.terms, mix)?,
        };
        Sum { constant, terms, den }.lowest()
    }

    /// `self + atom * num / den`.
    pub fn plus_atom(&self, atom: Atom, num: i128, den: i128) -> Option<Sum> {
        if den != self.den {
            return self.plus(&Sum::atom(atom), num, den);
        }
        let mut sum = self.clone();
        sum.terms.add(atom, num)?;
        sum.lowest()
    }

    /// `self * num / den`.
    pub fn scaled(&self, num: i128, den: i128) -> Option<Sum> {
        if (num, den) == (1, 1) {
            return Some(self.clone());
        }
        if num == 0 {
            return Some(Sum::constant(0));
        }
        // Cross-cancelled, so that what fits in lowest terms never overflows on the way.
        let (num, own) = if self.den == 1 {
            (num, 1)
        } else {
            let g = gcd(num, self.den);
            (quotient(num, g), quotient(self.den, g))
        };
        let terms = if num == 1 { self.terms.clone() } else { self.terms.times(num)? };
        Sum { constant: product(self.constant, num)?, terms, den: product(own, den)? }.lowest()
    }

    /// `self + c`.
    pub fn shifted(mut self, c: i128) -> Option<Sum> {
        self.constant = self.constant.checked_add(product(c, self.den)?)?;
        self.lowest()
    }

    #[inline]
    pub fn lowest(self) -> Option<Sum> {
        if self.den == 1 && matches!(self.terms, TermList::Near(_)) && -FAR < self.constant && self.constant < FAR {
            return Some(self);
        }
        self.cancelled()
    }

    fn cancelled(mut self) -> Option<Sum> {
        if self.den != 1 {
            let mut g = gcd(self.den, self.constant);
            for (_, c) in self.terms.iter() {
                if g == 1 {
                    break;
                }
                g = gcd(g, c);
            }
            if g > 1 {
                self.den = quotient(self.den, g);
                self.constant = quotient(self.constant, g);
                self.terms.divide(g);
            }
        }
        let near = |x: i128| -FAR < x && x < FAR;
        (self.den < FAR && near(self.constant) && self.terms.within(FAR)).then_some(self)
    }

    /// The terms for which `keep` is true, and the others, both without the constant and not in lowest terms.
    pub fn split(&self, keep: impl Fn(Atom, i128) -> bool) -> (Sum, Sum) {
        let part = |kept: bool| {
            let terms = self.terms.iter().filter(|t| keep(t.0, t.1) == kept).collect();
            Sum { constant: 0, terms, den: self.den }
        };
        (part(true), part(false))
    }

    /// All coefficients and the constant in the range `-m/2 < c <= m/2`; the denominator is 1.
    pub fn symmetric(&self, m: i128) -> Sum {
        let centered = |c: i128| -m < c + c && c + c <= m;
        let center = |c: i128| {
            if centered(c) {
                return c;
            }
            let c = residue(c, m);
            if c + c > m { c - m } else { c }
        };
        let terms = if self.terms.iter().all(|t| centered(t.1)) {
            self.terms.clone()
        } else {
            self.terms.iter().map(|t| (t.0, center(t.1))).collect()
        };
        Sum { constant: center(self.constant), terms, den: 1 }
    }

    /// The greatest common divisor of the coefficients, without the constant.
    pub fn content(&self) -> i128 {
        self.terms.iter().fold(0, |g, t| gcd(g, t.1))
    }
}

/// `a * m1 + b * m2`, where 64 bits hold it and everything on the way and there are few terms.
fn near_mixed(a: &TermList, m1: i128, b: &TermList, m2: i128) -> Option<Near> {
    let (TermList::Near(a), TermList::Near(b)) = (a, b) else { return None };
    let (m1, m2) = (i64::try_from(m1).ok()?, i64::try_from(m2).ok()?);
    let (x, y) = (a.atoms(), b.atoms());
    let (mut i, mut j, mut mixed) = (0, 0, Near::NONE);
    while let (Some(&p), Some(&q)) = (x.get(i), y.get(j)) {
        let c = if p <= q { a.coefficients()[i].checked_mul(m1)? } else { 0 };
        let d = if q <= p { b.coefficients()[j].checked_mul(m2)? } else { 0 };
        i += usize::from(p <= q);
        j += usize::from(q <= p);
        mixed.push(p.min(q), c.checked_add(d)?)?;
    }
    for (&p, &c) in x[i..].iter().zip(&a.coefficients()[i..]) {
        mixed.push(p, c.checked_mul(m1)?)?;
    }
    for (&q, &d) in y[j..].iter().zip(&b.coefficients()[j..]) {
        mixed.push(q, d.checked_mul(m2)?)?;
    }
    Some(mixed)
}

/// The terms of two lists, the coefficients of each atom mixed.
fn mixed(a: &TermList, b: &TermList, mix: impl Fn(i128, i128) -> Option<i128>) -> Option<TermList> {
    let (mut i, mut j) = (0, 0);
    let mut terms = TermList::NONE;
    while i < a.len() || j < b.len() {
        let (x, y) = (a.get(i), b.get(j));
        let atom = x.map_or(Atom::MAX, |t| t.0).min(y.map_or(Atom::MAX, |t| t.0));
        let (x, y) = (x.filter(|t| t.0 == atom), y.filter(|t| t.0 == atom));
        i += usize::from(x.is_some());
        j += usize::from(y.is_some());
        terms.push((atom, mix(x.map_or(0, |t| t.1), y.map_or(0, |t| t.1))?));
    }
    Some(terms)
}
