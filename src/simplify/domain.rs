//! Simplifying a domain: the same set of points, said with tight intervals and few, small constraints.
//!
//! A constraint is peeled until it is about a primitive sum: `x floordiv 8 in [5, 11]` is `x in [40, 95]`,
//! `2*x + 2*y - 1 in [0, 8]` is `x + y in [1, 4]`, and `3*x mod 6 in [3, 3]` is `x mod 2 in [1, 1]`. Constraints on the
//! same sum meet; congruences meet by the Chinese remainder theorem (`x mod 6 in [3, 3]` and `x mod 7 in [5, 5]` are
//! `x mod 42 in [33, 33]`). Bounds then go through sums to each variable: `6*x + y in [0, 599]` with `y >= 0` says
//! `x <= 99`. A constraint that the intervals, or the other constraints, already say is dropped.
//!
//! Each step keeps the set: an interval is tightened only by what the constraints that stand beside it say.
//! The outcome depends on the set of constraints, not on their order.

use super::form::{Form, chinese, inverse};
use super::sum::{Sum, divides, gcd, residue};
use super::{Domain, Interval, cost};
use crate::expr::Expr;
use std::collections::{BTreeMap, BTreeSet};

/// How often bounds are sent through all constraints, and how many constraints may be held against each other.
const ROUNDS: usize = 8;
const PAIRED: usize = 12;

/// There is no point.
struct Empty;

/// The same domain, simplified; `None` if it has no point that anybody could find out.
pub(crate) fn simplify_domain(domain: &Domain) -> Option<Domain> {
    let mut state = State { vars: domain.vars.clone(), bounds: BTreeMap::new(), congruences: BTreeMap::new() };
    let mut constraints = domain.constraints.clone();
    state.run(&mut constraints).ok()?;
    let total = |constraints: &[(Expr, Interval)]| constraints.iter().map(|c| cost(&c.0) + 1).sum::<u32>();
    if total(&constraints) > total(&domain.constraints) {
        constraints = domain.constraints.clone();
    }
    Some(Domain { vars: state.vars, constraints })
}

struct State {
    vars: Vec<Interval>,
    /// Expressions in normal form, with their interval.
    bounds: BTreeMap<Expr, Interval>,
    /// Expressions with their residue and modulus.
    congruences: BTreeMap<Expr, BTreeSet<(i64, i64)>>,
}

