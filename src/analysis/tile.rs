//! Tiles of a result, and the tiles of operands they need.
//!
//! A tile is a strided box: rows `8*i` to `8*i + 7` of a matrix product need the same rows of the left operand, with
//! all columns, because the contracted index is a range variable that takes all its values. A tile of 16 elements of
//! `reshape [4,8] -> [32]` at `16*i` is a tile of 2 rows and 8 columns at `(2*i, 0)`: its index splits into two digits,
//! one for each dimension of the operand.
//!
//! The rule: with the tile's index substituted into the map, each result must be an offset plus a linear sum of
//! variables without gaps, and no two results may share a variable. Elements excluded by the map's constraints or by
//! the edge of the result must be at the ends of a dimension, so that the tile is only cut at its edge; else the reason
//! names the constraint. Reasons are over the variables of the map.

use super::access::{Access, Mapped};
use super::image::{Expressions, Points};
use super::linear::{gapless, linear};
use crate::expr::{Expr, Named};
use crate::maps::domain::{Domain, Interval, WideInterval};
use crate::maps::map::{IndexingMap, Kind};
use crate::maps::simplify::Form;
use crate::text::Error;

/// A strided part of a tensor: along each dimension the elements `offset + stride * k` for `0 <= k < size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StridedTile {
    /// The first element, over variables that the caller chooses.
    pub offsets: Vec<Expr>,
    /// The number of elements.
    pub sizes: Vec<i64>,
    /// The distance between elements, at least 1.
    pub strides: Vec<i64>,
}

/// The tile of an operand that a tile of a result needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needed {
    /// The tile. After the given variables, its offsets have one for each run-time variable of the map.
    pub tile: StridedTile,
    /// Whether part of it may be outside the operand, where nothing is read.
    pub cut: bool,
    /// The first and last index read along each dimension, if that is inside the operand: elements after the last one
    /// of a dynamic slice's result are not read.
    pub ends: Vec<[Option<Expr>; 2]>,
}

/// The limit on splits of indices into digits and on fixed digits.
const SPLITS: usize = 16;

/// The limit on enumerated values of a digit.
const TRIED: i64 = 1 << 12;

impl<S> Access<S> {
    /// The tiles of an operand of sizes `to` that a tile of a result of sizes `from` needs, one for each map, or the
    /// reason why there is none. `variables` are the intervals of the variables of the tile's offsets. The first
    /// element of the tile is in the result; elements outside need nothing.
    ///
    /// # Errors
    /// A rank other than the maps' dimensions, a negative size, a stride below 1, an offset with an unknown variable.
    pub fn tiles(
        &self,
        tile: &StridedTile,
        variables: &[Interval],
        from: &[i64],
        to: &[i64],
    ) -> Result<Vec<Result<Needed, String>>, Error> {
        let unknown = self.unknown.iter().map(|reason| Ok(Err(reason.clone())));
        let each = self.maps.iter().map(|m| match m.devices {
            Some(_) => Ok(Err("elements come from other devices".to_string())),
            None => m.tile(tile, variables, from, to),
        });
        each.chain(unknown).collect()
    }
}

/// Results over the variables of offsets and the indices inside a tile.
struct Inside<'a> {
    map: &'a IndexingMap,
    domain: Domain,
    /// Whether each variable is an index inside the tile.
    counts: Vec<bool>,
    results: Vec<Expr>,
    limits: Vec<Limit>,
}

/// A condition: elements with a value outside the interval are excluded.
struct Limit {
    value: Expr,
    within: Interval,
    /// Whether it is the edge of the result; the first element of the tile is inside.
    edge: bool,
    /// The value over the variables of the map.
    original: Expr,
}

/// An offset, and the steps of the indices inside the tile.
type Steps = (Expr, Vec<(usize, i128)>);

