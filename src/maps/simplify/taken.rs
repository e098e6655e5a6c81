//! Constraints peeled down to primitive sums, and kept as intervals, congruences or bounds of those.

use super::facts::{chinese, near_inverse};
use super::form::Form;
use super::sum::{Sum, divides, product_residue, residue};
use super::tightening::{Empty, Tightening};
use crate::expr::Expr;
use crate::expr::cost;
use crate::maps::domain::{Interval, WideInterval};
use crate::maps::steps::{Claim, Constraint, Rule};
use crate::numbers::near_gcd;

/// The most operations peeled off a constraint.
const PEELED: usize = 64;

impl Tightening {
    /// Peels a constraint, and keeps the rest: as an interval of a variable, a congruence, or bounds of a sum.
    pub(super) fn take(&mut self, form: &mut Form, e: Expr, i: Interval) -> Result<(), Empty> {
        // As a congruence first: a rewritten remainder may hide one.
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
                self.narrow(*v, i.into(), &(e.clone(), i))?;
                self.drop(&e, i, None);
            }
            Expr::Mod(x, m) if i.lo == i.hi && self.take_congruence(form, (&e, i), x, *m)? => {}
            _ => return self.take_bounds(form, e, i),
        }
        Ok(())
    }

    /// A simplified constraint, with outermost operations removed as long as that helps.
    fn peeled(&mut self, form: &mut Form, mut e: Expr, mut i: Interval) -> Result<Constraint, Empty> {
        for _ in 0..PEELED {
            if i.lo > i.hi {
                break;
            }
            let simple = form.simplify(&e);
            form.note_same(&e, &simple, |before, after| Claim::Constraints(vec![(before, i)], vec![(after, i)]));
            self.log_from(form);
            e = simple;
            let Some((peeled, inside)) = peel(&e, i.into()) else { break };
            let Some(inside) = (if inside.lo > inside.hi { Some(Interval::EMPTY) } else { inside.narrow() }) else {
                break;
            };
            let rule = if matches!(e, Expr::FloorDiv(..)) { Rule::Quotient } else { Rule::Scale };
            self.note_one(rule, (&e, i), (&peeled, inside), None);
            (e, i) = (peeled, inside);
        }
        if i.lo > i.hi { self.nothing(vec![(e, i)]) } else { Ok((e, i)) }
    }

    /// Keeps `x mod m = r` as a congruence, if possible; returns whether it is done with.
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

    /// Keeps a constraint as bounds of a primitive sum, met with its known bounds; drops it if the intervals of the
    /// variables imply it.
    fn take_bounds(&mut self, form: &mut Form, e: Expr, i: Interval) -> Result<(), Empty> {
        let before = (e.clone(), i);
        let (e, i) = primitive(form, e, i);
        let range = form.bounds(&e);
        self.log_from(form);
        self.note_one(Rule::Scale, (&before.0, before.1), (&e, i), None);
        // Ends that the intervals imply are written as those of the interval.
        let Some(inside) = range.meet(i.into()).narrow().filter(|inside| inside.lo <= inside.hi) else {
            return self.nothing(vec![(e, i)]);
        };
        if i.holds(range) {
            self.drop(&e, i, Some(inside));
            return Ok(());
        }
        let said = range.narrow().map(|range| (e.clone(), range));
        self.note_one(Rule::Ends, (&e, i), (&e, inside), said.as_ref());
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

    /// Joins the residues of each expression into one; residues of a variable move its bounds.
    pub(super) fn merge_congruences(&mut self) -> Result<(), Empty> {
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
                    self.narrow_to_residues(v, m, inside.into(), 0, &given)?;
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
}

/// Removes the outermost operation from a constraint, if an equivalent one is left.
pub(super) fn peel(e: &Expr, i: WideInterval) -> Option<(Expr, WideInterval)> {
    Some(match e {
        Expr::Mul(x, c) if *c != 0 => {
            let inside = WideInterval::one(0).plus(c.signum(), i).divided(i128::from(*c).abs());
            ((**x).clone(), inside)
        }
        Expr::FloorDiv(x, d) => ((**x).clone(), WideInterval::new(0, i128::from(*d) - 1).plus(*d, i)),
        Expr::Add(..) => {
            let terms = e.terms();
            let (k, c) = terms.iter().enumerate().find_map(|(k, t)| match t {
                Expr::Const(c) => Some((k, i128::from(*c))),
                _ => None,
            })?;
            let rest = terms.iter().enumerate().filter(|t| t.0 != k).map(|t| (*t.1).clone()).collect();
            (Expr::sum(rest), WideInterval::new(-c, -c).plus(1, i))
        }
        _ => return None,
    })
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
    // The first coefficient becomes 1 if possible, else positive.
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
