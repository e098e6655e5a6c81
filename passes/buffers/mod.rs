//! Lowering of one buffer: its type, its index, the operations that access it.
//!
//! `operations` is the table of upstream's operations; `index` makes expressions of index values, and `index_values` values
//! of expressions, `bits` with operations on bits; `element_encoding`, `parts`, `products`, `spread`, `maps` and `lowered` compute the memref of a
//! layout; `type_converter` changes types in a module; `globals` sorts its constants; `views` finds slices and reshapes
//! that are only read; `async_copies` has copies between memories, and `descriptors` the memrefs of the LLVM dialect.

pub mod async_copies;
pub mod bits;
pub mod descriptors;
pub mod element_encoding;
pub mod globals;
pub mod index;
pub mod index_values;
pub mod lowered;
pub mod maps;
pub mod operations;
pub mod parts;
pub mod products;
pub mod spread;
pub mod type_converter;
pub mod views;
