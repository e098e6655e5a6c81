//! Panics at the border to C++: they must not unwind through it, and they must not be lost.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body`; where it panics, gives `failed` the message of an internal error and takes its answer.
///
/// For functions that C++ calls. A function that C++ calls back, in the middle of a call from Rust, has to carry its
/// panic over to the Rust side of that call instead, as the walk over operations does.
///
/// ```
/// let outcome = layout_dialect::guard(|message| Err(message.to_string()), || Ok(["a"][1..][0]));
/// assert!(outcome.unwrap_err().starts_with("internal error: index out of bounds"));
/// ```
#[doc(hidden)]
pub fn guard<T>(failed: impl FnOnce(&str) -> T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
        failed(&format!("internal error: {}", text.unwrap_or("a panic without a message")))
    })
}
