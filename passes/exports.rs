//! Functions for MLIR's C++: the `layout_rs_*` of `Glue.h`.
//!
//! Each function runs its body through [`guard`], so that a panic becomes a diagnostic. Pointers from C++ are valid
//! for the call; nothing is kept.

use crate::check::{comparison, verify};
use crate::choose::indexing_analysis;
use crate::lower::lower_memrefs;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::Form;
use crate::pass::stages::{Next, StageResult};
use crate::pass::upstream::{emit, erase_unreachable_blocks, may_have_cycles};
use crate::pipelines::{PIPELINES, PipelineOptions, expanded};
use crate::registry::Pass;
use layout_dialect::{bytes, guard, string_ref};
use layout_ir::{self as ir, Op, Rewriter};
use melior::ir::{AttributeLike, Location, OperationRef, Type, TypeLike};
use mlir_sys::{MlirAttribute, MlirLocation, MlirOperation, MlirStringCallback, MlirStringRef, MlirType};
use std::ffi::c_void;
use tensor_layout::text::instead;

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_run_pass(
    name: MlirStringRef,
    options: MlirStringRef,
    op: MlirOperation,
    stage: *mut usize,
    kept: *mut *mut c_void,
    then: MlirStringCallback,
    user: *mut c_void,
) -> Outcome {
    // SAFETY: the texts are valid for the call.
    let [name, options] =
        [name, options].map(|text| String::from_utf8_lossy(unsafe { bytes(text) }.unwrap_or_default()));
    let callback = then.expect("C++ gives a callback");
    // SAFETY: C++ gives a place for the number, which nothing else uses during the call.
    let stage = unsafe { &mut *stage };
    // SAFETY: C++ gives a place that is null or what this function left there, which nothing else uses during the call.
    let kept = unsafe { &mut *kept };
    run(op, |rewriter| {
        let erased = erase_unreachable_cycles(rewriter.root())?;
        let next = run_stage(rewriter, [&*name, &*options], *stage, kept)?;
        let changed = match next {
            Next::Unchanged => false,
            Next::Changed => true,
            Next::Run { passes, number, changed } => {
                *stage = number;
                // SAFETY: C++ gives a callback and the pointer it takes.
                unsafe { callback(string_ref(&passes), user) };
                changed
            }
        };
        Ok(if changed || erased { Outcome::Changed } else { Outcome::Unchanged })
    })
}

