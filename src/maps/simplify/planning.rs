//! The search for the cheapest way to write a sum.
//!
//! A plan is a last term and a plan for the terms before it. The candidates for the last term come from `last_terms`;
//! the cheapest plan is kept for each sum.

use super::form::{Form, What};
use super::planned::{CompoundTerm, LastTerm, Planned, Tried};
use super::sum::Sum;
use super::terms::Atom;
use crate::expr::cost;
use std::collections::BTreeSet;

/// The greatest depth of nested plans.
const DEPTH: u32 = 24;

/// The most terms of a sum whose factors are compared one by one.
const SHORT: usize = 16;

impl Form {
    /// The cheapest plan for a sum.
    pub(super) fn plan(&mut self, s: &Sum, depth: u32) -> Option<Planned> {
        if self.is_linear(s) {
            return Some(self.plain(s));
        }
        if let Some(known) = self.written.get(s, 0) {
            return *known;
        }
        if depth > DEPTH {
            return None;
        }
        self.work(s.terms.len())?;
        let plan = self.cheapest(s, depth);
        self.written.insert(s.clone(), 0, plan);
        plan
    }

    /// The cheapest plan for a sum with remainders or minima. The search takes the candidates in the order of their
    /// lower bounds, and ends when a bound is no less than the best cost.
    fn cheapest(&mut self, s: &Sum, depth: u32) -> Option<Planned> {
        let Tried { last: mut alternatives, mut order } = self.last_terms(s)?;
        order.extend(alternatives.iter().enumerate().map(|(k, last)| {
            let (own, rest) = self.least_cost_with(last);
            (own + rest, k, rest)
        }));
        order.sort_unstable();
        let mut best: Option<Planned> = None;
        let mut chosen = None;
        for &(bound, k, least) in &order {
            if best.as_ref().is_some_and(|b| bound >= b.list) {
                break;
            }
            let (term, c, rest) = &alternatives[k];
            let Some(inner) = self.term_cost(term, depth + 1) else { continue };
            let own = 1 + u32::from(c.abs() != 1) + inner;
            if best.as_ref().is_some_and(|b| own + least >= b.list) {
                continue;
            }
            let Some(before) = self.plan(rest, depth + 1) else { continue };
            let (list, leads) = (own + before.list, *c != -1 || before.leads);
            let better = |b: &Planned| (list, !leads) < (b.list, !b.leads);
            if best.as_ref().is_none_or(better) {
                chosen = Some(k);
                best = Some(Planned { list, leads, choice: None });
            }
        }
        let chosen = chosen.map(|k| alternatives.swap_remove(k));
        alternatives.clear();
        order.clear();
        self.spare.push(Tried { last: alternatives, order });
        self.choices.push(chosen?);
        Some(Planned { choice: Some(self.choices.len() as u32 - 1), ..best? })
    }

    /// Whether the sum has only variables and a constant.
    pub(super) fn is_linear(&self, s: &Sum) -> bool {
        s.den == 1 && s.terms.iter().all(|t| self.is_plain(t.0))
    }

    pub(super) fn is_plain(&self, a: Atom) -> bool {
        matches!(self.atoms[a as usize].what, What::Var(_) | What::Opaque(_))
    }

    /// The only plan for variables and a constant.
    fn plain(&self, s: &Sum) -> Planned {
        let costs = |a: Atom| match &self.atoms[a as usize].what {
            What::Opaque(e) => cost(e),
            _ => 0,
        };
        let terms = s.terms.iter().map(|t| 1 + costs(t.0)).sum::<u32>() + factors(s);
        let leads = s.terms.iter().any(|t| t.1 != -1) || s.constant != 0 || s.terms.is_empty();
        Planned { list: terms + u32::from(s.constant != 0), leads, choice: None }
    }

    /// Lower bounds of the cost of this last term and of the terms before it, as a list of terms.
    fn least_cost_with(&self, (term, c, rest): &LastTerm) -> (u32, u32) {
        let inner = match term {
            CompoundTerm::Quotient(x, _) | CompoundTerm::Remainder(x, _) => 3 + self.least_cost(x).saturating_sub(1),
            CompoundTerm::Min(a, b) | CompoundTerm::Max(a, b) => {
                1 + self.least_cost(a).saturating_sub(1) + self.least_cost(b).saturating_sub(1)
            }
        };
        (1 + u32::from(c.abs() != 1) + inner, self.least_cost(rest))
    }

    /// A lower bound of the cost of a sum, as a list of terms.
    fn least_cost(&self, s: &Sum) -> u32 {
        let (mut vars, mut minima) = (0, false);
        for (a, _) in s.terms.iter() {
            match &self.atoms[a as usize].what {
                What::Var(_) | What::Opaque(_) => vars += 1,
                What::Remainder(..) => {}
                What::Least(_) => minima = true,
            }
        }
        let others = vars as usize != s.terms.len() || s.den > 1;
        match others {
            false => vars + factors(s),
            // A remainder is a term of its own, or completes the variables to a quotient, which then has a factor.
            true if s.den == 1 && !minima => vars + 4,
            true => (vars + 3).max(4),
        }
    }

    fn term_cost(&mut self, term: &CompoundTerm, depth: u32) -> Option<u32> {
        match term {
            CompoundTerm::Quotient(x, m) => {
                let total = self.plan(x, depth)?.total();
                // Rounding up takes no addition.
                Some(3 + total - u32::from(x.den == 1 && x.constant == m - 1 && !x.terms.is_empty() && total > 0))
            }
            CompoundTerm::Remainder(x, _) => Some(3 + self.plan(x, depth)?.total()),
            CompoundTerm::Min(a, b) | CompoundTerm::Max(a, b) => {
                Some(1 + self.plan(a, depth)?.total() + self.plan(b, depth)?.total())
            }
        }
    }
}

/// The number of distinct factors other than 1 and -1: terms of one factor share it.
fn factors(s: &Sum) -> u32 {
    if s.terms.len() <= SHORT {
        let (mut seen, mut count) = ([0; SHORT], 0);
        for (_, c) in s.terms.iter() {
            let c = c.abs();
            if c != 1 && !seen[..count].contains(&c) {
                seen[count] = c;
                count += 1;
            }
        }
        return count as u32;
    }
    let factors = s.terms.iter().map(|t| t.1.abs());
    factors.filter(|c| *c != 1).collect::<BTreeSet<i64>>().len() as u32
}
