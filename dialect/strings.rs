//! Texts that are passed between Rust and C++.
//!
//! They are borrowed in both directions: a text is valid during the call that passes it, and has to be copied to be
//! kept.

use mlir_sys::{MlirStringCallback, MlirStringRef};
use std::ffi::c_void;

/// A text in C++'s form, valid as long as `text` lives.
pub fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// The bytes of a text from C++; `None` for a null pointer.
///
/// # Safety
/// The bytes are alive and unchanged for `'a`.
pub unsafe fn bytes<'a>(text: MlirStringRef) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise; the pointer is not null.
    (!text.data.is_null()).then(|| unsafe { std::slice::from_raw_parts(text.data.cast(), text.length) })
}

/// Passes a text to a callback of C or C++; without a callback, it is dropped.
///
/// # Safety
/// The callback takes this pointer.
pub unsafe fn hand_over(callback: MlirStringCallback, user: *mut c_void, text: &str) {
    if let Some(callback) = callback {
        // SAFETY: the caller's promise; the text is valid for the call.
        unsafe { callback(string_ref(text), user) }
    }
}

/// Runs a call into C++ that returns false after passing a message to its callback; the message becomes the error.
///
/// The call takes the callback and the pointer for it, which are valid until it returns.
pub fn with_message(call: impl FnOnce(MlirStringCallback, *mut c_void) -> bool) -> Result<(), String> {
    unsafe extern "C" fn append(text: MlirStringRef, message: *mut c_void) {
        // SAFETY: the pointer is that of the string below, and the text is valid for the call.
        let (text, message) = unsafe { (bytes(text).unwrap_or_default(), &mut *message.cast::<String>()) };
        *message += &String::from_utf8_lossy(text);
    }
    let mut message = String::new();
    if call(Some(append), (&raw mut message).cast()) { Ok(()) } else { Err(message.trim().into()) }
}
