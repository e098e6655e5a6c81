//! The checks, by reader of the text.

pub mod hlo;
pub mod json;
pub mod lsp;
pub mod mlir;
pub mod texts;

use layout_console::Complaint;
use tensor_layout::text::Error;

/// A refusal has a message, and an offset inside the text; printing it does not fail.
fn refused(error: &Error, text: &str) {
    assert!(!error.message.is_empty(), "a refusal without a message");
    if let Some(at) = error.at {
        assert!(text.is_char_boundary(at), "the place {at} of `{}` is no character of the text", error.message);
    }
    Complaint::in_argument(text, error);
    Complaint::in_file("text", text, std::slice::from_ref(error));
}
