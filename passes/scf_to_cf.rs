//! `layout-scf-to-cf`: loops and conditions become branches, in time linear in the operations of a block.
//!
//! The rewrites are upstream's. Each splits the block after its operation and moves what follows into a new block. From
//! the last operation to the first, what follows is only what is before the next loop or condition, as the rest was
//! moved before; from the first to the last it is the whole rest of the block, each time.

use crate::upstream;
use layout_ir::{self as ir, Op};

/// The operations that upstream has a rewrite for. Terminators are gone with them.
const LOWERED: [&str; 7] =
    ["scf.execute_region", "scf.for", "scf.forall", "scf.if", "scf.index_switch", "scf.parallel", "scf.while"];

/// Lowers everything of `scf` below an operation that upstream has a rewrite for.
pub fn run(root: Op) {
    // Some become other operations of `scf` first, as `scf.parallel` becomes loops.
    while upstream::scf_to_cf(root, &backwards(root)) {}
}

/// What is to be lowered, from the last to the first of each block, and what is inside another after it: upstream's
/// rewrite of `scf.while` takes one block.
fn backwards<'c>(root: Op<'c>) -> Vec<Op<'c>> {
    let (mut found, mut stack) = (Vec::new(), vec![root]);
    while let Some(op) = stack.pop() {
        stack.extend(ir::blocks(op).into_iter().flat_map(ir::operations));
        if LOWERED.contains(&ir::name(op)) {
            found.push(op);
        }
    }
    found
}
