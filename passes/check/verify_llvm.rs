//! `layout-verify-llvm`: reports remaining operations and types without a translation to LLVM IR.
//!
//! Upstream's `convert-to-llvm` leaves operations without a pattern unchanged, with their types, and succeeds.

use crate::pass::diagnostic::Diagnostic;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_ir::{self as ir, Op};
use melior::ir::{Type, TypeLike, ValueLike};

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
    "vcix",
    "x86vector",
    "xevm",
];

/// The casts that conversions leave between their types and those of other operations.
const CAST: &str = "builtin.unrealized_conversion_cast";

/// Checks the operations of a module.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let module = stage.root();
    let is_left = |name: &str| {
        let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
        name != "builtin.module" && !TRANSLATED.contains(&dialect)
    };
    // The operation that a cast is left for.
    let user_of_cast = |op: Op<'c>| {
        let users = ir::results(op).into_iter().flat_map(ir::uses).map(|(user, _)| ir::name(user));
        let mut others = users.filter(|user| *user != CAST && !user.starts_with("llvm."));
        others.next().filter(|_| ir::name(op) == CAST)
    };
    let error = |op: Op<'c>| {
        let what = match (user_of_cast(op), left_type(op)) {
            (Some(user), _) if is_left(user) => return None,
            (Some(user), _) => format!("is left for '{user}' op, which is not converted to the LLVM dialect"),
            _ if is_left(ir::name(op)) => "is not converted to the LLVM dialect".to_owned(),
            (None, Some(t)) => format!("has type {t}, which is not converted to the LLVM dialect"),
            (None, None) => return None,
        };
        let mut around = std::iter::successors(Some(op), |op| ir::parent(*op));
        let right = match around.any(|op| ir::name(op) == "gpu.func") {
            true => ": a gpu.func must be converted before, by convert-gpu-to-nvvm or another pass for its target",
            false => "",
        };
        Some(Diagnostic::error(ir::location(op), format!("'{}' op {what}{right}", ir::name(op))))
    };
    let errors: Vec<Diagnostic<'c>> = ir::all_operations(module).into_iter().filter_map(error).collect();
    if errors.is_empty() { Ok(Next::Unchanged) } else { Err(errors) }
}

/// The first tensor or memref that an operation defines, or takes as an argument of its blocks or as a function.
fn left_type<'c>(op: Op<'c>) -> Option<Type<'c>> {
    let arguments = ir::blocks(op).into_iter().flat_map(ir::arguments);
    let defined = ir::results(op).into_iter().chain(arguments).map(|v| v.r#type());
    let function = ir::attribute(op, "function_type").and_then(ir::type_in).and_then(ir::function);
    let named = function.into_iter().flat_map(|(inputs, results)| inputs.into_iter().chain(results));
    let is_left = |t: &Type| t.is_tensor() || t.is_unranked_tensor() || ir::is_buffer(*t);
    defined.chain(named).find(is_left)
}
