//! Tiles of a result become tiles of what it is made of.
//!
//! A tile is a box with steps: rows `8*i` to `8*i + 7` of the result of a matrix product need the same rows of the left
//! operand, with all columns, because the contracted index is a range variable that takes all its values. A tile of 16
//! elements of `reshape [4,8] -> [32]` that begins at `16*i` is a tile of 2 rows and 8 columns that begins at
//! `(2*i, 0)`: its index falls into two digits, and each dimension of the operand takes one of them.
//!
//! The rule: with the tile's index put into the map, each result must be an offset plus a sum of products of variables
//! that leaves no gap, and no two results may share a variable. What is left out, by the map's constraints or because
//! the tile goes on beyond the result, must lie at the ends of a dimension, so that the tile is the same with its edge
//! cut off; else the reason says which constraint it is. Reasons are over the variables of the map.

use super::access::{Access, Mapped};
use super::linear::{gapless, linear};
use crate::expr::{Expr, Named};
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::{IndexingMap, Kind};
use crate::maps::simplify::Form;
use crate::text::Error;

/// A part of a tensor: along each dimension the elements `offset + stride * k` for `k` from 0 to below `size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The first element, over variables that whoever asks has chosen.
    pub offsets: Vec<Expr>,
    /// How many elements.
    pub sizes: Vec<i64>,
    /// From one element to the next, at least 1.
    pub strides: Vec<i64>,
}

/// What a tile of a result needs of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// The tile. Behind the variables that were given, its offsets have one for each run-time variable of the map.
    pub tile: Tile,
    /// Whether part of it may lie outside of the operand, where nothing is read.
    pub cut: bool,
    /// The first and the last index of each dimension that is read, where the tile goes on inside of the operand: what
    /// a dynamic slice has behind the last element of its result is not read.
    pub ends: Vec<[Option<Expr>; 2]>,
}

/// How often an index is split into digits, or a digit is fixed.
const SPLITS: usize = 16;

/// How many values of a digit are tried.
const TRIED: i64 = 1 << 12;

impl<S> Access<S> {
    /// The tiles of an operand of sizes `to` that a tile of a result of sizes `from` needs, one for each map, or the
    /// reason why what a map needs is no tile. `variables` are the intervals of the variables of the tile's offsets.
    /// The first element of the tile lies in the result; what lies outside needs nothing.
    ///
    /// # Errors
    /// The tile has another rank than the maps have dimensions, a size is negative, a stride is not positive, an offset
    /// uses a variable that is not there.
    pub fn tiles(
        &self,
        tile: &Tile,
        variables: &[Interval],
        from: &[i64],
        to: &[i64],
    ) -> Result<Vec<Result<Needed, String>>, Error> {
        let unknown = self.unknown.iter().map(|reason| Ok(Err(reason.clone())));
        self.maps.iter().map(|m| m.tile(tile, variables, from, to)).chain(unknown).collect()
    }
}

/// Results over the variables of offsets and the indices that count inside a tile.
struct Inside<'a> {
    map: &'a IndexingMap,
    domain: Domain,
    /// Whether each variable counts inside.
    counts: Vec<bool>,
    results: Vec<Expr>,
    limits: Vec<Limit>,
}

/// What is left out: that for which a value does not lie in its interval.
struct Limit {
    value: Expr,
    within: Interval,
    /// Whether it is what lies outside of the result, in which the first element of the tile is.
    edge: bool,
    /// The value over the variables of the map.
    said: Expr,
}

/// An offset, and the steps of the places inside.
type Terms = (Expr, Vec<(usize, i128)>);

