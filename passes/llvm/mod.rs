//! From loops to the LLVM dialect: what upstream's conversions lack, and what makes them fast.

pub mod annotate_loops;
pub mod approximate_math;
pub mod call_libm;
pub mod convert_to_llvm;
pub(crate) mod dynamic_reshapes;
pub mod expand_floats;
pub mod export_weights;
pub mod mask_as_integers;
pub mod outline_loops;
pub mod scf_to_cf;
pub mod shorten_interfaces;
pub mod strip_memory_spaces;
