//! The normal form of an expression: a sum of atoms with rational coefficients.
//!
//! *Atoms* are variables, remainders `sum mod m` and minima `min(sum, 0)`. Everything else reduces to them:
//!
//! | expression | becomes |
//! |---|---|
//! | `e floordiv d` | `(e - e mod d) / d` |
//! | `min(a, b)` | `b + min(a - b, 0)` |
//! | `max(a, b)` | `a - min(a - b, 0)` |
//!
//! So terms cancel by addition, and only `mod` and `min` have rules. For each atom the form keeps an interval and a
//! residue class, narrowed by the facts from constraints.
//!
//! *Example.* `(8*d0 + d1) floordiv 8 * 8 + d1 mod 8` with `d1 in [0, 7]`: the quotient is
//! `(8*d0 + d1 - (8*d0 + d1) mod 8) / 8`; by [`Form::reduced`] the remainder is that of `d1`, and by
//! [`Form::one_period`] that is `d1`. The quotient is `d0`, the sum `8*d0 + d1`.
//!
//! The rules for `e mod m` are in `remainder`.
//!
//! *Cost.* Each expression may look at [`STEPS`] terms and [`STEPS_PER_OPERATION`] more for each of its operations, at
//! most [`FACTS`] constraints, and [`OPAQUE`] subexpressions on which the arithmetic gave up. Beyond that the
//! expression is returned unchanged. So time is proportional to the size of the expression, and remainders are looked
//! up in a table.
//!
//! *Not promised:* that equal expressions have equal forms. Remainders of non-linear sums may stay apart.

use super::memo::Memo;
use super::planned::{LastTerm, Planned, Tried};
use super::sum::Sum;
use super::terms::Atom;
use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval, WideInterval};
use crate::maps::steps::{Log, Rule};
use crate::numbers::negatable;

/// An atom, its interval, and its residue class: it equals `residue` modulo `step`.
pub(super) struct Known {
    pub what: What,
    pub within: WideInterval,
    pub step: i64,
    pub residue: i64,
    /// The nesting depth of atoms in it: 0 for a variable.
    pub level: u32,
}

impl Known {
    /// The value, if there is only one and it fits in 64 bits.
    pub(super) fn value(&self) -> Option<i64> {
        self.within.narrow().filter(|i| i.lo == i.hi).map(|i| i.lo)
    }
}

/// The kinds of atoms. The sums have integer coefficients.
pub(super) enum What {
    /// A variable of the domain.
    Var(usize),
    /// `sum mod m`.
    Remainder(Sum, i64),
    /// `min(sum, 0)`; its first coefficient is positive and its coefficients have no common divisor.
    Least(Sum),
    /// An expression on which the arithmetic gave up.
    Opaque(Expr),
}

impl What {
    /// The order of the kinds.
    pub(super) fn rank(&self) -> u8 {
        match self {
            What::Var(_) => 0,
            What::Remainder(..) => 1,
            What::Least(_) => 2,
            What::Opaque(_) => 3,
        }
    }
}

/// The normal form over one domain: its atoms, and the facts from constraints.
///
/// Tables are only looked up, never iterated, so the outcome does not depend on their order.
pub struct Form {
    pub(super) atoms: Vec<Known>,
    /// The remainders of sums by moduli.
    pub(super) remainders: Memo<Sum>,
    /// The atoms of minima.
    pub(super) least: Memo<Atom>,
    /// Sums without a constant, first coefficient positive and all coprime, with the interval of their value.
    pub(super) facts: Vec<(Sum, WideInterval)>,
    pub(super) written: Memo<Option<Planned>>,
    /// The last terms chosen by plans.
    pub(super) choices: Vec<LastTerm>,
    /// Reusable lists of last terms.
    pub(super) spare: Vec<Tried>,
    /// A reusable list of dividends.
    pub(super) bases: Vec<Sum>,
    /// A reusable list of divisors.
    pub(super) divisors: Vec<i64>,
    /// The remaining budget of work for the current expression.
    pub(super) steps: usize,
    /// Whether the budget of any expression ran out. Results until then depend on the order of its terms.
    pub(super) exhausted: bool,
    /// The expressions that replace the variables, if any.
    pub(super) given: Option<Vec<Sum>>,
    pub(super) opaque: usize,
    /// The depth of nested splits of a remainder into parts that are multiples only together.
    pub(super) depth: usize,
    /// The log of steps, if requested.
    pub(super) log: Option<Log>,
}

/// The budget of any expression, in terms visited, and the budget that each of its operations adds.
const STEPS: usize = 2_000;
pub(super) const STEPS_PER_OPERATION: usize = 20;

/// The most facts and the most opaque expressions; and the most terms of a sum for which facts are tried.
pub(super) const FACTS: usize = 64;
pub(super) const OPAQUE: usize = 64;
pub(super) const LONG: usize = 64;

impl Form {
    /// The normal form over a domain.
    pub fn new(domain: &Domain) -> Form {
        Form::logged(domain, None)
    }

