//! A table of results for sums. Sums are looked up by reference, and copied only when a result is kept.

use super::sum::Sum;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The results for pairs of a sum and a number. Only looked up, never iterated, so nothing depends on its order.
///
/// Entries whose hashes end in the same bits are a list, the last one first. There are at least as many lists as
/// entries.
pub(super) struct Memo<V> {
    /// The first entry of each list, or [`NONE`]; their number is a power of two, or 0 while there is no entry.
    heads: Vec<u32>,
    entries: Vec<Entry<V>>,
}

struct Entry<V> {
    hash: u64,
    sum: Sum,
    number: i64,
    found: V,
    /// The next entry of the list, or [`NONE`].
    next: u32,
}

/// No entry.
const NONE: u32 = u32::MAX;

/// The initial capacity, in sums.
const PLACES: usize = 16;

impl<V> Memo<V> {
    pub fn new() -> Memo<V> {
        Memo { heads: Vec::new(), entries: Vec::new() }
    }

    pub fn get(&self, sum: &Sum, number: i64) -> Option<&V> {
        if self.entries.is_empty() {
            return None;
        }
        let hash = hash(sum, number);
        let mut next = self.heads[self.list(hash)];
        while next != NONE {
            let entry = &self.entries[next as usize];
            if entry.hash == hash && entry.number == number && entry.sum == *sum {
                return Some(&entry.found);
            }
            next = entry.next;
        }
        None
    }

    /// Stores the result for a sum that has none.
    pub fn insert(&mut self, sum: Sum, number: i64, found: V) {
        if self.entries.len() == self.heads.len() {
            self.grow();
        }
        let hash = hash(&sum, number);
        let list = self.list(hash);
        let next = std::mem::replace(&mut self.heads[list], self.entries.len() as u32);
        self.entries.push(Entry { hash, sum, number, found, next });
    }

    /// The number of the list of a hash.
    fn list(&self, hash: u64) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    /// Doubles the number of lists.
    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.heads.len()).max(PLACES);
        self.entries.reserve_exact(places - self.entries.len());
        self.heads = vec![NONE; places];
        for k in 0..self.entries.len() {
            let list = self.list(self.entries[k].hash);
            self.entries[k].next = std::mem::replace(&mut self.heads[list], k as u32);
        }
    }
}

fn hash(sum: &Sum, number: i64) -> u64 {
    FxBuildHasher.hash_one((sum, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a searched list, past several sizes of the table.
    #[test]
    fn what_was_found_is_found_again() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut memo, mut list) = (Memo::new(), Vec::new());
        for k in 0..2000 {
            let sum = Sum { constant: random.i64(-9..=9), ..Sum::atom(random.u32(0..20)) };
            let number = random.i64(0..9);
            let known = list.iter().find(|(s, n, _)| (s, *n) == (&sum, number)).map(|known: &(Sum, i64, i32)| known.2);
            assert_eq!(memo.get(&sum, number).copied(), known);
            if known.is_none() {
                memo.insert(sum.clone(), number, k);
                list.push((sum, number, k));
            }
        }
    }
}
