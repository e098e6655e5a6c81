//! Operations that hand whole values on: calls, branches, loops. They mind only that types agree.

/// The names, for tensors and for memrefs alike.
const CARRIERS: &[&str] = &[
    "arith.select",
    "builtin.module",
    "cf.br",
    "cf.cond_br",
    "cf.switch",
    "func.call",
    "func.call_indirect",
    "func.func",
    "func.return",
    "scf.condition",
    "scf.execute_region",
    "scf.for",
    "scf.if",
    "scf.index_switch",
    "scf.while",
    "scf.yield",
];

/// Operations that show part of a buffer or show it in another shape.
pub const VIEWS: &[&str] = &["memref.cast", "memref.collapse_shape", "memref.expand_shape", "memref.subview"];

/// Whether an operation only hands values on.
pub fn carries(name: &str) -> bool {
    CARRIERS.contains(&name)
}
