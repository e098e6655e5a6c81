//! What MLIR's C++ calls: the functions `layout_rs_*` of `Glue.h`.
//!
//! Every one of them runs its body through [`guard`], so that a panic becomes a diagnostic. Pointers from C++ are valid
//! for the call; nothing is kept.

use crate::diagnostic::Diagnostic;
use crate::options::{Form, Options, Parallel, Target};
use crate::pipelines::PIPELINES;
use crate::upstream::{emit, string_ref, text_of};
use crate::{
    deallocate, expand_clones, indexing_analysis, lower_memrefs, mask_as_integers, prepare_bufferization,
    simplify_indexing, strip_memory_spaces, verify_llvm,
};
use layout::text::instead;
use layout_dialect::guard;
use melior::ir::{Location, OperationRef, operation::OperationLike};
use mlir_sys::{MlirOperation, MlirStringCallback, MlirStringRef};
use std::ffi::c_void;

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_lower_memrefs(module: MlirOperation, asked: Asked) -> bool {
    pass(module, |module| {
        let options = asked.options().map_err(|message| vec![Diagnostic::error(module.location(), message)])?;
        lower_memrefs::run(module, options)
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_check_options(asked: Asked, error: MlirStringCallback, user: *mut c_void) -> bool {
    let checked = guard(|message| Err(message.to_string()), || asked.options()?.check());
    let Err(message) = checked else { return true };
    let callback = error.expect("C++ gives a callback");
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(string_ref(&message), user) };
    false
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_prepare_bufferization(module: MlirOperation) -> bool {
    pass(module, prepare_bufferization::run)
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_deallocation(function: MlirOperation, passes: MlirStringCallback, user: *mut c_void) -> bool {
    pass(function, |function| {
        let callback = passes.expect("C++ gives a callback");
        if let Some(text) = deallocate::passes(function) {
            // SAFETY: C++ gives a callback and the pointer it takes.
            unsafe { callback(string_ref(text), user) };
        }
        Ok(())
    })
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
extern "C" fn layout_rs_expand_clones(module: MlirOperation) -> bool {
    pass(module, expand_clones::run)
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_simplify_indexing(root: MlirOperation) -> bool {
    pass(root, |root| {
        simplify_indexing::run(root);
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_indexing_analysis(root: MlirOperation, report: bool) -> bool {
    pass(root, |root| {
        indexing_analysis::run(root, report);
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_mask_as_integers(module: MlirOperation) -> bool {
    pass(module, |module| {
        mask_as_integers::run(module);
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_strip_memory_spaces(module: MlirOperation) -> bool {
    pass(module, |module| {
        strip_memory_spaces::run(module);
        Ok(())
    })
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_verify_llvm(module: MlirOperation) -> bool {
    pass(module, verify_llvm::run)
}

/// See `Glue.h`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_unknown_option(
    name: MlirStringRef,
    known: MlirStringRef,
    message: MlirStringCallback,
    user: *mut c_void,
) {
    let text = guard(str::to_string, || {
        // SAFETY: the texts are valid for the call.
        let [name, known] = [name, known].map(|text| String::from_utf8_lossy(unsafe { text_of(text) }));
        format!("unknown option `{name}`{}", instead(&name, &known.split(',').collect::<Vec<_>>()))
    });
    let callback = message.expect("C++ gives a callback");
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(string_ref(&text), user) };
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
    asked: Asked,
    passes: MlirStringCallback,
    user: *mut c_void,
) -> bool {
    let found = guard(
        |message| Err(message.to_string()),
        || {
            // SAFETY: the name is valid for the call.
            let name = String::from_utf8_lossy(unsafe { text_of(name) });
            let pipeline = PIPELINES.iter().find(|pipeline| pipeline.name == name);
            let pipeline = pipeline.ok_or_else(|| format!("error: unknown pipeline `{name}`"))?;
            let options = asked.options().map_err(|message| format!("error: {message}"))?;
            options.check().map_err(|message| format!("error: {message}"))?;
            Ok((pipeline.passes)(&options))
        },
    );
    let callback = passes.expect("C++ gives a callback");
    let (Ok(text) | Err(text)) = &found;
    // SAFETY: C++ gives a callback and the pointer it takes.
    unsafe { callback(string_ref(text), user) };
    found.is_ok()
}

/// `LayoutOptions` of `Glue.h`: [`Options`] with numbers for names.
#[repr(C)]
#[derive(Clone, Copy)]
struct Asked {
    form: i32,
    vectorize: i32,
    parallel: i32,
    vector_bits: u32,
    vector_registers: u32,
    reassociate: bool,
    contract: bool,
    cache_bytes: u64,
}

impl Asked {
    fn options(self) -> Result<Options, String> {
        let Asked { form, vectorize, parallel, vector_bits, vector_registers, reassociate, contract, cache_bytes } =
            self;
        let (form, vectorize) = (Form::of_number(form)?, Target::of_number(vectorize)?);
        let parallel = Parallel::of_number(parallel)?;
        Ok(Options { form, vectorize, vector_bits, vector_registers, reassociate, contract, cache_bytes, parallel })
    }
}

/// Runs the body of a pass and emits its diagnostics; true where it succeeded.
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
