//! Simplified maps: one map, or the composition of several.

use crate::expr::Expr;
use crate::expr::cost;
use crate::maps::domain::{Domain, Interval};
use crate::maps::map::{Indexing, IndexingMap};
use crate::maps::simplify::{Chain, Form, simplify, simplify_domain, simplify_domain_with, simplify_with};
use crate::maps::steps::Log;
use crate::text::Error;

/// The most simplifications of a map until it no longer changes.
const ROUNDS: usize = 8;

impl IndexingMap {
    /// A map from all indices of a tensor with these sizes, its results simplified over them.
    pub fn of_sizes(sizes: &[i64], results: Vec<Expr>) -> IndexingMap {
        let mut map = IndexingMap::new(sizes.iter().map(|n| Interval::new(0, n.saturating_sub(1))).collect(), results);
        map.results = simplify(&map.results, &map.domain);
        map
    }

    /// The same map, simplified: equal results at every point of the domain, the domain the same set, and no dearer.
    /// All variables stay. Simplifying again changes nothing.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::maps::IndexingMap;
    /// let text = "(d0) -> (d0 floordiv 4 * 4 + d0 mod 4), domain: d0 in [0, 99], d0 floordiv 8 in [5, 11]";
    /// let simple = IndexingMap::parse(text).unwrap().simplify();
    /// assert_eq!(simple.to_string(), "(d0) -> (d0), domain: d0 in [40, 95]");
    /// ```
    pub fn simplify(&self) -> Indexing {
        self.simplify_with(&mut None)
    }

    /// [`IndexingMap::simplify`] that logs its steps.
    pub(crate) fn simplify_with(&self, log: &mut Option<&mut Log>) -> Indexing {
        let mut seen: Vec<IndexingMap> = Vec::new();
        // The number of steps up to each map in `seen`.
        let mut ends = vec![0];
        loop {
            let last = seen.last().unwrap_or(self);
            let Some((next, settled)) = last.simplified_once(log) else { return Indexing::KnownEmpty };
            if settled {
                return Indexing::Map(next);
            }
            if seen.is_empty() {
                seen.push(self.clone());
            }
            let last = &seen[seen.len() - 1];
            if next == *last {
                if let Some(log) = log {
                    log.steps.truncate(ends[seen.len() - 1]);
                }
                return Indexing::Map(next);
            }
            if let Some(k) =
                seen.iter().position(|map| *map == next).or((seen.len() > ROUNDS).then_some(seen.len() - 1))
            {
                // A cycle of equal maps: the choice must not depend on the entry into the cycle.
                let least = (k..seen.len()).min_by(|a, b| seen[*a].order_key().cmp(&seen[*b].order_key()));
                let least = least.unwrap_or(k);
                if let Some(log) = log {
                    log.steps.truncate(ends[least]);
                }
                return Indexing::Map(seen.swap_remove(least));
            }
            seen.push(next);
            ends.push(log.as_ref().map_or(0, |log| log.steps.len()));
        }
    }

    /// The simplified map, and whether simplifying again is known to change nothing.
    fn simplified_once(&self, log: &mut Option<&mut Log>) -> Option<(IndexingMap, bool)> {
        let domain = simplify_domain_with(&self.domain, log)?;
        let (results, settled) = simplify_with(&self.results, &domain, log);
        let (dims, ranges, names) = (self.dims, self.ranges, self.names.clone());
        Some((IndexingMap { dims, ranges, names, results, domain }, settled))
    }

    #[allow(clippy::type_complexity, reason = "the parts of a map, to be compared")]
    fn order_key(&self) -> (u32, &[Expr], &[Interval], &[(Expr, Interval)]) {
        (self.cost(), &self.results, &self.domain.vars, &self.domain.constraints)
    }

    /// The cost of the map: its results and its constraints, plus one for each constraint.
    pub fn cost(&self) -> u32 {
        let results = self.results.iter().map(cost).fold(0, u32::saturating_add);
        self.domain.constraints.iter().map(|c| cost(&c.0) + 1).fold(results, u32::saturating_add)
    }

    /// The closed interval of each result.
    ///
    /// Post-condition: at every point of the domain result `k` is in interval `k`. The interval may be wider than
    /// needed.
    pub fn image(&self) -> Vec<Interval> {
        let mut form = Form::new(&self.domain);
        self.results.iter().map(|e| form.interval(e)).collect()
    }

