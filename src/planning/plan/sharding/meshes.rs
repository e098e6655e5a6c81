//! The spreads over devices that are tried: those of meshes of two axes.
//!
//! 256 devices are meshes of 256, 128 * 2, 2 * 128, 64 * 4, 4 * 64, 32 * 8, 8 * 32 and 16 * 16. Each axis of a mesh cuts a dimension, or has copies;
//! a dimension may be cut by both. Pieces are of one size: where devices do not divide a dimension, it is not cut. So all
//! devices have as much, and what they move depends on the cuts alone.

use super::reading::IndexRange;
use super::spread::{AxisCut, Spread};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The most meshes of up to two axes that are tried, those with axes that differ least. 4096 devices have 12, 65536 have 16.
const MOST_MESHES: usize = 16;

/// The most dimensions or loops of which each may be cut, the largest: with 12 meshes of up to two axes there are 500 spreads of 6.
const MOST_CUT: usize = 6;

/// The most axes of a mesh that is not one of ours.
const MOST_AXES: usize = 4;

/// The extents of meshes of so many devices, the outer axis first: that of the torus itself, those of two axes in both
/// orders, the squarest first, and one axis alone.
pub(super) fn meshes(count: i64, own: &[i64]) -> Vec<Vec<i64>> {
    let mut found = Vec::new();
    let mut inner = 2i64;
    while inner.checked_mul(inner).is_some_and(|square| square <= count) {
        if count % inner == 0 {
            let outer = count / inner;
            if outer != inner {
                found.push(vec![inner, outer]);
            }
            found.push(vec![outer, inner]);
        }
        inner += 1;
    }
    found.reverse();
    found.truncate(MOST_MESHES - 1);
    found.push(vec![count]);
    if (2..=MOST_AXES).contains(&own.len()) && own.iter().all(|extent| *extent > 1) && !found.contains(&own.to_vec()) {
        found.insert(0, own.to_vec());
    }
    found
}

/// The mesh of so many devices that a spread is of: the parts of the axis that it has cuts or copies along. None where it has
/// many, or leaves devices out.
pub(super) fn mesh_of(spread: &Spread, count: i64) -> Option<Vec<i64>> {
    let mesh: Vec<i64> = spread.axes.first()?.iter().map(|cut| cut.pieces).collect();
    let all = mesh.iter().fold(1i64, |n, pieces| n.saturating_mul(*pieces));
    (mesh.len() <= MOST_AXES && all == count).then_some(mesh)
}

/// The spreads of meshes over dimensions or loops of these sizes, each once; `may` says whether one may have so many pieces.
pub(super) fn spreads(meshes: &[Vec<i64>], sizes: &[i64], may: &dyn Fn(usize, i64) -> bool) -> Vec<Spread> {
    let mut known = BTreeSet::new();
    let mut largest: Vec<usize> = (0..sizes.len()).filter(|of| sizes[*of] > 1).collect();
    largest.sort_by_key(|of| Reverse(sizes[*of]));
    largest.truncate(MOST_CUT);
    largest.sort_unstable();
    let dims = largest.len();
    let mut found = Vec::new();
    for mesh in meshes {
        // A number with a digit for each axis of the mesh: the dimension, or `dims` for copies.
        let mut of = vec![0usize; mesh.len()];
        loop {
            let cut = |(of, pieces): (&usize, &i64)| match *of < dims {
                true => AxisCut::of(largest[*of], *pieces),
                false => AxisCut::copies(*pieces),
            };
            let mut spread = Spread { axes: vec![of.iter().zip(mesh).map(cut).collect()], local: Vec::new() };
            spread.settle();
            let fits = |dim: usize| match spread.pieces(dim) {
                1 => true,
                pieces => may(dim, pieces),
            };
            if largest.iter().all(|dim| fits(*dim)) && known.insert(spread.clone()) {
                found.push(spread);
            }
            let Some(next) = (0..of.len()).rev().find(|k| of[*k] < dims) else { break };
            of[next] += 1;
            of[next + 1..].fill(0);
        }
    }
    found
}

/// Whether equal pieces of a loop read equal pieces of a dimension.
pub(super) fn evenly(range: IndexRange, [extent, size]: [i64; 2], pieces: i64) -> bool {
    if extent % pieces != 0 || size % pieces != 0 {
        return false;
    }
    let [own, read] = [extent / pieces, size / pieces];
    [0, 1, pieces - 1].iter().all(|k| range.of([k * own, (k + 1) * own], size) == [k * read, (k + 1) * read])
}
