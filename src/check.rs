//! What the simplifier did, step by step, and a checker that does not believe it.
//!
//! A [`Step`] says that two domains are the same set, that two expressions are equal at every point of the domain, or
//! that a result is replaced. Those about remainders name a rule of [`RULES`], an equation with side conditions:
//! `(8*d0 + d1) mod 8 = d1` is "one period", because the two sides differ by a multiple of 8 and, by the fact
//! `d1 in [0, 7]`, the right one needs no rounding.
//!
//! [`replay`] knows none of the simplifier's code. It holds each rule's side conditions against the step by arithmetic
//! on coefficients, holds each step against the definition at the points of the domain (all of them where there are at
//! most [`POINTS`], as many scattered ones otherwise), and checks that the steps lead from the map to the result.

use crate::expr::Expr;
use crate::map::IndexingMap;
use crate::simplify::{Domain, Interval};
use std::collections::BTreeMap;
use std::fmt;

/// The rules: a name, and the equation that justifies it.
pub const RULES: [(&str, &str); 9] = [
    ("one period", "e mod m = r where m divides e - r and 0 <= r < m"),
    ("congruent", "e mod m = r mod m where m divides e - r"),
    ("digit", "(x - k*(y mod s)) mod m = x mod m - k*(y mod s) where k*s divides m and x - k*y"),
    ("factor", "(g*a + b) mod (g*m) = g*(a mod m) + b where 0 <= b < g"),
    ("sum", "floordiv, min and max by remainders, e floordiv s = (e - e mod s)/s, and terms added up"),
    ("constraints", "c*e + k in [a, b] = e in [ceil((a-k)/c), floor((b-k)/c)], e floordiv s in [a, b] = e in [a*s, b*s+s-1], \
      and the Chinese remainder theorem"),
    ("bounds", "from a + b in [l, h] and b in [p, q]: a in [l-q, h-p]"),
    ("implied", "a constraint that the others imply is dropped or simplified by them"),
    ("empty", "no point satisfies all constraints"),
];

/// How many points are looked at for a step.
pub const POINTS: usize = 2_000;

/// One step of a simplification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rule's name, one of [`RULES`].
    pub rule: &'static str,
    /// What is claimed.
    pub claim: Claim,
    /// A fact that the rule uses: an expression and an interval in which it lies.
    pub fact: Option<(Expr, Interval)>,
}

/// What a step claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The domain is replaced by another form of the same set; by none where it has no point.
    Domain(Domain, Option<Domain>),
    /// Two expressions are equal at every point of the domain.
    Equal(Expr, Expr),
    /// The result with this number is replaced by an equal one.
    Result(usize, Expr, Expr),
}

/// Why a step is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The number of the step; the number of steps where the end is at fault.
    pub step: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.step, self.reason)
    }
}

impl std::error::Error for Refused {}

/// Goes through the steps from a map, and gives the map to which they lead; `None` for one without points.
///
/// # Errors
/// The first step that is not right.
pub fn replay(map: &IndexingMap, steps: &[Step]) -> Result<Option<IndexingMap>, Refused> {
    let mut state = map.clone();
    let mut points = sample(&state.domain);
    for (number, step) in steps.iter().enumerate() {
        let refuse = |reason: &str| Err(Refused { step: number, reason: reason.to_string() });
        match &step.claim {
            Claim::Domain(before, after) => {
                if *before != state.domain {
                    return refuse("it does not start where the step before it ends");
                }
                let Some(after) = after else {
                    if points.iter().any(|p| contains(before, p)) {
                        return refuse("the domain is not empty");
                    }
                    return if number + 1 == steps.len() { Ok(None) } else { refuse("it is not the last") };
                };
                let grown = |(a, b): (&Interval, &Interval)| b.lo < a.lo || a.hi < b.hi;
                if before.vars.len() != after.vars.len() || before.vars.iter().zip(&after.vars).any(grown) {
                    return refuse("an interval has grown");
                }
                if points.iter().any(|p| contains(before, p) != contains(after, p)) {
                    return refuse("a point is gained or lost");
                }
                state.domain = after.clone();
                points = sample(after);
            }
            Claim::Equal(before, after) => {
                if let Err(reason) = justified(step, before, after, !state.domain.constraints.is_empty()) {
                    return refuse(reason);
                }
                if !same(&points, &state.domain, before, after) {
                    return refuse("the two sides differ");
                }
            }
            Claim::Result(k, before, after) => {
                if state.results.get(*k) != Some(before) {
                    return refuse("it does not start where the step before it ends");
                }
                if !same(&points, &state.domain, before, after) {
                    return refuse("the two sides differ");
                }
                state.results[*k] = after.clone();
            }
        }
        if let Some((e, i)) = &step.fact {
            let within = |x: i128| i128::from(i.lo) <= x && x <= i.hi.into();
            let broken = |p: &Vec<i64>| contains(&state.domain, p) && !e.wide(p).is_none_or(within);
            if points.iter().any(broken) {
                return refuse("the fact does not hold");
            }
        }
    }
    Ok(Some(state))
}

