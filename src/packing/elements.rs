//! The loops over elements, where packing spends its time.
//!
//! An element is an array of bytes of a size known at compile time, so it moves as one number. A block of memory has
//! rows of columns. Columns adjacent in the dense array are copied row by row; if rows are adjacent instead, as with
//! `(2,1)`, which interleaves two rows in pairs, or in a transposition, the block is copied in pieces that fit cache
//! lines.

use super::loops::{MemoryBlock, Walker};

/// The rows of a piece of a transposition, read in one go.
const PIECE: usize = 16;

/// Copies a dense array into memory.
pub struct Pack<'a, E> {
    pub dense: &'a [E],
    pub padding: E,
    pub memory: &'a mut [E],
}

/// Copies memory into a dense array.
pub struct Unpack<'a, E> {
    pub memory: &'a [E],
    pub dense: &'a mut [E],
}

/// `$run!(N)` with the number of columns as a constant, for common numbers.
macro_rules! with_columns {
    ($columns:expr, $run:ident) => {
        match $columns {
            2 => $run!(2),
            4 => $run!(4),
            8 => $run!(8),
            _ => false,
        }
    };
}

impl<E: Copy> Walker for Pack<'_, E> {
    fn block(&mut self, block: MemoryBlock) {
        let MemoryBlock { rows, columns, row, column, .. } = block;
        let all = &mut self.memory[block.memory..][..row.size * row.memory];
        let (memory, rest) = all.split_at_mut(rows * row.memory);
        rest.fill(self.padding);
        if column.dense == 1 {
            for (k, memory) in memory.chunks_exact_mut(column.size).enumerate() {
                let (elements, rest) = memory.split_at_mut(columns);
                elements.copy_from_slice(&self.dense[block.dense + k * row.dense..][..columns]);
                rest.fill(self.padding);
            }
            return;
        }
        macro_rules! interleave {
            ($n:literal) => {{
                // Each column is a row of the dense array.
                let lines: [&[E]; $n] = std::array::from_fn(|i| &self.dense[block.dense + i * column.dense..][..rows]);
                for (k, memory) in memory.as_chunks_mut::<$n>().0.iter_mut().enumerate() {
                    *memory = std::array::from_fn(|i| lines[i][k]);
                }
                true
            }};
        }
        if row.dense == 1 && columns == column.size && with_columns!(columns, interleave) {
            return;
        }
        for first in (0..rows).step_by(PIECE) {
            let piece = first..rows.min(first + PIECE);
            for i in 0..columns {
                for j in piece.clone() {
                    memory[j * row.memory + i] = self.dense[block.dense + j * row.dense + i * column.dense];
                }
            }
            for j in piece {
                memory[j * row.memory..][columns..column.size].fill(self.padding);
            }
        }
    }

    fn padding(&mut self, at: usize, count: usize) {
        self.memory[at..][..count].fill(self.padding);
    }
}

impl<E: Copy> Walker for Unpack<'_, E> {
    fn block(&mut self, block: MemoryBlock) {
        let MemoryBlock { rows, columns, row, column, .. } = block;
        let memory = &self.memory[block.memory..][..rows * row.memory];
        if column.dense == 1 {
            for (k, memory) in memory.chunks_exact(column.size).enumerate() {
                self.dense[block.dense + k * row.dense..][..columns].copy_from_slice(&memory[..columns]);
            }
            return;
        }
        macro_rules! separate {
            ($n:literal) => {{
                let memory = memory.as_chunks::<$n>().0;
                for i in 0..$n {
                    let line = &mut self.dense[block.dense + i * column.dense..][..rows];
                    line.iter_mut().zip(memory).for_each(|(element, memory)| *element = memory[i]);
                }
                true
            }};
        }
        if row.dense == 1 && columns == column.size && with_columns!(columns, separate) {
            return;
        }
        for first in (0..rows).step_by(PIECE) {
            for i in 0..columns {
                for j in first..rows.min(first + PIECE) {
                    self.dense[block.dense + j * row.dense + i * column.dense] = memory[j * row.memory + i];
                }
            }
        }
    }

    fn padding(&mut self, _: usize, _: usize) {}
}
