//! Folds: iterations of which each makes a value of what the one before made.

use crate::proof::follow::Proof;
use crate::proof::linear::{Linear, Shown, Undecided, Var, replaced, unproved};
use crate::proof::statements::{BlockId, Maker};
use crate::proof::value::{Carrier, Dim, Fold, Head, LoopPosition, Thunk};
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many iterations there are.
fn iterations(dims: &[Dim]) -> Shown<i64> {
    let count = dims.iter().try_fold(1i64, |count, dim| count.checked_mul(dim.extent));
    count.map_or_else(|| unproved("numbers beyond 64 bits"), Ok)
}

impl Proof<'_> {
    pub(super) fn equal_folds(&mut self, a: &Fold, b: &Fold) -> Shown<()> {
        let (m, n) = (iterations(&a.dims)?, iterations(&b.dims)?);
        if m == n {
            let digits = self.digits(&a.dims, &b.dims)?;
            self.before += 1;
            let before = self.before;
            let [x, y] = [(a, &digits.0), (b, &digits.1)]
                .map(|(fold, values)| self.iteration(fold, values, Thunk::Before(before)));
            self.equal(&x?, &y?)?;
            return self.equal(&a.first, &b.first);
        }
        let (long, short, swapped) = if m > n { (a, b, false) } else { (b, a, true) };
        let (more, less) = (m.max(n), m.min(n));
        let ordered = |x: Thunk, y: Thunk| if swapped { (y, x) } else { (x, y) };
        if more % less == 0 {
            let (space, known) = (self.space.mark(), self.memo.len());
            let found = self.grouped(long, short, more / less, swapped);
            if found.is_ok() {
                return found;
            }
            self.space.undo(space);
            self.memo.forget(known);
        }
        // The last iterations of the longer one are all of the shorter one.
        let (tail, rest) = self.cut(long, more - less)?;
        let tail = Fold { first: rest, ..tail };
        let (x, y) = ordered(Thunk::Fold(Box::new(tail)), Thunk::Fold(Box::new(short.clone())));
        self.equal(&x, &y)
    }

    /// Proves that each iteration of `short` is `times` ones of `long`.
    pub(super) fn grouped(&mut self, long: &Fold, short: &Fold, times: i64, swapped: bool) -> Shown<()> {
        let inner = Dim { var: self.space.var(times), extent: times };
        let outer: Vec<Dim> =
            short.dims.iter().map(|d| Dim { var: self.space.var(d.extent), extent: d.extent }).collect();
        let all: Vec<Dim> = outer.iter().copied().chain([inner]).collect();
        let (longs, alls) = self.digits(&long.dims, &all)?;
        self.before += 1;
        let before = Thunk::Before(self.before);
        // The variables of `outer` are sums of digits from here on, those of `inner` are iterations.
        let digits: Vec<Var> = alls.last().map(|e| e.terms.vars().rev().collect()).unwrap_or_default();
        let with = self.with_data(long.dims.iter().map(|d| d.var).zip(longs).collect())?;
        let mut dims: Vec<Dim> =
            digits.iter().map(|var| Dim { var: *var, extent: self.space.range_of(*var).1 }).collect();
        let factor = |var: &Var| alls.last().and_then(|e| e.terms.get(*var)).unwrap_or(0);
        dims.sort_by_key(|d| std::cmp::Reverse(factor(&d.var)));
        let group = Fold {
            dims,
            first: before.clone(),
            place: long.place.replaced(&with)?,
            lane: replaced(&long.lane, &with)?,
            ..long.clone()
        };
        let step = self.iteration(short, &alls[..outer.len()], before)?;
        let group = Thunk::Fold(Box::new(group));
        if swapped {
            self.equal(&step, &group)?
        } else {
            self.equal(&group, &step)?
        }
        if swapped { self.equal(&short.first, &long.first) } else { self.equal(&long.first, &short.first) }
    }

    /// Variables of which the iterations of both are sums, the same for the same iteration.
    pub(super) fn digits(&mut self, a: &[Dim], b: &[Dim]) -> Shown<(Vec<Linear>, Vec<Linear>)> {
        let mut values = [vec![Linear::default(); a.len()], vec![Linear::default(); b.len()]];
        let dims = [a, b];
        let mut left = [a.len(), b.len()];
        // Of the dimension at hand: how many iterations are not yet digits, and the factor of the next digit.
        let mut rest = [1i64, 1];
        let mut factor = [1i64, 1];
        loop {
            for side in 0..2 {
                while rest[side] == 1 && left[side] > 0 {
                    left[side] -= 1;
                    (rest[side], factor[side]) = (dims[side][left[side]].extent, 1);
                }
            }
            if rest == [1, 1] {
                return Ok((values[0].clone(), values[1].clone()));
            }
            let extent = rest[0].min(rest[1]);
            if extent <= 1 || rest[0] % extent != 0 || rest[1] % extent != 0 {
                return unproved("iterations that are cut differently");
            }
            let digit = Linear::var(self.space.var(extent));
            for side in 0..2 {
                let value = &mut values[side][left[side]];
                *value = value.plus(&digit.times(factor[side])?)?;
                rest[side] /= extent;
                factor[side] *= extent;
            }
        }
    }

    /// The result of the iteration at these values of the variables, from that of the one before.
    pub(super) fn iteration(&mut self, fold: &Fold, values: &[Linear], before: Thunk) -> Shown<Thunk> {
        let with = self.with_data(fold.dims.iter().map(|d| d.var).zip(values.iter().cloned()).collect())?;
        let mut place = fold.place.replaced(&with)?;
        let before = Rc::new(before);
        match &fold.carrier {
            Carrier::Value(block, k) => {
                place.carried.insert((*block, *k), (replaced(&fold.lane, &with)?, before));
            }
            Carrier::Element(buffer, address, blocks) => {
                place.kept.push((*buffer, replaced(address, &with)?, blocks.clone(), before));
            }
        }
        let (side, value) = (fold.side, fold.value);
        Ok(Thunk::Value { side, value, lane: replaced(&fold.lane, &with)?, place })
    }

    /// The last iteration, of what all before it made.
    pub(super) fn last_iteration(&mut self, fold: &Fold) -> Shown<Thunk> {
        let total = iterations(&fold.dims)?;
        let (last, rest) = self.cut(fold, total - 1)?;
        let values: Vec<Linear> = last.dims.iter().map(|_| Linear::constant(0)).collect();
        self.iteration(&last, &values, rest)
    }

    /// The iterations from number `at` on, and those before.
    pub(super) fn cut(&mut self, fold: &Fold, at: i64) -> Shown<(Fold, Thunk)> {
        if at == 0 {
            return Ok((fold.clone(), fold.first.clone()));
        }
        let Some((dim, others)) = fold.dims.split_first() else { return unproved("iterations that end inside of one") };
        let inner = iterations(others)?;
        let (whole, part) = (at / inner, at % inner);
        // `whole` iterations of the first dimension, then a part of one more.
        let some = |proof: &mut Self, from: i64, extent: i64| -> Shown<Fold> {
            let var = proof.space.var(extent);
            let with = proof.with_data(BTreeMap::from([(dim.var, Linear::var(var).add(from)?)]))?;
            let dims = std::iter::once(Dim { var, extent }).chain(others.iter().copied()).collect();
            let carrier = match &fold.carrier {
                Carrier::Element(buffer, address, blocks) => {
                    Carrier::Element(*buffer, replaced(address, &with)?, blocks.clone())
                }
                other => other.clone(),
            };
            Ok(Fold {
                dims,
                place: fold.place.replaced(&with)?,
                lane: replaced(&fold.lane, &with)?,
                carrier,
                ..fold.clone()
            })
        };
        let before = match whole {
            0 => fold.first.clone(),
            _ => Thunk::Fold(Box::new(some(self, 0, whole)?)),
        };
        if part == 0 {
            let tail = some(self, whole, dim.extent - whole)?;
            return Ok((tail, before));
        }
        if whole + 1 != dim.extent {
            return unproved("iterations that end inside of one");
        }
        let mut one = some(self, whole, 1)?;
        let with = self.with_data(BTreeMap::from([(one.dims[0].var, Linear::constant(0))]))?;
        one.place = one.place.replaced(&with)?;
        one.dims.remove(0);
        one.first = before;
        self.cut(&one, part)
    }

    /// How often a loop runs here.
    pub(super) fn trips(&mut self, side: usize, block: BlockId, place: &LoopPosition) -> Shown<i64> {
        let body = &self.programs[side].blocks[block];
        let mut least: Option<Linear> = None;
        for upper in &body.uppers {
            let upper = self.subscript(side, upper, &Linear::default(), place)?;
            least = Some(match least {
                Some(least) if self.space.at_least_zero(&upper.minus(&least)?)? => least,
                _ => upper,
            });
        }
        let lower = self.lower(side, block, place)?;
        let least = self.space.normal(&least.unwrap_or_default().minus(&lower)?)?;
        let Some(upper) = least.as_constant() else {
            let (low, high) = self.space.range(&least)?;
            // One case for each number of iterations.
            return Err(self
                .space
                .at_least_zero(&least.add(-low - (high - low + 1) / 2)?)
                .err()
                .unwrap_or_else(|| Undecided::Unproved("a loop that runs how often is not known".to_owned())));
        };
        let trips = upper.saturating_add(body.step - 1).div_euclid(body.step).max(0);
        self.note_trips(side, block, place, trips);
        Ok(trips)
    }

    /// The result of a loop, as a fold over its iterations.
    pub(super) fn result(
        &mut self,
        side: usize,
        block: BlockId,
        k: usize,
        lane: Linear,
        place: &LoopPosition,
    ) -> Shown<Thunk> {
        let body = &self.programs[side].blocks[block];
        let (first, yielded) = body.carried[k];
        let first = Thunk::Value { side, value: first, lane: lane.clone(), place: place.clone() };
        match self.trips(side, block, place)? {
            0 => Ok(first),
            extent => {
                let carrier = Carrier::Value(block, k);
                let known = self.memo.iterations((side, block), place).filter(|dim| dim.extent == extent);
                let dim = match known {
                    Some(dim) => dim,
                    None => {
                        let dim = Dim { var: self.space.var(extent), extent };
                        self.memo.note_iterations((side, block), place.clone(), dim);
                        dim
                    }
                };
                let lower = self.lower(side, block, place)?;
                let mut place = place.clone();
                place.at.insert(block, Linear::var(dim.var).times(body.step)?.plus(&lower)?);
                let dims = vec![dim];
                self.flat(Fold { side, dims, first, value: yielded, lane, place, carrier })
            }
        }
    }

    /// The fold with the iterations of a fold inside of it, where each of its iterations is one.
    pub(super) fn flat(&mut self, fold: Fold) -> Shown<Thunk> {
        let Maker::Result(block, k) = self.programs[fold.side].values[fold.value].0 else {
            return Ok(Thunk::Fold(Box::new(fold)));
        };
        self.before += 1;
        let before = self.before;
        let values: Vec<Linear> = fold.dims.iter().map(|d| Linear::var(d.var)).collect();
        let Thunk::Value { place, lane, .. } = self.iteration(&fold, &values, Thunk::Before(before))? else {
            unreachable!()
        };
        let inner = match self.result(fold.side, block, k, lane, &place) {
            // The number of inner iterations is another from there on.
            Err(Undecided::Split(var, at)) if fold.dims.first().is_some_and(|d| d.var == var) => {
                let inner = iterations(&fold.dims[1..])?;
                let (tail, rest) = self.cut(&fold, at * inner)?;
                let Thunk::Fold(rest) = rest else { return unproved("a fold of nothing") };
                let rest = self.flat(*rest)?;
                return self.flat(Fold { first: rest, ..tail });
            }
            inner => inner?,
        };
        let Thunk::Fold(inner) = inner else { return Ok(Thunk::Fold(Box::new(fold))) };
        match self.head(inner.first.clone()) {
            Ok(Head::Before(k)) if k == before => {
                let mut place = inner.place.clone();
                // What the outer loop carries is what the inner one begins with, and nothing else.
                match &fold.carrier {
                    Carrier::Value(block, k) => {
                        place.carried.remove(&(*block, *k));
                    }
                    Carrier::Element(..) => {
                        place.kept.pop();
                    }
                }
                let dims = fold.dims.iter().chain(&inner.dims).copied().collect();
                Ok(Thunk::Fold(Box::new(Fold { dims, first: fold.first, place, ..*inner })))
            }
            _ => Ok(Thunk::Fold(Box::new(fold))),
        }
    }
}
