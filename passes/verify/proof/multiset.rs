//! Sums whose terms may come in any order, as multisets of terms.
//!
//! The result of an associative and commutative operation on one term for each point of a box is a [`Family`]: the
//! term's shape, and in it the addresses of elements and other indices as sums of multiples of the point's coordinates.
//! Loops, lanes, several accumulators and the iterations that are left at the end make many families; boxes that lie
//! next to each other are one box, so each multiset has one form, as far as these rules go:
//!
//! ```text
//! sum of x[i, 32 q + 8 u + l]   q < 127, for each u < 4 and l < 8       is   x[i, 32 q + r]   q < 127, r < 32
//! sum of x[i, 32 q + r]         q < 127, r < 32                         is   x[i, k]          k < 4064
//! sum of x[i, k], x[i, 4064]    k < 4064                                is   x[i, k]          k < 4065
//! ```
//!
//! Not promised: that two forms of a multiset are found to be one.

use crate::proof::linear::{COMPARISONS_OF_A_LOOK, Linear, Looks, Shown, unproved};
use crate::reader::calc::Calc;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The greatest number of families whose boxes are compared two by two.
const PAIRS: usize = 200;

/// An index in a term.
#[derive(Clone, Debug, PartialEq)]
pub struct TermIndex {
    /// How much it grows along each dimension of the box.
    pub steps: Vec<i64>,
    /// At the point 0.
    pub first: Linear,
}

/// One term for each point of a box.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The sizes of the box.
    pub extents: Vec<i64>,
    /// The operations of the term, without its indices.
    pub shape: Rc<str>,
    /// The indices, in the order in which they are in the term.
    pub places: Vec<TermIndex>,
}

impl Family {
    /// Counts what it is made of.
    fn look(&self, looks: &mut Looks) -> Shown<()> {
        looks.take_indices(self.places.len() * (1 + self.extents.len()))
    }

    fn steps_along(&self, dim: usize) -> Vec<i64> {
        self.places.iter().map(|place| place.steps[dim]).collect()
    }

    fn remove(&mut self, dim: usize) {
        self.extents.remove(dim);
        self.places.iter_mut().for_each(|place| {
            place.steps.remove(dim);
        });
    }

    /// With one more dimension.
    fn with(&self, extent: i64, steps: &[i64]) -> Family {
        let mut family = self.clone();
        family.extents.push(extent);
        family.places.iter_mut().zip(steps).for_each(|(place, step)| place.steps.push(*step));
        family
    }

    /// The same terms, with dimensions that go up in their order and are as long as they can be.
    fn plain(mut self, idempotent: bool) -> Shown<Family> {
        for dim in (0..self.extents.len()).rev() {
            let steps = self.steps_along(dim);
            let extent = self.extents[dim];
            let Some(first) = steps.iter().find(|step| **step != 0).copied() else {
                // Each point has the same term.
                if extent == 1 || idempotent {
                    self.remove(dim);
                }
                continue;
            };
            if extent == 1 {
                self.remove(dim);
                continue;
            }
            if first < 0 {
                for place in &mut self.places {
                    place.first = place.first.plus(&Linear::constant(extent - 1).times(place.steps[dim])?)?;
                    place.steps[dim] = product(place.steps[dim], -1)?;
                }
            }
        }
        let mut order: Vec<usize> = (0..self.extents.len()).collect();
        order.sort_by_key(|dim| std::cmp::Reverse((self.steps_along(*dim), self.extents[*dim])));
        self.extents = order.iter().map(|dim| self.extents[*dim]).collect();
        for place in &mut self.places {
            place.steps = order.iter().map(|dim| place.steps[*dim]).collect();
        }
        let mut dim = 1;
        while dim < self.extents.len() {
            let (above, below, extent) = (self.steps_along(dim - 1), self.steps_along(dim), self.extents[dim]);
            if above.iter().zip(&below).all(|(a, b)| b.checked_mul(extent) == Some(*a)) {
                self.extents[dim] = product(self.extents[dim - 1], extent)?;
                self.remove(dim - 1);
                dim = dim.max(2) - 1;
            } else {
                dim += 1;
            }
        }
        Ok(self)
    }

