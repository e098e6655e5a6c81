//! Counts of integer points of linear inequalities.
//!
//! `0 <= x <= 99`, `0 <= y <= 9` and `x + 2*y in [0, 20]` have 121 solutions. The rule, in this order:
//!
//! 1. Inequalities narrow the intervals of the variables; inequalities that then always hold are dropped.
//! 2. An equation in which a variable has the coefficient 1 or -1 gives that variable, and its interval becomes an
//!    inequality over the others.
//! 3. Variables that share no inequality are independent: counts are multiplied.
//! 4. Two variables: for each `x`, the values of `y` are between two bounds, each the least or greatest of some
//!    quotients `(p*x + q) floordiv d`. Where two of these cross, the range of `x` is cut; on each piece one quotient
//!    is the bound, and its sum over an interval has a formula ([`floor_sum`]).
//! 5. With three variables or more, the one with the fewest values is enumerated; this is limited.
//!
//! Numbers are below [`LARGEST`], so that sums of products of two fit in 128 bits; beyond it there is no answer.

use crate::numbers::ceil_div_wide;

/// A linear inequality: the sum of the terms is in the interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inequality {
    /// The coefficient of each variable.
    pub terms: Vec<i128>,
    pub within: Bounds,
}

/// The least and the greatest value.
pub(super) type Bounds = (i128, i128);

/// Variables in intervals, and inequalities over them.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    pub vars: Vec<Bounds>,
    pub rows: Vec<Inequality>,
}

/// A simplified inequality.
enum Shortened {
    /// No point satisfies it.
    Never,
    /// Every point does.
    Always,
    Inequality(Inequality),
}

/// The limit on coefficients and bounds.
pub(super) const LARGEST: i128 = 1 << 56;

/// The limit on inequalities of a system; with more there is no answer.
const MOST_ROWS: usize = 48;

/// The limit on rounds of narrowing; later rounds would only shrink intervals further.
const ROUNDS: usize = 6;

/// The limit on quotients that bound one variable; each pair is compared.
const MOST_QUOTIENTS: usize = 24;

/// `n`, if it is within the limit.
pub(super) fn small(n: i128) -> Option<i128> {
    (-LARGEST..=LARGEST).contains(&n).then_some(n)
}

/// The number of values.
pub(super) fn length((lo, hi): Bounds) -> u128 {
    u128::try_from(hi - lo + 1).unwrap_or(0)
}

/// The values of `c * x`.
pub(super) fn scaled((lo, hi): Bounds, c: i128) -> Bounds {
    if c >= 0 { (c * lo, c * hi) } else { (c * hi, c * lo) }
}

/// The greatest common divisor; 0 if all are 0.
fn common(terms: &[i128]) -> i128 {
    terms.iter().fold(0, |mut a, b| {
        let mut b = b.abs();
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    })
}

impl Inequality {
    /// The variables with a coefficient.
    pub fn used(&self) -> impl Iterator<Item = usize> {
        self.terms.iter().enumerate().filter(|t| *t.1 != 0).map(|t| t.0)
    }

    /// Substitutes `by` plus a constant for the variable `v`, which has no coefficient in `by`.
    pub fn substitute(&mut self, v: usize, by: &[i128], constant: i128) -> Option<()> {
        let c = std::mem::take(&mut self.terms[v]);
        if c != 0 {
            for (term, more) in self.terms.iter_mut().zip(by) {
                *term = small(*term + c * more)?;
            }
            self.within = (small(self.within.0 - c * constant)?, small(self.within.1 - c * constant)?);
        }
        Some(())
    }
}

impl System {
    /// The interval of a sum.
    pub fn reach(&self, terms: &[i128]) -> Bounds {
        let each = terms.iter().zip(&self.vars).filter(|t| *t.0 != 0).map(|(c, x)| scaled(*x, *c));
        each.fold((0, 0), |sum, x| (sum.0 + x.0, sum.1 + x.1))
    }

    /// Narrows the intervals, and drops inequalities that always hold; `Some(false)` if they have no solution, `None`
    /// if a number is too large.
    pub fn narrow(&mut self) -> Option<bool> {
        for round in 0.. {
            if self.vars.iter().any(|x| x.0 > x.1) {
                return Some(false);
            }
            let mut changed = false;
            for row in std::mem::take(&mut self.rows) {
                match self.shortened(row)? {
                    Shortened::Never => return Some(false),
                    Shortened::Always => {}
                    // A row with one variable becomes its interval.
                    Shortened::Inequality(row) if row.used().nth(1).is_none() => changed |= self.narrow_by(&row),
                    Shortened::Inequality(row) => {
                        changed |= round < ROUNDS && self.narrow_by(&row);
                        self.rows.push(row);
                    }
                }
            }
            if self.rows.len() > MOST_ROWS {
                return None;
            }
            if !self.merge() {
                return Some(false);
            }
            if !changed {
                break;
            }
        }
        Some(self.vars.iter().all(|x| x.0 <= x.1))
    }

