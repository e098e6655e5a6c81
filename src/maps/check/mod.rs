//! A checker for the steps of a simplification, which does not trust the simplifier.
//!
//! [`replay`] starts from a map and applies one step after the other. Its state is the present map, and the equations
//! proved so far. A step has a claim, a rule and a fact; the claim selects the method of `State` that checks it and the
//! part of the state that it changes:
//!
//! | claim | what is proved | what changes |
//! |---|---|---|
//! | [`Claim::Equal`] | the rule's equation, at every point that the premises allow | the table of equations |
//! | [`Claim::Result`] | both sides have one sum of atoms, with the equations put in | one result |
//! | [`Claim::Interval`] | each value that is left out fails a constraint | the interval of one variable |
//! | [`Claim::Constraints`] | the rule's equivalence; the replaced constraint itself is no premise | the constraints |
//! | [`Claim::Nothing`] | no point satisfies the constraints that it names | the map is empty; nothing may follow |
//!
//! *Premises.* The premises of a step ([`Using`]) follow from what it changes. Each step keeps the set of points, so
//! intervals and equations that hold once hold on. But an equation that helps to replace a constraint must not itself
//! depend on that constraint: `d0 in [0, 3]` simplifies `d0 mod 8` to `d0`, and dropping `d0 in [0, 3]` because of it
//! would be circular. So there is one table of equations for each set of premises, and all tables but that of the plain
//! intervals are dropped when a constraint changes.
//!
//! *Proofs.* The files are `linear` (sums of atoms, bounds, congruences), `premises` (values, bounds and residues at
//! every point), `rules` (one method for each rule, with its formula), and this one (one method for each claim). An
//! accepted step is proved for every point of the domain, however large; only [`Rule::Enumerated`] visits points.
//!
//! *Trust.* From the rest of this crate the checker uses the data of maps and steps, and the evaluation of an
//! expression at a point. It shares no code with [the simplifier](mod@crate::maps::simplify): sums of atoms and `gcd`
//! are written again in `linear`.
//!
//! *Limits.* The checker refuses unproved steps, even true ones, and numbers from 2^100 on. [`Reason`] lists the
//! reasons.

mod linear;
mod premises;
mod refused;
mod rules;

pub use refused::{Reason, Refused};

use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::IndexingMap;
use crate::maps::steps::{Claim, Constraint, Rule, Step, Using};
use linear::Linear;
use premises::{Checked, Premises, Proved, holds, require};
use rules::Leftover;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Replays the steps from a map; returns the final map, its constraints in some order, or `None` if no point is left.
///
/// The result has the same points as `map` and equal results at each of them.
///
/// # Errors
/// The first refused step.
pub fn replay(map: &IndexingMap, steps: &[Step]) -> Result<Option<IndexingMap>, Refused> {
    Ok(follow(map, steps)?.0)
}

/// [`replay`], and for each step whether it is needed: equations that no other step uses are not.
pub(crate) fn follow(map: &IndexingMap, steps: &[Step]) -> Result<(Option<IndexingMap>, Vec<bool>), Refused> {
    let (domain, results) = (map.domain.clone(), map.results.clone());
    let mut state = State { domain, results, tables: BTreeMap::new(), empty: false };
    // The steps whose equations each step uses.
    let mut uses: Vec<Vec<usize>> = Vec::with_capacity(steps.len());
    for (number, step) in steps.iter().enumerate() {
        let hits = RefCell::default();
        state.step(number, step, &hits).map_err(|reason| Refused { step: number, reason })?;
        uses.push(hits.into_inner());
    }
    let mut used: Vec<bool> = steps.iter().map(|s| !matches!(s.claim, Claim::Equal(..))).collect();
    for number in (0..steps.len()).rev() {
        if used[number] {
            uses[number].iter().for_each(|k| used[*k] = true);
        }
    }
    let end = IndexingMap { results: state.results, domain: state.domain, ..map.clone() };
    Ok(((!state.empty).then_some(end), used))
}

/// The map after the steps so far, and the equations that they proved.
struct State {
    domain: Domain,
    results: Vec<Expr>,
    /// The equations, one table for each set of premises.
    tables: BTreeMap<Using, Proved>,
    /// Whether a step has proved the domain empty.
    empty: bool,
}

/// The numbers of the steps whose equations a step uses.
type Hits = RefCell<Vec<usize>>;

impl State {
    /// Checks a step and applies it.
    fn step(&mut self, number: usize, step: &Step, hits: &Hits) -> Checked {
        require(!self.empty, Reason::AfterEnd)?;
        well_formed(step, self.domain.vars.len())?;
        match &step.claim {
            Claim::Equal(before, after) => self.equal(number, step, (before, after), hits),
            Claim::Result(k, before, after) => self.result(step, *k, (before, after), hits),
            Claim::Interval(v, before, after) => self.interval(step, *v, [*before, *after], hits),
            Claim::Constraints(from, to) => self.constraints(step, [from, to], hits),
            Claim::Nothing(why) => self.nothing(step, why, hits),
        }
    }

