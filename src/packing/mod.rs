//! Packing of arrays into the memory of a layout, and back.
//!
//! An array is passed *dense*: its elements in row-major order, each in the whole bytes of its type. In memory,
//! elements are at the offsets of the layout, and the rest is padding. `s8[3,5]{1,0:T(2,2)}` has 15 bytes dense and 24
//! in memory:
//!
//! ```
//! use tensor_layout::operations::Shape;
//! use tensor_layout::packing::Packer;
//!
//! let Shape::Array(array) = Shape::parse("s8[3,5]{1,0:T(2,2)}").unwrap() else { panic!("an array") };
//! let packing = Packer::new(&array).unwrap();
//! let dense: Vec<u8> = (0..15).collect();
//! let mut memory = vec![0; packing.memory_bytes()];
//! packing.pack(&dense, &[99], &mut memory).unwrap();
//! assert_eq!(memory[..8], [0, 1, 5, 6, 2, 3, 7, 8]);
//! assert_eq!(memory[8..16], [4, 99, 9, 99, 10, 11, 99, 99]);
//! let mut back = vec![0; 15];
//! packing.unpack(&memory, &mut back).unwrap();
//! assert_eq!(back, dense);
//! ```
//!
//! Bytes are little-endian. With `E(n)`, element `k` of the memory is in the bits from `k * n` on, the first in the low
//! bits of a byte; if `n` exceeds the width of the type, the extra bits are written as 0 and not read.
//!
//! | file | content |
//! |---|---|
//! | `loops` | memory as loops over digits of the indices |
//! | `elements` | the loops over elements: the only part whose speed counts |
//! | `bits` | elements with another width in memory |

mod bits;
mod elements;
mod loops;

use crate::element::ElementType;
use crate::operations::shape::Array;
use crate::text::Error;
use crate::tiled::Expansion;
use bits::Bits;
use loops::MemoryLoops;

/// The conversion of an array between dense and memory form.
#[derive(Clone, Debug)]
pub struct Packer {
    element: ElementType,
    expansion: Expansion,
    /// `None` if the expanded indices are no digits of the array's.
    loops: Option<MemoryLoops>,
    /// The bytes of an element outside the memory, and the bits inside.
    width: usize,
    element_bits: usize,
    /// The numbers of elements of the array, and of allocated elements.
    dense: usize,
    allocated: usize,
    memory_bytes: usize,
}

impl Packer {
    /// The packer of an array of this shape.
    ///
    /// # Errors
    /// An unbounded size, a size known only at run time, a layout that is cut across memories (`SC`), has metadata
    /// before the data (`M`) or is sparse, `E(n)` with fewer bits than the type, and sizes that overflow 64 bits.
    pub fn new(array: &Array) -> Result<Packer, Error> {
        let element = array.element;
        let (Some(own), Some(width)) = (element.bits(), element.bytes()) else {
            return Err(Error::new(format!("`{element}` has no data")).unsupported());
        };
        let sizes = array
            .sizes()
            .ok_or_else(|| Error::new("every size must be known or have a bound, found `?`").unsupported())?;
        let layout = &array.layout;
        if !layout.splits.is_empty() {
            return Err(
                Error::new("the layout is cut across memories (`SC`): there is no one memory to fill").unsupported()
            );
        }
        if layout.metadata_prefix != 0 {
            return Err(Error::new("the memory begins with metadata (`M`), which an array does not have").unsupported());
        }
        if layout.index_type.or(layout.pointer_type).is_some() {
            return Err(Error::new("the layout is that of a sparse array, found `#` or `*`").unsupported());
        }
        let element_bits = if layout.element_bits == 0 { width * 8 } else { layout.element_bits };
        if element_bits < own {
            return Err(Error::new(format!("`{element}` has {own} bits, which `E({element_bits})` does not hold"))
                .unsupported());
        }
        let expansion = Expansion::new(&sizes, layout)?;
        // Each fits in 64 bits if these do, and memory is never larger than that.
        let memory_bytes = expansion.padded_bytes(element)?;
        let in_own_bytes = expansion.allocated_elements().checked_mul(width);
        let (Some(_), Some(_)) = (in_own_bytes, expansion.logical_elements()?.checked_mul(width)) else {
            return Err(Error::new("the size in bytes does not fit in 64 bits").too_large());
        };
        Ok(Packer {
            element,
            loops: MemoryLoops::new(&expansion),
            width: whole(width)?,
            element_bits: whole(element_bits)?,
            dense: whole(expansion.logical_elements()?)?,
            allocated: whole(expansion.allocated_elements())?,
            memory_bytes: whole(memory_bytes)?,
            expansion,
        })
    }

    /// The size of the dense array, in bytes.
    pub fn dense_bytes(&self) -> usize {
        self.dense * self.width
    }