    /// The inequality without fixed variables, and with the least coefficients.
    fn shortened(&self, mut row: Inequality) -> Option<Shortened> {
        for v in 0..self.vars.len() {
            let (lo, hi) = self.vars[v];
            if lo == hi && row.terms[v] != 0 {
                let shift = std::mem::take(&mut row.terms[v]) * lo;
                row.within = (row.within.0 - shift, row.within.1 - shift);
            }
        }
        let mut divisor = common(&row.terms);
        if divisor == 0 {
            let holds = row.within.0 <= 0 && 0 <= row.within.1;
            return Some(if holds { Shortened::Always } else { Shortened::Never });
        }
        // The first coefficient becomes positive, so that equal sums compare equal.
        if row.terms.iter().find(|c| **c != 0).is_some_and(|c| *c < 0) {
            row.within = (-row.within.1, -row.within.0);
            divisor = -divisor;
        }
        row.terms.iter_mut().for_each(|c| *c /= divisor);
        row.within = (ceil_div_wide(row.within.0, divisor.abs()), row.within.1.div_euclid(divisor.abs()));
        let (lo, hi) = self.reach(&row.terms);
        let (from, to) = (row.within.0.max(lo), row.within.1.min(hi));
        if from > to {
            return Some(Shortened::Never);
        }
        if (from, to) == (lo, hi) {
            return Some(Shortened::Always);
        }
        row.within = (small(from)?, small(to)?);
        Some(Shortened::Inequality(row))
    }

    /// Narrows the intervals of the variables of an inequality; returns whether any changed.
    fn narrow_by(&mut self, row: &Inequality) -> bool {
        let (lo, hi) = self.reach(&row.terms);
        let mut changed = false;
        for v in row.used() {
            let c = row.terms[v];
            let own = scaled(self.vars[v], c);
            // The range that the other terms leave for this one.
            let rest = (row.within.0 - (hi - own.1), row.within.1 - (lo - own.0));
            let (from, to) = if c > 0 { rest } else { (-rest.1, -rest.0) };
            let new = (ceil_div_wide(from, c.abs()), to.div_euclid(c.abs()));
            let new = (self.vars[v].0.max(new.0), self.vars[v].1.min(new.1));
            changed |= new != self.vars[v];
            self.vars[v] = new;
            if new.0 > new.1 {
                break;
            }
        }
        changed
    }

    /// Merges inequalities over the same sum; returns whether each has a solution.
    fn merge(&mut self) -> bool {
        self.rows.sort_unstable_by(|a, b| a.terms.cmp(&b.terms));
        self.rows.dedup_by(|next, kept| {
            let same = next.terms == kept.terms;
            if same {
                kept.within = (kept.within.0.max(next.within.0), kept.within.1.min(next.within.1));
            }
            same
        });
        self.rows.iter().all(|row| row.within.0 <= row.within.1)
    }

    /// Eliminates a variable by an equation: substitutes its value, and keeps its interval as an inequality. The
    /// variable then has the one value 0, and no coefficient.
    pub fn solve(&mut self, row: usize, v: usize) -> Option<()> {
        let Inequality { terms, within } = self.rows.swap_remove(row);
        let sign = terms[v];
        let mut by: Vec<i128> = terms.iter().map(|c| -sign * c).collect();
        by[v] = 0;
        let mut unit = vec![0; self.vars.len()];
        unit[v] = 1;
        self.rows.push(Inequality { terms: unit, within: std::mem::take(&mut self.vars[v]) });
        self.rows.iter_mut().try_for_each(|row| row.substitute(v, &by, sign * within.0))
    }

    /// The number of points; `None` if a number is too large or `work` is used up.
    pub fn count(mut self, work: &mut u64) -> Option<u128> {
        loop {
            *work = work.checked_sub(1)?;
            if !self.narrow()? {
                return Some(0);
            }
            let unit = |(k, row): (usize, &Inequality)| {
                let mut all = row.used();
                (row.within.0 == row.within.1).then(|| all.find(|v| row.terms[*v].abs() == 1)).flatten().map(|v| (k, v))
            };
            let Some((row, v)) = self.rows.iter().enumerate().find_map(unit) else { break };
            self.solve(row, v)?;
        }
        self.parts().into_iter().try_fold(1u128, |all, part| all.checked_mul(part.connected(work)?))
    }