/// Whether a point lies in a domain; false where a value does not fit in 128 bits.
fn contains(domain: &Domain, point: &[i64]) -> bool {
    let within = |i: &Interval, x: i128| i128::from(i.lo) <= x && x <= i.hi.into();
    domain.vars.iter().zip(point).all(|(i, x)| within(i, (*x).into()))
        && domain.constraints.iter().all(|(e, i)| e.wide(point).is_some_and(|x| within(i, x)))
}

/// Whether two expressions have the same value at those points that lie in the domain.
fn same(points: &[Vec<i64>], domain: &Domain, a: &Expr, b: &Expr) -> bool {
    points.iter().filter(|p| contains(domain, p)).all(|p| match (a.wide(p), b.wide(p)) {
        (Some(x), Some(y)) => x == y,
        // Where a value does not fit, nothing is said.
        _ => true,
    })
}

/// All points of the box of a domain, or scattered ones and corners.
fn sample(domain: &Domain) -> Vec<Vec<i64>> {
    let size = |i: &Interval| i128::from(i.hi) - i128::from(i.lo) + 1;
    let all = domain.vars.iter().fold(1i128, |all, i| all.saturating_mul(size(i).max(0)));
    if all <= POINTS as i128 {
        return IndexingMap::new(domain.vars.clone(), Vec::new()).points().collect();
    }
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut coordinate = |i: &Interval| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match (state >> 40) % 8 {
            0 => i.lo,
            1 => i.hi,
            _ => (i128::from(i.lo) + i128::from(state >> 1) % size(i)) as i64,
        }
    };
    let count = (POINTS * 100 / (100 + domain.vars.len())).max(10);
    if domain.vars.iter().any(|i| size(i) <= 0) {
        return Vec::new();
    }
    (0..count).map(|_| domain.vars.iter().map(&mut coordinate).collect()).collect()
}

