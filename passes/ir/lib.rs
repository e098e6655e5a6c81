//! The part of MLIR's C API that melior does not wrap, and a builder that inserts in front of an operation.
//!
//! Passes change IR in place through shared references, as the C API does. All references here live as long as the
//! pass runs; a reference to an operation is dead once [`erase`] has had it, which no type checks.
//!
//! Each `unsafe` block calls the C API with handles of live IR, and asks of a handle only what a check in front of it has
//! found it to be. Where more than that makes it sound, a comment says what.

mod attributes;
mod builder;
mod change;
mod constant;
mod read;
mod types;

pub use attributes::*;
pub use builder::Builder;
pub use change::*;
pub use constant::{Constant, constant, zeros};
pub use read::*;
pub use types::*;
