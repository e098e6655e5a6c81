//! The normal form of an expression: a sum of atoms with rational coefficients, and the rules for remainders.
//!
//! *Atoms* are variables, remainders `sum mod m` and minima `min(sum, 0)`. Everything else is written in them:
//!
//! | expression | becomes |
//! |---|---|
//! | `e floordiv d` | `(e - e mod d) / d` |
//! | `min(a, b)` | `b + min(a - b, 0)` |
//! | `max(a, b)` | `a - min(a - b, 0)` |
//!
//! So terms cancel by addition, and only `mod` and `min` have rules. Of an atom the form knows an interval and a
//! residue class, for which constraints are facts.
//!
//! *Example.* `(8*d0 + d1) floordiv 8 * 8 + d1 mod 8` with `d1 in [0, 7]`: the quotient is
//! `(8*d0 + d1 - (8*d0 + d1) mod 8) / 8`; by [`Form::reduced`] the remainder is that of `d1`, and by
//! [`Form::one_period`] that is `d1`. The quotient is `d0`, the sum `8*d0 + d1`.
//!
//! *Rules for `e mod m`*, tried in this order ([`Form::by_rules`]); each is an equation that holds at every point,
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
//!
//! *Cost.* Each expression may look at [`STEPS`] terms and [`STEPS_PER_OPERATION`] more for each of its operations, at
//! most [`FACTS`] constraints, and [`OPAQUE`] subexpressions on which the arithmetic gave up. Then the expression is
//! returned as it is. So time is proportional to the size of the expression, and remainders are looked up in a table.
//!
//! *Not promised:* that equal expressions have equal forms. Remainders of non-linear sums may stay apart.

use super::planned::{LastTerm, Planned};
use super::sum::{
    Sum, common, divided_bounds, divides, is_multiple, plus_bounds, product_residue, residue, residues_added,
};
use super::terms::{Atom, TermList};
use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval};
use crate::maps::steps::{Claim, Constraint, Log, Rule};
use crate::numbers::{inverse, near_gcd};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cmp::Ordering;

/// What an atom is and what is known of it: its interval, and that it equals `residue` modulo `step`.
pub(super) struct Known {
    pub what: What,
    pub within: Interval,
    pub step: i64,
    pub residue: i64,
    /// How many atoms nest in it: 0 for a variable.
    pub level: u32,
}

/// What an atom is. The sums have integer coefficients.
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
    fn rank(&self) -> u8 {
        match self {
            What::Var(_) => 0,
            What::Remainder(..) => 1,
            What::Least(_) => 2,
            What::Opaque(_) => 3,
        }
    }
}

/// The normal form over one domain: its atoms, and the facts that constraints give.
///
/// Tables are only looked up, never walked, so the outcome does not depend on their order.
pub struct Form {
    pub(super) atoms: Vec<Known>,
    remainders: Table<(Sum, i64), Sum>,
    least: Table<Sum, Atom>,
    /// Sums without a constant, first coefficient positive and all coprime, with the interval of their value.
    pub(super) facts: Vec<(Sum, Interval)>,
    pub(super) written: Table<Sum, Option<Planned>>,
    /// Lists for last terms, to be used again.
    pub(super) spare: Vec<Vec<LastTerm>>,
    /// The remaining budget of work for the current expression.
    steps: usize,
    /// The expressions that replace the variables, if any.
    pub(super) given: Option<Vec<Sum>>,
    opaque: usize,
    /// How often a remainder is split into parts that are multiples only together.
    depth: usize,
    /// What is done is written down here, where somebody wants to know.
    pub(super) log: Option<Log>,
}

/// A table for lookups.
pub(super) type Table<K, V> = FxHashMap<K, V>;

/// The last sum that was divided, with its normal form.
pub(super) type Dividend<'e> = Option<(&'e Expr, Sum)>;

/// The work that any expression is worth, in terms looked at, and what each of its operations adds.
const STEPS: usize = 2_000;
const STEPS_PER_OPERATION: usize = 20;

/// The facts and the expressions given up on that are kept at most; and how long a sum may be for facts to be tried.
const FACTS: usize = 64;
const OPAQUE: usize = 64;
pub(super) const LONG: usize = 64;

/// For how many remainders and written sums there is place from the start.
const TABLE: usize = 28;

/// How deep splits of remainders nest.
const DEEP: usize = 8;

impl Form {
    /// The normal form over a domain.
    pub fn new(domain: &Domain) -> Form {
        Form::logged(domain, None)
    }

