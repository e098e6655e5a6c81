//! The state during simplification of a domain: its intervals and constraints, and the logged steps.

use super::form::Form;
use crate::expr::Expr;
use crate::maps::domain::{Interval, WideInterval};
use crate::maps::steps::{Claim, Constraint, Log, Rule, Using};
use std::collections::{BTreeMap, BTreeSet};

/// The domain has no point.
pub(super) struct Empty;

/// A domain during simplification.
pub(super) struct Tightening {
    /// The interval of each variable.
    pub vars: Vec<Interval>,
    /// Expressions in normal form, with their interval.
    pub bounds: BTreeMap<Expr, Interval>,
    /// Expressions with their residue and modulus.
    pub congruences: BTreeMap<Expr, BTreeSet<(i64, i64)>>,
    pub log: Option<Log>,
}

impl Tightening {
    /// Logs a step that uses no constraints but those it names.
    pub(super) fn note(&mut self, rule: Rule, claim: impl FnOnce() -> Claim, fact: Option<&Constraint>) {
        if let Some(log) = self.log.as_mut().filter(|log| log.open()) {
            log.add(rule, claim(), fact.cloned());
        }
    }

    /// Logs that one constraint becomes another.
    pub(super) fn note_one(
        &mut self,
        rule: Rule,
        before: (&Expr, Interval),
        after: (&Expr, Interval),
        fact: Option<&Constraint>,
    ) {
        let own = |c: (&Expr, Interval)| vec![(c.0.clone(), c.1)];
        if (before.0, before.1) != (after.0, after.1) {
            self.note(rule, || Claim::Constraints(own(before), own(after)), fact);
        }
    }

    /// Fails: these constraints leave no point.
    pub(super) fn nothing<T>(&mut self, why: Vec<Constraint>) -> Result<T, Empty> {
        self.note(Rule::Empty, || Claim::Nothing(why), None);
        Err(Empty)
    }

    /// Logs that a constraint is dropped, since the intervals imply it.
    pub(super) fn drop(&mut self, e: &Expr, i: Interval, range: Option<Interval>) {
        let fact = range.map(|range| (e.clone(), range));
        self.note(Rule::Implied, || Claim::Constraints(vec![(e.clone(), i)], Vec::new()), fact.as_ref());
    }

    /// Takes over the log of a form, and continues it.
    pub(super) fn log_from(&mut self, form: &mut Form) {
        if let (Some(log), Some(own)) = (&mut self.log, form.log.take()) {
            form.log = Some(Log::new(own.using.clone()));
            log.append(own);
        }
    }

    /// The normal form over the intervals.
    pub(super) fn form(&self) -> Form {
        let mut form = Form::of_box(&self.vars);
        form.log_with(self.log.is_some().then(|| Log::new(Using::Box)));
        form
    }

    /// Narrows the interval of a variable by a constraint.
    pub(super) fn narrow(&mut self, v: usize, i: WideInterval, by: &Constraint) -> Result<(), Empty> {
        let known = self.vars[v];
        // A bound beyond 64 bits is outside of the old interval, so nothing is left.
        let inside = i.meet(known.into()).narrow().unwrap_or(Interval::EMPTY);
        if inside != known {
            self.vars[v] = inside;
            self.note(Rule::Bounds, || Claim::Interval(v, known, inside), Some(by));
        }
        if inside.lo > inside.hi { self.nothing(vec![(Expr::Var(v), inside)]) } else { Ok(()) }
    }

    /// Moves the bounds of `v` to values with `(v + shift) mod m` in `within`.
    pub(super) fn narrow_to_residues(
        &mut self,
        v: usize,
        m: i64,
        within: WideInterval,
        shift: i64,
        by: &Constraint,
    ) -> Result<(), Empty> {
        let Interval { lo, hi } = self.vars[v];
        let m = i128::from(m);
        let (a, b) = (within.lo.max(0), within.hi.min(m - 1));
        if a > b {
            return self.nothing(vec![by.clone()]);
        }
        let at = |x: i64| (i128::from(x) + i128::from(shift)).rem_euclid(m);
        // Up to the next period's a, down to the last period's b.
        let up = |x: i64, r: i128| {
            if r < a {
                x as i128 + a - r
            } else if r > b {
                x as i128 + a - r + m
            } else {
                x as i128
            }
        };
        let down = |x: i64, r: i128| {
            if r > b {
                x as i128 + b - r
            } else if r < a {
                x as i128 + b - r - m
            } else {
                x as i128
            }
        };
        let (lo, hi) = (up(lo, at(lo)), down(hi, at(hi)));
        if lo > hi {
            // No residue is in reach, so no value is left.
            return self.narrow(v, Interval::EMPTY.into(), by);
        }
        self.narrow(v, WideInterval::new(lo, hi), by)
    }
}
