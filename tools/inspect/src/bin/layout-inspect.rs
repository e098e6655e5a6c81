//! The program; all of it is in the library.

use std::process::ExitCode;

/// Of 1,000 `compose` requests, which are small allocations for the most part, the program takes 258 million instructions
/// with this allocator and 311 million with that of Debian 12, and the composition in them 86 and 96 million.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    layout_inspect::main()
}
