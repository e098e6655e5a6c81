//! Errors, warnings and remarks of passes.

use melior::ir::Location;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The pass failed.
    Error,
    /// The pass succeeded, perhaps not as intended.
    Warning,
    /// Information.
    Remark,
}

/// A message at a place in the program.
#[derive(Clone, Debug)]
pub struct Diagnostic<'c> {
    /// The severity.
    pub severity: Severity,
    /// The place.
    pub location: Location<'c>,
    /// The text, without a final full stop.
    pub message: String,
    /// Further messages below it, each at a place of its own.
    pub notes: Vec<(Location<'c>, String)>,
}

impl<'c> Diagnostic<'c> {
    /// An error without notes.
    pub fn error(location: Location<'c>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, location, message: message.into(), notes: Vec::new() }
    }

    /// A remark without notes.
    pub fn remark(location: Location<'c>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Remark, ..Self::error(location, message) }
    }

    /// The diagnostic with one more note.
    pub fn note(mut self, location: Location<'c>, message: impl Into<String>) -> Self {
        self.notes.push((location, message.into()));
        self
    }
}
