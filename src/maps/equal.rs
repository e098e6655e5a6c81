//! Equality of two indexing maps as functions.
//!
//! Two maps are equal if neither has a point, or if they have as many variables of each kind and results, the same
//! points in their domains, and equal results there. `(d0) -> (d0 mod 2)` and `(d0) -> (d0 - d0 floordiv 2 * 2)` are
//! equal; names do not count. Values are integers of any size. Undefined is equal to itself alone.
//!
//! This is an equivalence, and so are the answers: reflexive, symmetric, and never equal, equal and then different. The
//! comparison uses the simplified maps. Over one simplified domain the normal form decides first: results with one sum
//! of atoms are equal. Then follows a search: through all points of both boxes if these have at most [`SEARCHED`] each,
//! else through that many, where finding no difference leaves the question open. So does a point with a value that does
//! not fit in 128 bits.

use crate::maps::domain::Interval;
use crate::maps::map::{Indexing, IndexingMap};
use crate::maps::simplify::Form;
use std::cell::Cell;

/// The most points that are searched.
pub const SEARCHED: u128 = 1_000_000;

/// The answer of a comparison of two maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equality {
    /// They are equal.
    Equal,
    /// They are not.
    Different {
        /// A point at which they differ, if the difference is at a point.
        witness: Option<Vec<i64>>,
        /// The difference.
        reason: String,
    },
    /// Neither was proved.
    Unknown {
        /// The method that found no answer.
        reason: String,
    },
}

impl Indexing {
    /// Compares this with `other`.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::maps::{Equality, Indexing};
    /// let parse = |text| Indexing::parse(text).unwrap();
    /// let a = parse("(d0) -> (d0 mod 2), domain: d0 in [0, 9]");
    /// assert_eq!(a.compare(&parse("(d0) -> (d0 - d0 floordiv 2 * 2), domain: d0 in [0, 9]")), Equality::Equal);
    /// let other = parse("(d0) -> (d0 mod 4), domain: d0 in [0, 9]");
    /// let Equality::Different { witness, .. } = a.compare(&other) else { panic!() };
    /// assert_eq!(witness, Some(vec![2]));
    /// ```
    pub fn compare(&self, other: &Indexing) -> Equality {
        let (a, b) = match (self, other) {
            (Indexing::Map(a), Indexing::Map(b)) => (a, b),
            (Indexing::Undefined, Indexing::Undefined) | (Indexing::KnownEmpty, Indexing::KnownEmpty) => {
                return Equality::Equal;
            }
            (Indexing::Undefined, _) | (_, Indexing::Undefined) => {
                return different(None, "only one of them is undefined");
            }
            (Indexing::KnownEmpty, Indexing::Map(map)) | (Indexing::Map(map), Indexing::KnownEmpty) => {
                let Indexing::Map(simple) = map.simplify() else { return Equality::Equal };
                return match inhabited(&simple) {
                    Searched { found: Some(point), .. } => different(Some(point), "only one of them is empty"),
                    Searched { complete: true, .. } => Equality::Equal,
                    _ => unknown("a point of the domain"),
                };
            }
        };
        a.compare(b)
    }
}

