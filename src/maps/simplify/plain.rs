//! The rules for remainders of plain sums, on numbers alone.
//!
//! A plain sum has only variables with intervals and no other facts; most remainders are those of plain sums: linear
//! indices. For them the rules of `remainder` are one loop over the coefficients, and a sum is built only for the
//! result: `e mod m` is `low + scale * (rest mod n)`, where each iteration moves a part from `rest` to `low`.
//!
//! *Example.* `(8*i + 2*j + k) mod 4` for `j in [0, 3]`, `k in [0, 1]`: 8 is 0 modulo 4; `2*j + k` reaches 7, beyond
//! one period; 2 divides 4, and `k` is below 2, so the result is `k + 2 * (j mod 2)`.

use super::form::{Form, Known, What};
use super::sum::{Sum, residue};
use super::terms::Atom;
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::steps::Rule;
use crate::numbers::{difference, near_gcd};

/// The most terms of a plain sum.
const FEW: usize = 6;

/// A sum of variables in intervals, with integer coefficients.
pub(super) struct Plain {
    constant: i64,
    len: usize,
    terms: [PlainTerm; FEW],
}

#[derive(Clone, Copy)]
struct PlainTerm {
    atom: Atom,
    c: i64,
    lo: i64,
    hi: i64,
}

impl Plain {
    fn terms(&self) -> &[PlainTerm] {
        &self.terms[..self.len.min(FEW)]
    }

    /// The multiple of `m` at the start of the one period that holds all values, with changed coefficients; `None` if
    /// values are in several periods.
    fn period(&self, constant: i64, coefficient: impl Fn(i64) -> i64, m: i64) -> Option<i64> {
        let (mut lo, mut hi) = (constant, constant);
        for t in self.terms() {
            let c = coefficient(t.c);
            let (x, y) = if c > 0 { (t.lo, t.hi) } else { (t.hi, t.lo) };
            (lo, hi) = (lo.checked_add(c.checked_mul(x)?)?, hi.checked_add(c.checked_mul(y)?)?);
        }
        period_begin(lo, hi, m)
    }

    /// Maps each coefficient, possibly to 0; returns whether any changed.
    fn change(&mut self, mut coefficient: impl FnMut(Atom, i64) -> i64) -> bool {
        let (mut kept, mut changed) = (0, false);
        for k in 0..self.len.min(FEW) {
            let t = self.terms[k];
            let c = coefficient(t.atom, t.c);
            changed |= c != t.c;
            self.terms[kept] = PlainTerm { c, ..t };
            kept += usize::from(c != 0);
        }
        self.len = kept;
        changed
    }

    /// The sum with another constant and other coefficients.
    fn sum_with(&self, constant: i64, coefficient: impl Fn(i64) -> i64) -> Sum {
        let mut sum = Sum::constant(constant);
        for t in self.terms() {
            sum.terms.push((t.atom, coefficient(t.c)));
        }
        sum
    }

    fn sum(&self) -> Sum {
        self.sum_with(self.constant, |c| c)
    }

    /// `self mod m`, if with coefficients from `-m/2` to `m/2` all values are in one period. They are from 0 to below
    /// `m`.
    fn centered(&self, constant: i64, m: i64) -> Option<Sum> {
        if constant == self.constant && self.terms().iter().all(|t| t.c <= m / 2) {
            return None;
        }
        let begin = self.period(constant, |c| center(c, m), m)?;
        Some(self.sum_with(difference(constant, begin)?, |c| center(c, m)))
    }

    /// The largest divisor `g` of `m` with the sum that is `self mod g`. The coefficients are from 0 to below `m`.
    fn factor(&self, m: i64) -> Option<(i64, Sum)> {
        let (mut divisors, mut len) = ([0; FEW], 0);
        for t in self.terms() {
            let g = near_gcd(t.c, m);
            if g > 1 && !divisors[..len].contains(&g) {
                divisors[len] = g;
                len += 1;
            }
        }
        divisors[..len].sort_unstable_by(|x, y| y.cmp(x));
        divisors[..len].iter().find_map(|&g| {
            let constant = residue(self.constant, g);
            let least = |c: i64| residue(c, g);
            let centered = |c: i64| center(residue(c, g), g);
            match self.period(constant, least, g) {
                Some(begin) => Some((g, self.sum_with(difference(constant, begin)?, least))),
                None => {
                    let begin = self.period(constant, centered, g)?;
                    Some((g, self.sum_with(difference(constant, begin)?, centered)))
                }
            }
        })
    }
}

/// The multiple of `m` at the start of the one period that holds all numbers from `lo` to `hi`.
fn period_begin(lo: i64, hi: i64, m: i64) -> Option<i64> {
    if hi.checked_sub(lo)? >= m {
        return None;
    }
    let begin = lo.checked_sub(lo.rem_euclid(m))?;
    (hi.checked_sub(begin)? < m).then_some(begin)
}

