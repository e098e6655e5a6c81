//! Sizes of arrays, as the rules of shapes compare them.

use crate::operations::shape::Array;
use std::fmt;

/// The size of a dimension; `None` if it is known only at run time. A bound counts as a size.
pub type Size = Option<i64>;

/// The sizes of an array. Prints as `[2, ?, 3]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<Size>);

impl Sizes {
    /// The sizes of an array.
    pub fn of(array: &Array) -> Sizes {
        Sizes(array.dims.iter().map(|dim| dim.bound()).collect())
    }

    /// The sizes of a scalar.
    pub fn scalar() -> Sizes {
        Sizes(Vec::new())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Whether two arrays may have the same sizes: an unknown size fits any.
    pub fn fits(&self, other: &Sizes) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| fits(*a, *b))
    }

    /// The sizes of these dimensions, in this order.
    pub(super) fn at(&self, dims: &[usize]) -> Vec<Size> {
        dims.iter().map(|dim| self.0[*dim]).collect()
    }

    /// The sizes of all other dimensions.
    pub(super) fn without(&self, dims: &[usize]) -> Vec<Size> {
        self.at(&without(self.rank(), &[dims]))
    }

    /// The number of elements: `None` if a size is unknown, an error if it does not fit in 128 bits.
    pub fn elements(&self) -> Result<Option<i128>, TooLarge> {
        if self.0.contains(&Some(0)) {
            return Ok(Some(0));
        }
        let mut all = 1i128;
        for size in &self.0 {
            let Some(size) = size else { return Ok(None) };
            all = all.checked_mul((*size).into()).ok_or(TooLarge)?;
        }
        Ok(Some(all))
    }
}

/// A number of elements, or a size, that does not fit in its integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Whether two dimensions may have the same size.
pub(crate) fn fits(a: Size, b: Size) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// The dimensions below `rank` that are in none of these lists.
pub fn without(rank: usize, lists: &[&[usize]]) -> Vec<usize> {
    let mut kept = vec![true; rank];
    for dim in lists.iter().flat_map(|list| list.iter()) {
        if let Some(kept) = kept.get_mut(*dim) {
            *kept = false;
        }
    }
    (0..rank).filter(|dim| kept[*dim]).collect()
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (k, size) in self.0.iter().enumerate() {
            f.write_str(if k == 0 { "" } else { ", " })?;
            match size {
                Some(size) => write!(f, "{size}")?,
                None => f.write_str("?")?,
            }
        }
        f.write_str("]")
    }
}
