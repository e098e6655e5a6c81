//! Writing a normal form as a quasi-affine expression, as cheap as a bounded search finds.
//!
//! The search of `planning` finds the cheapest plan for a sum; this file builds expressions from it.

use super::form::{Form, What};
use super::planned::CompoundTerm;
use super::read::Dividend;
use super::sum::Sum;
use crate::expr::Expr;
use crate::expr::cost;
use std::collections::BTreeMap;

/// The largest expression that is simplified part by part.
const PARTS: usize = 150;

impl Form {
    /// The simplest equivalent of an expression that this form finds.
    pub fn simplify(&mut self, e: &Expr) -> Expr {
        self.simplify_whole(e, &mut None).0
    }

    /// [`Form::simplify`], and the normal form from which the result was written, if it was; `last` is as for
    /// [`Form::normal_after`].
    pub(super) fn simplify_whole<'e>(&mut self, e: &'e Expr, last: &mut Dividend<'e>) -> (Expr, Option<Sum>) {
        let sum = self.normal_after(e, last);
        match sum.as_ref().and_then(|s| self.write(s)) {
            Some(simple) if cost(&simple) <= cost(e) => (simple, sum),
            _ if e.size() <= PARTS => (self.simplify_parts(e), None),
            _ => (e.clone(), None),
        }
    }

    /// Simplifies only the parts, for use if the result for the whole costs more or cannot be computed.
    fn simplify_parts(&mut self, e: &Expr) -> Expr {
        match e {
            Expr::Const(_) | Expr::Var(_) => e.clone(),
            Expr::Add(..) => {
                let term = |t: &Expr| match t {
                    // The sign is part of the sum.
                    Expr::Mul(x, -1) => scaled(self.simplify(x), -1),
                    t => self.simplify(t),
                };
                let terms: Vec<Expr> = e.terms().into_iter().map(term).collect();
                let sum = in_order(terms.iter().flat_map(Expr::terms));
                sum.filter(|sum| cost(sum) <= cost(e)).unwrap_or_else(|| e.clone())
            }
            Expr::Mul(a, c) => scaled(self.simplify(a), *c),
            Expr::Mod(a, m) => self.simplify(a).modulo(*m),
            Expr::FloorDiv(a, d) => {
                let quotient = self.simplify(a).floor_div(*d);
                if cost(&quotient) <= cost(e) {
                    return quotient;
                }
                let above = rounded_up(a, *d).map(|above| self.simplify(&above));
                above.map_or_else(|| e.clone(), |above| (above + Expr::Const(d - 1)).floor_div(*d))
            }
            Expr::Min(a, b) => {
                let (a, b) = sorted(self.simplify(a), self.simplify(b));
                Expr::Min(a, b)
            }
            Expr::Max(a, b) => {
                let (a, b) = sorted(self.simplify(a), self.simplify(b));
                Expr::Max(a, b)
            }
        }
    }

    /// Writes a sum as an expression; `None` if no plan is found.
    pub(super) fn write(&mut self, s: &Sum) -> Option<Expr> {
        self.plan(s, 0)?;
        self.build(s)
    }

    /// The expression of the plan for a sum.
    fn build(&self, s: &Sum) -> Option<Expr> {
        let mut terms: Vec<(i64, Expr)> = Vec::new();
        let mut s = s;
        while !self.is_linear(s) {
            let choice = self.written.get(s, 0)?.as_ref()?.choice?;
            let (term, c, rest) = &self.choices[choice as usize];
            let base = match term {
                CompoundTerm::Quotient(x, m) => Expr::FloorDiv(Box::new(self.build(x)?), *m),
                CompoundTerm::Remainder(x, m) => Expr::Mod(Box::new(self.build(x)?), *m),
                CompoundTerm::Min(a, b) => {
                    let (a, b) = sorted(self.build(a)?, self.build(b)?);
                    Expr::Min(a, b)
                }
                CompoundTerm::Max(a, b) => {
                    let (a, b) = sorted(self.build(a)?, self.build(b)?);
                    Expr::Max(a, b)
                }
            };
            match terms.iter_mut().find(|t| t.1 == base) {
                Some(same) => same.0 = same.0.checked_add(*c)?,
                None => terms.push((*c, base)),
            }
            s = rest;
        }
        terms.sort_by(|a, b| a.1.cmp(&b.1));
        let plain = s.terms.iter().map(|(a, c)| match &self.atoms[a as usize].what {
            What::Var(v) => (c, Expr::Var(*v)),
            What::Opaque(e) => (c, e.clone()),
            _ => unreachable!("only plain atoms are left"),
        });
        let all: Vec<(i64, Expr)> = plain.chain(terms).filter(|t| t.0 != 0).collect();
        assemble(all, s.constant)
    }
}

/// The two sides of a minimum in one order.
fn sorted(a: Expr, b: Expr) -> (Box<Expr>, Box<Expr>) {
    if b < a { (b.into(), a.into()) } else { (a.into(), b.into()) }
}

