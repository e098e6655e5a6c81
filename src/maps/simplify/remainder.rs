//! The rules for remainders; besides minima, no other operation has rules.
//!
//! The rules for `e mod m` in the order in which they are tried; each is an equation that holds at every point,
//! which `crate::maps::check` proves again:
//!
//! | rule | equation | condition |
//! |---|---|---|
//! | one period | `e mod m = e - k*m` | `e in [k*m, (k+1)*m - 1]` |
//! | congruent | `e mod m = r mod m` | coefficients modulo `m`; `q*(y mod s) = q*y` where `m` divides `q*s`; known residues are constants |
//! | near a fact | `e mod m = d + r` | a constraint holds `d + r` in one period, and `e - d` is `r` modulo `m` |
//! | digit | `e mod m = x mod m - k*(y mod s)` | `k*s` divides `m` and `x - k*y` |
//! | ceiling | `e mod m = m - k*s + k*(y mod s) - x mod m` | `k*s` divides `m` and `x - k*y`, `m` divides `e + x + k*s - k*(y mod s)` |
//! | factor | `e mod m = g*(a mod (m/g)) + b` | `g` divides `m`, `e = g*a + b`, `b in [0, g - 1]` |
//! | none | a new atom | |

use super::form::{Form, Known, LONG, What};
use super::sum::{Sum, common, divides, is_multiple, product_residue, residue, residues_added};
use super::terms::Atom;
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::steps::Rule;

/// The greatest depth of nested splits of remainders.
const DEEP: usize = 8;

impl Form {
    /// `e mod m`, by the rules.
    pub(super) fn modulo(&mut self, e: &Sum, m: i64) -> Option<Sum> {
        if m == 1 {
            return Some(Sum::constant(0));
        }
        if e.terms.is_empty() && e.den == 1 {
            return Some(Sum::constant(residue(e.constant, m)));
        }
        self.work(e.terms.len())?;
        if e.den > 1 {
            // e mod m = ((den * e) mod (den * m)) / den
            let scaled = e.numerators();
            return self.modulo(&scaled, e.den.checked_mul(m)?)?.scaled(1, e.den);
        }
        if self.log.is_none()
            && let Some(done) = self.quick_period(e, m)
        {
            return Some(done);
        }
        if let Some(done) = self.remainders.get(e, m) {
            // A fact may have fixed the atom later.
            return match done.terms.only() {
                Some((a, 1)) if done.den == 1 => self.atom(a).shifted(done.constant),
                _ => Some(done.clone()),
            };
        }
        let done = match self.plain_sum(e).and_then(|plain| self.plain_rules(plain, m)) {
            Some(done) => done,
            None => self.by_rules(e, m)?,
        };
        if !self.is_remainder(&done, e, m) {
            self.remainders.insert(e.clone(), m, done.clone());
        }
        Some(done)
    }

    pub(super) fn note_period(&mut self, e: &Sum, m: i64, done: &Sum) {
        self.note(Rule::OnePeriod, |form| {
            let constant = done.terms.is_empty();
            // A constant needs no fact, unless only bounds make it one.
            let fact = form.within(if constant { e } else { done }).filter(|(_, i)| !constant || i.lo == i.hi);
            Some((form.remainder_expr(e, m)?, form.expr(done)?, fact))
        });
    }

    fn by_rules(&mut self, e: &Sum, m: i64) -> Option<Sum> {
        if let Some(done) = self.one_period(e, m) {
            self.note_period(e, m, &done);
            return Some(done);
        }
        let Some(reduced) = self.reduced(e, m)? else { return self.without_period(e, m) };
        if reduced.terms.is_empty() {
            let done = Sum::constant(reduced.constant);
            self.note_period(e, m, &done);
            return Some(done);
        }
        let done = match self.one_period(&reduced, m) {
            Some(done) => {
                self.note_period(&reduced, m, &done);
                done
            }
            None => self.without_period(&reduced, m)?,
        };
        self.note(Rule::Congruent, |form| {
            let right = Expr::Mod(form.expr(&reduced)?.into(), m);
            Some((form.remainder_expr(e, m)?, right, form.residue_used(e)))
        });
        Some(done)
    }

