//! The interface of passes: their options, steps and diagnostics, and MLIR's C++ in safe functions.

pub(crate) mod diagnostic;
pub(crate) mod options;
pub(crate) mod steps;
#[allow(unsafe_code, reason = "these functions call C++")]
pub(crate) mod upstream;
