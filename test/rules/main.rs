//! Rules of the source: imports, names and panics.

#[path = "../reference/tokens.rs"]
mod tokens;

mod arrows;
mod long_tests;
mod names;
mod rules;