    /// The normal form over a domain, with its steps written down.
    pub(super) fn logged(domain: &Domain, log: Option<Log>) -> Form {
        let mut form = Form::of_box(&domain.vars);
        form.log_with(log);
        for (e, i) in &domain.constraints {
            // A constraint that does not fit into the arithmetic is one that is not used.
            let _ = form.assume(e, *i);
        }
        form
    }

    /// The normal form over a domain in which equalities fix variables, these replaced by what they equal; `None`
    /// where there are none.
    pub(super) fn solved(domain: &Domain, log: Option<Log>) -> Option<Form> {
        let equal = |c: &&(Expr, Interval)| c.1.lo == c.1.hi;
        domain.constraints.iter().find(equal)?;
        let mut form = Form::of_box(&domain.vars);
        form.log_with(log);
        let mut given: Vec<Sum> = (0..domain.vars.len()).map(|v| form.atom(v as Atom)).collect();
        let mut any = false;
        for (e, i) in domain.constraints.iter().filter(equal).take(FACTS) {
            let Some(mut sum) = form.normal(e).filter(|s| s.den == 1 && s.terms.len() <= LONG) else { continue };
            // Written in what is not yet replaced.
            let Some(mut next) = sum.clone().shifted(-i.lo) else { continue };
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

    /// From here on writes down what is done.
    pub(super) fn log_with(&mut self, log: Option<Log>) {
        if log.is_some() {
            self.log = log;
            for a in 0..self.atoms.len() {
                self.note_fixed(a as Atom);
            }
        }
    }

    /// The normal form over a box.
    pub(super) fn of_box(vars: &[Interval]) -> Form {
        let mut form = Form {
            atoms: Vec::with_capacity(vars.len() + 16),
            remainders: Table::with_capacity_and_hasher(TABLE, FxBuildHasher),
            least: Table::default(),
            facts: Vec::new(),
            written: Table::with_capacity_and_hasher(TABLE, FxBuildHasher),
            spare: Vec::new(),
            steps: 0,
            given: None,
            opaque: 0,
            depth: 0,
            log: None,
        };
        for (v, i) in vars.iter().enumerate() {
            form.atoms.push(Known { what: What::Var(v), within: *i, step: 1, residue: 0, level: 0 });
        }
        form
    }

    /// Takes note of `interval` as the place of `e`.
    pub(super) fn assume(&mut self, e: &Expr, interval: Interval) -> Option<()> {
        let sum = self.normal(e)?;
        self.assume_sum(&sum, interval)
    }

    pub(super) fn assume_sum(&mut self, sum: &Sum, interval: Interval) -> Option<()> {
        if let Some((atom, coefficient @ (1 | -1))) = sum.terms.only()
            && sum.den == 1
        {
            let constant = -coefficient * sum.constant;
            self.narrow(atom, plus_bounds(Interval::new(constant, constant), coefficient, interval));
            return Some(());
        }
        let first = sum.terms.first()?.1;
        let unit = sum.content() * first.signum();
        // The direction is (den * sum - constant) / unit.
        let terms = sum.terms.iter().map(|t| (t.0, t.1 / unit)).collect();
        let numerators = plus_bounds(Interval::new(-sum.constant, -sum.constant), sum.den, interval);
        let within = divided_bounds(plus_bounds(Interval::new(0, 0), unit.signum(), numerators), unit.abs());
        let direction = Sum { constant: 0, terms, den: 1 };
        if self.facts.len() < FACTS && direction.terms.len() <= LONG {
            self.facts.push((direction, within));
        }
        Some(())
    }

    /// Takes note that an atom is in an interval.
    fn narrow(&mut self, atom: Atom, within: Interval) {
        let known = &mut self.atoms[atom as usize];
        known.within = known.within.meet(within);
        let (fixed, value) = (known.within.lo == known.within.hi, known.within.lo);
        self.note_fixed(atom);
        let known = &self.atoms[atom as usize];
        if let (true, What::Remainder(y, m)) = (fixed, &known.what)
            && let Some((v, c)) = y.terms.only()
        {
            let (y, m) = (Sum { constant: y.constant, terms: TermList::one(v, c), den: 1 }, *m);
            if let Some((atom, step, residue)) = self.residue_of((y, m, value)) {
                self.learn_residue(atom, step, residue);
            }
        }
    }

    /// What `sum = value` modulo `m` says of the residue of its one atom.
    fn residue_of(&self, (sum, m, value): (Sum, i64, i64)) -> Option<(Atom, i64, i64)> {
        let (atom, c) = sum.terms.only()?;
        let g = near_gcd(c, m);
        let right = value.checked_sub(sum.constant)?;
        if !divides(g, right) {
            return None;
        }
        let (m, c) = (m / g, residue(c / g, m / g));
        (m > 1).then_some(())?;
        Some((atom, m, product_residue(right / g, near_inverse(c, m)?, m)))
    }

    /// Joins what is known of the residue of an atom with `residue` modulo `step` (Chinese remainder).
    fn learn_residue(&mut self, atom: Atom, step: i64, residue: i64) {
        let known = &mut self.atoms[atom as usize];
        if let Some((residue, step)) = chinese((known.residue, known.step), (residue, step)) {
            (known.step, known.residue) = (step, residue);
        }
    }

    /// The closed interval of an expression's values, if 64 bits hold it.
    pub fn interval(&mut self, e: &Expr) -> Interval {
        self.normal(e).map_or(Interval::ALL, |s| self.range(&s))
    }

    /// Whether two expressions have one normal form, and so are equal at every point of the domain.
    pub(crate) fn same(&mut self, a: &Expr, b: &Expr) -> bool {
        let a = self.normal(a);
        a.is_some() && a == self.normal(b)
    }

    /// The normal form of an expression, with work in proportion to its size.
    pub(super) fn normal(&mut self, e: &Expr) -> Option<Sum> {
        self.normal_after(e, &mut None)
    }

    /// [`Form::normal`] of one of several expressions: `last` is the last sum that was divided, with its normal form. The
    /// digits of one index, one after the other, take it once.
    pub(super) fn normal_after<'e>(&mut self, e: &'e Expr, last: &mut Dividend<'e>) -> Option<Sum> {
        self.allow(0);
        self.sum(e, last)
    }

    /// Allows the work that this many operations are worth.
    pub(super) fn allow(&mut self, operations: usize) {
        self.steps = STEPS + STEPS_PER_OPERATION * operations;
    }

    /// Takes note of work on this many terms; none once it is more than the expression is worth.
    pub(super) fn work(&mut self, terms: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(1 + terms)?;
        Some(())
    }

    fn sum<'e>(&mut self, e: &'e Expr, last: &mut Dividend<'e>) -> Option<Sum> {
        let mut sum = Sum::constant(0);
        self.sum_into(e, last, &mut sum)?;
        Some(sum)
    }

