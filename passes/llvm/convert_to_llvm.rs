//! `layout-convert-to-llvm`: upstream's conversions to the LLVM dialect, each only if the module needs it.
//!
//! `$arena` stands for the option of that name.

use crate::distribute::IMPLEMENTATION;
use crate::llvm::dynamic_reshapes;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::ConvertToLlvmOptions;
use crate::pass::stages::{self, Next, PassStage, StageInput, StageResult};
use crate::pass::upstream;
use layout_ir::{self as ir, Builder, Op, Rewriter};
use melior::ir::Attribute;
use melior::ir::operation::OperationMutLike;

/// Prepares a module, and runs [`STAGES`], each only if the module needs it.
pub(crate) fn run<'c>(stage: StageInput<'c, ConvertToLlvmOptions>) -> StageResult<'c> {
    if stage.number == 0 {
        check_index(stage.root()).map_err(|error| vec![error])?;
    }
    let changed = stage.number == 0 && prepare(stage.rewriter);
    Ok(match stages::next(STAGES, stage.root(), stage.number) {
        Some((passes, number)) => Next::Run { passes: with_arena(passes, stage.options), number, changed },
        None => Next::of(forget_mpi(stage.root()) | changed),
    })
}

/// All passes that may run between the stages.
pub(crate) fn passes(options: ConvertToLlvmOptions) -> String {
    with_arena(&stages::all(STAGES), options)
}

fn with_arena(passes: &str, options: ConvertToLlvmOptions) -> String {
    passes.replace("$arena", options.arena.name())
}

/// The passes in their order.
const STAGES: &[PassStage] = &[
    // Each memory has an arena, and a copy is between two memories.
    ("layout-plan-memory{arena=$arena}", &["func"]),
    ("layout-expand-dma", &["memref.dma_start", "memref.dma_wait"]),
    ("layout-strip-memory-spaces", &[]),
    ("layout-outline-loops", &["affine", "linalg", "scf"]),
    ("layout-call-mpi", &["mpi"]),
    ("convert-linalg-to-loops", &["linalg"]),
    ("func.func(scf-forall-to-for)", &["scf.forall"]),
    ("arith-expand", &["arith.scaling_extf", "arith.scaling_truncf"]),
    ("layout-expand-floats", &["arith", "math", "vector"]),
    // After loops are outlined, as each function gets its constants once.
    ("layout-approximate-math", &["math"]),
    // Here and not by `convert-to-llvm`, whose quotients and magnitudes have the squares of parts, which overflow.
    ("convert-complex-to-standard", &["complex"]),
    ("layout-call-libm", INEXACT),
    ("func.func(convert-vector-to-scf)", &["vector"]),
    ("memref-expand", &["memref.reshape"]),
    ("lower-affine", &["affine"]),
    ("layout-annotate-loops", &["vector"]),
    ("layout-scf-to-cf", &["scf"]),
    ("expand-strided-metadata,lower-affine", STRIDED),
    ("convert-vector-to-llvm", &["vector"]),
    ("convert-math-to-llvm", &["math"]),
    ("convert-math-to-libm", &["math"]),
    ("convert-to-llvm", &[]),
    ("layout-mask-as-integers", &["llvm.intr.masked.load", "llvm.intr.masked.store"]),
    ("reconcile-unrealized-casts", &["builtin.unrealized_conversion_cast"]),
    ("layout-shorten-interfaces", &[]),
];

/// Functions for which `convert-math-to-llvm` would add and subtract one.
const INEXACT: &[&str] = &["math.expm1", "math.log1p"];

/// Operations that need computed offsets, sizes and strides. Other operations on memrefs are converted directly.
const STRIDED: &[&str] = &[
    "memref.assume_alignment",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.extract_aligned_pointer_as_index",
    "memref.extract_strided_metadata",
    "memref.reinterpret_cast",
    "memref.subview",
];

/// Returns an error for a data layout whose `index` has other bits than those that upstream's conversions give it.
fn check_index<'c>(module: Op<'c>) -> Result<(), Diagnostic<'c>> {
    let has_layout = |op: &Op| ir::attribute(*op, "dlti.dl_spec").is_some();
    let mut scopes = ir::all_operations(module).into_iter().filter(has_layout).chain([module]);
    let found = scopes.find_map(|scope| Some((scope, upstream::index_bits(scope))).filter(|(_, bits)| *bits != 64));
    let Some((scope, bits)) = found else { return Ok(()) };
    let message =
        format!("expected 64 bits for index in the data layout, found {bits}: convert-to-llvm makes i64 of index");
    Err(Diagnostic::error(ir::location(scope), message))
}

/// Removes the attribute that selects the MPI from a module: `mlir-runner` does not know its dialect. Returns whether
/// it was there.
fn forget_mpi(module: Op) -> bool {
    let said = ir::attribute(module, IMPLEMENTATION.0).is_some_and(|which| which.to_string() == IMPLEMENTATION.1);
    said && ir::edit(module).remove_attribute(IMPLEMENTATION.0).is_ok()
}

/// The attribute of functions from which upstream's conversion takes the linkage of the result.
const LINKAGE: &str = "llvm.linkage";

/// Changes everything in a module on which upstream's conversions would fail or go wrong; returns false if there is
/// nothing.
fn prepare(rewriter: &Rewriter) -> bool {
    keep_private(rewriter.root()) | dynamic_reshapes::expand(rewriter)
}

/// Gives the private functions of a module internal linkage: upstream's conversion makes external symbols of them, and two
/// modules that are linked into one program may use the same name. Returns whether there are any.
fn keep_private(module: Op) -> bool {
    let internal = Attribute::parse(Builder::before(module).context(), "#llvm.linkage<internal>");
    let internal = internal.expect("an attribute of the LLVM dialect");
    let is_private = |op: &Op| {
        ir::name(*op) == "func.func"
            && !ir::blocks(*op).is_empty()
            && ir::attribute(*op, "sym_visibility").and_then(ir::text) == Some("private")
            && ir::attribute(*op, LINKAGE).is_none()
    };
    let functions: Vec<Op> = ir::all_operations(module).into_iter().filter(is_private).collect();
    functions.iter().for_each(|op| ir::edit(*op).set_attribute(LINKAGE, internal));
    !functions.is_empty()
}
