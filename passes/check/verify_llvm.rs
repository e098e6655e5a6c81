//! `layout-verify-llvm`: reports remaining operations without a translation to LLVM IR.
//!
//! Upstream's `convert-to-llvm` leaves operations without a pattern unchanged, and succeeds.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::steps::{Next, StepInput, StepResult};
use layout_ir as ir;

/// The dialects that `mlir-translate --mlir-to-llvmir` accepts.
const TRANSLATED: &[&str] = &[
    "acc",
    "amx",
    "arm_neon",
    "arm_sme",
    "arm_sve",
    "gpu",
    "llvm",
    "nvvm",
    "omp",
    "ptr",
    "rocdl",
    "spirv",
    "vcix",
    "x86vector",
    "xevm",
];

/// Checks the operations of a module.
pub(crate) fn run<'c>(step: StepInput<'c>) -> StepResult<'c> {
    let module = step.root();
    let is_left = |name: &str| {
        let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
        name != "builtin.module" && !TRANSLATED.contains(&dialect)
    };
    let left = ir::all_operations(module).into_iter().filter(|op| is_left(ir::name(*op)));
    let error = |op| {
        let mut around = std::iter::successors(ir::parent(op), |op| ir::parent(*op));
        let right = match around.any(|op| ir::name(op) == "gpu.func") {
            true => ": a gpu.func must be converted before, by convert-gpu-to-nvvm or another pass for its target",
            false => "",
        };
        let message = format!("'{}' op is not converted to the LLVM dialect{right}", ir::name(op));
        Diagnostic::error(ir::location(op), message)
    };
    let errors: Vec<Diagnostic<'c>> = left.map(error).collect();
    if errors.is_empty() { Ok(Next::Unchanged) } else { Err(errors) }
}
