//! From tensors to buffers: what bufferization needs before it, and deallocation after it.

pub(crate) mod branches;
pub mod deallocate;
pub(crate) mod destinations;
pub mod expand_clones;
pub mod fuse_elementwise;
pub(crate) mod globals;
pub mod lower_bufferization;
pub(crate) mod pad_generate_concat;
pub mod prepare_bufferization;
pub(crate) mod rank_reduction;
pub(crate) mod switches;
mod unit_dims;
pub mod widen_sums;
