//! Maps from maps: the inverse, and the same map over fewer or smaller variables.
//!
//! A result of a layout's map is a sum of digits: `d0 * 6 + (d1 floordiv 2) * 2 + d1 mod 2` holds all of `d0` and two
//! digits of `d1`. If each coefficient is larger than the greatest sum of the terms below it, division with remainder
//! recovers the digits, the largest first, and the digits of a variable give the variable. Values that no element maps
//! to, such as the padding of a tile or the gaps of a stride, are outside the inverse's domain.

use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::{Indexing, IndexingMap, Kind};
use crate::maps::simplify::{VariableDigit, digits};

impl IndexingMap {
    /// The map from the results back to the variables; `None` unless the digits show that this is a bijection from its
    /// domain to its image. The domain of the inverse is the image.
    ///
    /// Only maps of dimension variables are inverted.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::maps::IndexingMap;
    /// let map = IndexingMap::parse("(d0, d1) -> (d0 * 8 + d1 * 2), domain: d0 in [0, 3], d1 in [0, 2]").unwrap();
    /// let found = map.invert().unwrap();
    /// assert_eq!(found.map().unwrap().evaluate(&[12]), Ok(Some(vec![1, 2])));
    /// assert_eq!(found.map().unwrap().evaluate(&[14]), Ok(None));
    /// ```
    pub fn invert(&self) -> Option<Indexing> {
        if self.dims != self.variables() {
            return None;
        }
        let Indexing::Map(map) = self.simplify() else { return Some(Indexing::KnownEmpty) };
        // Variables count from their least value, or from the start of a round of all divisions below it.
        let vars = &map.domain.vars;
        let round = map.results.iter().try_fold(1, |round, e| common_round(e, round));
        let below =
            |round: i64| vars.iter().map(|i| i.lo.checked_sub(i.lo.rem_euclid(round))).collect::<Option<Vec<i64>>>();
        let least = Some(vars.iter().map(|i| i.lo).collect::<Vec<i64>>());
        let (lows, sizes, sums) = [least, round.and_then(below)].into_iter().flatten().find_map(|lows| {
            let sizes = vars.iter().zip(&lows).map(|(i, lo)| i.hi.checked_sub(*lo)?.checked_add(1));
            let sizes: Vec<i64> = sizes.collect::<Option<_>>()?;
            let shifted: Vec<Expr> = lows.iter().enumerate().map(|(v, lo)| Expr::Var(v) + Expr::Const(*lo)).collect();
            let results: Vec<Expr> = map.results.iter().map(|e| e.substitute(&shifted)).collect();
            let sums = digits(&results, &sizes)?;
            Some((lows, sizes, sums))
        })?;
        let (mut read, mut constraints) = (Vec::new(), Vec::new());
        for (j, (constant, sum)) in sums.into_iter().enumerate() {
            read_off(constant, sum, Expr::Var(j), &mut read, &mut constraints)?;
        }
        let mut back = Vec::with_capacity(sizes.len());
        for (v, size) in sizes.iter().enumerate() {
            let index = index_of(v, *size, &read, &mut constraints)? + Expr::Const(lows[v]);
            constraints.push((index.clone(), vars[v]));
            back.push(index);
        }
        constraints.extend(map.domain.constraints.iter().map(|(e, i)| (e.substitute(&back), *i)));
        let mut inverse = IndexingMap::new(map.image(), back);
        inverse.domain.constraints = constraints;
        Some(inverse.simplify())
    }

    /// The same map without the variables of these kinds that neither a result nor a constraint uses, and the numbers
    /// of the others. A variable without any value stays, because it makes the map empty.
    pub fn without_unused(&self, kinds: &[Kind]) -> (IndexingMap, Vec<usize>) {
        let mut used = vec![false; self.variables()];
        for e in self.exprs() {
            e.for_each_var(&mut |v| used[v] = true);
        }
        let empty = |v: usize| self.domain.vars[v].lo > self.domain.vars[v].hi;
        let left: Vec<usize> =
            (0..self.variables()).filter(|v| used[*v] || empty(*v) || !kinds.contains(&self.kind(*v))).collect();
        let mut by = vec![Expr::Const(0); self.variables()];
        for (new, old) in left.iter().enumerate() {
            by[*old] = Expr::Var(new);
        }
        let count = |kind: Kind| left.iter().filter(|v| self.kind(**v) == kind).count();
        let constraints = self.domain.constraints.iter().map(|(e, i)| (e.substitute(&by), *i)).collect();
        let mut map = IndexingMap {
            dims: count(Kind::Dimension),
            ranges: count(Kind::Range),
            names: left.iter().map(|v| self.names[*v].clone()).collect(),
            results: self.results.iter().map(|e| e.substitute(&by)).collect(),
            domain: Domain { vars: left.iter().map(|v| self.domain.vars[*v]).collect(), constraints },
        };
        map.make_names_unique();
        (map, left)
    }

