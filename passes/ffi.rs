//! Where C++ and Rust meet: the Rust side of `Glue.h`, and nothing that decides anything.
//!
//! Every function that C++ calls runs its body through [`guard`]. Pointers from C++ are valid for the call; nothing is
//! kept. To give Rust something more of MLIR's: declare it in `Glue.h`, define it in `Glue.cpp`, and declare it once
//! more in the `extern` block below with a safe function around it.

use crate::{
    Diagnostic, Options, Pass, Severity, deallocate, expand_clones, indexing_analysis, lower_memrefs, mask_as_integers,
    pipelines::PIPELINES, pipelines::spelling, prepare_bufferization, simplify_indexing, strip_memory_spaces,
};
use layout::text::instead;
use layout_dialect::guard;
use melior::{
    Error,
    ir::{Attribute, Location, OperationRef, Value, ValueLike, operation::OperationLike},
    pass::OperationPassManager,
};
use mlir_sys::{
    MlirAttribute, MlirDiagnosticSeverity, MlirDiagnosticSeverity_MlirDiagnosticError,
    MlirDiagnosticSeverity_MlirDiagnosticRemark, MlirDiagnosticSeverity_MlirDiagnosticWarning, MlirLocation,
    MlirOperation, MlirStringCallback, MlirStringRef, MlirValue, mlirOpPassManagerAddPipeline,
};
use std::ffi::c_void;

#[link(name = "layout_passes_glue", kind = "static")]
unsafe extern "C" {
    fn layout_cc_register_passes(error: MlirStringCallback, user: *mut c_void) -> bool;
    fn layout_cc_emit(
        location: MlirLocation,
        severity: MlirDiagnosticSeverity,
        message: MlirStringRef,
        count: usize,
        note_locations: *const MlirLocation,
        notes: *const MlirStringRef,
    );
    fn layout_cc_affine_is_valid_dim(value: MlirValue) -> bool;
    fn layout_cc_decompose(op: MlirOperation) -> bool;
    fn layout_cc_neutral_element(op: MlirOperation) -> MlirAttribute;
    fn layout_cc_infer_range(
        result: MlirValue,
        bounds: unsafe extern "C" fn(MlirValue, *mut i64, *mut i64, *mut c_void) -> bool,
        user: *mut c_void,
        lo: *mut i64,
        hi: *mut i64,
    ) -> bool;
}

// ---------------------------------------------------------------------------------------------------------------------
// For Rust
// ---------------------------------------------------------------------------------------------------------------------

/// Registers the passes and the pipelines in this process, by name, and upstream's passes, of which pipelines are made.
/// Calling it again does nothing.
///
/// # Panics
/// Where another copy of this library registered its passes before.
pub fn register() {
    try_register().unwrap_or_else(|error| panic!("{error}"));
}

/// [`register`] for a process that may hold several copies of this library.
///
/// # Errors
/// Where another copy registered its passes before, which are left in charge.
pub fn try_register() -> Result<(), String> {
    // SAFETY: C++ sees to it that this runs once, and the callback is for this call.
    with_message(|error, user| unsafe { layout_cc_register_passes(error, user) })
}

/// Calls C++ that answers false with a message, which becomes the error.
fn with_message(call: impl FnOnce(MlirStringCallback, *mut c_void) -> bool) -> Result<(), String> {
    unsafe extern "C" fn write(text: MlirStringRef, message: *mut c_void) {
        // SAFETY: this is the string below, and the text is valid for the call.
        let (text, message) = unsafe { (text_of(text), &mut *message.cast::<String>()) };
        *message += &String::from_utf8_lossy(text);
    }
    let mut message = String::new();
    if call(Some(write), (&raw mut message).cast()) { Ok(()) } else { Err(message.trim().into()) }
}

