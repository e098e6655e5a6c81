//! The digits of two placements, cut until they are common to both.

use super::tree::{FROM, TO, Tree};
use crate::places::placement::Placement;
use crate::places::search::Digit;

/// A digit of one side.
#[derive(Clone, Copy)]
pub struct Piece {
    /// The dimension. A copy in the destination counts as an index of its own dimension, a copy in the source has
    /// `None`.
    pub dim: Option<usize>,
    pub weight: i64,
    pub extent: i64,
    pub axis: usize,
    pub stride: i64,
}

/// The digits of a side. Digits of an axis have a value for each of its places, also for places without an element.
pub fn pieces(tree: &Tree, side: &Placement) -> Vec<Piece> {
    let axis = |axis: usize| match side.axes().get(axis) {
        Some(name) => tree.axes.iter().position(|known| known == name).unwrap_or(tree.address()),
        None => tree.address(),
    };
    let digits = side.digits().iter().filter(|digit| digit.extent > 1);
    let piece = |digit: &Digit| Piece {
        dim: digit.dim,
        weight: digit.weight,
        extent: digit.extent,
        axis: axis(digit.axis),
        stride: digit.stride,
    };
    digits.map(piece).collect()
}

/// The digits limited to the values below the sizes.
pub fn reached(mut pieces: Vec<Piece>, sizes: &[i64]) -> Vec<Piece> {
    for piece in &mut pieces {
        if let Some(dim) = piece.dim {
            piece.extent = piece.extent.min((sizes[dim] - 1) / piece.weight + 1);
        }
    }
    pieces.retain(|piece| piece.extent > 1);
    pieces
}

/// Cuts the digits of both sides until neither the other's weights nor strides along the axis cut them further. The
/// digits are whole, or limited by these sizes: see [`reached`].
pub fn refine(tree: &Tree, sizes: Option<&[i64]>, sides: &mut [Vec<Piece>; 2]) {
    let mut again = true;
    while std::mem::take(&mut again) {
        for side in [FROM, TO] {
            let mut k = 0;
            while let Some(piece) = sides[side].get(k).copied() {
                let Some(factor) = cut(tree, sizes, sides, &piece) else {
                    k += 1;
                    continue;
                };
                again = true;
                sides[side][k] = Piece { extent: factor, ..piece };
                // If the size cuts off the highest digit, its upper part may be larger than before.
                let extent = (piece.extent - 1) / factor + 1;
                let weight = if piece.dim.is_some() { piece.weight * factor } else { 1 };
                sides[side].push(Piece { weight, extent, stride: piece.stride * factor, ..piece });
            }
        }
    }
}

/// The place of a possible cut in a digit: the number of values of its lower part.
fn cut(tree: &Tree, sizes: Option<&[i64]>, sides: &[Vec<Piece>; 2], piece: &Piece) -> Option<i64> {
    let end = i128::from(piece.weight) * i128::from(piece.extent);
    let top = |dim: usize| sizes.is_some_and(|sizes| end >= i128::from(sizes[dim]));
    let factor = |step: i64, other: i64| {
        // Most are outside; this test needs no division for them.
        let inside = other > step && step > 0 && other < step.saturating_mul(piece.extent) && other % step == 0;
        Some(other / step.max(1)).filter(|factor| {
            inside
                && (piece.extent % factor == 0 || piece.dim.is_some_and(top))
                && piece.dim.is_none_or(|dim| divides(sides, dim, piece.weight * factor))
        })
    };
    let mut others = sides.iter().flatten();
    let found = others.find_map(|other| {
        // Whole digits of one dimension may end apart: the other side may have more places than elements.
        let weights = || [Some(other.weight), other.weight.checked_mul(other.extent)].into_iter().flatten();
        let by_weight = || {
            let same = piece.dim.is_some() && other.dim == piece.dim;
            if same { weights().find_map(|weight| factor(piece.weight, weight)) } else { None }
        };
        let by_stride = || factor(piece.stride, other.stride);
        // A copy is chosen for whole digits, so it also cuts at its end.
        let end = || other.stride.checked_mul(other.extent).filter(|_| other.dim.is_none());
        let by_end = || end().and_then(|end| factor(piece.stride, end));
        let along = || if other.axis == piece.axis { by_stride().or_else(by_end) } else { None };
        by_weight().or_else(along)
    });
    let groups = || tree.levels.iter().filter(|level| level.axis == piece.axis);
    found.or_else(|| groups().find_map(|level| factor(piece.stride, level.unit)))
}

/// Whether a weight of a dimension divides or is divided by each weight of both sides.
pub fn divides(sides: &[Vec<Piece>; 2], dim: usize, weight: i64) -> bool {
    let mut others = sides.iter().flatten().filter(|piece| piece.dim == Some(dim)).map(|piece| piece.weight);
    others.all(|other| weight % other == 0 || other % weight == 0)
}
