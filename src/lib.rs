//! Where each element of a tensor is: layouts, indexing maps, and what operations read and write.

pub mod analysis;
pub mod element;
pub mod expr;
pub mod hlo;
pub mod maps;
pub mod notations;
pub mod operations;
pub mod places;
pub mod text;
pub mod tiled;
