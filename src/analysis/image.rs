//! Counts of the distinct elements that maps lead to, by formulas.
//!
//! A window of 3 that moves by 2 gives `i = 2*o + w`. The rule:
//!
//! 1. Quotients and remainders become variables: `x floordiv d` is a `q` with `0 <= x - d*q < d`.
//! 2. Column operations, as in Hermite's normal form, split the variables: some follow from the results, the others
//!    change none. Here they are `z = 2*o + w`, and `o`. The first are counted, the second only have to exist.
//! 3. A variable with at most one value for the counted ones is counted instead. A variable with an integer value
//!    wherever it has a real one is eliminated, by Fourier and Motzkin: `o` with `z - 2 <= 2*o <= z`, since one of
//!    three consecutive numbers is even.
//! 4. The result is the number of integer points of inequalities: [`super::points`].
//!
//! Elements of several maps are counted by inclusion and exclusion; the intersection of two images is an image, too.
//! Run-time variables are *given*: neither counted nor eliminated. The count is a function of them whose greatest and
//! least values are at the ends of the intervals on which it is linear.
//!
//! Not promised: an answer. There is none if step 3 does not apply, if a result is a minimum or a maximum, for large
//! numbers, and beyond the work limits.

use super::points::{Bounds, Inequality, LARGEST, System, length, pieces, scaled, small};
use crate::expr::Expr;
use crate::maps::domain::Interval;
use std::collections::BTreeSet;

/// The role of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantifier {
    /// One value, the same for all maps.
    Given,
    /// All values are counted.
    Counted,
    /// Some value must exist.
    Free,
}

/// The points of a map, and its results.
#[derive(Clone, Debug)]
pub(super) struct Points {
    system: System,
    class: Vec<Quantifier>,
    /// The coefficients and the constant of each result.
    results: Vec<(Vec<i128>, i128)>,
    /// The quotients that are variables.
    quotients: Vec<(Expr, usize)>,
    /// The number here of each variable of the map.
    place: Vec<usize>,
}

/// The constraints and the results of a map.
#[derive(Clone, Copy)]
pub(super) struct Expressions<'a> {
    pub constraints: &'a [&'a (Expr, Interval)],
    pub results: &'a [&'a Expr],
}

/// The place of a variable that no expression has.
pub(super) const NOWHERE: usize = usize::MAX;

/// The limit on intersections for a union.
const MOST_INTERSECTIONS: usize = 300;

/// The limit on values of given variables.
const MOST_VALUES: u128 = 1 << 10;

/// The limit on counting steps for one answer, such as a value of a variable.
const WORK: u64 = 1 << 13;

/// A sign, and a system whose points are counted for given variables.
type Signed = (i128, System, Vec<Quantifier>);

impl Points {
    /// The points of a map. `place` maps its variables to those here: first the given ones, with the intervals `given`,
    /// then `others` of the map's own.
    pub fn new(
        given: &[Interval],
        others: usize,
        place: Vec<usize>,
        own: &[Interval],
        of: Expressions,
    ) -> Option<Points> {
        let bounds = |i: &Interval| Some((small(i.lo.into())?, small(i.hi.into())?));
        let mut vars: Vec<Bounds> = given.iter().map(bounds).collect::<Option<_>>()?;
        vars.resize(given.len() + others, (-LARGEST, LARGEST));
        for (k, i) in place.iter().zip(own).filter(|x| *x.0 != NOWHERE) {
            let (lo, hi) = bounds(i)?;
            vars[*k] = (vars[*k].0.max(lo), vars[*k].1.min(hi));
        }
        if vars.iter().any(|x| x.0 > x.1) {
            // Intervals of quotients are not needed.
            vars.iter_mut().for_each(|x| *x = (1, 0));
            let class = vec![Quantifier::Counted; vars.len()];
            let results = of.results.iter().map(|_| (vec![0; vars.len()], 0)).collect();
            return Some(Points {
                system: System { vars, rows: Vec::new() },
                class,
                results,
                quotients: Vec::new(),
                place,
            });
        }
        let class =
            (0..vars.len()).map(|v| if v < given.len() { Quantifier::Given } else { Quantifier::Counted }).collect();
        let system = System { vars, rows: Vec::new() };
        let mut points = Points { system, class, results: Vec::new(), quotients: Vec::new(), place };
        let Expressions { constraints, results } = of;
        for (e, within) in constraints.iter().copied() {
            let (terms, constant) = points.linear(e)?;
            let within = (i128::from(within.lo) - constant, i128::from(within.hi) - constant);
            points.system.rows.push(Inequality { terms, within: (small(within.0)?, small(within.1)?) });
        }
        for e in results {
            let result = points.linear(e)?;
            points.results.push(result);
        }
        let n = points.system.vars.len();
        let rows = points.system.rows.iter_mut().map(|row| &mut row.terms);
        rows.chain(points.results.iter_mut().map(|r| &mut r.0)).for_each(|terms| terms.resize(n, 0));
        Some(points)
    }

