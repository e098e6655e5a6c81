//! Verification of other passes, and of their result.

pub mod verify;
pub mod verify_llvm;
