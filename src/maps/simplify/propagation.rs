//! Bounds sent through constraints to the variables in them.

use super::facts::{chinese, near_inverse};
use super::form::Form;
use super::sum::{Sum, divides, product_residue};
use super::taken::{Peeled, peel};
use super::terms::Atom;
use super::tightening::{Empty, Tightening};
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::steps::{Claim, Constraint, Rule};
use crate::numbers::near_gcd;

/// How often bounds are sent through all constraints.
const ROUNDS: usize = 8;

/// How many terms an equality may have to move the bounds of its variables.
const LONG: usize = 12;

impl Tightening {
    /// Sends each bound through its sum to the terms, and on to the variables in them.
    pub(super) fn propagate(&mut self) -> Result<(), Empty> {
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
        let Some(sum) = form.normal(&by.0).filter(|s| s.den == 1 && s.terms.len() <= LONG) else { return Ok(()) };
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
