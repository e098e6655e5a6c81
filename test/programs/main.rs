//! HLO texts, and what their operations read.

#[path = "../reference/sample.rs"]
mod sample;

mod algorithms;
mod analysis;
mod hlo;
mod stablehlo;
