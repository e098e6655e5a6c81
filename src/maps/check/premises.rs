//! Premises of a step, and their consequences: values, bounds and residues of expressions.
//!
//! Premises are the intervals of the variables, some of the constraints, and the equations accepted so far under the
//! same constraints. [`Premises::norm`] writes an expression as a sum of atoms (variables, remainders `e mod m`, minima
//! `min(e, 0)`), with the equations put in. Everything else is a question about such a sum:
//!
//! | method | answers |
//! |---|---|
//! | [`Premises::bounds`] | a closed interval that holds its value at every point |
//! | [`Premises::multiple`] | whether it is a multiple of `m` at every point |
//! | [`Premises::congruence`] | a residue class that holds an atom at every point |
//! | [`Premises::interval`] | bounds of an expression, operation by operation and as a sum |
//! | [`Premises::everywhere`] | a test at each point of a domain of at most 100,000 points |
//!
//! Each answer may be weaker than the truth, never stronger: an interval may be wider, a class larger.

use super::linear::{FAR, Linear, NONE, gcd, join, solve, sum_of, times};
use super::refused::Reason;
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::map::IndexingMap;
use crate::maps::steps::Constraint;
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;

/// Proved values of atoms, each with the steps that prove it.
pub(super) type Proved = BTreeMap<Expr, (Linear, Vec<usize>)>;

/// How deep nested remainders are opened to find a common divisor.
const NESTED: u32 = 3;

/// Accepted, or why not.
pub(super) type Checked = Result<(), Reason>;

/// The most points of a domain that is enumerated.
const POINTS: u128 = 100_000;

pub(super) fn require(condition: bool, reason: Reason) -> Checked {
    if condition { Ok(()) } else { Err(reason) }
}

/// The premises of a step.
pub(super) struct Premises<'a> {
    pub vars: &'a [Interval],
    pub constraints: Vec<&'a Constraint>,
    pub table: Option<&'a Proved>,
    pub hits: &'a RefCell<Vec<usize>>,
    facts: OnceCell<Vec<(Linear, i128, i128)>>,
    /// The number of nested remainders being opened.
    depth: Cell<u32>,
    /// Answers of [`Premises::atom_range`] and [`Premises::congruence`] at each depth. Bounds of a sum ask for those of
    /// its atoms several times, and a minimum inside others is such a sum.
    ranges: Answers,
    residues: Answers,
}

type Answers = RefCell<FxHashMap<(u32, Expr), (i128, i128)>>;

