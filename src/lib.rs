//! Where each element of a tensor lives: shapes, tiled layouts and indexing maps.
pub mod analysis;
pub mod check;
pub mod element;
pub mod equal;
pub mod expansion;
pub mod expr;
pub mod hlo;
pub mod layout;
pub mod map;
mod map_change;
mod map_text;
pub mod operation;
pub mod shape;
pub mod simplify;
pub mod steps;
pub mod text;
