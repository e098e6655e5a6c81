//! Tiles of a result become tiles of what it is made of.
//!
//! A tile is a box with steps: rows `8*i` to `8*i + 7` of the result of a matrix product need the same rows of the left
//! operand, with all columns, because the contracted index is a range variable that takes all its values. A tile of 16
//! elements of `reshape [4,8] -> [32]` that begins at `16*i` is a tile of 2 rows and 8 columns that begins at
//! `(2*i, 0)`: its index falls into two digits, and each dimension of the operand takes one of them.
//!
//! The rule: with the tile's index put into the map, each result must be an offset plus a sum of products of variables
//! that leaves no gap, and no two results may share a variable. What the map's constraints leave out must be what lies
//! outside of the operand, so that the tile is the same with its edge cut off; else the reason says which constraint
//! it is.

use super::count::{gapless, linear};
use super::{Access, Mapped};
use crate::expr::{Expr, Named};
use crate::map::Kind;
use crate::simplify::{Domain, Form, Interval};
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
}

/// How often an index is split into digits.
const SPLITS: usize = 8;

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
struct Inside {
    domain: Domain,
    /// Whether each variable counts inside.
    counts: Vec<bool>,
    results: Vec<Expr>,
    /// What is left out, as expressions and where they lie.
    constraints: Vec<(Expr, Interval)>,
    /// The same, of what lies outside of the result.
    edges: Vec<(Expr, Interval)>,
}

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
        let put = |e: &Expr| e.substitute(&by);
        let mut constraints: Vec<(Expr, Interval)> = map.domain.constraints.iter().map(|(e, i)| (put(e), *i)).collect();
        let within = (0..rank).map(|k| (by[k].clone(), map.domain.vars[k]));
        let (whole, part): (Vec<_>, Vec<_>) =
            within.zip(from).partition(|((_, i), n)| i.lo == 0 && i.hi.checked_add(1) == Some(**n));
        constraints.extend(part.into_iter().map(|(c, _)| c));
        let mut counts = vec![false; given];
        counts.resize(vars.len(), true);
        let inside = Inside {
            domain: Domain { vars, constraints: Vec::new() },
            counts,
            results: map.results.iter().map(put).collect(),
            constraints,
            edges: whole.into_iter().map(|(c, _)| c).collect(),
        };
        if tile.sizes.contains(&0) {
            let none = Tile {
                offsets: vec![Expr::Const(0); sizes.len()],
                sizes: vec![0; sizes.len()],
                strides: vec![1; sizes.len()],
            };
            return Ok(Ok(Needed { tile: none, cut: false }));
        }
        Ok(inside.tile(sizes))
    }
}

impl Inside {
    fn tile(mut self, sizes: &[i64]) -> Result<Needed, String> {
        for _ in 0..SPLITS {
            let mut form = Form::new(&self.domain);
            self.results = self.results.iter().map(|e| form.simplify(e)).collect();
            if !self.split() {
                break;
            }
        }
        let mut tile = Tile { offsets: Vec::new(), sizes: Vec::new(), strides: Vec::new() };
        let mut owner: Vec<Option<usize>> = vec![None; self.counts.len()];
        for (k, e) in self.results.iter().enumerate() {
            let (offset, terms) = self.offset(e).ok_or_else(|| format!("dimension {k} is {}", self.named(e)))?;
            for (v, _) in &terms {
                if let Some(other) = owner[*v].replace(k).filter(|other| *other != k) {
                    return Err(format!("dimensions {other} and {k} move together"));
                }
            }
            let count = |v: usize| {
                let i = self.domain.vars[v];
                u128::try_from(i128::from(i.hi) - i128::from(i.lo) + 1).unwrap_or(0)
            };
            // The least element is where terms that count down are at their end.
            let mut least = offset;
            for (v, c) in &terms {
                let i = self.domain.vars[*v];
                let end = c.checked_mul(if *c > 0 { i.lo } else { i.hi }.into()).and_then(|x| i64::try_from(x).ok());
                least = least + Expr::Const(end.ok_or("an offset does not fit in 64 bits")?);
            }
            let all = terms.iter().map(|(v, c)| (*c, count(*v))).collect();
            let found = gapless(all).and_then(|(n, step)| i64::try_from(n).ok().zip(i64::try_from(step).ok()));
            let (n, step) = found.ok_or_else(|| format!("dimension {k} has gaps: {}", self.named(e)))?;
            tile.offsets.push(least);
            tile.sizes.push(n);
            tile.strides.push(if n == 1 { 1 } else { step });
        }
        let cut = self.cut(sizes)?;
        let mut form = Form::new(&self.domain);
        tile.offsets = tile.offsets.iter().map(|e| form.simplify(e)).collect();
        Ok(Needed { tile, cut })
    }

