//! The rules, each as a formula and its proof.
//!
//! An equation `left = right` has an atom on its left: `e mod m`, `min(e, 0)` or a variable. [`Premises::equation`]
//! finds the rule by its name, and the rule's method proves the formula in its comment. Below, `e`, `r`, `x`, `y`, `a`,
//! `b` are sums of atoms, all other letters numbers; `m | e` says that `m` divides `e` at every point of the domain.
//!
//! A rule for constraints replaces a list of them by another one with the same points.

use super::linear::{Linear, NONE, gcd, inverse, join, solve};
use super::premises::{Checked, Premises, require};
use super::refused::Reason;
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::steps::{Constraint, Rule, Step};

/// The left side of an equation.
struct Left {
    /// The atom, as a key of the table of equations.
    atom: Expr,
    /// The sum under it: the `e` of `e mod m` and `min(e, 0)`; a variable itself.
    e: Linear,
}

/// The values of a variable that an equality allows.
pub(super) enum Leftover {
    /// Values of this residue by this modulus.
    Residue(i128, i128),
    /// No value.
    Empty,
}

/// Equations.
impl Premises<'_> {
    /// Proves an equation by its rule. Returns its atom and the atom's value.
    pub fn equation(&self, step: &Step, before: &Expr, after: &Expr) -> Result<(Expr, Linear), Reason> {
        let value = self.sum(after)?;
        if step.rule == Rule::Solved {
            self.solved(step.fact.as_ref(), before, &value)?;
            return Ok((before.clone(), value));
        }
        let Left { atom, e } = self.left(before)?;
        if step.rule == Rule::Enumerated {
            self.same_value(before, after)?;
            return Ok((atom, value));
        }
        if let Some(fact) = &step.fact {
            self.fact(fact)?;
        }
        let proved = match (step.rule, before) {
            (Rule::Fixed, _) => self.fixed(&atom, &value),
            (Rule::Decided, Expr::Min(..)) => self.decided(step.fact.as_ref(), &e, &value),
            (Rule::OnePeriod, Expr::Mod(_, m)) => self.one_period(&e, (*m).into(), &value)?,
            (Rule::Congruent, Expr::Mod(_, m)) => self.congruent(&e, (*m).into(), after)?,
            (Rule::Digit, Expr::Mod(_, m)) => self.digit(&e, (*m).into(), after)?,
            (Rule::Ceiling, Expr::Mod(_, m)) => self.ceiling(&e, (*m).into(), after)?,
            (Rule::Factor, Expr::Mod(_, m)) => self.factor(&e, (*m).into(), after)?,
            _ => return Err(Reason::WrongRule),
        };
        require(proved, Reason::Unproved)?;
        Ok((atom, value))
    }

    /// The atom on the left of an equation.
    fn left(&self, before: &Expr) -> Result<Left, Reason> {
        let zero = |e: &Expr| *e == Expr::Const(0);
        let e = match before {
            Expr::Mod(e, _) => self.sum(e)?,
            Expr::Min(e, other) if zero(other) => self.sum(e)?,
            Expr::Var(_) => Linear::atom(before.clone()),
            _ => return Err(Reason::WrongRule),
        };
        require(e.den == 1, Reason::Unproved)?;
        let written = e.expr().ok_or(Reason::TooLarge)?.into();
        let atom = match before {
            Expr::Mod(_, m) => Expr::Mod(written, *m),
            Expr::Min(..) => Expr::Min(written, Expr::Const(0).into()),
            _ => before.clone(),
        };
        Ok(Left { atom, e })
    }

    /// Proves the fact of a step: `e in [lo, hi]` at every point.
    fn fact(&self, (e, i): &Constraint) -> Checked {
        let (lo, hi) = self.interval(e);
        require(i128::from(i.lo) <= lo && hi <= i128::from(i.hi), Reason::FalseFact)
    }

    /// Whether a sum is in `[lo, hi]` at every point.
    fn within(&self, s: &Linear, lo: i128, hi: i128) -> bool {
        let (least, most) = self.bounds(s);
        lo <= least && most <= hi
    }

    /// `x = e` where a constraint says `x - e = 0`, or `e - x = 0`, and `e` is free of `x`.
    fn solved(&self, fact: Option<&Constraint>, x: &Expr, e: &Linear) -> Checked {
        let fact = fact.ok_or(Reason::NoConstraint)?;
        require(self.constraints.contains(&fact) && fact.1.lo == fact.1.hi, Reason::UnknownConstraint)?;
        let zero = self.sum(&fact.0)?.minus(&Linear::constant(fact.1.lo.into()))?;
        let gap = self.sum(x)?.minus(e)?;
        let both = [1, -1].map(|sign| zero.plus(&gap, sign, 1));
        require(both.contains(&Some(Linear::constant(0))), Reason::Unproved)?;
        require(matches!(x, Expr::Var(_)) && e.coefficient(x) == 0, Reason::Unproved)
    }

    /// `a = c` where `a in [c, c]`.
    fn fixed(&self, atom: &Expr, value: &Linear) -> bool {
        let (lo, hi) = self.atom_range(atom);
        lo == hi && *value == Linear::constant(lo)
    }

    /// `min(e, 0) = e` where `e < d`, and `min(e, 0) = 0` where `e > -d`, for a `d` with `d | e`:
    /// 1, or the divisor of a fact about `e floordiv d`.
    fn decided(&self, fact: Option<&Constraint>, e: &Linear, value: &Linear) -> bool {
        let by = |d: i128| {
            value == e && self.within(e, -NONE, d - 1) || *value == Linear::constant(0) && self.within(e, 1 - d, NONE)
        };
        let named = match fact {
            Some((Expr::FloorDiv(x, d), _)) if self.norm(x).as_ref() == Some(e) => i128::from(*d),
            _ => 1,
        };
        by(1) || named > 1 && self.multiple(e, named) && by(named)
    }

    /// `e mod m = r` where `m | e - r` and `r in [0, m - 1]`. Where `e in [c, c]` this is `r = c mod m`.
    fn one_period(&self, e: &Linear, m: i128, r: &Linear) -> Result<bool, Reason> {
        let (lo, hi) = self.bounds(e);
        if lo == hi && *r == Linear::constant(lo.rem_euclid(m)) {
            return Ok(true);
        }
        Ok(self.within(r, 0, m - 1) && self.multiple(&e.minus(r)?, m))
    }

    /// `e mod m = r mod m` where `m | e - r`.
    fn congruent(&self, e: &Linear, m: i128, after: &Expr) -> Result<bool, Reason> {
        let Expr::Mod(r, n) = after else { return Ok(false) };
        Ok(i128::from(*n) == m && self.multiple(&e.minus(&self.sum(r)?)?, m))
    }

    /// `e mod m = x mod m - k*(y mod s)` where `m | e - x + k*(y mod s)`, `k*s | m` and `k*s | x - k*y`, for `k > 0`:
    /// then `x mod m` is a multiple of `k*s` more than `k*(y mod s)`, so the difference stays in `[0, m - 1]`.
    fn digit(&self, e: &Linear, m: i128, after: &Expr) -> Result<bool, Reason> {
        let Expr::Add(x, digit) = after else { return Ok(false) };
        let (digit, k) = match &**digit {
            Expr::Mul(digit, k) => (&**digit, -i128::from(*k)),
            digit => (digit, -1),
        };
        let (Expr::Mod(x, n), Expr::Mod(y, s)) = (&**x, digit) else { return Ok(false) };
        let (x, y, digit) = (self.sum(x)?, self.sum(y)?, self.sum(digit)?);
        let ks = k.checked_mul((*s).into()).ok_or(Reason::TooLarge)?;
        let whole = e.minus(&x)?.plus(&digit, k, 1).ok_or(Reason::TooLarge)?;
        let rest = x.plus(&y, -k, 1).ok_or(Reason::TooLarge)?;
        Ok(i128::from(*n) == m && ks > 0 && m % ks == 0 && self.multiple(&whole, m) && self.multiple(&rest, ks))
    }

    /// `e mod m = k*(y mod s) - x mod m + m - k*s` where `m | e + x + k*s - k*(y mod s)`, `k*s | m` and
    /// `k*s | x - k*y`, for `k > 0`: then `x mod m` is a multiple of `k*s` more than `k*(y mod s)`, so the right side
    /// stays in `[0, m - k*s]`.
    fn ceiling(&self, e: &Linear, m: i128, after: &Expr) -> Result<bool, Reason> {
        let Expr::Add(difference, constant) = after else { return Ok(false) };
        let (Expr::Add(digit, negated), Expr::Const(constant)) = (&**difference, &**constant) else { return Ok(false) };
        let (digit, k) = match &**digit {
            Expr::Mul(digit, k) => (&**digit, i128::from(*k)),
            digit => (digit, 1),
        };
        let Expr::Mul(x, -1) = &**negated else { return Ok(false) };
        let (Expr::Mod(x, n), Expr::Mod(y, s)) = (&**x, digit) else { return Ok(false) };
        let (x, y, digit) = (self.sum(x)?, self.sum(y)?, self.sum(digit)?);
        let ks = k.checked_mul((*s).into()).ok_or(Reason::TooLarge)?;
        let whole = e.plus(&x, 1, 1).and_then(|sum| sum.plus(&digit, -k, 1)).ok_or(Reason::TooLarge)?;
        let whole = whole.plus(&Linear::constant(ks), 1, 1).ok_or(Reason::TooLarge)?;
        let rest = x.plus(&y, -k, 1).ok_or(Reason::TooLarge)?;
        Ok(i128::from(*n) == m
            && ks > 0
            && m % ks == 0
            && i128::from(*constant) == m - ks
            && self.multiple(&whole, m)
            && self.multiple(&rest, ks))
    }

    /// `e mod (c*n) = c*(a mod n) + b` where `c*n | e - c*a - b` and `b in [0, g - 1]`, for `c > 0` and a `g` with
    /// `g | c*n` and `g | c*a`: then `c*(a mod n)` is a multiple of `g` below `c*n`, and adding `b` stays below.
    fn factor(&self, e: &Linear, m: i128, after: &Expr) -> Result<bool, Reason> {
        let Expr::Add(above, b) = after else { return Ok(false) };
        let (above, c) = match &**above {
            Expr::Mul(above, c) => (&**above, i128::from(*c)),
            above => (above, 1),
        };
        let Expr::Mod(a, n) = above else { return Ok(false) };
        let (ca, b) = (self.sum(a)?.scaled(c, 1).ok_or(Reason::TooLarge)?, self.sum(b)?);
        let g = self.common_divisor(&ca, m).ok_or(Reason::TooLarge)?;
        // A divisor of each term, or of all terms together: the modulus of a remainder divides y - y mod s.
        let together = ca.terms.iter().filter_map(|(atom, k)| match atom {
            Expr::Mod(_, s) => Some(gcd(k.checked_mul((*s).into())?, m)),
            _ => None,
        });
        let below = |g: i128| self.within(&b, 0, g - 1);
        let whole = e.minus(&ca)?.minus(&b)?;
        Ok(c > 0
            && c.checked_mul((*n).into()) == Some(m)
            && ca.den == 1
            && (below(g) || together.into_iter().any(|g| below(g) && self.multiple(&ca, g)))
            && self.multiple(&whole, m))
    }

    /// The greatest number proved to divide `m`, and a sum at every point.
    fn common_divisor(&self, s: &Linear, m: i128) -> Option<i128> {
        let (mut g, mut constant) = (m, s.constant);
        for (atom, k) in &s.terms {
            let (residue, step) = self.congruence(atom);
            g = gcd(g, k.checked_mul(step)?);
            constant = constant.checked_add(k.checked_mul(residue)?)?;
        }
        Some(gcd(g, constant))
    }
}

