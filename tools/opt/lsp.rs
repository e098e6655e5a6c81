//! `layout-lsp-server`: MLIR's language server, with the `layout` dialect.

mod drivers;

use mlir_sys::MlirDialectRegistry;
use std::{
    ffi::{c_char, c_int},
    process::ExitCode,
};

unsafe extern "C" {
    fn layout_cc_lsp_main(argc: c_int, argv: *mut *mut c_char, registry: MlirDialectRegistry) -> c_int;
}

fn main() -> ExitCode {
    drivers::run(layout_cc_lsp_main)
}
