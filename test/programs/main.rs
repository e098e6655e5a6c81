//! HLO texts, and what their operations read.

#[path = "../reference/blocks.rs"]
mod blocks;
#[path = "../reference/choices.rs"]
mod choices;
#[path = "../reference/elements.rs"]
mod elements;
#[path = "../reference/interpreter/mod.rs"]
mod interpreter;
#[path = "../reference/sample.rs"]
mod sample;

mod algorithms;
mod analysis;
mod hlo;