impl<'a> Premises<'a> {
    pub fn new(
        vars: &'a [Interval],
        constraints: Vec<&'a Constraint>,
        table: Option<&'a Proved>,
        hits: &'a RefCell<Vec<usize>>,
    ) -> Premises<'a> {
        Premises {
            vars,
            constraints,
            table,
            hits,
            facts: OnceCell::new(),
            depth: Cell::new(0),
            ranges: Answers::default(),
            residues: Answers::default(),
        }
    }

    /// Bounds of an expression over these intervals of the variables, without constraints.
    pub fn interval_over(&self, vars: &[Interval], e: &Expr) -> (i128, i128) {
        Premises::new(vars, Vec::new(), self.table, self.hits).interval(e)
    }

    /// Checks a test at every point of a domain of at most [`POINTS`] points.
    pub fn everywhere(&self, test: impl Fn(&[i64]) -> bool) -> Checked {
        let all = IndexingMap::new(self.vars.to_vec(), Vec::new());
        require(all.box_points() <= POINTS, Reason::TooManyPoints)?;
        let there = |p: &Vec<i64>| self.constraints.iter().all(|c| holds(c, p));
        require(all.points().filter(there).all(|p| test(&p)), Reason::Different)
    }

    /// Checks that two expressions have the same value at every point.
    pub fn same_value(&self, a: &Expr, b: &Expr) -> Checked {
        self.everywhere(|p| a.wide(p).is_some_and(|x| b.wide(p) == Some(x)))
    }

    /// Checks that two expressions have one normal form.
    pub fn same(&self, a: &Expr, b: &Expr) -> Checked {
        let (a, b) = (self.sum(a)?, self.sum(b)?);
        require(a == b, Reason::Different)
    }

    /// An expression as a sum of atoms.
    pub fn sum(&self, e: &Expr) -> Result<Linear, Reason> {
        self.norm(e).ok_or(Reason::TooLarge)
    }

    /// [`Premises::sum`]; `None` where the numbers are too large.
    pub fn norm(&self, e: &Expr) -> Option<Linear> {
        match e {
            Expr::Const(c) => Some(Linear::constant((*c).into())),
            Expr::Var(_) => Some(self.atom(e.clone())),
            Expr::Add(a, b) => self.norm(a)?.plus(&self.norm(b)?, 1, 1),
            Expr::Mul(a, c) => self.norm(a)?.scaled((*c).into(), 1),
            Expr::Mod(a, m) => self.remainder(&self.norm(a)?, (*m).into()),
            Expr::FloorDiv(a, d) => {
                let a = self.norm(a)?;
                a.plus(&self.remainder(&a, (*d).into())?, -1, 1)?.scaled(1, (*d).into())
            }
            Expr::Min(a, b) => {
                let b = self.norm(b)?;
                b.plus(&self.least(&self.norm(a)?.plus(&b, -1, 1)?)?, 1, 1)
            }
            Expr::Max(a, b) => {
                let a = self.norm(a)?;
                a.plus(&self.least(&a.plus(&self.norm(b)?, -1, 1)?)?, -1, 1)
            }
        }
    }

    /// An atom, or its value in the table.
    fn atom(&self, atom: Expr) -> Linear {
        match self.table.and_then(|table| table.get(&atom)) {
            Some((value, steps)) => {
                self.hits.borrow_mut().extend(steps);
                value.clone()
            }
            None => Linear::atom(atom),
        }
    }

    /// `e mod m`.
    fn remainder(&self, e: &Linear, m: i128) -> Option<Linear> {
        // e mod m = ((den * e) mod (den * m)) / den
        let (numerators, n) = (Linear { den: 1, ..e.clone() }, m.checked_mul(e.den)?);
        if n == 1 || e.terms.is_empty() {
            return Linear::constant(numerators.constant.rem_euclid(n)).scaled(1, e.den);
        }
        // e mod m = 0 where m divides e; only minima of multiples need this rule.
        if numerators.terms.keys().any(|atom| matches!(atom, Expr::Min(..))) && self.multiple(&numerators, n) {
            return Some(Linear::constant(0));
        }
        self.atom(Expr::Mod(numerators.expr()?.into(), n.try_into().ok()?)).scaled(1, e.den)
    }

    /// `min(e, 0)`.
    fn least(&self, e: &Linear) -> Option<Linear> {
        // min(k * x, 0) = k * min(x, 0) for k > 0
        let numerators = Linear { den: 1, ..e.clone() };
        if e.terms.is_empty() {
            return Linear::constant(e.constant.min(0)).scaled(1, e.den);
        }
        let least = |e: &Linear| Some(Expr::Min(e.expr()?.into(), Expr::Const(0).into()));
        let key = least(&numerators)?;
        if self.table.is_some_and(|table| table.contains_key(&key)) {
            return self.atom(key).scaled(1, e.den);
        }
        let content = numerators.terms.values().fold(numerators.constant, |g, c| gcd(g, *c));
        let divided = numerators.scaled(1, content)?;
        let key = least(&divided)?;
        if self.table.is_some_and(|table| table.contains_key(&key)) {
            return self.atom(key).scaled(content, e.den);
        }
        let negative = numerators.terms.values().next().is_some_and(|c| *c < 0);
        let primitive = if negative { divided.scaled(-1, 1)? } else { divided };
        let positive = self.atom(least(&primitive)?);
        // min(-x, 0) = min(x, 0) - x
        let value = if negative { positive.plus(&primitive, -1, 1)? } else { positive };
        value.scaled(content, e.den)
    }

    /// Sums of atoms, with the intervals from the constraints.
    fn facts(&self) -> &[(Linear, i128, i128)] {
        self.facts.get_or_init(|| {
            let said = self.constraints.iter().filter_map(|(e, i)| Some((self.norm(e)?, *i)));
            let solved = self.table.into_iter().flatten().filter_map(|(atom, (value, _))| match atom {
                Expr::Var(v) => Some((value.clone(), self.vars[*v])),
                _ => None,
            });
            said.chain(solved)
                .filter_map(|(s, i)| {
                    let content = s.terms.values().fold(0, |g, c| gcd(g, *c));
                    let at = |x: i64| i128::from(x).checked_mul(s.den)?.checked_sub(s.constant);
                    let (lo, hi) = (at(i.lo)?, at(i.hi)?);
                    let direction = Linear { constant: 0, den: 1, ..s };
                    (content > 0).then_some(())?;
                    let (lo, hi) = (-(-lo).div_euclid(content), hi.div_euclid(content));
                    Some((direction.scaled(1, content)?, lo, hi))
                })
                .collect()
        })
    }

    /// Closed bounds of a sum.
    pub fn bounds(&self, s: &Linear) -> (i128, i128) {
        let mut best = self.added_up(s);
        let mut by = |direction: &Linear, lo: i128, hi: i128| {
            let Some((atom, c)) = direction.terms.first_key_value() else { return };
            let k = s.coefficient(atom) / c;
            let rest = Linear { den: 1, ..s.clone() }.plus(direction, -k, 1);
            // The sum must become smaller, so that ranges of minima, which are such sums, terminate.
            let smaller = |r: &Linear| {
                let more = |e: &Expr| !s.terms.contains_key(e) && matches!(e, Expr::Min(..));
                r.terms.len() < s.terms.len() && !r.terms.keys().any(more)
            };
            let Some(rest) = rest.filter(smaller).filter(|_| k != 0) else { return };
            let (lo, hi) = sum_of(self.added_up(&rest), times((lo, hi), k));
            best = (best.0.max(lo), best.1.min(hi));
        };
        for (direction, lo, hi) in self.facts() {
            by(direction, *lo, *hi);
        }
        for atom in s.terms.keys() {
            // y - y mod m is a multiple of m, between those next to the bounds of y.
            if let Expr::Mod(y, m) = atom
                && let Some(y) = Linear::of(y)
                && let Some(whole) = y.plus(&Linear::atom(atom.clone()), -1, 1)
            {
                let (lo, hi) = self.added_up(&y);
                let m = i128::from(*m);
                let at = |x: i128| if x.abs() >= FAR { x } else { x.div_euclid(m) * m - y.constant };
                by(&Linear { constant: 0, ..whole }, at(lo), at(hi));
            }
        }
        if let Some((lo, hi)) = self.of_digits(s) {
            best = (best.0.max(lo), best.1.min(hi));
        }
        for (atom, c) in &s.terms {
            // c * min(x, 0) and the rest: the less, or with a negative c the greater, of the rest and the rest + c * x.
            if let Expr::Min(x, zero) = atom
                && **zero == Expr::Const(0)
                && let Some(x) = Linear::of(x)
                && let Some(rest) = (Linear { den: 1, ..s.clone() }).plus(&Linear::atom(atom.clone()), -c, 1)
                && let Some(with) = rest.plus(&x, *c, 1).filter(|with| with.terms.len() < s.terms.len())
            {
                let (a, b) = (self.spread(&rest), self.spread(&with));
                let (lo, hi) = if *c > 0 { (a.0.min(b.0), a.1.min(b.1)) } else { (a.0.max(b.0), a.1.max(b.1)) };
                best = (best.0.max(lo), best.1.min(hi));
            }
        }
        let (lo, hi) = best;
        (if lo <= -FAR { lo } else { -(-lo).div_euclid(s.den) }, if hi >= FAR { hi } else { hi.div_euclid(s.den) })
    }

    /// Bounds of the numerators of a sum with `c*p` written as `c*(p - q) + c*q`, for remainders and variables `p` and
    /// the remainder `q` of the greatest modulus `m` that divides `p - q`: `p - q` lies next to the bounds of `p`.
    fn of_digits(&self, s: &Linear) -> Option<(i128, i128)> {
        let modulus = |atom: &Expr| match atom {
            Expr::Mod(_, m) => Some(i128::from(*m)),
            Expr::Var(_) => Some(NONE),
            _ => None,
        };
        let mut digits: Vec<(i128, &Expr, i128)> =
            s.terms.iter().filter_map(|(atom, c)| Some((modulus(atom)?, atom, *c))).collect();
        digits.sort_by_key(|digit| std::cmp::Reverse(digit.0));
        let others = s.terms.iter().filter(|t| modulus(t.0).is_none());
        let mut sum = others.fold((s.constant, s.constant), |sum, (e, c)| sum_of(sum, times(self.atom_range(e), *c)));
        for k in 0..digits.len() {
            let (own, p, c) = digits[k];
            let difference = |q: &Expr| Linear::atom(p.clone()).plus(&Linear::atom(q.clone()), -1, 1);
            let is_digit = |j: &usize| {
                let (m, q, _) = digits[*j];
                m < own && m != NONE && difference(q).is_some_and(|d| self.multiple(&d, m))
            };
            let mut range = self.atom_range(p);
            if let Some(j) = (k + 1..digits.len()).find(is_digit) {
                let m = digits[j].0;
                let at = |x: i128| if x.abs() >= FAR { x } else { x.div_euclid(m) * m };
                range = (at(range.0), at(range.1));
                digits[j].2 = digits[j].2.checked_add(c)?;
            }
            sum = sum_of(sum, times(range, c));
        }
        Some(sum)
    }

    /// Bounds of the numerators of a sum: the tighter of [`Premises::added_up`] and [`Premises::of_digits`].
    fn spread(&self, s: &Linear) -> (i128, i128) {
        let (lo, hi) = self.added_up(s);
        self.of_digits(s).map_or((lo, hi), |digits| (lo.max(digits.0), hi.min(digits.1)))
    }

    /// Bounds of the numerators of a sum, by adding the bounds of its terms.
    fn added_up(&self, s: &Linear) -> (i128, i128) {
        let start = (s.constant, s.constant);
        s.terms.iter().fold(start, |sum, (atom, c)| sum_of(sum, times(self.atom_range(atom), *c)))
    }

    /// The cached answer for an atom, computed on the first call.
    fn once(&self, found: &Answers, atom: &Expr, find: impl Fn(&Self, &Expr) -> (i128, i128)) -> (i128, i128) {
        let key = (self.depth.get(), atom.clone());
        if let Some(known) = found.borrow().get(&key) {
            return *known;
        }
        let new = find(self, atom);
        found.borrow_mut().insert(key, new);
        new
    }

    /// A closed interval that holds an atom at every point.
    pub fn atom_range(&self, atom: &Expr) -> (i128, i128) {
        self.once(&self.ranges, atom, Self::find_range)
    }

    fn find_range(&self, atom: &Expr) -> (i128, i128) {
        let own = match atom {
            Expr::Var(v) => {
                let i = self.vars[*v];
                (i.lo.into(), i.hi.into())
            }
            Expr::Mod(_, m) => {
                let (residue, step) = self.congruence(atom);
                (residue, i128::from(*m) - step + residue)
            }
            Expr::Min(e, _) => Linear::of(e).map_or((-NONE, 0), |e| {
                let (lo, hi) = self.bounds(&e);
                (lo.min(0), hi.min(0))
            }),
            _ => (-NONE, NONE),
        };
        let alone = self.facts().iter().filter(|f| f.0.terms.len() == 1);
        alone.filter_map(|f| Some((f.0.terms.get(atom)?, f))).fold(own, |(lo, hi), (c, f)| {
            let (x, y) = if *c > 0 { (f.1, f.2) } else { (-f.2, -f.1) };
            (lo.max(x), hi.min(y))
        })
    }

    /// The residue class `(r, n)` of an atom: it is `r` modulo `n`.
    pub fn congruence(&self, atom: &Expr) -> (i128, i128) {
        self.once(&self.residues, atom, Self::find_residue)
    }

    fn find_residue(&self, atom: &Expr) -> (i128, i128) {
        match atom {
            Expr::Mod(y, m) => {
                let m = i128::from(*m);
                let whole = Linear::of(y).and_then(|y| {
                    y.terms.iter().try_fold((y.constant, m), |(residue, step), (atom, c)| {
                        let own = self.congruence(atom);
                        Some((residue.checked_add(c.checked_mul(own.0)?)?, gcd(step, c.checked_mul(own.1)?)))
                    })
                });
                let each = whole.map_or((0, 1), |(residue, step)| (residue.rem_euclid(step), step));
                self.together(y, m).filter(|all| all.1 > each.1).unwrap_or(each)
            }
            Expr::Var(_) => {
                let fixed = self.table.into_iter().flatten().filter_map(|(e, (value, steps))| match e {
                    Expr::Mod(y, m) if value.terms.is_empty() && value.den == 1 => {
                        Some((y, *m, value.constant, &steps[..]))
                    }
                    _ => None,
                });
                let said = self.constraints.iter().filter_map(|(e, i)| match e {
                    Expr::Mod(y, m) if i.lo == i.hi => Some((y, *m, i.lo.into(), &[][..])),
                    _ => None,
                });
                let mut known = (0, 1);
                for (y, m, value, steps) in fixed.chain(said) {
                    let of_this = Linear::of(y).filter(|y| y.terms.len() == 1 && y.terms.contains_key(atom));
                    if let Some(y) = of_this
                        && let Some(next) = solve(y.coefficient(atom), value - y.constant, m.into())
                        && let Some(both) = join(known, next)
                    {
                        self.hits.borrow_mut().extend(steps);
                        known = both;
                    }
                }
                known
            }
            _ => (0, 1),
        }
    }

    /// The residue class of a remainder's dividend whose terms are multiples only together: `y - y mod n` is a multiple
    /// of `n`.
    fn together(&self, y: &Expr, m: i128) -> Option<(i128, i128)> {
        if self.depth.get() == NESTED {
            return None;
        }
        let y = Linear::of(y)?;
        let steps = y.terms.iter().filter_map(|(atom, c)| match atom {
            Expr::Mod(_, n) => Some(gcd(c.checked_mul((*n).into())?, m)),
            _ => None,
        });
        let class = |g: i128| {
            self.depth.set(self.depth.get() + 1);
            let opened = self.opened(&y, g);
            self.depth.set(self.depth.get() - 1);
            let opened = opened?;
            opened.terms.is_empty().then(|| (opened.constant.rem_euclid(g), g))
        };
        steps.filter_map(class).max_by_key(|class| class.1)
    }

    /// Whether a sum is a multiple of `m` at every point.
    ///
    /// Coefficients of atoms count modulo `m`. An atom of known residue is a constant. A remainder is opened,
    /// `c * (y mod n) = c * y` modulo `m`, where `m` divides `c * n`. A minimum `c * min(x, 0)` is a multiple of `m`
    /// where `c * x` is one, since its two values are `c * x` and 0.
    pub fn multiple(&self, s: &Linear, m: i128) -> bool {
        if s.den != 1 || m == 0 {
            return false;
        }
        let Some(opened) = self.opened(s, m) else { return false };
        let either = |(atom, c): (&Expr, &i128)| match atom {
            Expr::Min(x, _) => Linear::of(x).is_some_and(|x| self.multiple(&x, m / gcd(*c, m))),
            _ => false,
        };
        opened.constant % m == 0 && opened.terms.iter().all(either)
    }

    /// A sum equal modulo `m`, with known residues and opened remainders put in: see [`Premises::multiple`].
    fn opened(&self, s: &Linear, m: i128) -> Option<Linear> {
        let mut sum = s.clone();
        for _ in 0..100 {
            let mut left = Linear::constant(sum.constant % m);
            let mut opened = None;
            for (atom, c) in &sum.terms {
                let c = c % m;
                if c == 0 {
                    continue;
                }
                let (residue, step) = self.congruence(atom);
                match atom {
                    _ if c.checked_mul(step).is_some_and(|x| x % m == 0) => {
                        left.constant = (left.constant + c.checked_mul(residue)? % m) % m;
                    }
                    Expr::Mod(y, n) if c.checked_mul((*n).into()).is_some_and(|x| x % m == 0) => {
                        opened = Some((atom.clone(), Linear::of(y)?, c));
                        break;
                    }
                    _ => drop(left.terms.insert(atom.clone(), c)),
                }
            }
            let Some((atom, y, c)) = opened else { return Some(left) };
            sum.terms.remove(&atom);
            sum = sum.plus(&y, c, 1)?;
        }
        None
    }

    /// The interval of an expression: operation by operation, or as a sum of atoms where that is narrower.
    pub fn interval(&self, e: &Expr) -> (i128, i128) {
        let (lo, hi) = match e {
            Expr::Const(c) => ((*c).into(), (*c).into()),
            Expr::Var(_) => self.atom_range(e),
            Expr::Add(a, b) => sum_of(self.interval(a), self.interval(b)),
            Expr::Mul(a, c) => times(self.interval(a), (*c).into()),
            Expr::FloorDiv(a, d) => {
                let (x, d) = (self.interval(a), i128::from(*d));
                let at = |x: i128| if x.abs() >= FAR { x } else { x.div_euclid(d) };
                // The lower bound of a multiple of d rounds up.
                let whole = self.norm(a).is_some_and(|a| self.multiple(&a, d));
                (if whole { -at(-x.0) } else { at(x.0) }, at(x.1))
            }
            Expr::Mod(a, m) => {
                let (a, m) = (self.interval(a), i128::from(*m));
                let known = -FAR < a.0 && a.1 < FAR;
                match a.0.div_euclid(m) {
                    k if known && k == a.1.div_euclid(m) => (a.0 - k * m, a.1 - k * m),
                    _ => (0, m - 1),
                }
            }
            Expr::Min(a, b) => {
                let (a, b) = (self.interval(a), self.interval(b));
                (a.0.min(b.0), a.1.min(b.1))
            }
            Expr::Max(a, b) => {
                let (a, b) = (self.interval(a), self.interval(b));
                (a.0.max(b.0), a.1.max(b.1))
            }
        };
        let sum = self.norm(e).map_or((-NONE, NONE), |s| self.bounds(&s));
        (lo.max(sum.0), hi.min(sum.1))
    }
}

/// Whether a constraint holds at a point.
pub(super) fn holds((e, i): &Constraint, point: &[i64]) -> bool {
    e.wide(point).is_some_and(|x| i.contains(x))
}
