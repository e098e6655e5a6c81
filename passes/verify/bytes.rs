//! What is known of memory that is seen as other elements than it was made of, and of copies that run beside the program.
//!
//! Slots and terms are numbers here: `model` and `machine` are made of this.

/// Operations on the bytes of memory.
#[derive(Clone, Debug, PartialEq)]
pub enum OnBytes {
    /// Part of a memref of bytes, from a byte on, as one of other elements (`memref.view`).
    View { source: u32, shift: u32, sizes: Vec<u32> },
    /// A memref of `i1` as one of `i8` (`builtin.unrealized_conversion_cast`).
    Bools(u32),
    /// The address of the first byte of a memref (`memref.extract_aligned_pointer_as_index`).
    Address(u32),
    /// A copy that starts (`memref.dma_start`): source, target and tag, each with its indices, and the number of elements.
    Start { from: Vec<u32>, to: Vec<u32>, elements: u32, tag: Vec<u32> },
    /// The wait for it (`memref.dma_wait`): the tag with its index, and the number of elements.
    Wait { tag: Vec<u32>, elements: u32 },
}

/// As what elements a view shows those of its buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeenAs {
    /// As they are.
    Same,
    /// From this byte on, so many bytes as one element of so many bits.
    Bytes { start: i64, width: i64, bits: u32 },
    /// Each `i1` as a byte that is 0 or 1.
    Bools,
}

/// A copy that has started.
pub struct Started {
    /// The buffer and address of the tag.
    pub tag: (usize, i64),
    /// Of the source and the target, the buffer and the address of the first element.
    pub from: (usize, i64),
    pub to: (usize, i64),
    /// What the source had.
    pub items: Vec<u32>,
}
