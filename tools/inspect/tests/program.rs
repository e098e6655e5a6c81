//! The program under test, and its input files.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::{fs, thread};

/// Runs `layout-inspect` with `input` on standard input.
pub fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_layout-inspect"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A thread writes, so a full pipe cannot stop both. The program may end before it reads all.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Standard output, standard error and the exit code of `layout-inspect`.
pub fn outcome(arguments: &[&str]) -> (String, String, Option<i32>) {
    let out = run(arguments, b"");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(out.stdout), text(out.stderr), out.status.code())
}

/// The path of a new file with this text, in a folder of the test.
pub fn file(name: &str, text: &str) -> String {
    let test = thread::current().name().unwrap_or_default().replace("::", "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}
