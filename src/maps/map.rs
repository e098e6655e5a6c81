//! Indexing maps: maps from elements of one tensor to elements of another, with their domain.
//!
//! `(d0, d1) -> (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2), domain: d0 in [0, 2], d1 in [0, 4]` sends the
//! elements of a 3×5 tensor to their places in a grid of 2×2 tiles. Dimension variables are the index that is mapped;
//! a range variable (`[s0]`) relates one element to many, as in the reads of a reduction; a run-time variable (`{rt0}`)
//! is an offset that is known when the program runs. Every variable has a closed interval, and constraints
//! `expr in [lo, hi]` cut the box of intervals down to the domain.
//!
//! Maps compose ([`IndexingMap::then`]), are simplified ([`IndexingMap::simplify`]) and inverted
//! ([`IndexingMap::invert`]); [`Indexing`] adds two values that are no map: no reads, and unknown reads.

use crate::expr::Expr;
use crate::limits;
use crate::maps::domain::{Domain, Interval};
use crate::text::{Error, counted};
use std::collections::BTreeSet;

/// The elements that an operation reads for an element: a map, none, or unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// The elements given by the map.
    Map(IndexingMap),
    /// The domain has no point. Prints `KNOWN EMPTY`.
    KnownEmpty,
    /// No finite map describes it. Prints `UNDEFINED`.
    Undefined,
}

/// The kinds of variables, in the order of a map's variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The index that is mapped.
    Dimension,
    /// A variable that takes all its values for one index.
    Range,
    /// A variable whose value is known only at run time.
    RunTime,
}

/// Results over dimension, range and run-time variables, and the domain of those variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexingMap {
    /// The number of dimension variables, which come first.
    pub dims: usize,
    /// The number of range variables, which come next; all others are run-time variables.
    pub ranges: usize,
    /// The name of each variable, if it has one of its own.
    pub names: Vec<Option<String>>,
    /// The expressions of the results.
    pub results: Vec<Expr>,
    /// The interval of each variable, and constraints over them.
    pub domain: Domain,
}

/// The origin of a variable of a composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableOrigin {
    /// The variable of the first map with this number.
    First(usize),
    /// The variable of the second map with this number.
    Second(usize),
}

