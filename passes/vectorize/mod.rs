//! Vector code for loop nests.
//!
//! A kernel works on one block of elements after another: it loads the block of each operand as registers, rearranges
//! them so that all have the same elements in the same lanes, computes with whole registers, and rearranges and stores
//! the results. Full blocks and ragged ends are separate code, each with constant bounds and masks; for run-time
//! sizes, the ends compute their masks. Padding is neither read nor written, unless the nest covers it
//! ([`crate::kernel::padding`]). Reductions keep their results in registers throughout the reduced loops.
//!
//! | file | what it does |
//! |---|---|
//! | `distance` | distances and addresses, partly known only at run time |
//! | `registers` | blocks in registers, and their shuffles |
//! | `plan`, `planner`, `contraction` | the block's elements and the order of blocks |
//! | `linear` | addresses as sums |
//! | `peel` | dimensions with misaligned operand cuts |
//! | `pack_inputs` | contractions with misaligned operand cuts |
//! | `prefetch` | software prefetch |
//! | `rows` | buffers as views of one dimension |
//! | `kernel` | the loops |
//! | `planned` | a kernel with its plan and buffers, before emission |
//! | `row_blocks` | kernels over the same rows, block by block |
//! | `tail`, `mask` | masks at ragged ends |
//! | `compute`, `block`, `sums` | the code inside the loops |
//! | `division` | quotients and remainders of integers |
//! | `extremes` | maxima and minima |
//! | `elements` | the encoding of values in memory |
//! | `narrow` | elements narrower than their place in memory |
//! | `bytes` | bytes that hold several elements |

mod block;
mod bytes;
mod compute;
mod contraction;
mod distance;
mod division;
mod elements;
mod extremes;
mod kernel;
mod linear;
mod mask;
mod narrow;
mod pack_inputs;
mod peel;
mod plan;
mod planned;
mod planner;
mod prefetch;
mod registers;
mod row_blocks;
mod rows;
mod sums;
mod tail;

use crate::kernel::body::Body;
use crate::kernel::nest::Nest;
use crate::pass::options::LowerMemrefsOptions;
use layout_ir::Builder;
use planned::PlannedKernel;
pub use row_blocks::RowBlocks;

/// Emits vector code for a nest before `b`. If this is impossible, returns the reason and emits nothing.
pub fn emit<'c>(b: Builder<'c>, nest: &Nest<'c>, body: &Body<'c>, target: &LowerMemrefsOptions) -> Result<(), String> {
    if nest.extents.iter().any(|n| n.known() == Some(0)) {
        return Ok(());
    }
    if let Some(reason) = nest.operands.iter().find_map(|o| o.access.only_scalar()) {
        return Err(reason);
    }
    if nest.operands.iter().any(|o| o.access.element_encoding.ratio.elements > 1) {
        return bytes::emit(b, nest, body, target);
    }
    match PlannedKernel::of(b, nest, body, target) {
        Ok(kernel) => kernel.emit(b),
        Err(refusal) if body.initial.is_some() => pack_inputs::emit(b, nest, body, target, refusal)?,
        Err(refusal) => peel::emit(b, nest, body, target, refusal)?,
    }
    Ok(())
}
