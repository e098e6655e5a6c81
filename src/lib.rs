//! Layouts of tensors: offsets of elements, indexing maps, and the reads and writes of operations.
//!
//! A layout maps the indices of a tensor to positions in memory. `f32[3,5]{1,0:T(2,2)}` has 3 rows and 5 columns in
//! tiles of 2×2, padded to 6 tiles; element (2, 3) is at offset 17 of 24:
//!
//! ```
//! use tensor_layout::operations::Array;
//! use tensor_layout::tiled::Expansion;
//!
//! let array: Array = "f32[3,5]{1,0:T(2,2)}".parse().unwrap();
//! let expansion = Expansion::new(&array.sizes().unwrap(), &array.layout).unwrap();
//! assert_eq!(expansion.offset(&[2, 3]).unwrap(), 17);
//! ```
//!
//! Types with a text of their own are [`FromStr`](std::str::FromStr) and print what they read; a [`text::Error`] has
//! its kind, the byte at fault, and a message with the correction. Answers that may get more fields, and lists that may
//! get longer, are `#[non_exhaustive]`. [`operations::Operation`], [`element::ElementType`] and other types that a
//! compiler must handle completely are not: a new variant is a change that the compiler must see.
//! `test/rules/names.rs` lists them.
//!
//! # An example from each room
//!
//! ```
//! use tensor_layout::analysis::movement;
//! use tensor_layout::drawing::{MOST, draw_array};
//! use tensor_layout::element::ElementType::F32;
//! use tensor_layout::expr::{Expr, Named};
//! use tensor_layout::hlo::Module;
//! use tensor_layout::limits;
//! use tensor_layout::maps::IndexingMap;
//! use tensor_layout::notations::{Notation, read, write};
//! use tensor_layout::operations::{Array, Operation, Shape};
//! use tensor_layout::packing::Packer;
//! use tensor_layout::places::{Machine, Part, Placement, TensorLayout};
//! use tensor_layout::targets::Target;
//! use tensor_layout::tiled::{Expansion, Layout, TileEntry::Size};
//!
//! # fn main() -> Result<(), tensor_layout::text::Error> {
//! // limits: what is too large is an error.
//! assert_eq!(limits::ALL[0].name, "RANK");
//! assert!(Shape::parse(&format!("f32[{}1]", "1,".repeat(limits::RANK))).is_err());
//!
//! // tiled, operations: a layout from its text or from numbers, on an array of 15 elements.
//! let layout = Layout::new(vec![1, 0], vec![vec![Size(2), Size(2)]])?;
//! assert_eq!(layout, "{1,0:T(2,2)}".parse()?);
//! assert_eq!("{1,1}".parse::<Layout>().unwrap_err().at, Some(3));
//! let array = Array::new(F32, &[3, 5], layout)?;
//! assert_eq!(Expansion::new(&[3, 5], &array.layout)?.padded_bytes(F32)?, 24 * 4);
//!
//! // packing, drawing: its memory, and the picture of it.
//! let packer = Packer::new(&array)?;
//! assert_eq!((packer.dense_bytes(), packer.memory_bytes()), (15 * 4, 24 * 4));
//! assert!(draw_array(&array, [MOST; 2])?.starts_with("<svg "));
//!
//! // expr, maps: expressions over indices, and maps that simplify over their domain.
//! let row = Expr::Var(0).floor_div(8);
//! assert_eq!(Named(&row, &|_| "i".into()).to_string(), "i floordiv 8");
//! let map: IndexingMap = "(d0, d1) -> ((d0 * 16 + d1) mod 8), domain: d0 in [0, 9], d1 in [0, 15]".parse()?;
//! assert_eq!(map.simplify().to_string(), "(d0, d1) -> (d1 mod 8), domain: d0 in [0, 9], d1 in [0, 15]");
//!
//! // places: 12 rows over 4 PEs. Element (7, 1) is at PE 2, address 9.
//! let rows = TensorLayout::new(vec![vec![Part::along("PE", 4, 1), Part::local(3, 8)], vec![Part::local(8, 1)]])?;
//! assert_eq!(rows, "((4_PE, 3:8), (8:1))".parse()?);
//! assert_eq!(Placement::new(&rows, None).unwrap().place(&[7, 1])?, [2, 9]);
//!
//! // notations: the same layout as others write it.
//! let mosaic = write(&read("f32[16,256]{1,0:T(8,128)}")?, Notation::Mosaic, F32)?;
//! assert_eq!(mosaic, "memref<16x256xf32, #tpu.tiled<(8,128),[2,1]>>");
//!
//! // targets: the layouts of a machine.
//! let tpu = Target::parse("tpu_v5e")?;
//! assert_eq!(tpu.default_layout(F32, &[1024, 129])?.to_string(), "{0,1:T(8,128)}");
//!
//! // analysis: what a transposition moves.
//! let [from, to]: [Shape; 2] = ["f32[8,128]{1,0}".parse()?, "f32[128,8]{0,1}".parse()?];
//! let moved = movement(&Operation::Transpose { permutation: vec![1, 0] }, &from, &to)?;
//! assert_eq!(moved.to_string(), "free: every element stays at its byte");
//!
//! // hlo: a program, of which every operation is known.
//! let text = "HloModule flip
//! ENTRY main {
//!   x = f32[8,128]{1,0} parameter(0)
//!   ROOT y = f32[128,8]{1,0} transpose(x), dimensions={1,0}
//! }";
//! assert_eq!(Module::parse(text).unwrap().graphs()[0].nodes.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # Rooms
//!
//! Each file and folder of the crate, in the order of imports: a room uses only the rooms of its last column, all of
//! them above it. `test/rules/arrows.rs` reads this table and the imports.
//!
//! | room | content | uses |
//! |---|---|---|
//! | [`limits`] | the limits of all texts and passes, in one list | |
//! | [`text`] | cursor over a text, errors with a byte offset, suggestions | |
//! | [`element`] | element types and their sizes | `text` |
//! | [`formats`] | the formats of floats of 8 and of 4 bits | `element` |
//! | [`expr`] | quasi-affine expressions as trees | |
//! | [`numbers`] | quotients rounded up, greatest common divisors and inverses | |
//! | [`sets`] | disjoint sets of numbers | |
//! | [`swizzle`] | swizzles of the bits of an address | `text` |
//! | [`maps`] | indexing maps: text, composition, simplifier, checker | `expr`, `limits`, `numbers`, `text` |
//! | [`tiled`] | tiled layouts: text and arithmetic | `element`, `expr`, `limits`, `text` |
//! | [`places`] | TensorLayouts, machines, relayouts | `expr`, `limits`, `maps`, `numbers`, `text`, `tiled` |
//! | [`swizzled`] | layouts whose addresses are swizzled | `expr`, `numbers`, `places`, `swizzle`, `text`, `tiled` |
//! | [`algebra`] | layouts as functions: composition, inverses, complements, division, products | `limits`, `maps`, `numbers`, `places`, `swizzle`, `text` |
//! | [`conversion`] | tiled layouts as TensorLayouts, and back | `maps`, `places`, `text`, `tiled` |
//! | [`operations`] | shapes, operations, graphs | `element`, `expr`, `limits`, `maps`, `numbers`, `text`, `tiled` |
//! | [`packing`] | arrays into the memory of a layout, and out of it | `element`, `operations`, `text`, `tiled` |
//! | [`drawing`] | a picture of a layout as SVG | `algebra`, `operations`, `places`, `text`, `tiled` |
//! | [`targets`] | default layouts and costs of a machine | `element`, `numbers`, `operations`, `places`, `text`, `tiled` |
//! | [`analysis`] | reads, feeds and movement of operations and graphs | `expr`, `maps`, `numbers`, `operations`, `text`, `tiled` |
//! | [`hlo`] | HLO and StableHLO text to operations | `element`, `expr`, `formats`, `limits`, `operations`, `text`, `tiled` |
//! | [`notations`] | layouts in the notations of other projects, both ways; expressions of the algebra | `algebra`, `conversion`, `element`, `expr`, `hlo`, `limits`, `maps`, `operations`, `places`, `swizzle`, `text`, `tiled` |
//! | [`offsets`] | offsets in one memory for live ranges | |
//! | [`transfers`] | relayouts and slices as strided copies | `operations`, `text`, `tiled` |
//!
//! # Invariants
//!
//! - Nothing here knows MLIR, reads files or prints; there is no unsafe code.
//! - One grammar for each text: [`tiled::Layout`], [`places::TensorLayout`], [`maps::Indexing`] and [`hlo`] parse it,
//!   and the dialect and the tools call them.
//! - [`maps::check`] shares no code with [`mod@maps::simplify`].
//! - Sizes are `i64` and never wrap: a number that does not fit is an error. The simplifier returns an expression
//!   unchanged if its intermediate numbers do not fit.
//! - No input panics; nesting is bounded, so no input overflows the stack.

pub mod algebra;
pub mod analysis;
pub mod conversion;
#[cfg(feature = "drawing")]
pub mod drawing;
pub mod element;
pub mod expr;
pub mod formats;
#[cfg(feature = "hlo")]
pub mod hlo;
pub mod limits;
pub mod maps;
#[cfg(feature = "notations")]
pub mod notations;
pub mod numbers;
pub mod offsets;
pub mod operations;
#[cfg(feature = "packing")]
pub mod packing;
pub mod places;
pub mod sets;
pub mod swizzle;
pub mod swizzled;
pub mod targets;
pub mod text;
pub mod tiled;
pub mod transfers;
