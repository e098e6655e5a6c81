//! From memrefs with layouts to loops over memrefs of upstream, and memory of one allocation.

pub mod expand_dma;
pub mod lower_memrefs;
pub(crate) mod memref_form;
pub mod plan_memory;
pub mod simplify_indexing;
