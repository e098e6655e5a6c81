//! Bounds of sums: intervals of the terms added up, and better ones where terms belong together.
//!
//! `x - x mod 8` with `x` in `[0, 20]` is a multiple of 8 from 0 to 16, not anything from -7 to 20. Terms are related
//! as the digits of an index, as a sum and its remainder, as a minimum and its operands, and by constraints.

use super::form::{Form, LONG, What};
use super::sum::{Sum, divides, residue};
use super::terms::{Atom, Term};
use crate::maps::domain::{Interval, WideInterval};
use crate::numbers::product;
use std::cmp::Reverse;

/// The digits of an index in an atom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum IndexPart {
    /// None: the atom is no index.
    Apart,
    /// The digits below this modulus.
    Digits(i64),
    /// All digits.
    Whole,
}

impl Form {
    /// Closed bounds of a sum: those of its atoms added up, or better ones from related terms.
    pub(super) fn range(&self, s: &Sum) -> WideInterval {
        self.better_range(s, self.numerators(s.constant, &s.terms))
    }

    /// Closed bounds of a sum: the bounds of its atoms added up.
    pub(super) fn quick_range(&self, s: &Sum) -> WideInterval {
        let all = self.numerators(s.constant, &s.terms);
        if s.den == 1 { all } else { all.divided(s.den) }
    }

    /// The bounds of a sum with denominator 1, if they are in one period of `m`.
    pub(super) fn range_in(&self, s: &Sum, m: i64) -> Option<Interval> {
        let within = |i: WideInterval| i.narrow().filter(|i| i.lo <= i.hi && i.lo.div_euclid(m) == i.hi.div_euclid(m));
        let first = self.numerators(s.constant, &s.terms);
        let alone = || first.lo != first.hi && within(first).is_some() && self.facts.is_empty();
        if s.den == 1 && (alone() || self.is_apart(s)) {
            return within(first);
        }
        within(self.better_range(s, first))
    }

    /// Whether no relation between the terms is known.
    fn is_apart(&self, s: &Sum) -> bool {
        self.facts.is_empty() && s.terms.iter().all(|t| self.is_plain(t.0))
    }

    /// Better bounds of a sum than the bounds of its numerators.
    fn better_range(&self, s: &Sum, mut best: WideInterval) -> WideInterval {
        if s.terms.len() > 1 && s.terms.len() <= LONG && !self.is_apart(s) {
            if let Some(digits) = self.range_of_digits(s) {
                best = best.meet(digits);
            }
            for (direction, within) in &self.facts {
                self.range_by(s, direction, *within, &mut best);
            }
            for (a, c) in s.terms.iter() {
                match &self.atoms[a as usize].what {
                    // y - y mod m is a multiple of m next to the bounds of y.
                    What::Remainder(y, m) => {
                        if let Some(&(x, k)) = y.terms.last()
                            && product(c, k).is_some_and(|ck| s.coefficient(x) == -ck)
                            && let Some(whole) = y.plus_atom(a, -1, 1)
                        {
                            let multiples = multiples(self.numerators(y.constant, &y.terms), *m);
                            let within = WideInterval::one(-y.constant).plus(1, multiples);
                            self.range_by(s, &Sum { constant: 0, ..whole }, within, &mut best);
                        }
                    }
                    What::Least(x) => self.range_of_least(s, a, c, x, &mut best),
                    What::Var(_) | What::Opaque(_) => {}
                }
            }
        }
        if s.den == 1 {
            return best;
        }
        // Bounds of an integer round inwards.
        best.divided(s.den)
    }

    /// Bounds of the numerators of `s`, with terms paired as `p - y mod s` for each `p` that is `y` modulo `s`, a
    /// variable or a remainder of a multiple of `s`: a digit of its own, a multiple of `s` next to the bounds of `p`.
    /// `None` without such a pair.
    fn range_of_digits(&self, s: &Sum) -> Option<WideInterval> {
        // The atom with the most digits first.
        let part = |a: Atom| match &self.atoms[a as usize].what {
            What::Var(_) => IndexPart::Whole,
            What::Remainder(_, m) => IndexPart::Digits(*m),
            What::Least(_) | What::Opaque(_) => IndexPart::Apart,
        };
        if !s.terms.iter().any(|t| matches!(self.atoms[t.0 as usize].what, What::Remainder(..))) {
            return None;
        }
        let (mut few, mut many) = ([(IndexPart::Apart, 0, 0); 8], Vec::new());
        let terms: &mut [(IndexPart, Atom, i64)] = if s.terms.len() <= few.len() {
            &mut few[..s.terms.len()]
        } else {
            many.resize(s.terms.len(), (IndexPart::Apart, 0, 0));
            &mut many
        };
        for (place, t) in terms.iter_mut().zip(s.terms.iter()) {
            *place = (part(t.0), t.0, t.1);
        }
        // The lowest digit last.
        terms.sort_unstable_by_key(|t| Reverse((t.0, t.1)));
        let (mut bounds, mut any) = (WideInterval::one(s.constant), false);
        for k in 0..terms.len() {
            let (_, p, c) = terms[k];
            let known = &self.atoms[p as usize];
            let below = (k + 1..terms.len()).find_map(|j| match terms[j].0 {
                IndexPart::Digits(m) if self.has_digit(p, terms[j].1) => Some((j, m)),
                _ => None,
            });
            let within = match below {
                Some((j, m)) => {
                    any = true;
                    terms[j].2 = terms[j].2.checked_add(c)?;
                    multiples(known.within, m)
                }
                None => known.within,
            };
            if c != 0 {
                bounds = bounds.plus(c, within);
            }
        }
        any.then_some(bounds)
    }

