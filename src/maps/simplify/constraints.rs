//! Simplifying a domain: the same set of points, written with tight intervals and few, small constraints.
//!
//! A constraint is peeled until it is about a primitive sum: `x floordiv 8 in [5, 11]` is `x in [40, 95]`,
//! `2*x + 2*y - 1 in [0, 8]` is `x + y in [1, 4]`, and `3*x mod 6 in [3, 3]` is `x mod 2 in [1, 1]`. Constraints on the
//! same sum meet; congruences meet by the Chinese remainder theorem (`x mod 6 in [3, 3]` and `x mod 7 in [5, 5]` are
//! `x mod 42 in [33, 33]`). Bounds then go through sums to each variable: `6*x + y in [0, 599]` with `y >= 0` says
//! `x <= 99`. A constraint that the intervals, or the other constraints, imply is dropped.
//!
//! Each step keeps the set: an interval is tightened only by the constraints that are kept.
//! The outcome depends on the set of constraints, not on their order.

use super::facts::{chinese, near_inverse};
use super::form::Form;
use super::sum::{Sum, divides, product_residue, residue};
use super::terms::Atom;
use crate::expr::Expr;
use crate::expr::cost;
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::IndexingMap;
use crate::maps::steps::{Claim, Constraint, Log, Rule, Using};
use crate::numbers::near_gcd;
use std::collections::{BTreeMap, BTreeSet};

/// How often bounds are sent through all constraints, and how many constraints may be held against each other.
const ROUNDS: usize = 8;
const PAIRED: usize = 12;

/// The most points of a domain of which each is looked at.
const POINTS: u128 = 1000;

/// How many operations are taken off a constraint.
const PEELED: usize = 64;

/// There is no point.
struct Empty;

/// The same domain, simplified; `None` if it has no point that anybody could find out.
pub(crate) fn simplify_domain(domain: &Domain) -> Option<Domain> {
    simplify_domain_with(domain, &mut None)
}

/// [`simplify_domain`] with its steps written down.
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

struct Tightening {
    vars: Vec<Interval>,
    /// Expressions in normal form, with their interval.
    bounds: BTreeMap<Expr, Interval>,
    /// Expressions with their residue and modulus.
    congruences: BTreeMap<Expr, BTreeSet<(i64, i64)>>,
    log: Option<Log>,
}

impl Tightening {
    /// Writes a step down, which uses no constraints but those it names.
    fn note(&mut self, rule: Rule, claim: impl FnOnce() -> Claim, fact: Option<&Constraint>) {
        if let Some(log) = self.log.as_mut().filter(|log| log.open()) {
            log.add(rule, claim(), fact.cloned());
        }
    }

    /// Writes down that one constraint becomes another.
    fn note_one(&mut self, rule: Rule, before: (&Expr, Interval), after: (&Expr, Interval), fact: Option<&Constraint>) {
        let own = |c: (&Expr, Interval)| vec![(c.0.clone(), c.1)];
        if (before.0, before.1) != (after.0, after.1) {
            self.note(rule, || Claim::Constraints(own(before), own(after)), fact);
        }
    }

    /// There is no point: these constraints leave none.
    fn nothing<T>(&mut self, why: Vec<Constraint>) -> Result<T, Empty> {
        self.note(Rule::Empty, || Claim::Nothing(why), None);
        Err(Empty)
    }

    fn run(&mut self, constraints: &mut Vec<(Expr, Interval)>) -> Result<(), Empty> {
        if let Some(v) = self.vars.iter().position(|i| i.lo > i.hi) {
            return self.nothing(vec![(Expr::Var(v), self.vars[v])]);
        }
        let before = (self.vars.clone(), constraints.clone());
        if !self.settled(constraints, true)? {
            // Bounds that creep from constraint to constraint stay where they were, so that they creep no further.
            (self.vars, *constraints) = before;
            self.log = self.log.take().map(|log| Log::new(log.using));
            self.settled(constraints, false)?;
        }
        Ok(())
    }

    /// Simplifies until nothing changes; whether that is so in the end.
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

    /// Narrows the intervals of few points to those that satisfy all constraints.
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
                // A value that does not fit decides nothing.
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

