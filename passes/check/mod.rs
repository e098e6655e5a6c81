//! Verification of other passes, and of their result.

pub mod check_witness;
#[cfg(feature = "verify")]
pub(crate) mod comparison;
#[cfg(not(feature = "verify"))]
#[path = "no_comparison.rs"]
pub(crate) mod comparison;
pub mod verify;
pub mod verify_llvm;
