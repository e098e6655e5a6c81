//! `layout-scf-to-cf`: lowers loops and conditionals to branches, in time linear in the operations of a block.
//!
//! The rewrites are upstream's. Each splits the block after its operation and moves the rest into a new block. From
//! the last operation to the first, the rest reaches only to the next loop or conditional, as everything after it was
//! moved before; from the first to the last it would be the whole rest of the block, each time.

use crate::buffers::operations::{IN_ORDER, LOOP, is};
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream;
use layout_ir::{self as ir, Op};

/// Lowers all operations of `scf` below an operation for which upstream has a rewrite.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let root = stage.root();
    // Some become other operations of `scf` first; `scf.parallel`, for one, becomes loops.
    while upstream::scf_to_cf(root, &backwards(root)) {}
    Ok(Next::Changed)
}

/// The operations to lower: loops, and others that run regions; terminators disappear with them. From the last to the
/// first of each block, with nested ones after their parent: upstream's rewrite of `scf.while` expects one block.
fn backwards<'c>(root: Op<'c>) -> Vec<Op<'c>> {
    let (mut found, mut stack) = (Vec::new(), vec![root]);
    while let Some(op) = stack.pop() {
        stack.extend(ir::blocks(op).into_iter().flat_map(ir::operations));
        let name = ir::name(op);
        if name.starts_with("scf.") && (is(name, LOOP) || is(name, IN_ORDER)) {
            found.push(op);
        }
    }
    found
}
