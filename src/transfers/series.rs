//! Splits a sequence of offset pairs into few strided pieces.
//!
//! Offsets `0 1 2 3 12 13 14 15 24` are pieces of 4, 4 and 1 with stride 1; the two of 4 form one piece of 2 by 4 with
//! strides 12 and 1. Pieces with equal loops and equidistant starts become one piece, until nothing changes.

use std::collections::HashMap;

/// An offset in the source and one in the destination.
pub type OffsetPair = (i64, i64);

/// Loops, the innermost first: the number of steps and the stride of each.
pub type StridedLoops = Vec<(i64, OffsetPair)>;

/// Offset pairs from a start, through loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StridedPiece {
    pub start: OffsetPair,
    pub loops: StridedLoops,
}

/// The owner of an element where the distance changes: such an element is in two runs of equal distance.
#[derive(Clone, Copy)]
enum CutRule {
    /// The longer run.
    Longest,
    /// The first run.
    First,
    /// The last run.
    Last,
}

/// Splits a sequence into pieces; the best of three cut rules.
pub fn pieces(pairs: &[OffsetPair]) -> Vec<StridedPiece> {
    let single = |start: &OffsetPair| StridedPiece { start: *start, loops: Vec::new() };
    let all = || pairs.iter().map(single).collect();
    let ways = [CutRule::Longest, CutRule::First, CutRule::Last].map(|rule| joined_by(all(), rule));
    ways.into_iter().min_by_key(Vec::len).unwrap_or_default()
}

/// Joins pieces with equal loops and equidistant starts.
pub fn joined(pieces: Vec<StridedPiece>) -> Vec<StridedPiece> {
    joined_by(pieces, CutRule::Longest)
}

fn joined_by(mut pieces: Vec<StridedPiece>, rule: CutRule) -> Vec<StridedPiece> {
    loop {
        let count = pieces.len();
        let mut numbers: HashMap<StridedLoops, usize> = HashMap::new();
        let mut starts: Vec<(StridedLoops, Vec<OffsetPair>)> = Vec::new();
        for StridedPiece { start, loops } in pieces {
            let number = *numbers.entry(loops.clone()).or_insert(starts.len());
            if number == starts.len() {
                starts.push((loops, Vec::new()));
            }
            starts[number].1.push(start);
        }
        pieces = Vec::new();
        for (loops, starts) in starts {
            for (first, length) in runs(&starts, rule) {
                let mut loops = loops.clone();
                if length > 1 {
                    loops.push((length as i64, distance(starts[first], starts[first + 1])));
                }
                pieces.push(StridedPiece { start: starts[first], loops });
            }
        }
        if pieces.len() == count {
            return pieces;
        }
    }
}

fn distance(a: OffsetPair, b: OffsetPair) -> OffsetPair {
    (b.0 - a.0, b.1 - a.1)
}

/// The runs of equal distance, as first elements and lengths, in order.
fn runs(starts: &[OffsetPair], rule: CutRule) -> Vec<(usize, usize)> {
    // Maximal runs: the last element of one is the first of the next.
    let mut longest: Vec<(usize, usize)> = Vec::new();
    let mut first = 0;
    for at in 1..starts.len() {
        let goes_on =
            at + 1 < starts.len() && distance(starts[at - 1], starts[at]) == distance(starts[at], starts[at + 1]);
        if !goes_on {
            longest.push((first, at));
            first = at;
        }
    }
    match rule {
        CutRule::First => {}
        CutRule::Last => longest.reverse(),
        CutRule::Longest => longest.sort_by_key(|(first, last)| std::cmp::Reverse(last - first)),
    }
    let mut taken = vec![false; starts.len()];
    let mut runs = Vec::new();
    for (first, last) in longest {
        let (first, last) = (first + usize::from(taken[first]), last + 1 - usize::from(taken[last]));
        if first + 1 < last {
            taken[first..last].fill(true);
            runs.push((first, last - first));
        }
    }
    runs.extend((0..starts.len()).filter(|at| !taken[*at]).map(|at| (at, 1)));
    runs.sort_unstable();
    runs
}
