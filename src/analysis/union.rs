//! The union of accesses: each map once, with limits on their number and size.

use super::access::{Access, Mapped};
use super::flow::{MOST_MAPS, MOST_OPERATIONS, TOO_MUCH, ValueRef};
use crate::maps::domain::Interval;
use crate::maps::equal::Equality;
use crate::maps::map::IndexingMap;
use std::collections::BTreeSet;

/// The limit on reasons.
const MOST_REASONS: usize = 8;
/// The number of maps compared directly before the canonical texts are.
const FIRST: usize = 4;
/// The limits on maps compared point by point, and on their points.
const COMPARED: (usize, u128) = (16, 4096);
/// The number of sample points compared before.
const SAMPLES: i64 = 8;

/// A growing union of accesses.
#[derive(Clone, Debug)]
pub struct Union {
    pub access: Access<ValueRef>,
    /// The canonical text of each map.
    texts: BTreeSet<String>,
}

impl Default for Union {
    fn default() -> Union {
        Union { access: Access::none(), texts: BTreeSet::new() }
    }
}

impl Union {
    pub fn of(access: Access<ValueRef>) -> Union {
        let mut union = Union::default();
        access.maps.into_iter().for_each(|m| union.add(m));
        union.access.unknown = access.unknown;
        union
    }

    pub fn is_empty(&self) -> bool {
        self.access.is_empty()
    }

    /// Adds the composition of `first` and `second`, through an array of these sizes, within the remaining work.
    pub fn extend(
        &mut self,
        first: &Access<ValueRef>,
        second: &Access<ValueRef>,
        sizes: Option<&[i64]>,
        work: &mut u64,
    ) {
        if first.is_empty() || second.is_empty() {
            return;
        }
        for reason in first.unknown.iter().chain(&second.unknown) {
            self.doubt(reason);
        }
        // An index that is read of an array is in its range.
        let inside: Vec<Interval> = sizes.unwrap_or(&[]).iter().map(|n| Interval::new(0, n - 1)).collect();
        for a in &first.maps {
            for b in &second.maps {
                if b.is_identity(&inside) {
                    self.add(a.clone());
                    continue;
                }
                if a.is_identity(&inside) {
                    self.add(b.clone());
                    continue;
                }
                let size = |m: &Mapped<ValueRef>| u64::from(m.map.cost()) + m.map.variables() as u64;
                let Some(left) = work.checked_sub(size(a) + size(b)) else {
                    return self.doubt(TOO_MUCH);
                };
                *work = left;
                match a.then_within(b, &inside) {
                    Ok(Some(both)) if both.map.cost() > MOST_OPERATIONS => {
                        self.doubt(&format!("a map has more than {MOST_OPERATIONS} operations"));
                    }
                    Ok(Some(both)) => self.add(both),
                    Ok(None) => {}
                    Err(error) => self.doubt(&error.message),
                }
            }
        }
    }

    fn doubt(&mut self, reason: &str) {
        let unknown = &mut self.access.unknown;
        if unknown.len() < MOST_REASONS && !unknown.iter().any(|other| other == reason) {
            unknown.push(reason.to_string());
        }
    }

    fn add(&mut self, mapped: Mapped<ValueRef>) {
        if self.access.maps.len() >= MOST_MAPS {
            return self.doubt(&format!("there are more than {MOST_MAPS} maps"));
        }
        if self.access.maps.iter().take(FIRST).any(|other| *other == mapped) {
            return;
        }
        if !self.texts.insert(mapped.canonical().to_string()) {
            return;
        }
        let (most, points) = COMPARED;
        let equal = |other: &Mapped<ValueRef>| {
            let alike = other.run_time == mapped.run_time && other.map.domain.vars == mapped.map.domain.vars;
            alike
                && mapped.map.box_points() <= points
                && !differ(&other.map, &mapped.map)
                && other.map.compare(&mapped.map) == Equality::Equal
        };
        if self.access.maps.len() > most || !self.access.maps.iter().any(equal) {
            self.access.maps.push(mapped);
        }
    }
}

/// Whether two maps over the same variables differ at a few sample points.
fn differ(a: &IndexingMap, b: &IndexingMap) -> bool {
    let vars = &a.domain.vars;
    // Corners, and points inside at another fraction of each interval.
    let at = |k: i64| {
        move |(v, i): (usize, &Interval)| {
            let length = i128::from(i.hi) - i128::from(i.lo) + 1;
            match k {
                0 => i.lo,
                1 => i.hi,
                _ => (i128::from(i.lo) + (i128::from(k) * 7 + v as i128 * 5) % length) as i64,
            }
        }
    };
    (0..SAMPLES).any(|k| {
        let point: Vec<i64> = vars.iter().enumerate().map(at(k)).collect();
        matches!((a.evaluate(&point), b.evaluate(&point)), (Ok(x), Ok(y)) if x != y)
    })
}
