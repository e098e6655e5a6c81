//! The interface of passes: their options, stages and diagnostics, and MLIR's C++ in safe functions.

pub(crate) mod diagnostic;
pub(crate) mod options;
pub(crate) mod stages;
#[allow(unsafe_code, reason = "these functions call C++")]
pub(crate) mod upstream;
