//! A simplifier for quasi-affine expressions that uses what is known of their variables.
//!
//! The idea: floor division is redundant, because `e floordiv s = (e - e mod s) / s`. So an expression becomes a sum of
//! *atoms* with rational coefficients, where an atom is a variable or a remainder `e mod m`. Terms that belong together
//! then cancel by addition: with `i = (i floordiv 8) * 8 + i mod 8` put into `i floordiv 8 * 8 + i mod 8`, the two
//! remainders meet with opposite signs and `i` is left. Only `mod` has rules; each is an equation
//! that holds for all integers, or for all points that the intervals and congruences of the atoms allow.
//!
//! Example: with `i` in `[0, 1]` and `j` in `[0, 7]`, `(8*i + j) floordiv 8` is `(8*i + j - (8*i + j) mod 8) / 8`. Both
//! coefficients modulo 8 leave `j mod 8`, which is `j` by its interval; the sum is `i`.
//!
//! Arithmetic is checked in 128 bits, and work is bounded in proportion to the expression; where either runs out the
//! expression is returned as it came.

use crate::expr::Expr;
use std::collections::HashMap;

/// All integers from `lo` to `hi`, both included; `i64::MIN` and `i64::MAX` stand for "no bound known".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The least value.
    pub lo: i64,
    /// The greatest value.
    pub hi: i64,
}

impl Interval {
    /// Every integer.
    pub const ALL: Interval = Interval { lo: i64::MIN, hi: i64::MAX };

    /// `[lo, hi]`.
    pub const fn new(lo: i64, hi: i64) -> Interval {
        Interval { lo, hi }
    }
}

/// What is known of the points at which an expression is evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domain {
    /// The interval of each variable.
    pub vars: Vec<Interval>,
    /// Expressions with the interval in which their value lies.
    pub constraints: Vec<(Expr, Interval)>,
}

/// Simplifies expressions over one domain. The result equals the input at every point of the domain and costs no more.
pub fn simplify(exprs: &[Expr], domain: &Domain) -> Vec<Expr> {
    let mut form = Form::new(domain);
    exprs.iter().map(|e| form.simplify(e)).collect()
}

/// What an expression costs to evaluate: 3 for each division or remainder, 1 for each addition or product.
pub fn cost(e: &Expr) -> u32 {
    match e {
        Expr::Const(_) | Expr::Var(_) => 0,
        Expr::Add(a, b) => match &**b {
            // A difference is one operation, not a product and a sum.
            Expr::Mul(b, -1) => 1 + cost(a) + cost(b),
            b => 1 + cost(a) + cost(b),
        },
        Expr::Mul(a, _) => 1 + cost(a),
        Expr::FloorDiv(a, _) => 3 + cost(e.ceil_div().unwrap_or(a)),
        Expr::Mod(a, _) => 3 + cost(a),
        Expr::Min(a, b) | Expr::Max(a, b) => 1 + cost(a) + cost(b),
    }
}

/// The number of an atom in its [`Form`].
type Atom = u32;

/// `(constant + Σ coefficient * atom) / den`, in lowest terms, atoms ascending. Its value is an integer on the domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sum {
    constant: i128,
    terms: Vec<(Atom, i128)>,
    den: i128,
}

/// What an atom is and what is known of it: it lies in `lo..=hi` and is `residue` modulo `step`.
struct Known {
    what: What,
    lo: i128,
    hi: i128,
    step: i128,
    residue: i128,
}

/// A variable of the domain, or the remainder of a sum with integer coefficients.
enum What {
    Var(usize),
    Remainder(Sum, i128),
}

/// The normal form over one domain: its atoms, and the facts that constraints give.
pub struct Form {
    atoms: Vec<Known>,
    remainders: HashMap<(Sum, i128), Atom>,
    /// Sums without a constant, first coefficient positive and all coprime, with the interval of their value.
    facts: Vec<(Sum, i128, i128)>,
    written: HashMap<Sum, Expr>,
    /// What is left of the work that the expression at hand is worth.
    steps: usize,
    env: Option<Vec<Sum>>,
}

