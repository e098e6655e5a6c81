//! Layouts as matrices over bits: the bits of a place that each bit of an index flips.
//!
//! If all sizes are powers of two, a layout is *linear* if the place of `i xor j` is the place of `i` xor that of `j`.
//! Then the places of the powers of two in each dimension determine it; [`BitColumns`] are these places. For a layout
//! that is not linear they are not enough, so callers must compare the reconstruction with the original.

use crate::conversion::meaning::Meaning;
use crate::text::Error;

/// The places of the powers of two.
pub(super) struct BitColumns {
    /// The coordinates along each axis, and last the address, for each dimension and each bit of its index.
    pub columns: Vec<Vec<Vec<i64>>>,
}

impl BitColumns {
    /// The columns of a layout.
    ///
    /// # Errors
    /// A size that is no power of two, or a first element that is not at 0.
    pub fn of(meaning: &Meaning) -> Result<BitColumns, Error> {
        let mut columns = Vec::new();
        let mut index = vec![0; meaning.sizes.len()];
        let place = |index: &[i64]| {
            let place = meaning.map.evaluate(index)?;
            place.ok_or_else(|| Error::new("a layout of bits must have at least one element, found none"))
        };
        for (dim, size) in meaning.sizes.iter().enumerate() {
            if *size < 1 || size.count_ones() != 1 {
                return Err(Error::new(format!("the size of dimension {dim} must be a power of two, found {size}")));
            }
            let mut bits = Vec::new();
            for bit in 0..size.trailing_zeros() {
                index[dim] = 1 << bit;
                bits.push(place(&index)?);
            }
            index[dim] = 0;
            columns.push(bits);
        }
        match place(&index)?.iter().all(|coordinate| *coordinate == 0) {
            true => Ok(BitColumns { columns }),
            false => Err(Error::new("the first element must be at 0, found it elsewhere")),
        }
    }
}
