//! MLIR's drivers with everything registered: the dialects, extensions and passes of MLIR and of this project.

use melior::dialect::DialectRegistry;
use mlir_sys::MlirDialectRegistry;
use std::{
    env,
    ffi::{CStr, CString, c_char, c_int},
    os::unix::ffi::OsStringExt,
    process::ExitCode,
    thread,
};

/// One of the drivers in `Opt.cpp`.
pub type Driver = unsafe extern "C" fn(c_int, *mut *mut c_char, MlirDialectRegistry, *const c_char) -> c_int;

#[link(name = "layout_opt_glue", kind = "static")]
unsafe extern "C" {
    fn layout_cc_register_all(registry: MlirDialectRegistry);
}

/// The bytes of stack for MLIR's recursive parser: 100 kB for each of the 10 000 levels that `nesting` allows.
const STACK: usize = 1 << 30;

/// Runs a driver on the arguments of this process; `version` is its name and version.
pub fn run(driver: Driver, version: &'static CStr) -> ExitCode {
    let start = |stack| thread::Builder::new().stack_size(stack).spawn(move || run_here(driver, version));
    // The kernel gives memory on use. Where the address space is limited, the usual stack has to do.
    let Ok(thread) = start(STACK) else { return run_here(driver, version) };
    thread.join().expect("drivers do not panic")
}

/// All dialects and extensions.
fn registry() -> DialectRegistry {
    let registry = DialectRegistry::new();
    layout_dialect::register(&registry);
    // SAFETY: the registry outlives the call.
    unsafe { layout_cc_register_all(registry.to_raw()) };
    registry
}

fn run_here(driver: Driver, version: &CStr) -> ExitCode {
    let arguments: Vec<CString> =
        env::args_os().map(|text| CString::new(text.into_vec()).expect("an argument holds no byte 0")).collect();
    let mut pointers: Vec<*mut c_char> = arguments.iter().map(|text| text.as_ptr().cast_mut()).collect();
    pointers.push(std::ptr::null_mut());

    let registry = registry();
    layout_passes::register();
    // SAFETY: the registry, the arguments and the version outlive the call; drivers do not write to arguments.
    let status =
        unsafe { driver(arguments.len() as c_int, pointers.as_mut_ptr(), registry.to_raw(), version.as_ptr()) };
    ExitCode::from(status as u8)
}
