//! Layouts, their notations, machines, offsets of buffers, and copies.

#[path = "../reference/sample.rs"]
mod sample;

mod algebra;
mod cases;
mod chains;
mod laws;
mod machine;
mod notations;
mod offsets;
mod shardings;
mod swizzled;
mod tensor_layout;
mod tiles_of_parts;
mod traffic;
mod transfers;
mod views;
