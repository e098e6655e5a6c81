//! A checker for the steps of a simplification, which does not believe the simplifier.
//!
//! [`replay`] shares no code with [`crate::maps::simplify`]. It works each expression out as a sum of atoms, variables and
//! remainders, over a table of the equations accepted so far, and holds each step against the conditions of its
//! [`Rule`]: divisibility of coefficients, and intervals added up from those of the variables and the constraints. So
//! what it accepts is proved for every point of the domain, however large that is.
//!
//! What a step may use follows from what it changes. Each keeps the set of points, so intervals and equations that hold
//! once hold on; but an equation that helps to change a constraint must not stand on that constraint ([`Using`]).

use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::IndexingMap;
use crate::maps::steps::{Claim, Constraint, Rule, Step, Using};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;

/// Why a step is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The number of the step, from 0.
    pub step: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.step, self.reason)
    }
}

impl std::error::Error for Refused {}

/// Follows the steps from a map to where they lead, with its constraints in some order; `None` where no point is left.
///
/// # Errors
/// The first step that its rule does not allow.
pub fn replay(map: &IndexingMap, steps: &[Step]) -> Result<Option<IndexingMap>, Refused> {
    Ok(follow(map, steps)?.0)
}

/// [`replay`], and for each step whether it helps: equations that no other step uses do not.
pub(crate) fn follow(map: &IndexingMap, steps: &[Step]) -> Result<(Option<IndexingMap>, Vec<bool>), Refused> {
    let (domain, results) = (map.domain.clone(), map.results.clone());
    let mut state = State { domain, results, tables: BTreeMap::new() };
    // For each step, the equations it uses.
    let mut uses: Vec<Vec<usize>> = Vec::with_capacity(steps.len());
    let mut ended = false;
    for (number, step) in steps.iter().enumerate() {
        let hits = RefCell::default();
        let done = if ended { Err("nothing follows where no point is left") } else { state.step(number, step, &hits) };
        done.map_err(|reason| Refused { step: number, reason })?;
        ended = matches!(step.claim, Claim::Nothing(_));
        uses.push(hits.into_inner());
    }
    let mut used: Vec<bool> = steps.iter().map(|s| !matches!(s.claim, Claim::Equal(..))).collect();
    for number in (0..steps.len()).rev() {
        if used[number] {
            uses[number].iter().for_each(|k| used[*k] = true);
        }
    }
    let end = IndexingMap { results: state.results, domain: state.domain, ..map.clone() };
    Ok(((!ended).then_some(end), used))
}

/// What is proved of an atom: its value, and the steps that say so.
type Table = BTreeMap<Expr, (Linear, Vec<usize>)>;

type Checked = Result<(), &'static str>;

struct State {
    domain: Domain,
    results: Vec<Expr>,
    tables: BTreeMap<Using, Table>,
}

/// What may be used in a step.
struct View<'a> {
    vars: &'a [Interval],
    constraints: Vec<&'a Constraint>,
    table: Option<&'a Table>,
    hits: &'a RefCell<Vec<usize>>,
    facts: OnceCell<Vec<(Linear, i128, i128)>>,
}

const TOO_LARGE: &str = "its numbers are too large";
const NOT_SAID: &str = "the rule does not say so";
const NOT_THERE: &str = "it does not start where the steps before it end";

fn require(condition: bool, reason: &'static str) -> Checked {
    if condition { Ok(()) } else { Err(reason) }
}

