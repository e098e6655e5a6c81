//! Checks that a lowered MLIR program computes what the program before it did.
//!
//! This is what is trusted: it depends on MLIR's C API and on no other crate of this project.
//!
//! | file | what it holds |
//! |---|---|
//! | `model` | a program as data |
//! | `mlir` | attributes and types of MLIR as data |
//! | `lanes` | operations that move lanes of vectors |
//! | `read` | what each operation means |

mod lanes;
mod mlir;
pub mod model;
mod read;