/// Adds passes and pipelines, as in the text of a pipeline, behind those that a manager has.
///
/// # Errors
/// Where there is none of a name, options are wrong, one runs on other operations than the manager does, or another copy
/// of this library registered its passes before.
pub fn add_passes(manager: OperationPassManager, passes: &str) -> Result<(), Error> {
    try_register().map_err(Error::ParsePassPipeline)?;
    let added = with_message(|error, user| {
        // SAFETY: the manager is alive; the text and the callback are for this call.
        unsafe { mlirOpPassManagerAddPipeline(manager.to_raw(), string_ref(passes), error, user) }.value != 0
    });
    added.map_err(|message| {
        let hint = if message.contains(UNREGISTERED) { spelling(passes) } else { None };
        Error::ParsePassPipeline(hint.map_or_else(|| message.clone(), |hint| format!("{message}\n{hint}")))
    })
}

/// What MLIR says of a name in the text of a pipeline that it does not know.
const UNREGISTERED: &str = "does not refer to a registered pass";

/// Emits a diagnostic.
pub fn emit(diagnostic: &Diagnostic) {
    let severity = match diagnostic.severity {
        Severity::Error => MlirDiagnosticSeverity_MlirDiagnosticError,
        Severity::Warning => MlirDiagnosticSeverity_MlirDiagnosticWarning,
        Severity::Remark => MlirDiagnosticSeverity_MlirDiagnosticRemark,
    };
    let (locations, notes): (Vec<_>, Vec<_>) =
        diagnostic.notes.iter().map(|(location, note)| (location.to_raw(), string_ref(note))).unzip();
    // SAFETY: the locations are alive, the texts too, and both arrays hold as many notes as is said.
    unsafe {
        layout_cc_emit(
            diagnostic.location.to_raw(),
            severity,
            string_ref(&diagnostic.message),
            notes.len(),
            locations.as_ptr(),
            notes.as_ptr(),
        );
    }
}

/// Whether the value may be a dimension of an affine map.
pub fn is_valid_dim(value: Value) -> bool {
    // SAFETY: the value is alive.
    unsafe { layout_cc_affine_is_valid_dim(value.to_raw()) }
}

/// Replaces an aggregate of linalg, such as `linalg.softmax`, by the structured operations that it stands for; false
/// where it is none.
pub fn decompose(op: OperationRef) -> bool {
    // SAFETY: the operation is alive; its replacement comes in front of it.
    unsafe { layout_cc_decompose(op.to_raw()) }
}

/// The constant that changes nothing as an operand of an operation of `arith`, as upstream knows it.
pub fn neutral_element<'c>(op: OperationRef<'c, 'c>) -> Option<Attribute<'c>> {
    // SAFETY: the operation is alive, and so is its context.
    unsafe { Attribute::from_option_raw(layout_cc_neutral_element(op.to_raw())) }
}

/// The closed signed bounds that a result's operation infers for it through upstream's `InferIntRangeInterface`, from
/// the bounds of its 64-bit and index operands.
pub fn infer_range<'c>(
    result: Value<'c, 'c>,
    bounds: &mut dyn FnMut(Value<'c, 'c>) -> Option<(i64, i64)>,
) -> Option<(i64, i64)> {
    unsafe extern "C" fn ask(operand: MlirValue, lo: *mut i64, hi: *mut i64, user: *mut c_void) -> bool {
        guard(
            |_| false,
            || {
                // SAFETY: this is the closure that `infer_range` hands over, for the time of that call.
                let bounds = unsafe { &mut *user.cast::<&mut dyn FnMut(Value) -> Option<(i64, i64)>>() };
                // SAFETY: the operand is alive.
                let Some(known) = bounds(unsafe { Value::from_raw(operand) }) else { return false };
                // SAFETY: C++ gives places for both.
                unsafe { (*lo, *hi) = known };
                true
            },
        )
    }
    let (mut bounds, mut lo, mut hi) = (bounds, 0, 0);
    let user = (&raw mut bounds).cast();
    // SAFETY: the value is alive, and all pointers are for this call.
    let known = unsafe { layout_cc_infer_range(result.to_raw(), ask, user, &mut lo, &mut hi) };
    known.then_some((lo, hi))
}

