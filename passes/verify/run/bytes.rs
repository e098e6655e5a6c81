//! Views that show memory as other elements than it was made of, and copies that run beside the program.

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
    /// The buffer and the address of the first element, of the source and of the target.
    pub from: (usize, i64),
    pub to: (usize, i64),
    /// The elements that the source had.
    pub items: Vec<u32>,
}
