//! `layout-lower-bufferization`: what freeing buffers leaves of the bufferization dialect becomes operations on memrefs.

use crate::steps::PassStep;

/// The passes in their order. Most functions need none of them.
pub const STEPS: &[PassStep] = &[
    ("bufferization-lower-deallocations", &["bufferization.dealloc"]),
    ("layout-expand-clones", &["bufferization.clone"]),
    ("convert-bufferization-to-memref", &["bufferization"]),
];
