//! `layout-lower-bufferization`: lowers the bufferization operations that remain after deallocation to memrefs.

use crate::steps::PassStep;

/// The passes in their order. Most functions need none of them.
pub const STEPS: &[PassStep] = &[
    ("bufferization-lower-deallocations", &["bufferization.dealloc"]),
    ("layout-expand-clones", &["bufferization.clone"]),
    ("convert-bufferization-to-memref", &["bufferization"]),
];