impl<S> Mapped<S> {
    /// The operand tile that a result tile needs: see [`Access::tiles`].
    ///
    /// # Errors
    /// As [`Access::tiles`].
    pub fn tile(
        &self,
        tile: &StridedTile,
        variables: &[Interval],
        from: &[i64],
        sizes: &[i64],
    ) -> Result<Result<Needed, String>, Error> {
        self.check(tile, variables, from, sizes)?;
        let inside = self.inside(tile, variables, from);
        // A scalar has no empty tile.
        if tile.sizes.contains(&0) || !sizes.is_empty() && inside.is_never() {
            let none = StridedTile {
                offsets: vec![Expr::Const(0); sizes.len()],
                sizes: vec![0; sizes.len()],
                strides: vec![1; sizes.len()],
            };
            return Ok(Ok(Needed { tile: none, cut: false, ends: vec![[None, None]; sizes.len()] }));
        }
        Ok(inside.tile(sizes))
    }

    /// Checks that the tile has the map's dimensions and the given variables.
    fn check(&self, tile: &StridedTile, variables: &[Interval], from: &[i64], sizes: &[i64]) -> Result<(), Error> {
        let (rank, results) = (self.map.dims, self.map.results.len());
        for (what, found, expected) in [
            ("offsets of the tile", tile.offsets.len(), rank),
            ("sizes of the tile", tile.sizes.len(), rank),
            ("strides of the tile", tile.strides.len(), rank),
            ("sizes of the result", from.len(), rank),
            ("sizes of the operand", sizes.len(), results),
        ] {
            if found != expected {
                return Err(Error::new(format!("the {what} must be {expected}, as the map has, found {found}")));
            }
        }
        if let Some(n) = tile.sizes.iter().find(|n| **n < 0) {
            return Err(Error::new(format!("a size of the tile must be at least 0, found {n}")));
        }
        if let Some(n) = tile.strides.iter().find(|n| **n < 1) {
            return Err(Error::new(format!("a stride of the tile must be at least 1, found {n}")));
        }
        let mut last = None;
        tile.offsets.iter().for_each(|e| e.for_each_var(&mut |v| last = last.max(Some(v))));
        match last.filter(|v| *v >= variables.len()) {
            Some(v) => {
                let n = variables.len();
                Err(Error::new(format!("an offset of the tile must use variables below {n}, found variable {v}")))
            }
            None => Ok(()),
        }
    }

    /// Substitutes the tile's index into the map.
    fn inside(&self, tile: &StridedTile, variables: &[Interval], from: &[i64]) -> Inside<'_> {
        let map = &self.map;
        // The given variables, run-time variables, indices in the tile, ranges.
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
        let limit = |original: &Expr, within: Interval, edge| {
            let value = original.substitute(&by);
            Limit { value, within, edge, original: original.clone() }
        };
        let constraints = map.domain.constraints.iter().map(|(e, i)| limit(e, *i, false));
        let within = map.domain.vars[..map.dims].iter().zip(from).enumerate();
        let dims = within.map(|(k, (i, n))| limit(&Expr::Var(k), *i, i.lo == 0 && i.hi.checked_add(1) == Some(*n)));
        let mut counts = vec![false; given];
        counts.resize(vars.len(), true);
        Inside {
            map,
            domain: Domain { vars, constraints: Vec::new() },
            counts,
            results: map.results.iter().map(|e| e.substitute(&by)).collect(),
            limits: constraints.chain(dims).collect(),
        }
    }
}

