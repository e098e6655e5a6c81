//! `layout-lsp-server`: MLIR's language server, with the `layout` dialect, and hovers that say what layouts do.

mod drivers;
mod hover;

use mlir_sys::MlirDialectRegistry;
use std::{
    env,
    ffi::{CStr, c_char, c_int},
    io::{self, BufReader},
    process::{Command, ExitCode, Stdio},
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

/// The environment variable that is set for the child, which is MLIR's server.
const CHILD: &str = "LAYOUT_LSP_SERVER_CHILD";

fn main() -> ExitCode {
    if env::var_os(CHILD).is_some() {
        return drivers::run(layout_cc_lsp_main, VERSION);
    }
    // Where no child can be started, this process is MLIR's server, and hovers say nothing of layouts.
    serve().unwrap_or_else(|_| drivers::run(layout_cc_lsp_main, VERSION))
}

/// Runs MLIR's server as a child, whose answers pass through [`hover`].
fn serve() -> io::Result<ExitCode> {
    let mut server = Command::new(env::current_exe()?);
    let mut child = server.args(env::args_os().skip(1)).env(CHILD, "1").stdout(Stdio::piped()).spawn()?;
    if let Some(answers) = child.stdout.take() {
        // An error means that the editor has closed the pipe. The child ends by itself then.
        let _ = hover::copy(BufReader::new(answers), io::stdout().lock());
    }
    let code = child.wait().map_or(None, |status| status.code());
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
