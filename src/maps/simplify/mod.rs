//! A simplifier for quasi-affine expressions that uses the intervals of their variables and constraints.
//!
//! The idea: floor division is redundant, because `e floordiv s = (e - e mod s) / s`. So an expression becomes a sum of
//! *atoms* with rational coefficients, where an atom is a variable or a remainder `e mod m`. Matching terms then cancel
//! by addition: with `i = (i floordiv 8) * 8 + i mod 8` put into `i floordiv 8 * 8 + i mod 8`, the two remainders have
//! opposite signs and `i` is left. Only `mod` has rules; each is an equation that holds for all integers, or for all
//! points that the intervals and congruences of the atoms allow.
//!
//! Example: with `i` in `[0, 1]` and `j` in `[0, 7]`, `(8*i + j) floordiv 8` is `(8*i + j - (8*i + j) mod 8) / 8`. Both
//! coefficients modulo 8 leave `j mod 8`, which is `j` by its interval; the sum is `i`.
//!
//! Minima need one more kind of atom, `min(e, 0)`: `min(a, b)` is `b + min(a - b, 0)`, `max(a, b)` is
//! `a - min(a - b, 0)`.
//!
//! Numbers of sums have 64 bits, and intermediate ones 128 bits if lowest terms fit again. Arithmetic is checked, and
//! work is bounded in proportion to the expression; if a number or the budget overflows, the expression is returned
//! unchanged.

mod constraints;
mod digits;
mod facts;
mod form;
mod last_terms;
mod memo;
mod notes;
mod order;
mod plain;
mod planned;
mod planning;
mod propagation;
mod range;
mod read;
mod remainder;
mod sum;
mod taken;
mod terms;
mod tightening;
mod write;

pub(crate) use constraints::{simplify_domain, simplify_domain_with};
pub(crate) use digits::{VariableDigit, digits};
pub use form::Form;

use crate::expr::Expr;
use crate::expr::cost;
use crate::maps::domain::{Domain, Interval};
use crate::maps::steps::{Log, Using};

/// Simplifies expressions over one domain. The result equals the input at every point of the domain and costs no more.
pub fn simplify(exprs: &[Expr], domain: &Domain) -> Vec<Expr> {
    simplify_with(exprs, domain, &mut None).0
}

/// [`simplify`] that logs its steps; returns also whether simplifying again over this domain is known to change
/// nothing.
pub(crate) fn simplify_with(exprs: &[Expr], domain: &Domain, log: &mut Option<&mut Log>) -> (Vec<Expr>, bool) {
    let own = |using| log.is_some().then(|| Log::new(using));
    let (mut form, solved) = (Form::logged(domain, own(Using::All)), Form::solved(domain, own(Using::Solved)));
    let mut simple = Vec::with_capacity(exprs.len());
    let mut settled = domain.constraints.is_empty();
    let mut divided = None;
    for (k, e) in exprs.iter().enumerate() {
        let (other, form_of) = form.simplify_whole(e, &mut divided);
        form.note_result(k, e, &other);
        // If the output still has the normal form it was written from, it would be written the same way again, provided
        // that the budget was enough to compare all ways.
        settled = settled && form_of.is_some_and(|sum| form.normal(&other) == Some(sum)) && !form.exhausted;
        simple.push(other);
    }
    form.log_into(log);
    if let Some(mut solved) = solved {
        for (k, e) in simple.iter_mut().enumerate() {
            let other = solved.simplify(e);
            if cost(&other) < cost(e) {
                solved.note_result(k, e, &other);
                *e = other;
            }
        }
        solved.log_into(log);
    }
    (simple, settled)
}

/// A composition in normal form: expressions over variables that are replaced by other expressions.
///
/// All maps of a chain share the variables of one box. [`Chain::step`] goes to the next map, whose variables are the
/// last results and more variables of the box.
pub(crate) struct Chain {
    form: Form,
}

/// The results of a map of a chain, and the constraints that it adds, over the box.
type Link = (Vec<Normal>, Vec<(Expr, Interval)>);

