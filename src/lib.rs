//! Where each element of a tensor is: layouts, indexing maps, and what operations read and write.
//!
//! A layout maps the indices of a tensor to positions in memory. `f32[3,5]{1,0:T(2,2)}` has 3 rows and 5 columns in
//! tiles of 2×2, padded to 6 tiles; element (2, 3) is at offset 17 of 24:
//!
//! ```
//! use tensor_layout::operations::Shape;
//! use tensor_layout::tiled::Expansion;
//!
//! let shape = Shape::parse("f32[3,5]{1,0:T(2,2)}").unwrap();
//! let Shape::Array(array) = shape else { panic!("an array") };
//! let expansion = Expansion::new(&array.sizes().unwrap(), &array.layout).unwrap();
//! assert_eq!(expansion.offset(&[2, 3]).unwrap(), 17);
//! ```
//!
//! # Rooms
//!
//! Each file and folder of the crate, in the order of what may use what: a room uses only the rooms of its last column,
//! all of them above it. `test/arrows.rs` reads this table and the imports.
//!
//! | room | what it holds | uses |
//! |---|---|---|
//! | [`text`] | cursor over a text, errors with a byte offset, suggestions | |
//! | [`element`] | element types and their sizes | |
//! | [`expr`] | quasi-affine expressions as trees | |
//! | `numbers` | greatest common divisors and inverses | |
//! | [`maps`] | indexing maps: text, composition, simplifier, checker | `expr`, `numbers`, `text` |
//! | [`tiled`] | tiled layouts: text and arithmetic | `element`, `expr`, `text` |
//! | [`places`] | TensorLayouts, machines, relayouts | `expr`, `maps`, `numbers`, `text`, `tiled` |
//! | [`operations`] | shapes, operations, graphs | `element`, `expr`, `maps`, `text`, `tiled` |
//! | [`packing`] | arrays into the memory of a layout, and out of it | `element`, `operations`, `text`, `tiled` |
//! | [`drawing`] | the picture of a layout as SVG | `operations`, `places`, `text`, `tiled` |
//! | [`notations`] | layouts in the notations of other projects, both ways | `element`, `expr`, `maps`, `operations`, `places`, `text`, `tiled` |
//! | [`targets`] | what layouts a machine has, and what they cost | `element`, `operations`, `places`, `text`, `tiled` |
//! | [`analysis`] | what operations and graphs read, feed and move | `expr`, `maps`, `operations`, `text`, `tiled` |
//! | [`hlo`] | HLO text to operations | `element`, `expr`, `operations`, `text`, `tiled` |
//! | [`memory`] | the buffers of a program, when they are live, and the peak | `analysis`, `hlo`, `operations`, `text`, `tiled` |
//! | [`solver`] | choices of least cost: plan, bound, certificate and its checker | `text` |
//! | [`plan`] | layouts for all values of a program | `element`, `expr`, `operations`, `solver`, `targets`, `text`, `tiled` |
//!
//! # Invariants
//!
//! - Nothing here knows MLIR, reads files or prints; there is no unsafe code.
//! - One grammar for each text: [`tiled::Layout`], [`places::TensorLayout`], [`maps::Indexing`] and [`hlo`] parse it, and
//!   the dialect and the tools call them.
//! - [`maps::check`] shares no code with [`mod@maps::simplify`].
//! - Sizes are `i64` and never wrap: what does not fit is an error. The simplifier leaves an expression
//!   alone whose numbers do not fit on the way.
//! - No input panics; nesting is bounded, so no input overflows the stack.

pub mod analysis;
pub mod drawing;
pub mod element;
pub mod expr;
pub mod hlo;
pub mod maps;
pub mod memory;
pub mod notations;
mod numbers;
pub mod operations;
pub mod packing;
pub mod places;
pub mod plan;
pub mod solver;
pub mod targets;
pub mod text;
pub mod tiled;
