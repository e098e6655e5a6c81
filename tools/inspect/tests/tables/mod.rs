//! Subcommands with an input file. Shared by tests; no test by itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Standard output, standard error and the exit code of `layout-inspect COMMAND`.
pub fn run(command: &str, arguments: &[&str]) -> (String, String, Option<i32>) {
    let out = Command::new(env!("CARGO_BIN_EXE_layout-inspect")).arg(command).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(out.stdout), text(out.stderr), out.status.code())
}

/// The path of a new file with this text.
pub fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}