    /// The constraints as they now are.
    fn listed(&self) -> Vec<(Expr, Interval)> {
        let mut all: Vec<(Expr, Interval)> = self.bounds.iter().map(|(e, i)| (e.clone(), *i)).collect();
        for (e, residues) in &self.congruences {
            all.extend(residues.iter().map(|(r, m)| (e.clone().modulo(*m), Interval::new(*r, *r))));
        }
        all.sort();
        all
    }

    /// Peels a constraint, and keeps what is left of it: as an interval of a variable, a congruence, or bounds of a
    /// sum.
    fn take(&mut self, form: &mut Form, e: Expr, i: Interval) -> Result<(), Empty> {
        // As a congruence first: a remainder that is written in another way may hide one.
        if let Expr::Mod(x, m) = &e
            && i.lo == i.hi
            && self.take_congruence(form, (&e, i), x, *m)?
        {
            return Ok(());
        }
        let (e, i) = self.peeled(form, e, i)?;
        match &e {
            Expr::Const(c) if i.lo <= *c && *c <= i.hi => self.drop(&e, i, None),
            Expr::Const(_) => return self.nothing(vec![(e.clone(), i)]),
            Expr::Var(v) => {
                self.narrow(*v, i, &(e.clone(), i))?;
                self.drop(&e, i, None);
            }
            Expr::Mod(x, m) if i.lo == i.hi && self.take_congruence(form, (&e, i), x, *m)? => {}
            _ => return self.take_bounds(form, e, i),
        }
        Ok(())
    }

    /// A constraint simplified, with the outermost operations taken off as long as that helps.
    fn peeled(&mut self, form: &mut Form, mut e: Expr, mut i: Interval) -> Result<Constraint, Empty> {
        for _ in 0..PEELED {
            if i.lo > i.hi {
                break;
            }
            let simple = form.simplify(&e);
            form.note_same(&e, &simple, |before, after| Claim::Constraints(vec![(before, i)], vec![(after, i)]));
            self.log_from(form);
            e = simple;
            let Peeled::More(peeled, inside) = peel(&e, i) else { break };
            let rule = if matches!(e, Expr::FloorDiv(..)) { Rule::Quotient } else { Rule::Scale };
            self.note_one(rule, (&e, i), (&peeled, inside), None);
            (e, i) = (peeled, inside);
        }
        if i.lo > i.hi { self.nothing(vec![(e, i)]) } else { Ok((e, i)) }
    }

    /// Keeps `x mod m = r` as a congruence, if it can be one; returns whether it is done with.
    fn take_congruence(&mut self, form: &mut Form, (e, i): (&Expr, Interval), x: &Expr, m: i64) -> Result<bool, Empty> {
        let found = match congruence(form, x, m, i.lo) {
            Err(Empty) => return self.nothing(vec![(e.clone(), i)]),
            Ok(None) => return Ok(false),
            Ok(Some(found)) => found,
        };
        self.log_from(form);
        let (x, r, m) = found;
        if m == 1 {
            self.drop(e, i, None);
            return Ok(true);
        }
        let inside = Interval::new(r, r);
        if self.log.is_some() {
            let _ = form.normal(&x);
            self.log_from(form);
            self.note_one(Rule::Residue, (e, i), (&x.clone().modulo(m), inside), None);
        }
        let new = self.congruences.entry(x.clone()).or_default().insert((r, m));
        if !new {
            let same = (x.modulo(m), inside);
            self.note(Rule::Meet, || Claim::Constraints(vec![same.clone(); 2], vec![same]), None);
        }
        Ok(true)
    }

    /// Keeps a constraint as bounds of a primitive sum, met with those that are known of it; drops it where the
    /// intervals of the variables say it anyway.
    fn take_bounds(&mut self, form: &mut Form, e: Expr, i: Interval) -> Result<(), Empty> {
        let before = (e.clone(), i);
        let (e, i) = primitive(form, e, i);
        let range = form.interval(&e);
        self.log_from(form);
        self.note_one(Rule::Scale, (&before.0, before.1), (&e, i), None);
        // The ends that the intervals say anyway are written as they are.
        let inside = Interval::new(i.lo.max(range.lo), i.hi.min(range.hi));
        if inside.lo > inside.hi {
            return self.nothing(vec![(e, i)]);
        }
        if inside == range {
            self.drop(&e, i, Some(range));
            return Ok(());
        }
        self.note_one(Rule::Ends, (&e, i), (&e, inside), Some(&(e.clone(), range)));
        let Some(known) = self.bounds.get(&e).copied() else {
            self.bounds.insert(e, inside);
            return Ok(());
        };
        let both = Interval::new(known.lo.max(inside.lo), known.hi.min(inside.hi));
        let two = vec![(e.clone(), known), (e.clone(), inside)];
        if both.lo > both.hi {
            return self.nothing(two);
        }
        self.note(Rule::Meet, || Claim::Constraints(two, vec![(e.clone(), both)]), None);
        self.bounds.insert(e, both);
        Ok(())
    }

