//! `layout-inspect plan` and its input files. Shared by tests.

use crate::program::run;
use std::fs;
use std::path::Path;

/// Standard output, standard error, and the exit code.
pub fn plan(arguments: &[&str]) -> (String, String, Option<i32>) {
    let out = run(arguments, b"");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(out.stdout), text(out.stderr), out.status.code())
}

/// The path of a new file with this text.
pub fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}