impl Inside<'_> {
    /// Whether a limit excludes everything.
    fn is_never(&self) -> bool {
        let mut form = Form::new(&self.domain);
        self.limits.iter().any(|limit| {
            let both = form.bounds(&limit.value).meet(limit.within.into());
            !limit.edge && both.lo > both.hi
        })
    }

    /// The tile: indices are split into digits as limits and divisions require, each result becomes an offset and
    /// steps, and excluded elements are cut off.
    fn tile(mut self, sizes: &[i64]) -> Result<Needed, String> {
        self.simplify();
        self.drop_implied();
        self.single(sizes);
        for _ in 0..SPLITS {
            if !self.split() && !self.fix() {
                break;
            }
            self.simplify();
        }
        let (tile, parts) = self.steps()?;
        let mut needed = Needed { tile, cut: false, ends: vec![[None, None]; sizes.len()] };
        let mut cutting = Cutting {
            inside: &self,
            sizes,
            owner: owners(&parts, self.counts.len())?,
            partly: vec![false; sizes.len()],
            parts,
            form: Form::new(&self.domain),
        };
        for limit in 0..self.limits.len() {
            cutting.cut(limit, &mut needed).ok_or_else(|| {
                let Limit { original, within, .. } = &self.limits[limit];
                format!("what is read must not depend on a condition, found {} in {within}", self.named(original))
            })?;
        }
        let mut form = cutting.form;
        needed.tile.offsets = needed.tile.offsets.iter().map(|e| form.simplify(e)).collect();
        Ok(needed)
    }

    /// The tile before cuts by limits, and the offset and steps of each of its dimensions.
    fn steps(&self) -> Result<(StridedTile, Vec<Steps>), String> {
        let mut tile = StridedTile { offsets: Vec::new(), sizes: Vec::new(), strides: Vec::new() };
        let mut all: Vec<Steps> = Vec::new();
        for (k, e) in self.results.iter().enumerate() {
            let wrong = |must: &str| {
                let found = self.named(&self.map.results[k]);
                format!("the index of dimension {k} of the operand must {must}, found {found}")
            };
            let (offset, terms) = self.offset(e).ok_or_else(|| wrong("go in equal steps"))?;
            all.push((offset, terms));
            owners(&all, self.counts.len())?;
            let (offset, terms) = &all[k];
            let least = self.end(terms, true).ok_or("an offset must fit in 64 bits, found a larger one")?;
            let found = self.gapless(terms).and_then(|(n, step)| Some((i64::try_from(n).ok()?, step)));
            let (n, step) = found.ok_or_else(|| wrong("leave no gap"))?;
            tile.offsets.push(offset.clone() + Expr::Const(least));
            tile.sizes.push(n);
            tile.strides.push(if n == 1 { 1 } else { step });
        }
        Ok((tile, all))
    }

    fn simplify(&mut self) {
        let mut form = Form::new(&self.domain);
        let values = self.limits.iter_mut().map(|limit| &mut limit.value);
        self.results.iter_mut().chain(values).for_each(|e| *e = form.simplify(e));
    }

    /// Drops each limit that the others imply.
    fn drop_implied(&mut self) {
        let place: Vec<usize> = (0..self.domain.vars.len()).collect();
        for k in (0..self.limits.len()).rev() {
            let Interval { lo, hi } = self.limits[k].within;
            let reach = Form::new(&self.domain).bounds(&self.limits[k].value);
            let above = WideInterval { lo: i128::from(hi) + 1, ..WideInterval::ALL };
            let below = WideInterval { hi: i128::from(lo) - 1, ..WideInterval::ALL };
            let never = |side: WideInterval| {
                let beyond = reach.meet(side);
                if beyond.lo > beyond.hi {
                    return true;
                }
                let Some(beyond) = beyond.narrow() else { return false };
                let others = self.limits.iter().enumerate().filter(|(other, _)| *other != k);
                let mut all: Vec<_> = others.map(|(_, limit)| (limit.value.clone(), limit.within)).collect();
                all.push((self.limits[k].value.clone(), beyond));
                let of = Expressions { constraints: &all.iter().collect::<Vec<_>>(), results: &[] };
                Points::new(&[], place.len(), place.clone(), &self.domain.vars, of).is_some_and(Points::has_no_point)
            };
            if [above, below].into_iter().all(never) {
                self.limits.remove(k);
            }
        }
    }

    /// A dimension of size 1 that is read only for one index: uses that index as its offset.
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

    /// Fixes a digit whose values a limit restricts to an interval, or an index that moves nothing.
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

    /// Splits a result into an offset, constant in the tile, and steps of the indices inside.
    fn offset(&self, e: &Expr) -> Option<Steps> {
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

    /// Splits an index in the tile into two digits, if a division does.
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

    /// An index from which a division takes whole digits, and the size of the lower digit.
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

    /// The text of an expression over the variables of the map.
    fn named(&self, e: &Expr) -> String {
        Named(e, &|v| self.map.name(v)).to_string()
    }
}

