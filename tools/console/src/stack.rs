//! The stack of a tool.

use crate::complaint::Complaint;
use crate::files::warn;
use crate::guard::{guarded, without_noise};
use std::panic;
use std::process::ExitCode;
use std::thread;
use tensor_layout::text::Error;

/// The bytes of stack for recursive parsers: JSON may nest 128 deep and tuples 256, which takes 1 MiB without
/// optimization.
const STACK: usize = 16 << 20;

/// Runs a tool on a thread with this stack, so that `ulimit -s` does not limit its input. A panic ends the tool with
/// one message on standard error and the exit status 3.
pub fn with_stack(tool: fn() -> ExitCode) -> ExitCode {
    without_noise();
    let tool = move || guarded(tool).unwrap_or_else(|bug| failed(&bug));
    match thread::Builder::new().stack_size(STACK).spawn(tool) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
        // The address space is limited, and the present stack has to do.
        Err(_) => tool(),
    }
}

/// Reports a bug of the tool.
fn failed(bug: &Error) -> ExitCode {
    warn(&Complaint::new(&bug.message));
    ExitCode::from(3)
}

/// Calls `f` on a thread with the same stack: for libraries, whose callers may have small stacks.
pub fn with_room<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, f) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
        // A missing thread is an error of the system, not of the text.
        Err(error) => panic!("no thread can be started: {error}"),
    })
}
