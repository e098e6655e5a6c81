//! Where the elements of an array are, as digits: a form in which equal placements are equal.
//!
//! The offset of element `i` of a dimension of 1024, in tiles of 8 rows that are 3 tiles apart, is
//! `i / 8 * 3072 + i mod 8 * 128`: the digits `(128, 3072), (8, 128)`, an extent and a stride each, most significant first.
//! Two layouts of a shape place every element alike if the digits of all dimensions are equal, where neighbours
//! `(a, b*s), (b, s)` are one digit `(a*b, s)`.
//!
//! A reshape keeps the row-major number of each element. Its digits are those of all dimensions in a row, so a reshape
//! moves nothing if these lists are equal, however they are dealt out to dimensions. A dimension of 250 in tiles of 8 is
//! a barrier: its most significant digit is not used up, so it cannot be a digit of a larger dimension, and stands for
//! itself.

use tensor_layout::tiled::expansion::Expansion;
use tensor_layout::tiled::layout::{Layout, TileEntry};

/// One digit of an index, or of the row-major number of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OffsetDigit {
    /// So many values, a stride of elements apart.
    Exact(i64, i64),
    /// A dimension of this size begins, whose next digit is not used up.
    Barrier(i64),
}

/// The digits of each dimension; `None` for layouts that merge dimensions, or do not fit the sizes.
pub fn by_dimension(sizes: &[i64], layout: &Layout) -> Option<Vec<Vec<OffsetDigit>>> {
    let combines = layout.tiles.iter().flatten().any(|entry| *entry == TileEntry::Combine);
    if combines || !layout.splits.is_empty() || layout.metadata_prefix != 0 {
        return None;
    }
    let expansion = Expansion::new(sizes, layout).ok()?;
    let mut found = vec![Vec::new(); sizes.len()];
    let parts = expansion.strided_dims();
    for (dim, size) in sizes.iter().enumerate().filter(|(_, size)| **size != 1) {
        let own: Vec<_> = parts.iter().filter(|part| part.dim == Some(dim) && part.size != 1).collect();
        let inner: i64 = own.iter().skip(1).map(|part| part.size).product();
        let digits = &mut found[dim];
        for (k, part) in own.iter().enumerate() {
            let used = if k > 0 {
                part.size
            } else if size % inner == 0 {
                size / inner
            } else {
                digits.push(OffsetDigit::Barrier(*size));
                part.size
            };
            push(digits, OffsetDigit::Exact(used, part.stride));
        }
    }
    Some(found)
}

/// The digits of all dimensions in a row.
pub fn in_a_row(dims: &[Vec<OffsetDigit>]) -> Vec<OffsetDigit> {
    let mut found = Vec::new();
    dims.iter().flatten().for_each(|digit| push(&mut found, *digit));
    found
}

/// Adds a digit, as a part of the one before where both are one.
fn push(digits: &mut Vec<OffsetDigit>, digit: OffsetDigit) {
    let OffsetDigit::Exact(extent, stride) = digit else { return digits.push(digit) };
    if extent == 1 {
        return;
    }
    if let Some(OffsetDigit::Exact(n, above)) = digits.last_mut()
        && stride.checked_mul(extent) == Some(*above)
    {
        *n *= extent;
        *above = stride;
        return;
    }
    digits.push(digit);
}