    /// Whether the intervals alone exclude all points.
    pub fn has_no_point(mut self) -> bool {
        self.system.narrow() == Some(false)
    }

    /// An expression as a sum; quotients in it become variables.
    fn linear(&mut self, e: &Expr) -> Option<(Vec<i128>, i128)> {
        let n = self.system.vars.len();
        Some(match e {
            Expr::Const(c) => (vec![0; n], small((*c).into())?),
            Expr::Var(v) => {
                let mut terms = vec![0; n];
                terms[self.place[*v]] = 1;
                (terms, 0)
            }
            Expr::Add(a, b) => {
                let (a, b) = (self.linear(a)?, self.linear(b)?);
                added(&a, &b, 1)?
            }
            Expr::Mul(a, c) => {
                let a = self.linear(a)?;
                added(&(Vec::new(), 0), &a, (*c).into())?
            }
            Expr::FloorDiv(a, d) => {
                let (_, q) = self.quotient(a, *d)?;
                let mut terms = vec![0; self.system.vars.len()];
                terms[q] = 1;
                (terms, 0)
            }
            Expr::Mod(a, d) => {
                let (mut rest, q) = self.quotient(a, *d)?;
                rest.0.resize(self.system.vars.len(), 0);
                rest.0[q] = small(rest.0[q] - i128::from(*d))?;
                rest
            }
            Expr::Min(..) | Expr::Max(..) => return None,
        })
    }

    /// The sum `a`, and the variable for `a floordiv d`.
    fn quotient(&mut self, a: &Expr, d: i64) -> Option<((Vec<i128>, i128), usize)> {
        let (mut terms, constant) = self.linear(a)?;
        let whole = Expr::FloorDiv(Box::new(a.clone()), d);
        if let Some((_, q)) = self.quotients.iter().find(|known| known.0 == whole) {
            return Some(((terms, constant), *q));
        }
        let d = small(d.into())?;
        terms.resize(self.system.vars.len(), 0);
        let (lo, hi) = self.system.reach(&terms);
        let q = self.system.vars.len();
        self.system.vars.push((small((lo + constant).div_euclid(d))?, small((hi + constant).div_euclid(d))?));
        self.class.push(Quantifier::Counted);
        self.quotients.push((whole, q));
        let sum = (terms.clone(), constant);
        terms.push(-d);
        // 0 <= a - d * q <= d - 1
        self.system.rows.push(Inequality { terms, within: (small(-constant)?, small(d - 1 - constant)?) });
        self.system.rows.iter_mut().for_each(|row| row.terms.resize(q + 1, 0));
        Some((sum, q))
    }

    /// The intersection with the image of another map for equal given values, over the variables of both.
    fn and(&self, other: &Points, given: usize) -> Option<Points> {
        let (n, more) = (self.class.len(), other.class.len() - given);
        // Variables of the other map come after those of this one, except the given ones.
        let moved = |terms: &[i128]| {
            let mut all = vec![0; n + more];
            all[..given].copy_from_slice(&terms[..given]);
            all[n..].copy_from_slice(&terms[given..]);
            all
        };
        let mut both = self.clone();
        both.system.vars.extend(&other.system.vars[given..]);
        both.class.extend(&other.class[given..]);
        let rows = both.system.rows.iter_mut().map(|row| &mut row.terms);
        rows.chain(both.results.iter_mut().map(|r| &mut r.0)).for_each(|terms| terms.resize(n + more, 0));
        for (own, theirs) in both.system.vars.iter_mut().zip(&other.system.vars[..given]) {
            *own = (own.0.max(theirs.0), own.1.min(theirs.1));
        }
        both.system
            .rows
            .extend(other.system.rows.iter().map(|r| Inequality { terms: moved(&r.terms), within: r.within }));
        for (a, b) in both.results.iter().zip(&other.results) {
            let (terms, constant) = added(a, &(moved(&b.0), b.1), -1)?;
            both.system.rows.push(Inequality { terms, within: (-constant, -constant) });
        }
        Some(both)
    }

