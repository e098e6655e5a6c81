//! The tiling rule: the effect of one tile of a layout on the indices of an array.
//!
//! A tile `T(8,128)` belongs to the last indices in memory order, as many as it has entries. The rule splits each of
//! them: first come the quotients by the tile's sizes, then the remainders. The indices `[i, j]` become
//! `[i / 8, j / 128, i mod 8, j mod 128]`. The next tile continues with these four. Two cases are special:
//!
//! - An entry `*` merges its index into the next one: `T(*,128)` makes one index of `[i, j]`, `i * size of j + j`, and
//!   splits it.
//! - A tile with more entries than indices gets dimensions of size 1 in front. `T(8,128)` on `[j]` is
//!   `T(8,128)` on `[0, j]`. Such an index adds nothing to a merge, so it is left out there.
//!
//! The rule is generic in the index: [`Tiling`] splits and merges it. An index may be the number of a
//! value of known size (see [`Expansion`](super::expansion::Expansion)), or an expression for arrays of any size.

use crate::tiled::layout::TileEntry;
use std::mem;

/// Operations on indices that the tiling rule needs.
pub trait Tiling {
    /// The index of a dimension.
    type Index;
    /// The reason why indices cannot be split or merged.
    type Error;

    /// The index of one more dimension of size 1, in front of the others.
    fn leading(&mut self) -> Self::Index;

    /// The merged index of two or more dimensions, majormost first.
    ///
    /// # Errors
    /// The reason why they cannot be merged.
    fn merge(&mut self, indices: Vec<Self::Index>) -> Result<Self::Index, Self::Error>;

    /// The quotient and the remainder by a tile's size.
    ///
    /// # Errors
    /// The reason why it cannot be split.
    fn split(&mut self, index: Self::Index, by: i64) -> Result<[Self::Index; 2], Self::Error>;

    /// Applies one tile to the indices of all dimensions, majormost first. The last entry of the tile is a size.
    ///
    /// # Errors
    /// As [`Tiling::merge`] and [`Tiling::split`].
    fn tile(&mut self, indices: &mut Vec<Self::Index>, tile: &[TileEntry]) -> Result<(), Self::Error> {
        let missing = tile.len().saturating_sub(indices.len());
        let mut tiled = indices.split_off(indices.len() - (tile.len() - missing)).into_iter();
        let (mut whole, mut run) = (Vec::with_capacity(tile.len()), Vec::new());
        for (position, entry) in tile.iter().enumerate() {
            match entry {
                TileEntry::Combine if position < missing => {}
                TileEntry::Combine => run.extend(tiled.next()),
                TileEntry::Size(size) => {
                    let index = if position < missing { Some(self.leading()) } else { tiled.next() };
                    let index = if run.is_empty() {
                        index
                    } else {
                        run.extend(index);
                        Some(self.merge(mem::take(&mut run))?)
                    };
                    whole.extend(index.map(|index| (index, *size)));
                }
            }
        }
        let mut remainders = Vec::with_capacity(whole.len());
        for (index, size) in whole {
            let [quotient, remainder] = self.split(index, size)?;
            indices.push(quotient);
            remainders.push(remainder);
        }
        indices.extend(remainders);
        Ok(())
    }
}
