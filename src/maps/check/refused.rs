//! Reasons for which the checker refuses a step.

use std::fmt;

/// A step that the checker refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The number of the step, from 0.
    pub step: usize,
    /// The fault.
    pub reason: Reason,
}

macro_rules! refusals {
    ($($(#[$doc:meta])* $variant:ident: $message:literal,)*) => {
        /// The fault of a step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $variant,)*
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &[Reason] = &[$(Reason::$variant),*];

            fn message(self) -> &'static str {
                match self { $(Reason::$variant => $message,)* }
            }
        }
    };
}

refusals! {
    /// A step after one that proves the domain empty.
    AfterEnd: "expected no step after the domain is empty, found one",
    /// A variable that the map does not have.
    UnknownVariable: "a variable must be one of the map's, found another number",
    /// A divisor that is 0 or negative.
    Divisor: "a divisor must be at least 1, found a smaller one",
    /// An intermediate number that reaches 2^100.
    TooLarge: "numbers must be less than 2^100, found a larger one",
    /// No rule of this name makes a claim of this form.
    WrongRule: "expected a rule that makes such a claim, found another",
    /// A left side that differs from the state after the steps before.
    NotCurrent: "expected a result, interval or constraint as the steps before leave it, found another",
    /// Conditions of the rule that do not hold, or that the checker cannot prove.
    Unproved: "the conditions of the rule must hold, found one that is not proved",
    /// The two sides of an equation differ.
    Different: "the two sides must be equal at every point, found that they are not proved to be",
    /// A fact that does not follow from the domain.
    FalseFact: "the fact must follow from the domain, found one that does not",
    /// A rule that uses a constraint, in a step without one.
    NoConstraint: "expected a constraint as the fact, found none",
    /// A fact that is no constraint of the domain.
    UnknownConstraint: "the fact must be a constraint of the domain, found another",
    /// A step that uses the constraint that it replaces.
    Circular: "a step must not use a constraint that it replaces, found one that does",
    /// A new interval of a variable that is not inside the old one.
    Grown: "an interval must be inside the one that it replaces, found one that does not",
    /// A narrower interval that leaves out a value at which the constraint may hold.
    PointLost: "a value that is left out must fail the constraint, found one that may satisfy it",
    /// An enumeration of a domain with too many points.
    TooManyPoints: "a domain that is enumerated must have at most 100000 points, found more",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.step, self.reason)
    }
}

impl std::error::Error for Refused {}
