//! Memory of a running program: each buffer ends or begins at a guard page; the rest of its pages, and unwritten
//! memory, holds one byte value. Freed memory is inaccessible.

use std::ffi::c_void;
use std::sync::Mutex;

/// A buffer and its pages.
struct Block {
    pages: usize,
    length: usize,
    start: usize,
    size: usize,
    free: bool,
}

/// All buffers of this process, the fill byte, and whether buffers end at the end of their pages.
struct Memory {
    blocks: Vec<Block>,
    fill: u8,
    ends: bool,
}

static MEMORY: Mutex<Memory> = Mutex::new(Memory { blocks: vec![], fill: 0, ends: true });
const PAGE: usize = 4096;

/// Sets the fill byte of memory and the position of buffers in their pages.
pub fn fill(byte: u8, ends: bool) {
    let mut memory = MEMORY.lock().expect("one thread");
    (memory.fill, memory.ends) = (byte, ends);
}

/// Ends the process after an invalid access.
fn wrong() -> ! {
    // SAFETY: nothing runs after it.
    unsafe { libc::_exit(3) }
}

/// Allocates a buffer.
pub extern "C" fn allocate(size: usize) -> *mut c_void {
    let mut memory = MEMORY.lock().expect("one thread");
    if size > 1 << 30 {
        wrong();
    }
    let length = size.div_ceil(PAGE).max(1) * PAGE;
    // SAFETY: fresh pages, the inner ones made writable and filled.
    unsafe {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let pages = libc::mmap(std::ptr::null_mut(), length + 2 * PAGE, libc::PROT_NONE, flags, -1, 0);
        if pages == libc::MAP_FAILED {
            wrong();
        }
        let pages = pages as usize + PAGE;
        libc::mprotect(pages as *mut c_void, length, access);
        libc::memset(pages as *mut c_void, memory.fill.into(), length);
        let start = if memory.ends { pages + length - size } else { pages };
        memory.blocks.push(Block { pages, length, start, size, free: false });
        start as *mut c_void
    }
}

/// `aligned_alloc`.
pub extern "C" fn allocate_aligned(_alignment: usize, size: usize) -> *mut c_void {
    allocate(size)
}

/// Whether the memory around a buffer is unchanged.
fn is_whole(block: &Block, fill: u8) -> bool {
    let outside = (block.pages..block.start).chain(block.start + block.size..block.pages + block.length);
    // SAFETY: these are the pages of the buffer.
    outside.into_iter().all(|at| unsafe { *(at as *const u8) } == fill)
}

/// Frees a buffer.
pub extern "C" fn free(pointer: *mut c_void) {
    let mut memory = MEMORY.lock().expect("one thread");
    let fill = memory.fill;
    let Some(block) = memory.blocks.iter_mut().find(|block| block.start == pointer as usize) else {
        if pointer.is_null() {
            return;
        }
        wrong()
    };
    if block.free || !is_whole(block, fill) {
        wrong();
    }
    block.free = true;
    // SAFETY: these are the pages of the buffer, which has no later accesses.
    unsafe { libc::mprotect(block.pages as *mut c_void, block.length, libc::PROT_NONE) };
}

/// Whether the memory around all live buffers is unchanged.
pub fn is_clean() -> bool {
    let memory = MEMORY.lock().expect("one thread");
    memory.blocks.iter().all(|block| block.free || is_whole(block, memory.fill))
}

/// Whether these bytes are inside of a live buffer.
pub fn holds(from: usize, bytes: usize) -> bool {
    let memory = MEMORY.lock().expect("one thread");
    let inside = |block: &Block| !block.free && from >= block.start && from + bytes <= block.start + block.size;
    memory.blocks.iter().any(inside)
}
