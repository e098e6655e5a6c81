//! The stages of passes: the interface of all passes, and upstream's passes between the stages.
//!
//! The file or folder of a pass has a function `run`, which takes a [`StageInput`] and returns [`Next`]. The build
//! script generates the match over all passes from `Passes.td`. MLIR runs other passes between two stages:
//!
//! ```text
//! stage 0 -> Run { passes, number: 1 } -> MLIR runs `passes` -> stage 1 -> Changed
//! ```
//!
//! A pass that changes nothing costs as much as any other on a large function: it visits all operations,
//! and MLIR verifies the result. So a list of upstream's passes names the operations that need each of them.

use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Op, Rewriter};
use std::collections::HashSet;

/// The input of one stage of a pass.
pub struct StageInput<'c, Options = ()> {
    /// Changes the IR below the operation that the pass runs on.
    pub rewriter: &'c Rewriter,
    /// The options of `Passes.td`; `()` for a pass without any.
    pub options: Options,
    /// The number of the stage: 0 at first, then that of [`Next::Run`].
    pub number: usize,
}

impl<'c, Options> StageInput<'c, Options> {
    /// The operation that the pass runs on.
    pub fn root(&self) -> Op<'c> {
        self.rewriter.root()
    }
}

/// The result of a stage. An error fails the pass; an error with an empty list says that MLIR has emitted the
/// diagnostics.
pub type StageResult<'c> = Result<Next, Vec<Diagnostic<'c>>>;

/// The end of a pass, or its continuation.
pub enum Next {
    /// The pass ends, and the IR is the same.
    Unchanged,
    /// The pass ends, and the IR may have changed.
    Changed,
    /// MLIR runs passes, and then the pass makes its stage `number`.
    Run {
        /// The passes, in the text of a pipeline.
        passes: String,
        /// The number of the stage after them.
        number: usize,
        /// Whether this stage changed the IR.
        changed: bool,
    },
}

impl Next {
    /// The end of a pass that says whether it changed the IR.
    pub fn of(changed: bool) -> Next {
        if changed { Next::Changed } else { Next::Unchanged }
    }
}

/// The passes of a stage, and the dialects or full operation names that need them; an empty list stands for all
/// modules.
pub type PassStage = (&'static str, &'static [&'static str]);

/// All passes of some stages, as text.
pub fn all(stages: &[PassStage]) -> String {
    let passes: Vec<&str> = stages.iter().map(|(passes, _)| *passes).collect();
    passes.join(",")
}

/// The passes of the first stage at or after a number that a module needs, and the number of the next stage.
pub fn next(stages: &[PassStage], module: Op, from: usize) -> Option<(&'static str, usize)> {
    let names: HashSet<&str> = ir::all_operations(module).into_iter().map(ir::name).collect();
    let is_here = |wanted: &&str| names.iter().any(|name| name == wanted || name.split('.').next() == Some(wanted));
    let has_work = |wanted: &[&str]| wanted.is_empty() || wanted.iter().any(is_here);
    let found = stages.iter().enumerate().skip(from).find(|(_, (_, wanted))| has_work(wanted));
    found.map(|(number, (passes, _))| (*passes, number + 1))
}