impl State {
    fn run(&mut self, constraints: &mut Vec<(Expr, Interval)>) -> Result<(), Empty> {
        if self.vars.iter().any(|i| i.lo > i.hi) {
            return Err(Empty);
        }
        for _ in 0..ROUNDS {
            let before = (self.vars.clone(), constraints.clone());
            self.bounds.clear();
            self.congruences.clear();
            let mut form = Form::of_box(&self.vars);
            for (e, i) in constraints.iter() {
                self.take(&mut form, e.clone(), *i)?;
            }
            self.merge_congruences()?;
            self.propagate()?;
            *constraints = self.listed();
            if constraints.len() <= PAIRED {
                self.hold_against_each_other(constraints)?;
            }
            if *constraints == before.1 && self.vars == before.0 {
                break;
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

    /// Peels a constraint, and keeps what is left of it.
    fn take(&mut self, form: &mut Form, e: Expr, i: Interval) -> Result<(), Empty> {
        let (mut e, mut i) = (e, i);
        for _ in 0..64 {
            if i.lo > i.hi {
                return Err(Empty);
            }
            e = form.simplify(&e);
            let (peeled, inside) = match peel(&e, i) {
                Peeled::More(peeled, inside) => (peeled, inside),
                Peeled::Done => break,
            };
            (e, i) = (peeled, inside);
        }
        if i.lo > i.hi {
            return Err(Empty);
        }
        match &e {
            Expr::Const(c) => return if i.lo <= *c && *c <= i.hi { Ok(()) } else { Err(Empty) },
            Expr::Var(v) => return self.narrow(*v, i),
            Expr::Mod(x, m) if i.lo == i.hi => {
                if let Some((x, r, m)) = congruence(form, x, *m, i.lo)? {
                    if m > 1 {
                        self.congruences.entry(x).or_default().insert((r, m));
                    }
                    return Ok(());
                }
            }
            _ => {}
        }
        let (e, i) = primitive(form, e, i);
        let range = form.interval(&e);
        // The ends that the intervals say anyway are written as they are.
        let i = Interval::new(i.lo.max(range.lo), i.hi.min(range.hi));
        if i.lo > i.hi {
            return Err(Empty);
        }
        if i != range {
            let known = self.bounds.entry(e).or_insert(i);
            *known = Interval::new(known.lo.max(i.lo), known.hi.min(i.hi));
            if known.lo > known.hi {
                return Err(Empty);
            }
        }
        Ok(())
    }

    fn narrow(&mut self, v: usize, i: Interval) -> Result<(), Empty> {
        let known = &mut self.vars[v];
        *known = Interval::new(known.lo.max(i.lo), known.hi.min(i.hi));
        if known.lo > known.hi { Err(Empty) } else { Ok(()) }
    }

    /// Joins the residues of each expression into one; those of a variable move its bounds.
    fn merge_congruences(&mut self) -> Result<(), Empty> {
        let all = std::mem::take(&mut self.congruences);
        for (e, residues) in all {
            let mut merged: Vec<(i128, i128)> = Vec::new();
            for (r, m) in residues {
                let mut next = (i128::from(r), i128::from(m));
                let mut k = 0;
                while k < merged.len() {
                    if !divides(gcd(next.1, merged[k].1), next.0 - merged[k].0) {
                        return Err(Empty);
                    }
                    match chinese(next, merged[k]).filter(|both| both.1 <= i64::MAX.into()) {
                        Some(both) => {
                            next = both;
                            merged.remove(k);
                        }
                        None => k += 1,
                    }
                }
                merged.push(next);
            }
            for (r, m) in merged {
                let (r, m) = (r as i64, m as i64);
                if let Expr::Var(v) = e {
                    self.narrow_to_residues(v, m, Interval::new(r, r), 0)?;
                    if self.vars[v].lo == self.vars[v].hi {
                        continue;
                    }
                }
                self.congruences.entry(e.clone()).or_default().insert((r, m));
            }
        }
        Ok(())
    }

    /// Moves the bounds of `v` to values where `(v + shift) mod m` lies in `within`.
    fn narrow_to_residues(&mut self, v: usize, m: i64, within: Interval, shift: i64) -> Result<(), Empty> {
        let Interval { lo, hi } = self.vars[v];
        if lo == i64::MIN || hi == i64::MAX {
            return Ok(());
        }
        let (m, a, b) = (i128::from(m), i128::from(within.lo.max(0)), i128::from(within.hi).min(i128::from(m) - 1));
        if a > b {
            return Err(Empty);
        }
        let at = |x: i64| residue(i128::from(x) + i128::from(shift), m);
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
            return Err(Empty);
        }
        // Both lie between the old bounds.
        self.narrow(v, Interval::new(lo as i64, hi as i64))
    }

    /// Sends each bound through its sum to the terms, and on to the variables in them.
    fn propagate(&mut self) -> Result<(), Empty> {
        for _ in 0..ROUNDS {
            let before = self.vars.clone();
            let mut form = Form::of_box(&self.vars);
            for (e, i) in self.bounds.clone() {
                self.through(&mut form, &e, i, 0)?;
            }
            for (e, residues) in self.congruences.clone() {
                if let Expr::Var(v) = e {
                    for (r, m) in residues {
                        self.narrow_to_residues(v, m, Interval::new(r, r), 0)?;
                    }
                }
            }
            if self.vars == before {
                break;
            }
        }
        Ok(())
    }

    fn through(&mut self, form: &mut Form, e: &Expr, i: Interval, depth: u32) -> Result<(), Empty> {
        if depth > 8 {
            return Ok(());
        }
        match e {
            Expr::Const(c) => return if i.lo <= *c && *c <= i.hi { Ok(()) } else { Err(Empty) },
            Expr::Var(v) => return self.narrow(*v, i),
            Expr::Mod(x, m) => {
                let terms = x.terms();
                return match terms[..] {
                    [Expr::Var(v)] => self.narrow_to_residues(*v, *m, i, 0),
                    [Expr::Var(v), Expr::Const(c)] => self.narrow_to_residues(*v, *m, i, *c),
                    _ => Ok(()),
                };
            }
            _ => {}
        }
        if let Expr::Min(a, b) | Expr::Max(a, b) = e {
            // Both sides of a minimum are at least what it is.
            let half =
                if matches!(e, Expr::Min(..)) { Interval::new(i.lo, i64::MAX) } else { Interval::new(i64::MIN, i.hi) };
            self.through(form, a, half, depth + 1)?;
            return self.through(form, b, half, depth + 1);
        }
        if let Peeled::More(inner, inside) = peel(e, i) {
            return self.through(form, &inner, inside, depth + 1);
        }
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
                self.through(form, term, Interval::new(lo, hi), depth + 1)?;
            }
        }
        Ok(())
    }

