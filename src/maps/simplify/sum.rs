//! Sums of atoms with rational coefficients, the arithmetic under the normal form.
//!
//! `(3 + 2*a0 - a4) / 5` has the constant 3, the terms `[(0, 2), (4, -1)]` and the denominator 5; it is in lowest
//! terms, so equal sums are equal values. Arithmetic is checked: where a number in lowest terms is not between
//! `-i64::MAX` and `i64::MAX`, the result is `None`.

use super::terms::{Atom, Term, TermList};
use crate::maps::domain::Interval;
use crate::numbers::near_gcd;

/// `(constant + Σ coefficient * atom) / den`, in lowest terms, no number `i64::MIN`. Its value is an integer on the domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sum {
    pub constant: i64,
    pub den: i64,
    pub terms: TermList,
}

/// Whether `d > 0` divides `x`.
pub(super) fn divides(d: i64, x: i64) -> bool {
    d == 1 || x % d == 0
}

/// `x` modulo `m > 0`, in `0..m`.
pub(super) fn residue(x: i64, m: i64) -> i64 {
    x.rem_euclid(m)
}

/// `a * b` modulo `m > 0`, in `0..m`.
pub(super) fn product_residue(a: i64, b: i64, m: i64) -> i64 {
    match a.checked_mul(b) {
        Some(product) => residue(product, m),
        // Less than m, so 64 bits hold it.
        None => (i128::from(a) * i128::from(b)).rem_euclid(m.into()) as i64,
    }
}

/// Whether `m > 0` divides `a * b`.
pub(super) fn is_multiple(a: i64, b: i64, m: i64) -> bool {
    match a.checked_mul(b) {
        Some(product) => product % m == 0,
        None => product_residue(a, b, m) == 0,
    }
}

/// The greatest common divisor of `a * b` and `m > 0`.
pub(super) fn common(a: i64, b: i64, m: i64) -> i64 {
    match a.checked_mul(b) {
        Some(product) if product != i64::MIN => near_gcd(product, m),
        _ => near_gcd(product_residue(a, b, m), m),
    }
}

/// `a + b` modulo `m > 0`, for residues.
pub(super) fn residues_added(a: i64, b: i64, m: i64) -> i64 {
    if a >= m - b { a - (m - b) } else { a + b }
}

