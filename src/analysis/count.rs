//! Counts of the elements read and of the reads.
//!
//! A transposed and a plain read of the same 9×9 tensor read all 81 elements, 162 times. The map
//! `(d0)[s0] -> (d0 * 2 + s0)` with `d0` in `[0, 3]` and `s0` in `[0, 2]` reads 9 elements in 12 reads.
//!
//! Variables that share no result and no constraint are independent, so a map splits into parts, and its counts are
//! products. A part is counted by structure if it is a bijection or a sum without gaps; else by the formulas of
//! [`super::image`]; else by enumeration of up to [`COUNTED`] points; else only bounds are known. A run-time variable
//! has one value for the whole tensor, or, if its source depends on the index, one for each element. Counts that depend
//! on values are bounds.

use super::access::{Access, Mapped, RunTime};
use super::amount::{Count, Usage};
use super::image::{self, Expressions, NOWHERE, Points};
use super::linear::{gapless, linear};
use crate::expr::Expr;
use crate::expr::cost;
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::{IndexingMap, Kind};
use crate::maps::simplify::Form;
use std::collections::{BTreeMap, HashSet};

/// The limit on enumerated points; lower for long maps.
pub const COUNTED: u128 = 1 << 16;

/// The limit on points of several maps for enumeration before formulas.
const FEW: u128 = 64;

impl<S: Clone + PartialEq> Access<S> {
    /// The use of a tensor of these sizes, the target of the maps.
    ///
    /// If elements come from other devices, the tensors and reads of all devices are counted.
    pub fn usage(&self, sizes: &[i64]) -> Usage {
        if let Some(n) = self.devices()
            && self.maps.iter().any(|m| m.devices.is_none())
        {
            let maps = self.maps.iter().map(|m| m.across(n)).collect();
            return Access { maps, unknown: self.unknown.clone() }.usage(sizes);
        }
        let sizes = &self.devices().into_iter().chain(sizes.iter().copied()).collect::<Vec<_>>();
        let size = sizes.iter().map(|n| u128::try_from(*n).unwrap_or(0)).fold(1, u128::saturating_mul);
        let counts: Vec<(Count, Count)> = self.maps.iter().map(counted).collect();
        let mut reads = counts.iter().fold(Count::exactly(0), |all, c| all.plus(c.0));
        let sum = counts.iter().fold(Count::exactly(0), |all, c| all.plus(c.1)).at_most(size);
        let one = counts.iter().map(|c| c.1.least).max().unwrap_or(0).min(size);
        let mut elements = match counts.len() {
            0 | 1 => sum,
            _ if one == size => Count::exactly(size),
            _ => {
                let (maps, common) = apart(&self.maps);
                match together(&maps) {
                    Some((images, points)) => {
                        reads = points.times(common.0);
                        images.times(common.1).at_most(size)
                    }
                    None => Count { least: one, ..sum },
                }
            }
        };
        if !self.is_known() {
            elements.most = Some(size);
            reads.most = None;
        }
        Usage { size, elements, reads }
    }
}

/// Whether the value of a run-time variable is the same for all indices.
fn is_fixed<S>(map: &IndexingMap, r: &RunTime<S>) -> bool {
    let mut fixed = r.clamped;
    r.element.iter().for_each(|e| e.for_each_var(&mut |v| fixed &= map.kind(v) == Kind::RunTime));
    fixed
}

/// The number of points of a map and of the elements they lead to, for fixed run-time variables.
fn counted<S>(mapped: &Mapped<S>) -> (Count, Count) {
    let map = &mapped.map;
    let first = map.dims + map.ranges;
    // A constraint without variables belongs to no part.
    let fails = |(e, i): &(Expr, Interval)| e.evaluate(&[]).is_some_and(|x| x < i.lo || i.hi < x);
    if map.domain.constraints.iter().any(fails) {
        return (Count::exactly(0), Count::exactly(0));
    }
    parts(map).iter().fold((Count::exactly(1), Count::exactly(1)), |(points, elements), part| {
        let late: Vec<usize> = part.vars.iter().copied().filter(|v| *v >= first).collect();
        let run_time = |v: &usize| &mapped.run_time[v - first];
        let fixed = late.iter().all(|v| is_fixed(map, run_time(v)));
        // All values that the variables may have, also values without a point.
        let values = late.iter().map(|v| Some(run_time(v).within).filter(|_| run_time(v).clamped)).collect();
        let (p, e) = part.count(&late, fixed, values);
        (points.times(p), elements.times(e))
    })
}

