//! Errors for Python.

use pyo3::{PyErr, import_exception};
use tensor_layout::text::Error;

import_exception!(tensor_layout._errors, LayoutError);

/// An error in this text, with its place in characters.
pub fn in_text(text: &str, error: Error) -> PyErr {
    let at = error.at.map(|at| String::from_utf8_lossy(&text.as_bytes()[..at.min(text.len())]).chars().count());
    LayoutError::new_err((error.message, Some(text.to_string()), at, error.kind.name()))
}

/// An error without a text.
pub fn plain(error: Error) -> PyErr {
    LayoutError::new_err((error.message, None::<String>, None::<usize>, error.kind.name()))
}
