//! Vector code for loop nests.
//!
//! A kernel works on one block of elements after another: it loads the block of each operand as registers, rearranges
//! them so that all have the same elements in the same lanes, computes with whole registers, and rearranges and stores
//! the results. Full blocks and ragged ends are different code, with constant bounds and masks in each, but for sizes
//! known only at run time, where the ends have masks that are computed; padding is neither read nor written, unless the
//! nest goes through it ([`crate::kernel::padding`]). Reductions keep their results in registers for as long as the loops
//! over what is reduced run.
//!
//! | file | what it does |
//! |---|---|
//! | `distance` | distances and addresses, of which parts are known only at run time |
//! | `registers` | blocks in registers, and how they are rearranged |
//! | `plan`, `planner`, `contraction` | which elements at once, in which order |
//! | `linear` | addresses as sums |
//! | `in_turn` | dimensions in which operands are cut differently |
//! | `copied` | contractions whose operands are cut differently |
//! | `prefetch` | what is loaded into the cache ahead |
//! | `rows` | buffers as views of one dimension |
//! | `kernel` | the loops |
//! | `planned` | a kernel with its plan and buffers, before it is made |
//! | `row_blocks` | kernels over the same rows, some rows after others |
//! | `rest`, `there` | which elements are there, at the ends |
//! | `compute`, `block`, `sums` | the code inside them |
//! | `division` | quotients and remainders of integers |
//! | `extremes` | largest and least numbers |
//! | `elements` | what elements in memory are of the values that are computed with |
//! | `narrow` | elements of fewer bits than memory has for each |
//! | `bytes` | bytes that hold several elements |

mod block;
mod bytes;
mod compute;
mod contraction;
mod copied;
mod distance;
mod division;
mod elements;
mod extremes;
mod in_turn;
mod kernel;
mod linear;
mod narrow;
mod plan;
mod planned;
mod planner;
mod prefetch;
mod registers;
mod rest;
mod row_blocks;
mod rows;
mod sums;
mod there;

use crate::kernel::body::Body;
use crate::kernel::nest::Nest;
use crate::options::Options;
use layout_ir::Builder;
use planned::PlannedKernel;
pub use row_blocks::RowBlocks;

/// Makes vector code for a nest before `b`; the error is the reason why there can be none, and nothing was made.
pub fn emit<'c>(b: Builder<'c>, nest: &Nest<'c>, body: &Body<'c>, target: &Options) -> Result<(), String> {
    if nest.extents.iter().any(|n| n.known() == Some(0)) {
        return Ok(());
    }
    if let Some(reason) = nest.operands.iter().find_map(|o| o.access.only_scalar()) {
        return Err(reason);
    }
    if nest.operands.iter().any(|o| o.access.packing.held.elements > 1) {
        return bytes::emit(b, nest, body, target);
    }
    match PlannedKernel::of(b, nest, body, target) {
        Ok(kernel) => kernel.emit(b),
        Err(refusal) if body.initial.is_some() => copied::emit(b, nest, body, target, refusal)?,
        Err(refusal) => in_turn::emit(b, nest, body, target, refusal)?,
    }
    Ok(())
}