    /// The normal form over a domain, with a log of its steps.
    pub(super) fn logged(domain: &Domain, log: Option<Log>) -> Form {
        let mut form = Form::of_box(&domain.vars);
        form.log_with(log);
        for (e, i) in &domain.constraints {
            // A constraint that does not fit into the arithmetic is not used.
            let _ = form.assume(e, *i);
        }
        form
    }

    /// The normal form over a domain in which equalities fix variables, with their values substituted; `None` without
    /// such equalities.
    pub(super) fn solved(domain: &Domain, log: Option<Log>) -> Option<Form> {
        let equal = |c: &&(Expr, Interval)| c.1.lo == c.1.hi;
        domain.constraints.iter().find(equal)?;
        let mut form = Form::of_box(&domain.vars);
        form.log_with(log);
        let mut given: Vec<Sum> = (0..domain.vars.len()).map(|v| form.atom(v as Atom)).collect();
        let mut any = false;
        for (e, i) in domain.constraints.iter().filter(equal).take(FACTS) {
            let Some(mut sum) = form.normal(e).filter(|s| s.den == 1 && s.terms.len() <= LONG) else { continue };
            // The equality in terms of the variables that are not yet replaced.
            let Some(mut next) = i.lo.checked_neg().and_then(|shift| sum.clone().shifted(shift)) else { continue };
            sum.constant = 0;
            for (a, c) in sum.terms.iter() {
                if let Some(by) = given.get(a as usize) {
                    let replaced = next.plus_atom(a, -c, 1).and_then(|s| s.plus(by, c, 1));
                    next = replaced?;
                }
            }
            let vars_only = next.terms.iter().all(|t| (t.0 as usize) < given.len());
            let Some((v, c)) = next.terms.iter().rev().find(|t| t.1.abs() == 1).filter(|_| vars_only) else {
                continue;
            };
            let value = next.plus_atom(v, -c, 1)?.scaled(-c, 1)?;
            form.note(Rule::Solved, |form| Some((Expr::Var(v as usize), form.expr(&value)?, Some((e.clone(), *i)))));
            for by in &mut given {
                let k = by.coefficient(v);
                if k != 0 {
                    *by = by.plus_atom(v, -k, 1)?.plus(&value, k, 1)?;
                }
            }
            any = true;
        }
        any.then_some(())?;
        let log = form.log.take();
        form = Form::of_box(&domain.vars);
        form.log_with(log);
        for (v, by) in given.iter().enumerate() {
            if *by != Sum::atom(v as Atom) {
                let _ = form.assume_sum(by, domain.vars[v]);
            }
        }
        form.given = Some(given);
        for (e, i) in &domain.constraints {
            let _ = form.assume(e, *i);
        }
        Some(form)
    }

    /// The normal form over a box.
    pub(super) fn of_box(vars: &[Interval]) -> Form {
        let mut form = Form {
            atoms: Vec::with_capacity(vars.len() + 16),
            remainders: Memo::new(),
            least: Memo::new(),
            facts: Vec::new(),
            written: Memo::new(),
            choices: Vec::new(),
            spare: Vec::new(),
            bases: Vec::new(),
            divisors: Vec::new(),
            steps: 0,
            exhausted: false,
            given: None,
            opaque: 0,
            depth: 0,
            log: None,
        };
        for (v, i) in vars.iter().enumerate() {
            form.atoms.push(Known { what: What::Var(v), within: (*i).into(), step: 1, residue: 0, level: 0 });
        }
        form
    }

    /// A closed interval that holds every value of an expression that fits in 64 bits.
    pub fn interval(&mut self, e: &Expr) -> Interval {
        self.bounds(e).within_64_bits()
    }

    /// Closed bounds of an expression's values.
    pub(crate) fn bounds(&mut self, e: &Expr) -> WideInterval {
        self.normal(e).map_or(WideInterval::ALL, |s| self.range(&s))
    }

    /// Whether two expressions have one normal form, and so are equal at every point of the domain.
    pub(crate) fn same(&mut self, a: &Expr, b: &Expr) -> bool {
        let a = self.normal(a);
        a.is_some() && a == self.normal(b)
    }

    /// Grants the budget of this many operations.
    pub(super) fn allow(&mut self, operations: usize) {
        self.steps = STEPS + STEPS_PER_OPERATION * operations;
    }

    /// Charges work on this many terms; `None` once it exceeds the budget of the expression.
    pub(super) fn work(&mut self, terms: usize) -> Option<()> {
        match self.steps.checked_sub(1 + terms) {
            Some(left) => self.steps = left,
            None => {
                self.exhausted = true;
                return None;
            }
        }
        Some(())
    }

    /// An atom as a sum: a constant if it has one value.
    pub(super) fn atom(&self, a: Atom) -> Sum {
        self.atoms[a as usize].value().and_then(negatable).map_or_else(|| Sum::atom(a), Sum::constant)
    }
}
