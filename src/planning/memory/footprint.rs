//! The bytes of an array, and its use of lanes.
//!
//! `f32[1000,3]{1,0:T(8,128)}` has 12,000 bytes and takes 512,000: 3 of 128 lanes are used.

use tensor_layout::operations::shape::{Array, Shape, leaves};
use tensor_layout::text::Error;
use tensor_layout::tiled::expansion::Expansion;
use tensor_layout::tiled::layout::TileEntry;

/// The bytes of one or several arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// The bytes of the elements, each of its type's size.
    pub logical: i64,
    /// The bytes allocated.
    pub padded: i64,
}

impl Footprint {
    /// The footprint of an array; `None` if its type has no data or a size is unbounded.
    ///
    /// # Errors
    /// Bytes that overflow 64 bits.
    pub fn of(array: &Array) -> Result<Option<Footprint>, Error> {
        let (true, Some(sizes)) = (array.element.is_data(), array.sizes()) else { return Ok(None) };
        let expansion = Expansion::new(&sizes, &array.layout)?;
        let (logical, padded) = (expansion.logical_bytes(array.element)?, expansion.padded_bytes(array.element)?);
        Ok(Some(Footprint { logical, padded }))
    }

    /// The sum over the arrays of a shape; `None` if none has bytes.
    ///
    /// # Errors
    /// Bytes that overflow 64 bits.
    pub fn of_all(shape: &Shape) -> Result<Option<Footprint>, Error> {
        let mut sum = None;
        for array in leaves(shape) {
            if let Some(footprint) = Footprint::of(array)? {
                sum = Some(footprint.plus(sum.unwrap_or_default())?);
            }
        }
        Ok(sum)
    }

    /// The sum of two footprints.
    ///
    /// # Errors
    /// Bytes that overflow 64 bits.
    pub fn plus(self, other: Footprint) -> Result<Footprint, Error> {
        let sum =
            |a: i64, b: i64| a.checked_add(b).ok_or_else(|| Error::new("the bytes do not fit in 64 bits").too_large());
        Ok(Footprint { logical: sum(self.logical, other.logical)?, padded: sum(self.padded, other.padded)? })
    }

    /// The padding bytes. In a layout cut across memories, the padded bytes count one piece, which may be smaller than
    /// the elements; the waste is then 0.
    pub fn waste(self) -> i64 {
        (self.padded - self.logical).max(0)
    }
}

/// The use of the first tile's last two dimensions, lanes and sublanes, by an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneUse {
    /// The size of the minormost dimension, and the size rounded up to whole tiles.
    pub lanes: (i64, i64),
    /// The sizes of the second minormost dimension, if the tile has two dimensions.
    pub sublanes: Option<(i64, i64)>,
}

impl LaneUse {
    /// The lane use of an array; `None` without tiles, or with tiles that combine dimensions.
    pub fn of(array: &Array) -> Option<LaneUse> {
        let (sizes, tile) = (array.sizes()?, array.layout.tiles.first()?);
        let filled = |place: usize| {
            let TileEntry::Size(tile) = tile.iter().rev().nth(place)? else { return None };
            let size = array.layout.minor_to_major.get(place).map_or(1, |dim| sizes[*dim]);
            Some((size, size.checked_add(tile - 1)? / tile * tile))
        };
        let combines = tile.iter().any(|entry| matches!(entry, TileEntry::Combine));
        (!combines).then_some(())?;
        Some(LaneUse { lanes: filled(0)?, sublanes: filled(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(text: &str) -> Array {
        let Ok(Shape::Array(array)) = Shape::parse(text) else { panic!("{text}") };
        array
    }

    #[test]
    fn lanes_and_sublanes() {
        let used = |text: &str| LaneUse::of(&array(text));
        let found = used("f32[1000,3]{1,0:T(8,128)}").unwrap();
        assert_eq!((found.lanes, found.sublanes), ((3, 128), Some((1000, 1000))));
        assert_eq!(used("bf16[300]{0:T(512)(128)(2,1)}").unwrap().lanes, (300, 512));
        assert_eq!(used("f32[]{:T(128)}").unwrap().lanes, (1, 128));
        assert_eq!(used("f32[4,4]{1,0:T(*,4)}"), None);
        assert_eq!(used("f32[4]{0}"), None);
    }

    #[test]
    fn packed_predicates_are_padded() {
        let footprint = |text: &str| Footprint::of(&array(text)).unwrap();
        assert_eq!(footprint("pred[8]{0:E(32)}"), Some(Footprint { logical: 8, padded: 32 }));
        assert_eq!(footprint("f32[?]"), None);
        assert_eq!(footprint("token[]"), None);
        let (most, one) = (Footprint { logical: 1, padded: i64::MAX }, Footprint { logical: 1, padded: 1 });
        assert_eq!(most.plus(one).unwrap_err().message, "the bytes do not fit in 64 bits");
    }
}
