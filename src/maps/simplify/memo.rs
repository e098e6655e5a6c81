//! Results remembered for sums. A sum is looked up by reference, and copied only when its result is kept.

use super::sum::Sum;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// What was found for each pair of a sum and a number. Only looked up, never walked, so nothing depends on its order.
pub(super) struct Memo<V> {
    /// The last entry for each hash.
    last: FxHashMap<u64, u32>,
    entries: Vec<Entry<V>>,
}

struct Entry<V> {
    sum: Sum,
    number: i64,
    found: V,
    /// The entry before it for the same hash.
    before: Option<u32>,
}

/// For how many sums there is place from the start.
const PLACES: usize = 14;

impl<V> Memo<V> {
    pub fn new() -> Memo<V> {
        let last = FxHashMap::with_capacity_and_hasher(PLACES, FxBuildHasher);
        Memo { last, entries: Vec::with_capacity(PLACES) }
    }

    /// One that is seldom used.
    pub fn empty() -> Memo<V> {
        Memo { last: FxHashMap::default(), entries: Vec::new() }
    }

    pub fn get(&self, sum: &Sum, number: i64) -> Option<&V> {
        let mut next = self.last.get(&hash(sum, number)).copied();
        while let Some(entry) = next.map(|k| &self.entries[k as usize]) {
            if entry.number == number && entry.sum == *sum {
                return Some(&entry.found);
            }
            next = entry.before;
        }
        None
    }

    /// Remembers what was found for a sum, for which nothing is known.
    pub fn insert(&mut self, sum: Sum, number: i64, found: V) {
        let before = self.last.insert(hash(&sum, number), self.entries.len() as u32);
        self.entries.push(Entry { sum, number, found, before });
    }
}

fn hash(sum: &Sum, number: i64) -> u64 {
    FxBuildHasher.hash_one((sum, number))
}
