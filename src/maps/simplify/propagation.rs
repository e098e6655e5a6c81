//! Propagation of bounds through constraints to their variables.

use super::facts::{chinese, near_inverse};
use super::form::Form;
use super::sum::{Sum, divides, product_residue};
use super::taken::peel;
use super::terms::Atom;
use super::tightening::{Empty, Tightening};
use crate::expr::Expr;
use crate::maps::domain::{Interval, WideInterval};
use crate::maps::steps::{Claim, Constraint, Rule};
use crate::numbers::near_gcd;

/// The most passes of propagation through all constraints.
const ROUNDS: usize = 8;

/// The most terms of an equality that moves the bounds of its variables.
const LONG: usize = 12;

impl Tightening {
    /// Propagates each bound through its sum to the terms, and on to their variables.
    pub(super) fn propagate(&mut self) -> Result<(), Empty> {
        for _ in 0..ROUNDS {
            let before = self.vars.clone();
            let mut form = Form::of_box(&self.vars);
            for (e, i) in self.bounds.clone() {
                let by = (e, i);
                self.through(&mut form, &by.0, i.into(), &by, 0)?;
                if i.lo == i.hi {
                    self.through_equality(&mut form, &by)?;
                }
            }
            for (e, residues) in self.congruences.clone() {
                if let Expr::Var(v) = &e {
                    for (r, m) in residues {
                        let inside = Interval::new(r, r);
                        self.narrow_to_residues(*v, m, inside.into(), 0, &(e.clone().modulo(m), inside))?;
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
    /// rest: `x + 16*y = 23` leaves `x` only values that are 7 modulo 16. Other congruences of `x` and the rest may
    /// leave none.
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
            let ahead = |x: i64| (i128::from(r) - i128::from(x)).rem_euclid(n.into());
            let behind = |x: i64| (i128::from(x) - i128::from(r)).rem_euclid(n.into());
            let (first, last) = (i128::from(lo) + ahead(lo), i128::from(hi) - behind(hi));
            let inside = match first > last {
                true => Interval::EMPTY,
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

    /// Propagates the bounds of an expression to its operands, down to variables, whose intervals they narrow.
    fn through(
        &mut self,
        form: &mut Form,
        e: &Expr,
        i: WideInterval,
        by: &Constraint,
        depth: u32,
    ) -> Result<(), Empty> {
        if depth > 8 {
            return Ok(());
        }
        match e {
            Expr::Const(c) if i.lo <= i128::from(*c) && i128::from(*c) <= i.hi => return Ok(()),
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
            // Both operands of a minimum are at least its lower bound.
            let half = match e {
                Expr::Min(..) => WideInterval { lo: i.lo, ..WideInterval::ALL },
                _ => WideInterval { hi: i.hi, ..WideInterval::ALL },
            };
            self.through(form, a, half, by, depth + 1)?;
            return self.through(form, b, half, by, depth + 1);
        }
        if let Some((inner, inside)) = peel(e, i) {
            return self.through(form, &inner, inside, by, depth + 1);
        }
        self.through_sum(form, e, i, by, depth)
    }

    /// Propagates the bounds of a sum to each term: the bound minus the bounds of the other terms.
    fn through_sum(
        &mut self,
        form: &mut Form,
        e: &Expr,
        i: WideInterval,
        by: &Constraint,
        depth: u32,
    ) -> Result<(), Empty> {
        let terms = e.terms();
        if terms.len() < 2 {
            return Ok(());
        }
        let ranges: Vec<WideInterval> = terms.iter().map(|t| form.bounds(t)).collect();
        let (lows, highs) =
            (EndSum::of(ranges.iter().map(WideInterval::least)), EndSum::of(ranges.iter().map(WideInterval::most)));
        for (term, range) in terms.iter().zip(&ranges) {
            // The bounds that the other terms leave for this one.
            let most = lows.without(range.least()).and_then(|others| i.most()?.checked_sub(others));
            let least = highs.without(range.most()).and_then(|others| i.least()?.checked_sub(others));
            let left = WideInterval::new(least.unwrap_or(i128::MIN), most.unwrap_or(i128::MAX));
            if left.lo > range.lo || left.hi < range.hi {
                self.through(form, term, left, by, depth + 1)?;
            }
        }
        Ok(())
    }
}

/// The sum of the lower bounds of some terms, or of the upper bounds.
struct EndSum {
    /// The sum of the known bounds, if it fits in 128 bits.
    known: Option<i128>,
    /// The number of unknown bounds.
    open: usize,
}

impl EndSum {
    fn of(ends: impl Iterator<Item = Option<i128>>) -> EndSum {
        let none = EndSum { known: Some(0), open: 0 };
        ends.fold(none, |sum, end| match end {
            Some(end) => EndSum { known: sum.known.and_then(|known| known.checked_add(end)), ..sum },
            None => EndSum { open: sum.open + 1, ..sum },
        })
    }

    /// The sum without one of its bounds, if all others are known.
    fn without(&self, end: Option<i128>) -> Option<i128> {
        (self.open == usize::from(end.is_none())).then_some(())?;
        self.known?.checked_sub(end.unwrap_or(0))
    }
}

/// The residue class of the term with this atom, from `sum = value` and known residues of variables with their moduli:
/// the common modulus of all other terms, 0 if there are none, and the residue of this term.
fn left_by(sum: &Sum, atom: Atom, value: i64, known: &[(i64, i64)]) -> Option<(i64, i64)> {
    let (mut g, mut left) = (0, i128::from(value) - i128::from(sum.constant));
    for (a, c) in sum.terms.iter().filter(|t| t.0 != atom) {
        let (r, m) = known.get(a as usize).copied().unwrap_or((0, 1));
        g = near_gcd(g, c.checked_mul(m).filter(|cm| *cm != i64::MIN)?);
        left -= i128::from(c) * i128::from(r);
    }
    Some((g, left.try_into().ok()?))
}
