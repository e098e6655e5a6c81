//! An order of atoms that does not depend on the order of the input.

use super::form::{Form, What};
use super::sum::Sum;
use super::terms::{Atom, Term};
use std::cmp::Ordering;

impl Form {
    /// The level of an atom that contains a sum.
    pub(super) fn level(&self, s: &Sum) -> u32 {
        1 + s.terms.iter().map(|t| self.atoms[t.0 as usize].level).max().unwrap_or(0)
    }

    /// The order of two atoms by their content. Their numbers depend on the order of the input.
    pub(super) fn compare(&self, a: Atom, b: Atom) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let (known, other) = (&self.atoms[a as usize], &self.atoms[b as usize]);
        known.level.cmp(&other.level).then_with(|| match (&known.what, &other.what) {
            (What::Var(v), What::Var(w)) => v.cmp(w),
            (What::Remainder(x, m), What::Remainder(y, n)) => m.cmp(n).then_with(|| self.compare_sums(x, y)),
            (What::Least(x), What::Least(y)) => self.compare_sums(x, y),
            (What::Opaque(x), What::Opaque(y)) => x.cmp(y),
            (x, y) => x.rank().cmp(&y.rank()),
        })
    }

    fn compare_sums(&self, x: &Sum, y: &Sum) -> Ordering {
        let sorted = |s: &Sum| {
            let mut terms: Vec<(Atom, i64)> = s.terms.iter().collect();
            terms.sort_by(|a, b| self.compare(a.0, b.0));
            terms
        };
        let whole = (x.terms.len(), x.den, x.constant).cmp(&(y.terms.len(), y.den, y.constant));
        whole.then_with(|| {
            let (x, y) = (sorted(x), sorted(y));
            let terms = x.iter().zip(&y).map(|(a, b)| self.compare(a.0, b.0).then(a.1.cmp(&b.1)));
            terms.fold(Ordering::Equal, Ordering::then)
        })
    }

    /// The least term of a sum by [`Form::compare`].
    pub(super) fn first_term(&self, s: &Sum) -> Option<(Atom, i64)> {
        s.terms.iter().min_by(|a, b| self.compare(a.0, b.0))
    }

    /// The terms of a sum that are remainders, by [`Form::compare`].
    pub(super) fn remainders_in_order(&self, s: &Sum) -> Vec<Term> {
        let is_remainder = |t: &Term| matches!(self.atoms[t.0 as usize].what, What::Remainder(..));
        let mut all: Vec<Term> = s.terms.iter().filter(is_remainder).collect();
        all.sort_by(|a, b| self.compare(a.0, b.0));
        all
    }
}
