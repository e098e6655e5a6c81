//! Indexing maps: which element of one tensor goes with an element of another, and for which elements that holds.
//!
//! `(d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2), domain: d0 in [0, 2], d1 in [0, 4]` sends the
//! elements of a 3×5 tensor to their places in a grid of 2×2 tiles. Dimension variables are what is mapped from; a
//! range variable (`[s0]`) makes one element go with many, as a reduction reads them; a run-time variable (`{rt0}`)
//! stands for an offset that only the running program knows. Every variable has a closed interval, and constraints
//! `expr in [lo, hi]` cut the box of intervals down to the domain.
//!
//! Maps compose ([`IndexingMap::then`]), are simplified ([`IndexingMap::simplify`]) and inverted
//! ([`IndexingMap::invert`]); [`Indexing`] adds the two values that are no map: nothing is read, and nobody knows.

use crate::expr::Expr;
use crate::expr::cost;
use crate::maps::domain::{Domain, Interval};
use crate::maps::simplify::{Chain, Form, simplify, simplify_domain, simplify_domain_with, simplify_with};
use crate::maps::steps::Log;
use crate::text::Error;
use std::collections::BTreeSet;

/// What an operation reads for an element: as a map, nothing at all, or not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// As the map says.
    Map(IndexingMap),
    /// The domain has no point. Prints `KNOWN EMPTY`.
    KnownEmpty,
    /// No finite map says it. Prints `UNDEFINED`.
    Undefined,
}

/// The kinds of variables, in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An index that is mapped from.
    Dimension,
    /// Takes all its values for one index.
    Range,
    /// Has a value that is known only at run time.
    RunTime,
}

/// Results over dimension, range and run-time variables, and the domain of those variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexingMap {
    /// The number of dimension variables, which come first.
    pub dims: usize,
    /// The number of range variables, which come next; all others are run-time variables.
    pub ranges: usize,
    /// The name of each variable that has one of its own.
    pub names: Vec<Option<String>>,
    /// What the variables are mapped to.
    pub results: Vec<Expr>,
    /// The interval of each variable, and constraints over them.
    pub domain: Domain,
}

/// Where a variable of a composition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The variable of the first map with this number.
    First(usize),
    /// The variable of the second map with this number.
    Second(usize),
}

/// What a composition may have at most: operations and depth of one expression.
const LARGEST: usize = 1 << 20;
const DEEPEST: usize = 512;

/// How often a map is simplified until it no longer changes.
const ROUNDS: usize = 8;

impl IndexingMap {
    /// A map of dimension variables, with these intervals and no constraints.
    pub fn new(intervals: Vec<Interval>, results: Vec<Expr>) -> IndexingMap {
        IndexingMap {
            dims: intervals.len(),
            ranges: 0,
            names: vec![None; intervals.len()],
            results,
            domain: Domain { vars: intervals, constraints: Vec::new() },
        }
    }

    /// A map from all indices of a tensor with these sizes, its results simplified over them.
    pub fn of_sizes(sizes: &[i64], results: Vec<Expr>) -> IndexingMap {
        let mut map = IndexingMap::new(sizes.iter().map(|n| Interval::new(0, n - 1)).collect(), results);
        map.results = simplify(&map.results, &map.domain);
        map
    }

