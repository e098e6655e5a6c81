//! The stack of a tool.

use crate::complaint::Complaint;
use crate::files::warn;
use crate::guard::{guarded, without_noise};
use std::panic;
use std::process::ExitCode;
use std::thread;
use tensor_layout::text::Error;

/// The bytes of stack for parsers that call themselves for each level of nesting: JSON may nest 128 deep and tuples 256,
/// which takes 1 MiB without optimization.
const STACK: usize = 16 << 20;

/// Runs a tool on a thread with a stack of its own, so that the same texts are read whatever `ulimit -s` is. A panic ends it
/// with one message on standard error and the exit status 3.
pub fn with_stack(tool: fn() -> ExitCode) -> ExitCode {
    without_noise();
    let tool = move || guarded(tool).unwrap_or_else(|bug| failed(&bug));
    match thread::Builder::new().stack_size(STACK).spawn(tool) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
        // The address space is limited, and the stack that there is has to do.
        Err(_) => tool(),
    }
}

/// Says that the tool has failed by a bug of its own.
fn failed(bug: &Error) -> ExitCode {
    warn(&Complaint::new(&bug.message));
    ExitCode::from(3)
}

/// Calls `f` on a thread with the same stack: for libraries, whose callers' stacks may be small.
pub fn with_room<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| match thread::Builder::new().stack_size(STACK).spawn_scoped(scope, f) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
        // A call that could not be given a thread is an error of the system, not of the text.
        Err(error) => panic!("no thread can be started: {error}"),
    })
}