impl<S> Mapped<S> {
    /// The tile that a tile needs: see [`Access::tiles`].
    ///
    /// # Errors
    /// As [`Access::tiles`].
    pub fn tile(
        &self,
        tile: &Tile,
        variables: &[Interval],
        from: &[i64],
        sizes: &[i64],
    ) -> Result<Result<Needed, String>, Error> {
        let map = &self.map;
        let rank = map.dims;
        if [tile.offsets.len(), tile.sizes.len(), tile.strides.len(), from.len()] != [rank; 4]
            || sizes.len() != map.results.len()
        {
            let found = tile.offsets.len();
            let message = format!(
                "the tile has {found} dimensions and the operand {}, the map goes from {rank} to {}",
                sizes.len(),
                map.results.len()
            );
            return Err(Error::new(message));
        }
        if tile.sizes.iter().any(|n| *n < 0) || tile.strides.iter().any(|n| *n < 1) {
            return Err(Error::new("a tile has sizes of 0 or more and strides of 1 or more"));
        }
        let mut named = 0;
        tile.offsets.iter().for_each(|e| e.for_each_var(&mut |v| named = named.max(v + 1)));
        if named > variables.len() {
            let message = format!("an offset uses variable {}, there are {}", named - 1, variables.len());
            return Err(Error::new(message));
        }
        // The given variables, those of run time, the place in the tile, the ranges.
        let late = map.variables() - map.dims - map.ranges;
        let given = variables.len() + late;
        let mut vars = variables.to_vec();
        vars.extend(&map.domain.vars[map.dims + map.ranges..]);
        vars.extend(tile.sizes.iter().map(|n| Interval::new(0, n - 1)));
        vars.extend(&map.domain.vars[map.dims..map.dims + map.ranges]);
        let place = |k: usize| Expr::Var(given + k);
        let by: Vec<Expr> = (0..map.variables())
            .map(|v| match map.kind(v) {
                Kind::Dimension => tile.offsets[v].clone() + place(v).times(tile.strides[v]),
                Kind::Range => place(v),
                Kind::RunTime => Expr::Var(variables.len() + v - map.dims - map.ranges),
            })
            .collect();
        let limit = |said: &Expr, within: Interval, edge| {
            let value = said.substitute(&by);
            Limit { value, within, edge, said: said.clone() }
        };
        let said = map.domain.constraints.iter().map(|(e, i)| limit(e, *i, false));
        let within = map.domain.vars[..rank].iter().zip(from).enumerate();
        let dims = within.map(|(k, (i, n))| limit(&Expr::Var(k), *i, i.lo == 0 && i.hi.checked_add(1) == Some(*n)));
        let mut counts = vec![false; given];
        counts.resize(vars.len(), true);
        let inside = Inside {
            map,
            domain: Domain { vars, constraints: Vec::new() },
            counts,
            results: map.results.iter().map(|e| e.substitute(&by)).collect(),
            limits: said.chain(dims).collect(),
        };
        let mut form = Form::new(&inside.domain);
        let never = |limit: &Limit| {
            let found = form.interval(&limit.value);
            !limit.edge && (found.hi < limit.within.lo || limit.within.hi < found.lo)
        };
        // A scalar has no empty tile.
        if tile.sizes.contains(&0) || !sizes.is_empty() && inside.limits.iter().any(never) {
            let none = Tile {
                offsets: vec![Expr::Const(0); sizes.len()],
                sizes: vec![0; sizes.len()],
                strides: vec![1; sizes.len()],
            };
            return Ok(Ok(Needed { tile: none, cut: false, ends: vec![[None, None]; sizes.len()] }));
        }
        Ok(inside.tile(sizes))
    }
}

