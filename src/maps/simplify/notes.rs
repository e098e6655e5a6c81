//! The log of a simplification, and normal forms as expressions in its steps.

use super::form::{Form, Known, What};
use super::sum::Sum;
use super::terms::Atom;
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::steps::{Claim, Constraint, Log, Rule};

/// The sides of an equation, and the fact that it needs.
pub(super) type Equation = (Expr, Expr, Option<Constraint>);

impl Form {
    /// Starts to log steps.
    pub(super) fn log_with(&mut self, log: Option<Log>) {
        if log.is_some() {
            self.log = log;
            for a in 0..self.atoms.len() {
                self.note_fixed(a as Atom);
            }
        }
    }

    /// Moves the recorded steps to the end of `log`.
    pub(super) fn log_into(&mut self, log: &mut Option<&mut Log>) {
        if let (Some(log), Some(own)) = (log, self.log.take()) {
            log.append(own);
        }
    }

    /// Logs an equation: its sides and the fact used. Does nothing if a number does not fit in 64 bits.
    pub(super) fn note(&mut self, rule: Rule, sides: impl FnOnce(&Form) -> Option<Equation>) {
        if let Some((rule, (before, after, fact))) = self.equation(rule, sides)
            && let Some(log) = &mut self.log
        {
            log.add(rule, Claim::Equal(before, after), fact);
        }
    }

    /// An equation to be logged later; `None` if nothing is logged.
    pub(super) fn equation(
        &self,
        rule: Rule,
        sides: impl FnOnce(&Form) -> Option<Equation>,
    ) -> Option<(Rule, Equation)> {
        if self.log.as_ref().is_some_and(Log::open) { Some((rule, sides(self)?)) } else { None }
    }

    /// Logs that an atom has one value, if it has.
    pub(super) fn note_fixed(&mut self, a: Atom) {
        if let Some(value) = self.atoms[a as usize].value() {
            self.note(Rule::Fixed, |form| {
                let e = form.atom_expr(a)?;
                Some((e.clone(), Expr::Const(value), Some((e, Interval::new(value, value)))))
            });
        }
    }

    /// Logs that result `k` becomes an expression with the same normal form.
    pub(super) fn note_result(&mut self, k: usize, before: &Expr, after: &Expr) {
        self.note_same(before, after, |before, after| Claim::Result(k, before, after));
    }

    /// Logs a claim that holds because two expressions have one normal form.
    pub(super) fn note_same(&mut self, before: &Expr, after: &Expr, claim: impl FnOnce(Expr, Expr) -> Claim) {
        if self.log.is_some() && before != after {
            // Computing the normal form logs the equations that lead from `after` back to it.
            let _ = self.normal(after);
            if let Some(log) = &mut self.log {
                log.add(Rule::Definition, claim(before.clone(), after.clone()), None);
            }
        }
    }

    /// The sum as an expression, term by term.
    pub(super) fn expr(&self, s: &Sum) -> Option<Expr> {
        let mut terms = Vec::with_capacity(s.terms.len() + 1);
        for (a, c) in s.terms.iter() {
            terms.push(self.atom_expr(a)?.times(c));
        }
        if s.constant != 0 || terms.is_empty() {
            terms.push(Expr::Const(s.constant));
        }
        Some(Expr::sum(terms).floor_div(s.den))
    }

    pub(super) fn remainder_expr(&self, s: &Sum, m: i64) -> Option<Expr> {
        Some(Expr::Mod(self.expr(s)?.into(), m))
    }

    pub(super) fn atom_expr(&self, a: Atom) -> Option<Expr> {
        match &self.atoms[a as usize].what {
            What::Var(v) => Some(Expr::Var(*v)),
            What::Remainder(s, m) => self.remainder_expr(s, *m),
            What::Least(s) => Some(Expr::Min(self.expr(s)?.into(), Expr::Const(0).into())),
            What::Opaque(e) => Some(e.clone()),
        }
    }

    /// The interval of a sum, as a fact; `None` if an end does not fit in 64 bits.
    pub(super) fn within(&self, s: &Sum) -> Option<Constraint> {
        Some((self.expr(s)?, self.range(s).narrow()?))
    }

    /// A known residue of a variable in the sum, as a fact.
    pub(super) fn residue_used(&self, s: &Sum) -> Option<Constraint> {
        s.terms.iter().find_map(|(a, _)| match &self.atoms[a as usize] {
            Known { what: What::Var(v), step: 2.., residue, .. } => {
                Some((Expr::Var(*v).modulo(self.atoms[a as usize].step), Interval::new(*residue, *residue)))
            }
            _ => None,
        })
    }
}
