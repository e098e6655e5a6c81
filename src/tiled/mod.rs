//! Tiled layouts, as XLA writes them: `{1,0:T(8,128)(2,1)S(1)}`.
//!
//! | file | content |
//! |---|---|
//! | [`memory_space`] | numbers and names of memory spaces |
//! | [`layout`] | the text and the structure |
//! | [`mod@jax`] | the text in JAX's notation |
//! | [`tiling`] | the rule of tiling, over dimensions of any kind |
//! | [`expansion`] | the arithmetic: padded sizes, strides, offsets, maps |
//! | `padding` | the padding that has an index |
//!
//! # Comparison with other descriptions of layouts
//!
//! A layout is a function from a logical index to a place. Four other projects describe that function in different
//! ways:
//!
//! | | form | expressible there, not in tiled layouts | expressible in tiled layouts and indexing maps, not there |
//! |---|---|---|---|
//! | XLA's indexing maps | affine expressions with `floordiv` and `mod`, intervals, constraints | run-time variables, several elements for one index; [`crate::maps`] has the same | which bytes are padding: a map has no size of the memory |
//! | CuTe | nested shapes with strides, `(4,2):(1,16)` | any stride, also 0 (copies) and overlapping ones; composition and complement in closed form | padding: sizes that tiles do not divide (`3` by `2`); a remainder must be written as a predicate |
//! | Triton's `LinearLayout` | a matrix over bits: each bit of a place (register, lane, warp) is the exclusive or of bits of the index | swizzles such as `row ^ column`, inverses by elimination | sizes that are no powers of two, and so padding and tiles like `T(6,100)` |
//! | MLIR's affine maps | affine expressions, no ranges | symbols of unknown size | sizes; simplification that needs an interval |
//!
//! Tiled layouts cannot express copies and places of a machine, which are TensorLayouts ([`crate::places`], whose parts
//! are CuTe's modes with a named axis), or swizzles, which are maps. [`crate::notations`] reads and writes these
//! notations. Directions differ, too: here a map takes the logical index to the place, a `LinearLayout` takes the place
//! to the logical index.

pub mod expansion;
pub mod jax;
pub mod layout;
pub mod memory_space;
mod padding;
pub mod tiling;

pub use expansion::{Expansion, StridedDim};
pub use jax::jax;
pub use layout::{Layout, SplitConfig, Tile, TileEntry};
pub use tiling::Tiling;