/// x
pub fn compose_bench(maps: &[crate::map::IndexingMap]) -> (Vec<Expr>, std::time::Duration, std::time::Duration) {
    let t = std::time::Instant::now();
    let mut form = Form::new(&maps[0].domain);
    let mut env: Vec<Sum> = maps[0].results.iter().map(|e| form.normal(e).unwrap()).collect();
    for m in &maps[1..] {
        form.env = Some(env);
        env = m.results.iter().map(|e| form.normal(e).unwrap()).collect();
    }
    let t1 = t.elapsed();
    let r = env
        .iter()
        .map(|s| {
            form.steps = 100000;
            form.write(s, 0).unwrap()
        })
        .collect();
    (r, t1, t.elapsed() - t1)
}

/// The work that any expression is worth, in terms looked at, and what each of its operations adds.
const STEPS: usize = 20_000;
const STEPS_PER_OPERATION: usize = 200;

/// Beyond this, a bound is as good as none; it leaves room to add up many of them.
const FAR: i128 = 1 << 100;

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i128
}

impl Sum {
    fn constant(c: i128) -> Sum {
        Sum { constant: c, terms: Vec::new(), den: 1 }
    }

    fn atom(a: Atom) -> Sum {
        Sum { constant: 0, terms: vec![(a, 1)], den: 1 }
    }

    fn coefficient(&self, atom: Atom) -> i128 {
        self.terms.binary_search_by_key(&atom, |t| t.0).map_or(0, |k| self.terms[k].1)
    }

    /// `self + other * num / den`.
    fn plus(&self, other: &Sum, num: i128, den: i128) -> Option<Sum> {
        let (d1, d2) = (self.den, other.den.checked_mul(den)?);
        let g = gcd(d1, d2);
        let (m1, m2) = (d2 / g, (d1 / g).checked_mul(num)?);
        let mix = |a: i128, b: i128| a.checked_mul(m1)?.checked_add(b.checked_mul(m2)?);
        let (mut i, mut j) = (0, 0);
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        while i < self.terms.len() || j < other.terms.len() {
            let a = self.terms.get(i).map_or(Atom::MAX, |t| t.0);
            let b = other.terms.get(j).map_or(Atom::MAX, |t| t.0);
            let x = if a <= b { self.terms[i].1 } else { 0 };
            let y = if b <= a { other.terms[j].1 } else { 0 };
            i += usize::from(a <= b);
            j += usize::from(b <= a);
            let c = mix(x, y)?;
            if c != 0 {
                terms.push((a.min(b), c));
            }
        }
        Sum { constant: mix(self.constant, other.constant)?, terms, den: d1.checked_mul(m1)? }.lowest()
    }

    fn scaled(&self, num: i128, den: i128) -> Option<Sum> {
        Sum::constant(0).plus(self, num, den)
    }

    fn lowest(mut self) -> Option<Sum> {
        let mut g = gcd(self.den, self.constant);
        for t in &self.terms {
            if g == 1 {
                break;
            }
            g = gcd(g, t.1);
        }
        if g > 1 {
            self.den /= g;
            self.constant /= g;
            self.terms.iter_mut().for_each(|t| t.1 /= g);
        }
        (self.den < FAR && self.constant.abs() < FAR && self.terms.iter().all(|t| t.1.abs() < FAR)).then_some(self)
    }

    /// The sum without its terms for which `keep` is false, and those terms, both without the constant.
    fn split(&self, keep: impl Fn(Atom, i128) -> bool) -> (Sum, Sum) {
        let (kept, left) = self.terms.iter().partition(|t| keep(t.0, t.1));
        (Sum { constant: 0, terms: kept, den: self.den }, Sum { constant: 0, terms: left, den: self.den })
    }
}

impl Form {
    /// The normal form over a domain.
    pub fn new(domain: &Domain) -> Form {
        let mut form = Form {
            atoms: Vec::new(),
            remainders: HashMap::new(),
            facts: Vec::new(),
            written: HashMap::new(),
            steps: 0,
            env: None,
        };
        for (v, i) in domain.vars.iter().enumerate() {
            let lo = if i.lo == i64::MIN { -FAR } else { i.lo.into() };
            let hi = if i.hi == i64::MAX { FAR } else { i.hi.into() };
            form.atoms.push(Known { what: What::Var(v), lo, hi, step: 1, residue: 0 });
        }
        for (e, i) in &domain.constraints {
            // A constraint that does not fit into the arithmetic is one that is not used.
            let _ = form.assume(e, *i);
        }
        form
    }

