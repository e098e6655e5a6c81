//! The steps of passes: the interface of all passes, and upstream's passes between the steps.
//!
//! The file or folder of a pass has a function `run`, which takes a [`StepInput`] and returns [`Next`]. The build
//! script generates the match over all passes from `Passes.td`. MLIR runs other passes between two steps:
//!
//! ```text
//! step 0 -> Run { passes, number: 1 } -> MLIR runs `passes` -> step 1 -> Changed
//! ```
//!
//! A pass that changes nothing costs as much as any other on a large function: it visits all operations,
//! and MLIR verifies the result. So a list of upstream's passes names the operations that need each of them.

use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Op, Rewriter};
use std::collections::HashSet;

/// The input of one step of a pass.
pub struct StepInput<'c, Options = ()> {
    /// Changes the IR below the operation that the pass runs on.
    pub rewriter: &'c Rewriter,
    /// The options of `Passes.td`; `()` for a pass without any.
    pub options: Options,
    /// The number of the step: 0 at first, then that of [`Next::Run`].
    pub number: usize,
}

impl<'c, Options> StepInput<'c, Options> {
    /// The operation that the pass runs on.
    pub fn root(&self) -> Op<'c> {
        self.rewriter.root()
    }
}

/// The result of a step. An error fails the pass; an error with an empty list says that MLIR has emitted the diagnostics.
pub type StepResult<'c> = Result<Next, Vec<Diagnostic<'c>>>;

/// The end of a pass, or its continuation.
pub enum Next {
    /// The pass ends, and the IR is the same.
    Unchanged,
    /// The pass ends, and the IR may have changed.
    Changed,
    /// MLIR runs passes, and then the pass makes its step `number`.
    Run {
        /// The passes, in the text of a pipeline.
        passes: String,
        /// The number of the step after them.
        number: usize,
        /// Whether this step changed the IR.
        changed: bool,
    },
}

impl Next {
    /// The end of a pass that says whether it changed the IR.
    pub fn of(changed: bool) -> Next {
        if changed { Next::Changed } else { Next::Unchanged }
    }
}

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
