//! References to MLIR contexts.

use melior::{Context, ContextRef};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A handle that is never freed.
struct Handle(&'static ContextRef<'static>);

// SAFETY: a handle is an address that nothing changes; the context behind it is used by the caller of `borrowed` alone.
unsafe impl Send for Handle {}

/// The handle of each context, by the address of the context.
static HANDLES: LazyLock<Mutex<HashMap<usize, Handle>>> = LazyLock::new(Mutex::default);

/// The context behind a handle, in the form that melior's constructors take.
///
/// A `&Context` of melior points to a variable that holds a handle, and `ContextRef::to_ref` points it to the
/// `ContextRef` itself, which is a temporary in `attribute.context()`. The reference dangles when that temporary ends.
/// This function keeps one handle (one word) of each address of a context for the life of the process, so its result is
/// valid as long as the context. It is the only caller of `to_ref`; clippy refuses all others.
#[allow(clippy::disallowed_methods, reason = "the variables whose addresses are taken stay alive, see below")]
pub fn borrowed<'c>(context: &ContextRef<'c>) -> &'c Context {
    // SAFETY: `context` outlives this statement, which is all that uses the reference.
    let raw = unsafe { context.to_ref() }.to_raw();
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    let Handle(handle) = handles.entry(raw.ptr as usize).or_insert_with(|| {
        // SAFETY: a copy of the handle; its use is limited to `'c` below, for which the context lives.
        Handle(Box::leak(Box::new(unsafe { ContextRef::from_raw(raw) })))
    });
    // SAFETY: the handle is leaked, so its address stays valid, and the context lives for `'c`.
    unsafe { handle.to_ref() }
}
