//! The bytes of an array, and the lanes that it fills.
//!
//! `f32[1000,3]{1,0:T(8,128)}` has 12,000 bytes and takes 512,000: 3 of 128 lanes are filled.

use crate::operations::shape::{Array, Shape, leaves};
use crate::text::Error;
use crate::tiled::expansion::Expansion;
use crate::tiled::layout::TileEntry;

/// The bytes of an array or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Those of the elements, each of its type's size.
    pub logical: i64,
    /// Those that memory is taken for.
    pub padded: i64,
}

impl Footprint {
    /// Of an array; `None` where it is no data or has a size without a bound.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes.
    pub fn of(array: &Array) -> Result<Option<Footprint>, Error> {
        let (true, Some(sizes)) = (array.element.is_data(), array.sizes()) else { return Ok(None) };
        let expansion = Expansion::new(&sizes, &array.layout)?;
        let (logical, padded) = (expansion.logical_bytes(array.element)?, expansion.padded_bytes(array.element)?);
        Ok(Some(Footprint { logical, padded }))
    }

    /// Of the arrays of a shape together; `None` where none has bytes.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes.
    pub fn of_all(shape: &Shape) -> Result<Option<Footprint>, Error> {
        let mut sum = None;
        for array in leaves(shape) {
            if let Some(footprint) = Footprint::of(array)? {
                sum = Some(footprint.plus(sum.unwrap_or_default())?);
            }
        }
        Ok(sum)
    }

    /// Of both together.
    ///
    /// # Errors
    /// 64 bits do not hold it.
    pub fn plus(self, other: Footprint) -> Result<Footprint, Error> {
        let sum =
            |a: i64, b: i64| a.checked_add(b).ok_or_else(|| Error::new("the bytes do not fit in 64 bits").too_large());
        Ok(Footprint { logical: sum(self.logical, other.logical)?, padded: sum(self.padded, other.padded)? })
    }

    /// The bytes that no element has. Of a layout that is cut across memories the padded bytes are those of one piece,
    /// which may be fewer than the elements have; there is no waste then.
    pub fn waste(self) -> i64 {
        (self.padded - self.logical).max(0)
    }
}

/// How much of the first tile's last two dimensions, lanes and sublanes, an array fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneUse {
    /// The size of the minormost dimension, and the same rounded up to whole tiles.
    pub lanes: (i64, i64),
    /// The same of the second minormost, where the tile has two dimensions.
    pub sublanes: Option<(i64, i64)>,
}

impl LaneUse {
    /// Of an array; `None` where it has no tiles, or tiles that join dimensions.
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