impl IndexingMap {
    /// Compares this with `other`; see [`Indexing::compare`].
    pub fn compare(&self, other: &IndexingMap) -> Equality {
        let shape = |map: &IndexingMap| (map.dims, map.ranges, map.variables(), map.results.len());
        let (a, b) = match (self.simplify(), other.simplify()) {
            (Indexing::Map(a), Indexing::Map(b)) => (a, b),
            (Indexing::Map(map), _) => return Indexing::Map(map).compare(&Indexing::KnownEmpty),
            (_, Indexing::Map(map)) => return Indexing::KnownEmpty.compare(&Indexing::Map(map)),
            _ => return Equality::Equal,
        };
        if shape(&a) != shape(&b) {
            let what = match () {
                () if a.dims != b.dims => "dimension variables",
                () if a.ranges != b.ranges => "range variables",
                () if a.variables() != b.variables() => "run-time variables",
                () => "results",
            };
            // Maps without any point are equal all the same.
            let searched = [inhabited(&a), inhabited(&b)];
            if searched.iter().any(|search| search.found.is_some()) {
                return different(None, &format!("they have different numbers of {what}"));
            }
            return match searched.iter().all(|search| search.complete) {
                true => Equality::Equal,
                false => unknown("a point of either domain"),
            };
        }
        if a.domain == b.domain {
            let mut form = Form::new(&a.domain);
            if a.results.iter().zip(&b.results).all(|(x, y)| x == y || form.same(x, y)) {
                return Equality::Equal;
            }
        }
        let beyond = Cell::new(false);
        let differ = |p: &[i64]| match (value(&a, p), value(&b, p)) {
            (Some(x), Some(y)) => x != y,
            _ => {
                beyond.set(true);
                false
            }
        };
        match find(&[&a.domain.vars, &b.domain.vars], differ) {
            Searched { found: Some(point), .. } => {
                let reason = match (value(&a, &point).flatten(), value(&b, &point).flatten()) {
                    (Some(x), Some(y)) => format!("the results are {x:?} and {y:?}"),
                    (Some(_), None) => "the point is in the first domain only".to_string(),
                    _ => "the point is in the second domain only".to_string(),
                };
                different(Some(point), &reason)
            }
            _ if beyond.get() => Equality::Unknown { reason: "some values do not fit in 128 bits".to_string() },
            Searched { complete: true, .. } => Equality::Equal,
            _ => unknown("a difference"),
        }
    }
}

/// The results at a point, `Some(None)` outside the domain; `None` if a value does not fit in 128 bits.
fn value(map: &IndexingMap, point: &[i64]) -> Option<Option<Vec<i128>>> {
    match map.contains(point)? {
        true => map.results.iter().map(|e| e.wide(point)).collect::<Option<Vec<_>>>().map(Some),
        false => Some(None),
    }
}

/// Searches for a point of the domain; complete where each point was decided.
fn inhabited(map: &IndexingMap) -> Searched {
    let beyond = Cell::new(false);
    let search = find(&[&map.domain.vars], |p| {
        let there = map.contains(p);
        beyond.set(beyond.get() || there.is_none());
        there == Some(true)
    });
    Searched { complete: search.complete && !beyond.get(), ..search }
}

fn different(witness: Option<Vec<i64>>, reason: &str) -> Equality {
    Equality::Different { witness, reason: reason.to_string() }
}

fn unknown(what: &str) -> Equality {
    Equality::Unknown { reason: format!("{SEARCHED} points were searched for {what}, of more than that") }
}

/// The outcome of a search.
struct Searched {
    found: Option<Vec<i64>>,
    /// Whether every point was visited.
    complete: bool,
}

/// Searches the boxes for a point: all points of small boxes, else the first, corners and scattered points.
fn find(boxes: &[&Vec<Interval>], wanted: impl Fn(&[i64]) -> bool) -> Searched {
    let mut maps: Vec<IndexingMap> = boxes.iter().map(|vars| IndexingMap::new((*vars).clone(), Vec::new())).collect();
    maps.dedup();
    if maps.iter().all(|map| map.box_points() <= SEARCHED) {
        let found = maps.iter().flat_map(IndexingMap::points).find(|p| wanted(p));
        return Searched { found, complete: true };
    }
    // A point with many variables takes longer, so fewer are tried.
    let per_box = SEARCHED as usize / maps.len();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for map in maps.iter().filter(|map| map.box_points() > 0) {
        let vars = &map.domain.vars;
        let tries = per_box.min(50_000_000 / (1 + vars.len()));
        // The first points in order show a difference in the fastest variables, scattered ones in all of them.
        if let Some(found) = map.points().take(tries / 4).find(|p| wanted(p)) {
            return Searched { found: Some(found), complete: false };
        }
        for k in tries / 4..tries {
            let coordinate = |i: &Interval| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let length = (i128::from(i.hi) - i128::from(i.lo) + 1) as u128;
                match (k % 8, (state >> 33) % 4) {
                    (0, 0) => i.lo,
                    (0, 1) => i.hi,
                    _ => (i128::from(i.lo) + (u128::from(state >> 1) % length) as i128) as i64,
                }
            };
            let point: Vec<i64> = vars.iter().map(coordinate).collect();
            if wanted(&point) {
                return Searched { found: Some(point), complete: false };
            }
        }
    }
    Searched { found: None, complete: false }
}