    /// The properties that families must share if a row of them is one family.
    fn kind(&self) -> (Rc<str>, Vec<i64>, Vec<Vec<i64>>, Vec<Linear>) {
        let rest = |place: &TermIndex| Linear { constant: 0, ..place.first.clone() };
        let steps = self.places.iter().map(|place| place.steps.clone()).collect();
        (self.shape.clone(), self.extents.clone(), steps, self.places.iter().map(rest).collect())
    }

    fn constants(&self) -> Vec<i64> {
        self.places.iter().map(|place| place.first.constant).collect()
    }

    /// A key by which equal lists of families are in the same order.
    fn order(&self) -> (Rc<str>, Vec<i64>, String) {
        (self.shape.clone(), self.extents.clone(), format!("{:?}", self.places))
    }

    /// The box of both, where each point of the other lies half a step behind one of its own; the last one may have none.
    fn interleaved(&self, other: &Family, dim: usize) -> Option<Family> {
        let (n, m) = (self.extents[dim], other.extents[dim]);
        let same = (0..self.extents.len()).all(|d| d == dim || self.extents[d] == other.extents[d]);
        let mut both = self.clone();
        both.extents[dim] = n.checked_add(m)?;
        let half = |(place, next): (&mut TermIndex, &TermIndex)| {
            let half = place.steps[dim] / 2;
            let is = place.steps[dim] % 2 == 0 && place.first.add(half).is_ok_and(|first| first == next.first);
            place.steps[dim] = half;
            is
        };
        let moves = self.steps_along(dim).iter().any(|step| *step != 0);
        (same && moves && (n == m || n - 1 == m) && both.places.iter_mut().zip(&other.places).all(half)).then_some(both)
    }

