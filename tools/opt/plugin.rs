//! The dialect and its passes as a plugin of upstream's `mlir-opt`:
//!
//! ```text
//! mlir-opt --load-dialect-plugin=liblayout_plugin.so --load-pass-plugin=liblayout_plugin.so \
//!     --pass-pipeline='builtin.module(layout-lower-memrefs)' input.mlir
//! ```

use mlir_sys::MlirDialectRegistry;
use std::ffi::{c_char, c_void};

const API_VERSION: u32 = 1;
const NAME: *const c_char = c"layout".as_ptr();
const VERSION: *const c_char = concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast();

/// MLIR's `DialectPluginLibraryInfo`.
#[repr(C)]
pub struct DialectPlugin {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(*mut c_void),
}

/// MLIR's `PassPluginLibraryInfo`.
#[repr(C)]
pub struct PassPlugin {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(),
}

unsafe extern "C" fn register_dialect(registry: *mut c_void) {
    // SAFETY: MLIR passes its DialectRegistry, the content of the C API's handle.
    let outcome = unsafe { layout_dialect::register_raw(MlirDialectRegistry { ptr: registry }) };
    outcome.unwrap_or_else(|error| eprintln!("warning: {error}"));
}

extern "C" fn register_passes() {
    layout_passes::try_register().unwrap_or_else(|error| eprintln!("warning: {error}"));
}

/// The entry point for `--load-dialect-plugin`.
#[unsafe(no_mangle)]
pub extern "C" fn mlirGetDialectPluginInfo() -> DialectPlugin {
    DialectPlugin { api_version: API_VERSION, name: NAME, version: VERSION, register: register_dialect }
}

/// The entry point for `--load-pass-plugin`.
#[unsafe(no_mangle)]
pub extern "C" fn mlirGetPassPluginInfo() -> PassPlugin {
    PassPlugin { api_version: API_VERSION, name: NAME, version: VERSION, register: register_passes }
}