/// Reduces the parts common to all maps to one point, and returns the points and elements of those parts.
fn apart<S: Clone>(maps: &[Mapped<S>]) -> (Vec<Mapped<S>>, (Count, Count)) {
    let mut maps = maps.to_vec();
    let mut common = (Count::exactly(1), Count::exactly(1));
    let all: Vec<Vec<Component>> = maps.iter().map(|m| parts(&m.map)).collect();
    let mut single = Vec::new();
    for part in all.first().into_iter().flatten() {
        let early = |m: &Mapped<S>| part.vars.iter().all(|v| *v < m.map.dims + m.map.ranges);
        if maps.iter().all(early) && all.iter().all(|parts| parts.contains(part)) && part.constraints.is_empty() {
            let elements = part.elements(&[]);
            if elements.exact().is_some() {
                common = (common.0.times(part.points(&[])), common.1.times(elements));
                single.extend(part.vars.iter().copied());
            }
        }
    }
    for v in single {
        maps.iter_mut().for_each(|m| m.map.domain.vars[v].hi = m.map.domain.vars[v].lo);
    }
    (maps, common)
}

/// Variables of a map connected by results and constraints, with these.
struct Component<'a> {
    vars: Vec<usize>,
    intervals: &'a [Interval],
    /// The positions of its results in the map.
    places: Vec<usize>,
    results: Vec<&'a Expr>,
    constraints: Vec<&'a (Expr, Interval)>,
}

fn parts(map: &IndexingMap) -> Vec<Component<'_>> {
    // The least variable that each one is connected with.
    let mut of: Vec<usize> = (0..map.variables()).collect();
    let exprs = || map.results.iter().chain(map.domain.constraints.iter().map(|c| &c.0));
    for e in exprs() {
        let mut own = Vec::new();
        e.for_each_var(&mut |v| own.push(of[v]));
        if let Some(least) = own.iter().min() {
            of.iter_mut().filter(|part| own.contains(part)).for_each(|part| *part = *least);
        }
    }
    let first = |e: &Expr| {
        let mut found = None;
        e.for_each_var(&mut |v| found = found.or(Some(of[v])));
        found
    };
    let part = |k: usize| Component {
        vars: (0..of.len()).filter(|v| of[*v] == k).collect(),
        intervals: &map.domain.vars,
        places: (0..map.results.len()).filter(|j| first(&map.results[*j]) == Some(k)).collect(),
        results: map.results.iter().filter(|e| first(e) == Some(k)).collect(),
        constraints: map.domain.constraints.iter().filter(|c| first(&c.0) == Some(k)).collect(),
    };
    (0..of.len()).filter(|v| of[*v] == *v).map(part).collect()
}

impl PartialEq for Component<'_> {
    fn eq(&self, other: &Component) -> bool {
        let own = |part: &Component| part.vars.iter().map(|v| part.intervals[*v]).collect::<Vec<_>>();
        let same = self.vars == other.vars && self.places == other.places && own(self) == own(other);
        same && self.results == other.results && self.constraints == other.constraints
    }
}

fn length(i: &Interval) -> u128 {
    u128::try_from(i128::from(i.hi) - i128::from(i.lo) + 1).unwrap_or(0)
}

