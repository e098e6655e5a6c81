//! `layout-lsp-server`: MLIR's language server, with the `layout` dialect, and with layouts explained in its answers.
//!
//! MLIR's server has no hooks for a dialect's hovers, completions, fixes or inlay hints, and `MlirLspServerMain` takes
//! the process's own input and output. So it runs as a child process, and this process sits between it and the editor:
//! messages of the editor pass unchanged, and answers are extended ([`session`], [`hover`]). A new server would have to
//! repeat MLIR's parsing, symbols and diagnostics; a change of MLIR would not reach users of LLVM 22.

mod complete;
mod documents;
mod drivers;
mod fixes;
mod hover;
mod in_place;
mod messages;
mod parts;
mod session;
mod written;

use messages::Style;
use mlir_sys::MlirDialectRegistry;
use serde_json::Value;
use session::{Addition, Session};
use std::{
    cell::OnceCell,
    collections::HashMap,
    env,
    ffi::{CStr, c_char, c_int},
    io::{self, BufRead, BufReader, Write},
    process::{Command, ExitCode, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
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

/// The environment variable that marks the child, MLIR's server.
const CHILD: &str = "LAYOUT_LSP_SERVER_CHILD";

fn main() -> ExitCode {
    if env::var_os(CHILD).is_some() {
        return drivers::run(layout_cc_lsp_main, VERSION);
    }
    // Where no child can be started, this process is MLIR's server, and hovers do not explain layouts.
    serve().unwrap_or_else(|_| drivers::run(layout_cc_lsp_main, VERSION))
}

/// Additions to awaited answers, by the `id` of the request.
type Pending = Mutex<HashMap<String, Addition>>;

/// Runs MLIR's server as a child, and passes messages between the child and the editor.
fn serve() -> io::Result<ExitCode> {
    let mut server = Command::new(env::current_exe()?);
    let server = server.args(env::args_os().skip(1)).env(CHILD, "1");
    let mut child = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let pending = Arc::new(Pending::default());
    if let (Some(input), Some(answers)) = (child.stdin.take(), child.stdout.take()) {
        let style = Style::of(env::args_os().map(|argument| argument.to_string_lossy().into_owned()));
        let asked = pending.clone();
        // The thread ends with this process, where the child has ended and the editor is silent.
        thread::spawn(move || listen(style, io::stdin().lock(), input, &asked));
        // An error means that the editor has closed the pipe. Then the child ends by itself.
        let _ = answer(BufReader::new(answers), io::stdout().lock(), &pending);
    }
    let code = child.wait().map_or(None, |status| status.code());
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Passes the editor's messages on, and keeps the additions to their answers.
fn listen(style: Style, mut from: impl BufRead, mut to: impl Write, pending: &Pending) -> io::Result<()> {
    let mut session = Session::default();
    while let Some(message) = style.read(&mut from)? {
        if let Some((id, addition)) = message.parts.and_then(|(_, body)| session.take(&body)) {
            pending.lock().unwrap_or_else(PoisonError::into_inner).insert(id, addition);
        }
        to.write_all(&message.raw)?;
        to.flush()?;
    }
    Ok(())
}

/// Passes the messages of MLIR's server on, with additions.
fn answer(mut from: impl BufRead, mut to: impl Write, pending: &Pending) -> io::Result<()> {
    let context = OnceCell::new();
    while let Some(message) = Style::Framed.read(&mut from)? {
        let added = message.parts.as_ref().and_then(|(headers, body)| {
            let mut answer: Value = serde_json::from_slice(body).ok()?;
            let mut changed = hover::explain(&context, &mut answer);
            // A message without a method is an answer.
            if let (Some(id), None) = (answer.get("id"), answer.get("method")) {
                let addition = pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&id.to_string());
                changed |= addition.is_some_and(|addition| addition.add_to(&mut answer));
            }
            let written = if body.contains(&b'\n') { serde_json::to_vec_pretty } else { serde_json::to_vec };
            Some((headers, written(&answer).ok().filter(|_| changed)?))
        });
        match added {
            Some((headers, body)) => {
                write!(to, "Content-Length: {}\r\n", body.len())?;
                to.write_all(headers)?;
                to.write_all(&body)?;
            }
            None => to.write_all(&message.raw)?,
        }
        to.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hovers_and_what_was_asked_change() {
        let hover = r#"{"id":1,"result":{"contents":{"value":"Type: `tensor<2xi8, #layout.tiled<{0:T(4)}>>`"}}}"#;
        let other = r#"{"id":1,"result":[]}"#;
        let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let stream = format!("usage\n{}{}", framed(hover), framed(other));
        let mut out = Vec::new();
        answer(stream.as_bytes(), &mut out, &Pending::default()).unwrap();
        let out = String::from_utf8(out).unwrap();
        let (first, second) = out.strip_prefix("usage\n").unwrap().rsplit_once("Content-Length: ").unwrap();
        assert_eq!(second, framed(other).strip_prefix("Content-Length: ").unwrap());
        let (length, body) = first.split_once("\r\n\r\n").unwrap();
        assert_eq!(length, format!("Content-Length: {}", body.len()));
        assert!(body.contains("50.0 % waste"), "{body}");
    }
}