    /// The size of the memory, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Writes a dense array into memory, and the element `padding` elsewhere.
    ///
    /// # Errors
    /// A slice whose length is not [`Packer::dense_bytes`], an element's size, or [`Packer::memory_bytes`].
    pub fn pack(&self, dense: &[u8], padding: &[u8], memory: &mut [u8]) -> Result<(), Error> {
        self.check(dense.len(), memory.len())?;
        if padding.len() != self.width {
            let (width, element) = (self.width, self.element);
            return Err(Error::new(format!("an element of {element} has {width} bytes, found {}", padding.len())));
        }
        if self.element_bits == self.width * 8 {
            self.packed(dense, padding, memory);
        } else {
            let mut whole = vec![0; self.allocated * self.width];
            self.packed(dense, padding, &mut whole);
            bits::squeeze(&whole, self.bits(), memory);
        }
        Ok(())
    }

    /// Reads a dense array from memory.
    ///
    /// # Errors
    /// A slice whose length is not [`Packer::dense_bytes`] or [`Packer::memory_bytes`].
    pub fn unpack(&self, memory: &[u8], dense: &mut [u8]) -> Result<(), Error> {
        self.check(dense.len(), memory.len())?;
        if self.element_bits == self.width * 8 {
            self.unpacked(memory, dense);
        } else {
            let mut whole = vec![0; self.allocated * self.width];
            bits::spread(memory, self.bits(), &mut whole);
            self.unpacked(&whole, dense);
        }
        Ok(())
    }

    /// The offset in memory of each element, in elements, in row-major order.
    ///
    /// # Errors
    /// A slice whose length is not the number of elements.
    pub fn offsets(&self, offsets: &mut [i64]) -> Result<(), Error> {
        if offsets.len() != self.dense {
            return Err(Error::new(format!("the array has {} elements, found {} offsets", self.dense, offsets.len())));
        }
        self.each(|dense, offset| offsets[dense] = offset as i64);
        Ok(())
    }

    fn bits(&self) -> Bits {
        let own = self.element.bits().map_or(0, |bits| bits as usize);
        Bits { width: self.width, own, inside: self.element_bits, signed: self.element.is_signed() }
    }

    fn check(&self, dense: usize, memory: usize) -> Result<(), Error> {
        for (what, found, expected) in
            [("the dense array", dense, self.dense_bytes()), ("the memory", memory, self.memory_bytes)]
        {
            if found != expected {
                return Err(Error::new(format!("{what} must have {expected} bytes, found {found}")));
            }
        }
        Ok(())
    }

    /// Calls `f` with the row-major number of each element and its offset.
    fn each(&self, mut f: impl FnMut(usize, usize)) {
        match &self.loops {
            Some(loops) => loops.each(&mut f),
            None => {
                let sizes = self.expansion.logical_sizes();
                for offset in 0..self.allocated {
                    if let Ok(Some(index)) = self.expansion.index(offset as i64) {
                        f(index.iter().zip(sizes).fold(0, |at, (i, size)| at * *size as usize + *i as usize), offset);
                    }
                }
            }
        }
    }

    fn packed(&self, dense: &[u8], padding: &[u8], memory: &mut [u8]) {
        match self.width {
            1 => self.pack_elements::<1>(dense, padding, memory),
            2 => self.pack_elements::<2>(dense, padding, memory),
            4 => self.pack_elements::<4>(dense, padding, memory),
            8 => self.pack_elements::<8>(dense, padding, memory),
            _ => self.pack_elements::<16>(dense, padding, memory),
        }
    }

    fn pack_elements<const W: usize>(&self, dense: &[u8], padding: &[u8], memory: &mut [u8]) {
        let (dense, padding, memory) =
            (dense.as_chunks::<W>().0, padding.as_chunks::<W>().0[0], memory.as_chunks_mut().0);
        match &self.loops {
            Some(loops) => {
                let elements = loops.elements();
                loops.walk(&mut elements::Pack { dense, padding, memory: &mut memory[..elements] });
                memory[elements..].fill(padding);
            }
            None => {
                memory.fill(padding);
                self.each(|from, to| memory[to] = dense[from]);
            }
        }
    }

    fn unpacked(&self, memory: &[u8], dense: &mut [u8]) {
        match self.width {
            1 => self.unpack_elements::<1>(memory, dense),
            2 => self.unpack_elements::<2>(memory, dense),
            4 => self.unpack_elements::<4>(memory, dense),
            8 => self.unpack_elements::<8>(memory, dense),
            _ => self.unpack_elements::<16>(memory, dense),
        }
    }

    fn unpack_elements<const W: usize>(&self, memory: &[u8], dense: &mut [u8]) {
        let (memory, dense) = (memory.as_chunks::<W>().0, dense.as_chunks_mut::<W>().0);
        match &self.loops {
            Some(loops) => loops.walk(&mut elements::Unpack { memory, dense }),
            None => self.each(|to, from| dense[to] = memory[from]),
        }
    }
}

/// Converts a size to the length of a slice.
fn whole(n: i64) -> Result<usize, Error> {
    usize::try_from(n).map_err(|_| Error::new(format!("this computer has no memory of {n} bytes")).too_large())
}