    /// Writes down that a constraint is left out, since the intervals imply it.
    fn drop(&mut self, e: &Expr, i: Interval, range: Option<Interval>) {
        let fact = range.map(|range| (e.clone(), range));
        self.note(Rule::Implied, || Claim::Constraints(vec![(e.clone(), i)], Vec::new()), fact.as_ref());
    }

    /// Writes down what a form has noted, and goes on with it.
    fn log_from(&mut self, form: &mut Form) {
        if let (Some(log), Some(own)) = (&mut self.log, form.log.take()) {
            form.log = Some(Log::new(own.using.clone()));
            log.append(own);
        }
    }

    /// The normal form over the intervals.
    fn form(&self) -> Form {
        let mut form = Form::of_box(&self.vars);
        form.log_with(self.log.is_some().then(|| Log::new(Using::Box)));
        form
    }

    /// Narrows the interval of a variable, as a constraint says.
    fn narrow(&mut self, v: usize, i: Interval, by: &Constraint) -> Result<(), Empty> {
        let known = self.vars[v];
        let inside = Interval::new(known.lo.max(i.lo), known.hi.min(i.hi));
        if inside != known {
            self.vars[v] = inside;
            self.note(Rule::Bounds, || Claim::Interval(v, known, inside), Some(by));
        }
        if inside.lo > inside.hi { self.nothing(vec![(Expr::Var(v), inside)]) } else { Ok(()) }
    }

    /// Joins the residues of each expression into one; those of a variable move its bounds.
    fn merge_congruences(&mut self) -> Result<(), Empty> {
        let all = std::mem::take(&mut self.congruences);
        for (e, residues) in all {
            let mut merged: Vec<(i64, i64)> = Vec::new();
            for (r, m) in residues {
                let mut next = (r, m);
                let mut k = 0;
                while k < merged.len() {
                    let said = |(r, m): (i64, i64)| (Expr::Mod(e.clone().into(), m), Interval::new(r, r));
                    let two = [next, merged[k]];
                    if !divides(near_gcd(next.1, merged[k].1), next.0 - merged[k].0) {
                        return self.nothing(two.map(said).into());
                    }
                    match chinese(next, merged[k]) {
                        Some(both) => {
                            self.note(
                                Rule::Chinese,
                                || Claim::Constraints(two.map(said).into(), vec![said(both)]),
                                None,
                            );
                            next = both;
                            merged.remove(k);
                        }
                        None => k += 1,
                    }
                }
                merged.push(next);
            }
            for (r, m) in merged {
                if let Expr::Var(v) = e {
                    let (residue, inside) = (e.clone().modulo(m), Interval::new(r, r));
                    let given = (residue, inside);
                    self.narrow_to_residues(v, m, inside, 0, &given)?;
                    if self.vars[v].lo == self.vars[v].hi {
                        self.drop(&given.0, inside, None);
                        continue;
                    }
                }
                self.congruences.entry(e.clone()).or_default().insert((r, m));
            }
        }
        Ok(())
    }

    /// Moves the bounds of `v` to values where `(v + shift) mod m` is in `within`.
    fn narrow_to_residues(
        &mut self,
        v: usize,
        m: i64,
        within: Interval,
        shift: i64,
        by: &Constraint,
    ) -> Result<(), Empty> {
        let Interval { lo, hi } = self.vars[v];
        let (m, a, b) = (i128::from(m), i128::from(within.lo.max(0)), i128::from(within.hi).min(i128::from(m) - 1));
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
        // What has no bound keeps none.
        let lo = if lo == i64::MIN { lo.into() } else { up(lo, at(lo)) };
        let hi = if hi == i64::MAX { hi.into() } else { down(hi, at(hi)) };
        if lo > hi {
            // No residue is in reach, so the first value beyond the old bounds is the first one left.
            let none = Interval::new(1, 0);
            return self.narrow(v, none, by);
        }
        // Both are between the old bounds.
        self.narrow(v, Interval::new(lo as i64, hi as i64), by)
    }