    /// Inequalities whose counted variables have as many values as the map has distinct elements, for all values of the
    /// given ones; `Some(None)` if there are none.
    fn elements(mut self) -> Option<Option<(System, Vec<Quantifier>)>> {
        if !self.system.narrow()? {
            return Some(None);
        }
        self.lead()?;
        while let Some(v) = self.class.iter().position(|c| *c == Quantifier::Free) {
            if !self.system.narrow()? {
                return Some(None);
            }
            self.leave_out(v)?;
        }
        Some(self.system.narrow()?.then_some((self.system, self.class)))
    }

    /// Changes variables so that the results depend on as few as possible.
    fn lead(&mut self) -> Option<()> {
        let mut results: Vec<Vec<i128>> = self.results.iter().map(|r| r.0.clone()).collect();
        let mut led: Vec<bool> = self.class.iter().map(|c| *c == Quantifier::Given).collect();
        for k in 0..results.len() {
            loop {
                let used = (0..led.len()).filter(|v| !led[*v] && results[k][*v] != 0);
                let used: Vec<usize> = used.collect();
                let Some(&p) = used.iter().min_by_key(|v| results[k][**v].abs()) else { break };
                let Some(&other) = used.iter().find(|v| **v != p) else {
                    led[p] = true;
                    break;
                };
                let f = results[k][other].div_euclid(results[k][p]);
                self.combine(p, other, f)?;
                results.iter_mut().try_for_each(|terms| {
                    terms[other] = small(terms[other] - f * terms[p])?;
                    Some(())
                })?;
            }
        }
        for (class, led) in self.class.iter_mut().zip(&led) {
            if *class == Quantifier::Counted && !led {
                *class = Quantifier::Free;
            }
        }
        Some(())
    }

    /// Substitutes `z - f * x` for the variable `p`, where `x` is another one.
    fn combine(&mut self, p: usize, other: usize, f: i128) -> Option<()> {
        let system = &mut self.system;
        let mut unit = vec![0; system.vars.len()];
        unit[p] = 1;
        system.rows.push(Inequality { terms: unit, within: system.vars[p] });
        for row in &mut system.rows {
            row.terms[other] = small(row.terms[other] - f * row.terms[p])?;
        }
        let more = scaled(system.vars[other], f);
        system.vars[p] = (small(system.vars[p].0 + more.0)?, small(system.vars[p].1 + more.1)?);
        Some(())
    }

    /// Counts or eliminates one free variable; `None` if no rule applies to any.
    fn leave_out(&mut self, first: usize) -> Option<()> {
        let rows = &self.system.rows;
        for v in (first..self.class.len()).filter(|v| self.class[*v] == Quantifier::Free) {
            let one = |row: &Inequality| row.within.1 - row.within.0 < row.terms[v].abs();
            let known = |row: &Inequality| row.used().all(|w| w == v || self.class[w] != Quantifier::Free);
            let (lo, hi) = self.system.vars[v];
            if lo == hi || rows.iter().any(|row| row.terms[v] != 0 && one(row) && known(row)) {
                self.class[v] = Quantifier::Counted;
                return Some(());
            }
        }
        let unit = |v: usize| rows.iter().position(|r| r.within.0 == r.within.1 && r.terms[v].abs() == 1);
        for v in (first..self.class.len()).filter(|v| self.class[*v] == Quantifier::Free) {
            if let Some(row) = unit(v) {
                self.system.solve(row, v)?;
                self.class[v] = Quantifier::Counted;
                return Some(());
            }
        }
        let uses = |v: &usize| rows.iter().filter(|row| row.terms[*v] != 0).count();
        let free = (first..self.class.len()).filter(|v| self.class[*v] == Quantifier::Free && self.is_dense(*v));
        self.eliminate(free.min_by_key(uses)?)
    }

