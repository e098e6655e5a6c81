//! Runs upstream's passes in order, each only if the module needs it.
//!
//! A pass that changes nothing costs as much as any other on a large function: it visits all operations,
//! and MLIR verifies the result.

use layout_ir::{self as ir, Op};
use std::collections::HashSet;

/// The passes of a step, and the dialects or full operation names that need them; an empty list stands for all modules.
pub type PassStep = (&'static str, &'static [&'static str]);

/// All passes of some steps, as text.
pub fn all(steps: &[PassStep]) -> String {
    let passes: Vec<&str> = steps.iter().map(|(passes, _)| *passes).collect();
    passes.join(",")
}

/// The passes of the first step at or after a number that a module needs, and the number of the next step.
pub fn next(steps: &[PassStep], module: Op, from: usize) -> Option<(&'static str, usize)> {
    let names: HashSet<&str> = ir::all_operations(module).into_iter().map(ir::name).collect();
    let is_here = |wanted: &&str| names.iter().any(|name| name == wanted || name.split('.').next() == Some(wanted));
    let has_work = |wanted: &[&str]| wanted.is_empty() || wanted.iter().any(is_here);
    let found = steps.iter().enumerate().skip(from).find(|(_, (_, wanted))| has_work(wanted));
    found.map(|(number, (passes, _))| (*passes, number + 1))
}