    /// Sends each bound through its sum to the terms, and on to the variables in them.
    fn propagate(&mut self) -> Result<(), Empty> {
        for _ in 0..ROUNDS {
            let before = self.vars.clone();
            let mut form = Form::of_box(&self.vars);
            for (e, i) in self.bounds.clone() {
                let by = (e, i);
                self.through(&mut form, &by.0, i, &by, 0)?;
                if i.lo == i.hi {
                    self.through_equality(&mut form, &by)?;
                }
            }
            for (e, residues) in self.congruences.clone() {
                if let Expr::Var(v) = &e {
                    for (r, m) in residues {
                        let inside = Interval::new(r, r);
                        self.narrow_to_residues(*v, m, inside, 0, &(e.clone().modulo(m), inside))?;
                    }
                }
            }
            if self.vars == before {
                break;
            }
        }
        Ok(())
    }

    /// Moves the bounds of each variable of `c*x + rest = k` to values that solve it modulo the common divisor of the
    /// rest: `x + 16*y = 23` leaves `x` only values that are 7 modulo 16. With what other congruences say of `x` and the
    /// rest, that may be none.
    fn through_equality(&mut self, form: &mut Form, by: &Constraint) -> Result<(), Empty> {
        let Some(sum) = form.normal(&by.0).filter(|s| s.den == 1 && s.terms.len() <= PAIRED) else { return Ok(()) };
        let known = |v: usize| self.congruences.get(&Expr::Var(v)).and_then(|all| all.first()).copied();
        let known: Vec<_> = (0..self.vars.len()).map(known).map(|c| c.unwrap_or((0, 1))).collect();
        for (a, c) in sum.terms.iter() {
            let Some((m, r)) = left_by(&sum, a, by.1.lo, &known) else { continue };
            let Some(v) = Some(a as usize).filter(|v| *v < known.len()) else { continue };
            let g = near_gcd(c, m);
            if m == 0 || m == g && divides(g, r) {
                continue;
            }
            let n = m / g;
            let new = near_inverse(c / g, n).map(|inverse| (product_residue(r / g, inverse, n), n));
            let own = known[v];
            let Some(new) = new.filter(|_| divides(g, r)).filter(|new| divides(near_gcd(new.1, own.1), new.0 - own.0))
            else {
                self.note(Rule::Divisible, || Claim::Nothing(vec![by.clone()]), None);
                return Err(Empty);
            };
            let Some((r, n)) = chinese(own, new) else { continue };
            let Interval { lo, hi } = self.vars[v];
            if lo == i64::MIN || hi == i64::MAX {
                continue;
            }
            let ahead = |x: i64| (i128::from(r) - i128::from(x)).rem_euclid(n.into());
            let behind = |x: i64| (i128::from(x) - i128::from(r)).rem_euclid(n.into());
            let (first, last) = (i128::from(lo) + ahead(lo), i128::from(hi) - behind(hi));
            let inside = match first > last {
                true => Interval::new(lo.max(1), hi.min(0)),
                // Both are between the old bounds.
                false => Interval::new(first as i64, last as i64),
            };
            if inside != self.vars[v] {
                let before = std::mem::replace(&mut self.vars[v], inside);
                self.note(Rule::Divisible, || Claim::Interval(v, before, inside), Some(by));
            }
            if inside.lo > inside.hi {
                return self.nothing(vec![(Expr::Var(v), inside)]);
            }
        }
        Ok(())
    }