    /// Takes note of `interval` as the place of `e`.
    fn assume(&mut self, e: &Expr, interval: Interval) -> Option<()> {
        let sum = self.normal(e)?;
        if let [(atom, coefficient @ (1 | -1))] = sum.terms[..]
            && sum.den == 1
        {
            let (a, b) = (interval.lo as i128 - sum.constant, interval.hi as i128 - sum.constant);
            let (lo, hi) = if coefficient == 1 { (a, b) } else { (-b, -a) };
            let known = &mut self.atoms[atom as usize];
            known.lo = known.lo.max(lo);
            known.hi = known.hi.min(hi);
            let fixed = known.lo == known.hi;
            if let (true, What::Remainder(y, m)) = (fixed, &known.what)
                && let [(v, 1)] = y.terms[..]
            {
                // A known remainder of one atom is a congruence of that atom.
                let (step, residue) = (*m, (known.lo - y.constant).rem_euclid(*m));
                let known = &mut self.atoms[v as usize];
                if step % known.step == 0 {
                    (known.step, known.residue) = (step, residue);
                }
            }
            return Some(());
        }
        let first = sum.terms.first()?.1;
        let unit = sum.terms.iter().fold(0, |g, t| gcd(g, t.1)) * first.signum();
        // The direction is (den * sum - constant) / unit.
        let terms = sum.terms.iter().map(|t| (t.0, t.1 / unit)).collect();
        let at = |x: i64| i128::from(x).checked_mul(sum.den)?.checked_sub(sum.constant);
        let (lo, hi) = (at(interval.lo)?, at(interval.hi)?);
        let (lo, hi, unit) = if unit > 0 { (lo, hi, unit) } else { (-hi, -lo, -unit) };
        let direction = Sum { constant: 0, terms, den: 1 };
        self.facts.push((direction, far(-(-lo).div_euclid(unit)), far(hi.div_euclid(unit))));
        Some(())
    }

    /// The simplest equivalent of an expression that this form finds.
    pub fn simplify(&mut self, e: &Expr) -> Expr {
        match self.normal(e).and_then(|s| self.write(&s, 0)) {
            Some(simple) if cost(&simple) <= cost(e) => simple,
            _ => e.clone(),
        }
    }

    /// The closed interval in which an expression lies, if 64 bits hold it.
    pub fn interval(&mut self, e: &Expr) -> Interval {
        let bounds = self.normal(e).map_or((-FAR, FAR), |s| self.range(&s));
        let clamp = |x: i128| x.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        Interval::new(clamp(bounds.0), clamp(bounds.1))
    }

    /// The normal form of an expression, with work in proportion to its size.
    fn normal(&mut self, e: &Expr) -> Option<Sum> {
        self.steps = STEPS + STEPS_PER_OPERATION * cost(e) as usize;
        self.sum(e)
    }

    /// Takes note of work on this many terms; none once it is more than the expression is worth.
    fn work(&mut self, terms: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(1 + terms)?;
        Some(())
    }

    fn sum(&mut self, e: &Expr) -> Option<Sum> {
        match e {
            Expr::Const(c) => Some(Sum::constant((*c).into())),
            Expr::Var(v) if self.env.is_some() => Some(self.env.as_ref().unwrap()[*v].clone()),
            Expr::Var(v) => {
                let known = &self.atoms[*v];
                Some(if known.lo == known.hi { Sum::constant(known.lo) } else { Sum::atom(*v as Atom) })
            }
            Expr::Add(a, b) => self.sum(a)?.plus(&self.sum(b)?, 1, 1),
            Expr::Mul(a, f) => self.sum(a)?.scaled((*f).into(), 1),
            Expr::Mod(a, m) => {
                let a = self.sum(a)?;
                self.modulo(&a, (*m).into())
            }
            Expr::FloorDiv(a, d) => {
                let a = self.sum(a)?;
                let rest = self.modulo(&a, (*d).into())?;
                a.plus(&rest, -1, 1)?.scaled(1, (*d).into())
            }
            Expr::Min(a, b) | Expr::Max(a, b) => {
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                let (lo, hi) = self.range(&a.plus(&b, -1, 1)?);
                let least = matches!(e, Expr::Min(..));
                if hi <= 0 {
                    Some(if least { a } else { b })
                } else if lo >= 0 {
                    Some(if least { b } else { a })
                } else {
                    None
                }
            }
        }
    }

