//! Indexing maps and their simplifier.

#[path = "../reference/sample.rs"]
mod sample;

mod degenerate_window;
mod equality;
mod maps;
mod simplify_laws;
mod simplify_table;