    /// Sends the bounds of an expression to what is inside it, down to variables, whose intervals they narrow.
    fn through(&mut self, form: &mut Form, e: &Expr, i: Interval, by: &Constraint, depth: u32) -> Result<(), Empty> {
        if depth > 8 {
            return Ok(());
        }
        match e {
            Expr::Const(c) if i.lo <= *c && *c <= i.hi => return Ok(()),
            Expr::Const(_) => return self.nothing(vec![by.clone()]),
            Expr::Var(v) => return self.narrow(*v, i, by),
            Expr::Mod(x, m) => {
                let terms = x.terms();
                return match terms[..] {
                    [Expr::Var(v)] => self.narrow_to_residues(*v, *m, i, 0, by),
                    [Expr::Var(v), Expr::Const(c)] => self.narrow_to_residues(*v, *m, i, *c, by),
                    _ => Ok(()),
                };
            }
            _ => {}
        }
        if let Expr::Min(a, b) | Expr::Max(a, b) = e {
            // Both sides of a minimum are at least what it is.
            let half =
                if matches!(e, Expr::Min(..)) { Interval::new(i.lo, i64::MAX) } else { Interval::new(i64::MIN, i.hi) };
            self.through(form, a, half, by, depth + 1)?;
            return self.through(form, b, half, by, depth + 1);
        }
        if let Peeled::More(inner, inside) = peel(e, i) {
            return self.through(form, &inner, inside, by, depth + 1);
        }
        self.through_sum(form, e, i, by, depth)
    }