    /// The rules for a reduced sum that is not in one period.
    fn without_period(&mut self, e: &Sum, m: i64) -> Option<Sum> {
        if let Some(done) = self.symmetric_period(e, m) {
            self.note_period(e, m, &done);
            return Some(done);
        }
        if let Some(done) = self.near_fact(e, m) {
            self.note_period(e, m, &done);
            return Some(done);
        }
        if let Some(done) = self.digit(e, m)? {
            return Some(done);
        }
        if let Some(done) = self.ceiling(e, m)? {
            return Some(done);
        }
        if let Some(done) = self.factor(e, m)? {
            return Some(done);
        }
        self.remainder(e, m)
    }

    /// `e mod m = e - k*m`, if all values of `e` are in one period `[k*m, (k+1)*m)`.
    fn one_period(&self, e: &Sum, m: i64) -> Option<Sum> {
        let Interval { lo, hi } = self.range_in(e, m)?;
        let k = lo.div_euclid(m);
        if lo == hi { Some(Sum::constant(residue(lo, m))) } else { e.clone().shifted(k.checked_mul(-m)?) }
    }

    /// [`Form::one_period`] of a sum equal to `e` modulo `m`, with coefficients from `-m/2` to `m/2`.
    fn symmetric_period(&self, e: &Sum, m: i64) -> Option<Sum> {
        if e.terms.iter().all(|t| t.1 <= m / 2) && e.constant <= m / 2 {
            return None;
        }
        self.one_period(&e.symmetric(m), m)
    }

    /// `e mod m`, if `e = r + d` or `e = r - d` modulo `m`, and a fact on `d` keeps that in one period.
    fn near_fact(&self, e: &Sum, m: i64) -> Option<Sum> {
        let facts = if e.terms.len() <= LONG { &self.facts[..] } else { &[] };
        facts.iter().flat_map(|fact| [(&fact.0, 1), (&fact.0, -1)]).find_map(|(direction, sign)| {
            let residue = self.residue(&e.plus(direction, -sign, 1)?, m)?;
            self.one_period(&direction.scaled(sign, 1)?.shifted(residue)?, m)
        })
    }

    /// A sum equal to `e` modulo `m`: coefficients in `1..m`, remainders opened (`q * (y mod s) = q * y` where `m`
    /// divides `q * s`), and terms of known residue as constants. `None` if that is `e` itself.
    fn reduced(&self, e: &Sum, m: i64) -> Option<Option<Sum>> {
        let (mut sum, mut opened) = self.reduced_once(e, m)?;
        while opened {
            (sum, opened) = self.reduced_once(&sum, m)?;
        }
        Some((sum != *e).then_some(sum))
    }

    /// [`Form::reduced`], and whether a remainder was opened, so that there may be more to do.
    fn reduced_once(&self, e: &Sum, m: i64) -> Option<(Sum, bool)> {
        let mut sum = Sum::constant(residue(e.constant, m));
        let mut opened = false;
        for (a, c) in e.terms.iter() {
            let c = residue(c, m);
            if c == 0 {
                continue;
            }
            let known = &self.atoms[a as usize];
            match &known.what {
                _ if known.step > 1 && is_multiple(c, known.step, m) => {
                    sum.constant = residues_added(sum.constant, product_residue(c, known.residue, m), m);
                }
                What::Remainder(y, s) if is_multiple(c, *s, m) => {
                    sum.constant = residues_added(sum.constant, product_residue(y.constant, c, m), m);
                    for (a, k) in y.terms.iter() {
                        sum.terms.add(a, product_residue(k, c, m))?;
                    }
                    opened = true;
                }
                _ => sum.terms.add(a, c)?,
            }
        }
        if opened {
            sum.terms = sum.terms.iter().map(|t| (t.0, residue(t.1, m))).collect();
        }
        Some((sum, opened))
    }