    /// Whether the bounds of a variable contain an integer wherever they contain a real number.
    fn is_dense(&self, v: usize) -> bool {
        let rows: Vec<&Inequality> = self.system.rows.iter().filter(|row| row.terms[v] != 0).collect();
        let large = rows.iter().filter(|row| row.terms[v].abs() != 1);
        let wide = |row: &&&Inequality| row.within.1 - row.within.0 >= row.terms[v].abs() - 1;
        large.clone().all(|row| wide(&row)) && large.count() <= 1
    }

    /// Fourier's and Motzkin's elimination.
    fn eliminate(&mut self, v: usize) -> Option<()> {
        let system = &mut self.system;
        let (mut own, others): (Vec<Inequality>, Vec<Inequality>) =
            system.rows.drain(..).partition(|row| row.terms[v] != 0);
        system.rows = others;
        let mut unit = vec![0; system.vars.len()];
        unit[v] = 1;
        own.push(Inequality { terms: unit, within: std::mem::take(&mut system.vars[v]) });
        for row in own.iter_mut().filter(|row| row.terms[v] < 0) {
            row.terms.iter_mut().for_each(|c| *c = -*c);
            row.within = (-row.within.1, -row.within.0);
        }
        // c * v <= hi - rest for one row, d * v >= lo - others for another: d * rest - c * others <= d * hi - c * lo.
        for (i, above) in own.iter().enumerate() {
            for (j, below) in own.iter().enumerate().filter(|(j, _)| *j != i) {
                let _ = j;
                let (c, d) = (above.terms[v], below.terms[v]);
                let sum = above.terms.iter().zip(&below.terms).map(|(a, b)| small(d * a - c * b));
                let terms: Vec<i128> = sum.collect::<Option<_>>()?;
                let least = system.reach(&terms).0;
                let most = d * above.within.1 - c * below.within.0;
                system.rows.push(Inequality { terms, within: (small(least.min(most))?, small(most)?) });
            }
        }
        self.class[v] = Quantifier::Counted;
        Some(())
    }
}

/// `a + factor * b`; the shorter one is padded with zeros.
fn added(a: &(Vec<i128>, i128), b: &(Vec<i128>, i128), factor: i128) -> Option<(Vec<i128>, i128)> {
    let n = a.0.len().max(b.0.len());
    let at = |terms: &[i128], k: usize| terms.get(k).copied().unwrap_or(0);
    let terms = (0..n).map(|k| small(at(&a.0, k) + factor * at(&b.0, k))).collect::<Option<_>>()?;
    Some((terms, small(a.1 + factor * b.1)?))
}

/// The least and greatest numbers of points and of elements of several maps together, over all values of the given
/// variables in these intervals.
pub(super) fn together(maps: &[Points], given: &[Interval]) -> Option<[(u128, u128); 2]> {
    let n = given.len();
    let points = maps.iter().map(|m| (1, m.system.clone(), m.class.clone())).collect();
    let counts = [points, union(maps, n)?];
    let mut found: Option<[(u128, u128); 2]> = None;
    let mut work = WORK;
    for value in values(&counts, given)? {
        for (k, terms) in counts.iter().enumerate() {
            let mut sum = 0i128;
            for (sign, system, _) in terms {
                let mut system = system.clone();
                for (own, x) in system.vars.iter_mut().zip(&value) {
                    *own = if own.0 <= *x && *x <= own.1 { (*x, *x) } else { (1, 0) };
                }
                sum = sum.checked_add(sign * i128::try_from(system.count(&mut work)?).ok()?)?;
            }
            let sum = u128::try_from(sum).ok()?;
            let all = found.get_or_insert([(u128::MAX, 0); 2]);
            all[k] = (all[k].0.min(sum), all[k].1.max(sum));
        }
    }
    found
}

