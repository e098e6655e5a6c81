//! `layout-opt`: everything that `mlir-opt` does, with the `layout` dialect and its passes.

mod drivers;
mod nesting;

use mlir_sys::{MlirDialectRegistry, MlirStringRef};
use std::{
    ffi::{c_char, c_int},
    process::ExitCode,
    slice,
};

unsafe extern "C" {
    fn layout_cc_opt_main(argc: c_int, argv: *mut *mut c_char, registry: MlirDialectRegistry) -> c_int;
}

fn main() -> ExitCode {
    drivers::run(layout_cc_opt_main)
}

/// See `Opt.cpp`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_check_input(name: MlirStringRef, text: MlirStringRef) -> bool {
    let failed = |error: &str| {
        eprintln!("{error}");
        false
    };
    layout_dialect::guard(failed, || {
        // SAFETY: C++ gives two texts that are valid for the call, with pointers that are not null.
        let [name, text] = [name, text].map(|text| unsafe { slice::from_raw_parts(text.data.cast(), text.length) });
        let Some((line, column)) = nesting::too_deep(text) else { return true };
        let name = String::from_utf8_lossy(name);
        failed(&format!("{name}:{line}:{column}: error: nested more than {} levels deep", nesting::DEEPEST))
    })
}
