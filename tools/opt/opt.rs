//! `layout-opt`: `mlir-opt` with the `layout` dialect and its passes.

mod drivers;
mod nesting;

use mlir_sys::{MlirDialectRegistry, MlirStringRef};
use std::{
    env,
    ffi::{CStr, c_char, c_int},
    process::ExitCode,
    slice,
};
use tensor_layout::text::binary_format;

unsafe extern "C" {
    fn layout_cc_opt_main(
        argc: c_int,
        argv: *mut *mut c_char,
        registry: MlirDialectRegistry,
        version: *const c_char,
    ) -> c_int;
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!("layout-opt ", env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the name and the version have no byte 0 inside"),
    };

fn main() -> ExitCode {
    drivers::run(layout_cc_opt_main, VERSION)
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
        let name = String::from_utf8_lossy(name);
        if let Some(format) = binary_format(text) {
            return failed(&format!("{name}: error: expected text or bytecode of MLIR, found {format}"));
        }
        if text.starts_with("\u{feff}".as_bytes()) {
            return failed(&format!(
                "{name}:1:1: error: expected text of MLIR, found a byte order mark of UTF-8; `tail -c +4` prints what \
                 comes after it"
            ));
        }
        let Some((line, column)) = nesting::too_deep(text) else { return true };
        failed(&format!("{name}:{line}:{column}: error: nested more than {} levels deep", nesting::DEEPEST))
    })
}

/// See `Opt.cpp`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_hint_at_passes() {
    layout_dialect::guard(
        |_| (),
        || {
            let arguments: Vec<String> = env::args_os().map(|text| text.to_string_lossy().into_owned()).collect();
            let at = arguments.iter().position(|text| text.trim_start_matches('-').starts_with("pass-pipeline"));
            let pipeline =
                at.map(|at| arguments[at..].iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" "));
            if let Some(hint) = pipeline.and_then(|text| layout_passes::spelling(&text)) {
                eprintln!("{hint}");
            }
        },
    );
}

/// See `Opt.cpp`.
#[unsafe(no_mangle)]
extern "C" fn layout_rs_hint_at_options() {
    layout_dialect::guard(
        |_| (),
        || {
            let hints = env::args_os().skip(1).filter_map(|text| layout_passes::belonging(&text.to_string_lossy()));
            hints.for_each(|hint| eprintln!("{hint}"));
        },
    );
}
