//! Lowered and imported programs that run, each beside its definition.

#[path = "../jit.rs"]
mod jit;

mod collectives;
mod evaluator;
mod imports;
mod ownership;
mod partition;
mod plans;
mod processes;
