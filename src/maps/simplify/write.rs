//! Writing a normal form out as a quasi-affine expression, as cheap as a bounded search finds it.
//!
//! A remainder atom leaves by one of two doors: as `c * (x mod m)`, or, with a coefficient `-c`, together with what it
//! completes to a division: `c*m * (x floordiv m) = c*x - c*(x mod m)`, where `x` may be any sum that is the same
//! modulo `m`; it is chosen to cancel most of the rest. A minimum leaves together with a part of the rest, which goes
//! into both sides. The search first finds the cheapest plan, remembered for each sum, and builds expressions last.

use super::form::{Form, What};
use super::planned::{LastTerm, Planned, Term};
use super::sum::{Sum, divides, residue};
use super::terms::{Atom, TermList};
use crate::expr::Expr;
use crate::expr::cost;
use crate::numbers::near_gcd;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How deep plans nest, how many atoms of a sum are tried as its last term, and how many remainders a sum may have to
/// be searched at all.
const DEPTH: u32 = 24;
const TRIED: usize = 2;
const MANY: usize = 16;

/// How large an expression may be to be simplified part by part.
const PARTS: usize = 150;

impl Form {
    /// The simplest equivalent of an expression that this form finds.
    pub fn simplify(&mut self, e: &Expr) -> Expr {
        self.simplify_whole(e).0
    }

    /// [`Form::simplify`], and the normal form from which the result was written, where it was.
    pub(super) fn simplify_whole(&mut self, e: &Expr) -> (Expr, Option<Sum>) {
        let sum = self.normal(e);
        match sum.as_ref().and_then(|s| self.write(s)) {
            Some(simple) if cost(&simple) <= cost(e) => (simple, sum),
            _ if e.size() <= PARTS => (self.simplify_parts(e), None),
            _ => (e.clone(), None),
        }
    }

