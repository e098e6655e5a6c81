//! Whether two indexing maps are the same function.
//!
//! Two maps are equal where they have as many variables of each kind and results, the same points in their domains, and
//! equal results there. `(d0) -> (d0 mod 2)` and `(d0) -> (d0 - d0 floordiv 2 * 2)` are; names do not count. The normal
//! form decides first, and a search second: through all points where there are at most [`SEARCHED`], else through
//! that many, in which case finding no difference leaves the question open.

use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::map::{Indexing, IndexingMap};
use crate::maps::simplify::Form;

/// How many points are searched.
pub const SEARCHED: u128 = 1_000_000;

/// What is known of the equality of two maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equality {
    /// They are equal.
    Equal,
    /// They are not.
    Different {
        /// A point at which they differ, where they differ at one.
        witness: Option<Vec<i64>>,
        /// How they differ.
        reason: String,
    },
    /// Neither could be shown.
    Unknown {
        /// What was tried.
        reason: String,
    },
}

impl Indexing {
    /// Whether this and `other` are the same.
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
                return match find(&[&simple.domain.vars], |p| map.contains(p) == Some(true)) {
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
    /// Whether this and `other` are the same; see [`Indexing::compare`].
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
            // Without any point there is no difference, though.
            let point = |map: &IndexingMap| find(&[&map.domain.vars], |p| map.contains(p) == Some(true));
            let (of_a, of_b) = (point(&a), point(&b));
            let none = |search: &Searched| search.found.is_none() && search.complete;
            if none(&of_a) && none(&of_b) {
                return Equality::Equal;
            }
            return different(None, &format!("they have different numbers of {what}"));
        }
        if a.domain == b.domain {
            let mut form = Form::new(&a.domain);
            let zero = |(x, y): (&Expr, &Expr)| {
                x == y || form.interval(&(x.clone() + y.clone().times(-1))) == Interval::new(0, 0)
            };
            if a.results.iter().zip(&b.results).all(zero) {
                return Equality::Equal;
            }
        }
        // Where a value does not fit, nothing is said.
        let differ = |p: &[i64]| match (a.evaluate(p), b.evaluate(p)) {
            (Ok(x), Ok(y)) => x != y,
            _ => false,
        };
        match find(&[&a.domain.vars, &b.domain.vars], differ) {
            Searched { found: Some(point), .. } => {
                let reason = match (a.evaluate(&point), b.evaluate(&point)) {
                    (Ok(Some(_)), Ok(None)) => "the point is in the first domain only".to_string(),
                    (Ok(None), Ok(Some(_))) => "the point is in the second domain only".to_string(),
                    (Ok(Some(x)), Ok(Some(y))) => format!("the results are {x:?} and {y:?}"),
                    _ => "they differ".to_string(),
                };
                different(Some(point), &reason)
            }
            Searched { complete: true, .. } => Equality::Equal,
            _ => unknown("a difference"),
        }
    }
}

fn different(witness: Option<Vec<i64>>, reason: &str) -> Equality {
    Equality::Different { witness, reason: reason.to_string() }
}

fn unknown(what: &str) -> Equality {
    Equality::Unknown { reason: format!("{SEARCHED} points were searched for {what}, of more than that") }
}

/// How a search went.
struct Searched {
    found: Option<Vec<i64>>,
    /// Whether every point was looked at.
    complete: bool,
}

/// Searches the boxes for a point: all of it where they are small, else corners and scattered points.
fn find(boxes: &[&Vec<Interval>], wanted: impl Fn(&[i64]) -> bool) -> Searched {
    let mut maps: Vec<IndexingMap> = boxes.iter().map(|vars| IndexingMap::new((*vars).clone(), Vec::new())).collect();
    maps.dedup();
    if maps.iter().all(|map| map.box_points() <= SEARCHED) {
        let found = maps.iter().flat_map(IndexingMap::points).find(|p| wanted(p));
        return Searched { found, complete: true };
    }
    // A point with many variables takes longer.
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
