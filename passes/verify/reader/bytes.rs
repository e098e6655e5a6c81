//! Operations on the bytes of memory. Slots are numbers here: `model` is made of this.

/// Operations on the bytes of memory.
#[derive(Clone, Debug, PartialEq)]
pub enum OnBytes {
    /// Part of a memref of bytes, from a byte on, as one of other elements (`memref.view`).
    View { source: u32, shift: u32, sizes: Vec<u32> },
    /// A memref of `i1` as one of `i8` (`builtin.unrealized_conversion_cast`).
    Bools(u32),
    /// The bytes of a memref under another layout and shape, with as many bits in each element (`builtin.unrealized_conversion_cast`).
    Recast(u32),
    /// The address of the first byte of a memref (`memref.extract_aligned_pointer_as_index`).
    Address(u32),
    /// A copy that starts (`memref.dma_start`): source, target and tag, each with its indices, and the number of elements.
    Start { from: Vec<u32>, to: Vec<u32>, elements: u32, tag: Vec<u32> },
    /// The wait for it (`memref.dma_wait`): the tag with its index, and the number of elements.
    Wait { tag: Vec<u32>, elements: u32 },
}

/// A copy that starts, of its operands and whether each is a memref: behind a memref there is an index for each dimension.
pub fn start(operands: &[u32], is_memref: impl Fn(u32) -> bool) -> Option<OnBytes> {
    let at: Vec<usize> = (0..operands.len()).filter(|k| is_memref(operands[*k])).collect();
    let [0, to, tag] = at[..] else { return None };
    let elements = *operands.get(tag.checked_sub(1)?)?;
    let part = |range: std::ops::Range<usize>| operands.get(range).map(<[u32]>::to_vec);
    // Behind the tag and its index there would be a stride.
    (operands.len() == tag + 2).then_some(())?;
    Some(OnBytes::Start { from: part(0..to)?, to: part(to..tag - 1)?, elements, tag: part(tag..tag + 2)? })
}