    /// Simplifies each constraint by the others, and drops those that the others say.
    fn hold_against_each_other(&mut self, constraints: &mut Vec<(Expr, Interval)>) -> Result<(), Empty> {
        let mut k = 0;
        while constraints.len() > 1 && k < constraints.len() {
            let mut form = Form::of_box(&self.vars);
            for (j, (e, i)) in constraints.iter().enumerate() {
                if j != k {
                    let _ = form.assume(e, *i);
                }
            }
            let (e, i) = constraints[k].clone();
            let range = form.interval(&e);
            if range.lo > i.hi || range.hi < i.lo {
                return Err(Empty);
            }
            if i.lo <= range.lo && range.hi <= i.hi {
                constraints.remove(k);
                continue;
            }
            let simple = form.simplify(&e);
            if cost(&simple) < cost(&e) {
                constraints[k].0 = simple;
            }
            k += 1;
        }
        constraints.sort();
        Ok(())
    }
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
    let m = i128::from(m);
    let mut reduced = sum.symmetric(m);
    let mut right = i128::from(r) - sum.constant;
    reduced.constant = 0;
    let g = gcd(reduced.content(), m);
    if !divides(g, right) {
        return Err(Empty);
    }
    let m = m / g;
    right /= g;
    if m == 1 {
        return Ok(Some((Expr::Const(0), 0, 1)));
    }
    reduced.terms.iter_mut().for_each(|t| t.1 /= g);
    // The first coefficient becomes 1 where that is possible, positive where not.
    let first = reduced.terms[0].1;
    let factor = match inverse(first, m) {
        Some(inverse) => inverse,
        None if first < 0 => -1,
        None => 1,
    };
    for t in &mut reduced.terms {
        t.1 *= factor;
    }
    let reduced = reduced.symmetric(m);
    let right = residue(residue(right, m) * residue(factor, m), m);
    let Some(e) = form.write(&reduced) else { return Ok(None) };
    if cost(&e) > cost(x) {
        return Ok(None);
    }
    Ok(Some((e, right as i64, m as i64)))
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
        let (a, b) = (i128::from(i.lo) - sum.constant, i128::from(i.hi) - sum.constant);
        let (a, b, unit) = if unit > 0 { (a, b, unit) } else { (-b, -a, -unit) };
        let (lo, hi) = (-(-a).div_euclid(unit), b.div_euclid(unit));
        let inside = Interval::new(i64::try_from(lo).ok()?, i64::try_from(hi).ok()?);
        (cost(&simple) <= cost(&e)).then_some((simple, inside))
    })();
    found.unwrap_or((e, i))
}
