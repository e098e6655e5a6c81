//! The checker's own arithmetic: sums of atoms with rational coefficients, bounds, congruences.
//!
//! `(3 + 2*d0 - (d1 mod 4)) / 5` has the atoms `d0` and `d1 mod 4`, which are kept as expressions. The simplifier has
//! sums of numbered atoms in `simplify/sum.rs`, with its own `gcd`; both are written twice **on purpose**: a mistake in
//! one of them is then found by the other.
//!
//! All arithmetic is checked: numbers from [`FAR`] on are refused, never wrapped.

use super::refused::Reason;
use crate::expr::Expr;
use std::collections::BTreeMap;

/// The limit beyond which a bound becomes [`NONE`], which sums and products keep.
pub(super) const FAR: i128 = 1 << 100;
pub(super) const NONE: i128 = i128::MAX;

/// Bounds with far ends replaced by [`NONE`]: this may loosen a bound, never tighten it.
fn near((lo, hi): (i128, i128)) -> (i128, i128) {
    (if lo <= -FAR { -NONE } else { lo.min(FAR) }, if hi >= FAR { NONE } else { hi.max(-FAR) })
}

/// Bounds of a sum.
pub(super) fn sum_of(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    near((a.0.saturating_add(b.0), a.1.saturating_add(b.1)))
}

/// Bounds of a multiple.
pub(super) fn times((lo, hi): (i128, i128), c: i128) -> (i128, i128) {
    if c == 0 {
        return (0, 0);
    }
    let (x, y) = (lo.saturating_mul(c), hi.saturating_mul(c));
    near((x.min(y), x.max(y)))
}

/// The greatest common divisor, not negative.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i128
}

/// The inverse of `c` modulo `m`, if it exists.
pub(super) fn inverse(c: i128, m: i128) -> Option<i128> {
    let (mut old, mut new) = ((c.rem_euclid(m), 1i128), (m, 0i128));
    while new.0 != 0 {
        let q = old.0 / new.0;
        (old, new) = (new, (old.0 - q * new.0, old.1.checked_sub(q.checked_mul(new.1)?)?));
    }
    (old.0 == 1).then(|| old.1.rem_euclid(m))
}

/// The `x` with `c*x = value` modulo `m`, as a residue and its modulus.
pub(super) fn solve(c: i128, value: i128, m: i128) -> Option<(i128, i128)> {
    let g = gcd(c, m);
    let n = m / g;
    (value % g == 0 && n > 1).then_some(())?;
    Some(((value / g).rem_euclid(n).checked_mul(inverse(c / g, n)?)?.rem_euclid(n), n))
}

/// The intersection of two residue classes.
pub(super) fn join((r, m): (i128, i128), (s, n): (i128, i128)) -> Option<(i128, i128)> {
    let (g, lcm) = (gcd(m, n), (m / gcd(m, n)).checked_mul(n)?);
    let (gap, n) = (s - r, n / g);
    (gap % g == 0 && lcm < FAR).then_some(())?;
    let k = if n == 1 { 0 } else { (gap / g).rem_euclid(n).checked_mul(inverse(m / g, n)?)?.rem_euclid(n) };
    Some((r.checked_add(m.checked_mul(k)?)?.rem_euclid(lcm), lcm))
}

/// `(constant + Σ coefficient * atom) / den`, in lowest terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Linear {
    pub terms: BTreeMap<Expr, i128>,
    pub constant: i128,
    pub den: i128,
}

impl Linear {
    pub fn constant(constant: i128) -> Linear {
        Linear { terms: BTreeMap::new(), constant, den: 1 }
    }

    pub fn atom(atom: Expr) -> Linear {
        Linear { terms: BTreeMap::from([(atom, 1)]), constant: 0, den: 1 }
    }

    /// A sum whose terms are atoms, without rewriting.
    pub fn of(e: &Expr) -> Option<Linear> {
        match e {
            Expr::Const(c) => Some(Linear::constant((*c).into())),
            Expr::Add(a, b) => Linear::of(a)?.plus(&Linear::of(b)?, 1, 1),
            Expr::Mul(a, c) => Linear::of(a)?.scaled((*c).into(), 1),
            e => Some(Linear::atom(e.clone())),
        }
    }

    /// The sum as an expression, without the denominator.
    pub fn expr(&self) -> Option<Expr> {
        let term = |(e, c): (&Expr, &i128)| Some(e.clone().times((*c).try_into().ok()?));
        let mut terms = self.terms.iter().map(term).collect::<Option<Vec<_>>>()?;
        if self.constant != 0 {
            terms.push(Expr::Const(self.constant.try_into().ok()?));
        }
        Some(Expr::sum(terms))
    }

    pub fn coefficient(&self, atom: &Expr) -> i128 {
        self.terms.get(atom).copied().unwrap_or(0)
    }

    pub fn minus(&self, other: &Linear) -> Result<Linear, Reason> {
        self.plus(other, -1, 1).ok_or(Reason::TooLarge)
    }

    /// `self + other * num / den`.
    pub fn plus(&self, other: &Linear, num: i128, den: i128) -> Option<Linear> {
        let other = other.scaled(num, den)?;
        let g = gcd(self.den, other.den);
        let (own, more) = (other.den / g, self.den / g);
        let mut sum = Linear { terms: BTreeMap::new(), constant: 0, den: self.den.checked_mul(own)? };
        sum.constant = self.constant.checked_mul(own)?.checked_add(other.constant.checked_mul(more)?)?;
        for (terms, factor) in [(&self.terms, own), (&other.terms, more)] {
            for (e, c) in terms {
                let c = c.checked_mul(factor)?;
                let c = c.checked_add(sum.terms.get(e).copied().unwrap_or(0))?;
                if c == 0 {
                    sum.terms.remove(e)
                } else {
                    sum.terms.insert(e.clone(), c)
                };
            }
        }
        sum.lowest()
    }

    /// `self * num / den`; `den` is positive.
    pub fn scaled(&self, num: i128, den: i128) -> Option<Linear> {
        if num == 0 {
            return Some(Linear::constant(0));
        }
        let g = gcd(num, self.den);
        let (num, own) = (num / g, self.den / g);
        let mut scaled = Linear { den: own.checked_mul(den)?, ..self.clone() };
        scaled.constant = scaled.constant.checked_mul(num)?;
        for c in scaled.terms.values_mut() {
            *c = c.checked_mul(num)?;
        }
        scaled.lowest()
    }

    fn lowest(mut self) -> Option<Linear> {
        let g = self.terms.values().fold(gcd(self.den, self.constant), |g, c| gcd(g, *c));
        if g > 1 {
            self.den /= g;
            self.constant /= g;
            self.terms.values_mut().for_each(|c| *c /= g);
        }
        let near = |x: i128| -FAR < x && x < FAR;
        (self.den < FAR && near(self.constant) && self.terms.values().all(|c| near(*c))).then_some(self)
    }
}