/// A number in 64 bits, or the end that it is beyond.
fn clamped(x: i128) -> i64 {
    x.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// The bounds of `a + c * x` for bounds of `a` and `x`; `c` is not 0. What has no bound gives none.
pub(super) fn plus_bounds(a: Interval, c: i64, x: Interval) -> Interval {
    let (least, most) = if c > 0 { (x.lo, x.hi) } else { (x.hi, x.lo) };
    let (no_least, no_most) =
        if c > 0 { (x.lo == i64::MIN, x.hi == i64::MAX) } else { (x.hi == i64::MAX, x.lo == i64::MIN) };
    let at = |a: i64, x: i64| clamped(i128::from(a) + i128::from(c) * i128::from(x));
    Interval {
        lo: if no_least || a.lo == i64::MIN { i64::MIN } else { at(a.lo, least) },
        hi: if no_most || a.hi == i64::MAX { i64::MAX } else { at(a.hi, most) },
    }
}

/// The bounds of what is an integer and `d > 0` times which has these.
pub(super) fn divided_bounds(i: Interval, d: i64) -> Interval {
    let lo = if i.lo == i64::MIN { i.lo } else { -(-i.lo).div_euclid(d) };
    Interval { lo, hi: if i.hi == i64::MAX { i.hi } else { i.hi.div_euclid(d) } }
}

impl Sum {
    /// A constant that is not `i64::MIN`.
    pub fn constant(constant: i64) -> Sum {
        Sum { constant, terms: TermList::NONE, den: 1 }
    }

    pub fn atom(a: Atom) -> Sum {
        Sum { constant: 0, terms: TermList::one(a, 1), den: 1 }
    }

    pub fn coefficient(&self, atom: Atom) -> i64 {
        self.terms.coefficient(atom)
    }

    /// `self + other * num / den`.
    pub fn plus(&self, other: &Sum, num: i64, den: i64) -> Option<Sum> {
        match self.mixed(other, num, den) {
            Some(sum) => sum.lowest(),
            None => self.wide_plus(other, num, den),
        }
    }

    /// [`Sum::plus`], not in lowest terms; `None` where a number on the way does not fit.
    fn mixed(&self, other: &Sum, num: i64, den: i64) -> Option<Sum> {
        let d2 = other.den.checked_mul(den)?;
        let (m1, m2) = if self.den == d2 {
            (1, num)
        } else {
            let g = near_gcd(self.den, d2);
            (d2 / g, (self.den / g).checked_mul(num)?)
        };
        let mix = |a: i64, b: i64| a.checked_mul(m1)?.checked_add(b.checked_mul(m2)?);
        let (mut x, mut y) = (&self.terms[..], &other.terms[..]);
        let mut terms = TermList::NONE;
        while let ([(p, c), after_x @ ..], [(q, d), after_y @ ..]) = (x, y) {
            let (first, second) = (p <= q, q <= p);
            terms.push((*p.min(q), mix(if first { *c } else { 0 }, if second { *d } else { 0 })?));
            x = if first { after_x } else { x };
            y = if second { after_y } else { y };
        }
        for (p, c) in x {
            terms.push((*p, c.checked_mul(m1)?));
        }
        for (q, d) in y {
            terms.push((*q, d.checked_mul(m2)?));
        }
        Some(Sum { constant: mix(self.constant, other.constant)?, den: self.den.checked_mul(m1)?, terms })
    }

    /// [`Sum::plus`] with 128 bits on the way: in lowest terms the numbers may fit all the same.
    #[cold]
    fn wide_plus(&self, other: &Sum, num: i64, den: i64) -> Option<Sum> {
        let wide = |x: i64| i128::from(x);
        let (d1, d2) = (wide(self.den), wide(other.den) * wide(den));
        let g = crate::numbers::gcd(d1, d2);
        let (m1, m2) = (d2 / g, (d1 / g).checked_mul(num.into())?);
        let mix = |a: i64, b: i64| wide(a).checked_mul(m1)?.checked_add(wide(b).checked_mul(m2)?);
        let mut atoms: Vec<Atom> = self.terms.iter().chain(other.terms.iter()).map(|t| t.0).collect();
        atoms.sort_unstable();
        atoms.dedup();
        let of = |a: &Atom| mix(self.coefficient(*a), other.coefficient(*a));
        let numerators = atoms.iter().map(of).collect::<Option<Vec<i128>>>()?;
        let (constant, den) = (mix(self.constant, other.constant)?, d1.checked_mul(m1)?);
        let g = numerators.iter().fold(crate::numbers::gcd(den, constant), |g, c| crate::numbers::gcd(g, *c));
        let near = |x: i128| i64::try_from(x / g).ok();
        let terms = atoms.iter().zip(&numerators).map(|(a, c)| Some((*a, near(*c)?))).collect::<Option<TermList>>()?;
        Sum { constant: near(constant)?, den: near(den)?, terms }.lowest()
    }

    /// `self + atom * num / den`.
    pub fn plus_atom(&self, atom: Atom, num: i64, den: i64) -> Option<Sum> {
        if den != self.den {
            return self.plus(&Sum::atom(atom), num, den);
        }
        let mut sum = self.clone();
        sum.terms.add(atom, num)?;
        sum.lowest()
    }

    /// `self * num / den` for `den > 0`.
    pub fn scaled(&self, num: i64, den: i64) -> Option<Sum> {
        if num == 0 {
            return Some(Sum::constant(0));
        }
        let mut sum = self.clone();
        // Cross-cancelled, so that what fits in lowest terms never overflows on the way.
        let (num, own) = match self.den {
            1 => (num, 1),
            own => {
                let g = near_gcd(num, own);
                (num / g, own / g)
            }
        };
        let (mut num, mut den) = (num, den);
        if num != 1 && den != 1 {
            let g = near_gcd(num, den);
            (num, den) = (num / g, den / g);
        }
        if den != 1 {
            let g =
                self.terms.iter().fold(near_gcd(den, self.constant), |g, t| if g == 1 { 1 } else { near_gcd(g, t.1) });
            if g != 1 {
                den /= g;
                sum.constant /= g;
                sum.terms.divide(g);
            }
        }
        if num != 1 {
            sum.terms.multiply(num)?;
            sum.constant = sum.constant.checked_mul(num)?;
        }
        sum.den = own.checked_mul(den)?;
        sum.fitting()
    }

    /// `self + c`.
    pub fn shifted(mut self, c: i64) -> Option<Sum> {
        self.constant = self.constant.checked_add(c.checked_mul(self.den)?)?;
        self.lowest()
    }

    #[inline]
    pub fn lowest(mut self) -> Option<Sum> {
        if self.den != 1 {
            self.cancel();
        }
        self.fitting()
    }

    /// The sum, unless one of its numbers is `i64::MIN`, which has no opposite.
    fn fitting(self) -> Option<Sum> {
        let fits = self.constant != i64::MIN && self.terms.iter().all(|t| t.1 != i64::MIN);
        fits.then_some(self)
    }

    fn cancel(&mut self) {
        let mut g = near_gcd(self.den, self.constant);
        for (_, c) in self.terms.iter() {
            if g == 1 {
                return;
            }
            g = near_gcd(g, c);
        }
        if g > 1 {
            self.den /= g;
            self.constant /= g;
            self.terms.divide(g);
        }
    }

    /// The terms for which `keep` is true, and the others, both without the constant and not in lowest terms.
    pub fn split(&self, keep: impl Fn(Atom, i64) -> bool) -> (Sum, Sum) {
        let part = |kept: bool| {
            let terms = self.terms.iter().filter(|t| keep(t.0, t.1) == kept).collect();
            Sum { constant: 0, terms, den: self.den }
        };
        (part(true), part(false))
    }

    /// The numerators: the sum times its denominator.
    pub fn numerators(&self) -> Sum {
        Sum { den: 1, ..self.clone() }
    }

    /// Each coefficient and the constant in the range `-m/2 < c <= m/2`; the denominator is 1.
    pub fn symmetric(&self, m: i64) -> Sum {
        let center = |c: i64| {
            if -((m - 1) / 2) <= c && c <= m / 2 {
                return c;
            }
            let c = residue(c, m);
            if c > m / 2 { c - m } else { c }
        };
        let terms = self.terms.iter().map(|t: Term| (t.0, center(t.1))).collect();
        Sum { constant: center(self.constant), terms, den: 1 }
    }

    /// The greatest common divisor of the coefficients, without the constant.
    pub fn content(&self) -> i64 {
        self.terms.iter().fold(0, |g, t| near_gcd(g, t.1))
    }
}