/// The intersections of the maps' images, with their signs.
fn union(maps: &[Points], given: usize) -> Option<Vec<Signed>> {
    let mut found = Vec::new();
    let mut tried = 0;
    let mut open: Vec<(i128, Points, usize)> = Vec::new();
    let mut add = |sign: i128, points: Points, next: usize, open: &mut Vec<(i128, Points, usize)>| {
        tried += 1;
        if tried > MOST_INTERSECTIONS {
            return None;
        }
        if let Some((system, class)) = points.clone().elements()? {
            found.push((sign, system, class));
            open.push((sign, points, next));
        }
        Some(())
    };
    for (k, map) in maps.iter().enumerate() {
        add(1, map.clone(), k + 1, &mut open)?;
    }
    while let Some((sign, points, next)) = open.pop() {
        for (k, map) in maps.iter().enumerate().skip(next) {
            add(-sign, points.and(map, given)?, k + 1, &mut open)?;
        }
    }
    Some(found)
}

/// Values of the given variables that include a maximum and a minimum of each count.
fn values(counts: &[Vec<Signed>; 2], given: &[Interval]) -> Option<Vec<Vec<i128>>> {
    const FEW: u128 = 16;
    let bounds: Vec<Bounds> = given.iter().map(|i| (i.lo.into(), i.hi.into())).collect();
    let all = bounds.iter().map(|x| length(*x)).fold(1, u128::saturating_mul);
    let several: Vec<usize> = (0..bounds.len()).filter(|v| length(bounds[*v]) > 1).collect();
    if let ([v], true) = (&several[..], all > FEW) {
        let ends = counts.iter().flatten().map(|(_, system, class)| ends(system, class, *v, bounds[*v]));
        if let Some(ends) = ends.collect::<Option<Vec<_>>>() {
            let ends: BTreeSet<i128> = ends.into_iter().flatten().chain([bounds[*v].0, bounds[*v].1]).collect();
            let at = |x: i128| (0..bounds.len()).map(|w| if w == *v { x } else { bounds[w].0 }).collect();
            return Some(ends.into_iter().map(at).collect());
        }
    }
    if all > MOST_VALUES {
        return None;
    }
    let mut found = vec![Vec::new()];
    for (lo, hi) in bounds {
        let longer = |value: &Vec<i128>| (lo..=hi).map(|x| [&value[..], &[x]].concat()).collect::<Vec<_>>();
        found = found.iter().flat_map(longer).collect();
    }
    Some(found)
}

/// The ends of the intervals on which the number of points is a linear function of the given variable `v`; `None` if it
/// is not piecewise linear.
fn ends(system: &System, class: &[Quantifier], v: usize, (lo, hi): Bounds) -> Option<Vec<i128>> {
    let mut system = system.clone();
    system.vars[v] = (system.vars[v].0.max(lo), system.vars[v].1.min(hi));
    if !system.narrow()? {
        return Some(Vec::new());
    }
    let around = |(lo, hi): Bounds| [lo - 1, lo, hi, hi + 1].into_iter();
    let mut found: Vec<i128> = around(system.vars[v]).collect();
    let mut with = system.rows.iter().filter(|row| row.terms[v] != 0);
    let Some(first) = with.next() else { return Some(inside(found, (lo, hi))) };
    // One other variable, which shares no row with a third.
    let y = first.used().find(|w| *w != v)?;
    let alone = |row: &Inequality| row.used().all(|w| w == v || w == y) || row.terms[v] == 0 && row.terms[y] == 0;
    if class[y] == Quantifier::Given || !system.rows.iter().all(alone) {
        return None;
    }
    for piece in pieces(system.vars[v], &system.sides(y, v)?)? {
        if piece.upper.d != 1 || piece.lower.d != 1 {
            return None;
        }
        found.extend(around((piece.from, piece.to)));
    }
    Some(inside(found, (lo, hi)))
}

