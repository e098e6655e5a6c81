//! Tiled layouts, as XLA writes them: `{1,0:T(8,128)(2,1)S(1)}`.
//!
//! | file | what it holds |
//! |---|---|
//! | [`memory_space`] | numbers and names of memory spaces |
//! | [`layout`] | the text and the structure |
//! | [`tiling`] | the rule of tiling, over dimensions of any kind |
//! | [`expansion`] | the arithmetic: padded sizes, strides, offsets, maps |

pub mod expansion;
pub mod layout;
pub mod memory_space;
pub mod tiling;

pub use expansion::{Expansion, Part};
pub use layout::{Layout, Split, Tile, TileEntry};
pub use tiling::{Tiling, tile};
