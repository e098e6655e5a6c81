//! Tests of the proofs on programs as data, without MLIR, which only the reader of this crate needs.

#[allow(dead_code, reason = "what only the writer of obligations uses")]
#[path = "../proof/mod.rs"]
mod proof;
#[allow(dead_code, reason = "what only the evaluator uses")]
#[path = "../reader"]
mod reader {
    pub mod arith;
    pub mod bytes;
    pub mod calc;
    pub mod flags;
    pub mod floats;
    pub mod functions;
    pub mod layouts;
    pub mod model;
    pub mod places;
    pub mod swizzles;
    pub mod uses;
}

mod floats;
mod obligations;
mod programs;
mod random;
mod refused;