/// The dimension of the operand that each variable moves; an error if it moves two.
fn owners(parts: &[Steps], variables: usize) -> Result<Vec<Option<usize>>, String> {
    let mut owner: Vec<Option<usize>> = vec![None; variables];
    for (k, (_, terms)) in parts.iter().enumerate() {
        for (v, _) in terms {
            if let Some(other) = owner[*v].replace(k).filter(|other| *other != k) {
                return Err(format!(
                    "dimensions {other} and {k} of the operand must have different indices, found one that moves both"
                ));
            }
        }
    }
    Ok(owner)
}

/// Cuts off from a tile the elements that limits exclude.
struct Cutting<'a> {
    inside: &'a Inside<'a>,
    /// The sizes of the operand.
    sizes: &'a [i64],
    /// The offset and the steps of each dimension of the tile.
    parts: Vec<Steps>,
    /// The dimension that each variable moves.
    owner: Vec<Option<usize>>,
    /// Whether each dimension is already cut along only some of its variables.
    partly: Vec<bool>,
    form: Form,
}

/// A limit as an offset, constant in the tile, and the variables of the tile that move it.
struct Moving<'a> {
    limit: &'a Limit,
    /// Whether some value is below the interval of the limit.
    below: bool,
    /// Whether some value is above it.
    above: bool,
    base: Expr,
    own: Vec<(usize, i128)>,
    /// The distance between values.
    step: i64,
    /// The least value.
    first: Expr,
}

/// The first and last index read along a dimension, if limited.
type Ends = [Option<Expr>; 2];

