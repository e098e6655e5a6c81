//! Programs that are long, mutated or full of windows, imported.

#[path = "../../../test/reference/sample.rs"]
mod sample;

mod long;
mod mutations;
mod windows;
