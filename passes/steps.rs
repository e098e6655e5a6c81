//! Upstream's passes one after another, each only where there is something for it.
//!
//! A pass that changes nothing costs as much as one that does where a function is large: it goes through all operations,
//! and MLIR verifies what it leaves.

use layout_ir::{self as ir, Op};
use std::collections::HashSet;

/// The passes of a step, and what they are for: dialects, or operations by their full names. All modules where there are
/// none.
pub type PassStep = (&'static str, &'static [&'static str]);

/// All passes of some steps, as text.
pub fn all(steps: &[PassStep]) -> String {
    let passes: Vec<&str> = steps.iter().map(|(passes, _)| *passes).collect();
    passes.join(",")
}

/// The passes of the first step, from a number on, that has something to do in a module, and the number after it.
pub fn next(steps: &[PassStep], module: Op, from: usize) -> Option<(&'static str, usize)> {
    let names: HashSet<&str> = ir::all_operations(module).into_iter().map(ir::name).collect();
    let is_here = |wanted: &&str| names.iter().any(|name| name == wanted || name.split('.').next() == Some(wanted));
    let has_work = |wanted: &[&str]| wanted.is_empty() || wanted.iter().any(is_here);
    let found = steps.iter().enumerate().skip(from).find(|(_, (_, wanted))| has_work(wanted));
    found.map(|(number, (passes, _))| (*passes, number + 1))
}
