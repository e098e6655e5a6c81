//! Sets of indices that places have of a dimension.
//!
//! 2 places with 3 indices of 10 each, then the 2 again, have `[0, 3) [6, 9)` and `[3, 6) [9, 10)`.

use super::reading::IndexRange;
use super::spread::NestedCut;

/// Half-open intervals in order, none empty, none next to each other.
pub(super) type IndexSet = Vec<[i64; 2]>;

/// How many indices two sets have in common.
pub(super) fn common(mut read: &[[i64; 2]], mut held: &[[i64; 2]]) -> i64 {
    let mut sum = 0;
    while let ([[start, end], ..], [[from, to], ..]) = (read, held) {
        sum += (end.min(to) - start.max(from)).max(0);
        if end < to { read = &read[1..] } else { held = &held[1..] }
    }
    sum
}

/// The number of indices in a set.
pub(super) fn length(set: &IndexSet) -> i64 {
    set.iter().map(|[start, end]| end - start).sum()
}

/// The indices of a dimension of `size` in pieces of `block`, for all values of the digits that are known, in their order.
pub(super) fn sets_of(
    digits: &[NestedCut],
    known: &dyn Fn(&NestedCut) -> bool,
    block: i64,
    size: i64,
) -> Vec<IndexSet> {
    let values: i64 = digits.iter().filter(|digit| known(digit)).map(|digit| digit.pieces).product();
    let mut sets: Vec<IndexSet> = vec![Vec::new(); values as usize];
    // All neighbours in one set are in one piece.
    let inner = digits.iter().rev().take_while(|digit| !known(digit));
    let span = inner.fold(block, |span, digit| span.saturating_mul(digit.pieces));
    let outer = &digits[..digits.iter().rposition(known).map_or(0, |last| last + 1)];
    let pieces: i64 = outer.iter().map(|digit| digit.pieces).product();
    for piece in 0..pieces {
        let [start, end] = [piece, piece + 1].map(|at| at.saturating_mul(span).min(size));
        if start == end {
            break;
        }
        let (mut below, mut number) = (pieces, 0);
        for digit in outer {
            below /= digit.pieces;
            if known(digit) {
                number = number * digit.pieces + piece / below % digit.pieces;
            }
        }
        add(&mut sets[number as usize], [start, end]);
    }
    sets
}

/// The indices of a dimension of `size` that are at `within` of their pieces of `block`, for all values of the digits that
/// are known, in their order.
pub(super) fn sets_at(
    digits: &[NestedCut],
    known: &dyn Fn(&NestedCut) -> bool,
    block: i64,
    size: i64,
    within: [i64; 2],
) -> Vec<IndexSet> {
    let values: i64 = digits.iter().filter(|digit| known(digit)).map(|digit| digit.pieces).product();
    let mut sets: Vec<IndexSet> = vec![Vec::new(); values as usize];
    let pieces: i64 = digits.iter().map(|digit| digit.pieces).product();
    for piece in 0..pieces {
        let first = piece.saturating_mul(block);
        let [start, end] = within.map(|at| first.saturating_add(at).min(size));
        if start >= end {
            break;
        }
        let (mut below, mut number) = (pieces, 0);
        for digit in digits {
            below /= digit.pieces;
            if known(digit) {
                number = number * digit.pieces + piece / below % digit.pieces;
            }
        }
        add(&mut sets[number as usize], [start, end]);
    }
    sets
}

/// The indices that a range has for those of its loop.
pub(super) fn image(set: &IndexSet, range: IndexRange, size: i64) -> IndexSet {
    let mut found = Vec::with_capacity(set.len());
    for own in set {
        let [start, end] = range.of(*own, size);
        if start < end {
            add(&mut found, [start, end]);
        }
    }
    found
}

/// Adds an interval behind all others, or one that reaches into the last.
fn add(set: &mut IndexSet, [start, end]: [i64; 2]) {
    match set.last_mut() {
        Some(last) if last[1] >= start => last[1] = last[1].max(end),
        _ => set.push([start, end]),
    }
}