    /// Simplifies only the parts: for where the result for the whole costs more, or cannot be computed.
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
                let above = e.ceil_div().map(|above| self.simplify(above));
                above.map_or_else(|| e.clone(), |above| (above + Expr::Const(d - 1)).floor_div(*d))
            }
            Expr::Min(a, b) => Expr::Min(self.simplify(a).into(), self.simplify(b).into()),
            Expr::Max(a, b) => Expr::Max(self.simplify(a).into(), self.simplify(b).into()),
        }
    }

    /// Writes a sum as an expression; `None` where no way is found.
    pub(super) fn write(&mut self, s: &Sum) -> Option<Expr> {
        self.plan(s, 0)?;
        self.build(s)
    }

    /// Finds the cheapest way to write a sum.
    fn plan(&mut self, s: &Sum, depth: u32) -> Option<Planned> {
        if self.is_linear(s) {
            return Some(self.plain(s));
        }
        if let Some(known) = self.written.get(s, 0) {
            return known.clone();
        }
        if depth > DEPTH {
            return None;
        }
        self.work(s.terms.len())?;
        let plan = self.cheapest(s, depth);
        self.written.insert(s.clone(), 0, plan.clone());
        plan
    }

    /// The cheapest way to write a sum: its last term, and what is left. The search takes the alternatives in the order
    /// of what they cost at least, and ends where that is no less than the best one costs.
    fn cheapest(&mut self, s: &Sum, depth: u32) -> Option<Planned> {
        let mut alternatives = self.last_terms(s)?;
        let mut bounded: Vec<(u32, usize)> =
            alternatives.iter().enumerate().map(|(k, last)| (self.least_cost_with(last), k)).collect();
        bounded.sort_unstable();
        let mut best: Option<Planned> = None;
        let mut chosen = None;
        for (bound, k) in bounded {
            if best.as_ref().is_some_and(|b| bound >= b.list) {
                break;
            }
            let (term, c, rest) = &alternatives[k];
            let Some(inner) = self.term_cost(term, depth + 1) else { continue };
            let own = 1 + u32::from(c.abs() != 1) + inner;
            if best.as_ref().is_some_and(|b| own + self.least_cost(rest) >= b.list) {
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
        self.spare.push(alternatives);
        Some(Planned { choice: Some(Rc::new(chosen?)), ..best? })
    }

    /// Whether the sum is one of variables and a constant.
    fn is_linear(&self, s: &Sum) -> bool {
        s.den == 1 && s.terms.iter().all(|t| self.is_plain(t.0))
    }

    pub(super) fn is_plain(&self, a: Atom) -> bool {
        matches!(self.atoms[a as usize].what, What::Var(_) | What::Opaque(_))
    }

    /// The one way to write variables and a constant.
    fn plain(&self, s: &Sum) -> Planned {
        let costs = |a: Atom| match &self.atoms[a as usize].what {
            What::Opaque(e) => cost(e),
            _ => 0,
        };
        let terms = s.terms.iter().map(|t| 1 + costs(t.0)).sum::<u32>() + factors(s);
        let leads = s.terms.iter().any(|t| t.1 != -1) || s.constant != 0 || s.terms.is_empty();
        Planned { list: terms + u32::from(s.constant != 0), leads, choice: None }
    }

    /// The last terms that are tried for a sum with these remainders and minima.
    fn last_terms(&mut self, s: &Sum) -> Option<Vec<LastTerm>> {
        let mut count = 0;
        // Those that hold others first.
        let mut others: [Option<(Atom, i64)>; TRIED] = [None; TRIED];
        for mut t in s.terms.iter() {
            if self.is_plain(t.0) {
                continue;
            }
            count += 1;
            for place in &mut others {
                match place {
                    Some(first) if self.compare(first.0, t.0) == Ordering::Less => std::mem::swap(first, &mut t),
                    Some(_) => {}
                    None => {
                        *place = Some(t);
                        break;
                    }
                }
            }
        }
        let many = count > MANY;
        let mut alternatives = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(12));
        for (atom, num) in others.into_iter().take(if many { 1 } else { TRIED }).flatten() {
            self.alternatives(s, atom, num, many, &mut alternatives)?;
        }
        if s.den > 1 {
            // A constant that stays inside is none beside it.
            alternatives.push(whole(s, s.constant)?);
            let within = residue(s.constant, s.den);
            if within != s.constant {
                alternatives.push(whole(s, within)?);
            }
        }
        self.work(alternatives.len() * s.terms.len())?;
        Some(alternatives)
    }

    /// What a sum costs at least, as a list of terms, with this last term.
    fn least_cost_with(&self, (term, c, rest): &LastTerm) -> u32 {
        let inner = match term {
            Term::Quotient(x, _) | Term::Remainder(x, _) => 3 + self.least_cost(x).saturating_sub(1),
            Term::Min(a, b) | Term::Max(a, b) => {
                1 + self.least_cost(a).saturating_sub(1) + self.least_cost(b).saturating_sub(1)
            }
        };
        1 + u32::from(c.abs() != 1) + inner + self.least_cost(rest)
    }

    /// What writing a sum costs at least, as a list of terms.
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
            // A remainder is a term beside the variables, or completes them to a quotient, which then has a factor.
            true if s.den == 1 && !minima => vars + 4,
            true => (vars + 3).max(4),
        }
    }

    fn term_cost(&mut self, term: &Term, depth: u32) -> Option<u32> {
        match term {
            Term::Quotient(x, m) => {
                let total = self.plan(x, depth)?.total();
                // Rounding up takes no addition.
                Some(3 + total - u32::from(x.den == 1 && x.constant == m - 1 && !x.terms.is_empty() && total > 0))
            }
            Term::Remainder(x, _) => Some(3 + self.plan(x, depth)?.total()),
            Term::Min(a, b) | Term::Max(a, b) => Some(1 + self.plan(a, depth)?.total() + self.plan(b, depth)?.total()),
        }
    }

    /// The ways in which this atom can be in the last term of the sum.
    fn alternatives(&mut self, s: &Sum, atom: Atom, num: i64, many: bool, out: &mut Vec<LastTerm>) -> Option<()> {
        let without = s.plus_atom(atom, -num, s.den)?;
        let whole = divides(s.den, num);
        let (x, m) = match &self.atoms[atom as usize].what {
            What::Remainder(x, m) => (x.clone(), *m),
            What::Least(x) => {
                let x = x.clone();
                return self.minima(&without, &x, (num, s.den), out);
            }
            What::Var(_) | What::Opaque(_) => unreachable!("filtered by the caller"),
        };
        let g = near_gcd(self.atoms[atom as usize].step, m) % m;
        let r = if g > 1 { residue(self.atoms[atom as usize].residue, g) } else { 0 };
        let symmetric = x.symmetric(m);
        if whole {
            let c = num / s.den;
            let both = [Some(&symmetric).filter(|symmetric| **symmetric != x && !many), Some(&x)];
            for x in both.into_iter().flatten() {
                out.push((Term::Remainder(x.clone(), m), c, without.clone()));
                // c * (x mod m) = (c * x) mod (c * m), where that takes no factor more.
                if let (2.., 2.., Some(cm)) = (c.abs(), x.content(), c.abs().checked_mul(m)) {
                    out.push((Term::Remainder(x.scaled(c.abs(), 1)?, cm), c.signum(), without.clone()));
                }
            }
            if g > 1 && !many {
                // x mod m = g * (((x - r)/g) mod (m/g)) + r, where x is r modulo g as a whole.
                let (inner, rest) = (x.clone().shifted(-r)?.scaled(1, g)?, without.clone().shifted(c.checked_mul(r)?)?);
                out.push((Term::Remainder(inner, m / g), c.checked_mul(g)?, rest));
            }
        }
        if !many {
            self.digits_above(s, (atom, num), (&x, m), out)?;
        }
        // -num/den = c; the quotient's coefficient is c*m.
        let product = num.checked_mul(m)?;
        if many && whole || !divides(s.den, product) {
            return Some(());
        }
        if whole && without.terms.is_empty() && without.constant == 0 {
            // Alone, and no quotient: c * x - c*m * (x floordiv m) costs more.
            return Some(());
        }
        let wanted = without.scaled(s.den, -num)?;
        let mut bases = Vec::with_capacity(4);
        bases.push(x.clone());
        let holding = |(other, _): (Atom, i64)| match &self.atoms[other as usize].what {
            What::Remainder(y, n) if other != atom && divides(m, *n) => {
                (self.residue(&x.plus(y, -1, 1)?, m) == Some(0)).then_some(other)
            }
            _ => None,
        };
        let mut others: Vec<Atom> = s.terms.iter().filter_map(holding).collect();
        others.sort_unstable_by(|a, b| self.compare(*a, *b));
        bases.extend(others.into_iter().map(Sum::atom));
        for k in 0..bases.len() {
            let nearest = self.nearest(&bases[k], &wanted, m)?;
            if !bases.contains(&nearest) {
                bases.push(nearest);
            }
        }
        if !bases.contains(&symmetric) {
            bases.push(symmetric);
        }
        for numerator in bases {
            let rest = without.plus(&numerator, num, s.den)?;
            if g > 1 && !many {
                // x floordiv m = ((x - r)/g) floordiv (m/g)
                let inner = numerator.clone().shifted(-r)?.scaled(1, g)?;
                out.push((Term::Quotient(inner, m / g), -product / s.den, rest.clone()));
            }
            out.push((Term::Quotient(numerator, m), -product / s.den, rest));
        }
        let &(first, k) = x.terms.first()?;
        if !many && num > 0 && without.coefficient(first).signum() == -k.signum() {
            // x mod m = m - 1 - z mod m with z = -x - 1, and z mod m = z - m * (z floordiv m): a sum counted down.
            let without = without.plus(&Sum::constant(m - 1), num, s.den)?;
            let z = x.scaled(-1, 1)?.shifted(-1)?;
            let z = self.nearest(&z, &without.scaled(s.den, num)?, m)?;
            let rest = without.plus(&z, -num, s.den)?;
            out.push((Term::Quotient(z, m), product / s.den, rest));
        }
        Some(())
    }

    /// `x mod m - x mod n` as `n * ((x floordiv n) mod (m/n))`, where that rounds up, which takes no addition.
    fn digits_above(
        &self,
        s: &Sum,
        (atom, num): (Atom, i64),
        (x, m): (&Sum, i64),
        out: &mut Vec<LastTerm>,
    ) -> Option<()> {
        for (other, k) in s.terms.iter() {
            if let What::Remainder(_, n) = self.atoms[other as usize].what
                && k == -num
                && x.constant.checked_add(1).is_some_and(|next| divides(n, next))
                && divides(s.den, num.checked_mul(n)?)
                && self.has_digit(atom, other)
            {
                let inner = x.plus_atom(other, -1, 1)?.scaled(1, n)?;
                let rest = s.plus_atom(atom, -num, s.den)?.plus_atom(other, -k, s.den)?;
                out.push((Term::Remainder(inner, m / n), num.checked_mul(n)? / s.den, rest));
            }
        }
        Some(())
    }

    /// The ways to write `rest + num/den * min(x, 0)`.
    fn minima(&mut self, rest: &Sum, x: &Sum, (num, den): (i64, i64), out: &mut Vec<LastTerm>) -> Option<()> {
        let term = |a, b| if num > 0 { Term::Min(a, b) } else { Term::Max(a, b) };
        let opposite = |a, b| if num > 0 { Term::Max(a, b) } else { Term::Min(a, b) };
        // All of the rest goes inside, but for a common factor and the sign.
        let all = rest.plus(x, num, den)?;
        let k = [&all, rest].iter().fold(0, |k, s| near_gcd(near_gcd(k, s.constant), s.content())).max(1);
        for k in [k, -k] {
            let (a, b) = (all.scaled(k.signum(), k.abs())?, rest.scaled(k.signum(), k.abs())?);
            out.push((if k > 0 { term(a, b) } else { opposite(a, b) }, k, Sum::constant(0)));
        }
        if rest.den > 1 {
            // As little as makes both sides integers goes inside.
            let inside = Sum { den: rest.den, ..rest.symmetric(rest.den) }.lowest();
            let other = inside.plus(x, num, den)?;
            out.push((term(other, inside.clone()), 1, rest.plus(&inside, -1, 1)?));
        }
        if den / near_gcd(num, den) != 1 {
            return Some(());
        }
        let c = num / den;
        let sign = c.signum();
        // What has variables of x goes inside, with or without the constant; or nothing.
        let (shared, _) = rest.split(|a, k| x.coefficient(a) != 0 && divides(c, k / near_gcd(k, rest.den)));
        for constant in [0, rest.constant] {
            let inside = Sum { constant, ..shared.clone() }.lowest().scaled(1, c.abs())?;
            if inside.den == 1 {
                let before = rest.plus(&inside, -c.abs(), 1)?;
                out.push((term(inside.plus(x, sign, 1)?, inside), c.abs(), before));
            }
        }
        out.push((term(x.scaled(sign, 1)?, Sum::constant(0)), c.abs(), rest.clone()));
        Some(())
    }

    /// `base` with each coefficient changed by a multiple of `m` where that makes it the one in `wanted`.
    fn nearest(&self, base: &Sum, wanted: &Sum, m: i64) -> Option<Sum> {
        let step = wanted.den.checked_mul(m)?;
        let mut sum = Sum { constant: base.constant, terms: TermList::NONE, den: 1 };
        let (mut i, mut j) = (0, 0);
        while i < base.terms.len() || j < wanted.terms.len() {
            let a = base.terms.get(i).map_or(Atom::MAX, |t| t.0);
            let b = wanted.terms.get(j).map_or(Atom::MAX, |t| t.0);
            let own = if a <= b { base.terms[i].1 } else { 0 };
            let other = if b <= a { wanted.terms[j].1 } else { 0 };
            i += usize::from(a <= b);
            j += usize::from(b <= a);
            let gap = other.checked_sub(own.checked_mul(wanted.den)?)?;
            let c =
                if divides(step, gap) { own.checked_add(gap / wanted.den).filter(|c| *c != i64::MIN)? } else { own };
            sum.terms.push((a.min(b), c));
        }
        let gap = wanted.constant.checked_sub(sum.constant.checked_mul(wanted.den)?)?;
        sum.constant = sum.constant.checked_add(gap.div_euclid(step).checked_mul(m)?)?;
        (sum.constant != i64::MIN).then_some(sum)
    }

    /// The expression that was planned for a sum.
    fn build(&mut self, s: &Sum) -> Option<Expr> {
        let mut terms: Vec<(i64, Expr)> = Vec::new();
        let mut s = s.clone();
        while !self.is_linear(&s) {
            let last = self.written.get(&s, 0)?.as_ref()?.choice.clone()?;
            let (term, c, rest) = &*last;
            let base = match term {
                Term::Quotient(x, m) => Expr::FloorDiv(Box::new(self.build(x)?), *m),
                Term::Remainder(x, m) => Expr::Mod(Box::new(self.build(x)?), *m),
                Term::Min(a, b) => Expr::Min(Box::new(self.build(a)?), Box::new(self.build(b)?)),
                Term::Max(a, b) => Expr::Max(Box::new(self.build(a)?), Box::new(self.build(b)?)),
            };
            match terms.iter_mut().find(|t| t.1 == base) {
                Some(same) => same.0 = same.0.checked_add(*c)?,
                None => terms.push((*c, base)),
            }
            s.clone_from(rest);
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

/// The sum of terms in the order in which a normal form is written.
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

/// The terms that a denominator does not divide, divided together, with this much of the constant.
fn whole(s: &Sum, constant: i64) -> Option<LastTerm> {
    let (whole, part) = s.split(|_, c| divides(s.den, c));
    let part = Sum { constant, terms: part.terms, den: 1 };
    let whole = Sum { constant: s.constant.checked_sub(constant).filter(|c| *c != i64::MIN)?, ..whole }.lowest();
    Some((Term::Quotient(part, s.den), 1, whole))
}

/// How many factors other than 1 and -1 the terms have, equal ones once: terms of one factor share it.
fn factors(s: &Sum) -> u32 {
    if s.terms.len() <= MANY {
        let new = |k: &usize| {
            let c = s.terms[*k].1.abs();
            c != 1 && s.terms[..*k].iter().all(|other| other.1.abs() != c)
        };
        return (0..s.terms.len()).filter(new).count() as u32;
    }
    let factors = s.terms.iter().map(|t| t.1.abs());
    factors.filter(|c| *c != 1).collect::<BTreeSet<i64>>().len() as u32
}

/// A sum of terms, equal factors taken out, and so ordered that it needs as few signs as it can.
fn assemble(terms: Vec<(i64, Expr)>, constant: i64) -> Option<Expr> {
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

/// A sum of terms, a term without a sign of its own first, where there is one.
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