    /// Sends the bounds of a sum to each term: what the others leave for it.
    fn through_sum(
        &mut self,
        form: &mut Form,
        e: &Expr,
        i: Interval,
        by: &Constraint,
        depth: u32,
    ) -> Result<(), Empty> {
        let terms = e.terms();
        if terms.len() < 2 {
            return Ok(());
        }
        let ranges: Vec<Interval> = terms.iter().map(|t| form.interval(t)).collect();
        let bounded = |x: i64| x != i64::MIN && x != i64::MAX;
        let lows: i128 = ranges.iter().map(|r| i128::from(r.lo)).sum();
        let highs: i128 = ranges.iter().map(|r| i128::from(r.hi)).sum();
        let (free_lows, free_highs) =
            (ranges.iter().filter(|r| !bounded(r.lo)).count(), ranges.iter().filter(|r| !bounded(r.hi)).count());
        let clamp = |x: i128| x.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        for (term, range) in terms.iter().zip(&ranges) {
            // What the others leave for this term.
            let hi = match free_lows - usize::from(!bounded(range.lo)) {
                0 if i.hi != i64::MAX => clamp(i128::from(i.hi) - (lows - i128::from(range.lo))),
                _ => i64::MAX,
            };
            let lo = match free_highs - usize::from(!bounded(range.hi)) {
                0 if i.lo != i64::MIN => clamp(i128::from(i.lo) - (highs - i128::from(range.hi))),
                _ => i64::MIN,
            };
            if lo > range.lo || hi < range.hi {
                self.through(form, term, Interval::new(lo, hi), by, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Simplifies each constraint by the others, and drops those that the others say.
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
            let range = form.interval(&e);
            if range.lo > i.hi || range.hi < i.lo {
                if let Some(log) = &mut form.log {
                    log.add(Rule::Empty, Claim::Nothing(vec![(e.clone(), i)]), Some((e, range)));
                }
                self.log_from(&mut form);
                return Err(Empty);
            }
            if i.lo <= range.lo && range.hi <= i.hi {
                if let Some(log) = &mut form.log {
                    let dropped = Claim::Constraints(vec![(e.clone(), i)], Vec::new());
                    log.add(Rule::Implied, dropped, Some((e, range)));
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

/// What `sum = value` says of the term with this atom: the modulus of all other terms together, 0 where there is none, and
/// the residue of this one; residues of variables with their moduli are known.
fn left_by(sum: &Sum, atom: Atom, value: i64, known: &[(i64, i64)]) -> Option<(i64, i64)> {
    let (mut g, mut left) = (0, i128::from(value) - i128::from(sum.constant));
    for (a, c) in sum.terms.iter().filter(|t| t.0 != atom) {
        let (r, m) = known.get(a as usize).copied().unwrap_or((0, 1));
        g = near_gcd(g, c.checked_mul(m).filter(|cm| *cm != i64::MIN)?);
        left -= i128::from(c) * i128::from(r);
    }
    Some((g, left.try_into().ok()?))
}

enum Peeled {
    /// The same constraint, on a smaller expression.
    More(Expr, Interval),
    Done,
}

/// Takes the outermost operation off a constraint, where that leaves an equivalent one.
fn peel(e: &Expr, i: Interval) -> Peeled {
    let open = i.lo == i64::MIN || i.hi == i64::MAX;
    match e {
        Expr::Mul(x, c) if *c != 0 && !open => {
            let (a, b, c) = (i128::from(i.lo), i128::from(i.hi), i128::from(*c));
            let (a, b, c) = if c > 0 { (a, b, c) } else { (-b, -a, -c) };
            wide((**x).clone(), -(-a).div_euclid(c), b.div_euclid(c))
        }
        Expr::FloorDiv(x, d) if !open => {
            let d = i128::from(*d);
            wide((**x).clone(), i128::from(i.lo) * d, i128::from(i.hi) * d + d - 1)
        }
        Expr::Add(..) if !open => {
            let terms = e.terms();
            let Some(k) = terms.iter().position(|t| matches!(t, Expr::Const(_))) else { return Peeled::Done };
            let Expr::Const(c) = terms[k] else { return Peeled::Done };
            let rest = terms.iter().enumerate().filter(|t| t.0 != k).map(|t| (*t.1).clone()).collect();
            wide(Expr::sum(rest), i128::from(i.lo) - i128::from(*c), i128::from(i.hi) - i128::from(*c))
        }
        _ => Peeled::Done,
    }
}

/// The constraint, if its bounds fit.
fn wide(e: Expr, lo: i128, hi: i128) -> Peeled {
    if lo > hi {
        return Peeled::More(e, Interval::new(1, 0));
    }
    match (i64::try_from(lo), i64::try_from(hi)) {
        (Ok(lo), Ok(hi)) if lo != i64::MIN && hi != i64::MAX => Peeled::More(e, Interval::new(lo, hi)),
        _ => Peeled::Done,
    }
}

/// `x mod m = r` as a congruence with the smallest numbers: the sum, its residue, the modulus.
fn congruence(form: &mut Form, x: &Expr, m: i64, r: i64) -> Result<Option<(Expr, i64, i64)>, Empty> {
    if r < 0 || r >= m {
        return Err(Empty);
    }
    let Some(sum) = form.normal(x).filter(|s| s.den == 1 && !s.terms.is_empty()) else { return Ok(None) };
    let mut reduced = sum.symmetric(m);
    let mut right = residue(r - residue(sum.constant, m), m);
    reduced.constant = 0;
    let g = near_gcd(reduced.content(), m);
    if !divides(g, right) {
        return Err(Empty);
    }
    let m = m / g;
    right /= g;
    if m == 1 {
        return Ok(Some((Expr::Const(0), 0, 1)));
    }
    reduced.terms = reduced.terms.iter().map(|t| (t.0, t.1 / g)).collect();
    // The first coefficient becomes 1 where that is possible, positive where not.
    let first = reduced.terms.first().map_or(0, |t| t.1);
    let factor = match near_inverse(first, m) {
        Some(inverse) => inverse,
        None if first < 0 => -1,
        None => 1,
    };
    reduced.terms = reduced.terms.iter().map(|t| (t.0, product_residue(t.1, factor, m))).collect();
    let reduced = reduced.symmetric(m);
    let right = product_residue(right, factor, m);
    let Some(e) = form.write(&reduced) else { return Ok(None) };
    if cost(&e) > cost(x) {
        return Ok(None);
    }
    Ok(Some((e, right, m)))
}

/// The constraint on a sum whose coefficients have no common divisor and whose first one is positive.
fn primitive(form: &mut Form, e: Expr, i: Interval) -> (Expr, Interval) {
    let found = (|| {
        if i.lo == i64::MIN || i.hi == i64::MAX {
            return None;
        }
        let sum = form.normal(&e)?;
        if sum.den != 1 {
            return None;
        }
        let unit = sum.content() * sum.terms.first()?.1.signum();
        if unit == 1 && sum.constant == 0 {
            return None;
        }
        let terms = sum.terms.iter().map(|t| (t.0, t.1 / unit)).collect();
        let simple = form.write(&Sum { constant: 0, terms, den: 1 })?;
        let beside = |x: i64| i128::from(x) - i128::from(sum.constant);
        let (a, b, unit) = (beside(i.lo), beside(i.hi), i128::from(unit));
        let (a, b, unit) = if unit > 0 { (a, b, unit) } else { (-b, -a, -unit) };
        let (lo, hi) = (-(-a).div_euclid(unit), b.div_euclid(unit));
        let inside = Interval::new(i64::try_from(lo).ok()?, i64::try_from(hi).ok()?);
        (cost(&simple) <= cost(&e)).then_some((simple, inside))
    })();
    found.unwrap_or((e, i))
}
