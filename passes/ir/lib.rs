//! The part of MLIR's C API that melior does not wrap, and a builder that inserts before an operation.
//!
//! `read.rs` reads operations, values and blocks; `cycles.rs` finds values that depend on themselves;
//! `attributes.rs`, `types.rs` and `constant.rs` take attributes and types apart and make them; `change.rs` changes and
//! erases operations; `builder.rs` makes new ones.
//!
//! Passes change IR in place through shared references, as the C API does. References are borrowed from a [`Rewriter`],
//! which keeps erased operations alive as long as there can be references to them. Readers check their argument: they
//! return nothing for an attribute or type of another kind.

mod attributes;
mod builder;
mod change;
mod constant;
mod cycles;
mod read;
mod types;

pub use attributes::*;
pub use builder::{ALIGNMENT, Builder, Numbers};
pub use change::*;
pub use constant::{Constant, constant, element_bytes, is_resource, zeros};
pub use cycles::cycle;
pub use layout_dialect::borrowed;
pub use read::*;
pub use types::{
    Shaped, Vector, bits, checked_tensor_type, function, function_type, indices_below, is_buffer, memref, memref_type,
    offset_of, sizes, sizes_attribute, strided, strides_and_offset, strides_of, tensor, tensor_type, vector,
    vector_type, without_layout,
};
