//! Facts about atoms from constraints: intervals, residues, and bounds of sums.

use super::form::{FACTS, Form, LONG, What};
use super::sum::{Sum, divides, is_multiple, product_residue, residue, residues_added};
use super::terms::{Atom, TermList};
use crate::expr::Expr;
use crate::maps::domain::{Interval, WideInterval};
use crate::numbers::{inverse, near_gcd};

impl Form {
    /// Records that `e` is in `interval`.
    pub(super) fn assume(&mut self, e: &Expr, interval: Interval) -> Option<()> {
        let sum = self.normal(e)?;
        self.assume_sum(&sum, interval)
    }

    pub(super) fn assume_sum(&mut self, sum: &Sum, interval: Interval) -> Option<()> {
        if let Some((atom, coefficient @ (1 | -1))) = sum.terms.only()
            && sum.den == 1
        {
            let constant = -coefficient * sum.constant;
            self.narrow(atom, WideInterval::one(constant).plus(coefficient, interval.into()));
            return Some(());
        }
        let first = sum.terms.first()?.1;
        let unit = sum.content() * first.signum();
        // The direction is (den * sum - constant) / unit.
        let terms = sum.terms.iter().map(|t| (t.0, t.1 / unit)).collect();
        let numerators = WideInterval::one(-sum.constant).plus(sum.den, interval.into());
        let within = WideInterval::one(0).plus(unit.signum(), numerators).divided(unit.abs());
        let direction = Sum { constant: 0, terms, den: 1 };
        if self.facts.len() < FACTS && direction.terms.len() <= LONG {
            self.facts.push((direction, within));
        }
        Some(())
    }

    /// Records that an atom is in an interval.
    fn narrow(&mut self, atom: Atom, within: WideInterval) {
        let known = &mut self.atoms[atom as usize];
        known.within = known.within.meet(within);
        let value = known.value();
        self.note_fixed(atom);
        let known = &self.atoms[atom as usize];
        if let (Some(value), What::Remainder(y, m)) = (value, &known.what)
            && let Some((v, c)) = y.terms.only()
        {
            let (y, m) = (Sum { constant: y.constant, terms: TermList::one(v, c), den: 1 }, *m);
            if let Some((atom, step, residue)) = self.residue_of((y, m, value)) {
                self.learn_residue(atom, step, residue);
            }
        }
    }

    /// The residue of the single atom of `sum`, if `sum = value` modulo `m`, as the atom, its modulus and its residue.
    fn residue_of(&self, (sum, m, value): (Sum, i64, i64)) -> Option<(Atom, i64, i64)> {
        let (atom, c) = sum.terms.only()?;
        let g = near_gcd(c, m);
        let right = value.checked_sub(sum.constant)?;
        if !divides(g, right) {
            return None;
        }
        let (m, c) = (m / g, residue(c / g, m / g));
        (m > 1).then_some(())?;
        Some((atom, m, product_residue(right / g, near_inverse(c, m)?, m)))
    }

    /// Joins the known residue of an atom with `residue` modulo `step` (Chinese remainder).
    fn learn_residue(&mut self, atom: Atom, step: i64, residue: i64) {
        let known = &mut self.atoms[atom as usize];
        if let Some((residue, step)) = chinese((known.residue, known.step), (residue, step)) {
            (known.step, known.residue) = (step, residue);
        }
    }

    /// The residue of a sum with integer coefficients modulo `m`, if congruences determine it.
    pub(super) fn residue(&self, s: &Sum, m: i64) -> Option<i64> {
        let mut sum = residue(s.constant, m);
        for (a, c) in s.terms.iter() {
            let known = &self.atoms[a as usize];
            if !is_multiple(c, known.step, m) {
                return None;
            }
            sum = residues_added(sum, product_residue(c, known.residue, m), m);
        }
        Some(sum)
    }
}

/// The residue and modulus of numbers in both classes; `None` if there are none, or the modulus is too large.
pub(super) fn chinese(a: (i64, i64), b: (i64, i64)) -> Option<(i64, i64)> {
    let ((r1, m1), (r2, m2)) = (a, b);
    let g = near_gcd(m1, m2);
    let gap = r2.checked_sub(r1).filter(|gap| divides(g, *gap))?;
    let (m, n) = (m1.checked_mul(m2 / g)?, m2 / g);
    if n == 1 {
        return Some((residue(r1, m), m));
    }
    let k = product_residue(gap / g, near_inverse(m1 / g, n)?, n);
    Some((residues_added(residue(r1, m), product_residue(m1, k, m), m), m))
}

/// The inverse of `c` modulo `m > 0`; `None` if they have a common divisor.
pub(super) fn near_inverse(c: i64, m: i64) -> Option<i64> {
    inverse(c.into(), m.into()).and_then(|c| c.try_into().ok())
}
