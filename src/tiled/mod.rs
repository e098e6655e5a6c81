//! Tiled layouts, as XLA writes them: `{1,0:T(8,128)(2,1)S(1)}`.
//!
//! [`layout`] is the text and the structure; [`expansion`] the arithmetic: padded sizes, strides, offsets, maps.

pub mod expansion;
pub mod layout;

pub use expansion::{Expansion, Part};
pub use layout::{Layout, Split, Tile, TileEntry};
