//! Operations on whole buffers as loops over their elements.
//!
//! In order of dependency: `access` (access to an operand's elements), `combiner` and `body`
//! (the computation), `nest` (the iteration space), `loops`, `full_tiles` and `places` (code for a nest: loops, twice
//! if tiles may be ragged at run time, or one program for each place of a machine), `fusion` (fusion of operations into
//! one kernel), `common_rows` (dimensions along which kernels can be fused), `padding` (nests over whole tiles),
//! `transfers` (vector reads and writes).

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

/// Emits a nest before `b` and calls back for the body of its loops: one program for each place of the
/// machine if places write the outputs, else one set of loops.
pub fn emit<'c>(nest: &Nest<'c>, b: Builder<'c>, body: impl FnOnce(&Inner<'_, 'c>)) {
    if nest.extents.iter().any(|n| n.known() == Some(0)) {
        return;
    }
    match places::outputs_cover_places(nest) {
        true => places::emit(nest, b, body),
        false => loops::emit(nest, b, body),
    }
}
