//! An operation on whole buffers as loops over their elements.
//!
//! In the order in which they use each other: `access` (how an element of an operand is reached), `combiner` and `body`
//! (what is computed), `nest` (over which elements), `loops`, `full_tiles` and `places` (a nest as code: loops, twice where
//! tiles may be ragged at run time, or one program for each place of a machine), `fusion` (which operations become one
//! kernel), `common_rows` (in which dimensions kernels may go together), `padding` (nests over whole tiles), `transfers` (reads and writes of vectors).

pub mod access;
pub mod body;
pub mod combiner;
pub mod common_rows;
pub mod full_tiles;
pub mod fusion;
pub mod loops;
pub mod nest;
pub mod padding;
pub mod places;
pub mod transfers;

use layout_ir::Builder;
use loops::Inner;
use nest::Nest;

/// Makes the code of a nest before `b` and calls back for what is inside its loops: one program for each place of the
/// machine where places write the outputs, else one set of loops.
pub fn emit<'c>(nest: &Nest<'c>, b: Builder<'c>, body: impl FnOnce(&Inner<'_, 'c>)) {
    if nest.extents.iter().any(|n| n.known() == Some(0)) {
        return;
    }
    match places::outputs_cover_places(nest) {
        true => places::emit(nest, b, body),
        false => loops::emit(nest, b, body),
    }
}