    /// The independent subsystems.
    pub fn parts(&self) -> Vec<System> {
        let mut of: Vec<usize> = (0..self.vars.len()).collect();
        for row in &self.rows {
            let own: Vec<usize> = row.used().map(|v| of[v]).collect();
            if let Some(least) = own.iter().min() {
                of.iter_mut().filter(|part| own.contains(part)).for_each(|part| *part = *least);
            }
        }
        let part = |k: usize| {
            let own: Vec<usize> = (0..of.len()).filter(|v| of[*v] == k).collect();
            let rows = self.rows.iter().filter(|row| row.used().next().is_some_and(|v| of[v] == k));
            let terms = |row: &Inequality| own.iter().map(|v| row.terms[*v]).collect();
            System {
                vars: own.iter().map(|v| self.vars[*v]).collect(),
                rows: rows.map(|row| Inequality { terms: terms(row), within: row.within }).collect(),
            }
        };
        (0..of.len()).filter(|v| of[*v] == *v).map(part).collect()
    }

    fn connected(self, work: &mut u64) -> Option<u128> {
        if self.rows.is_empty() {
            return self.vars.iter().try_fold(1u128, |all, x| all.checked_mul(length(*x)));
        }
        if let [_, _] = self.vars[..] {
            return self.polygon();
        }
        let (v, (lo, hi)) = self.vars.iter().copied().enumerate().min_by_key(|x| length(x.1))?;
        let mut sum = 0u128;
        for value in lo..=hi {
            let mut one = self.clone();
            one.vars[v] = (0, 0);
            let nothing = vec![0; one.vars.len()];
            one.rows.iter_mut().try_for_each(|row| row.substitute(v, &nothing, value))?;
            sum = sum.checked_add(one.count(work)?)?;
        }
        Some(sum)
    }

    /// The number of points in the plane: [`pieces`] of `x`, on each of which `y` is between two quotients.
    fn polygon(&self) -> Option<u128> {
        let sides = self.sides(1, 0)?;
        let mut sum = 0u128;
        for Segment { from, to, upper, lower } in pieces(self.vars[0], &sides)? {
            let bound = |side: Quotient| floor_sum(from, to, side);
            let more = bound(upper)?.checked_add(bound(lower)?)?.checked_add(to - from + 1)?;
            sum = sum.checked_add(u128::try_from(more).ok()?)?;
        }
        Some(sum)
    }

    /// The upper bounds of `y`, and of `-y`, over `x`; every other variable has one value.
    pub fn sides(&self, y: usize, x: usize) -> Option<[Vec<Quotient>; 2]> {
        let (lo, hi) = self.vars[y];
        let constant = |q: i128| Quotient { p: 0, q, d: 1 };
        let mut sides = [vec![constant(hi)], vec![constant(-lo)]];
        for Inequality { terms, within: (lo, hi) } in self.rows.iter().filter(|row| row.terms[y] != 0) {
            let (a, b) = (terms[x], terms[y]);
            let up = usize::from(b < 0);
            sides[up].push(Quotient { p: -a, q: *hi, d: b.abs() });
            sides[1 - up].push(Quotient { p: a, q: -lo, d: b.abs() });
        }
        (sides.iter().map(Vec::len).sum::<usize>() <= MOST_QUOTIENTS).then_some(sides)
    }
}

/// `(p * x + q) / d` with positive `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quotient {
    p: i128,
    q: i128,
    pub d: i128,
}

impl Quotient {
    /// The numerator at `x`.
    fn at(&self, x: i128) -> Option<i128> {
        self.p.checked_mul(x)?.checked_add(self.q)
    }

    /// The sign of `self + sign * other` at `x`.
    fn compare(&self, other: &Quotient, sign: i128, x: i128) -> Option<i128> {
        let (a, b) = (self.at(x)?.checked_mul(other.d)?, other.at(x)?.checked_mul(self.d)?);
        Some(a.checked_add(sign * b)?.signum())
    }

    /// The last integers before and at the point where `self + sign * other` changes its sign.
    fn crossing(&self, other: &Quotient, sign: i128) -> Option<[i128; 2]> {
        let p = self.p.checked_mul(other.d)?.checked_add(sign * other.p.checked_mul(self.d)?)?;
        let q = self.q.checked_mul(other.d)?.checked_add(sign * other.q.checked_mul(self.d)?)?;
        if p == 0 {
            return None;
        }
        let (q, p) = if p < 0 { (q, -p) } else { (-q, p) };
        Some([ceil_div_wide(q, p) - 1, q.div_euclid(p)])
    }
}

/// A piece on which `x` is in `[from, to]`, `y` at most `upper`, and `-y` at most `lower`; real solutions exist.
pub(super) struct Segment {
    pub from: i128,
    pub to: i128,
    pub upper: Quotient,
    pub lower: Quotient,
}