/// Constraints.
impl Premises<'_> {
    /// Proves that constraints may be replaced by others, by the step's rule.
    pub fn constraints(&self, step: &Step, from: &[Constraint], to: &[Constraint]) -> Checked {
        let proved = match (step.rule, from, to) {
            (Rule::Definition, [(e, i)], [(f, j)]) => {
                self.same(e, f)?;
                i == j
            }
            (Rule::Scale, [(e, i)], [(f, j)]) => self.scale((e, *i), (f, *j))?,
            (Rule::Quotient, [(Expr::FloorDiv(e, d), i)], [(f, j)]) => e.as_ref() == f && quotient(*i, *d, *j),
            (Rule::Residue, [(Expr::Mod(e, m), i)], [(Expr::Mod(f, n), j)]) if i.lo == i.hi && j.lo == j.hi => {
                self.residue((e, *m, i.lo), (f, *n, j.lo))?
            }
            (Rule::Ends, [(e, i)], [(f, j)]) => e == f && self.ends(e, *i, *j),
            (Rule::Meet, [(e, i), (f, j)], [(g, both)]) => e == f && e == g && meet(*i, *j, *both),
            (Rule::Chinese, [(Expr::Mod(e, m), i), (Expr::Mod(f, n), j)], [(Expr::Mod(g, l), k)]) => {
                e == f && e == g && chinese((*m, *i), (*n, *j), (*l, *k))
            }
            (Rule::Implied, [constraint], []) => self.fact(constraint).is_ok(),
            _ => return Err(Reason::WrongRule),
        };
        require(proved, Reason::Unproved)
    }

    /// `c*f + k in [a, b]` where `f in [ceil((a - k)/c), floor((b - k)/c)]`, for `c > 0`; for `c < 0` with both sides
    /// negated. `c` and `k` come from `e = c*f + k`.
    fn scale(&self, (e, i): (&Expr, Interval), (f, j): (&Expr, Interval)) -> Result<bool, Reason> {
        let (e, f) = (self.sum(e)?, self.sum(f)?);
        let Some((atom, own)) = f.terms.first_key_value() else { return Ok(false) };
        let product = |a: i128, b: i128| a.checked_mul(b).ok_or(Reason::TooLarge);
        let c = product(e.coefficient(atom), f.den)? / product(*own, e.den)?;
        let k = f.scaled(-c, 1).and_then(|f| e.plus(&f, 1, 1)).ok_or(Reason::TooLarge)?;
        if c == 0 || !k.terms.is_empty() || k.den != 1 {
            return Ok(false);
        }
        let (lo, hi) = (i128::from(i.lo) - k.constant, i128::from(i.hi) - k.constant);
        let (lo, hi, c) = if c > 0 { (lo, hi, c) } else { (-hi, -lo, -c) };
        let inside = (-(-lo).div_euclid(c), hi.div_euclid(c));
        Ok(inside == (j.lo.into(), j.hi.into()) || inside.0 > inside.1 && j.lo > j.hi)
    }

    /// `e mod m in [r, r]` where `f mod n in [t, t]`: with `g = m/n`, `g | e - r`, and `n | f - t - factor*(e - r)/g`
    /// for a `factor` coprime to `n`.
    fn residue(&self, (e, m, r): (&Expr, i64, i64), (f, n, t): (&Expr, i64, i64)) -> Result<bool, Reason> {
        let of = |e: &Expr, r: i64| {
            let sum = self.sum(e)?.minus(&Linear::constant(r.into()))?;
            require(sum.den == 1, Reason::Unproved).map(|()| sum)
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
            let rest = f.minus(&e.scaled(factor, g).ok_or(Reason::TooLarge)?)?;
            let whole = rest.den == 1 && rest.constant % n == 0 && rest.terms.values().all(|c| c % n == 0);
            if gcd(factor, n) == 1 && whole {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `e in i` where `e in j`: both intervals contain the same values of `e`.
    fn ends(&self, e: &Expr, i: Interval, j: Interval) -> bool {
        let range = self.interval(e);
        let inside = |i: Interval| (range.0.max(i.lo.into()), range.1.min(i.hi.into()));
        inside(i) == inside(j)
    }

    /// Proves that constraints leave no point: an empty interval, an expression that is never in its interval, two
    /// residues or two intervals of one expression that exclude each other.
    pub fn nothing(&self, why: &[Constraint]) -> Checked {
        let none = match why {
            [(_, i)] if i.lo > i.hi => true,
            [(e, i)] => {
                let (lo, hi) = self.interval(e);
                hi < i.lo.into() || i128::from(i.hi) < lo || self.unsolvable(e, *i)?
            }
            [(Expr::Mod(e, m), i), (Expr::Mod(f, n), j)] if e == f && i.lo == i.hi && j.lo == j.hi => {
                (i128::from(i.lo) - i128::from(j.lo)) % gcd((*m).into(), (*n).into()) != 0
            }
            [(e, i), (f, j)] => e == f && (i.hi < j.lo || j.hi < i.lo),
            _ => false,
        };
        require(none, Reason::Unproved)
    }

    /// The residue class that an equality of sums leaves for a variable, joined with its known class: in
    /// `c*x + rest = k`, where the rest is `r` modulo `g`, `c*x = k - r` modulo `g`. `None` if that allows every value,
    /// [`Leftover::Empty`] if it allows none.
    pub fn class(&self, v: usize, (e, i): &Constraint) -> Option<Leftover> {
        let (sum, x) = (self.norm(e).filter(|_| i.lo == i.hi)?, Expr::Var(v));
        let c = Some(sum.coefficient(&x)).filter(|c| *c != 0 && sum.den == 1)?;
        let (mut g, mut value) = (0, i128::from(i.lo).checked_sub(sum.constant)?);
        for (atom, k) in sum.terms.iter().filter(|t| *t.0 != x) {
            let (residue, step) = self.congruence(atom);
            g = gcd(g, k.checked_mul(step)?);
            value = value.checked_sub(k.checked_mul(residue)?)?;
        }
        if g == 0 {
            return None;
        }
        if value % gcd(c, g) != 0 {
            return Some(Leftover::Empty);
        }
        let (new, known) = (solve(c, value, g)?, self.congruence(&x));
        if (new.0 - known.0) % gcd(new.1, known.1) != 0 {
            return Some(Leftover::Empty);
        }
        join(known, new).map(|(residue, modulus)| Leftover::Residue(residue, modulus))
    }

    /// Checks that `e mod m = r` has no solution: a divisor of `m` and of all coefficients does not divide `e - r`.
    fn unsolvable(&self, e: &Expr, i: Interval) -> Result<bool, Reason> {
        let Expr::Mod(e, m) = e else { return Ok(false) };
        if i.lo != i.hi {
            return Ok(false);
        }
        let e = self.sum(e)?;
        let g = e.terms.values().fold((*m).into(), |g, c| gcd(g, *c));
        Ok(e.den == 1 && (e.constant - i128::from(i.lo)) % g != 0)
    }
}

/// `e floordiv d in [a, b]` where `e in [a*d, b*d + d - 1]`.
fn quotient(i: Interval, d: i64, j: Interval) -> bool {
    let (lo, hi, d) = (i128::from(i.lo), i128::from(i.hi), i128::from(d));
    (lo * d, hi * d + d - 1) == (j.lo.into(), j.hi.into())
}

/// `e in [a, b]` and `e in [c, d]` where `e in [max(a, c), min(b, d)]`.
fn meet(i: Interval, j: Interval, both: Interval) -> bool {
    both == Interval::new(i.lo.max(j.lo), i.hi.min(j.hi))
}

/// `e mod m = r` and `e mod n = s` where `e mod l = t`: `l = lcm(m, n)`, `m | t - r` and `n | t - s`.
fn chinese((m, r): (i64, Interval), (n, s): (i64, Interval), (l, t): (i64, Interval)) -> bool {
    let one = |i: Interval, m: i64| i.lo == i.hi && 0 <= i.lo && i.lo < m;
    let lcm = i128::from(m) / gcd(m.into(), n.into()) * i128::from(n);
    // Residues are not negative, so their differences fit.
    let agree = || (t.lo - r.lo) % m == 0 && (t.lo - s.lo) % n == 0;
    i128::from(l) == lcm && one(r, m) && one(s, n) && one(t, l) && agree()
}