    /// Closed bounds of a sum: those of its atoms added up, or better ones through a fact on part of it.
    fn range(&self, s: &Sum) -> (i128, i128) {
        let mut best = self.numerators(s.constant, &s.terms);
        for (direction, lo, hi) in &self.facts {
            let (a, c) = direction.terms[0];
            let num = s.coefficient(a);
            if num == 0 || num % c != 0 {
                continue;
            }
            // The numerators are k * direction + rest.
            let (k, numerators) = (num / c, Sum { den: 1, ..s.clone() });
            let Some(rest) = numerators.plus(direction, -k, 1).filter(|r| r.terms.len() < s.terms.len()) else {
                continue;
            };
            let rest = self.numerators(rest.constant, &rest.terms);
            let (x, y) = if k > 0 { (*lo, *hi) } else { (*hi, *lo) };
            best.0 = best.0.max(far(rest.0.saturating_add(k.saturating_mul(x))));
            best.1 = best.1.min(far(rest.1.saturating_add(k.saturating_mul(y))));
        }
        // An integer between two fractions lies between the integers inside them.
        (-(-best.0).div_euclid(s.den), best.1.div_euclid(s.den))
    }

    /// Closed bounds of a sum with denominator 1: its terms' intervals added up.
    fn numerators(&self, constant: i128, terms: &[(Atom, i128)]) -> (i128, i128) {
        terms.iter().fold((constant, constant), |(lo, hi), &(a, c)| {
            let known = &self.atoms[a as usize];
            let (x, y) = if c > 0 { (known.lo, known.hi) } else { (known.hi, known.lo) };
            (far(lo.saturating_add(c.saturating_mul(x))), far(hi.saturating_add(c.saturating_mul(y))))
        })
    }

    /// `e mod m`, the one operation with rules.
    fn modulo(&mut self, e: &Sum, m: i128) -> Option<Sum> {
        if m == 1 {
            return Some(Sum::constant(0));
        }
        self.work(e.terms.len())?;
        if e.den > 1 {
            // e mod m = ((den * e) mod (den * m)) / den
            let scaled = e.scaled(e.den, 1)?;
            return self.modulo(&scaled, e.den.checked_mul(m)?)?.scaled(1, e.den);
        }
        if let Some(done) = self.one_period(e, m) {
            return Some(done);
        }
        let e = self.reduced(e, m)?;
        let symmetric = Sum {
            constant: e.constant,
            terms: e.terms.iter().map(|&(a, c)| (a, if 2 * c > m { c - m } else { c })).collect(),
            den: 1,
        };
        for candidate in [&e, &symmetric] {
            if let Some(done) = self.one_period(candidate, m) {
                return Some(done);
            }
        }
        if let Some(done) = self.digit(&e, m)? {
            return Some(done);
        }
        if let Some(done) = self.factor(&e, m)? {
            return Some(done);
        }
        self.remainder(e, m)
    }

    /// Where all values of `e` lie in one period `[k*m, (k+1)*m)`: `e mod m = e - k*m`.
    fn one_period(&self, e: &Sum, m: i128) -> Option<Sum> {
        let (lo, hi) = self.range(e);
        let k = lo.div_euclid(m);
        (lo <= hi && lo > -FAR && hi < FAR && k == hi.div_euclid(m))
            .then(|| e.plus(&Sum::constant(1), k.checked_mul(-m)?, 1))
            .flatten()
    }

