//! Simplifying a domain: the same set of points, written with tight intervals and few, small constraints.
//!
//! A constraint is peeled until it is about a primitive sum: `x floordiv 8 in [5, 11]` is `x in [40, 95]`,
//! `2*x + 2*y - 1 in [0, 8]` is `x + y in [1, 4]`, and `3*x mod 6 in [3, 3]` is `x mod 2 in [1, 1]`. Constraints on the
//! same sum meet; congruences meet by the Chinese remainder theorem (`x mod 6 in [3, 3]` and `x mod 7 in [5, 5]` are
//! `x mod 42 in [33, 33]`). Bounds then go through sums to each variable: `6*x + y in [0, 599]` with `y >= 0` says
//! `x <= 99`. A constraint implied by the intervals or by other constraints is dropped.
//!
//! Each step keeps the set: an interval is tightened only by the constraints that are kept.
//! The outcome depends on the set of constraints, not on their order.

use super::form::Form;
use super::tightening::{Empty, Tightening};
use crate::expr::Expr;
use crate::expr::cost;
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::IndexingMap;
use crate::maps::steps::{Claim, Log, Rule, Using};
use std::collections::BTreeMap;

/// The most simplifications of a domain until it no longer changes, and the most constraints simplified by each other.
const ROUNDS: usize = 8;
const PAIRED: usize = 12;

/// The most points of a domain that is enumerated.
const POINTS: u128 = 1000;

/// The same domain, simplified; `None` if it is found to be empty.
pub(crate) fn simplify_domain(domain: &Domain) -> Option<Domain> {
    simplify_domain_with(domain, &mut None)
}

/// [`simplify_domain`] that logs its steps.
pub(crate) fn simplify_domain_with(domain: &Domain, log: &mut Option<&mut Log>) -> Option<Domain> {
    if domain.constraints.is_empty() && domain.vars.iter().all(|i| i.lo <= i.hi) {
        return Some(domain.clone());
    }
    let mut state = Tightening {
        vars: domain.vars.clone(),
        bounds: BTreeMap::new(),
        congruences: BTreeMap::new(),
        log: log.is_some().then(|| Log::new(Using::Box)),
    };
    let mut constraints = domain.constraints.clone();
    let done = state.run(&mut constraints);
    if let (Some(log), Some(own)) = (log.as_mut(), state.log.take()) {
        log.append(own);
    }
    done.ok()?;
    Some(Domain { vars: state.vars, constraints })
}

impl Tightening {
    fn run(&mut self, constraints: &mut Vec<(Expr, Interval)>) -> Result<(), Empty> {
        if let Some(v) = self.vars.iter().position(|i| i.lo > i.hi) {
            return self.nothing(vec![(Expr::Var(v), self.vars[v])]);
        }
        let before = (self.vars.clone(), constraints.clone());
        if !self.settled(constraints, true)? {
            // Bounds that creep from constraint to constraint are reset, so that they creep no further.
            (self.vars, *constraints) = before;
            self.log = self.log.take().map(|log| Log::new(log.using));
            self.settled(constraints, false)?;
        }
        Ok(())
    }

    /// Simplifies until nothing changes; returns whether that was reached.
    fn settled(&mut self, constraints: &mut Vec<(Expr, Interval)>, propagating: bool) -> Result<bool, Empty> {
        for _ in 0..ROUNDS {
            let before = (self.vars.clone(), constraints.clone());
            self.bounds.clear();
            self.congruences.clear();
            let mut form = self.form();
            for (e, i) in constraints.iter() {
                self.take(&mut form, e.clone(), *i)?;
            }
            self.merge_congruences()?;
            if propagating {
                self.propagate()?;
            }
            *constraints = self.listed();
            if constraints.len() <= PAIRED {
                self.hold_against_each_other(constraints)?;
            }
            if *constraints == before.1 && self.vars == before.0 {
                self.enumerate(constraints)?;
                if self.vars == before.0 {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Narrows the intervals of a domain of few points to the points that satisfy all constraints.
    fn enumerate(&mut self, constraints: &[(Expr, Interval)]) -> Result<(), Empty> {
        let domain = Domain { vars: self.vars.clone(), constraints: constraints.to_vec() };
        let map = IndexingMap { domain, ..IndexingMap::new(self.vars.clone(), Vec::new()) };
        if constraints.is_empty() || map.box_points() > POINTS {
            return Ok(());
        }
        let mut found: Option<Vec<Interval>> = None;
        for point in map.boxed_points() {
            match map.contains(&point) {
                Some(true) => {}
                Some(false) => continue,
                // A value that does not fit ends the enumeration without an answer.
                None => return Ok(()),
            }
            let all = found.get_or_insert_with(|| point.iter().map(|x| Interval::new(*x, *x)).collect());
            for (i, x) in all.iter_mut().zip(&point) {
                *i = Interval::new(i.lo.min(*x), i.hi.max(*x));
            }
            if *all == self.vars {
                return Ok(());
            }
        }
        let Some(found) = found else {
            self.note(Rule::Enumerated, || Claim::Nothing(Vec::new()), None);
            return Err(Empty);
        };
        for (v, inside) in found.into_iter().enumerate() {
            let known = std::mem::replace(&mut self.vars[v], inside);
            if known != inside {
                self.note(Rule::Enumerated, || Claim::Interval(v, known, inside), None);
            }
        }
        Ok(())
    }

    /// The present constraints.
    fn listed(&self) -> Vec<(Expr, Interval)> {
        let mut all: Vec<(Expr, Interval)> = self.bounds.iter().map(|(e, i)| (e.clone(), *i)).collect();
        for (e, residues) in &self.congruences {
            all.extend(residues.iter().map(|(r, m)| (e.clone().modulo(*m), Interval::new(*r, *r))));
        }
        all.sort();
        all
    }

    /// Simplifies each constraint by the others, and drops implied ones.
    fn hold_against_each_other(&mut self, constraints: &mut Vec<(Expr, Interval)>) -> Result<(), Empty> {
        let mut k = 0;
        while constraints.len() > 1 && k < constraints.len() {
            let mut form = Form::of_box(&self.vars);
            let others = self.log.as_ref().map(|_| Log::new(Using::Others(constraints[k].clone())));
            form.log_with(others);
            for (j, (e, i)) in constraints.iter().enumerate() {
                if j != k {
                    let _ = form.assume(e, *i);
                }
            }
            let (e, i) = constraints[k].clone();
            let range = form.bounds(&e);
            let said = range.narrow().map(|range| (e.clone(), range));
            if range.lo > i.hi.into() || range.hi < i.lo.into() {
                if let Some(log) = &mut form.log {
                    log.add(Rule::Empty, Claim::Nothing(vec![(e, i)]), said);
                }
                self.log_from(&mut form);
                return Err(Empty);
            }
            if i.holds(range) {
                if let Some(log) = &mut form.log {
                    let dropped = Claim::Constraints(vec![(e, i)], Vec::new());
                    log.add(Rule::Implied, dropped, said);
                }
                self.log_from(&mut form);
                constraints.remove(k);
                continue;
            }
            let simple = form.simplify(&e);
            if cost(&simple) < cost(&e) {
                form.note_same(&e, &simple, |before, after| Claim::Constraints(vec![(before, i)], vec![(after, i)]));
                self.log_from(&mut form);
                constraints[k].0 = simple;
            }
            k += 1;
        }
        constraints.sort();
        Ok(())
    }
}