/// The number from `-m/2` to `m/2` that equals `c` in `0..m` modulo `m`.
fn center(c: i64, m: i64) -> i64 {
    if c > m / 2 { c - m } else { c }
}

impl Known {
    /// The bounds of a variable without other facts.
    fn alone(&self) -> Option<(i64, i64)> {
        let Interval { lo, hi } = self.within.narrow()?;
        let alone = matches!(self.what, What::Var(_)) && self.step == 1 && lo < hi;
        alone.then_some((lo, hi))
    }
}

impl Form {
    /// The sum, if it is plain.
    pub(super) fn plain_sum(&self, e: &Sum) -> Option<Plain> {
        if e.terms.len() > FEW || !self.facts.is_empty() {
            return None;
        }
        let none = PlainTerm { atom: 0, c: 0, lo: 0, hi: 0 };
        let mut plain = Plain { constant: e.constant, len: e.terms.len(), terms: [none; FEW] };
        for (place, (atom, c)) in plain.terms.iter_mut().zip(e.terms.iter()) {
            let (lo, hi) = self.atoms[atom as usize].alone()?;
            *place = PlainTerm { atom, c, lo, hi };
        }
        Some(plain)
    }

    /// `e mod m` for a plain sum with all values in one period of `m`.
    pub(super) fn quick_period(&self, e: &Sum, m: i64) -> Option<Sum> {
        if e.terms.len() > FEW || !self.facts.is_empty() {
            return None;
        }
        let (mut lo, mut hi) = (e.constant, e.constant);
        for (atom, c) in e.terms.iter() {
            let (x, y) = self.atoms[atom as usize].alone()?;
            let (x, y) = if c > 0 { (x, y) } else { (y, x) };
            (lo, hi) = (lo.checked_add(c.checked_mul(x)?)?, hi.checked_add(c.checked_mul(y)?)?);
            if hi.checked_sub(lo)? >= m {
                return None;
            }
        }
        let begin = period_begin(lo, hi, m)?;
        Some(Sum { constant: difference(e.constant, begin)?, ..e.clone() })
    }

    /// `e mod m`; `None` if a number does not fit.
    pub(super) fn plain_rules(&mut self, e: Plain, m: i64) -> Option<Sum> {
        if self.log.is_some()
            && let Some(done) = self.plain_period(&e, m)
        {
            return Some(done);
        }
        self.plain_modulo(e, m)
    }

    /// `e mod m`, if all values of `e` are in one period of `m`.
    pub(super) fn plain_period(&mut self, e: &Plain, m: i64) -> Option<Sum> {
        let begin = e.period(e.constant, |c| c, m)?;
        let done = e.sum_with(difference(e.constant, begin)?, |c| c);
        if self.log.is_some() {
            self.note_period(&e.sum(), m, &done);
        }
        Some(done)
    }

    /// `rest mod m` for a sum that is not in one period of `m`; `None` if a number does not fit.
    fn plain_modulo(&mut self, mut rest: Plain, mut m: i64) -> Option<Sum> {
        // The remainder is low + scale * (rest mod m).
        let (mut low, mut scale) = (Sum::constant(0), 1i64);
        // Equations are logged from the inside out, each after those for its inner remainder.
        let mut equations = Vec::new();
        let above = loop {
            let (before, reduced) = (rest.constant, residue(rest.constant, m));
            let whole = self.log.is_some().then(|| rest.sum());
            rest.constant = reduced;
            if rest.change(|_, c| residue(c, m)) || before != reduced {
                equations.extend(self.equation(Rule::Congruent, |form| {
                    let right = Expr::Mod(form.expr(&rest.sum())?.into(), m);
                    Some((form.remainder_expr(&whole?, m)?, right, None))
                }));
                if let Some(done) = self.plain_period(&rest, m) {
                    break done;
                }
            }
            if let Some(done) = rest.centered(center(rest.constant, m), m) {
                if self.log.is_some() {
                    self.note_period(&rest.sum(), m, &done);
                }
                break done;
            }
            let Some((g, part)) = rest.factor(m) else { break self.remainder(&rest.sum(), m)? };
            let whole = self.log.is_some().then(|| rest.sum());
            rest.constant = rest.constant.checked_sub(part.constant)? / g;
            rest.change(|atom, c| (c - part.coefficient(atom)) / g);
            equations.extend(self.equation(Rule::Factor, |form| {
                let above = form.remainder_expr(&rest.sum(), m / g)?.times(g);
                let right = Expr::Add(above.into(), form.expr(&part)?.into());
                Some((form.remainder_expr(&whole?, m)?, right, form.within(&part)))
            }));
            low = if scale == 1 { part } else { low.plus(&part, scale, 1)? };
            (scale, m) = (scale.checked_mul(g)?, m / g);
            if let Some(done) = self.plain_period(&rest, m) {
                break done;
            }
        };
        for (rule, equation) in equations.into_iter().rev() {
            self.note(rule, |_| Some(equation));
        }
        if scale == 1 { Some(above) } else { low.plus(&above, scale, 1) }
    }
}
