//! The meaning of a tiled layout, computed step by step on a small array: a slow reference that shares no code with the
//! crate except the fields of a layout.
//!
//! The array is a box of cells, each with its logical index, or `None` for padding. The physical order is a transpose
//! of the box; a tile pads the box, cuts it, and moves the dimensions inside tiles to the back.

use tensor_layout::tiled::{Layout, TileEntry};

/// An array in memory.
pub struct Memory {
    /// The expanded sizes, majormost first.
    pub sizes: Vec<i64>,
    /// The logical index at each offset, tail padding included.
    pub cells: Vec<Option<Vec<i64>>>,
}

/// Every index of a box of these sizes, the last dimension fastest.
pub fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for &size in sizes {
        all = all.iter().flat_map(|index| (0..size).map(move |i| [&index[..], &[i]].concat())).collect();
    }
    all
}

fn cell(sizes: &[i64], index: &[i64]) -> usize {
    sizes.iter().zip(index).fold(0, |at, (size, i)| at * *size as usize + *i as usize)
}

/// The memory of an array of these logical sizes.
pub fn lay_out(logical: &[i64], layout: &Layout) -> Memory {
    let mut memory = transposed(logical, &layout.minor_to_major);
    for tile in &layout.tiles {
        memory = tiled(memory, tile);
    }
    if !layout.tiles.is_empty() {
        while memory.cells.len() as i64 % layout.tail_alignment != 0 {
            memory.cells.push(None);
        }
    }
    memory
}

/// An array without tiles, in the order of its dimensions.
fn transposed(logical: &[i64], minor_to_major: &[usize]) -> Memory {
    let order: Vec<usize> = minor_to_major.iter().rev().copied().collect();
    let sizes: Vec<i64> = order.iter().map(|dim| logical[*dim]).collect();
    let logical_index = |physical: Vec<i64>| {
        let mut index = vec![0; logical.len()];
        for (dim, i) in order.iter().zip(physical) {
            index[*dim] = i;
        }
        Some(index)
    };
    let cells = indices(&sizes).into_iter().map(logical_index).collect();
    Memory { sizes, cells }
}

/// An array in tiles of its last dimensions.
fn tiled(Memory { mut sizes, cells }: Memory, tile: &[TileEntry]) -> Memory {
    while sizes.len() < tile.len() {
        sizes.insert(0, 1);
    }
    let first = sizes.len() - tile.len();

    // In a box whose last dimension is fastest, neighbours merge in place.
    let mut cut = vec![];
    let mut merged = 1;
    let mut after = sizes[..first].to_vec();
    for (entry, size) in tile.iter().zip(&sizes[first..]) {
        merged *= size;
        if let TileEntry::Size(t) = entry {
            after.push(merged);
            cut.push(*t);
            merged = 1;
        }
    }

    // Padding to whole tiles.
    let mut padded = after.clone();
    for (size, t) in padded[first..].iter_mut().zip(&cut) {
        while *size % t != 0 {
            *size += 1;
        }
    }
    let mut full = vec![None; padded.iter().product::<i64>() as usize];
    for (index, content) in indices(&after).iter().zip(cells) {
        full[cell(&padded, index)] = content;
    }

    // The tile grid first, then the indices inside a tile.
    sizes = padded[..first].to_vec();
    sizes.extend(padded[first..].iter().zip(&cut).map(|(size, t)| size / t));
    sizes.extend(&cut);
    let tiled = |index: &Vec<i64>| {
        let (major, rest) = index.split_at(first);
        let (grid, inside) = rest.split_at(cut.len());
        let mut from = major.to_vec();
        from.extend((0..cut.len()).map(|k| grid[k] * cut[k] + inside[k]));
        full[cell(&padded, &from)].clone()
    };
    let cells = indices(&sizes).iter().map(tiled).collect();
    Memory { sizes, cells }
}