    /// An equal of `e` modulo `m`: coefficients in `1..m`, remainders that `m` sees through opened
    /// (`q * (y mod s) = q * y` where `m` divides `q * s`), and terms of known residue made constants.
    fn reduced(&self, e: &Sum, m: i128) -> Option<Sum> {
        let mut sum = e.clone();
        loop {
            let mut next = Sum::constant(sum.constant.rem_euclid(m));
            let mut changed = false;
            for &(a, c) in &sum.terms {
                let c = c.rem_euclid(m);
                let known = &self.atoms[a as usize];
                match &known.what {
                    _ if c == 0 => {}
                    _ if c.checked_mul(known.step)? % m == 0 => {
                        next.constant = (next.constant + c.checked_mul(known.residue)?).rem_euclid(m);
                    }
                    What::Remainder(y, s) if c.checked_mul(*s)? % m == 0 => {
                        next = next.plus(y, c, 1)?;
                        changed = true;
                    }
                    _ => next = next.plus(&Sum::atom(a), c, 1)?,
                }
            }
            if !changed {
                let mut reduced = Sum::constant(next.constant.rem_euclid(m));
                reduced.terms = next.terms.iter().map(|&(a, c)| (a, c.rem_euclid(m))).filter(|t| t.1 != 0).collect();
                return Some(reduced);
            }
            sum = next;
        }
    }

    /// `e = rest - k * (y mod s)` where `k*s` divides `m` and `rest = k*y` modulo `k*s`: taking the digit off does not
    /// borrow, so `e mod m = rest mod m - k * (y mod s)`.
    fn digit(&mut self, e: &Sum, m: i128) -> Option<Option<Sum>> {
        for &(a, c) in &e.terms {
            let What::Remainder(y, s) = &self.atoms[a as usize].what else { continue };
            let k = m - c;
            let Some(ks) = k.checked_mul(*s) else { continue };
            if m % ks != 0 {
                continue;
            }
            let rest = e.plus(&Sum::atom(a), -c, 1)?;
            let difference = rest.plus(y, -k, 1)?;
            if self.residue(&difference, ks) == Some(0) {
                let rest = self.modulo(&rest, m)?;
                return Some(Some(rest.plus(&Sum::atom(a), -k, 1)?));
            }
        }
        Some(None)
    }

    /// What a sum with integer coefficients is modulo `m`, where congruences tell.
    fn residue(&self, s: &Sum, m: i128) -> Option<i128> {
        let mut residue = s.constant.rem_euclid(m);
        for &(a, c) in &s.terms {
            let known = &self.atoms[a as usize];
            if c.checked_mul(known.step)? % m != 0 {
                return None;
            }
            residue = (residue + c.checked_mul(known.residue)? % m).rem_euclid(m);
        }
        Some(residue)
    }

    /// `e = g*A + B` where `g` divides `m` and `B` lies in one period of `g`: `e mod m = g * (A mod (m/g)) + B`.
    fn factor(&mut self, e: &Sum, m: i128) -> Option<Option<Sum>> {
        let known = |form: &Form, a: Atom| (form.atoms[a as usize].step, form.atoms[a as usize].residue);
        let mut divisors: Vec<i128> = Vec::new();
        for &(a, c) in &e.terms {
            divisors.push(gcd(c.checked_mul(known(self, a).0)?, m));
        }
        divisors.sort_unstable_by(|x, y| y.cmp(x));
        divisors.dedup();
        for g in divisors.into_iter().filter(|g| *g > 1) {
            let (high, low) = e.split(|a, c| c.checked_mul(known(self, a).0).is_some_and(|x| x % g == 0));
            let mut shift = e.constant;
            for &(a, c) in &high.terms {
                shift = shift.checked_add(c.checked_mul(known(self, a).1)?)?;
            }
            // e = (high - (shift - constant)) + shift + low, the first of which g divides.
            for symmetric in [false, true] {
                let mut low = low.clone();
                for t in &mut low.terms {
                    t.1 = t.1.rem_euclid(g);
                    if symmetric && 2 * t.1 > g {
                        t.1 -= g;
                    }
                }
                low.terms.retain(|t| t.1 != 0);
                low.constant = shift.rem_euclid(g);
                let Some(low) = self.one_period(&low, g) else { continue };
                let rest = e.plus(&low, -1, 1)?.scaled(1, g)?;
                if low == Sum::constant(0) && rest.den == g {
                    // Known to be a multiple of g, but only as a whole: nothing gained.
                    continue;
                }
                let rest = self.modulo(&rest, m / g)?;
                return Some(Some(rest.scaled(g, 1)?.plus(&low, 1, 1)?));
            }
        }
        Some(None)
    }