impl Component<'_> {
    fn box_points(&self, without: &[usize]) -> u128 {
        let own = self.vars.iter().filter(|v| !without.contains(v));
        own.map(|v| length(&self.intervals[*v])).fold(1, u128::saturating_mul)
    }

    /// The number of points and of elements; the run-time variables `late` have these values, or none if the map is
    /// empty outside their intervals.
    fn count(&self, late: &[usize], fixed: bool, values: Option<Vec<Interval>>) -> (Count, Count) {
        let held = |e: &Expr| {
            let mut held = false;
            e.for_each_var(&mut |v| held |= late.contains(&v));
            held
        };
        let own: Vec<Interval> = late.iter().map(|v| self.intervals[*v]).collect();
        let free = values.as_ref() == Some(&own) && !self.constraints.iter().any(|c| held(&c.0));
        let whole = self.box_points(late);
        let shifts = |e: &&Expr| !held(e) || linear(e).is_some();
        if free && (late.is_empty() || fixed && self.results.iter().all(shifts)) {
            // The value only shifts the elements read.
            return (self.points(late), self.elements(late));
        }
        if fixed && let Some(found) = self.for_each_value(late, values.as_ref().unwrap_or(&own)) {
            // Outside the intervals there is no point.
            return found.map(|c| if values.is_none() { Count { least: 0, ..c } } else { c }).into();
        }
        let most = self.elements(&[]).most;
        let points = if free { self.points(late) } else { Count::between(0, whole) };
        (points, Count { least: points.least.min(1), most })
    }

    /// The number of points and of elements, for any of these values of the run-time variables.
    fn for_each_value(&self, late: &[usize], values: &[Interval]) -> Option<[Count; 2]> {
        if let Some(found) = self.formula(late, values) {
            return Some(found.map(|(least, most)| Count::between(least, most)));
        }
        if !self.few(self.box_points(&[])) {
            return None;
        }
        let mut found: BTreeMap<Vec<i64>, (u128, HashSet<Vec<i64>>)> = BTreeMap::new();
        self.walk(&[], &mut |point| {
            let (points, elements) = found.entry(late.iter().map(|v| point[*v]).collect()).or_default();
            *points += 1;
            elements.insert(self.results.iter().filter_map(|e| e.evaluate(point)).collect());
        });
        // Some values may have no point, such as values outside the intervals.
        let values = values.iter().map(length).fold(1, u128::saturating_mul);
        let all = values == found.len() as u128;
        let bound = |part: usize| {
            let counts = || found.values().map(|(points, elements)| [*points, elements.len() as u128][part]);
            Count::between(counts().min().filter(|_| all).unwrap_or(0), counts().max().unwrap_or(0))
        };
        Some([bound(0), bound(1)])
    }

    /// The least and greatest numbers of points and elements over these values of `late`, by formulas.
    fn formula(&self, late: &[usize], values: &[Interval]) -> Option<[(u128, u128); 2]> {
        let mut place = vec![NOWHERE; self.intervals.len()];
        let others = self.vars.iter().filter(|v| !late.contains(v));
        late.iter().chain(others).enumerate().for_each(|(k, v)| place[*v] = k);
        let of = Expressions { constraints: &self.constraints, results: &self.results };
        let points = Points::new(values, self.vars.len() - late.len(), place, self.intervals, of)?;
        image::together(&[points], values)
    }

    /// The number of points and of elements for one fixed value of each of `without`.
    fn formula_without(&self, without: &[usize]) -> Option<[u128; 2]> {
        let least: Vec<Interval> = without.iter().map(|v| self.intervals[*v].lo).map(|x| Interval::new(x, x)).collect();
        self.formula(without, &least).map(|found| found.map(|c| c.0))
    }

    /// Whether this many points can be enumerated; long expressions lower the limit.
    fn few(&self, points: u128) -> bool {
        let exprs = self.results.iter().copied().chain(self.constraints.iter().map(|c| &c.0));
        let long = exprs.map(cost).fold(0, u32::saturating_add) / 16;
        points.saturating_mul(u128::from(long) + 1) <= COUNTED
    }

    /// The number of points for one fixed value of each of `without`.
    fn points(&self, without: &[usize]) -> Count {
        let whole = self.box_points(without);
        if self.constraints.is_empty() {
            return Count::exactly(whole);
        }
        if let Some([points, _]) = self.formula_without(without) {
            return Count::exactly(points);
        }
        if !self.few(whole) {
            return Count::between(0, whole);
        }
        let mut points = 0;
        self.walk(without, &mut |_| points += 1);
        Count::exactly(points)
    }

    /// The number of distinct results for one fixed value of each of `without`.
    fn elements(&self, without: &[usize]) -> Count {
        let whole = self.box_points(without);
        if self.results.is_empty() {
            let points = self.points(without);
            return Count::between(points.least.min(1), points.most.unwrap_or(1).min(1));
        }
        if let Some(n) = self.interval(without) {
            return Count::exactly(n);
        }
        if without.is_empty() && self.constraints.is_empty() && self.is_bijection() {
            return Count::exactly(whole);
        }
        if let Some([_, elements]) = self.formula_without(without) {
            return Count::exactly(elements);
        }
        if self.few(whole) {
            let mut found = HashSet::new();
            self.walk(without, &mut |point| {
                found.insert(self.results.iter().filter_map(|e| e.evaluate(point)).collect::<Vec<i64>>());
            });
            return Count::exactly(found.len() as u128);
        }
        let domain = Domain { vars: self.intervals.to_vec(), constraints: Vec::new() };
        let mut form = Form::new(&domain);
        let image = self.results.iter().map(|e| length(&form.interval(e))).fold(1, u128::saturating_mul);
        Count::between(u128::from(self.constraints.is_empty()), whole.min(image))
    }

    /// The number of values of the only result, if it is a sum without gaps and constraints only cut off its ends.
    fn interval(&self, without: &[usize]) -> Option<u128> {
        let [e] = self.results[..] else { return None };
        let (mut terms, _) = linear(e)?;
        for c in &self.constraints {
            (linear(&c.0)?.0 == terms).then_some(())?;
        }
        terms.retain(|v, _| !without.contains(v));
        let interval = |v: &usize| self.intervals[*v];
        let all: Vec<(i128, u128)> = terms.iter().map(|(v, c)| (*c, length(&interval(v)))).collect();
        // Variables absent from the result are in no constraint either.
        let (n, step) = gapless(all)?;
        let [] = self.constraints[..] else {
            if !without.is_empty() {
                return None;
            }
            // All values between the ends, in steps from the lower one.
            let ends = |low: bool| -> Option<i128> {
                let end = |(v, c): (&usize, &i128)| {
                    let i = interval(v);
                    c.checked_mul(if (*c > 0) == low { i.lo } else { i.hi }.into())
                };
                terms.iter().map(end).try_fold(0i128, |sum, x| sum.checked_add(x?))
            };
            let (lo, hi) = (ends(true)?, ends(false)?);
            let (mut from, mut to) = (lo, hi);
            for (e, i) in &self.constraints {
                let shift = linear(e)?.1;
                from = from.max(i128::from(i.lo).checked_sub(shift)?);
                to = to.min(i128::from(i.hi).checked_sub(shift)?);
            }
            let steps = |end: i128| end.checked_sub(lo);
            let (first, last) = (steps(from)?.checked_add(step - 1)?.div_euclid(step), steps(to)?.div_euclid(step));
            return u128::try_from((last - first + 1).max(0)).ok();
        };
        Some(n)
    }

    fn is_bijection(&self) -> bool {
        let mut by = vec![Expr::Const(0); self.intervals.len()];
        self.vars.iter().enumerate().for_each(|(new, old)| by[*old] = Expr::Var(new));
        let results = self.results.iter().map(|e| e.substitute(&by)).collect();
        IndexingMap::new(self.vars.iter().map(|v| self.intervals[*v]).collect(), results).invert().is_some()
    }

    /// Visits every point that the constraints allow; variables of `without` stay at their least value.
    fn walk(&self, without: &[usize], visit: &mut dyn FnMut(&[i64])) {
        let own: Vec<usize> = self.vars.iter().copied().filter(|v| !without.contains(v)).collect();
        let mut point: Vec<i64> = self.intervals.iter().map(|i| i.lo).collect();
        if own.iter().any(|v| length(&self.intervals[*v]) == 0) {
            return;
        }
        loop {
            let inside = |c: &&(Expr, Interval)| c.0.evaluate(&point).is_some_and(|x| c.1.lo <= x && x <= c.1.hi);
            if self.constraints.iter().all(inside) {
                visit(&point);
            }
            let next = own.iter().rev().find(|v| {
                let more = point[**v] < self.intervals[**v].hi;
                point[**v] = if more { point[**v] + 1 } else { self.intervals[**v].lo };
                more
            });
            if next.is_none() {
                return;
            }
        }
    }
}