    /// All results, and the expressions of all constraints.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.results.iter().chain(self.domain.constraints.iter().map(|c| &c.0))
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.domain.vars.len()
    }

    /// What kind of variable this is.
    pub fn kind(&self, v: usize) -> Kind {
        match v {
            v if v < self.dims => Kind::Dimension,
            v if v < self.dims + self.ranges => Kind::Range,
            _ => Kind::RunTime,
        }
    }

    /// The name of a variable.
    pub fn name(&self, v: usize) -> String {
        self.names.get(v).cloned().flatten().unwrap_or_else(|| self.default_name(v))
    }

    /// Whether a point, with one entry for each variable, lies in the domain; `None` where a constraint's value does
    /// not fit in 128 bits.
    pub fn contains(&self, point: &[i64]) -> Option<bool> {
        if !self.domain.vars.iter().zip(point).all(|(i, x)| i.contains((*x).into())) {
            return Some(false);
        }
        for (e, i) in &self.domain.constraints {
            if !i.contains(e.wide(point)?) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The results at a point, which has one entry for each variable; `None` outside the domain.
    ///
    /// # Errors
    /// Where the point has another number of entries, or 64 bits do not hold a value.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::maps::IndexingMap;
    /// let map = IndexingMap::parse("(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 9]").unwrap();
    /// assert_eq!(map.evaluate(&[7]), Ok(Some(vec![1, 3])));
    /// assert_eq!(map.evaluate(&[10]), Ok(None));
    /// ```
    pub fn evaluate(&self, point: &[i64]) -> Result<Option<Vec<i64>>, Error> {
        if point.len() != self.variables() {
            let message = format!("the point has {} entries, the map {} variables", point.len(), self.variables());
            return Err(Error::new(message));
        }
        let large = |what: String| Error::new(format!("the value of {what} does not fit in 64 bits"));
        match self.contains(point) {
            Some(false) => Ok(None),
            None => Err(Error::new("the value of a constraint does not fit in 128 bits")),
            Some(true) => {
                let value = |(k, e): (usize, &Expr)| e.evaluate(point).ok_or_else(|| large(format!("result {k}")));
                self.results.iter().enumerate().map(value).collect::<Result<_, _>>().map(Some)
            }
        }
    }

    /// The number of points in the box of intervals, of which the domain is a part.
    pub fn box_points(&self) -> u128 {
        let size = |i: &Interval| u128::try_from(i128::from(i.hi) - i128::from(i.lo) + 1).unwrap_or(0);
        if self.domain.vars.iter().any(|i| size(i) == 0) {
            return 0;
        }
        self.domain.vars.iter().map(size).fold(1, u128::saturating_mul)
    }

    /// The points of the domain, the last variable fastest. Those where 128 bits do not hold a constraint's value are
    /// left out. Walks the whole box of intervals: see [`IndexingMap::box_points`].
    pub fn points(&self) -> impl Iterator<Item = Vec<i64>> {
        let mut next = (self.box_points() > 0).then(|| self.domain.vars.iter().map(|i| i.lo).collect::<Vec<i64>>());
        let walk = std::iter::from_fn(move || {
            let point = next.clone()?;
            let mut following = point.clone();
            let moved = self.domain.vars.iter().zip(&mut following).rev().any(|(i, x)| {
                let more = *x < i.hi;
                *x = if more { *x + 1 } else { i.lo };
                more
            });
            next = moved.then_some(following);
            Some(point)
        });
        walk.filter(|point| self.contains(point) == Some(true))
    }

    /// This map and then `second`: where the results of this one lie in the intervals of the dimensions of `second`,
    /// the results of `second` there. The variables are the dimensions of this map, then the ranges of `second`, those
    /// of this one, the run-time variables of `second`, and those of this one. The result is not simplified.
    ///
    /// # Errors
    /// Where this map has another number of results than `second` has dimensions, or the composition is too large.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::maps::IndexingMap;
    /// let parse = |text| IndexingMap::parse(text).unwrap();
    /// let rows = parse("(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]");
    /// let linear = parse("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]");
    /// let (both, _) = rows.then(&linear).unwrap();
    /// assert_eq!(both.simplify().to_string(), "(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 3], s0 in [0, 7]");
    /// ```
    pub fn then(&self, second: &IndexingMap) -> Result<(IndexingMap, Vec<Source>), Error> {
        self.precedes(second)?;
        let sources = self.order(second);
        let mut of_first = vec![Expr::Const(0); self.variables()];
        let mut of_second: Vec<Expr> = self.results.clone();
        of_second.resize(second.variables(), Expr::Const(0));
        for (v, source) in sources.iter().enumerate() {
            match *source {
                Source::First(k) => of_first[k] = Expr::Var(v),
                Source::Second(k) => of_second[k] = Expr::Var(v),
            }
        }
        for e in &mut of_second[..second.dims] {
            *e = e.substitute(&of_first);
        }
        second.fits(&of_second)?;
        let interval = |source: &Source| match *source {
            Source::First(k) => self.domain.vars[k],
            Source::Second(k) => second.domain.vars[k],
        };
        let vars = sources.iter().map(interval).collect();
        let first = self.domain.constraints.iter().map(|(e, i)| (e.substitute(&of_first), *i));
        let between = (0..second.dims).map(|k| (of_second[k].clone(), second.domain.vars[k]));
        let then = second.domain.constraints.iter().map(|(e, i)| (e.substitute(&of_second), *i));
        let constraints = first.chain(between).chain(then).collect();
        let mut map = IndexingMap {
            dims: self.dims,
            ranges: self.ranges + second.ranges,
            names: Vec::new(),
            results: second.results.iter().map(|e| e.substitute(&of_second)).collect(),
            domain: Domain { vars, constraints },
        };
        map.names = sources
            .iter()
            .map(|source| match *source {
                Source::First(k) => self.names[k].clone(),
                Source::Second(k) => second.names[k].clone(),
            })
            .collect();
        map.make_names_unique();
        Ok((map, sources))
    }

    /// Refuses a second map with another number of dimensions than this one has results.
    fn precedes(&self, second: &IndexingMap) -> Result<(), Error> {
        if self.results.len() == second.dims {
            return Ok(());
        }
        Err(Error::new(format!(
            "the first map has {}, the second {}",
            counted(self.results.len(), "result"),
            counted(second.dims, "dimension")
        )))
    }

    /// The composition of maps that follow one another, by way of the normal form; `None` where that gives up. Simplified,
    /// if not as [`IndexingMap::simplify`] would write it.
    /// The results of all but the last are known to lie in `known`, as far as that goes.
    fn chained(maps: &[&IndexingMap], known: &[Interval]) -> Option<Indexing> {
        let (first, rest) = maps.split_first()?;
        let mut map = IndexingMap {
            ranges: maps.iter().map(|m| m.ranges).sum(),
            results: Vec::new(),
            domain: Domain::default(),
            names: Vec::new(),
            dims: first.dims,
        };
        // Where the ranges and the run-time variables of each map stand: those of the last map first.
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

    /// This and then `second`, as [`Indexing::compose`], where all results are known to lie in `known`.
    pub(crate) fn then_within(&self, second: &IndexingMap, known: &[Interval]) -> Result<Indexing, Error> {
        self.precedes(second)?;
        match IndexingMap::chained(&[self, second], known) {
            Some(chained) => Ok(chained),
            None => Ok(self.then(second)?.0.simplify()),
        }
    }

    /// The variables of `self.then(second)`.
    fn order(&self, second: &IndexingMap) -> Vec<Source> {
        let ranges = |map: &IndexingMap| map.dims..map.dims + map.ranges;
        let run_time = |map: &IndexingMap| map.dims + map.ranges..map.variables();
        let dims = (0..self.dims).map(Source::First);
        dims.chain(ranges(second).map(Source::Second))
            .chain(ranges(self).map(Source::First))
            .chain(run_time(second).map(Source::Second))
            .chain(run_time(self).map(Source::First))
            .collect()
    }

    /// Refuses to put `by` for the variables where the outcome would be too large.
    fn fits(&self, by: &[Expr]) -> Result<(), Error> {
        let sizes: Vec<usize> = by.iter().map(Expr::size).collect();
        let deepest = by.iter().map(Expr::depth).max().unwrap_or(0);
        let (mut size, mut depth) = (0usize, 0);
        for e in self.exprs() {
            e.for_each_var(&mut |v| size = size.saturating_add(sizes[v]));
            depth = depth.max(e.depth());
        }
        if size > LARGEST {
            return Err(Error::new(format!("the composition has more than {LARGEST} operations")));
        }
        if depth + deepest > DEEPEST {
            return Err(Error::new(format!("the composition nests more than {DEEPEST} deep")));
        }
        Ok(())
    }

    /// Takes names away that are another variable's too, or that look like a default name.
    pub(crate) fn make_names_unique(&mut self) {
        if self.names.iter().all(Option::is_none) {
            return;
        }
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for v in 0..self.names.len() {
            let unnamed = self.default_name(v);
            taken.insert(unnamed);
        }
        let looks_default = |name: &str| {
            let digits = ["d", "s", "rt"].iter().find_map(|kind| name.strip_prefix(kind));
            digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        };
        for v in 0..self.names.len() {
            let Some(name) = self.names[v].take().filter(|name| !looks_default(name)) else { continue };
            let mut own = name.clone();
            let mut number = 1;
            while taken.contains(&own) {
                own = format!("{name}_{number}");
                number += 1;
            }
            taken.insert(own.clone());
            self.names[v] = Some(own);
        }
    }

    /// The same map, simplified: equal results at every point of the domain, the domain the same set, and no dearer. All
    /// variables stay. Simplifying again changes nothing.
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

    /// [`IndexingMap::simplify`] with its steps written down.
    pub(crate) fn simplify_with(&self, log: &mut Option<&mut Log>) -> Indexing {
        let mut seen = vec![self.clone()];
        // Where the steps to each of them end.
        let mut ends = vec![0];
        loop {
            let last = &seen[seen.len() - 1];
            let Some(next) = last.simplified_once(log) else { return Indexing::KnownEmpty };
            if next == *last {
                if let Some(log) = log {
                    log.steps.truncate(ends[seen.len() - 1]);
                }
                return Indexing::Map(next);
            }
            if let Some(k) =
                seen.iter().position(|map| *map == next).or((seen.len() > ROUNDS).then_some(seen.len() - 1))
            {
                // Going round in circles among equals: any one will do that does not depend on the way in.
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

    fn simplified_once(&self, log: &mut Option<&mut Log>) -> Option<IndexingMap> {
        let domain = simplify_domain_with(&self.domain, log)?;
        let results = simplify_with(&self.results, &domain, log);
        Some(IndexingMap { results, domain, ..self.clone() })
    }

    #[allow(clippy::type_complexity, reason = "the parts of a map, to be compared")]
    fn order_key(&self) -> (u32, &[Expr], &[Interval], &[(Expr, Interval)]) {
        (self.cost(), &self.results, &self.domain.vars, &self.domain.constraints)
    }

    /// What the map costs: its results and its constraints, each of which counts one more.
    pub fn cost(&self) -> u32 {
        let results = self.results.iter().map(cost).fold(0, u32::saturating_add);
        self.domain.constraints.iter().map(|c| cost(&c.0) + 1).fold(results, u32::saturating_add)
    }

    /// The closed interval in which each result lies.
    pub fn image(&self) -> Vec<Interval> {
        let mut form = Form::new(&self.domain);
        self.results.iter().map(|e| form.interval(e)).collect()
    }
}

impl Indexing {
    /// The map, if it is one.
    pub fn map(&self) -> Option<&IndexingMap> {
        match self {
            Indexing::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The composition of all maps, the first one first, simplified. Goes by way of the normal form, so that what the
    /// maps have in common is worked out once and no intermediate expression is ever written. Equal compositions may be
    /// written in different ways; [`Indexing::simplify`] then tells more of them to be equal.
    ///
    /// # Errors
    /// As [`IndexingMap::then`], and where there is no map.
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
        let (first, rest) = maps.split_first().ok_or_else(|| Error::new("there is no map to compose"))?;
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

    /// The same, simplified: see [`IndexingMap::simplify`].
    pub fn simplify(&self) -> Indexing {
        match self {
            Indexing::Map(map) => map.simplify(),
            value => value.clone(),
        }
    }

    /// This and then `second`, as [`IndexingMap::then`]. Nothing read stays nothing; with that aside, what is not
    /// known makes the composition unknown.
    ///
    /// # Errors
    /// As [`IndexingMap::then`].
    pub fn then(&self, second: &Indexing) -> Result<Indexing, Error> {
        match (self, second) {
            (Indexing::KnownEmpty, _) | (_, Indexing::KnownEmpty) => Ok(Indexing::KnownEmpty),
            (Indexing::Undefined, _) | (_, Indexing::Undefined) => Ok(Indexing::Undefined),
            (Indexing::Map(first), Indexing::Map(second)) => Ok(Indexing::Map(first.then(second)?.0)),
        }
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