/// Runs a stage of a pass, or of `layout-verify`, whose options hold passes.
fn run_stage<'s>(
    rewriter: &'s Rewriter,
    [name, options]: [&str; 2],
    number: usize,
    kept: &mut *mut c_void,
) -> StageResult<'s> {
    if name == verify::NAME {
        if kept.is_null() {
            *kept = Box::into_raw(Box::new(comparison::State::default())).cast();
        }
        // SAFETY: this is the box of the first stage.
        let state = unsafe { &mut *kept.cast::<comparison::State>() };
        let passes: Vec<String> = verify::passes(options).into_iter().flat_map(expanded).collect();
        let passes = comparison::run(rewriter, (&passes, options), number, state)?;
        return Ok(passes.map_or(Next::Unchanged, |passes| Next::Run { passes, number: number + 1, changed: false }));
    }
    let wrong = |message| vec![Diagnostic::error(ir::location(rewriter.root()), message)];
    let pass = Pass::read(name, options).map_err(wrong)?;
    pass.check().map_err(wrong)?;
    pass.stage(rewriter, number)
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_drop(kept: *mut c_void) {
    // SAFETY: this is the box that `layout_rs_run_pass` made, and C++ forgets it.
    drop(unsafe { Box::from_raw(kept.cast::<comparison::State>()) });
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_passes_of(
    pass: MlirStringRef,
    options: MlirStringRef,
    passes: MlirStringCallback,
    user: *mut c_void,
) {
    // SAFETY: the texts are valid for the call.
    let [name, options] =
        [pass, options].map(|text| String::from_utf8_lossy(unsafe { bytes(text) }.unwrap_or_default()));
    let all = match Pass::read(&name, "") {
        _ if name == verify::NAME => verify::passes(&options).join(","),
        Ok(pass) => pass.between_steps(),
        Err(_) => return,
    };
    let callback = passes.expect("C++ gives a callback");
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(string_ref(&all), user) };
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_check_options(
    name: MlirStringRef,
    options: MlirStringRef,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    // SAFETY: the texts are valid for the call.
    let [name, options] =
        [name, options].map(|text| String::from_utf8_lossy(unsafe { bytes(text) }.unwrap_or_default()));
    let check = || if name == verify::NAME { verify::check(&options) } else { Pass::read(&name, &options)?.check() };
    let checked = guard(|message| Err(message.to_string()), check);
    let Err(message) = checked else { return true };
    let callback = error.expect("C++ gives a callback");
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(string_ref(&message), user) };
    false
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_pipelines(pipeline: unsafe extern "C" fn(MlirStringRef, MlirStringRef)) {
    for known in PIPELINES {
        // SAFETY: C++ gives a callback, which copies the texts.
        unsafe { pipeline(string_ref(known.name), string_ref(known.summary)) };
    }
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_pipeline(
    name: MlirStringRef,
    options: MlirStringRef,
    passes: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    // SAFETY: the texts are valid for the call.
    let [name, options] =
        [name, options].map(|text| String::from_utf8_lossy(unsafe { bytes(text) }.unwrap_or_default()));
    let found = guard(
        |message| Err(message.to_string()),
        || {
            let names: Vec<&str> = PIPELINES.iter().map(|pipeline| pipeline.name).collect();
            let pipeline = PIPELINES.iter().find(|pipeline| pipeline.name == name);
            let pipeline = pipeline.ok_or_else(|| format!("unknown pipeline `{name}`{}", instead(&name, &names)))?;
            let options: PipelineOptions = options.parse()?;
            pipeline.check(&options)?;
            Ok(pipeline.text_to_run(options))
        },
    );
    let callback = passes.expect("C++ gives a callback");
    let (Ok(text) | Err(text)) = &found;
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(string_ref(text), user) };
    found.is_ok()
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_indexing(
    op: MlirOperation,
    reads: bool,
    result: i64,
    operand: i64,
    map: unsafe extern "C" fn(MlirAttribute, *mut c_void),
    map_user: *mut c_void,
    error: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    // SAFETY: the operation is alive for the call.
    let op = unsafe { OperationRef::from_raw(op) };
    let found = guard(
        |message| Err(message.to_string()),
        || indexing_analysis::between(op, reads, result, operand).map_err(|error| error.message),
    );
    match found {
        // SAFETY: C++ gives a callback and the pointer it takes.
        Ok(maps) => maps.iter().for_each(|value| unsafe { map(value.to_raw(), map_user) }),
        Err(message) => {
            let callback = error.expect("C++ gives a callback");
            // SAFETY: C++ gives a callback and the pointer it takes.
            unsafe { callback(string_ref(&message), user) };
            return false;
        }
    }
    true
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_lowered_type(
    r#type: MlirType,
    physical: bool,
    location: MlirLocation,
    error: MlirStringCallback,
    user: *mut c_void,
) -> MlirType {
    // SAFETY: the type and the location are alive for the call.
    let (t, location) = unsafe { (Type::from_raw(r#type), Location::from_raw(location)) };
    let form = if physical { Form::Physical } else { Form::Strided };
    match guard(|message| Err(message.to_string()), || lower_memrefs::lowered_type(t, location, form)) {
        Ok(lowered) => lowered.to_raw(),
        Err(message) => {
            let callback = error.expect("C++ gives a callback");
            let message = format!("{t} cannot be lowered: {message}");
            // SAFETY: C++ gives a callback and the pointer it takes.
            unsafe { callback(string_ref(&message), user) };
            MlirType { ptr: std::ptr::null() }
        }
    }
}

/// Erases unreachable blocks with a value that depends on itself; such code never runs. Returns whether it erased some.
///
/// # Errors
/// A reachable value that depends on itself, which only graph regions allow.
fn erase_unreachable_cycles<'s>(op: Op<'s>) -> Result<bool, Vec<Diagnostic<'s>>> {
    if !may_have_cycles(op) {
        return Ok(false);
    }
    let erased = ir::cycle(op).is_some() && erase_unreachable_blocks(op);
    match ir::cycle(op) {
        Some(cycle) => Err(vec![computed_from_itself(&cycle)]),
        None => Ok(erased),
    }
}

/// The error of a cycle of definitions. Passes follow values to their definitions and users, and terminate only without
/// cycles.
fn computed_from_itself<'c>(cycle: &[Op<'c>]) -> Diagnostic<'c> {
    let (first, name) = (cycle[0], ir::name(cycle[0]));
    let message =
        format!("'{name}' op is computed from its own result: expected definitions that can come before their uses");
    let error = Diagnostic::error(ir::location(first), message);
    let others = cycle[1..].iter().take(NOTES);
    others.fold(error, |error, op| error.note(ir::location(*op), format!("through this '{}' op", ir::name(*op))))
}

/// The most operations of a cycle that an error names, besides the first.
const NOTES: usize = 4;

/// The outcome of a pass's stage: `LayoutOutcome` in `Glue.h`.
#[repr(u32)]
#[derive(Clone, Copy)]
enum Outcome {
    Failed = 0,
    Unchanged = 1,
    Changed = 2,
}

/// Runs the body of a pass and emits its diagnostics.
fn run(
    operation: MlirOperation,
    body: impl for<'s> FnOnce(&'s Rewriter) -> Result<Outcome, Vec<Diagnostic<'s>>>,
) -> Outcome {
    // SAFETY: the operation is alive for the call, in which MLIR leaves it to the pass alone.
    let rewriter = unsafe { Rewriter::new(operation) };
    let location = ir::location(rewriter.root());
    let outcome = guard(|message| Err(vec![Diagnostic::error(location, message)]), || body(&rewriter));
    outcome.unwrap_or_else(|diagnostics| {
        diagnostics.iter().for_each(emit);
        Outcome::Failed
    })
}