    /// Whether some of the tile is left out; the reason where that is not just what lies outside of the operand.
    fn cut(&self, sizes: &[i64]) -> Result<bool, String> {
        let mut form = Form::new(&self.domain);
        let mut cut = false;
        let mut moves = vec![false; self.counts.len()];
        self.results.iter().for_each(|e| e.for_each_var(&mut |v| moves[v] = self.counts[v]));
        // A place that is not there in the tile, but changes nothing, is not missed.
        let matters = |e: &Expr| {
            let mut matters = false;
            e.for_each_var(&mut |v| matters |= moves[v]);
            matters
        };
        for (e, i) in self.constraints.iter().chain(self.edges.iter().filter(|c| matters(&c.0))) {
            let found = form.interval(e);
            let (below, above) = (found.lo < i.lo, i.hi < found.hi);
            if !below && !above {
                continue;
            }
            // A result but for a constant, and the ends are those of the operand.
            let edge = self.results.iter().zip(sizes).any(|(result, n)| {
                let shift = form.interval(&(e.clone() + result.clone().times(-1)));
                let sum = form.interval(&(e.clone() + result.clone()));
                let end = |end: i64, bound: i64| end.checked_sub(shift.lo) == Some(bound);
                let turned = |end: i64, bound: i64| sum.lo.checked_sub(end) == Some(bound);
                let (first, last) = (0, n.saturating_sub(1));
                shift.lo == shift.hi && (!below || end(i.lo, first)) && (!above || end(i.hi, last))
                    || sum.lo == sum.hi && (!below || turned(i.lo, last)) && (!above || turned(i.hi, first))
            });
            if !edge {
                return Err(format!("it is read only where {} is in {i}", self.named(e)));
            }
            cut = true;
        }
        Ok(cut)
    }

    /// A result as what the tile's place does not change, and products of the places inside.
    #[allow(clippy::type_complexity, reason = "an offset and its terms")]
    fn offset(&self, e: &Expr) -> Option<(Expr, Vec<(usize, i128)>)> {
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
        let Some((v, low)) = self.results.iter().find_map(|e| self.digit(e)) else { return false };
        let high = self.domain.vars.len();
        let n = self.domain.vars[v].hi.saturating_add(1);
        self.domain.vars[v] = Interval::new(0, low - 1);
        self.domain.vars.push(Interval::new(0, n / low - 1));
        self.counts.push(true);
        let mut by: Vec<Expr> = (0..high).map(Expr::Var).collect();
        by[v] = Expr::Var(high).times(low) + Expr::Var(v);
        let said = self.constraints.iter_mut().chain(&mut self.edges).map(|c| &mut c.0);
        let exprs = self.results.iter_mut().chain(said);
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

    /// An expression with names: those that were given and of run time are `v`, places in the tile `t`.
    fn named(&self, e: &Expr) -> String {
        let first = self.counts.iter().position(|inside| *inside).unwrap_or(self.counts.len());
        let name = |v: usize| if self.counts[v] { format!("t{}", v - first) } else { format!("v{v}") };
        Named(e, &name).to_string()
    }
}
