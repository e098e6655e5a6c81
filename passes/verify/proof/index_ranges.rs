//! Ranges of indices that a program reads.
//!
//! An access outside of its buffer has no meaning. So an index that the first program reads is in the range that keeps it below
//! the size of its dimension, and the second program may rely on that:
//!
//! ```text
//! tensor.extract %t[%k + 1, %j] of 100 x 64, with %k read at i      0 <= k(i) + 1 < 100 for all i: -1 <= k(i) < 99
//! ```
//!
//! Where an assertion fails, the access behind it may not be reached. Both programs end then, so all results may rely on the
//! ranges. What the second program accesses before its last assertion may not: there the ranges are those that the assertions before
//! the access say.

use crate::proof::follow::Proof;
use crate::proof::index_range::{IndexRange, Place};
use crate::proof::linear::{Linear, Shown, Space, Var};
use crate::proof::statements::{BlockId, Body};
use crate::proof::subscript::Subscript;
use std::collections::BTreeSet;

impl Proof<'_> {
    /// Finds what the accesses of the first program promise.
    pub(super) fn find_index_ranges(&mut self) {
        self.without_ranges = self.facts.clone();
        self.is_finding_ranges = true;
        for (block, index, size) in &self.programs[0].indexed {
            let found = self.index_range(*block, index, *size);
            self.index_ranges.extend(found.ok().flatten());
        }
        self.is_finding_ranges = false;
    }

    /// The range that an index below a size promises, in each iteration of its loops; none in loops that may have no
    /// iteration, or whose bounds are no constants.
    fn index_range(&mut self, block: BlockId, index: &Subscript, size: i64) -> Shown<Option<IndexRange>> {
        let chain = self.programs[0].counted_loops(block);
        let has_iterations = |body: &Body| match (&body.lower, &body.uppers[..]) {
            (Some(Subscript::Constant(lower)), [Subscript::Constant(upper)]) => lower < upper,
            _ => body.parent.is_none(),
        };
        if !self.around[0][block].iter().all(|block| has_iterations(&self.programs[0].blocks[*block])) {
            return Ok(None);
        }
        let place = self.iterations(0, &chain)?;
        let index = self.subscript(0, index, &Linear::default(), &place)?;
        let mut rest = self.space.normal(&index)?;
        let data: Vec<_> = rest.terms.iter().filter(|(var, _)| self.space.data_of(*var).is_some()).collect();
        let ([(var, times @ 1..)], Some(index)) =
            (&data[..], data.first().and_then(|(var, _)| self.space.data_of(*var)))
        else {
            return Ok(None);
        };
        rest.terms.remove(*var);
        let places = index
            .places
            .iter()
            .enumerate()
            .map(|(k, place)| beyond(&index.places[..k], place).or_else(|| dense(&self.space, place)));
        let places = places.collect::<Option<Vec<_>>>();
        let roots = |e: &Linear| e.terms.vars().map(|var| self.space.root_of(var)).collect::<BTreeSet<_>>();
        let is_first = |(k, place): &(usize, &Linear)| beyond(&index.places[..*k], place).is_none();
        let others = index.places.iter().enumerate().filter(is_first).map(|(_, place)| place);
        let mut once: Vec<Var> = others.chain([&rest]).flat_map(roots).collect();
        once.sort_unstable();
        // Every value of the rest comes with every place, and has all values of its digits.
        let is_free = once.windows(2).all(|pair| pair[0] != pair[1])
            && roots(&rest).iter().all(|root| has_all_values(&self.space, *root));
        let (low, high) = self.space.range(&rest)?;
        let range = (-low.div_euclid(*times), (size - 1 - high).div_euclid(*times) + 1);
        let found = places.filter(|_| is_free && range.0 < range.1);
        Ok(found.map(|places| IndexRange { term: index.term.clone(), places, range }))
    }

    /// The range of an index of data at these places, where one is promised.
    pub(super) fn range_of_index(&self, term: &str, places: &[Linear]) -> Shown<Option<(i64, i64)>> {
        let mut found: Option<(i64, i64)> = None;
        for known in self.index_ranges.iter().filter(|known| known.term == term && known.places.len() == places.len()) {
            let mut holds = true;
            for (known, place) in known.places.iter().zip(places) {
                holds &= match known {
                    Place::Beyond(k, more) => self.space.is_zero(&place.minus(&places[*k])?.add(-more)?)?,
                    Place::At(known) => self.space.is_zero(&place.minus(known)?)?,
                    Place::Any(low, end, step) => {
                        let (range, place) = (self.space.range(place)?, self.space.normal(place)?);
                        let is_one = place.terms.iter().all(|(_, a)| a % step == 0)
                            && place.constant.checked_sub(*low).is_some_and(|more| more % step == 0);
                        is_one && *low <= range.0 && range.1 < *end
                    }
                };
            }
            if holds {
                let (low, end) = found.unwrap_or(known.range);
                found = Some((low.max(known.range.0), end.min(known.range.1)));
            }
        }
        Ok(found.filter(|(low, end)| low < end))
    }
}

/// How much further a place is than an earlier one, where that is a number.
fn beyond(earlier: &[Linear], place: &Linear) -> Option<Place> {
    let more = |other: &Linear| place.minus(other).ok()?.as_constant();
    earlier.iter().enumerate().find_map(|(k, other)| Some(Place::Beyond(k, more(other)?)))
}

/// The values of a sum, where they are all multiples in a range: each factor is what the smaller ones come to.
fn dense(space: &Space, e: &Linear) -> Option<Place> {
    let mut terms: Vec<_> = e.terms.iter().collect();
    terms.sort_by_key(|(_, a)| *a);
    let step = terms.first().map_or(1, |(_, a)| *a);
    let (mut extent, mut low) = (step, e.constant);
    for (var, a) in terms {
        let (first, end) = space.range_of(var);
        if a != extent || a < 1 || !has_all_values(space, space.root_of(var)) {
            return None;
        }
        (extent, low) = (extent.checked_mul(end - first)?, low.checked_add(a.checked_mul(first)?)?);
    }
    Some(Place::Any(low, low.checked_add(extent)?, step))
}

/// Whether a variable has all values of its digits: one of data has some of them.
fn has_all_values(space: &Space, root: Var) -> bool {
    space.inexact(root).is_empty() && space.data_of(root).is_none()
}
