//! The notations of layouts: their common meaning, and translation between them.
//!
//! [`read`] reads a text in any notation, [`write()`] writes a layout in a notation. A layout that the notation cannot
//! express is an error with the reason; every written text has been read again and means the same.
//!
//! | file | content |
//! |---|---|
//! | [`described`] | a layout on a shape, independent of its notation |
//! | [`notation`] | the list of notations |
//! | `lists` | lists of numbers |
//! | [`cute`] | CuTe: `(8,4):(1,8)`, with swizzles |
//! | `bits` | layouts as matrices over bits |
//! | `bases` | a layout as the index that each bit of a place adds |
//! | `blocked` | the attribute `#ttg.blocked` |
//! | `encodings` | the attributes of tensor cores, operands and slices |
//! | `shared` | the attributes of shared memory |
//! | [`triton`] | Triton: `#ttg.linear`, `#ttg.blocked`, `#ttg.shared_linear` |
//! | [`mosaic`] | Mosaic: `#tpu.tiled` |
//! | [`pack`] | IREE's encodings and `linalg.pack` |
//! | [`strided`] | NumPy's strides and `strided<..>` of MLIR |
//! | [`python`] | JAX's `Layout(..)` |
//! | [`affine`] | `affine_map<..>` of MLIR |
//! | `sharded` | the division of an array among devices |
//! | `shardings` | shardings of HLO: `sharding={devices=[2,4]<=[8]}` |
//! | `shardy` | shardings of Shardy: `#sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {"y"}]>` |
//! | [`types`] | the types of MLIR around them |
//! | [`function`] | any layout as a function of the algebra |
//! | [`expression`] | calculations with layouts: `complement((2,4):(1,8), 64)` |
//! | [`translate`] | detection of the notation of a text; reading and writing |

pub mod affine;
mod bases;
mod bits;
mod blocked;
pub mod cute;
pub mod described;
mod encodings;
pub mod expression;
pub mod function;
mod lists;
pub mod mosaic;
pub mod notation;
pub mod pack;
pub mod python;
mod sharded;
mod shardings;
mod shardy;
mod shared;
pub mod strided;
pub mod translate;
pub mod triton;
pub mod types;

pub use described::{Described, Description};
pub use expression::{Answer, calculate};
pub use notation::Notation;
pub use translate::{read, write};