    /// The remainder as an atom.
    fn remainder(&mut self, e: Sum, m: i128) -> Option<Sum> {
        if let Some(&a) = self.remainders.get(&(e.clone(), m)) {
            return Some(self.fixed(a));
        }
        let (mut g, mut r) = (m, e.constant);
        for &(a, c) in &e.terms {
            let known = &self.atoms[a as usize];
            g = gcd(g, c.checked_mul(known.step)?);
            r = r.checked_add(c.checked_mul(known.residue)?)?;
        }
        let residue = r.rem_euclid(g);
        let atom = self.atoms.len() as Atom;
        let key = (e.clone(), m);
        self.atoms.push(Known { what: What::Remainder(e, m), lo: residue, hi: m - g + residue, step: g, residue });
        self.remainders.insert(key, atom);
        Some(Sum::atom(atom))
    }

    fn fixed(&self, a: Atom) -> Sum {
        let known = &self.atoms[a as usize];
        if known.lo == known.hi { Sum::constant(known.lo) } else { Sum::atom(a) }
    }

    /// Writes a sum as a quasi-affine expression, the cheapest of the ways tried.
    ///
    /// A remainder atom leaves by one of two doors: as `c * (x mod s)`, or, with a negative coefficient `-c`, together
    /// with what it completes to a division: `c*s * (x floordiv s) = c*x - c*(x mod s)`, where `x` may be any sum that
    /// is the same modulo `s`; it is chosen to cancel most of the rest.
    fn write(&mut self, s: &Sum, depth: u32) -> Option<Expr> {
        if let Some(known) = self.written.get(s) {
            return Some(known.clone());
        }
        if depth > 12 {
            return None;
        }
        self.work(s.terms.len())?;
        let mut best: Option<Expr> = None;
        let mut keep = |e: Expr| {
            if best.as_ref().is_none_or(|b| cost(&e) < cost(b)) {
                best = Some(e);
            }
        };
        let remainders: Vec<(Atom, i128)> =
            s.terms.iter().copied().filter(|t| matches!(self.atoms[t.0 as usize].what, What::Remainder(..))).collect();
        if remainders.is_empty() {
            keep(self.write_plain(s, depth)?);
        }
        for &(atom, num) in remainders.iter().take(8) {
            let What::Remainder(x, m) = &self.atoms[atom as usize].what else { unreachable!() };
            let (x, m) = (x.clone(), *m);
            let without = s.plus(&Sum::atom(atom), -num, s.den)?;
            if num % s.den == 0
                && let (Some(inner), Some(rest)) = (self.write(&x, depth + 1), self.write(&without, depth + 1))
            {
                keep(join(rest, Expr::Mod(Box::new(inner), narrow(m)?).times(narrow(num / s.den)?)));
            }
            // -num/den = c; the quotient's coefficient is c*m.
            if (num.checked_mul(m)?) % s.den != 0 {
                continue;
            }
            let wanted = without.scaled(s.den, -num)?;
            let mut bases = vec![x.clone()];
            for &(other, _) in &remainders {
                if let What::Remainder(y, n) = &self.atoms[other as usize].what
                    && other != atom
                    && n % m == 0
                    && self.residue(&x.plus(y, -1, 1)?, m) == Some(0)
                {
                    bases.push(Sum::atom(other));
                }
            }
            let nearest: Option<Vec<Sum>> = bases.iter().map(|b| self.nearest(b, &wanted, m)).collect();
            bases.extend(nearest?);
            bases.dedup();
            for numerator in bases {
                let rest = without.plus(&numerator, num, s.den)?;
                if let (Some(inner), Some(rest)) = (self.write(&numerator, depth + 1), self.write(&rest, depth + 1)) {
                    let quotient = Expr::FloorDiv(Box::new(inner), narrow(m)?);
                    keep(join(rest, quotient.times(narrow(-num * m / s.den)?)));
                }
            }
        }
        if let Some(e) = &best {
            self.written.insert(s.clone(), e.clone());
        }
        best
    }

