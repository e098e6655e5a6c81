//! The command line, the line protocol and the pages of `layout-inspect`.

mod browser;
mod program;
#[path = "../../../test/reference/sample.rs"]
mod sample;

mod advice;
mod certificate;
mod convert;
mod devices;
mod help;
mod hlo;
mod json;
mod members;
mod memory;
mod moves;
mod offsets;
mod page;
mod places;
mod plan;
mod solve;
mod way_in;
mod web;
