//! Lowered and imported programs that run, each beside its definition.

#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../reference/blocks.rs"]
mod blocks;
#[path = "../reference/changes.rs"]
mod changes;
#[path = "../reference/elements.rs"]
mod elements;
#[path = "../reference/interpreter/mod.rs"]
mod interpreter;
#[path = "../jit.rs"]
mod jit;
#[path = "../reference/random_hlo.rs"]
mod random_hlo;

mod collectives;
mod imports;
mod ownership;
mod partition;
mod processes;
