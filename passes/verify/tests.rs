//! Tests of the proofs, on programs as data: without MLIR, of which the rest of this crate is a reader.

#[allow(dead_code, reason = "what only the evaluator uses")]
mod arith;
#[allow(dead_code, reason = "what only the evaluator uses")]
mod bytes;
#[allow(dead_code, reason = "what only the reader uses")]
mod flags;
#[allow(dead_code, reason = "what only the evaluator uses")]
mod layouts;
#[allow(dead_code, reason = "what only the evaluator uses")]
mod model;
#[allow(dead_code, reason = "what only the evaluator uses")]
mod places;
#[allow(dead_code, reason = "what only the writer of obligations uses")]
mod proof;
#[allow(dead_code, reason = "what only the evaluator uses")]
mod terms;

#[path = "tests/obligations.rs"]
mod obligations;
#[path = "tests/programs.rs"]
mod programs;
#[path = "tests/random.rs"]
mod random;
#[path = "tests/refused.rs"]
mod refused;
