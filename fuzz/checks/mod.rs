//! The checks, by what reads the text.

pub mod hlo;
pub mod json;
pub mod mlir;
pub mod texts;

use tensor_layout::text::{Error, complaints};

/// A refusal has a message, and a place inside the text; printing it does not fail.
fn refused(error: &Error, text: &str) {
    assert!(!error.message.is_empty(), "a refusal without a message");
    if let Some(at) = error.at {
        assert!(text.is_char_boundary(at), "the place {at} of `{}` is no character of the text", error.message);
    }
    complaints("text", text, std::slice::from_ref(error));
}
