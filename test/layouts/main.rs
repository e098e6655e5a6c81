//! Layouts, their notations, machines, offsets of buffers, and copies.

#[path = "../reference/choices.rs"]
mod choices;
#[path = "../reference/definition.rs"]
mod definition;
#[path = "../reference/mangled.rs"]
mod mangled;
#[path = "../reference/places.rs"]
mod places;
#[path = "../reference/sample.rs"]
mod sample;

mod cases;
mod chains;
mod laws;
mod lines;
mod machine;
mod notations;
mod offsets;
mod shardings;
mod tensor_layout;
mod tiles_of_parts;
mod traffic;
mod transfers;
mod views;