    /// The box of both, where that of the other lies behind its own along one dimension. Where one is longer in one other
    /// dimension, also what is left of it, if the box of both is larger than each.
    fn joined(&self, next: &Family) -> Option<(Family, Option<Family>)> {
        let (a, b) = (self, next);
        if a.shape != b.shape || a.extents.len().abs_diff(b.extents.len()) > 1 {
            return None;
        }
        // A point is a box of any dimension.
        let dims = a.extents.len().max(b.extents.len());
        for extra in 0..dims {
            let wide = |family: &Family, other: &Family| {
                let mut family = family.clone();
                if family.extents.len() < dims {
                    family.extents.insert(extra, 1);
                    let steps = other.steps_along(extra);
                    family.places.iter_mut().zip(steps).for_each(|(place, step)| place.steps.insert(extra, step));
                }
                family
            };
            let (a, b) = (wide(a, b), wide(b, a));
            if a.places.iter().zip(&b.places).any(|(x, y)| x.steps != y.steps) {
                return None;
            }
            if let Some(both) = (0..dims).find_map(|dim| a.interleaved(&b, dim)) {
                return Some((both, None));
            }
            for along in 0..dims {
                let behind = a.places.iter().zip(&b.places).all(|(x, y)| {
                    let end = x.steps[along].checked_mul(a.extents[along]).and_then(|step| x.first.add(step).ok());
                    end.as_ref() == Some(&y.first)
                });
                if !behind || a.steps_along(along).iter().all(|step| *step == 0) {
                    continue;
                }
                let mut others = (0..dims).filter(|d| *d != along && a.extents[*d] != b.extents[*d]);
                let mut both = a.clone();
                both.extents[along] = both.extents[along].checked_add(b.extents[along])?;
                match (others.next(), others.next()) {
                    (None, _) => return Some((both, None)),
                    (Some(longer), None) => {
                        let (long, short) = if a.extents[longer] > b.extents[longer] { (&a, &b) } else { (&b, &a) };
                        let least = short.extents[longer];
                        both.extents[longer] = least;
                        let mut rest = long.clone();
                        rest.extents[longer] -= least;
                        for place in &mut rest.places {
                            place.first = place.first.add(place.steps[longer].checked_mul(least)?).ok()?;
                        }
                        let size = |family: &Family| family.extents.iter().try_fold(1i64, |n, d| n.checked_mul(*d));
                        if size(&both)? > size(&a)?.max(size(&b)?) {
                            return Some((both, Some(rest)));
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }
}

fn product(a: i64, b: i64) -> Shown<i64> {
    a.checked_mul(b).map_or_else(|| unproved("numbers beyond 64 bits"), Ok)
}

/// The same multiset, with families as large as they can be; of an operation for which `x op x = x`, a set.
///
/// # Errors
/// Numbers beyond 64 bits, and more steps than there are `looks`.
pub fn merged(families: Vec<Family>, idempotent: bool, looks: &mut Looks) -> Shown<Vec<Family>> {
    let mut all = families;
    loop {
        all = sorted(all, idempotent, looks)?;
        let count = all.len();
        all = rows(all)?;
        if all.len() == count && (count > PAIRS || !neighbours(&mut all, idempotent, looks)?) {
            return Ok(all);
        }
    }
}

/// The same multiset, each family by itself in the form that it has in all.
///
/// # Errors
/// Numbers beyond 64 bits, and more steps than there are `looks`.
pub fn sorted(families: Vec<Family>, idempotent: bool, looks: &mut Looks) -> Shown<Vec<Family>> {
    families.iter().try_for_each(|family| family.look(looks))?;
    let mut all = families.into_iter().map(|family| family.plain(idempotent)).collect::<Shown<Vec<_>>>()?;
    all.sort_by_cached_key(Family::order);
    if idempotent {
        all.dedup();
    }
    Ok(all)
}

/// Families that differ by multiples of one difference become one.
fn rows(families: Vec<Family>) -> Shown<Vec<Family>> {
    type RowKey = (Rc<str>, Vec<i64>, Vec<Vec<i64>>, String);
    let mut groups: BTreeMap<RowKey, Vec<Family>> = BTreeMap::new();
    for family in families {
        let (shape, extents, steps, rest) = family.kind();
        groups.entry((shape, extents, steps, format!("{rest:?}"))).or_default().push(family);
    }
    let mut all = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by_cached_key(Family::constants);
        let constants: Vec<Vec<i64>> = group.iter().map(Family::constants).collect();
        let minus = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a.checked_sub(*b)).collect::<Option<Vec<_>>>();
        let difference = constants
            .windows(2)
            .filter_map(|pair| minus(&pair[1], &pair[0]))
            .filter(|difference| difference.iter().any(|n| *n != 0))
            .min();
        let distinct = constants.windows(2).all(|pair| pair[0] != pair[1]);
        let (Some(difference), true) = (difference, distinct) else {
            all.extend(group);
            continue;
        };
        let known: BTreeSet<&Vec<i64>> = constants.iter().collect();
        let next = |of: &[i64]| of.iter().zip(&difference).map(|(n, d)| n.checked_add(*d)).collect::<Option<Vec<_>>>();
        let before = |of: &[i64]| minus(of, &difference);
        for (family, first) in group.iter().zip(&constants) {
            if before(first).is_some_and(|before| known.contains(&before)) {
                continue;
            }
            let (mut extent, mut last) = (1, first.clone());
            while let Some(after) = next(&last).filter(|after| known.contains(after)) {
                (extent, last) = (extent + 1, after);
            }
            all.push(family.with(extent, &difference).plain(false)?);
        }
    }
    Ok(all)
}

/// Two families whose boxes lie next to each other become one, and perhaps a smaller one; whether there were any. The sum of
/// the squares of their sizes becomes larger, so there is an end.
fn neighbours(families: &mut Vec<Family>, idempotent: bool, looks: &mut Looks) -> Shown<bool> {
    for whole in [true, false] {
        for a in 0..families.len() {
            families[a].look(looks)?;
            looks.take(families.len() / COMPARISONS_OF_A_LOOK)?;
            for b in 0..families.len() {
                let Some((both, rest)) = families[a].joined(&families[b]).filter(|_| a != b) else { continue };
                if whole && rest.is_some() {
                    continue;
                }
                families[a] = both.plain(idempotent)?;
                families.remove(b);
                families.extend(rest.map(|rest| rest.plain(idempotent)).transpose()?);
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a term that is there twice is as one.
pub fn is_idempotent(calc: Calc) -> bool {
    use Calc::*;
    matches!(calc, And | Or | MinS | MaxS | MinU | MaxU | Maximum | Minimum | MaxNum | MinNum)
}
