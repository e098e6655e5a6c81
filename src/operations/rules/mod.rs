//! The rules of shapes: what the operands, the fields and the results of each operation must be. A function for each
//! operation, by families.
//!
//! Every rule has a label, such as `slice_c2`, which is in the description of its function, in the
//! [`Refusal`](crate::operations::refusal::Refusal) where it does not hold, and in the name of its test. Sizes that
//! only the running program knows fit any size. Element types and layouts are not compared, but for the bits of a
//! bitcast.

pub(super) mod algorithms;
pub(crate) mod arrays;
pub(super) mod collectives;
pub(crate) mod dims;
pub(crate) mod dot;
pub(super) mod elementwise;
pub(crate) mod gather;
pub(super) mod loops;
pub(crate) mod pairs;
pub(super) mod products;
pub(super) mod reduce;
pub(super) mod scan;
pub(super) mod slices;
pub(crate) mod tuples;
pub(crate) mod windows;