    /// `e = rest - k * (y mod s)` where `k*s` divides `m` and `rest = k*y` modulo `k*s`: the subtraction of the digit
    /// does not borrow, so `e mod m = rest mod m - k * (y mod s)`.
    fn digit(&mut self, e: &Sum, m: i64) -> Option<Option<Sum>> {
        for (a, c) in self.remainders_in_order(e) {
            let What::Remainder(y, s) = &self.atoms[a as usize].what else { continue };
            let k = m - c;
            let Some(ks) = k.checked_mul(*s) else { continue };
            if !divides(ks, m) {
                continue;
            }
            let rest = e.plus_atom(a, -c, 1)?;
            let difference = rest.plus(y, -k, 1)?;
            if self.is_multiple(&difference, ks)? {
                let other = self.modulo(&rest, m)?;
                self.note(Rule::Digit, |form| {
                    let x = form.remainder_expr(&rest, m)?;
                    let digit = form.atom_expr(a)?.times(-k);
                    Some((
                        form.remainder_expr(e, m)?,
                        Expr::Add(x.into(), digit.into()),
                        form.residue_used(&difference),
                    ))
                });
                return Some(Some(other.plus_atom(a, -k, 1)?));
            }
        }
        Some(None)
    }

    /// Whether a sum is known to be a multiple of `m`.
    fn is_multiple(&self, s: &Sum, m: i64) -> Option<bool> {
        let reduced = self.reduced_once(s, m)?.0;
        Some(reduced.constant == 0 && reduced.terms.is_empty())
    }

    /// `e = k * (y mod s) - x - k*s` where `k*s` divides `m` and `x = k*y` modulo `k*s`: the digit of a negated sum, as
    /// in rounding up. For the multiple `a` of `k*s`, `(-a) mod m = m - k*s - (a - k*s) mod m`.
    fn ceiling(&mut self, e: &Sum, m: i64) -> Option<Option<Sum>> {
        for (a, k) in self.remainders_in_order(e) {
            let What::Remainder(y, s) = &self.atoms[a as usize].what else { continue };
            let Some(ks) = k.checked_mul(*s).filter(|ks| *ks > 0 && divides(*ks, m)) else { continue };
            let x = e.plus_atom(a, -k, 1)?.scaled(-1, 1)?.shifted(-ks)?;
            let difference = x.plus(y, -k, 1)?;
            if self.is_multiple(&difference, ks)? {
                let other = self.modulo(&x, m)?;
                self.note(Rule::Ceiling, |form| {
                    let digit = form.atom_expr(a)?.times(k);
                    let digit = Expr::Add(digit.into(), form.remainder_expr(&x, m)?.times(-1).into());
                    let right = Expr::Add(digit.into(), Expr::Const(m - ks).into());
                    Some((form.remainder_expr(e, m)?, right, form.residue_used(&difference)))
                });
                return Some(Some(other.scaled(-1, 1)?.plus_atom(a, k, 1)?.shifted(m - ks)?));
            }
        }
        Some(None)
    }

    /// `e = g*A + B` where `g` divides `m` and `B` is in one period of `g`: `e mod m = g * (A mod (m/g)) + B`.
    fn factor(&mut self, e: &Sum, m: i64) -> Option<Option<Sum>> {
        let mut divisors: Vec<i64> = std::mem::take(&mut self.divisors);
        divisors.clear();
        for (a, c) in e.terms.iter() {
            let known = &self.atoms[a as usize];
            let seen_through = if let What::Remainder(_, s) = known.what { s } else { known.step };
            let steps = [known.step, seen_through];
            for step in &steps[usize::from(known.step == seen_through)..] {
                let g = common(c, *step, m);
                if g > 1 && g < m && !divisors.contains(&g) {
                    divisors.push(g);
                }
            }
        }
        divisors.sort_unstable_by(|x, y| y.cmp(x));
        let done = self.factor_by(e, m, &divisors);
        self.divisors = divisors;
        done
    }

    /// [`Form::factor`] for the first of these divisors that applies.
    fn factor_by(&mut self, e: &Sum, m: i64, divisors: &[i64]) -> Option<Option<Sum>> {
        for &g in divisors {
            self.work(e.terms.len())?;
            if self.too_wide(e, g) {
                continue;
            }
            let Some(low) = self.below(e, g)? else { continue };
            let rest = e.plus(&low, -1, 1)?.scaled(1, g)?;
            if rest.den == g && (low == Sum::constant(0) || self.depth == DEEP) {
                // Only the sum as a whole is a multiple of g: no gain.
                continue;
            }
            self.depth += 1;
            let other = self.modulo(&rest, m / g);
            self.depth -= 1;
            let other = other?;
            self.note(Rule::Factor, |form| {
                // The part above has a denominator if only its sum is known to be a multiple.
                let (den, numerators) = (rest.den, rest.numerators());
                let above = form.remainder_expr(&numerators, (m / g).checked_mul(den)?)?;
                let right = Expr::Add(above.times(g / den).into(), form.expr(&low)?.into());
                Some((form.remainder_expr(e, m)?, right, form.within(&low)))
            });
            return Some(Some(other.scaled(g, 1)?.plus(&low, 1, 1)?));
        }
        Some(None)
    }

