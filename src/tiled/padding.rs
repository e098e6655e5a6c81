//! Padding that has an index: elements of whole tiles beyond the end of a dimension.
//!
//! `f32[3,5]{1,0:T(2,2)}` has places for the indices of a `f32[4,6]`: a fourth row and a sixth column are padding.
//! Other padding has no index: rounding of tiles themselves, as in `T(8,128)(3,1)`, tail padding, and padding behind
//! dimensions that `*` merges.

use crate::tiled::expansion::Expansion;

impl Expansion {
    /// The sizes of the dimensions with full tiles: each rounded up to whole tiles, or unchanged without
    /// tiles. [`Expansion::offset`] of the same layout on these sizes agrees on all elements of this one, and has
    /// the others in its padding, no two at one place.
    ///
    /// For every index below the product of a tile's quotient and remainder sizes, both are below their sizes, and all
    /// later steps depend on sizes that are the same in both expansions.
    pub fn whole_sizes(&self) -> Vec<i64> {
        let equations = self.equations();
        let whole = |(dim, size): (usize, &i64)| {
            let cut = equations.digits.iter().find(|(value, ..)| *value == dim);
            cut.and_then(|(_, tiles, by, _)| equations.sizes[*tiles].checked_mul(*by)).unwrap_or(*size)
        };
        self.logical_sizes().iter().enumerate().map(whole).collect()
    }
}