    /// The sum of an expression, worked out in its place. Expressions nest deep to the left, so there is no sum on the stack
    /// for each level.
    fn sum_into<'e>(&mut self, e: &'e Expr, last: &mut Dividend<'e>, sum: &mut Sum) -> Option<()> {
        self.steps += STEPS_PER_OPERATION;
        match e {
            Expr::Const(_) | Expr::Var(_) => {
                *sum = self.leaf(e)?;
                Some(())
            }
            Expr::Add(a, b) => {
                self.sum_into(a, last, sum)?;
                match &**b {
                    Expr::Var(_) | Expr::Const(_) => self.apply(e, sum, None),
                    Expr::Mul(x, _) if matches!(**x, Expr::Var(_)) => self.apply(e, sum, None),
                    b => {
                        let other = self.operand(b, last)?;
                        self.apply(e, sum, Some(&other))
                    }
                }
            }
            Expr::Mul(a, _) => {
                self.sum_into(a, last, sum)?;
                self.apply(e, sum, None)
            }
            Expr::Mod(a, _) | Expr::FloorDiv(a, _) => {
                if !known_dividend(a, last, sum) {
                    self.sum_into(a, last, sum)?;
                    keep_dividend(a, sum, last);
                }
                self.apply(e, sum, None)
            }
            Expr::Min(a, b) | Expr::Max(a, b) => {
                self.sum_into(a, last, sum)?;
                let other = self.operand(b, last)?;
                self.apply(e, sum, Some(&other))
            }
        }
    }

    /// The sum of a second operand.
    #[inline(never)]
    fn operand<'e>(&mut self, e: &'e Expr, last: &mut Dividend<'e>) -> Option<Box<Sum>> {
        let mut sum = Box::new(Sum::constant(0));
        self.sum_into(e, last, &mut sum)?;
        Some(sum)
    }

    #[inline(never)]
    fn leaf(&mut self, e: &Expr) -> Option<Sum> {
        match (e, &self.given) {
            (Expr::Var(v), Some(given)) => Some(given[*v].clone()),
            (Expr::Var(v), None) => Some(self.atom(*v as Atom)),
            (Expr::Const(i64::MIN), _) => self.opaque(e),
            (Expr::Const(c), _) => Some(Sum::constant(*c)),
            _ => unreachable!("only leaves are asked for"),
        }
    }

    /// Makes the sum of the first operand of `e` that of `e`.
    #[inline(never)]
    fn apply(&mut self, e: &Expr, sum: &mut Sum, other: Option<&Sum>) -> Option<()> {
        match self.applied(e, sum, other) {
            Some(done) => *sum = done,
            None => *sum = self.opaque(e)?,
        }
        Some(())
    }

    fn applied(&mut self, e: &Expr, a: &Sum, other: Option<&Sum>) -> Option<Sum> {
        match e {
            Expr::Add(_, b) => match (&**b, other) {
                (_, Some(b)) => a.plus(b, 1, 1),
                (Expr::Var(v), None) => self.with_var(a, *v, 1),
                (Expr::Const(c), None) => a.clone().shifted(*c),
                (Expr::Mul(x, c), None) => match **x {
                    Expr::Var(v) => self.with_var(a, v, *c),
                    _ => unreachable!("other products have a sum of their own"),
                },
                _ => unreachable!("other terms have a sum of their own"),
            },
            Expr::Mul(_, f) => a.scaled(*f, 1),
            Expr::Mod(_, m) => self.modulo(a, *m),
            Expr::FloorDiv(_, d) => {
                let rest = self.modulo(a, *d)?;
                a.plus(&rest, -1, 1)?.scaled(1, *d)
            }
            Expr::Min(..) => {
                // min(a, b) = b + min(a - b, 0)
                let b = other?;
                b.plus(&self.least(&a.plus(b, -1, 1)?)?, 1, 1)
            }
            Expr::Max(..) => {
                // max(a, b) = a - min(a - b, 0)
                a.plus(&self.least(&a.plus(other?, -1, 1)?)?, -1, 1)
            }
            Expr::Const(_) | Expr::Var(_) => unreachable!("leaves have no operand"),
        }
    }

    /// `sum + v * c`; this is what most expressions are made of.
    fn with_var(&self, sum: &Sum, v: usize, c: i64) -> Option<Sum> {
        if let Some(given) = &self.given {
            return sum.plus(&given[v], c, 1);
        }
        let known = &self.atoms[v];
        if known.within.lo == known.within.hi {
            return sum.clone().shifted(known.within.lo.checked_mul(c)?);
        }
        sum.plus_atom(v as Atom, c.checked_mul(sum.den)?, sum.den)
    }

    /// An atom as a sum: a constant where it has one value.
    pub(super) fn atom(&self, a: Atom) -> Sum {
        let known = &self.atoms[a as usize];
        match known.within {
            Interval { lo, hi } if lo == hi && lo != i64::MIN => Sum::constant(lo),
            _ => Sum::atom(a),
        }
    }

    /// An atom for an expression that is too large to compute with. None where variables are replaced.
    fn opaque(&mut self, e: &Expr) -> Option<Sum> {
        if self.given.is_some() || self.opaque == OPAQUE || e.size() > 1000 {
            return None;
        }
        let same = |known: &Known| matches!(&known.what, What::Opaque(o) if o == e);
        if let Some(a) = self.atoms.iter().position(same) {
            return Some(self.atom(a as Atom));
        }
        self.opaque += 1;
        let within = if let Expr::Mod(_, m) = e { Interval::new(0, m - 1) } else { Interval::ALL };
        self.atoms.push(Known { what: What::Opaque(e.clone()), within, step: 1, residue: 0, level: 0 });
        Some(Sum::atom(self.atoms.len() as Atom - 1))
    }

    /// `min(e, 0)`.
    fn least(&mut self, e: &Sum) -> Option<Sum> {
        self.work(e.terms.len())?;
        let Interval { lo, hi } = self.range(e);
        if hi <= 0 || lo >= 0 {
            let value = if hi <= 0 { e.clone() } else { Sum::constant(0) };
            self.note(Rule::Decided, |form| {
                let numerators = form.expr(&e.numerators())?;
                let least = if hi <= 0 { numerators.clone() } else { Expr::Const(0) };
                let fact = form.within(e);
                Some((Expr::Min(numerators.into(), Expr::Const(0).into()), least, fact))
            });
            return Some(value);
        }
        // min(x * k, 0) = k * min(x, 0) for k > 0, and min(-x, 0) = min(x, 0) - x
        let content = near_gcd(e.content(), e.constant);
        let negative = self.first_term(e)?.1 < 0;
        let unit = if negative { -content } else { content };
        let terms = e.terms.iter().map(|t| (t.0, t.1 / unit)).collect();
        let primitive = Sum { constant: e.constant / unit, terms, den: 1 };
        let atom = match self.least.get(&primitive) {
            Some(atom) => *atom,
            None => {
                let atom = self.atoms.len() as Atom;
                let Interval { lo, hi } = self.range(&primitive);
                let what = What::Least(primitive.clone());
                let level = self.level(&primitive);
                let within = Interval::new(lo.min(0), hi.min(0));
                self.atoms.push(Known { what, within, step: 1, residue: 0, level });
                self.least.insert(primitive.clone(), atom);
                atom
            }
        };
        let least = self.atom(atom);
        if negative { least.plus(&primitive, -1, 1)?.scaled(content, e.den) } else { least.scaled(content, e.den) }
    }

    /// The level of an atom that holds a sum.
    fn level(&self, s: &Sum) -> u32 {
        1 + s.terms.iter().map(|t| self.atoms[t.0 as usize].level).max().unwrap_or(0)
    }

    /// The order of two atoms by what they are. Their numbers depend on the order in which expressions came.
    pub(super) fn compare(&self, a: Atom, b: Atom) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let (known, other) = (&self.atoms[a as usize], &self.atoms[b as usize]);
        known.level.cmp(&other.level).then_with(|| match (&known.what, &other.what) {
            (What::Var(v), What::Var(w)) => v.cmp(w),
            (What::Remainder(x, m), What::Remainder(y, n)) => m.cmp(n).then_with(|| self.compare_sums(x, y)),
            (What::Least(x), What::Least(y)) => self.compare_sums(x, y),
            (What::Opaque(x), What::Opaque(y)) => x.cmp(y),
            (x, y) => x.rank().cmp(&y.rank()),
        })
    }

    fn compare_sums(&self, x: &Sum, y: &Sum) -> Ordering {
        let sorted = |s: &Sum| {
            let mut terms: Vec<(Atom, i64)> = s.terms.iter().collect();
            terms.sort_by(|a, b| self.compare(a.0, b.0));
            terms
        };
        let whole = (x.terms.len(), x.den, x.constant).cmp(&(y.terms.len(), y.den, y.constant));
        whole.then_with(|| {
            let (x, y) = (sorted(x), sorted(y));
            let terms = x.iter().zip(&y).map(|(a, b)| self.compare(a.0, b.0).then(a.1.cmp(&b.1)));
            terms.fold(Ordering::Equal, Ordering::then)
        })
    }

    /// The least term of a sum by [`Form::compare`].
    fn first_term(&self, s: &Sum) -> Option<(Atom, i64)> {
        s.terms.iter().min_by(|a, b| self.compare(a.0, b.0))
    }

    /// `e mod m`, the one operation with rules.
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
        let key = (e.clone(), m);
        if let Some(done) = self.remainders.get(&key) {
            // A fact may have fixed the atom since.
            return match done.terms.only() {
                Some((a, 1)) if done.den == 1 => self.atom(a).shifted(done.constant),
                _ => Some(done.clone()),
            };
        }
        let done = self.by_rules(e, m)?;
        self.remainders.insert(key, done.clone());
        Some(done)
    }

    /// Writes down an equation: its sides and the fact used. Where 64 bits do not hold a number, nothing.
    fn note(&mut self, rule: Rule, sides: impl FnOnce(&Form) -> Option<(Expr, Expr, Option<Constraint>)>) {
        if self.log.as_ref().is_some_and(Log::open)
            && let Some((before, after, fact)) = sides(self)
            && let Some(log) = &mut self.log
        {
            log.add(rule, Claim::Equal(before, after), fact);
        }
    }

    fn note_period(&mut self, e: &Sum, m: i64, done: &Sum) {
        self.note(Rule::OnePeriod, |form| {
            let constant = done.terms.is_empty();
            // A constant speaks for itself, unless bounds alone make it one.
            let fact = form.within(if constant { e } else { done }).filter(|(_, i)| !constant || i.lo == i.hi);
            Some((form.remainder_expr(e, m)?, form.expr(done)?, fact))
        });
    }

    /// Writes down that an expression becomes another, which has the same normal form.
    pub(super) fn note_result(&mut self, k: usize, before: &Expr, after: &Expr) {
        self.note_same(before, after, |before, after| Claim::Result(k, before, after));
    }

    /// Records a claim that holds because two expressions have one normal form, and the equation of the two.
    pub(super) fn note_same(&mut self, before: &Expr, after: &Expr, claim: impl FnOnce(Expr, Expr) -> Claim) {
        if self.log.is_some() && before != after {
            // The equations that the way back needs are written down on the way.
            let _ = self.normal(after);
            if let Some(log) = &mut self.log {
                log.add(Rule::Definition, claim(before.clone(), after.clone()), None);
            }
        }
    }

    /// Moves the recorded steps to the end of `log`.
    pub(super) fn log_into(&mut self, log: &mut Option<&mut Log>) {
        if let (Some(log), Some(own)) = (log, self.log.take()) {
            log.append(own);
        }
    }

    /// Writes down that an atom has one value, where it has.
    fn note_fixed(&mut self, a: Atom) {
        let known = &self.atoms[a as usize];
        if known.within.lo == known.within.hi {
            self.note(Rule::Fixed, |form| {
                let (e, value) = (form.atom_expr(a)?, form.atoms[a as usize].within.lo);
                Some((e.clone(), Expr::Const(value), Some((e, Interval::new(value, value)))))
            });
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

    fn remainder_expr(&self, s: &Sum, m: i64) -> Option<Expr> {
        Some(Expr::Mod(self.expr(s)?.into(), m))
    }

    fn atom_expr(&self, a: Atom) -> Option<Expr> {
        match &self.atoms[a as usize].what {
            What::Var(v) => Some(Expr::Var(*v)),
            What::Remainder(s, m) => self.remainder_expr(s, *m),
            What::Least(s) => Some(Expr::Min(self.expr(s)?.into(), Expr::Const(0).into())),
            What::Opaque(e) => Some(e.clone()),
        }
    }

    /// The interval of a sum, as a fact.
    fn within(&self, s: &Sum) -> Option<Constraint> {
        Some((self.expr(s)?, self.range(s)))
    }

    /// A known residue of a variable in the sum, as a fact.
    fn residue_used(&self, s: &Sum) -> Option<Constraint> {
        s.terms.iter().find_map(|(a, _)| match &self.atoms[a as usize] {
            Known { what: What::Var(v), step: 2.., residue, .. } => {
                Some((Expr::Var(*v).modulo(self.atoms[a as usize].step), Interval::new(*residue, *residue)))
            }
            _ => None,
        })
    }

    fn by_rules(&mut self, e: &Sum, m: i64) -> Option<Sum> {
        if let Some(done) = self.one_period(e, m) {
            self.note_period(e, m, &done);
            return Some(done);
        }
        let reduced = self.reduced(e, m)?;
        if reduced != *e {
            let done = self.modulo_reduced(&reduced, m)?;
            if reduced.terms.is_empty() {
                self.note_period(e, m, &done);
                return Some(done);
            }
            self.note(Rule::Congruent, |form| {
                let right = Expr::Mod(form.expr(&reduced)?.into(), m);
                Some((form.remainder_expr(e, m)?, right, form.residue_used(e)))
            });
            return Some(done);
        }
        self.without_period(e, m)
    }

    fn modulo_reduced(&mut self, e: &Sum, m: i64) -> Option<Sum> {
        if e.terms.is_empty() {
            return Some(Sum::constant(residue(e.constant, m)));
        }
        if let Some(done) = self.one_period(e, m) {
            self.note_period(e, m, &done);
            return Some(done);
        }
        self.without_period(e, m)
    }

    /// The rules for a sum that is reduced, and not in one period.
    fn without_period(&mut self, e: &Sum, m: i64) -> Option<Sum> {
        if e.terms.is_empty() {
            return Some(Sum::constant(residue(e.constant, m)));
        }
        let symmetric = e.symmetric(m);
        if symmetric != *e
            && let Some(done) = self.one_period(&symmetric, m)
        {
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

    /// Where all values of `e` are in one period `[k*m, (k+1)*m)`: `e mod m = e - k*m`.
    fn one_period(&self, e: &Sum, m: i64) -> Option<Sum> {
        let Interval { lo, hi } = self.range_in(e, m)?;
        let k = lo.div_euclid(m);
        if lo == hi { Some(Sum::constant(residue(lo, m))) } else { e.clone().shifted(k.checked_mul(-m)?) }
    }

    /// Where `e = r + d` or `e = r - d` modulo `m`, and a fact on `d` holds that in one period: what is left of it.
    fn near_fact(&self, e: &Sum, m: i64) -> Option<Sum> {
        let facts = if e.terms.len() <= LONG { &self.facts[..] } else { &[] };
        facts.iter().flat_map(|fact| [(&fact.0, 1), (&fact.0, -1)]).find_map(|(direction, sign)| {
            let residue = self.residue(&e.plus(direction, -sign, 1)?, m)?;
            self.one_period(&direction.scaled(sign, 1)?.shifted(residue)?, m)
        })
    }

    /// An equal of `e` modulo `m`: coefficients in `1..m`, remainders that `m` sees through opened
    /// (`q * (y mod s) = q * y` where `m` divides `q * s`), and terms of known residue made constants.
    fn reduced(&self, e: &Sum, m: i64) -> Option<Sum> {
        let mut sum = e.clone();
        loop {
            let mut next = Sum::constant(residue(sum.constant, m));
            let mut opened = false;
            for (a, c) in sum.terms.iter() {
                let c = residue(c, m);
                if c == 0 {
                    continue;
                }
                let known = &self.atoms[a as usize];
                match &known.what {
                    _ if known.step > 1 && is_multiple(c, known.step, m) => {
                        next.constant = residues_added(next.constant, product_residue(c, known.residue, m), m);
                    }
                    What::Remainder(y, s) if is_multiple(c, *s, m) => {
                        next.constant = residues_added(next.constant, product_residue(y.constant, c, m), m);
                        for (a, k) in y.terms.iter() {
                            next.terms.add(a, product_residue(k, c, m))?;
                        }
                        opened = true;
                    }
                    _ => next.terms.add(a, c)?,
                }
            }
            if !opened {
                return Some(next);
            }
            next.terms = next.terms.iter().map(|t| (t.0, residue(t.1, m))).collect();
            sum = next;
        }
    }

    /// `e = rest - k * (y mod s)` where `k*s` divides `m` and `rest = k*y` modulo `k*s`: taking the digit off does not
    /// borrow, so `e mod m = rest mod m - k * (y mod s)`.
    fn digit(&mut self, e: &Sum, m: i64) -> Option<Option<Sum>> {
        for (a, c) in e.terms.iter() {
            let What::Remainder(y, s) = &self.atoms[a as usize].what else { continue };
            let k = m - c;
            let Some(ks) = k.checked_mul(*s) else { continue };
            if !divides(ks, m) {
                continue;
            }
            let rest = e.plus_atom(a, -c, 1)?;
            let difference = rest.plus(y, -k, 1)?;
            if self.residue(&difference, ks) == Some(0) {
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

    /// `e = k * (y mod s) - x - k*s` where `k*s` divides `m` and `x = k*y` modulo `k*s`: the digit of a negated sum, as
    /// rounding up has it. Of the multiple `a` of `k*s`, `(-a) mod m = m - k*s - (a - k*s) mod m`.
    fn ceiling(&mut self, e: &Sum, m: i64) -> Option<Option<Sum>> {
        for (a, k) in e.terms.iter() {
            let What::Remainder(y, s) = &self.atoms[a as usize].what else { continue };
            let Some(ks) = k.checked_mul(*s).filter(|ks| *ks > 0 && divides(*ks, m)) else { continue };
            let x = e.plus_atom(a, -k, 1)?.scaled(-1, 1)?.shifted(-ks)?;
            let difference = x.plus(y, -k, 1)?;
            if self.residue(&difference, ks) == Some(0) {
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

    /// The residue of a sum with integer coefficients modulo `m`, if congruences determine it.
    pub(super) fn residue(&self, s: &Sum, m: i64) -> Option<i64> {
        let mut sum = residue(s.constant, m);
        for (a, c) in s.terms.iter() {
            let known = &self.atoms[a as usize];
            if !is_multiple(c, known.step, m) {
                return None;
            }
            sum = residues_added(sum, product_residue(c, known.residue, m), m);
        }
        Some(sum)
    }

    /// `e = g*A + B` where `g` divides `m` and `B` is in one period of `g`: `e mod m = g * (A mod (m/g)) + B`.
    fn factor(&mut self, e: &Sum, m: i64) -> Option<Option<Sum>> {
        let mut divisors: Vec<i64> = Vec::new();
        for (a, c) in e.terms.iter() {
            let known = &self.atoms[a as usize];
            let seen_through = if let What::Remainder(_, s) = known.what { s } else { known.step };
            for step in [known.step, seen_through] {
                let g = common(c, step, m);
                if g > 1 && g < m && !divisors.contains(&g) {
                    divisors.push(g);
                }
            }
        }
        divisors.sort_unstable_by(|x, y| y.cmp(x));
        for g in divisors {
            self.work(e.terms.len())?;
            if self.too_wide(e, g) {
                continue;
            }
            let Some(low) = self.below(e, g)? else { continue };
            let rest = e.plus(&low, -1, 1)?.scaled(1, g)?;
            if rest.den == g && (low == Sum::constant(0) || self.depth == DEEP) {
                // Known to be a multiple of g, but only as a whole: nothing gained.
                continue;
            }
            self.depth += 1;
            let other = self.modulo(&rest, m / g);
            self.depth -= 1;
            let other = other?;
            self.note(Rule::Factor, |form| {
                // The part above has a denominator where it is known to be a multiple only as a whole.
                let (den, numerators) = (rest.den, rest.numerators());
                let above = form.remainder_expr(&numerators, (m / g).checked_mul(den)?)?;
                let right = Expr::Add(above.times(g / den).into(), form.expr(&low)?.into());
                Some((form.remainder_expr(e, m)?, right, form.within(&low)))
            });
            return Some(Some(other.scaled(g, 1)?.plus(&low, 1, 1)?));
        }
        Some(None)
    }

    /// Whether the terms of `e` that are no multiples of `g` take more than `g` values, by their intervals alone. Not known
    /// where more is known of them.
    fn too_wide(&self, e: &Sum, g: i64) -> bool {
        let plain = |t: (Atom, i64)| matches!(self.atoms[t.0 as usize].what, What::Var(_));
        if !self.facts.is_empty() || !e.terms.iter().all(plain) {
            return false;
        }
        let (mut least, mut symmetric) = (0i64, 0i64);
        for (a, c) in e.terms.iter() {
            let known = &self.atoms[a as usize];
            let c = residue(c, g);
            let extent = known.within.hi.saturating_sub(known.within.lo);
            if c != 0 && !is_multiple(c, known.step, g) {
                least = least.saturating_add(c.saturating_mul(extent));
                symmetric = symmetric.saturating_add(c.min(g - c).saturating_mul(extent));
            }
        }
        least.min(symmetric) >= g
    }

    /// The part of `e` that is `e mod g`: `e` without multiples of `g`, in `[0, g - 1]`. First without those that are
    /// multiples by themselves, then without those that are only together, as `y - y mod g` is.
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
        let together = self.reduced(&low, g)?;
        Some(if together == low { None } else { one(&together) })
    }

    /// The remainder as an atom.
    fn remainder(&mut self, e: &Sum, m: i64) -> Option<Sum> {
        if let Some(done) = self.remainders.get(&(e.clone(), m)) {
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
            // Together the terms may be multiples of more, as those of y - y mod s are.
            if let What::Remainder(_, s) = &self.atoms[a as usize].what {
                let step = common(c, *s, m);
                let whole = if step > g { Some(self.reduced(e, step)?) } else { None };
                if let Some(whole) = whole.filter(|whole| whole.terms.is_empty()) {
                    (g, r) = (step, whole.constant);
                }
            }
        }
        let atom = self.atoms.len() as Atom;
        let what = What::Remainder(e.clone(), m);
        let level = self.level(e);
        self.atoms.push(Known { what, within: Interval::new(r, m - g + r), step: g, residue: r, level });
        let done = Sum::atom(atom);
        self.remainders.insert((e.clone(), m), done.clone());
        Some(done)
    }
}

/// Takes the normal form of what is divided, where that is the sum that was divided last.
fn known_dividend(e: &Expr, last: &Dividend, sum: &mut Sum) -> bool {
    let known = last.as_ref().filter(|(known, _)| *known == e);
    if let Some((_, known)) = known {
        sum.clone_from(known);
    }
    known.is_some()
}

/// Keeps the normal form of what is divided, where that is a sum.
#[inline(never)]
fn keep_dividend<'e>(e: &'e Expr, sum: &Sum, last: &mut Dividend<'e>) {
    if matches!(e, Expr::Add(..)) {
        *last = Some((e, sum.clone()));
    }
}

/// The residue and modulus of what has both residues; `None` where nothing has, or the modulus is too large.
pub(super) fn chinese(a: (i64, i64), b: (i64, i64)) -> Option<(i64, i64)> {
    let ((r1, m1), (r2, m2)) = (a, b);
    let g = near_gcd(m1, m2);
    let gap = r2.checked_sub(r1).filter(|gap| divides(g, *gap))?;
    let (m, n) = (m1.checked_mul(m2 / g)?, m2 / g);
    if n == 1 {
        return Some((residue(r1, m), m));
    }
    let k = product_residue(gap / g, near_inverse(m1 / g, n)?, n);
    Some((residues_added(residue(r1, m), product_residue(m1, k, m), m), m))
}

/// The inverse of `c` modulo `m > 0`; `None` where they have a common divisor.
pub(super) fn near_inverse(c: i64, m: i64) -> Option<i64> {
    inverse(c.into(), m.into()).and_then(|c| c.try_into().ok())
}
