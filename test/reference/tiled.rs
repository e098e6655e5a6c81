//! The meaning of a tiled layout, computed step by step on a small array.
//!
//! The array is a box of cells, each with its logical index, or `None` for padding. The physical order is a transpose
//! of the box; a tile pads the box, cuts it, and moves the dimensions inside tiles to the back.

use crate::boxes::{indices, position};
use tensor_layout::tiled::{Layout, TileEntry};

/// An array in memory.
pub struct Memory {
    /// The sizes of the box, majormost first.
    pub sizes: Vec<i64>,
    /// The logical index at each offset, tail padding included.
    pub cells: Vec<Option<Vec<i64>>>,
}

/// The memory of an array of these logical sizes.
pub fn lay_out(logical: &[i64], layout: &Layout) -> Memory {
    let order: Vec<usize> = layout.minor_to_major.iter().rev().copied().collect();
    let mut memory = Memory::row_major(logical).transposed(&order);
    for tile in &layout.tiles {
        memory = memory.tiled(tile);
    }
    if !layout.tiles.is_empty() {
        while memory.cells.len() as i64 % layout.tail_alignment != 0 {
            memory.cells.push(None);
        }
    }
    memory
}

impl Memory {
    /// An array without padding, the last dimension fastest.
    pub fn row_major(sizes: &[i64]) -> Memory {
        Memory { sizes: sizes.to_vec(), cells: indices(sizes).into_iter().map(Some).collect() }
    }

    /// The same cells as a box of other sizes.
    fn reshaped(self, sizes: Vec<i64>) -> Memory {
        Memory { sizes, ..self }
    }

    /// The box with its dimensions in this order.
    pub fn transposed(self, order: &[usize]) -> Memory {
        let sizes: Vec<i64> = order.iter().map(|dim| self.sizes[*dim]).collect();
        let from = |index: &Vec<i64>| {
            let mut source = vec![0; index.len()];
            order.iter().zip(index).for_each(|(dim, i)| source[*dim] = *i);
            self.cells[position(&source, &self.sizes)].clone()
        };
        let cells = indices(&sizes).iter().map(from).collect();
        Memory { sizes, cells }
    }

    /// The box at the beginning of a larger one.
    fn padded(self, sizes: Vec<i64>) -> Memory {
        let mut cells = vec![None; sizes.iter().product::<i64>() as usize];
        for (index, content) in indices(&self.sizes).iter().zip(self.cells) {
            cells[position(index, &sizes)] = content;
        }
        Memory { sizes, cells }
    }

    /// The box in tiles of its last dimensions.
    fn tiled(mut self, tile: &[TileEntry]) -> Memory {
        while self.sizes.len() < tile.len() {
            self.sizes.insert(0, 1);
        }
        let first = self.sizes.len() - tile.len();
        // In a box whose last dimension is fastest, neighbours merge in place.
        let (mut cut, mut merged, mut sizes) = (vec![], 1, self.sizes[..first].to_vec());
        for (entry, size) in tile.iter().zip(&self.sizes[first..]) {
            merged *= size;
            if let TileEntry::Size(t) = entry {
                sizes.push(merged);
                cut.push(*t);
                merged = 1;
            }
        }
        let units = [&vec![1; first][..], &cut].concat();
        // An index inside of the tile is 0 along the dimensions before it.
        let order: Vec<usize> =
            (0..units.len()).map(|dim| 2 * dim).chain((0..units.len()).map(|dim| 2 * dim + 1)).collect();
        let mut memory = self.reshaped(sizes).cut(&units).transposed(&order);
        memory.sizes.drain(units.len()..units.len() + first);
        memory
    }

    /// Each dimension in whole units: a dimension for the unit's number, and one for the index inside of the unit.
    pub fn cut(self, units: &[i64]) -> Memory {
        let up = |(size, unit): (&i64, &i64)| (*size..).find(|size| size % unit == 0).unwrap();
        let padded: Vec<i64> = self.sizes.iter().zip(units).map(up).collect();
        let pairs = padded.iter().zip(units).flat_map(|(size, unit)| [size / unit, *unit]).collect();
        self.padded(padded).reshaped(pairs)
    }

    /// The offset of each element, in the row-major order of these logical sizes.
    pub fn offsets(&self, logical: &[i64]) -> Vec<i64> {
        let mut offsets = vec![0; logical.iter().product::<i64>() as usize];
        for (offset, content) in self.cells.iter().enumerate() {
            if let Some(index) = content {
                offsets[position(index, logical)] = offset as i64;
            }
        }
        offsets
    }
}
