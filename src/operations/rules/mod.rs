//! The rules of shapes: the valid operands, fields and results of each operation. One function for each operation, by
//! families.
//!
//! Every rule has a label, such as `slice_c2`, which is in the description of its function, in the
//! [`Refusal`](crate::operations::refusal::Refusal) if it does not hold, and in the name of its test. Sizes that are
//! known only at run time fit any size. Element types and layouts are not compared, except for the bits of a bitcast.

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
