//! Why an operation cannot have its operands, attributes or results.

use crate::operations::sizes::Sizes;
use crate::text::Error;
use std::fmt;

/// A rule that does not hold. Prints as `{subject} must be .., found ..`, in the words of [`Operation`]'s fields.
///
/// [`Operation`]: crate::operations::operation::Operation
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The label of the rule, such as `convolution_c1`; the description of the rule has it, too.
    pub rule: &'static str,
    /// What is wrong.
    pub subject: Subject,
    /// How it must be and how it is.
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
        /// Its name in [`Operation`](crate::operations::operation::Operation).
        name: &'static str,
        /// Which of its entries.
        entry: Option<usize>,
    },
}

/// How a part of an operation must be and how it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// An array has other sizes than it must have.
    Sizes {
        /// Those that it must have.
        expected: Sizes,
        /// Those that it has.
        found: Sizes,
    },
    /// The rest of a sentence about the subject: `must be .., found ..`.
    Other(String),
}

impl Refusal {
    pub(super) fn new(rule: &'static str, subject: Subject, must: impl Into<String>) -> Refusal {
        Refusal { rule, subject, problem: Problem::Other(must.into()) }
    }

    /// About a field.
    pub(super) fn field(rule: &'static str, name: &'static str, must: impl Into<String>) -> Refusal {
        Refusal::new(rule, Subject::Field { name, entry: None }, must)
    }

    /// About an entry of a field.
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