    /// Whether `digit`, a remainder `y mod s`, equals `p` modulo `s`.
    pub(super) fn has_digit(&self, p: Atom, digit: Atom) -> bool {
        let What::Remainder(y, s) = &self.atoms[digit as usize].what else { return false };
        match &self.atoms[p as usize].what {
            What::Var(_) => y.constant == 0 && y.terms.only() == Some((p, 1)),
            What::Remainder(x, m) => {
                let mut own = x.terms.iter().map(|t| (t.0, residue(t.1, *s))).filter(|t| t.1 != 0);
                m > s
                    && divides(*s, *m)
                    && residue(x.constant, *s) == residue(y.constant, *s)
                    && y.terms.iter().all(|t| own.next() == Some(t))
                    && own.next().is_none()
            }
            What::Least(_) | What::Opaque(_) => false,
        }
    }

    /// Tightens the bounds of the numerators of `s` by the bounds of a direction that is a part of them.
    fn range_by(&self, s: &Sum, direction: &Sum, within: WideInterval, best: &mut WideInterval) {
        let Some(&(a, c)) = direction.terms.first() else { return };
        let num = s.coefficient(a);
        if num == 0 || num % c != 0 {
            return;
        }
        // The numerators are k * direction + rest.
        let k = num / c;
        let rest = s.numerators().plus(direction, -k, 1);
        let Some(rest) = rest.filter(|r| r.terms.len() < s.terms.len()) else { return };
        *best = best.meet(self.numerators(rest.constant, &rest.terms).plus(k, within));
    }

    /// Tightens the bounds of the numerators of `s`, which has the term `c * a` with `a = min(x, 0)`: for positive `c`
    /// they are the minimum of the rest and the rest with `c * x`, for negative `c` the maximum.
    fn range_of_least(&self, s: &Sum, a: Atom, c: i64, x: &Sum, best: &mut WideInterval) {
        let Some(rest) = s.numerators().plus_atom(a, -c, 1) else { return };
        let Some(with) = rest.plus(x, c, 1).filter(|with| with.terms.len() < s.terms.len()) else { return };
        let of = |s: &Sum| self.numerators(s.constant, &s.terms);
        let (a, b) = (of(&rest), of(&with));
        *best = best.meet(match c > 0 {
            true => WideInterval::new(a.lo.min(b.lo), a.hi.min(b.hi)),
            false => WideInterval::new(a.lo.max(b.lo), a.hi.max(b.hi)),
        });
    }

    /// Closed bounds of a sum with denominator 1: its terms' intervals added up.
    pub(super) fn numerators(&self, constant: i64, terms: &[Term]) -> WideInterval {
        let near = terms.iter().try_fold(Interval::new(constant, constant), |sum, &(a, c)| {
            let i = self.atoms[a as usize].within.narrow()?;
            let (x, y) = (i.lo.checked_mul(c)?, i.hi.checked_mul(c)?);
            Some(Interval::new(sum.lo.checked_add(x.min(y))?, sum.hi.checked_add(x.max(y))?))
        });
        near.map_or_else(
            || {
                let start = WideInterval::one(constant);
                terms.iter().fold(start, |sum, &(a, c)| sum.plus(c, self.atoms[a as usize].within))
            },
            WideInterval::from,
        )
    }
}

/// The bounds of the greatest multiples of `m > 0` that are not above numbers with these bounds.
fn multiples(i: WideInterval, m: i64) -> WideInterval {
    let below = |x: i128| x.checked_sub(x.rem_euclid(m.into()));
    WideInterval::new(i.least().and_then(below).unwrap_or(i128::MIN), i.most().and_then(below).unwrap_or(i128::MAX))
}
