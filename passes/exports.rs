//! What MLIR's C++ calls: the functions `layout_rs_*` of `Glue.h`.
//!
//! Every one of them runs its body through [`guard`], so that a panic becomes a diagnostic. Pointers from C++ are valid
//! for the call; nothing is kept.

use crate::diagnostic::Diagnostic;
use crate::options::Options;
use crate::pass::Pass;
use crate::pipelines::PIPELINES;
use crate::upstream::emit;
use crate::{
    deallocate, expand_clones, indexing_analysis, lower_memrefs, mask_as_integers, prepare_bufferization,
    remove_conversions, scf_to_cf, simplify_indexing, strip_memory_spaces, verify_llvm,
};
use layout_dialect::{bytes, guard, string_ref};
use layout_ir::{self as ir, Rewriter};
use mlir_sys::{MlirOperation, MlirStringCallback, MlirStringRef};
use std::ffi::c_void;
use tensor_layout::text::instead;

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
    let [name, options] =
        [name, options].map(|text| String::from_utf8_lossy(unsafe { bytes(text) }.unwrap_or_default()));
    pass(op, |rewriter| {
        let op = rewriter.root();
        let wrong = |message| vec![Diagnostic::error(ir::location(op), message)];
        let pass = Pass::read(&name, &options).map_err(wrong)?;
        pass.check().map_err(wrong)?;
        match pass {
            Pass::Deallocate => {
                if let Some(passes) = deallocate::run(rewriter) {
                    let callback = then.expect("C++ gives a callback");
                    // SAFETY: C++ gives a callback and the pointer it takes.
                    unsafe { callback(string_ref(passes), user) };
                }
            }
            Pass::ExpandClones => return expand_clones::run(rewriter),
            Pass::IndexingAnalysis { options } => indexing_analysis::run(op, options.report),
            Pass::LowerMemrefs { options } => return lower_memrefs::run(rewriter, options),
            Pass::MaskAsIntegers => mask_as_integers::run(rewriter),
            Pass::PrepareBufferization => return prepare_bufferization::run(rewriter),
            Pass::RemoveConversions { options } => remove_conversions::run(rewriter, options),
            Pass::ScfToCf => scf_to_cf::run(op),
            Pass::SimplifyIndexing => simplify_indexing::run(rewriter),
            Pass::StripMemorySpaces => strip_memory_spaces::run(op),
            Pass::VerifyLlvm => return verify_llvm::run(op),
        }
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_unmark_deallocation(function: MlirOperation) -> bool {
    pass(function, |rewriter| {
        deallocate::unmark(rewriter.root());
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
    let [name, options] =
        [name, options].map(|text| String::from_utf8_lossy(unsafe { bytes(text) }.unwrap_or_default()));
    let checked = guard(|message| Err(message.to_string()), || Pass::read(&name, &options)?.check());
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

/// Runs the body of a pass and emits its diagnostics; true where it succeeded.
fn pass(operation: MlirOperation, body: impl for<'s> FnOnce(&'s Rewriter) -> Result<(), Vec<Diagnostic<'s>>>) -> bool {
    // SAFETY: the operation is alive for the call, in which MLIR leaves it to the pass alone.
    let rewriter = unsafe { Rewriter::new(operation) };
    let location = ir::location(rewriter.root());
    let outcome = guard(|message| Err(vec![Diagnostic::error(location, message)]), || body(&rewriter));
    let Err(diagnostics) = outcome else { return true };
    diagnostics.iter().for_each(emit);
    false
}