/// Whether the rule that a step names gives its equation.
fn justified(step: &Step, before: &Expr, after: &Expr, constrained: bool) -> Result<(), &'static str> {
    let wrong = Err("the rule does not say so");
    let Expr::Mod(e, m) = before else { return Err("it is about no remainder") };
    let (Some(e), m) = (Linear::of(e), i128::from(*m)) else { return Ok(()) };
    let fact_within = |lo: i128, hi: i128, of: &Expr| {
        step.fact.as_ref().is_some_and(|(f, i)| f == of && lo <= i.lo.into() && i128::from(i.hi) <= hi)
    };
    let right = match step.rule {
        "one period" => {
            let Some(r) = Linear::of(after) else { return Ok(()) };
            fact_within(0, m - 1, after) && (constrained || e.minus(&r, 1).is_some_and(|d| d.divisible(m)))
        }
        "congruent" => {
            let Expr::Mod(r, n) = after else { return wrong };
            let Some(r) = Linear::of(r) else { return Ok(()) };
            i128::from(*n) == m && (constrained || e.minus(&r, 1).is_some_and(|d| d.divisible(m)))
        }
        "digit" => {
            let [Expr::Mod(x, n), rest] = after.terms()[..] else { return wrong };
            let (digit, k) = match rest {
                Expr::Mul(digit, k) => (&**digit, -i128::from(*k)),
                digit => (digit, -1),
            };
            let Expr::Mod(y, s) = digit else { return wrong };
            let (Some(x), Some(y)) = (Linear::of(x), Linear::of(y)) else { return Ok(()) };
            let ks = k * i128::from(*s);
            let same = x.minus(&Linear::atom(digit.clone()), k).is_some_and(|d| d.minus(&e, 1).is_some_and(|d| d.divisible(m)));
            let whole = constrained || x.minus(&y, k).is_some_and(|d| d.divisible(ks));
            i128::from(*n) == m && ks > 0 && m % ks == 0 && same && whole
        }
        "factor" => {
            let terms = after.terms();
            let (g, a, n) = match terms[0] {
                Expr::Mul(x, g) => match &**x {
                    Expr::Mod(a, n) => (i128::from(*g), a, i128::from(*n)),
                    _ => return wrong,
                },
                Expr::Mod(a, n) => (1, a, i128::from(*n)),
                _ => return wrong,
            };
            let b = Expr::sum(terms[1..].iter().map(|t| (*t).clone()).collect());
            let (Some(a), Some(low)) = (Linear::of(a), Linear::of(&b)) else { return Ok(()) };
            let sum = e.minus(&low, 1).and_then(|d| d.minus(&a, g));
            let bounded = b == Expr::Const(0) || fact_within(0, g - 1, &b) || constrained && step.fact.is_some();
            g * n == m && bounded && sum.is_some_and(|d| d.divisible(m))
        }
        _ => return Err("there is no such rule"),
    };
    if right { Ok(()) } else { wrong }
}

/// A sum of terms that are no sums, each with its coefficient.
struct Linear {
    terms: BTreeMap<Expr, i128>,
    constant: i128,
}

impl Linear {
    fn atom(e: Expr) -> Linear {
        Linear { terms: BTreeMap::from([(e, 1)]), constant: 0 }
    }

    /// `None` where a coefficient does not fit.
    fn of(e: &Expr) -> Option<Linear> {
        match e {
            Expr::Const(c) => Some(Linear { terms: BTreeMap::new(), constant: (*c).into() }),
            Expr::Add(a, b) => Linear::of(a)?.minus(&Linear::of(b)?, -1),
            Expr::Mul(a, c) => {
                Linear { terms: BTreeMap::new(), constant: 0 }.minus(&Linear::of(a)?, i128::from(*c).checked_neg()?)
            }
            e => Some(Linear::atom(e.clone())),
        }
    }

    /// `self - k * other`.
    fn minus(mut self, other: &Linear, k: i128) -> Option<Linear>
    where
        Self: Sized,
    {
        for (e, c) in &other.terms {
            let own = self.terms.entry(e.clone()).or_insert(0);
            *own = own.checked_sub(c.checked_mul(k)?)?;
        }
        self.constant = self.constant.checked_sub(other.constant.checked_mul(k)?)?;
        Some(self)
    }

    /// Whether `m` divides every term, seeing through remainders: `c * (y mod s)` is `c * y` where `m` divides `c * s`.
    fn divisible(mut self, m: i128) -> bool {
        loop {
            let opened = self.terms.iter().find_map(|(e, c)| match e {
                Expr::Mod(y, s) if c % m != 0 && c.checked_mul((*s).into())? % m == 0 => Some((e.clone(), *c, Linear::of(y)?)),
                _ => None,
            });
            let Some((e, c, y)) = opened else { break };
            self.terms.remove(&e);
            match (Linear { terms: self.terms, constant: self.constant }).minus(&y, -(c % m)) {
                Some(sum) => self = sum,
                None => return false,
            }
        }
        self.constant % m == 0 && self.terms.values().all(|c| c % m == 0)
    }
}