    /// Proves `before = after` by the rule's equation: from now on the atom on the left has the value of the right
    /// side.
    ///
    /// The newest equation for an atom replaces an older one, since intervals may have become narrower. An equation
    /// `x = e` of [`Rule::Solved`] is also put into the right sides of all others, so that none of them names `x`.
    fn equal(&mut self, number: usize, step: &Step, (before, after): (&Expr, &Expr), hits: &Hits) -> Checked {
        let (atom, value) = self.premises(&step.using, hits)?.equation(step, before, after)?;
        let table = self.tables.entry(step.using.clone()).or_default();
        if step.rule == Rule::Solved {
            for (old, steps) in table.values_mut() {
                let c = old.coefficient(&atom);
                if c != 0 {
                    let (free, by) = (Linear::atom(atom.clone()), old.den);
                    *old = old.plus(&free, -c, by).and_then(|s| s.plus(&value, c, by)).ok_or(Reason::TooLarge)?;
                    steps.push(number);
                }
            }
        }
        let known = table.get(&atom).is_some_and(|known| known.0 == value);
        if !known && value != Linear::atom(atom.clone()) {
            table.insert(atom, (value, vec![number]));
        }
        Ok(())
    }

    /// Proves that result `k` is `before`, and `before = after`: both are one sum of atoms, or equal at each point.
    fn result(&mut self, step: &Step, k: usize, (before, after): (&Expr, &Expr), hits: &Hits) -> Checked {
        require(self.results.get(k) == Some(before), Reason::NotCurrent)?;
        let premises = self.premises(&step.using, hits)?;
        match step.rule {
            Rule::Definition => premises.same(before, after)?,
            Rule::Enumerated => premises.same_value(before, after)?,
            _ => return Err(Reason::WrongRule),
        }
        self.results[k] = after.clone();
        Ok(())
    }

    /// Proves that variable `v` is in `before`, and `after` is a part of it: for values in `before` but not in `after`
    /// the constraint of the fact fails, or no point is there.
    fn interval(&mut self, step: &Step, v: usize, [before, after]: [Interval; 2], hits: &Hits) -> Checked {
        require(self.domain.vars.get(v) == Some(&before), Reason::NotCurrent)?;
        require(before.lo <= after.lo && after.hi <= before.hi, Reason::Grown)?;
        match step.rule {
            Rule::Enumerated => {
                self.open(&Using::All, hits).everywhere(|p| after.lo <= p[v] && p[v] <= after.hi)?;
            }
            Rule::Divisible => {
                let by = step.fact.as_ref().ok_or(Reason::NoConstraint)?;
                require(self.domain.constraints.contains(by), Reason::UnknownConstraint)?;
                let class = self.open(&Using::All, hits).class(v, by);
                let Some(Leftover::Residue(residue, modulus)) = class else { return Err(Reason::Unproved) };
                let reached = |part: Interval| {
                    let (lo, hi) = (i128::from(part.lo), i128::from(part.hi));
                    lo + (residue - lo).rem_euclid(modulus) <= hi
                };
                require(!left_out(before, after).any(reached), Reason::PointLost)?;
            }
            Rule::Bounds => {
                let by = step.fact.as_ref().ok_or(Reason::NoConstraint)?;
                require(self.domain.constraints.contains(by), Reason::UnknownConstraint)?;
                let premises = self.open(&Using::Box, hits);
                let fails = |vars: &[Interval]| {
                    let (lo, hi) = premises.interval_over(vars, &by.0);
                    hi < by.1.lo.into() || i128::from(by.1.hi) < lo
                };
                let lost = left_out(before, after).all(|part| all_fail(&self.domain.vars, v, part, &fails));
                require(lost, Reason::PointLost)?;
            }
            _ => return Err(Reason::WrongRule),
        }
        self.domain.vars[v] = after;
        Ok(())
    }

    /// Proves that the constraints `from` are present, and hold exactly where `to` does, by the rule or at each point;
    /// the proof does not use `from`.
    fn constraints(&mut self, step: &Step, [from, to]: [&[Constraint]; 2], hits: &Hits) -> Checked {
        let mut places: Vec<usize> = Vec::with_capacity(from.len());
        for c in from {
            let mut all = self.domain.constraints.iter().enumerate();
            let found = all.find(|(k, other)| *other == c && !places.contains(k));
            places.push(found.ok_or(Reason::NotCurrent)?.0);
        }
        let apart = match &step.using {
            Using::Box => true,
            Using::Others(c) => *from == [c.clone()],
            Using::All | Using::Solved => false,
        };
        require(apart, Reason::Circular)?;
        let premises = self.premises(&step.using, hits)?;
        if step.rule == Rule::Enumerated {
            let all = |list: &[Constraint], p: &[i64]| list.iter().all(|c| holds(c, p));
            premises.everywhere(|p| all(from, p) == all(to, p))?;
        } else {
            premises.constraints(step, from, to)?;
        }
        places.sort_unstable();
        for at in places.into_iter().rev() {
            self.domain.constraints.swap_remove(at);
        }
        self.domain.constraints.extend(to.iter().cloned());
        // Equations that were proved from the old constraints are dropped: they may depend on what was replaced.
        self.tables.retain(|using, _| *using == Using::Box);
        Ok(())
    }

