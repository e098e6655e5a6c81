//! `layout-lsp-server`: MLIR's language server, with the `layout` dialect.

mod drivers;

use mlir_sys::MlirDialectRegistry;
use std::{
    ffi::{CStr, c_char, c_int},
    process::ExitCode,
};

unsafe extern "C" {
    fn layout_cc_lsp_main(
        argc: c_int,
        argv: *mut *mut c_char,
        registry: MlirDialectRegistry,
        version: *const c_char,
    ) -> c_int;
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!("layout-lsp-server ", env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the name and the version have no byte 0 inside"),
    };

fn main() -> ExitCode {
    drivers::run(layout_cc_lsp_main, VERSION)
}