    /// Whether the terms of `e` that are no multiples of `g` take more than `g` values, by their intervals alone. False
    /// if there are facts or atoms other than variables.
    fn too_wide(&self, e: &Sum, g: i64) -> bool {
        let plain = |t: (Atom, i64)| matches!(self.atoms[t.0 as usize].what, What::Var(_));
        if !self.facts.is_empty() || !e.terms.iter().all(plain) {
            return false;
        }
        let (mut least, mut symmetric) = (0i64, 0i64);
        for (a, c) in e.terms.iter() {
            let known = &self.atoms[a as usize];
            let c = residue(c, g);
            let Interval { lo, hi } = known.within.within_64_bits();
            let extent = hi.saturating_sub(lo);
            if c != 0 && !is_multiple(c, known.step, g) {
                least = least.saturating_add(c.saturating_mul(extent));
                symmetric = symmetric.saturating_add(c.min(g - c).saturating_mul(extent));
            }
        }
        least.min(symmetric) >= g
    }

    /// The part of `e` that equals `e mod g`: `e` without multiples of `g`, in `[0, g - 1]`. First without terms that
    /// are multiples by themselves, then without terms that are multiples only together, as `y - y mod g`.
    fn below(&self, e: &Sum, g: i64) -> Option<Option<Sum>> {
        let mut low = Sum::constant(residue(e.constant, g));
        for (a, c) in e.terms.iter() {
            let known = &self.atoms[a as usize];
            if is_multiple(c, known.step, g) {
                // c * a = c * residue modulo g
                low.constant = residues_added(low.constant, product_residue(c, known.residue, g), g);
            } else {
                low.terms.push((a, residue(c, g)));
            }
        }
        let symmetric = |low: &Sum| Sum { constant: low.constant, ..low.symmetric(g) };
        let one = |low: &Sum| self.one_period(low, g).or_else(|| self.one_period(&symmetric(low), g));
        if let Some(low) = one(&low) {
            return Some(Some(low));
        }
        Some(self.reduced(&low, g)?.and_then(|together| one(&together)))
    }

    /// Whether a sum is the atom `e mod m`.
    fn is_remainder(&self, done: &Sum, e: &Sum, m: i64) -> bool {
        let atom = done.terms.only().filter(|t| t.1 == 1 && done.constant == 0 && done.den == 1);
        atom.is_some_and(|(a, _)| matches!(&self.atoms[a as usize].what, What::Remainder(x, n) if *n == m && x == e))
    }

    /// The remainder as an atom.
    pub(super) fn remainder(&mut self, e: &Sum, m: i64) -> Option<Sum> {
        if let Some(done) = self.remainders.get(e, m) {
            return Some(done.clone());
        }
        let (mut g, mut r) = (m, residue(e.constant, m));
        for (a, c) in e.terms.iter() {
            let known = &self.atoms[a as usize];
            g = common(c, known.step, g);
            r = residues_added(r, product_residue(c, known.residue, m), m);
        }
        let mut r = residue(r, g);
        for (a, c) in e.terms.iter() {
            // Terms together may be multiples of more, as y - y mod s.
            if let What::Remainder(_, s) = &self.atoms[a as usize].what {
                let step = common(c, *s, m);
                let whole = if step > g { self.reduced(e, step)? } else { None };
                if let Some(whole) = whole.filter(|whole| whole.terms.is_empty()) {
                    (g, r) = (step, whole.constant);
                }
            }
        }
        let atom = self.atoms.len() as Atom;
        let what = What::Remainder(e.clone(), m);
        let level = self.level(e);
        let within = Interval::new(r, m - g + r).into();
        self.atoms.push(Known { what, within, step: g, residue: r, level });
        let done = Sum::atom(atom);
        self.remainders.insert(e.clone(), m, done.clone());
        Some(done)
    }
}
