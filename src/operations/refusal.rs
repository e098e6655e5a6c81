//! Refusals: the reasons why an operation cannot have its operands, attributes or results.

use crate::operations::sizes::Sizes;
use crate::text::Error;
use std::fmt;

/// A rule that does not hold. Prints as `{subject} must be .., found ..`, with the names of [`Operation`]'s fields.
///
/// [`Operation`]: crate::operations::operation::Operation
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The label of the rule, such as `convolution_c1`, as in the rule's description.
    pub rule: &'static str,
    /// The part of the operation at fault.
    pub subject: Subject,
    /// The required and the actual state.
    pub problem: Problem,
}

/// The part of an operation that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// The operation as a whole, such as the number of its operands.
    Whole,
    /// An array among the operands, by its number.
    Operand(usize),
    /// An array among the results, by its number.
    Result(usize),
    /// The number of arrays among the results.
    Results,
    /// A field of the operation.
    Field {
        /// The name in [`Operation`](crate::operations::operation::Operation).
        name: &'static str,
        /// The number of the entry at fault, if one is.
        entry: Option<usize>,
    },
}

/// The required and the actual state of a part of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// An array has the wrong sizes.
    Sizes {
        /// The required sizes.
        expected: Sizes,
        /// The actual sizes.
        found: Sizes,
    },
    /// The rest of a sentence about the subject: `must be .., found ..`.
    Other(String),
}

impl Refusal {
    pub(super) fn new(rule: &'static str, subject: Subject, must: impl Into<String>) -> Refusal {
        Refusal { rule, subject, problem: Problem::Other(must.into()) }
    }

    /// A refusal of a field.
    pub(super) fn field(rule: &'static str, name: &'static str, must: impl Into<String>) -> Refusal {
        Refusal::new(rule, Subject::Field { name, entry: None }, must)
    }

    /// A refusal of an entry of a field.
    pub(super) fn entry(rule: &'static str, name: &'static str, entry: usize, must: impl Into<String>) -> Refusal {
        Refusal::new(rule, Subject::Field { name, entry: Some(entry) }, must)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Sizes { expected, found } => write!(f, "must have the sizes {expected}, found {found}"),
            Problem::Other(must) => f.write_str(must),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subject {
            Subject::Whole => f.write_str("the operation")?,
            Subject::Operand(k) => write!(f, "operand {k}")?,
            Subject::Result(k) => write!(f, "result {k}")?,
            Subject::Results => f.write_str("the results")?,
            Subject::Field { name, entry: None } => write!(f, "`{name}`")?,
            Subject::Field { name, entry: Some(k) } => write!(f, "entry {k} of `{name}`")?,
        }
        write!(f, " {}", self.problem)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error::new(refusal.to_string())
    }
}
