//! An operation on whole buffers as loops over their elements.

pub mod combiner;
pub mod fusion;
pub mod nest;
pub mod places;
pub mod transfers;
