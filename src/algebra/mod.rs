//! The algebra of layouts: layouts as functions from coordinates to places, and calculations with them.
//!
//! [`LayoutFunction`] has mixed radix digits with strides, in modes, along axes; a base; padding; copies; and bits that
//! flip others, as under a swizzle. Coordinates of a layout are also one number, its index, which counts the first mode
//! fastest. So `(4,8):(8,1)` is 4 rows of 8, and index 5 is row 1 of column 1, at `1*8 + 1*1 = 9`.
//!
//! Each operation is defined by what its result does to an index, and refuses what it cannot say with the coordinate
//! that shows it.
//!
//! | file | content |
//! |---|---|
//! | `layout` | the type, places of indices, permutation of modes |
//! | `mode` | digits and groups of modes |
//! | `chain` | the normal form of a mode, as one list |
//! | `text` | the text of a layout |
//! | `compose` | composition |
//! | `bits` | layouts that are linear in bits |
//! | `inverse` | inverses and complements |
//! | `unflip` | inverses of digits under flips |
//! | `divide` | division into tiles, products, restriction |
//! | `moves` | relayouts by levels, vector accesses, conflicts of banks |
//! | `equal` | equality with a witness |

mod bits;
mod chain;
mod compose;
mod divide;
mod equal;
mod inverse;
mod layout;
mod mode;
mod moves;
mod text;
mod unflip;

pub(crate) use bits::{inverse, linear};
pub use divide::{Slice, Tiler};
pub use layout::{Flip, LayoutFunction};
pub use mode::{Digit, Mode};
pub use moves::{Banks, Conflicts, Moved, Vectors};
