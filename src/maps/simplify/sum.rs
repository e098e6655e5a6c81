//! Sums of atoms with rational coefficients, the arithmetic under the normal form.
//!
//! `(3 + 2*a0 - a4) / 5` has the constant 3, the terms `[(0, 2), (4, -1)]` and the denominator 5; it is in lowest
//! terms, so equal sums are equal values. Arithmetic is checked: what leaves [`FAR`] is `None`.

use crate::maps::domain::Interval;
use crate::numbers::gcd;

/// The number of an atom in its form.
pub(super) type Atom = u32;

/// Beyond this, a bound is as good as none; it leaves room to add up many of them.
pub(super) const FAR: i128 = 1 << 100;

/// `(constant + Σ coefficient * atom) / den`, in lowest terms, atoms ascending. Its value is an integer on the domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Sum {
    pub terms: Vec<(Atom, i128)>,
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
fn quotient(x: i128, d: i128) -> i128 {
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
        Sum { constant, terms: Vec::new(), den: 1 }
    }

    pub fn atom(a: Atom) -> Sum {
        Sum { constant: 0, terms: vec![(a, 1)], den: 1 }
    }

    pub fn coefficient(&self, atom: Atom) -> i128 {
        self.terms.binary_search_by_key(&atom, |t| t.0).map_or(0, |k| self.terms[k].1)
    }

    /// `self + other * num / den`.
    pub fn plus(&self, other: &Sum, num: i128, den: i128) -> Option<Sum> {
        let (d1, d2) = (self.den, if den == 1 { other.den } else { other.den.checked_mul(den)? });
        let (m1, m2) = if d1 == d2 {
            (1, num)
        } else {
            let g = gcd(d1, d2);
            (d2 / g, (d1 / g).checked_mul(num)?)
        };
        let times = |x: i128, m: i128| match m {
            1 => Some(x),
            -1 => Some(-x),
            m => product(x, m),
        };
        let mix = |a: i128, b: i128| times(a, m1)?.checked_add(times(b, m2)?);
        let (mut i, mut j) = (0, 0);
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        while i < self.terms.len() || j < other.terms.len() {
            let a = self.terms.get(i).map_or(Atom::MAX, |t| t.0);
            let b = other.terms.get(j).map_or(Atom::MAX, |t| t.0);
            let x = if a <= b { self.terms[i].1 } else { 0 };
            let y = if b <= a { other.terms[j].1 } else { 0 };
            i += usize::from(a <= b);
            j += usize::from(b <= a);
            let c = mix(x, y)?;
            if c != 0 {
                terms.push((a.min(b), c));
            }
        }
        Sum { constant: mix(self.constant, other.constant)?, terms, den: d1.checked_mul(m1)? }.lowest()
    }

    /// `self + atom * num / den`.
    pub fn plus_atom(&self, atom: Atom, num: i128, den: i128) -> Option<Sum> {
        if den != self.den {
            return self.plus(&Sum::atom(atom), num, den);
        }
        let mut sum = self.clone();
        sum.add_to_numerator(atom, num)?;
        sum.lowest()
    }

    /// Adds `atom * num` to the numerator, in place; the outcome may not be in lowest terms.
    pub fn add_to_numerator(&mut self, atom: Atom, num: i128) -> Option<()> {
        match self.terms.binary_search_by_key(&atom, |t| t.0) {
            Ok(k) => {
                self.terms[k].1 = self.terms[k].1.checked_add(num)?;
                if self.terms[k].1 == 0 {
                    self.terms.remove(k);
                }
            }
            Err(k) if num != 0 => self.terms.insert(k, (atom, num)),
            Err(_) => {}
        }
        Some(())
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
        let g = gcd(num, self.den);
        let (num, own) = (num / g, self.den / g);
        let mut terms = self.terms.clone();
        for t in &mut terms {
            t.1 = product(t.1, num)?;
        }
        Sum { constant: product(self.constant, num)?, terms, den: own.checked_mul(den)? }.lowest()
    }

    /// `self + c`.
    pub fn shifted(mut self, c: i128) -> Option<Sum> {
        self.constant = self.constant.checked_add(c.checked_mul(self.den)?)?;
        self.lowest()
    }

    pub fn lowest(mut self) -> Option<Sum> {
        if self.den != 1 {
            let mut g = gcd(self.den, self.constant);
            for t in &self.terms {
                if g == 1 {
                    break;
                }
                g = gcd(g, t.1);
            }
            if g > 1 {
                self.den = quotient(self.den, g);
                self.constant = quotient(self.constant, g);
                self.terms.iter_mut().for_each(|t| t.1 = quotient(t.1, g));
            }
        }
        let near = |x: i128| -FAR < x && x < FAR;
        (self.den < FAR && near(self.constant) && self.terms.iter().all(|t| near(t.1))).then_some(self)
    }

    /// The terms for which `keep` is true, and the others, both without the constant and not in lowest terms.
    pub fn split(&self, keep: impl Fn(Atom, i128) -> bool) -> (Sum, Sum) {
        let (kept, left) = self.terms.iter().copied().partition(|t| keep(t.0, t.1));
        (Sum { constant: 0, terms: kept, den: self.den }, Sum { constant: 0, terms: left, den: self.den })
    }

    /// All coefficients and the constant in the range `-m/2 < c <= m/2`; the denominator is 1.
    pub fn symmetric(&self, m: i128) -> Sum {
        let center = |c: i128| {
            let c = residue(c, m);
            if 2 * c > m { c - m } else { c }
        };
        let terms = self.terms.iter().map(|t| (t.0, center(t.1))).filter(|t| t.1 != 0).collect();
        Sum { constant: center(self.constant), terms, den: 1 }
    }

    /// The greatest common divisor of the coefficients, without the constant.
    pub fn content(&self) -> i128 {
        self.terms.iter().fold(0, |g, t| gcd(g, t.1))
    }
}