/// The `x` with `a floordiv d = x ceildiv d`, if a term of `a` shows it.
fn rounded_up(a: &Expr, d: i64) -> Option<Expr> {
    let mut terms = a.terms();
    let k = terms.iter().position(|t| **t == Expr::Const(d - 1))?;
    terms.remove(k);
    (!terms.is_empty()).then(|| Expr::sum(terms.into_iter().cloned().collect()))
}

/// The sum of terms in the order of a written normal form.
fn in_order<'a>(terms: impl Iterator<Item = &'a Expr>) -> Option<Expr> {
    let mut constant = 0i64;
    let mut list: BTreeMap<&Expr, i64> = BTreeMap::new();
    let add = |sum: &mut i64, c: i64| sum.checked_add(c).map(|new| *sum = new);
    for term in terms {
        match term {
            Expr::Const(c) => constant = constant.checked_add(*c)?,
            Expr::Mul(x, c) => add(list.entry(&**x).or_default(), *c)?,
            x => add(list.entry(x).or_default(), 1)?,
        }
    }
    assemble(list.into_iter().filter(|t| t.1 != 0).map(|(e, c)| (c, e.clone())).collect(), constant)
}

/// `e * c`, with one product at most.
fn scaled(e: Expr, c: i64) -> Expr {
    match e {
        Expr::Const(x) if x.checked_mul(c).is_some() => Expr::Const(x * c),
        Expr::Mul(x, f) if f.checked_mul(c).is_some() => x.times(f * c),
        e => e.times(c),
    }
}

/// A sum of terms with equal factors taken out, ordered for as few signs as possible; `None` if a coefficient has no
/// absolute value.
fn assemble(terms: Vec<(i64, Expr)>, constant: i64) -> Option<Expr> {
    if terms.iter().any(|t| t.0 == i64::MIN) {
        return None;
    }
    let shared = |k: usize| terms[k].0.abs() != 1 && terms[..k].iter().any(|t| t.0.abs() == terms[k].0.abs());
    if terms.len() <= 16 && !(1..terms.len()).any(shared) {
        return ordered(terms, constant);
    }
    let mut groups: Vec<(i64, Vec<(i64, Expr)>)> = Vec::with_capacity(terms.len());
    let mut places: BTreeMap<i64, usize> = BTreeMap::new();
    for (c, e) in terms {
        match places.get(&c.abs()) {
            Some(k) => groups[*k].1.push((c.signum(), e)),
            None => {
                if c.abs() != 1 {
                    places.insert(c.abs(), groups.len());
                }
                groups.push((c, vec![(c.signum(), e)]));
            }
        }
    }
    let mut together = Vec::with_capacity(groups.len());
    for (c, mut members) in groups {
        let sign = if members.iter().any(|m| m.0 > 0) { 1 } else { -1 };
        let e = if members.len() == 1 {
            members.pop()?.1
        } else {
            members.iter_mut().for_each(|m| m.0 *= sign);
            ordered(members, 0)?
        };
        together.push((c.abs() * sign, e));
    }
    ordered(together, constant)
}

/// A sum of terms, starting with a term without a sign if there is one.
fn ordered(mut terms: Vec<(i64, Expr)>, constant: i64) -> Option<Expr> {
    if terms.len() == 1 && constant == 0 {
        let (c, base) = terms.pop()?;
        return Some(base.times(c));
    }
    let rank = |c: i64| if c > 0 { 0 } else { 1 };
    let lead = match terms.iter().any(|t| t.0 > 0) {
        true => None,
        // The constant, which costs no sign.
        false if constant > 0 && terms.iter().any(|t| t.0 == -1) => None,
        false if constant < 0 && terms.iter().all(|t| t.0 == -1) => None,
        false => terms.iter().position(|t| t.0 != -1),
    };
    let constant_first = constant != 0 && !terms.is_empty() && lead.is_none() && terms.iter().all(|t| t.0 < 0);
    let mut list = Vec::with_capacity(terms.len() + 1);
    if constant_first {
        list.push(Expr::Const(constant));
    }
    if let Some(k) = lead {
        let (c, base) = terms.remove(k);
        list.push(base.times(c));
    }
    terms.sort_by_key(|t| rank(t.0));
    for (c, base) in terms {
        list.push(base.times(c));
    }
    if (constant != 0 || list.is_empty()) && !constant_first {
        list.push(Expr::Const(constant));
    }
    Some(Expr::sum(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of parts come from texts, so a coefficient may be the least number of 64 bits.
    #[test]
    fn a_coefficient_without_an_absolute_value_is_refused() {
        let term = |v: usize, c: i64| Expr::Var(v).times(c);
        for least in [[term(0, 2), term(1, i64::MIN)], [term(0, i64::MIN / 2), term(0, i64::MIN / 2)]] {
            assert_eq!(in_order(least.iter()), None);
        }
        assert_eq!(in_order([term(1, 2), term(0, -i64::MAX)].iter()), Some(term(1, 2) + term(0, -i64::MAX)));
    }
}