    /// `base` with each coefficient changed by a multiple of `m` where that makes it the one in `wanted`.
    fn nearest(&self, base: &Sum, wanted: &Sum, m: i128) -> Option<Sum> {
        let mut sum = base.clone();
        let step = wanted.den.checked_mul(m)?;
        let atoms = wanted.terms.iter().chain(&base.terms).map(|t| t.0);
        let atoms: std::collections::BTreeSet<Atom> = atoms.collect();
        for a in atoms {
            let gap = wanted.coefficient(a).checked_sub(sum.coefficient(a).checked_mul(wanted.den)?)?;
            if gap % step == 0 {
                sum = sum.plus(&Sum::atom(a), gap / wanted.den, 1)?;
            }
        }
        let gap = wanted.constant.checked_sub(sum.constant.checked_mul(wanted.den)?)?;
        sum.constant += gap.div_euclid(step) * m;
        Some(sum)
    }

    /// A sum of variables; those that the denominator does not divide are divided together.
    fn write_plain(&mut self, s: &Sum, depth: u32) -> Option<Expr> {
        let mut expr = Expr::Const(0);
        if s.den > 1 {
            let (whole, part) = s.split(|_, c| c % s.den == 0);
            let mut part = part.scaled(s.den, 1)?;
            part.constant = s.constant.rem_euclid(s.den);
            let whole = Sum { constant: s.constant - part.constant, ..whole }.lowest()?;
            let inner = self.write(&part, depth + 1)?;
            let quotient = Expr::FloorDiv(Box::new(inner), narrow(s.den)?);
            return Some(join(self.write(&whole, depth + 1)?, quotient));
        }
        // Positive terms first, so that a difference reads as one.
        for positive in [true, false] {
            for &(a, c) in s.terms.iter().filter(|t| (t.1 > 0) == positive) {
                let What::Var(v) = self.atoms[a as usize].what else { unreachable!() };
                expr = expr + Expr::Var(v).times(narrow(c)?);
            }
        }
        Some(expr + Expr::Const(narrow(s.constant)?))
    }
}

/// A bound, none beyond [`FAR`].
fn far(x: i128) -> i128 {
    x.clamp(-FAR, FAR)
}

fn narrow(x: i128) -> Option<i64> {
    i64::try_from(x).ok()
}

