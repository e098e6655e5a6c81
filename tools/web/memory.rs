//! The memory of the module: small blocks from lists of free ones of their size, others from the standard library.
//!
//! Most of the time of a report was that of the standard library's allocator, which searches for the best place of each
//! of millions of small blocks. Blocks of up to 512 bytes are multiples of 16 bytes, cut from pieces of 64 KiB; one that
//! is freed is the next of its size to be used. Pieces are never given back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

/// The unit of the sizes of small blocks, and their alignment.
const UNIT: usize = 16;

/// The number of sizes of small blocks.
const SIZES: usize = 32;

/// The bytes of a piece.
const PIECE: Layout = match Layout::from_size_align(1 << 16, UNIT) {
    Ok(piece) => piece,
    Err(_) => panic!("the size of a piece is a multiple of its alignment"),
};

/// The allocator. A module without threads has no second user of it.
pub struct Blocks {
    /// For each size, the first free block, which has the address of the next one.
    free: [Cell<*mut u8>; SIZES],
    /// What is left of the last piece: its place and its bytes.
    left: Cell<(*mut u8, usize)>,
}

// SAFETY: the module has one thread.
unsafe impl Sync for Blocks {}

impl Blocks {
    pub const fn new() -> Blocks {
        Blocks { free: [const { Cell::new(null_mut()) }; SIZES], left: Cell::new((null_mut(), 0)) }
    }

    /// The number of the size of a block; `None` for a large one.
    fn size(layout: Layout) -> Option<usize> {
        let is_small = layout.size() <= UNIT * SIZES && layout.align() <= UNIT;
        is_small.then(|| layout.size().div_ceil(UNIT).max(1) - 1)
    }

    /// A block that was never used; null where there is no memory.
    fn cut(&self, bytes: usize) -> *mut u8 {
        let (mut place, mut left) = self.left.get();
        if left < bytes {
            // SAFETY: the layout is not empty.
            (place, left) = (unsafe { System.alloc(PIECE) }, PIECE.size());
            if place.is_null() {
                return place;
            }
        }
        // SAFETY: so many bytes are left of the piece.
        self.left.set((unsafe { place.add(bytes) }, left - bytes));
        place
    }
}

// SAFETY: a block is in one list or used, blocks do not overlap, and each is aligned to the unit.
unsafe impl GlobalAlloc for Blocks {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(size) = Blocks::size(layout) else {
            // SAFETY: the caller's promise is the same.
            return unsafe { System.alloc(layout) };
        };
        let block = self.free[size].get();
        if block.is_null() {
            return self.cut((size + 1) * UNIT);
        }
        // SAFETY: a free block has the address of the next one.
        self.free[size].set(unsafe { block.cast::<*mut u8>().read() });
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(size) = Blocks::size(layout) else {
            // SAFETY: a block of this layout is of the standard library's allocator.
            return unsafe { System.dealloc(block, layout) };
        };
        // SAFETY: the block has at least 16 bytes, is aligned, and is not used any more.
        unsafe { block.cast::<*mut u8>().write(self.free[size].get()) };
        self.free[size].set(block);
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size is one of a layout.
        let new = unsafe { Layout::from_size_align_unchecked(bytes, layout.align()) };
        match (Blocks::size(layout), Blocks::size(new)) {
            // SAFETY: both layouts are of the standard library's allocator.
            (None, None) => unsafe { System.realloc(block, layout, bytes) },
            (old, other) if old == other => block,
            _ => {
                // SAFETY: as for `realloc`; the blocks do not overlap, and both have the bytes that are copied.
                unsafe {
                    let place = self.alloc(new);
                    if !place.is_null() {
                        block.copy_to_nonoverlapping(place, layout.size().min(bytes));
                        self.dealloc(block, layout);
                    }
                    place
                }
            }
        }
    }
}