impl State {
    fn step(&mut self, number: usize, step: &Step, hits: &RefCell<Vec<usize>>) -> Checked {
        let counted = step.rule == Rule::Enumerated;
        require(
            is_well_formed(step, self.domain.vars.len()),
            "it names a variable that is not there, or divides by nothing",
        )?;
        match &step.claim {
            Claim::Equal(before, after) => {
                let view = self.view(&step.using, hits)?;
                let (key, value) = view.equation(step, before, after)?;
                let table = self.tables.entry(step.using.clone()).or_default();
                if step.rule == Rule::Solved {
                    for (old, steps) in table.values_mut() {
                        let c = old.coefficient(&key);
                        if c != 0 {
                            *old = old.plus(&Linear::atom(key.clone()), -c, old.den).ok_or(TOO_LARGE)?;
                            *old = old.plus(&value, c, old.den).ok_or(TOO_LARGE)?;
                            steps.push(number);
                        }
                    }
                }
                let known = table.get(&key).is_some_and(|known| known.0 == value);
                if !known && value != Linear::atom(key.clone()) {
                    // The newest one counts: intervals have become narrower since an older one.
                    table.insert(key, (value, vec![number]));
                }
                Ok(())
            }
            Claim::Result(k, before, after) => {
                require(counted || step.rule == Rule::Definition, NOT_SAID)?;
                require(self.results.get(*k) == Some(before), NOT_THERE)?;
                let view = self.view(&step.using, hits)?;
                if counted {
                    view.same_value(before, after)?
                } else {
                    view.same(before, after)?
                }
                self.results[*k] = after.clone();
                Ok(())
            }
            Claim::Interval(v, before, after) if counted => {
                require(self.domain.vars.get(*v) == Some(before), NOT_THERE)?;
                require(before.lo <= after.lo && after.hi <= before.hi, "the interval has grown")?;
                self.open(&Using::All, hits).everywhere(|p| after.lo <= p[*v] && p[*v] <= after.hi)?;
                self.domain.vars[*v] = *after;
                Ok(())
            }
            Claim::Interval(v, before, after) => {
                require(step.rule == Rule::Bounds, NOT_SAID)?;
                require(self.domain.vars.get(*v) == Some(before), NOT_THERE)?;
                let by = step.fact.as_ref().ok_or("it names no constraint")?;
                require(self.domain.constraints.contains(by), "the constraint it names is not there")?;
                require(before.lo <= after.lo && after.hi <= before.hi, "the interval has grown")?;
                let cut = if after.lo > after.hi {
                    [*before, Interval::new(1, 0)]
                } else {
                    [
                        Interval::new(before.lo, after.lo.saturating_sub(1)),
                        Interval::new(after.hi.saturating_add(1), before.hi),
                    ]
                };
                let cut = [
                    (cut[0], before.lo < after.lo || after.lo > after.hi),
                    (cut[1], after.hi < before.hi && after.lo <= after.hi),
                ];
                for (part, there) in cut {
                    let fails = |vars: &[Interval]| {
                        let (lo, hi) = View { vars, ..self.open(&Using::Box, hits) }.interval(&by.0);
                        hi < by.1.lo.into() || i128::from(by.1.hi) < lo
                    };
                    require(!there || all_fail(&self.domain.vars, *v, part, &fails), "it leaves out a point")?;
                }
                self.domain.vars[*v] = *after;
                Ok(())
            }
            Claim::Constraints(from, to) => {
                let mut places: Vec<usize> = Vec::with_capacity(from.len());
                for c in from {
                    let mut all = self.domain.constraints.iter().enumerate();
                    let (at, _) = all.find(|(k, other)| *other == c && !places.contains(k)).ok_or(NOT_THERE)?;
                    places.push(at);
                }
                let own = match &step.using {
                    Using::Box => true,
                    Using::Others(c) => from[..] == [c.clone()],
                    Using::All | Using::Solved => false,
                };
                require(own, "it uses what it changes")?;
                let view = self.view(&step.using, hits)?;
                if counted {
                    let all = |list: &[Constraint], p: &[i64]| list.iter().all(|c| holds(c, p));
                    view.everywhere(|p| all(from, p) == all(to, p))?;
                } else {
                    view.constraints(step, from, to)?;
                }
                places.sort_unstable();
                for at in places.into_iter().rev() {
                    self.domain.constraints.swap_remove(at);
                }
                self.domain.constraints.extend(to.iter().cloned());
                // What has been said with the help of the old ones might stand on what they now stand on.
                self.tables.retain(|using, _| *using == Using::Box);
                Ok(())
            }
            Claim::Nothing(_) if counted => self.open(&Using::All, hits).everywhere(|_| false),
            Claim::Nothing(why) => {
                require(step.rule == Rule::Empty, NOT_SAID)?;
                let there = |c: &Constraint| {
                    self.domain.constraints.contains(c)
                        || matches!(c.0, Expr::Var(v) if self.domain.vars.get(v) == Some(&c.1))
                };
                require(why.iter().all(there), NOT_THERE)?;
                self.view(&step.using, hits)?.nothing(why)
            }
        }
    }

    /// What a step may use.
    fn view<'a>(&'a self, using: &Using, hits: &'a RefCell<Vec<usize>>) -> Result<View<'a>, &'static str> {
        if let Using::Others(c) = using {
            require(self.domain.constraints.contains(c), NOT_THERE)?;
        }
        Ok(self.open(using, hits))
    }

    fn open<'a>(&'a self, using: &Using, hits: &'a RefCell<Vec<usize>>) -> View<'a> {
        let mut constraints: Vec<&Constraint> = match using {
            Using::Box => Vec::new(),
            _ => self.domain.constraints.iter().collect(),
        };
        if let Using::Others(c) = using
            && let Some(at) = constraints.iter().position(|other| *other == c)
        {
            constraints.remove(at);
        }
        let (vars, table) = (&self.domain.vars[..], self.tables.get(using));
        View { vars, constraints, table, hits, facts: OnceCell::new() }
    }
}

