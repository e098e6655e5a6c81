//! Indexing maps and their simplifier.

#[path = "../reference/choices.rs"]
mod choices;

mod equality;
mod maps;
mod only_place;
mod simplify_laws;
mod simplify_table;
