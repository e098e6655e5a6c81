//! Messages for the language server: each text is a session of its own, with a message a line.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs, thread};

/// The server reads all messages without a panic. A refusal by MLIR's server behind it is not checked.
pub fn lsp(text: &str) {
    let beside = || env::current_exe().expect("this program has a path").with_file_name("layout-lsp-server");
    let program = env::var_os("LAYOUT_LSP_SERVER").map_or_else(beside, PathBuf::from);
    assert!(fs::exists(&program).unwrap_or(false), "{} is not built", program.display());
    let last = [r#"{"jsonrpc":"2.0","id":1000,"method":"shutdown"}"#, r#"{"jsonrpc":"2.0","method":"exit"}"#];
    let lines = text.lines().filter(|line| !line.trim().is_empty()).chain(last);
    let framed = lines.fold(String::new(), |all, line| all + &format!("Content-Length: {}\r\n\r\n{line}", line.len()));

    let mut command = Command::new(program);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the server starts");
    let (mut input, mut answers) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut errors = child.stderr.take().expect("a pipe");
    let writer = thread::spawn(move || {
        // The server may end before it has read everything.
        let _ = input.write_all(framed.as_bytes());
    });
    let reader = thread::spawn(move || {
        let mut all = Vec::new();
        let _ = answers.read_to_end(&mut all);
    });
    let mut said = Vec::new();
    errors.read_to_end(&mut said).expect("a pipe can be read");
    writer.join().expect("writing does not panic");
    reader.join().expect("reading does not panic");
    let status = child.wait().expect("the server ends");
    let said = String::from_utf8_lossy(&said);
    assert!(status.code().is_some_and(|code| code != 101) && !said.contains("panicked at"), "{status}: {said}");
}