/// A sum with the quotient or remainder in front and a constant at the end.
fn join(rest: Expr, term: Expr) -> Expr {
    match (rest, term) {
        (rest, term @ Expr::Mul(_, i64::MIN..0)) => rest + term,
        (Expr::Add(a, b), term) if matches!(*b, Expr::Const(_)) => (*a + term) + *b,
        (rest @ (Expr::Const(_) | Expr::Mul(_, i64::MIN..0)), term) => term + rest,
        (rest, term) => rest + term,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Named;

    fn var(v: usize) -> Expr {
        Expr::Var(v)
    }

    fn check(e: Expr, ranges: &[(i64, i64)], constraints: &[(Expr, i64, i64)], expected: &str) {
        let domain = Domain {
            vars: ranges.iter().map(|r| Interval::new(r.0, r.1)).collect(),
            constraints: constraints.iter().map(|(e, lo, hi)| (e.clone(), Interval::new(*lo, *hi))).collect(),
        };
        let simple = simplify(&[e], &domain).remove(0);
        assert_eq!(Named(&simple, &|v| format!("d{v}")).to_string(), expected);
    }

    #[test]
    fn documented_examples() {
        let sixteen = var(0) + var(1).floor_div(16);
        check(sixteen, &[(0, 6), (0, 14)], &[], "d0");
        let hundred = var(0).times(100) + var(1).times(10) + var(2);
        let nine = &[(0, 9), (0, 9), (0, 9)];
        check(hundred.clone().floor_div(100), nine, &[], "d0");
        check(hundred.modulo(100).floor_div(10), nine, &[], "d1");
        let eight = var(0).times(16) + var(1).times(4) + var(2);
        check(eight.clone().floor_div(8), nine, &[], "d0 * 2 + (d1 * 4 + d2) floordiv 8");
        check(eight.modulo(8), nine, &[], "(d1 * 4 + d2) mod 8");
        let negative = (var(0).times(-11) + var(1).times(-1) + Expr::Const(109)).floor_div(11).times(-1);
        check(negative + Expr::Const(9), &[(0, 9), (0, 10)], &[], "d0");
    }

    #[test]
    fn digits_of_a_tiled_index() {
        let all = &[(0, 15)];
        check(var(0).modulo(8).floor_div(2), all, &[], "(d0 mod 8) floordiv 2");
        check(var(0).modulo(8).modulo(2), all, &[], "d0 mod 2");
        check(var(0).floor_div(8).floor_div(2), &[(0, 99)], &[], "d0 floordiv 16");
        let back = var(0).floor_div(8).times(8) + var(0).modulo(8);
        check(back, all, &[], "d0");
        let parts = var(0).times(8) + var(1).times(2) + var(2);
        let bounds = &[(0, 1), (0, 3), (0, 1)];
        check(parts.clone().floor_div(8), bounds, &[], "d0");
        check(parts.clone().modulo(8).floor_div(2), bounds, &[], "d1");
        check(parts.modulo(8).modulo(2), bounds, &[], "d2");
    }

    #[test]
    fn congruences_and_facts() {
        // A loop that steps by 8, and one inside the step.
        let sum = var(0) + var(1);
        let step = (var(0).modulo(8), 0, 0);
        check(sum.clone().floor_div(8), &[(0, 56), (0, 7)], std::slice::from_ref(&step), "d0 floordiv 8");
        check(sum.modulo(8), &[(0, 56), (0, 7)], &[step], "d1");
        // Rows of an uneven tile: three at a time inside eight.
        let row = var(0).times(8) + var(1).times(3) + var(2);
        let inside = (var(1).times(3) + var(2), 0, 7);
        check(row.floor_div(8), &[(0, 9), (0, 2), (0, 2)], &[inside], "d0");
    }

    /// A small linear congruential generator: the sequence is part of the test.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 33) % n as u64) as i64
        }

        fn expr(&mut self, depth: u32) -> Expr {
            let kinds = if depth == 0 { 2 } else { 7 };
            match self.below(kinds) {
                0 => Expr::Const(self.below(25) - 12),
                1 => Expr::Var(self.below(2) as usize),
                2 | 3 => self.expr(depth - 1) + self.expr(depth - 1),
                4 => self.expr(depth - 1).times(self.below(17) - 8),
                5 => self.expr(depth - 1).floor_div(1 + self.below(12)),
                _ => self.expr(depth - 1).modulo(1 + self.below(12)),
            }
        }
    }

    /// Equal on every point of the domain, never dearer, and the same when simplified again.
    #[test]
    fn laws_on_random_expressions() {
        let mut random = Random(7);
        for _ in 0..20_000 {
            let mut range = || {
                let lo = random.below(12) - 6;
                Interval::new(lo, lo + random.below(10))
            };
            let vars = vec![range(), range()];
            let mut constraints = Vec::new();
            for _ in 0..random.below(3) {
                let lo = random.below(12) - 6;
                constraints.push((random.expr(2), Interval::new(lo, lo + random.below(6))));
            }
            let domain = Domain { vars, constraints };
            let e = random.expr(4);
            let simple = simplify(std::slice::from_ref(&e), &domain).remove(0);
            assert!(cost(&simple) <= cost(&e), "{e:?} became {simple:?}");
            for x in domain.vars[0].lo..=domain.vars[0].hi {
                for y in domain.vars[1].lo..=domain.vars[1].hi {
                    let point = [x, y];
                    let inside = |(c, i): &(Expr, Interval)| {
                        let value = c.evaluate(&point).unwrap();
                        i.lo <= value && value <= i.hi
                    };
                    if domain.constraints.iter().all(inside) {
                        assert_eq!(
                            simple.evaluate(&point),
                            e.evaluate(&point),
                            "{domain:?} {e:?} {simple:?} {point:?}"
                        );
                    }
                }
            }
        }
    }
}
