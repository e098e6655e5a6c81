//! Lanes of vectors that are lanes of other vectors.

use crate::proof::follow::Proof;
use crate::proof::linear::{Linear, Shown, Space, unproved};
use crate::proof::subscript::ValueId;
use std::collections::BTreeMap;

/// A lane of a value.
type Source = (ValueId, i64);

/// The source lane of each lane `size * q + r`, for some `q` and `r`: that at `q = r = 0`, and how many further it is
/// for each `q` and each `r`.
struct Pattern {
    size: usize,
    first: Source,
    steps: [i64; 2],
}

impl Pattern {
    fn source(&self, space: &mut Space, lane: &Linear) -> Shown<(ValueId, Linear)> {
        let ((value, first), [across, along]) = (self.first, self.steps);
        if across == self.size as i64 * along {
            return Ok((value, lane.times(along)?.add(first)?));
        }
        let (q, r) = space.divide(lane, self.size as i64)?;
        Ok((value, q.times(across)?.plus(&r.times(along)?)?.add(first)?))
    }
}

/// The pattern of lanes, where they have one.
fn pattern(lanes: &[(usize, Source)], size: usize) -> Option<Pattern> {
    let (k, (value, lane)) = *lanes.first()?;
    let (q, r) = (k / size, k % size);
    let step = |other: Option<&(usize, Source)>| other.map_or(0, |(_, (_, next))| next - lane);
    let across = step(lanes.iter().find(|(k, _)| (k / size, k % size) == (q + 1, r)));
    let along = step(lanes.iter().find(|(k, _)| (k / size, k % size) == (q, r + 1)));
    let first = lane - across * q as i64 - along * r as i64;
    let is_next = |(k, source): &(usize, Source)| {
        *source == (value, first + across * (k / size) as i64 + along * (k % size) as i64)
    };
    lanes.iter().all(is_next).then_some(Pattern { size, first: (value, first), steps: [across, along] })
}

impl Proof<'_> {
    /// The lane of a value that a lane is. Where its number is another expression for some of the lanes, these are cases: as few
    /// as one digit of the lane makes.
    pub(super) fn source_of(&mut self, sources: &[Source], lane: &Linear) -> Shown<(ValueId, Linear)> {
        let (low, high) = self.space.range(lane)?;
        let range = usize::try_from(low).ok().zip(usize::try_from(high).ok());
        let Some((first, part)) = range.and_then(|(low, high)| Some((low, sources.get(low..=high)?))) else {
            return unproved("a lane that is not there");
        };
        let lanes: Vec<(usize, Source)> = (first..).zip(part.iter().copied()).collect();
        let sizes = || std::iter::successors(Some(1), |size| Some(size * 2)).take_while(|size| *size <= sources.len());
        if let Some(pattern) = sizes().find_map(|size| pattern(&lanes, size)) {
            return pattern.source(&mut self.space, lane);
        }
        let digits = sizes().flat_map(|size| [(size, true), (size, false)]);
        let cases = digits.filter_map(|(size, is_outer)| Some((Cases::new(&lanes, size, is_outer)?, size, is_outer)));
        let Some((cases, size, is_outer)) = cases.min_by_key(|(cases, ..)| cases.0.len()) else {
            return unproved("lanes of which each is another one");
        };
        let (q, r) = self.space.divide(lane, size as i64)?;
        let digit = self.one(if is_outer { &q } else { &r })?;
        match cases.0.get(&digit) {
            Some(pattern) => pattern.source(&mut self.space, lane),
            None => unproved("a lane that is not there"),
        }
    }
}

/// The patterns of lanes for each value of one digit of their number.
struct Cases(BTreeMap<i64, Pattern>);

impl Cases {
    fn new(lanes: &[(usize, Source)], size: usize, is_outer: bool) -> Option<Cases> {
        let mut parts: BTreeMap<i64, Vec<(usize, Source)>> = BTreeMap::new();
        for (k, source) in lanes {
            let digit = if is_outer { k / size } else { k % size };
            parts.entry(digit as i64).or_default().push((*k, *source));
        }
        let patterns = parts.into_iter().map(|(digit, part)| Some((digit, pattern(&part, size)?)));
        patterns.collect::<Option<_>>().map(Cases)
    }
}
