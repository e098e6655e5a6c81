//! A module of MLIR as data, and what is trusted alone: [`crate::proof`] and [`crate::run`] share nothing else.
//!
//! | file | what it holds |
//! |---|---|
//! | `model`, `bytes` | a program as data |
//! | `mlir` | attributes and types of MLIR as data |
//! | `lanes`, `prints` | operations that move lanes of vectors, and what prints write |
//! | `operations`, `uses` | what each operation means, and which values it uses |
//! | `layouts`, `places`, `swizzles` | where a tiled layout and a TensorLayout put an element, and a swizzle an address |
//! | `calc`, `flags`, `floats` | operations of `arith` and types of their elements, and which laws hold for them |
//! | `arith`, `functions` | what operations of `arith` and `math` compute, on bits |

pub mod arith;
pub mod bytes;
pub mod calc;
pub mod flags;
pub mod floats;
pub mod functions;
pub mod lanes;
pub mod layouts;
pub mod mlir;
pub mod model;
pub mod operations;
pub mod places;
pub mod prints;
pub mod swizzles;
pub mod uses;
