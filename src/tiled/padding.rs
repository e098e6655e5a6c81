//! Which padding has an index: the elements that whole tiles have beyond the end of a dimension.
//!
//! `f32[3,5]{1,0:T(2,2)}` has places for the indices of a `f32[4,6]`: those of a third and fourth row and of a sixth
//! column are padding. Other padding has no index: what rounds tiles themselves up, as `T(8,128)(3,1)` does, what the
//! tail alignment adds, and what is behind dimensions that `*` merges.

use crate::tiled::expansion::Expansion;

impl Expansion {
    /// The sizes of the dimensions with all of their tiles full: each rounded up to the size of the tile that cuts it,
    /// and unchanged where none does. [`Expansion::offset`] of the same layout on these sizes has all elements where
    /// this one has them, and the others in its padding, no two at one place.
    ///
    /// A tile's quotient and remainder are below their sizes for every index below the product of these, and all that
    /// follows depends on sizes that are the same for both.
    pub fn whole_sizes(&self) -> Vec<i64> {
        let equations = self.equations();
        let whole = |(dim, size): (usize, &i64)| {
            let cut = equations.digits.iter().find(|(value, ..)| *value == dim);
            cut.and_then(|(_, tiles, by, _)| equations.sizes[*tiles].checked_mul(*by)).unwrap_or(*size)
        };
        self.logical_sizes().iter().enumerate().map(whole).collect()
    }
}