    /// The composition of successive maps in the normal form, simplified, but not as [`IndexingMap::simplify`] writes
    /// it; `None` where that fails. Each result but those of the last map is in its interval in `known`, if there is
    /// one.
    fn chained(maps: &[&IndexingMap], known: &[Interval]) -> Option<Indexing> {
        let (first, rest) = maps.split_first()?;
        let mut map = IndexingMap {
            ranges: maps.iter().map(|m| m.ranges).sum(),
            results: Vec::new(),
            domain: Domain::default(),
            names: Vec::new(),
            dims: first.dims,
        };
        // The positions of range and run-time variables of each map: the last map's first.
        let run_time: usize = maps.iter().map(|m| m.variables() - m.dims - m.ranges).sum();
        let (mut range, mut offset) = (map.dims + map.ranges, map.dims + map.ranges + run_time);
        let mut places = Vec::with_capacity(maps.len());
        map.domain.vars = vec![Interval::ALL; offset];
        map.names = vec![None; offset];
        for (k, m) in maps.iter().enumerate() {
            range -= m.ranges;
            offset -= m.variables() - m.dims - m.ranges;
            let more: Vec<usize> =
                (range..range + m.ranges).chain(offset..offset + m.variables() - m.dims - m.ranges).collect();
            let own = (0..m.dims)
                .filter(|_| k == 0)
                .map(|v| (v, v))
                .chain(more.iter().enumerate().map(|(j, v)| (m.dims + j, *v)));
            for (v, place) in own {
                map.domain.vars[place] = m.domain.vars[v];
                map.names[place] = m.names[v].clone();
            }
            places.push(more);
        }
        let of_first: Vec<Expr> = (0..first.dims).chain(places[0].iter().copied()).map(Expr::Var).collect();
        map.domain.constraints = first.domain.constraints.iter().map(|(e, i)| (e.substitute(&of_first), *i)).collect();
        map.make_names_unique();
        let Some(domain) = simplify_domain(&map.domain) else { return Some(Indexing::KnownEmpty) };
        map.domain = domain;
        let mut chain = Chain::new(&map.domain);
        let all: Vec<usize> = (0..first.dims).chain(places[0].iter().copied()).collect();
        let (mut results, _) = chain.step(&[], &[], &[], &all, &[], &first.results)?;
        for (m, more) in rest.iter().zip(&places[1..]) {
            let (next, said) =
                chain.step(&results, &m.domain.vars[..m.dims], known, more, &m.domain.constraints, &m.results)?;
            map.domain.constraints.extend(said);
            results = next;
        }
        map.results = results.iter().map(|s| chain.write(s)).collect::<Option<Vec<_>>>()?;
        // A simplified box, and results written from their normal form over it.
        Some(if map.domain.constraints.is_empty() { Indexing::Map(map) } else { map.simplify() })
    }

    /// This map and then `second`, as [`Indexing::compose`], with all results of this one in `known`.
    pub(crate) fn then_within(&self, second: &IndexingMap, known: &[Interval]) -> Result<Indexing, Error> {
        self.precedes(second)?;
        match IndexingMap::chained(&[self, second], known) {
            Some(chained) => Ok(chained),
            None => Ok(self.then(second)?.0.simplify()),
        }
    }
}

impl Indexing {
    /// The composition of all maps, the first one first, simplified.
    ///
    /// Post-condition: equal at every point to [`IndexingMap::then`] applied from the first map to the last.
    ///
    /// The composition goes through the normal form, so that common parts are computed once and no intermediate
    /// expression is written. Equal compositions may be written in different ways; [`Indexing::simplify`] identifies
    /// more of them.
    ///
    /// # Errors
    /// As [`IndexingMap::then`], and an empty list of maps.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::maps::Indexing;
    /// let parse = |text| Indexing::parse(text).unwrap();
    /// let split = parse("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]");
    /// let join = parse("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]");
    /// let both = Indexing::compose(&[split, join]).unwrap();
    /// assert_eq!(both.to_string(), "(d0) -> (d0), domain: d0 in [0, 31]");
    /// ```
    pub fn compose(maps: &[Indexing]) -> Result<Indexing, Error> {
        let (first, rest) = maps.split_first().ok_or_else(|| Error::new("expected a map to compose, found none"))?;
        if rest.is_empty() {
            return Ok(first.simplify());
        }
        if let Some(all) = maps.iter().map(Indexing::map).collect::<Option<Vec<_>>>() {
            for pair in all.windows(2) {
                pair[0].precedes(pair[1])?;
            }
            if let Some(chained) = IndexingMap::chained(&all, &[]) {
                return Ok(chained);
            }
        }
        let mut all = first.simplify();
        for next in rest {
            all = all.then(next)?.simplify();
        }
        Ok(all)
    }

    /// The simplified value: see [`IndexingMap::simplify`].
    pub fn simplify(&self) -> Indexing {
        match self {
            Indexing::Map(map) => map.simplify(),
            value => value.clone(),
        }
    }
}