    /// The same map, simplified, over variables that count by one where a constraint holds a variable to one residue
    /// class, and for each variable the `(step, first)` with old value `step * new + first`.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::maps::IndexingMap;
    /// let map = IndexingMap::parse("(d0) -> (d0 floordiv 6), domain: d0 in [0, 99], d0 mod 6 in [3, 3]").unwrap();
    /// let (rescaled, steps) = map.rescaled();
    /// assert_eq!(rescaled.to_string(), "(d0) -> (d0), domain: d0 in [0, 16]");
    /// assert_eq!(steps, [(6, 3)]);
    /// ```
    pub fn rescaled(&self) -> (Indexing, Vec<(i64, i64)>) {
        let mut steps = vec![(1, 0); self.variables()];
        let mut map = self.clone();
        for _ in 0..=self.variables() {
            let Indexing::Map(mut simple) = map.simplify() else { return (Indexing::KnownEmpty, steps) };
            let class = simple
                .domain
                .constraints
                .iter()
                .position(|(e, i)| i.lo == i.hi && matches!(e, Expr::Mod(x, _) if matches!(**x, Expr::Var(_))));
            let Some((Expr::Mod(x, step), i)) = class.map(|k| simple.domain.constraints.remove(k)) else {
                return (Indexing::Map(simple), steps);
            };
            let Expr::Var(v) = *x else { unreachable!("it was looked for") };
            let Interval { lo, hi } = simple.domain.vars[v];
            // Both ends of a simplified interval are in the class, if it has values.
            let end = |x: i64| ((i128::from(x) - i128::from(i.lo)) / i128::from(step)) as i64;
            simple.domain.vars[v] = Interval::new(end(lo), end(hi));
            let mut by: Vec<Expr> = (0..self.variables()).map(Expr::Var).collect();
            by[v] = Expr::Var(v).times(step) + Expr::Const(i.lo);
            let replace = |e: &mut Expr| *e = e.substitute(&by);
            simple.results.iter_mut().for_each(replace);
            simple.domain.constraints.iter_mut().map(|c| &mut c.0).for_each(replace);
            // old = a * (step * new + r) + b
            let (a, b) = steps[v];
            let (Some(scale), Some(first)) = (step.checked_mul(a), i.lo.checked_mul(a).and_then(|x| x.checked_add(b)))
            else {
                return (map.simplify(), steps);
            };
            steps[v] = (scale, first);
            map = simple;
        }
        (map.simplify(), steps)
    }
}

/// The least common multiple of all divisors in an expression and `round`, if it is not too large.
fn common_round(e: &Expr, round: i64) -> Option<i64> {
    let round = match e {
        Expr::FloorDiv(_, d) | Expr::Mod(_, d) => {
            let (mut a, mut b) = (round, *d);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            (round / a).checked_mul(*d).filter(|round| *round < 1 << 40)?
        }
        _ => round,
    };
    e.operands().try_fold(round, |round, e| common_round(e, round))
}

/// A digit with its value, over the results.
type DigitValue = (VariableDigit, Expr);

/// Reads the digits off a result `value`, which equals `constant + sum`.
fn read_off(
    mut constant: i64,
    mut sum: Vec<VariableDigit>,
    value: Expr,
    read: &mut Vec<DigitValue>,
    constraints: &mut Vec<(Expr, Interval)>,
) -> Option<()> {
    sum.sort_by_key(|d| d.coefficient.unsigned_abs());
    let mut below = 0i64;
    for d in &sum {
        let size = d.coefficient.checked_abs()?;
        if size <= below {
            return None;
        }
        let most = size.checked_mul(d.count - 1)?;
        below = below.checked_add(most)?;
        // A negative digit counts down from its end.
        if d.coefficient < 0 {
            constant = constant.checked_sub(most)?;
        }
    }
    let mut rest = value + Expr::Const(constant.checked_neg()?);
    for d in sum.into_iter().rev() {
        let (size, last) = (d.coefficient.abs(), d.count - 1);
        let up = rest.clone().floor_div(size);
        rest = rest.modulo(size);
        constraints.push((up.clone(), Interval::new(0, last)));
        let value = if d.coefficient < 0 { Expr::Const(last) + up.times(-1) } else { up };
        read.push((d, value));
    }
    constraints.push((rest, Interval::new(0, 0)));
    Some(())
}

/// The expression of a variable, counted from 0, over its digits.
fn index_of(v: usize, size: i64, read: &[DigitValue], constraints: &mut Vec<(Expr, Interval)>) -> Option<Expr> {
    let mut own: Vec<&DigitValue> = read.iter().filter(|d| d.0.variable == v).collect();
    own.sort_by_key(|d| d.0.place);
    let (mut index, mut known) = (Expr::Const(0), 1i64);
    let mut last: Option<&DigitValue> = None;
    for d in own {
        match last {
            Some(same) if same.0.place == d.0.place => {
                constraints.push((d.1.clone() + same.1.clone().times(-1), Interval::new(0, 0)));
            }
            _ if d.0.place == known => {
                index = index + d.1.clone().times(known);
                known = known.checked_mul(d.0.count)?;
                last = Some(d);
            }
            _ => return None,
        }
    }
    (known >= size).then_some(index)
}