/// The number of elements and of points of several maps, for one value of each run-time variable.
fn together<S: Clone + PartialEq>(maps: &[Mapped<S>]) -> Option<(Count, Count)> {
    let mut values: Vec<&RunTime<S>> = Vec::new();
    let mut own = Vec::new();
    for mapped in maps {
        let mut places = Vec::new();
        for r in &mapped.run_time {
            // Only sources at a constant index.
            let mut plain = r.clamped;
            r.element.iter().for_each(|e| plain &= matches!(e, Expr::Const(_)));
            plain.then_some(())?;
            let place = values.iter().position(|other| *other == r);
            places.push(place.unwrap_or(values.len()));
            if place.is_none() {
                values.push(r);
            }
        }
        own.push(places);
    }
    let values: Vec<Interval> = values.into_iter().map(|r| r.within).collect();
    let boxes = maps.iter().map(|m| {
        let vars = &m.map.domain.vars[..m.map.dims + m.map.ranges];
        vars.iter().map(length).fold(1, u128::saturating_mul)
    });
    let assignments = values.iter().map(length).fold(1, u128::saturating_mul);
    let points = boxes.fold(0, u128::saturating_add).saturating_mul(assignments);
    if points <= FEW {
        return walked(maps, &own, &values);
    }
    let all = maps.iter().zip(&own).map(|(m, places)| {
        let first = m.map.dims + m.map.ranges;
        let place = (values.len()..values.len() + first).chain(places.iter().copied()).collect();
        let constraints: Vec<_> = m.map.domain.constraints.iter().collect();
        let results: Vec<_> = m.map.results.iter().collect();
        let of = Expressions { constraints: &constraints, results: &results };
        Points::new(&values, first, place, &m.map.domain.vars, of)
    });
    if let Some([points, elements]) = all.collect::<Option<Vec<_>>>().and_then(|all| image::together(&all, &values)) {
        return Some((Count::between(elements.0, elements.1), Count::between(points.0, points.1)));
    }
    if points > COUNTED { None } else { walked(maps, &own, &values) }
}

