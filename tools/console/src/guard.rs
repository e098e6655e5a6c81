//! Panics as errors.
//!
//! A panic is a bug of the tool, whatever its input is. It must not stop unrelated work: other requests of a server,
//! other parts of a page. So independent work runs in [`guarded`], and a panic in it is an error of
//! [`ErrorKind::Internal`](tensor_layout::text::ErrorKind::Internal) like others.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tensor_layout::text::Error;

/// The message of the first panic since a guard began, kept by the hook.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

fn first() -> MutexGuard<'static, Option<String>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `body`; a panic in it is an error, with its place in the source where known.
///
/// # Errors
/// `body` has panicked.
///
/// ```
/// let found = layout_console::guarded(|| ["a"][1..][0]);
/// assert!(found.unwrap_err().message.starts_with("internal error: index out of bounds"));
/// ```
pub fn guarded<T>(body: impl FnOnce() -> T) -> Result<T, Error> {
    first().take();
    panic::catch_unwind(AssertUnwindSafe(body))
        .map_err(|panic| bug(&first().take().unwrap_or_else(|| text(&*panic).to_string())))
}

/// The error that a panic with this message is.
fn bug(text: &str) -> Error {
    Error::new(format!("internal error: {text}; please report this with the input")).internal()
}

/// The message of a panic, with its place in the source.
fn placed(panic: &PanicHookInfo) -> String {
    let place = panic.location().map_or(String::new(), |at| format!(" ({}:{})", at.file(), at.line()));
    format!("{}{place}", text(panic.payload()))
}

/// Hands each panic to `report` as an error, where a panic ends the program.
pub fn report_panics(report: fn(&Error)) {
    panic::set_hook(Box::new(move |panic| report(&bug(&placed(panic)))));
}

/// The message of a panic.
fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message")
}

/// Keeps messages of panics from standard error, for [`guarded`] to report. The first panic counts: later ones of
/// other threads follow from it.
pub(crate) fn without_noise() {
    panic::set_hook(Box::new(|panic| {
        first().get_or_insert_with(|| placed(panic));
    }));
}

#[cfg(test)]
mod tests {
    use super::guarded;
    use tensor_layout::text::{Error, ErrorKind};

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(guarded(|| 7), Ok(7));
        for (found, text) in [
            (guarded(|| panic!("one {}", 1)), "internal error: one 1; please report this with the input"),
            (guarded(|| panic!("two")), "internal error: two; please report this with the input"),
            (
                guarded(|| std::panic::panic_any(3)),
                "internal error: a panic without a message; please report this with the input",
            ),
        ] {
            let error = Result::<(), Error>::unwrap_err(found);
            assert_eq!((error.kind, error.message.as_str(), error.at), (ErrorKind::Internal, text, None));
        }
    }
}