fn inside(mut values: Vec<i128>, (lo, hi): Bounds) -> Vec<i128> {
    values.retain(|x| lo <= *x && *x <= hi);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A map whose first variable is given.
    struct Case {
        vars: Vec<Interval>,
        constraints: Vec<(Expr, Interval)>,
        results: Vec<Expr>,
    }

    impl Case {
        fn points(&self, given: Interval) -> Option<Points> {
            let constraints: Vec<_> = self.constraints.iter().collect();
            let results: Vec<_> = self.results.iter().collect();
            let of = Expressions { constraints: &constraints, results: &results };
            Points::new(&[given], self.vars.len() - 1, (0..self.vars.len()).collect(), &self.vars, of)
        }

        /// The results of all points at which the given variable is `x`.
        fn walk(&self, x: i64) -> Vec<Vec<i64>> {
            let mut points = vec![Vec::new()];
            for i in &self.vars {
                let longer = |p: &Vec<i64>| (i.lo..=i.hi).map(|x| [&p[..], &[x]].concat()).collect::<Vec<_>>();
                points = points.iter().flat_map(longer).collect();
            }
            let inside = |p: &Vec<i64>| {
                let holds = |(e, i): &(Expr, Interval)| e.evaluate(p).is_some_and(|y| i.lo <= y && y <= i.hi);
                p[0] == x && self.constraints.iter().all(holds)
            };
            let lead = |p: &Vec<i64>| self.results.iter().map(|e| e.evaluate(p).unwrap()).collect();
            points.iter().filter(|p| inside(p)).map(lead).collect()
        }
    }

    fn expression(rng: &mut fastrand::Rng, n: usize) -> Expr {
        let v = |rng: &mut fastrand::Rng| Expr::Var(rng.usize(0..n));
        match rng.u8(0..10) {
            0 => v(rng).floor_div(rng.i64(2..=4)),
            1 => v(rng).modulo(rng.i64(2..=4)),
            2 => (v(rng).times(rng.i64(-3..=3)) + v(rng)).floor_div(rng.i64(2..=5)),
            3 => (v(rng).times(2) + v(rng)).modulo(rng.i64(2..=6)),
            4 => v(rng).times(rng.i64(1..=4)) + v(rng) + Expr::Const(rng.i64(-2..=2)),
            5 => v(rng) + v(rng).times(-1),
            6 => v(rng).times(3) + v(rng).modulo(3).floor_div(2),
            _ => v(rng),
        }
    }

    fn case(rng: &mut fastrand::Rng, given: Interval, results: usize) -> Case {
        let n = rng.usize(1..=4);
        let mut vars = vec![given];
        if rng.bool() {
            vars[0].lo += 1;
        }
        vars.extend((1..n).map(|_| Interval::new(rng.i64(-1..=1), rng.i64(0..=6))));
        let constraints = (0..rng.usize(0..=2)).map(|_| {
            let lo = rng.i64(-2..=4);
            (expression(rng, n), Interval::new(lo, lo + rng.i64(0..=4)))
        });
        let constraints = constraints.collect();
        let results = (0..results).map(|_| expression(rng, n)).collect();
        Case { vars, constraints, results }
    }

    #[test]
    fn counts_are_those_of_all_points() {
        let mut rng = fastrand::Rng::with_seed(7);
        let (mut known, mut all) = (0, 0);
        for _ in 0..4_000 {
            let most = if rng.bool() { 3 } else { 20 };
            let given = Interval::new(0, rng.i64(0..=most));
            let results = rng.usize(1..=2);
            let cases: Vec<Case> = (0..rng.usize(1..=3)).map(|_| case(&mut rng, given, results)).collect();
            all += 1;
            let maps = cases.iter().map(|c| c.points(given)).collect::<Option<Vec<_>>>();
            let Some(found) = maps.and_then(|maps| together(&maps, &[given])) else { continue };
            known += 1;
            let mut expected = [(u128::MAX, 0); 2];
            for x in given.lo..=given.hi {
                let points: Vec<Vec<i64>> = cases.iter().flat_map(|c| c.walk(x)).collect();
                let counts = [points.len(), points.iter().collect::<HashSet<_>>().len()];
                for (bounds, n) in expected.iter_mut().zip(counts) {
                    *bounds = (bounds.0.min(n as u128), bounds.1.max(n as u128));
                }
            }
            let texts: Vec<_> = cases.iter().map(|c| (&c.vars, &c.constraints, &c.results)).collect();
            assert_eq!(found, expected, "{texts:?}");
        }
        assert!(known * 100 > all * 90, "{known} of {all} are known");
    }
}
