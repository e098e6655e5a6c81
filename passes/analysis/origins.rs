//! Origins: the operations of the program before a pass that an operation of the program after it implements.
//!
//! Verification numbers the operations that have effects. A pass that replaces operations hands their numbers on, so that
//! the code of a kernel is compared with the operations that the kernel is of. A program without numbers stays without.

use layout_dialect::ORIGINS;
use layout_ir::{self as ir, Builder, Op};
use melior::ir::operation::OperationMutLike;

/// Whether an operation has an origin of its own: it writes, allocates or calls, or one inside of it does. Others are what
/// these compute with, and an attribute would keep `cse` from joining them.
fn has_origins(op: Op) -> bool {
    let has_effects = |op: Op| match ir::name(op) {
        "memref.alloc" | "memref.alloca" | "bufferization.clone" | "func.call" => true,
        "func.return" | "scf.condition" | "scf.reduce" => false,
        name if name.starts_with("cf.") || name.ends_with(".yield") || name.ends_with(".prefetch") => false,
        name => ir::results(op).is_empty() && (ir::blocks(op).is_empty() || name.starts_with("linalg.")),
    };
    let is_symbol = matches!(ir::name(op), "func.func" | "builtin.module" | "memref.global");
    !is_symbol && ir::all_operations(op).into_iter().any(has_effects)
}

/// The numbers of an operation; none where nothing is verified.
pub fn of(op: Op) -> Vec<i64> {
    ir::integers(op, ORIGINS)
}

/// Numbers the operations with effects in the functions of a module; verification does not look into other symbols.
#[cfg(feature = "verify")]
pub fn number(module: Op) {
    forget(module);
    let functions = ir::blocks(module).into_iter().flat_map(ir::operations).filter(|op| ir::name(*op) == "func.func");
    let numbered = functions.flat_map(ir::all_operations).filter(|op| has_origins(*op));
    numbered.zip(0..).for_each(|(op, number)| set(op, &[number]));
}

/// Gives the operations from `first` to `end`, which is not one of them, these numbers, and those inside of them; one that
/// has numbers keeps them.
pub fn hand_on<'c>(first: Op<'c>, end: Op<'c>, numbers: &[i64]) {
    let mut next = Some(first).filter(|_| !numbers.is_empty());
    while let Some(op) = next.filter(|op| ir::op_key(*op) != ir::op_key(end)) {
        let inside = ir::all_operations(op).into_iter().filter(|op| has_origins(*op) && of(*op).is_empty());
        inside.for_each(|op| set(op, numbers));
        next = ir::next(op);
    }
}

/// Gives an operation the numbers of another one, too.
pub fn add(op: Op, numbers: &[i64]) {
    if !numbers.is_empty() {
        set(op, &[of(op), numbers.to_vec()].concat());
    }
}

fn set(op: Op, numbers: &[i64]) {
    ir::edit(op).set_attribute(ORIGINS, ir::integers_attribute(Builder::before(op).context(), numbers));
}

/// Takes the numbers away.
#[cfg(feature = "verify")]
pub fn forget(module: Op) {
    for op in ir::all_operations(module) {
        let _ = ir::edit(op).remove_attribute(ORIGINS);
    }
}