/// The same counts by enumeration of all points for all values; `own` has the value numbers of each map's variables.
fn walked<S>(maps: &[Mapped<S>], own: &[Vec<usize>], values: &[Interval]) -> Option<(Count, Count)> {
    let assignments = IndexingMap::new(values.to_vec(), Vec::new());
    let mut found: Option<(Count, Count)> = None;
    for held in assignments.points() {
        let (mut elements, mut points) = (HashSet::new(), 0);
        for (mapped, places) in maps.iter().zip(own) {
            let mut map = mapped.map.clone();
            let first = map.dims + map.ranges;
            for (k, place) in places.iter().enumerate() {
                let (i, x) = (&mut map.domain.vars[first + k], held[*place]);
                // Outside the interval of the map there is no point.
                *i = if i.lo <= x && x <= i.hi { Interval::new(x, x) } else { Interval::new(1, 0) };
            }
            for point in map.points() {
                points += 1;
                elements.insert(map.evaluate(&point).ok()??);
            }
        }
        let (e, p) = (elements.len() as u128, points);
        let join = |c: Count, n: u128| Count::between(c.least.min(n), c.most.map_or(n, |most| most.max(n)));
        found = Some(found.map_or((Count::exactly(e), Count::exactly(p)), |(a, b)| (join(a, e), join(b, p))));
    }
    found
}