/// Cuts the interval of `x` where the least quotient of a side changes, or the two sides meet.
pub(super) fn pieces((lo, hi): Bounds, [above, below]: &[Vec<Quotient>; 2]) -> Option<Vec<Segment>> {
    let mut ends = vec![hi];
    for side in [above, below] {
        for (k, a) in side.iter().enumerate() {
            ends.extend(side[..k].iter().filter_map(|b| a.crossing(b, -1)).flatten());
        }
    }
    ends.extend(above.iter().flat_map(|a| below.iter().filter_map(|b| a.crossing(b, 1))).flatten());
    ends.retain(|x| lo <= *x && *x <= hi);
    ends.sort_unstable();
    ends.dedup();
    let mut from = lo;
    let mut found = Vec::new();
    for to in ends {
        let least = |side: &[Quotient]| -> Option<Quotient> {
            let mut least = *side.first()?;
            for other in &side[1..] {
                // Without a crossing inside, one end decides if the other is a tie.
                let order = other.compare(&least, -1, from)?;
                if order < 0 || order == 0 && other.compare(&least, -1, to)? < 0 {
                    least = *other;
                }
            }
            Some(least)
        };
        let (upper, lower) = (least(above)?, least(below)?);
        if upper.compare(&lower, 1, from)? >= 0 && upper.compare(&lower, 1, to)? >= 0 {
            found.push(Segment { from, to, upper, lower });
        }
        from = to + 1;
    }
    Some(found)
}

/// The sum of `(p * x + q) floordiv d` for `x` in `[from, to]`: as in Euclid's algorithm, `p` and `d` change places.
fn floor_sum(from: i128, to: i128, Quotient { p, q, d }: Quotient) -> Option<i128> {
    let (mut n, mut q, mut p, mut d) = (to - from + 1, p.checked_mul(from)?.checked_add(q)?, p, d);
    let mut sum = 0i128;
    loop {
        let triangle = n.checked_mul(n - 1)? / 2;
        let whole = triangle.checked_mul(p.div_euclid(d))?.checked_add(n.checked_mul(q.div_euclid(d))?)?;
        sum = sum.checked_add(whole)?;
        (p, q) = (p.rem_euclid(d), q.rem_euclid(d));
        // Below a line that rises from 0 to `most`, columns are counted; to the left of it, rows are.
        let most = p.checked_mul(n)?.checked_add(q)?;
        if most < d {
            return Some(sum);
        }
        // sum over x < n of floor((p x + q) / d) = sum over y < m of floor((d y + most mod d) / p), m = most / d
        (n, q) = (most / d, most % d);
        (p, d) = (d, p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The count by enumeration of the box.
    fn counted(system: &System) -> u128 {
        let mut points = vec![Vec::new()];
        for (lo, hi) in &system.vars {
            let longer = |p: &Vec<i128>| (*lo..=*hi).map(|x| [&p[..], &[x]].concat()).collect::<Vec<_>>();
            points = points.iter().flat_map(longer).collect();
        }
        let holds = |p: &[i128], row: &Inequality| {
            let sum: i128 = row.terms.iter().zip(p).map(|(c, x)| c * x).sum();
            row.within.0 <= sum && sum <= row.within.1
        };
        points.iter().filter(|p| system.rows.iter().all(|row| holds(p, row))).count() as u128
    }

    #[test]
    fn points_are_those_of_the_box() {
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..20_000 {
            let n = rng.usize(1..=3);
            let mut small = |range: std::ops::RangeInclusive<i64>| i128::from(rng.i64(range));
            let vars = (0..n).map(|_| (small(-4..=0), small(-1..=9))).collect();
            let mut system = System { vars, rows: Vec::new() };
            for _ in 0..small(0..=3) {
                let terms = (0..n).map(|_| small(-6..=6)).collect();
                let lo = small(-30..=20);
                system.rows.push(Inequality { terms, within: (lo, lo + small(0..=25)) });
            }
            assert_eq!(system.clone().count(&mut 10_000), Some(counted(&system)), "{system:?}");
        }
    }

    #[test]
    fn large_systems_take_little_work() {
        // x + 2 * y <= 2^40, both from 0 to 2^40: a triangle.
        let n = 1i128 << 40;
        let system =
            System { vars: vec![(0, n), (0, n)], rows: vec![Inequality { terms: vec![1, 2], within: (0, n) }] };
        let half = (n / 2) as u128;
        assert_eq!(system.count(&mut 10), Some((half + 1) * (half + 1)));
        let wide = System { vars: vec![(0, n); 4], rows: vec![Inequality { terms: vec![1, 2, 3, 5], within: (0, n) }] };
        assert_eq!(wide.count(&mut 10), None);
    }
}