impl Inside<'_> {
    fn tile(mut self, sizes: &[i64]) -> Result<Needed, String> {
        self.simplify();
        self.single(sizes);
        for _ in 0..SPLITS {
            if !self.split() && !self.fix() {
                break;
            }
            self.simplify();
        }
        let mut tile = Tile { offsets: Vec::new(), sizes: Vec::new(), strides: Vec::new() };
        let mut owner: Vec<Option<usize>> = vec![None; self.counts.len()];
        let mut all = Vec::new();
        for (k, e) in self.results.iter().enumerate() {
            let said = || format!("dimension {k} of the operand is {}", self.named(&self.map.results[k]));
            let (offset, terms) = self.offset(e).ok_or_else(|| format!("{}, which goes in no equal steps", said()))?;
            for (v, _) in &terms {
                if let Some(other) = owner[*v].replace(k).filter(|other| *other != k) {
                    return Err(format!("dimensions {other} and {k} of the operand move together"));
                }
            }
            let least = self.end(&terms, true).ok_or("an offset does not fit in 64 bits")?;
            let found = self.gapless(&terms).and_then(|(n, step)| Some((i64::try_from(n).ok()?, step)));
            let (n, step) = found.ok_or_else(|| format!("{}, which leaves gaps", said()))?;
            tile.offsets.push(offset.clone() + Expr::Const(least));
            tile.sizes.push(n);
            tile.strides.push(if n == 1 { 1 } else { step });
            all.push((offset, terms));
        }
        let mut needed = Needed { tile, cut: false, ends: vec![[None, None]; sizes.len()] };
        let mut form = Form::new(&self.domain);
        // Dimensions that are cut off by part of what moves them.
        let mut partly = vec![false; sizes.len()];
        for k in 0..self.limits.len() {
            self.cut(k, sizes, &all, &owner, &mut partly, &mut needed).ok_or_else(|| {
                let Limit { said, within, .. } = &self.limits[k];
                format!("it is read only where {} is in {within}", self.named(said))
            })?;
        }
        needed.tile.offsets = needed.tile.offsets.iter().map(|e| form.simplify(e)).collect();
        Ok(needed)
    }

    fn simplify(&mut self) {
        let mut form = Form::new(&self.domain);
        let values = self.limits.iter_mut().map(|limit| &mut limit.value);
        self.results.iter_mut().chain(values).for_each(|e| *e = form.simplify(e));
    }

    /// What is read of a dimension of size 1 only for one index: that index is the place in it.
    fn single(&mut self, sizes: &[i64]) {
        let mut moves = vec![false; self.counts.len()];
        self.results.iter().for_each(|e| e.for_each_var(&mut |v| moves[v] = true));
        for Limit { value, within, edge, .. } in &self.limits {
            let mut known = *edge || within.lo != within.hi || matches!(value, Expr::Const(_));
            value.for_each_var(&mut |v| known |= self.counts[v] && moves[v]);
            let mut results = self.results.iter_mut().zip(sizes);
            if !known && let Some((result, _)) = results.find(|(e, n)| **e == Expr::Const(0) && **n == 1) {
                *result = value.clone() + Expr::Const(within.lo).times(-1);
                value.for_each_var(&mut |v| moves[v] = true);
            }
        }
    }

    /// Fixes a digit that a limit leaves only some values, one after the other, or a place that changes nothing.
    fn fix(&mut self) -> bool {
        let mut moves = vec![false; self.counts.len()];
        self.results.iter().for_each(|e| e.for_each_var(&mut |v| moves[v] = true));
        for k in 0..self.limits.len() {
            let Limit { value, within, .. } = &self.limits[k];
            let mut of = Vec::new();
            value.for_each_var(&mut |v| of.push(v));
            let Some(v) = of.pop().filter(|v| self.counts[*v] && of.iter().all(|other| other == v)) else { continue };
            let Interval { lo, hi } = self.domain.vars[v];
            if moves[v] && linear(value).is_some() || hi.checked_sub(lo).is_none_or(|n| n >= TRIED) {
                continue;
            }
            let mut point = vec![0; self.counts.len()];
            let mut inside = |x: &i64| {
                point[v] = *x;
                value.evaluate(&point).is_some_and(|x| within.lo <= x && x <= within.hi)
            };
            let all: Vec<i64> = (lo..=hi).filter(&mut inside).collect();
            if let [first, .., last] | [first @ last] = all[..]
                && last - first + 1 == all.len() as i64
            {
                self.domain.vars[v] = Interval::new(first, last);
                self.limits.remove(k);
                return true;
            }
        }
        false
    }

    /// Says where a limit cuts the tile off. `all` are the results, `owner` says which of them a place moves; `partly`,
    /// which are cut off already by something that only some of their places move. None where it does not just cut it
    /// off.
    fn cut(
        &self,
        limit: usize,
        sizes: &[i64],
        all: &[Terms],
        owner: &[Option<usize>],
        partly: &mut [bool],
        needed: &mut Needed,
    ) -> Option<()> {
        let Limit { value, within, edge, .. } = &self.limits[limit];
        let mut form = Form::new(&self.domain);
        let found = form.interval(value);
        let (below, above) = (!edge && found.lo < within.lo, within.hi < found.hi);
        if !below && !above {
            return Some(());
        }
        let (mut base, own) = self.offset(value)?;
        let (own, free): (Vec<_>, Vec<_>) = own.into_iter().partition(|(v, _)| owner[*v].is_some());
        // The first place is inside of the result.
        if *edge && own.is_empty() {
            return Some(());
        }
        if !free.is_empty() {
            // One of the places that change nothing has to be there, which the least is. No other limit may ask for
            // another one.
            let mut other = below;
            for (_, limit) in self.limits.iter().enumerate().filter(|(k, _)| *k != limit) {
                limit.value.for_each_var(&mut |v| other |= free.iter().any(|f| f.0 == v));
            }
            base = base + Expr::Const(self.end(&free, true).filter(|_| !other)?);
        }
        let dims: Vec<(usize, i128)> = match own.first() {
            Some((v, _)) => owner[*v].map(|k| (k, 1)).into_iter().collect(),
            // All of it or nothing: what has one element is there or not, and may lie at either edge.
            None => (0..all.len()).filter(|k| all[*k].1.is_empty()).flat_map(|k| [(k, 1), (k, -1)]).collect(),
        };
        let (_, step) = self.gapless(&own)?;
        let first = base.clone() + Expr::Const(self.end(&own, true)?);
        let mut best: Option<(usize, [Option<Expr>; 2])> = None;
        for (k, turned) in dims {
            let (offset, terms) = &all[k];
            // From one value to the next the result goes by a factor; the rest does not depend on it.
            let of = |v: usize| terms.iter().find(|term| term.0 == v).map_or(0, |term| term.1);
            let factor = own.first().map_or(turned, |(v, c)| of(*v).checked_div(c / i128::from(step)).unwrap_or(0));
            if factor == 0 || own.iter().any(|(v, c)| (c / i128::from(step)).checked_mul(factor) != Some(of(*v))) {
                continue;
            }
            let (moved, rest): (Vec<_>, Vec<_>) = terms.iter().copied().partition(|t| own.iter().any(|o| o.0 == t.0));
            if !rest.is_empty() {
                // With fewer values of what is cut off, the rest still leaves no gap; and there is one.
                let (reach, fine) = self.gapless(&rest)?;
                let closed = factor % i128::from(fine) == 0 && (factor / i128::from(fine)).unsigned_abs() <= reach;
                let last = base.clone() + Expr::Const(self.end(&own, false)?);
                let begun = *edge || !above || form.interval(&first).hi <= within.hi;
                let there = begun && (!below || form.interval(&last).lo >= within.lo);
                let wide = !below || !above || within.hi.checked_sub(within.lo)? >= step - 1;
                if !closed || !there || !wide || std::mem::replace(&mut partly[k], true) {
                    return None;
                }
            }
            let factor = i64::try_from(factor).ok()?;
            let start = offset.clone() + Expr::Const(self.end(&moved, factor > 0)?);
            let mut ends = [None, None];
            for (_, end, up) in [(below, within.lo, true), (above, within.hi, false)].into_iter().filter(|x| x.0) {
                // How many values come before.
                let more = Expr::Const(if up { end.checked_add(step - 1)? } else { end }) + first.clone().times(-1);
                let last = up != (factor > 0);
                let rest = Expr::Const(self.end(&rest, !last)?);
                let end = form.simplify(&(more.floor_div(step).times(factor) + start.clone() + rest));
                let i = form.interval(&end);
                let stride = needed.tile.strides[k];
                // What comes next lies outside of the operand.
                let outside = if last { i.lo.checked_add(stride)? >= sizes[k] } else { i.hi.checked_sub(stride)? < 0 };
                ends[usize::from(last)] = (!outside).then_some(end);
            }
            let edges = ends == [None, None];
            if best.is_none() || edges {
                best = Some((k, ends));
            }
            if edges {
                break;
            }
        }
        let (k, ends) = best?;
        needed.cut = true;
        for (side, end) in ends.into_iter().enumerate() {
            let Some(end) = end else { continue };
            let both = |other: Expr| match side {
                0 => Expr::Max(other.into(), end.clone().into()),
                _ => Expr::Min(other.into(), end.clone().into()),
            };
            needed.ends[k][side] = Some(needed.ends[k][side].take().map_or_else(|| end.clone(), both));
        }
        Some(())
    }

    /// The least or the greatest sum of terms.
    fn end(&self, terms: &[(usize, i128)], least: bool) -> Option<i64> {
        let end = |(v, c): &(usize, i128)| {
            let i = self.domain.vars[*v];
            c.checked_mul(if (*c > 0) == least { i.lo } else { i.hi }.into())
        };
        let sum = terms.iter().map(end).try_fold(0i128, |sum, x| sum.checked_add(x?))?;
        i64::try_from(sum).ok()
    }

    /// The number of sums of terms, and their step, if they leave no gap.
    fn gapless(&self, terms: &[(usize, i128)]) -> Option<(u128, i64)> {
        let count = |v: usize| {
            let i = self.domain.vars[v];
            u128::try_from(i128::from(i.hi) - i128::from(i.lo) + 1).unwrap_or(0)
        };
        let (n, step) = gapless(terms.iter().map(|(v, c)| (*c, count(*v))).collect())?;
        Some((n, i64::try_from(step).ok()?))
    }

    /// A result as what the tile's place does not change, and products of the places inside.
    fn offset(&self, e: &Expr) -> Option<Terms> {
        let (mut offset, mut moving) = (Vec::new(), Vec::new());
        for term in e.terms() {
            let mut inside = false;
            term.for_each_var(&mut |v| inside |= self.counts[v]);
            if inside { moving.push(term.clone()) } else { offset.push(term.clone()) }
        }
        let (terms, constant) = linear(&Expr::sum(moving))?;
        let mut all = Vec::new();
        for (v, c) in terms {
            if self.counts[v] {
                all.push((v, c));
            } else {
                offset.push(Expr::Var(v).times(i64::try_from(c).ok()?));
            }
        }
        offset.push(Expr::Const(i64::try_from(constant).ok()?));
        Some((Expr::sum(offset), all))
    }

    /// Splits a place in the tile into two digits, where a division does.
    fn split(&mut self) -> bool {
        let values = self.limits.iter().map(|limit| &limit.value);
        let Some((v, low)) = self.results.iter().chain(values).find_map(|e| self.digit(e)) else { return false };
        let high = self.domain.vars.len();
        let n = self.domain.vars[v].hi.saturating_add(1);
        self.domain.vars[v] = Interval::new(0, low - 1);
        self.domain.vars.push(Interval::new(0, n / low - 1));
        self.counts.push(true);
        let mut by: Vec<Expr> = (0..high).map(Expr::Var).collect();
        by[v] = Expr::Var(high).times(low) + Expr::Var(v);
        let values = self.limits.iter_mut().map(|limit| &mut limit.value);
        let exprs = self.results.iter_mut().chain(values);
        exprs.for_each(|e| *e = e.substitute(&by));
        true
    }

    /// A place of which a division takes whole digits, and the count of the lower one.
    fn digit(&self, e: &Expr) -> Option<(usize, i64)> {
        if let Expr::FloorDiv(x, m) | Expr::Mod(x, m) = e {
            for term in x.terms() {
                let (v, c) = match term {
                    Expr::Var(v) => (*v, 1),
                    Expr::Mul(x, c) => match **x {
                        Expr::Var(v) => (v, *c),
                        _ => continue,
                    },
                    _ => continue,
                };
                let Interval { lo, hi } = self.domain.vars[v];
                let Some(n) = hi.checked_add(1) else { continue };
                if self.counts[v] && lo == 0 && c > 0 && m % c == 0 && m / c > 1 && m / c < n && n % (m / c) == 0 {
                    return Some((v, m / c));
                }
            }
        }
        e.operands().find_map(|e| self.digit(e))
    }

    /// An expression over the variables of the map.
    fn named(&self, e: &Expr) -> String {
        Named(e, &|v| self.map.name(v)).to_string()
    }
}