impl Chain {
    /// A chain that starts over this domain.
    pub(crate) fn new(domain: &Domain) -> Chain {
        Chain { form: Form::new(domain) }
    }

    /// Goes to the next map, whose variables are the last results and then these of the box; `results` and
    /// `constraints` are over them. Returns the constraints that the box does not imply, over the box, among them that
    /// each result of `last` is in its interval of `intervals`, unless it is `known` to be. `None` if a number is too
    /// large or the work exceeds its budget.
    pub(crate) fn step(
        &mut self,
        last: &[Normal],
        intervals: &[Interval],
        known: &[Interval],
        more: &[usize],
        constraints: &[(Expr, Interval)],
        results: &[Expr],
    ) -> Option<Link> {
        let mut said = Vec::new();
        self.form.given = None;
        for (k, (s, i)) in last.iter().zip(intervals).enumerate() {
            self.form.allow(100);
            if let Some(known) = known.get(k)
                && !known.holds(self.form.quick_range(&s.0))
                && !known.holds(self.form.range(&s.0))
            {
                let _ = self.form.assume_sum(&s.0, *known);
            }
            if known.get(k).is_none_or(|known| known.lo < i.lo || i.hi < known.hi) {
                self.say(&s.0, *i, &mut said)?;
            }
        }
        let given = last.iter().map(|s| s.0.clone()).chain(more.iter().map(|v| self.form.atom(*v as terms::Atom)));
        self.form.given = Some(given.collect());
        for (e, i) in constraints {
            let s = self.form.normal(e)?;
            self.say(&s, *i, &mut said)?;
        }
        let mut divided = None;
        let mut normal = |e| Some(Normal(self.form.normal_after(e, &mut divided)?));
        let results = results.iter().map(&mut normal).collect::<Option<Vec<_>>>()?;
        Some((results, said))
    }

    fn say(&mut self, s: &sum::Sum, i: Interval, said: &mut Vec<(Expr, Interval)>) -> Option<()> {
        if !i.holds(self.form.quick_range(s)) && !i.holds(self.form.range(s)) {
            said.push((self.form.write(s)?, i));
            let _ = self.form.assume_sum(s, i);
        }
        Some(())
    }

    /// A result as an expression over the box; `None` as in [`Chain::step`].
    pub(crate) fn write(&mut self, s: &Normal) -> Option<Expr> {
        self.form.allow(200);
        self.form.write(&s.0)
    }
}