impl<'a> Cutting<'a> {
    /// Cuts off the elements that a limit excludes. `None` if they are not at the ends of a dimension.
    fn cut(&mut self, limit: usize, needed: &mut Needed) -> Option<()> {
        let Some(moving) = self.moving(limit)? else { return Some(()) };
        let dims: Vec<(usize, i128)> = match moving.own.first() {
            Some((v, _)) => self.owner[*v].map(|k| (k, 1)).into_iter().collect(),
            // All or nothing: a dimension of one element exists or not, and may be at either edge.
            None => {
                let single = (0..self.parts.len()).filter(|k| self.parts[*k].1.is_empty());
                single.flat_map(|k| [(k, 1), (k, -1)]).collect()
            }
        };
        let mut best: Option<(usize, Ends)> = None;
        for (k, sign) in dims {
            let Some(ends) = self.ends(&moving, k, sign, needed.tile.strides[k])? else { continue };
            let outside = ends == [None, None];
            if best.is_none() || outside {
                best = Some((k, ends));
            }
            if outside {
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

    /// The offset and steps of a limit; `Some(None)` if it excludes nothing, `None` if it is no sum of offset and
    /// steps.
    fn moving(&mut self, number: usize) -> Option<Option<Moving<'a>>> {
        let inside = self.inside;
        let limit = &inside.limits[number];
        let Limit { value, within, edge, .. } = limit;
        let found = self.form.bounds(value);
        let (below, above) = (!edge && found.lo < within.lo.into(), i128::from(within.hi) < found.hi);
        if !below && !above {
            return Some(None);
        }
        let (mut base, own) = inside.offset(value)?;
        let (own, free): (Vec<_>, Vec<_>) = own.into_iter().partition(|(v, _)| self.owner[*v].is_some());
        // The first index is inside the result.
        if *edge && own.is_empty() {
            return Some(None);
        }
        if !free.is_empty() {
            // One of the indices that move nothing must satisfy the limit; the least does. No other limit may need
            // another one.
            let mut other = below;
            for (_, limit) in inside.limits.iter().enumerate().filter(|(k, _)| *k != number) {
                limit.value.for_each_var(&mut |v| other |= free.iter().any(|f| f.0 == v));
            }
            base = base + Expr::Const(inside.end(&free, true).filter(|_| !other)?);
        }
        let (_, step) = inside.gapless(&own)?;
        let first = base.clone() + Expr::Const(inside.end(&own, true)?);
        Some(Some(Moving { limit, below, above, base, own, step, first }))
    }

    /// The ends of dimension `k` of the tile under a limit, if the two move together; `sign` is the direction if the
    /// tile does not move the limit. `None` if the rest is no tile.
    fn ends(&mut self, m: &Moving, k: usize, sign: i128, stride: i64) -> Option<Option<Ends>> {
        let (offset, terms) = self.parts[k].clone();
        let (inside, within) = (self.inside, m.limit.within);
        // From one value to the next the result moves by a factor; the rest does not depend on it.
        let of = |v: usize| terms.iter().find(|term| term.0 == v).map_or(0, |term| term.1);
        let factor = m.own.first().map_or(sign, |(v, c)| of(*v).checked_div(c / i128::from(m.step)).unwrap_or(0));
        let moves = |(v, c): &(usize, i128)| (c / i128::from(m.step)).checked_mul(factor) == Some(of(*v));
        if factor == 0 || !m.own.iter().all(moves) {
            return Some(None);
        }
        let (moved, rest): (Vec<_>, Vec<_>) = terms.iter().copied().partition(|t| m.own.iter().any(|o| o.0 == t.0));
        if !rest.is_empty() && (!self.is_closed(m, &rest, factor)? || std::mem::replace(&mut self.partly[k], true)) {
            return None;
        }
        let factor = i64::try_from(factor).ok()?;
        let start = offset + Expr::Const(inside.end(&moved, factor > 0)?);
        let mut ends = [None, None];
        let sides = [(m.below, within.lo, true), (m.above, within.hi, false)];
        for (_, end, up) in sides.into_iter().filter(|side| side.0) {
            // The number of values before.
            let more = Expr::Const(if up { end.checked_add(m.step - 1)? } else { end }) + m.first.clone().times(-1);
            let last = up != (factor > 0);
            let rest = Expr::Const(inside.end(&rest, !last)?);
            let end = self.form.simplify(&(more.floor_div(m.step).times(factor) + start.clone() + rest));
            let i = self.form.interval(&end);
            // The next element is outside the operand.
            let outside = if last { i.lo.checked_add(stride)? >= self.sizes[k] } else { i.hi.checked_sub(stride)? < 0 };
            ends[usize::from(last)] = (!outside).then_some(end);
        }
        Some(Some(ends))
    }

    /// Whether the other variables of a dimension leave no gap after the cut, and some value remains.
    fn is_closed(&mut self, m: &Moving, rest: &[(usize, i128)], factor: i128) -> Option<bool> {
        let (inside, within) = (self.inside, m.limit.within);
        let (reach, fine) = inside.gapless(rest)?;
        let closed = factor % i128::from(fine) == 0 && (factor / i128::from(fine)).unsigned_abs() <= reach;
        let last = m.base.clone() + Expr::Const(inside.end(&m.own, false)?);
        let begun = m.limit.edge || !m.above || self.form.bounds(&m.first).hi <= within.hi.into();
        let there = begun && (!m.below || self.form.bounds(&last).lo >= within.lo.into());
        let wide = !m.below || !m.above || within.hi.checked_sub(within.lo)? >= m.step - 1;
        Some(closed && there && wide)
    }
}