    /// Proves that the constraints `why` are present, or are intervals of variables, and that no point satisfies them.
    fn nothing(&mut self, step: &Step, why: &[Constraint], hits: &Hits) -> Checked {
        match step.rule {
            Rule::Enumerated => self.open(&Using::All, hits).everywhere(|_| false)?,
            Rule::Divisible => {
                let by = why.first().ok_or(Reason::NoConstraint)?;
                require(self.domain.constraints.contains(by), Reason::UnknownConstraint)?;
                let premises = self.open(&Using::All, hits);
                let empty = |v| matches!(premises.class(v, by), Some(Leftover::Empty));
                require((0..self.domain.vars.len()).any(empty), Reason::Unproved)?;
            }
            Rule::Empty => {
                let there = |c: &Constraint| {
                    self.domain.constraints.contains(c)
                        || matches!(c.0, Expr::Var(v) if self.domain.vars.get(v) == Some(&c.1))
                };
                require(why.iter().all(there), Reason::NotCurrent)?;
                self.premises(&step.using, hits)?.nothing(why)?;
            }
            _ => return Err(Reason::WrongRule),
        }
        self.empty = true;
        Ok(())
    }

    /// The premises of a step; refused if it sets aside a constraint that is absent.
    fn premises<'a>(&'a self, using: &Using, hits: &'a Hits) -> Result<Premises<'a>, Reason> {
        if let Using::Others(c) = using {
            require(self.domain.constraints.contains(c), Reason::NotCurrent)?;
        }
        Ok(self.open(using, hits))
    }

    fn open<'a>(&'a self, using: &Using, hits: &'a Hits) -> Premises<'a> {
        let mut constraints: Vec<&Constraint> = match using {
            Using::Box => Vec::new(),
            _ => self.domain.constraints.iter().collect(),
        };
        if let Using::Others(c) = using
            && let Some(at) = constraints.iter().position(|other| *other == c)
        {
            constraints.remove(at);
        }
        Premises::new(&self.domain.vars, constraints, self.tables.get(using), hits)
    }
}

/// The parts of `before` outside of `after`, which is inside of it: all of `before` if `after` is empty.
fn left_out(before: Interval, after: Interval) -> impl Iterator<Item = Interval> {
    let none = after.lo > after.hi;
    let below = Interval::new(before.lo, after.lo.saturating_sub(1));
    let above = Interval::new(after.hi.saturating_add(1), before.hi);
    let parts = [(before, none), (below, !none && before.lo < after.lo), (above, !none && after.hi < before.hi)];
    parts.into_iter().filter_map(|(part, there)| there.then_some(part))
}

/// Whether `fails` holds on the whole interval `part` of a variable; tries halves of the part where the whole is
/// undecided.
fn all_fail(vars: &[Interval], v: usize, part: Interval, fails: &dyn Fn(&[Interval]) -> bool) -> bool {
    let mut vars = vars.to_vec();
    let (mut parts, mut looks) = (vec![part], 0);
    while let Some(part) = parts.pop() {
        looks += 1;
        vars[v] = part;
        if fails(&vars) {
            continue;
        }
        if part.lo >= part.hi || looks > 400 {
            return false;
        }
        let middle = ((i128::from(part.lo) + i128::from(part.hi)) >> 1) as i64;
        parts.extend([Interval::new(part.lo, middle), Interval::new(middle + 1, part.hi)]);
    }
    true
}

/// Checks that all variables of a step exist, and all divisors are positive.
fn well_formed(step: &Step, vars: usize) -> Checked {
    let mut stack: Vec<&Expr> = step.fact.iter().map(|fact| &fact.0).collect();
    match &step.claim {
        Claim::Equal(a, b) | Claim::Result(_, a, b) => stack.extend([a, b]),
        Claim::Interval(..) => {}
        Claim::Constraints(a, b) => stack.extend(a.iter().chain(b).map(|c| &c.0)),
        Claim::Nothing(all) => stack.extend(all.iter().map(|c| &c.0)),
    }
    if let Using::Others(c) = &step.using {
        stack.push(&c.0);
    }
    while let Some(e) = stack.pop() {
        match e {
            Expr::Var(v) if *v >= vars => return Err(Reason::UnknownVariable),
            Expr::FloorDiv(_, d) | Expr::Mod(_, d) if *d <= 0 => return Err(Reason::Divisor),
            _ => stack.extend(e.operands()),
        }
    }
    Ok(())
}