/// Whether something fails for each value of a variable in a part of its interval; the part is halved where that helps
/// to see it.
fn all_fail(vars: &[Interval], v: usize, part: Interval, fails: &dyn Fn(&[Interval]) -> bool) -> bool {
    let mut vars = vars.to_vec();
    let (mut parts, mut looks) = (vec![part], 0);
    while let Some(part) = parts.pop() {
        looks += 1;
        vars[v] = part;
        if fails(&vars) {
            continue;
        }
        if part.lo >= part.hi || looks > 400 {
            return false;
        }
        let middle = ((i128::from(part.lo) + i128::from(part.hi)) >> 1) as i64;
        parts.extend([Interval::new(part.lo, middle), Interval::new(middle + 1, part.hi)]);
    }
    true
}

impl View<'_> {
    /// An equation by its rule: the atom on its left, and what that is.
    fn equation(&self, step: &Step, before: &Expr, after: &Expr) -> Result<(Expr, Linear), &'static str> {
        let value = self.norm(after).ok_or(TOO_LARGE)?;
        if step.rule == Rule::Solved {
            let (e, i) = step.fact.as_ref().ok_or("it names no constraint")?;
            require(
                self.constraints.contains(&&(e.clone(), *i)) && i.lo == i.hi,
                "the constraint it names is not there",
            )?;
            let zero = self.norm(e).and_then(|s| s.plus(&Linear::constant(i.lo.into()), -1, 1)).ok_or(TOO_LARGE)?;
            let gap = self.norm(before).and_then(|x| x.plus(&value, -1, 1)).ok_or(TOO_LARGE)?;
            let both = [1, -1].map(|sign| zero.plus(&gap, sign, 1));
            require(both.contains(&Some(Linear::constant(0))), NOT_SAID)?;
            let own = matches!(before, Expr::Var(_)) && value.coefficient(before) == 0;
            return if own { Ok((before.clone(), value)) } else { Err(NOT_SAID) };
        }
        let (e, m) = match before {
            Expr::Mod(e, m) => (self.norm(e).ok_or(TOO_LARGE)?, i128::from(*m)),
            Expr::Min(e, zero) if **zero == Expr::Const(0) => (self.norm(e).ok_or(TOO_LARGE)?, 0),
            Expr::Var(_) => (Linear::atom(before.clone()), 0),
            _ => return Err("there is no such rule for it"),
        };
        require(e.den == 1 && m >= 0, NOT_SAID)?;
        let written = e.expr().ok_or(TOO_LARGE)?;
        let key = match before {
            Expr::Mod(_, m) => Expr::Mod(written.into(), *m),
            Expr::Min(..) => Expr::Min(written.into(), Expr::Const(0).into()),
            _ => before.clone(),
        };
        let within = |s: &Linear, lo: i128, hi: i128| {
            let range = self.bounds(s);
            lo <= range.0 && range.1 <= hi
        };
        let said = match (step.rule, before) {
            (Rule::Fixed, _) => {
                let range = self.atom_range(&key);
                range.0 == range.1 && value == Linear::constant(range.0)
            }
            (Rule::Decided, Expr::Min(..)) => {
                // What is a multiple of d need not reach 0, only come nearer than d.
                let d = match &step.fact {
                    Some((Expr::FloorDiv(x, d), _)) if self.norm(x).as_ref() == Some(&e) => i128::from(*d),
                    _ => 1,
                };
                let near = d == 1 || self.multiple(&e, d);
                near && (value == e && within(&e, -NONE, d - 1)
                    || value == Linear::constant(0) && within(&e, 1 - d, NONE))
            }
            (Rule::OnePeriod, Expr::Mod(..)) => {
                // The bounds may leave one value.
                let (lo, hi) = self.bounds(&e);
                let one = lo == hi && value == Linear::constant(lo.rem_euclid(m));
                one || within(&value, 0, m - 1) && self.multiple(&e.minus(&value)?, m)
            }
            (Rule::Congruent, Expr::Mod(..)) => match after {
                Expr::Mod(r, n) => i128::from(*n) == m && self.multiple(&e.minus(&self.norm(r).ok_or(TOO_LARGE)?)?, m),
                _ => false,
            },
            (Rule::Digit, Expr::Mod(..)) => self.digit(&e, m, after)?,
            (Rule::Factor, Expr::Mod(..)) => self.factor(&e, m, after)?,
            _ => false,
        };
        // The fact is what a reader is told, so it must be so.
        let fact = step.fact.as_ref().is_none_or(|(e, i)| {
            let range = self.interval(e);
            range.0 >= i.lo.into() && range.1 <= i.hi.into()
        });
        if step.rule == Rule::Enumerated {
            return self.same_value(before, after).map(|()| (key, value));
        }
        require(fact, "the fact does not hold")?;
        if said { Ok((key, value)) } else { Err(NOT_SAID) }
    }

    /// `e mod m = x mod m - k*(y mod s)`.
    fn digit(&self, e: &Linear, m: i128, after: &Expr) -> Result<bool, &'static str> {
        let Expr::Add(x, digit) = after else { return Ok(false) };
        let (digit, k) = match &**digit {
            Expr::Mul(digit, k) => (&**digit, -i128::from(*k)),
            digit => (digit, -1),
        };
        let (Expr::Mod(x, n), Expr::Mod(y, s)) = (&**x, digit) else { return Ok(false) };
        let of = |e: &Expr| self.norm(e).ok_or(TOO_LARGE);
        let (x, y, digit) = (of(x)?, of(y)?, of(digit)?);
        let ks = k.checked_mul((*s).into()).ok_or(TOO_LARGE)?;
        let whole = e.minus(&x)?.plus(&digit, k, 1).ok_or(TOO_LARGE)?;
        let rest = x.plus(&y, -k, 1).ok_or(TOO_LARGE)?;
        Ok(i128::from(*n) == m && ks > 0 && m % ks == 0 && self.multiple(&whole, m) && self.multiple(&rest, ks))
    }

    /// `e mod (c*n) = c*(a mod n) + b`.
    fn factor(&self, e: &Linear, m: i128, after: &Expr) -> Result<bool, &'static str> {
        let Expr::Add(above, b) = after else { return Ok(false) };
        let (above, c) = match &**above {
            Expr::Mul(above, c) => (&**above, i128::from(*c)),
            above => (above, 1),
        };
        let Expr::Mod(a, n) = above else { return Ok(false) };
        let of = |e: &Expr| self.norm(e).ok_or(TOO_LARGE);
        let (ca, b) = (of(a)?.scaled(c, 1).ok_or(TOO_LARGE)?, of(b)?);
        // The greatest number that is sure to divide c*a and m.
        let mut g = m;
        let mut constant = ca.constant;
        for (atom, k) in &ca.terms {
            let (residue, step) = self.congruence(atom);
            g = gcd(g, k.checked_mul(step).ok_or(TOO_LARGE)?);
            constant = k.checked_mul(residue).and_then(|x| constant.checked_add(x)).ok_or(TOO_LARGE)?;
        }
        g = gcd(g, constant);
        let range = self.bounds(&b);
        let inside = 0 <= range.0 && range.1 < g;
        let whole = e.minus(&ca)?.minus(&b)?;
        Ok(c > 0 && c.checked_mul((*n).into()) == Some(m) && ca.den == 1 && inside && self.multiple(&whole, m))
    }

    /// Whether constraints may be replaced by others, by the step's rule.
    fn constraints(&self, step: &Step, from: &[Constraint], to: &[Constraint]) -> Checked {
        let said = match (step.rule, from, to) {
            (Rule::Definition, [(e, i)], [(f, j)]) => {
                self.same(e, f)?;
                i == j
            }
            (Rule::Scale, [(e, i)], [(f, j)]) => self.scale(e, *i, f, *j)?,
            (Rule::Quotient, [(Expr::FloorDiv(e, d), i)], [(f, j)]) => {
                let (lo, hi, d) = (i128::from(i.lo), i128::from(i.hi), i128::from(*d));
                let bounded = i.lo != i64::MIN && i.hi != i64::MAX;
                **e == *f && bounded && (lo * d, hi * d + d - 1) == (j.lo.into(), j.hi.into())
            }
            (Rule::Residue, [(Expr::Mod(e, m), i)], [(Expr::Mod(f, n), j)]) if i.lo == i.hi && j.lo == j.hi => {
                self.residues((e, *m, i.lo), (f, *n, j.lo))?
            }
            (Rule::Ends, [(e, i)], [(f, j)]) => {
                let range = self.interval(e);
                let inside = |i: &Interval| (range.0.max(i.lo.into()), range.1.min(i.hi.into()));
                e == f && inside(i) == inside(j)
            }
            (Rule::Meet, [(e, i), (f, j)], [(g, both)]) => {
                e == f && e == g && *both == Interval::new(i.lo.max(j.lo), i.hi.min(j.hi))
            }
            (Rule::Chinese, [(Expr::Mod(e, m), i), (Expr::Mod(f, n), j)], [(Expr::Mod(g, l), k)]) => {
                let one = |i: &Interval, m: i64| i.lo == i.hi && 0 <= i.lo && i.lo < m;
                let (wide, lcm) = (i128::from(*l), i128::from(*m) / gcd((*m).into(), (*n).into()) * i128::from(*n));
                // Residues are not negative, so their differences fit.
                let fits = || (k.lo - i.lo) % m == 0 && (k.lo - j.lo) % n == 0;
                e == f && e == g && wide == lcm && one(i, *m) && one(j, *n) && one(k, *l) && fits()
            }
            (Rule::Implied, [(e, i)], []) => {
                let range = self.interval(e);
                range.0 >= i.lo.into() && range.1 <= i.hi.into()
            }
            _ => return Err("there is no such rule for constraints"),
        };
        require(said, NOT_SAID)
    }

    /// Whether `e = c*f + k`, and the intervals go with that.
    fn scale(&self, e: &Expr, i: Interval, f: &Expr, j: Interval) -> Result<bool, &'static str> {
        let (e, f) = (self.norm(e).ok_or(TOO_LARGE)?, self.norm(f).ok_or(TOO_LARGE)?);
        let Some((atom, own)) = f.terms.first_key_value() else { return Ok(false) };
        let c = e.coefficient(atom).checked_mul(f.den).ok_or(TOO_LARGE)? / own.checked_mul(e.den).ok_or(TOO_LARGE)?;
        let rest = f.scaled(-c, 1).and_then(|f| e.plus(&f, 1, 1)).ok_or(TOO_LARGE)?;
        if c == 0 || !rest.terms.is_empty() || rest.den != 1 || i.lo == i64::MIN || i.hi == i64::MAX {
            return Ok(false);
        }
        let (lo, hi) = (i128::from(i.lo) - rest.constant, i128::from(i.hi) - rest.constant);
        let (lo, hi, c) = if c > 0 { (lo, hi, c) } else { (-hi, -lo, -c) };
        let inside = (-(-lo).div_euclid(c), hi.div_euclid(c));
        Ok(inside == (j.lo.into(), j.hi.into()) || inside.0 > inside.1 && j.lo > j.hi)
    }

    /// Whether `e = r` modulo `m` says the same as `f = t` modulo `n`.
    fn residues(&self, (e, m, r): (&Expr, i64, i64), (f, n, t): (&Expr, i64, i64)) -> Result<bool, &'static str> {
        let of = |e: &Expr, r: i64| {
            let sum = self.norm(e).and_then(|s| s.plus(&Linear::constant(r.into()), -1, 1)).ok_or(TOO_LARGE)?;
            require(sum.den == 1, NOT_SAID).map(|()| sum)
        };
        let (e, f) = (of(e, r)?, of(f, t)?);
        if m % n != 0 || !(0..m).contains(&r) || !(0..n).contains(&t) {
            return Ok(false);
        }
        let (g, n) = (i128::from(m / n), i128::from(n));
        if e.constant % g != 0 || e.terms.values().any(|c| c % g != 0) {
            return Ok(false);
        }
        let factors = e.terms.iter().filter_map(|(a, c)| Some(inverse(c / g, n)?.checked_mul(f.coefficient(a))? % n));
        for factor in factors.chain([1, -1]) {
            let by = e.scaled(factor, g).ok_or(TOO_LARGE)?;
            let rest = f.minus(&by)?;
            let whole = rest.den == 1 && rest.constant % n == 0 && rest.terms.values().all(|c| c % n == 0);
            if gcd(factor, n) == 1 && whole {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether these leave no point.
    fn nothing(&self, why: &[Constraint]) -> Checked {
        let none = match why {
            [(_, i)] if i.lo > i.hi => true,
            [(e, i)] => {
                let (lo, hi) = self.interval(e);
                let unsolvable = match e {
                    Expr::Mod(e, m) if i.lo == i.hi => {
                        let e = self.norm(e).ok_or(TOO_LARGE)?;
                        let g = e.terms.values().fold((*m).into(), |g, c| gcd(g, *c));
                        e.den == 1 && (e.constant - i128::from(i.lo)) % g != 0
                    }
                    _ => false,
                };
                hi < i.lo.into() || i128::from(i.hi) < lo || unsolvable
            }
            [(Expr::Mod(e, m), i), (Expr::Mod(f, n), j)] if e == f && i.lo == i.hi && j.lo == j.hi => {
                (i128::from(i.lo) - i128::from(j.lo)) % gcd((*m).into(), (*n).into()) != 0
            }
            [(e, i), (f, j)] => e == f && (i.hi < j.lo || j.hi < i.lo),
            _ => false,
        };
        require(none, NOT_SAID)
    }

    /// Holds a test against every point, where those are few.
    fn everywhere(&self, test: impl Fn(&[i64]) -> bool) -> Checked {
        let all = IndexingMap::new(self.vars.to_vec(), Vec::new());
        require(all.box_points() <= POINTS, "there are too many points to look at")?;
        let there = |p: &Vec<i64>| self.constraints.iter().all(|c| holds(c, p));
        require(all.points().filter(there).all(|p| test(&p)), "the two sides differ")
    }

    /// Whether two expressions have the same value at every point.
    fn same_value(&self, a: &Expr, b: &Expr) -> Checked {
        self.everywhere(|p| a.wide(p).is_some_and(|x| b.wide(p) == Some(x)))
    }

    /// Whether two expressions have one normal form.
    fn same(&self, a: &Expr, b: &Expr) -> Checked {
        let (a, b) = (self.norm(a).ok_or(TOO_LARGE)?, self.norm(b).ok_or(TOO_LARGE)?);
        require(a == b, "the two sides differ")
    }

    /// An expression as a sum of atoms; `None` where the numbers are too large.
    fn norm(&self, e: &Expr) -> Option<Linear> {
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

    /// An atom, or what the table says that it is.
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
        let negative = numerators.terms.values().next().is_some_and(|c| *c < 0);
        let primitive = numerators.scaled(if negative { -1 } else { 1 }, content)?;
        let positive = self.atom(least(&primitive)?);
        // min(-x, 0) = min(x, 0) - x
        let value = if negative { positive.plus(&primitive, -1, 1)? } else { positive };
        value.scaled(content, e.den)
    }

    /// Sums of atoms with the intervals that the constraints say.
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
                    let lo = if i.lo == i64::MIN { -NONE } else { -(-lo).div_euclid(content) };
                    let hi = if i.hi == i64::MAX { NONE } else { hi.div_euclid(content) };
                    Some((direction.scaled(1, content)?, lo, hi))
                })
                .collect()
        })
    }

    /// Closed bounds of a sum.
    fn bounds(&self, s: &Linear) -> (i128, i128) {
        let mut best = self.added_up(s);
        let mut by = |direction: &Linear, lo: i128, hi: i128| {
            let Some((atom, c)) = direction.terms.first_key_value() else { return };
            let k = s.coefficient(atom) / c;
            let rest = Linear { den: 1, ..s.clone() }.plus(direction, -k, 1);
            // Only what makes the sum smaller, so that ranges of minima, which are such sums, come to an end.
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
        for (atom, c) in &s.terms {
            // c * min(x, 0) and the rest: the less, or with a negative c the greater, of the rest and the rest + c * x.
            if let Expr::Min(x, zero) = atom
                && **zero == Expr::Const(0)
                && let Some(x) = Linear::of(x)
                && let Some(rest) = (Linear { den: 1, ..s.clone() }).plus(&Linear::atom(atom.clone()), -c, 1)
                && let Some(with) = rest.plus(&x, *c, 1).filter(|with| with.terms.len() < s.terms.len())
            {
                let (a, b) = (self.added_up(&rest), self.added_up(&with));
                let (lo, hi) = if *c > 0 { (a.0.min(b.0), a.1.min(b.1)) } else { (a.0.max(b.0), a.1.max(b.1)) };
                best = (best.0.max(lo), best.1.min(hi));
            }
        }
        let (lo, hi) = best;
        (if lo <= -FAR { lo } else { -(-lo).div_euclid(s.den) }, if hi >= FAR { hi } else { hi.div_euclid(s.den) })
    }

    /// Bounds of the numerators of a sum: those of its terms added up.
    fn added_up(&self, s: &Linear) -> (i128, i128) {
        let start = (s.constant, s.constant);
        s.terms.iter().fold(start, |sum, (atom, c)| sum_of(sum, times(self.atom_range(atom), *c)))
    }

    fn atom_range(&self, atom: &Expr) -> (i128, i128) {
        let own = match atom {
            Expr::Var(v) => {
                let i = self.vars[*v];
                let (lo, hi) = (if i.lo == i64::MIN { -NONE } else { i.lo.into() }, i128::from(i.hi));
                (lo, if i.hi == i64::MAX { NONE } else { hi })
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

    /// What is known of the residue of an atom: it is the first modulo the second.
    fn congruence(&self, atom: &Expr) -> (i128, i128) {
        match atom {
            Expr::Mod(y, m) => {
                let m = i128::from(*m);
                let whole = Linear::of(y).and_then(|y| {
                    y.terms.iter().try_fold((y.constant, m), |(residue, step), (atom, c)| {
                        let own = self.congruence(atom);
                        Some((residue.checked_add(c.checked_mul(own.0)?)?, gcd(step, c.checked_mul(own.1)?)))
                    })
                });
                whole.map_or((0, 1), |(residue, step)| (residue.rem_euclid(step), step))
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

    /// Whether a sum is a multiple of `m` at every point.
    fn multiple(&self, s: &Linear, m: i128) -> bool {
        let mut sum = s.clone();
        if sum.den != 1 || m == 0 {
            return false;
        }
        // Remainders that m sees through are opened: c * (y mod n) = c * y where m divides c * n.
        for _ in 0..100 {
            let (mut opened, mut left) = (None, false);
            let mut constant = sum.constant % m;
            for (atom, c) in &sum.terms {
                let c = c % m;
                if c == 0 {
                    continue;
                }
                let (residue, step) = self.congruence(atom);
                match atom {
                    _ if c.checked_mul(step).is_some_and(|x| x % m == 0) => {
                        let Some(x) = c.checked_mul(residue) else { return false };
                        constant = (constant + x % m) % m;
                    }
                    Expr::Mod(y, n) if c.checked_mul((*n).into()).is_some_and(|x| x % m == 0) => {
                        opened = Linear::of(y).map(|y| (atom.clone(), y, c));
                        break;
                    }
                    _ => left = true,
                }
            }
            match opened {
                None => return !left && constant % m == 0,
                Some((atom, y, c)) => {
                    sum.terms.remove(&atom);
                    match sum.plus(&y, c, 1) {
                        Some(next) => sum = next,
                        None => return false,
                    }
                }
            }
        }
        false
    }

    /// The interval of an expression, each operation by itself, or as a sum of atoms where that is narrower.
    fn interval(&self, e: &Expr) -> (i128, i128) {
        let (lo, hi) = match e {
            Expr::Const(c) => ((*c).into(), (*c).into()),
            Expr::Var(_) => self.atom_range(e),
            Expr::Add(a, b) => sum_of(self.interval(a), self.interval(b)),
            Expr::Mul(a, c) => times(self.interval(a), (*c).into()),
            Expr::FloorDiv(a, d) => {
                let (x, d) = (self.interval(a), i128::from(*d));
                let at = |x: i128| if x.abs() >= FAR { x } else { x.div_euclid(d) };
                // What is a multiple of d is rounded up.
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

/// Whether all variables of a step are there, and all divisors positive.
fn is_well_formed(step: &Step, vars: usize) -> bool {
    let mut stack: Vec<&Expr> = step.fact.iter().map(|fact| &fact.0).collect();
    match &step.claim {
        Claim::Equal(a, b) | Claim::Result(_, a, b) => stack.extend([a, b]),
        Claim::Interval(..) => {}
        Claim::Constraints(a, b) => stack.extend(a.iter().chain(b).map(|c| &c.0)),
        Claim::Nothing(all) => stack.extend(all.iter().map(|c| &c.0)),
    }
    if let Using::Others(c) = &step.using {
        stack.push(&c.0);
    }
    while let Some(e) = stack.pop() {
        match e {
            Expr::Var(v) if *v >= vars => return false,
            Expr::FloorDiv(_, d) | Expr::Mod(_, d) if *d <= 0 => return false,
            _ => stack.extend(e.operands()),
        }
    }
    true
}

/// Whether a constraint holds at a point.
fn holds((e, i): &Constraint, point: &[i64]) -> bool {
    e.wide(point).is_some_and(|x| i.contains(x))
}

/// As many points are looked at one by one.
const POINTS: u128 = 100_000;

/// Beyond this, a bound is as good as none, and becomes [`NONE`], which sums and products keep.
const FAR: i128 = 1 << 100;
const NONE: i128 = i128::MAX;

/// Bounds without those that are as good as none: a greater lower bound may be said to be less, never the other way.
fn near((lo, hi): (i128, i128)) -> (i128, i128) {
    (if lo <= -FAR { -NONE } else { lo.min(FAR) }, if hi >= FAR { NONE } else { hi.max(-FAR) })
}

/// Bounds of a sum.
fn sum_of(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    near((a.0.saturating_add(b.0), a.1.saturating_add(b.1)))
}

/// Bounds of a multiple.
fn times((lo, hi): (i128, i128), c: i128) -> (i128, i128) {
    if c == 0 {
        return (0, 0);
    }
    let (x, y) = (lo.saturating_mul(c), hi.saturating_mul(c));
    near((x.min(y), x.max(y)))
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i128
}

/// The inverse of `c` modulo `m`, where there is one.
fn inverse(c: i128, m: i128) -> Option<i128> {
    let (mut old, mut new) = ((c.rem_euclid(m), 1i128), (m, 0i128));
    while new.0 != 0 {
        let q = old.0 / new.0;
        (old, new) = (new, (old.0 - q * new.0, old.1.checked_sub(q.checked_mul(new.1)?)?));
    }
    (old.0 == 1).then(|| old.1.rem_euclid(m))
}

/// The `x` with `c*x = value` modulo `m`: a residue and its modulus.
fn solve(c: i128, value: i128, m: i128) -> Option<(i128, i128)> {
    let g = gcd(c, m);
    let n = m / g;
    (value % g == 0 && n > 1).then_some(())?;
    Some(((value / g).rem_euclid(n).checked_mul(inverse(c / g, n)?)?.rem_euclid(n), n))
}

/// What lies in both residue classes.
fn join((r, m): (i128, i128), (s, n): (i128, i128)) -> Option<(i128, i128)> {
    let (g, lcm) = (gcd(m, n), (m / gcd(m, n)).checked_mul(n)?);
    let (gap, n) = (s - r, n / g);
    (gap % g == 0 && lcm < FAR).then_some(())?;
    let k = if n == 1 { 0 } else { (gap / g).rem_euclid(n).checked_mul(inverse(m / g, n)?)?.rem_euclid(n) };
    Some((r.checked_add(m.checked_mul(k)?)?.rem_euclid(lcm), lcm))
}

/// `(constant + Σ coefficient * atom) / den`, in lowest terms.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Linear {
    terms: BTreeMap<Expr, i128>,
    constant: i128,
    den: i128,
}

impl Linear {
    fn constant(constant: i128) -> Linear {
        Linear { terms: BTreeMap::new(), constant, den: 1 }
    }

    fn atom(atom: Expr) -> Linear {
        Linear { terms: BTreeMap::from([(atom, 1)]), constant: 0, den: 1 }
    }

    /// A sum whose terms are atoms as they stand.
    fn of(e: &Expr) -> Option<Linear> {
        match e {
            Expr::Const(c) => Some(Linear::constant((*c).into())),
            Expr::Add(a, b) => Linear::of(a)?.plus(&Linear::of(b)?, 1, 1),
            Expr::Mul(a, c) => Linear::of(a)?.scaled((*c).into(), 1),
            e => Some(Linear::atom(e.clone())),
        }
    }

    /// As an expression, the denominator left out.
    fn expr(&self) -> Option<Expr> {
        let term = |(e, c): (&Expr, &i128)| Some(e.clone().times((*c).try_into().ok()?));
        let mut terms = self.terms.iter().map(term).collect::<Option<Vec<_>>>()?;
        if self.constant != 0 {
            terms.push(Expr::Const(self.constant.try_into().ok()?));
        }
        Some(Expr::sum(terms))
    }

    fn coefficient(&self, atom: &Expr) -> i128 {
        self.terms.get(atom).copied().unwrap_or(0)
    }

    fn minus(&self, other: &Linear) -> Result<Linear, &'static str> {
        self.plus(other, -1, 1).ok_or(TOO_LARGE)
    }

    /// `self + other * num / den`.
    fn plus(&self, other: &Linear, num: i128, den: i128) -> Option<Linear> {
        let other = other.scaled(num, den)?;
        let g = gcd(self.den, other.den);
        let (own, more) = (other.den / g, self.den / g);
        let mut sum = Linear { terms: BTreeMap::new(), constant: 0, den: self.den.checked_mul(own)? };
        sum.constant = self.constant.checked_mul(own)?.checked_add(other.constant.checked_mul(more)?)?;
        for (terms, factor) in [(&self.terms, own), (&other.terms, more)] {
            for (e, c) in terms {
                let c = c.checked_mul(factor)?;
                let c = c.checked_add(sum.terms.get(e).copied().unwrap_or(0))?;
                if c == 0 {
                    sum.terms.remove(e)
                } else {
                    sum.terms.insert(e.clone(), c)
                };
            }
        }
        sum.lowest()
    }

    /// `self * num / den`; `den` is positive.
    fn scaled(&self, num: i128, den: i128) -> Option<Linear> {
        if num == 0 {
            return Some(Linear::constant(0));
        }
        let g = gcd(num, self.den);
        let (num, own) = (num / g, self.den / g);
        let mut scaled = Linear { den: own.checked_mul(den)?, ..self.clone() };
        scaled.constant = scaled.constant.checked_mul(num)?;
        for c in scaled.terms.values_mut() {
            *c = c.checked_mul(num)?;
        }
        scaled.lowest()
    }

    fn lowest(mut self) -> Option<Linear> {
        let g = self.terms.values().fold(gcd(self.den, self.constant), |g, c| gcd(g, *c));
        if g > 1 {
            self.den /= g;
            self.constant /= g;
            self.terms.values_mut().for_each(|c| *c /= g);
        }
        let near = |x: i128| -FAR < x && x < FAR;
        (self.den < FAR && near(self.constant) && self.terms.values().all(|c| near(*c))).then_some(self)
    }
}