/// An expression in normal form.
#[derive(Clone)]
pub(crate) struct Normal(sum::Sum);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Named;

    fn var(v: usize) -> Expr {
        Expr::Var(v)
    }

    fn check(e: Expr, ranges: &[(i64, i64)], constraints: &[(Expr, i64, i64)], expected: &str) {
        let domain = Domain {
            vars: ranges.iter().map(|r| Interval::new(r.0, r.1)).collect(),
            constraints: constraints.iter().map(|(e, lo, hi)| (e.clone(), Interval::new(*lo, *hi))).collect(),
        };
        let simple = simplify(&[e], &domain).remove(0);
        assert_eq!(Named(&simple, &|v| format!("d{v}")).to_string(), expected);
    }

    #[test]
    fn documented_examples() {
        let sixteen = var(0) + var(1).floor_div(16);
        check(sixteen, &[(0, 6), (0, 14)], &[], "d0");
        let hundred = var(0).times(100) + var(1).times(10) + var(2);
        let nine = &[(0, 9), (0, 9), (0, 9)];
        check(hundred.clone().floor_div(100), nine, &[], "d0");
        check(hundred.modulo(100).floor_div(10), nine, &[], "d1");
        let eight = var(0).times(16) + var(1).times(4) + var(2);
        check(eight.clone().floor_div(8), nine, &[], "d0 * 2 + (d1 * 4 + d2) floordiv 8");
        check(eight.modulo(8), nine, &[], "(d1 * 4 + d2) mod 8");
        let negative = (var(0).times(-11) + var(1).times(-1) + Expr::Const(109)).floor_div(11).times(-1);
        check(negative + Expr::Const(9), &[(0, 9), (0, 10)], &[], "d0");
    }

    #[test]
    fn digits_of_a_tiled_index() {
        let all = &[(0, 15)];
        check(var(0).modulo(8).floor_div(2), all, &[], "(d0 mod 8) floordiv 2");
        check(var(0).modulo(8).modulo(2), all, &[], "d0 mod 2");
        check(var(0).floor_div(8).floor_div(2), &[(0, 99)], &[], "d0 floordiv 16");
        let back = var(0).floor_div(8).times(8) + var(0).modulo(8);
        check(back, all, &[], "d0");
        let parts = var(0).times(8) + var(1).times(2) + var(2);
        let bounds = &[(0, 1), (0, 3), (0, 1)];
        check(parts.clone().floor_div(8), bounds, &[], "d0");
        check(parts.clone().modulo(8).floor_div(2), bounds, &[], "d1");
        check(parts.modulo(8).modulo(2), bounds, &[], "d2");
    }

    #[test]
    fn congruences_and_facts() {
        // A loop that steps by 8, and one inside the step.
        let sum = var(0) + var(1);
        let step = (var(0).modulo(8), 0, 0);
        check(sum.clone().floor_div(8), &[(0, 56), (0, 7)], std::slice::from_ref(&step), "d0 floordiv 8");
        check(sum.modulo(8), &[(0, 56), (0, 7)], &[step], "d1");
        // Rows of an uneven tile: three at a time inside eight.
        let row = var(0).times(8) + var(1).times(3) + var(2);
        let inside = (var(1).times(3) + var(2), 0, 7);
        check(row.floor_div(8), &[(0, 9), (0, 2), (0, 2)], &[inside], "d0");
    }

    /// A small linear congruential generator: the sequence is part of the test.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 33) % n as u64) as i64
        }

        fn expr(&mut self, depth: u32) -> Expr {
            let kinds = if depth == 0 { 2 } else { 7 };
            match self.below(kinds) {
                0 => Expr::Const(self.below(25) - 12),
                1 => Expr::Var(self.below(2) as usize),
                2 | 3 => self.expr(depth - 1) + self.expr(depth - 1),
                4 => self.expr(depth - 1).times(self.below(17) - 8),
                5 => self.expr(depth - 1).floor_div(1 + self.below(12)),
                _ => self.expr(depth - 1).modulo(1 + self.below(12)),
            }
        }
    }

    /// Equal on every point of the domain, never dearer, and the same when simplified again.
    #[test]
    fn laws_on_random_expressions() {
        let mut random = Random(7);
        for _ in 0..20_000 {
            let mut range = || {
                let lo = random.below(12) - 6;
                Interval::new(lo, lo + random.below(10))
            };
            let vars = vec![range(), range()];
            let mut constraints = Vec::new();
            for _ in 0..random.below(3) {
                let lo = random.below(12) - 6;
                constraints.push((random.expr(2), Interval::new(lo, lo + random.below(6))));
            }
            let domain = Domain { vars, constraints };
            let e = random.expr(4);
            let simple = simplify(std::slice::from_ref(&e), &domain).remove(0);
            assert!(cost(&simple) <= cost(&e), "{e:?} became {simple:?}");
            for x in domain.vars[0].lo..=domain.vars[0].hi {
                for y in domain.vars[1].lo..=domain.vars[1].hi {
                    let point = [x, y];
                    let inside = |(c, i): &(Expr, Interval)| {
                        let value = c.evaluate(&point).unwrap();
                        i.lo <= value && value <= i.hi
                    };
                    if domain.constraints.iter().all(inside) {
                        assert_eq!(
                            simple.evaluate(&point),
                            e.evaluate(&point),
                            "{domain:?} {e:?} {simple:?} {point:?}"
                        );
                    }
                }
            }
        }
    }
}
