//! The unit of costs: tiles of a register.
//!
//! A register of 8 rows of 128 words moves 8 × 128 elements at once. `bf16[1000,300]{1,0:T(8,128)(2,1)}` is 125 × 3
//! of these, each of 2048 bytes. A tile of fewer rows takes as long as a whole one but for its bytes; a tile of more is
//! several. Without tiles, elements lie one behind the other.

use super::target::Target;
use crate::numbers::ceil_div;
use crate::operations::shape::{Array, bits};
use crate::places::{Decimal, Memory};
use crate::text::Error;
use crate::tiled::{Expansion, TileEntry};

/// An array in tiles of registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisterTiles {
    /// How many there are, padding included.
    pub count: i64,
    /// The bytes of all of them.
    pub bytes: i64,
    /// Whether a tile has fewer bytes than a register.
    pub packed: bool,
    /// The bytes read in a unit of cost from the memory that the array is in; `None` where reading costs nothing.
    pub reading: Option<Decimal>,
    /// The same for writing.
    pub writing: Option<Decimal>,
}

impl RegisterTiles {
    /// Whether the array is in a memory that takes time to write.
    pub fn far(&self) -> bool {
        self.writing.is_some()
    }
}

impl Target {
    /// An array in tiles; none of what is not data, and of sizes without a bound.
    ///
    /// # Errors
    /// The layout has no meaning on the array, or sizes do not fit in 64 bits.
    pub fn tiles(&self, array: &Array) -> Result<RegisterTiles, Error> {
        let (Some(sizes), Some(bits)) = (array.sizes(), bits(array)) else { return Ok(RegisterTiles::default()) };
        let expansion = Expansion::new(&sizes, &array.layout)?;
        let bytes = expansion.padded_bytes(array.element)?;
        let (rows, lanes) = self.machine().model.registers.unwrap_or((1, 1));
        let register = rows.saturating_mul(lanes);
        // The elements of a tile of the layout, and how many registers take them.
        let (elements, pieces) = match array.layout.tiles.first().map(|tile| &tile[..]) {
            Some([TileEntry::Size(size)]) => (*size, ceil_div(*size, register)),
            Some([TileEntry::Size(high), TileEntry::Size(wide)]) => {
                (high.saturating_mul(*wide), ceil_div(*high, rows).saturating_mul(ceil_div(*wide, lanes)))
            }
            _ => (register, 1),
        };
        let count = ceil_div(expansion.elements(), elements).checked_mul(pieces);
        let count = count.ok_or_else(|| Error::new("the tiles of the array do not fit in 64 bits").too_large())?;
        let least = i128::from(bits) * i128::from(elements);
        let word = i128::from(self.machine().word_bits) * i128::from(register) * i128::from(pieces);
        // Of memories of one space, as a cache and what is behind it, the smallest that has room.
        let space = |memory: &&Memory| memory.space == array.layout.memory_space;
        let memories = self.machine().memories.iter().filter(space);
        let memory = memories.min_by_key(|memory| (memory.bytes < bytes, memory.bytes));
        let (reading, writing) = memory.map_or((None, None), |memory| (memory.reading, memory.writing));
        Ok(RegisterTiles { count, bytes, packed: least < word, reading, writing })
    }
}