/// The most operations of a composition, and the greatest depth of one expression. Walking 160 levels takes less than
/// 128 KiB of stack.
const LARGEST: usize = limits::COMPOSED_OPERATIONS;
const DEEPEST: usize = limits::COMPOSED_DEPTH;

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

    /// All results, and the expressions of all constraints.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.results.iter().chain(self.domain.constraints.iter().map(|c| &c.0))
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.domain.vars.len()
    }

    /// The kind of a variable.
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

    /// The default name of a variable: `d`, `s` or `rt`, and its number among its kind.
    pub(crate) fn default_name(&self, v: usize) -> String {
        match self.kind(v) {
            Kind::Dimension => format!("d{v}"),
            Kind::Range => format!("s{}", v - self.dims),
            Kind::RunTime => format!("rt{}", v - self.dims - self.ranges),
        }
    }

    /// Whether a point is in the domain; false if it has another number of entries than there are variables,
    /// `None` if a constraint's value does not fit in 128 bits.
    pub fn contains(&self, point: &[i64]) -> Option<bool> {
        let inside = |(i, x): (&Interval, &i64)| i.contains((*x).into());
        if point.len() != self.variables() || !self.domain.vars.iter().zip(point).all(inside) {
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
    /// A point with another number of entries, or a value that does not fit in 64 bits.
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
            let message = format!(
                "the point must have {} entries, one for each variable, found {}",
                self.variables(),
                point.len()
            );
            return Err(Error::new(message));
        }
        let large = |what: String| Error::new(format!("the value of {what} does not fit in 64 bits")).too_large();
        match self.contains(point) {
            Some(false) => Ok(None),
            None => Err(Error::new("the value of a constraint does not fit in 128 bits").too_large()),
            Some(true) => {
                let value = |(k, e): (usize, &Expr)| e.evaluate(point).ok_or_else(|| large(format!("result {k}")));
                self.results.iter().enumerate().map(value).collect::<Result<_, _>>().map(Some)
            }
        }
    }

    /// The number of points in the box of intervals, which contains the domain.
    pub fn box_points(&self) -> u128 {
        let size = |i: &Interval| u128::try_from(i128::from(i.hi) - i128::from(i.lo) + 1).unwrap_or(0);
        if self.domain.vars.iter().any(|i| size(i) == 0) {
            return 0;
        }
        self.domain.vars.iter().map(size).fold(1, u128::saturating_mul)
    }

    /// The points of the domain, the last variable fastest, without those at which a constraint's value does not fit in
    /// 128 bits. Walks the whole box of intervals: see [`IndexingMap::box_points`].
    pub fn points(&self) -> impl Iterator<Item = Vec<i64>> {
        self.boxed_points().filter(|point| self.contains(point) == Some(true))
    }

    /// The points of the box of intervals, the last variable fastest.
    pub(crate) fn boxed_points(&self) -> impl Iterator<Item = Vec<i64>> {
        let mut next = (self.box_points() > 0).then(|| self.domain.vars.iter().map(|i| i.lo).collect::<Vec<i64>>());
        std::iter::from_fn(move || {
            let point = next.clone()?;
            let mut following = point.clone();
            let moved = self.domain.vars.iter().zip(&mut following).rev().any(|(i, x)| {
                let more = *x < i.hi;
                *x = if more { *x + 1 } else { i.lo };
                more
            });
            next = moved.then_some(following);
            Some(point)
        })
    }

    /// The composition of this map and then `second`: the results of `second`, where the results of this map are in its
    /// intervals.
    ///
    /// Post-condition: with `values = first.evaluate(p)`, the composition at `p` is `second.evaluate(values)`, and `p`
    /// is in its domain if `p` is in the first domain and `values` in the second.
    ///
    /// The variables are this map's dimensions, then ranges of `second`, ranges of this map, run-time variables of
    /// `second`, and run-time variables of this map. The result is not simplified.
    ///
    /// # Errors
    /// Another number of results here than dimensions of `second`, or a composition that is too large.
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
    pub fn then(&self, second: &IndexingMap) -> Result<(IndexingMap, Vec<VariableOrigin>), Error> {
        self.precedes(second)?;
        let sources = self.order(second);
        let mut of_first = vec![Expr::Const(0); self.variables()];
        let mut of_second: Vec<Expr> = self.results.clone();
        of_second.resize(second.variables(), Expr::Const(0));
        for (v, source) in sources.iter().enumerate() {
            match *source {
                VariableOrigin::First(k) => of_first[k] = Expr::Var(v),
                VariableOrigin::Second(k) => of_second[k] = Expr::Var(v),
            }
        }
        for e in &mut of_second[..second.dims] {
            *e = e.substitute(&of_first);
        }
        second.fits(&of_second)?;
        let interval = |source: &VariableOrigin| match *source {
            VariableOrigin::First(k) => self.domain.vars[k],
            VariableOrigin::Second(k) => second.domain.vars[k],
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
                VariableOrigin::First(k) => self.names[k].clone(),
                VariableOrigin::Second(k) => second.names[k].clone(),
            })
            .collect();
        map.make_names_unique();
        Ok((map, sources))
    }

    /// Refuses a second map whose number of dimensions is not this map's number of results.
    pub(crate) fn precedes(&self, second: &IndexingMap) -> Result<(), Error> {
        if self.results.len() == second.dims {
            return Ok(());
        }
        Err(Error::new(format!(
            "the second map must have a dimension for each of the {} of the first, found {}",
            counted(self.results.len(), "result"),
            counted(second.dims, "dimension")
        )))
    }

    /// The variables of `self.then(second)`.
    fn order(&self, second: &IndexingMap) -> Vec<VariableOrigin> {
        let ranges = |map: &IndexingMap| map.dims..map.dims + map.ranges;
        let run_time = |map: &IndexingMap| map.dims + map.ranges..map.variables();
        let dims = (0..self.dims).map(VariableOrigin::First);
        dims.chain(ranges(second).map(VariableOrigin::Second))
            .chain(ranges(self).map(VariableOrigin::First))
            .chain(run_time(second).map(VariableOrigin::Second))
            .chain(run_time(self).map(VariableOrigin::First))
            .collect()
    }

    /// Refuses to substitute `by` for the variables if the outcome would be too large.
    fn fits(&self, by: &[Expr]) -> Result<(), Error> {
        let sizes: Vec<usize> = by.iter().map(Expr::size).collect();
        let deepest = by.iter().map(Expr::depth).max().unwrap_or(0);
        let (mut size, mut depth) = (0usize, 0);
        for e in self.exprs() {
            e.for_each_var(&mut |v| size = size.saturating_add(sizes[v]));
            depth = depth.max(e.depth());
        }
        if size > LARGEST {
            return Err(
                Error::new(format!("a composition must have at most {LARGEST} operations, found more")).too_large()
            );
        }
        if depth + deepest > DEEPEST {
            return Err(Error::new(format!(
                "a composition must nest at most {DEEPEST} deep, found {}",
                depth + deepest
            ))
            .too_large());
        }
        Ok(())
    }

    /// Renames variables that share a name, and removes names that look like a default name.
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
}

impl Indexing {
    /// The map, if it is one.
    pub fn map(&self) -> Option<&IndexingMap> {
        match self {
            Indexing::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The composition of this and then `second`, as [`IndexingMap::then`]. Empty stays empty; otherwise an undefined
    /// side makes the composition undefined.
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
