//! Tiled layouts, as XLA writes them: `{1,0:T(8,128)(2,1)S(1)}`.
//!
//! [`layout`] is the text and the structure; [`tiling`] what one tile does to indices; [`expansion`] the arithmetic on
//! known sizes: padded sizes, strides, offsets, maps.

pub mod expansion;
pub mod layout;
pub mod tiling;

pub use expansion::{Expansion, Part};
pub use layout::{Layout, Split, Tile, TileEntry};
pub use tiling::Tiling;