// ---------------------------------------------------------------------------------------------------------------------
// For C++
// ---------------------------------------------------------------------------------------------------------------------

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_run_pass(
    name: MlirStringRef,
    options: MlirStringRef,
    op: MlirOperation,
    then: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    // SAFETY: the texts are valid for the call.
    let [name, options] = [name, options].map(|text| String::from_utf8_lossy(unsafe { text_of(text) }));
    pass(op, |op| {
        let wrong = |message| vec![Diagnostic::error(op.location(), message)];
        let pass = Pass::read(&name, &options).map_err(wrong)?;
        pass.check().map_err(wrong)?;
        match pass {
            Pass::Deallocate => {
                if let Some(passes) = deallocate::passes(op) {
                    let callback = then.expect("C++ gives a callback");
                    // SAFETY: C++ gives a callback and the pointer it takes.
                    unsafe { callback(string_ref(passes), user) };
                }
            }
            Pass::ExpandClones => expand_clones::run(op),
            Pass::IndexingAnalysis { options } => indexing_analysis::run(op, options.report),
            Pass::LowerMemrefs { options } => return lower_memrefs::run(op, options),
            Pass::MaskAsIntegers => mask_as_integers::run(op),
            Pass::PrepareBufferization => return prepare_bufferization::run(op),
            Pass::SimplifyIndexing => simplify_indexing::run(op),
            Pass::StripMemorySpaces => strip_memory_spaces::run(op),
        }
        Ok(())
    })
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
    let [name, options] = [name, options].map(|text| String::from_utf8_lossy(unsafe { text_of(text) }));
    let checked = guard(|message| Err(message.to_string()), || Pass::read(&name, &options)?.check());
    let Err(message) = checked else { return true };
    let callback = error.expect("C++ gives a callback");
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(string_ref(&message), user) };
    false
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_unmark_deallocation(function: MlirOperation) -> bool {
    pass(function, |function| {
        deallocate::unmark(layout_ir::long_lived(function));
        Ok(())
    })
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
    let [name, options] = [name, options].map(|text| String::from_utf8_lossy(unsafe { text_of(text) }));
    let found = guard(
        |message| Err(message.to_string()),
        || {
            let names: Vec<&str> = PIPELINES.iter().map(|pipeline| pipeline.name).collect();
            let pipeline = PIPELINES.iter().find(|pipeline| pipeline.name == name);
            let pipeline = pipeline.ok_or_else(|| format!("unknown pipeline `{name}`{}", instead(&name, &names)))?;
            let options: Options = options.parse()?;
            options.check()?;
            Ok(pipeline.text(&options))
        },
    );
    let callback = passes.expect("C++ gives a callback");
    let (Ok(text) | Err(text)) = &found;
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(string_ref(text), user) };
    found.is_ok()
}

/// Runs the body of a pass and emits what it has to say; true where it succeeded.
fn pass(
    operation: MlirOperation,
    body: impl for<'c, 'a> FnOnce(OperationRef<'c, 'a>) -> Result<(), Vec<Diagnostic<'c>>>,
) -> bool {
    // SAFETY: the operation is alive for the call.
    let operation = unsafe { OperationRef::from_raw(operation) };
    let location: Location = operation.location();
    let outcome = guard(|message| Err(vec![Diagnostic::error(location, message)]), || body(operation));
    let Err(diagnostics) = outcome else { return true };
    diagnostics.iter().for_each(emit);
    false
}

/// The bytes of a text from C++.
///
/// # Safety
/// They are alive and unchanged for `'a`.
unsafe fn text_of<'a>(text: MlirStringRef) -> &'a [u8] {
    // SAFETY: the caller's promise; the pointer is not null.
    if text.data.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(text.data.cast(), text.length) } }
}

/// The text as C++ takes it, for as long as `text` lives.
fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}
