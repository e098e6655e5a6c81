//! Sums of atoms with rational coefficients, the arithmetic under the normal form.
//!
//! `(3 + 2*a0 - a4) / 5` has the constant 3, the terms `[(0, 2), (4, -1)]` and the denominator 5; it is in lowest
//! terms, so equal sums are equal values. Arithmetic is checked: the result is `None` if a number in lowest terms is
//! not between `-i64::MAX` and `i64::MAX`.

use super::terms::{Atom, Term, TermList};
use crate::numbers::{near_gcd, negatable, product};

/// `(constant + Σ coefficient * atom) / den`, in lowest terms, no number `i64::MIN`. Its value is an integer on the
/// domain.
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
    match product(a, b) {
        Some(product) => near_gcd(product, m),
        None => near_gcd(product_residue(a, b, m), m),
    }
}

/// `a + b` modulo `m > 0`, for residues.
pub(super) fn residues_added(a: i64, b: i64, m: i64) -> i64 {
    if a >= m - b { a - (m - b) } else { a + b }
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
        let near = if self.den == 1 && other.den == 1 && den == 1 {
            self.mixed(1, other, num)
        } else {
            self.to_one_denominator(other, num, den).and_then(|(m1, m2)| self.mixed(m1, other, m2))
        };
        match near {
            Some(mut sum) => {
                if sum.den != 1 {
                    sum.cancel();
                }
                Some(sum)
            }
            None => self.wide_plus(other, num, den),
        }
    }

    /// The factors for the numerators of `self` and `other * num / den` that give them one denominator.
    fn to_one_denominator(&self, other: &Sum, num: i64, den: i64) -> Option<(i64, i64)> {
        let other = other.den.checked_mul(den)?;
        if self.den == other {
            return Some((1, num));
        }
        let g = near_gcd(self.den, other);
        Some((other / g, (self.den / g).checked_mul(num)?))
    }

    /// The numerators of `self * m1` and `other * m2` added up; `None` if an intermediate number does not fit.
    fn mixed(&self, m1: i64, other: &Sum, m2: i64) -> Option<Sum> {
        let mix = |a: i64, b: i64| negatable(a.checked_mul(m1)?.checked_add(b.checked_mul(m2)?)?);
        let constant = mix(self.constant, other.constant)?;
        let mut sum = Sum { constant, den: self.den.checked_mul(m1)?, terms: TermList::NONE };
        let (x, y) = (&self.terms[..], &other.terms[..]);
        let (mut i, mut j) = (0, 0);
        while let (Some(&(p, c)), Some(&(q, d))) = (x.get(i), y.get(j)) {
            if p < q {
                sum.terms.push((p, mix(c, 0)?));
                i += 1;
            } else if q < p {
                sum.terms.push((q, mix(0, d)?));
                j += 1;
            } else {
                sum.terms.push((p, mix(c, d)?));
                i += 1;
                j += 1;
            }
        }
        for &(p, c) in &x[i..] {
            sum.terms.push((p, mix(c, 0)?));
        }
        for &(q, d) in &y[j..] {
            sum.terms.push((q, mix(0, d)?));
        }
        Some(sum)
    }

    /// [`Sum::plus`] with 128 bits in between: in lowest terms the numbers may still fit.
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
        let near = |x: i128| i64::try_from(x / g).ok().and_then(negatable);
        let terms = atoms.iter().zip(&numerators).map(|(a, c)| Some((*a, near(*c)?))).collect::<Option<TermList>>()?;
        Some(Sum { constant: near(constant)?, den: near(den)?, terms })
    }

    /// `self + atom * num / den`.
    pub fn plus_atom(&self, atom: Atom, num: i64, den: i64) -> Option<Sum> {
        if den != self.den {
            return self.plus(&Sum::atom(atom), num, den);
        }
        let mut sum = self.clone();
        sum.terms.add(atom, num)?;
        if den != 1 {
            sum.cancel();
        }
        Some(sum)
    }

    /// `self * num / den` for `den > 0`.
    pub fn scaled(&self, num: i64, den: i64) -> Option<Sum> {
        if num == 0 {
            return Some(Sum::constant(0));
        }
        let mut sum = self.clone();
        // Cross-cancelled, so that nothing that fits in lowest terms overflows in between.
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
            sum.constant = product(sum.constant, num)?;
        }
        sum.den = own.checked_mul(den)?;
        Some(sum)
    }

    /// `self + c`.
    pub fn shifted(mut self, c: i64) -> Option<Sum> {
        self.constant = negatable(self.constant.checked_add(c.checked_mul(self.den)?)?)?;
        Some(self)
    }

    /// The sum in lowest terms.
    pub fn lowest(mut self) -> Sum {
        if self.den != 1 {
            self.cancel();
        }
        self
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
