//! Indexing maps: their text, their arithmetic, the simplifier, and the checker that replays its steps.
//!
//! | file | content |
//! |---|---|
//! | [`domain`] | intervals of variables and constraints |
//! | [`steps`] | the steps of a simplification as data: rules, claims, facts |
//! | [`map`] | [`IndexingMap`]: evaluation, points, composition without simplification |
//! | [`check`] | [`check::replay`]: accepts or refuses steps; uses `domain`, `steps` and `map`, nothing of `simplify` |
//! | [`simplify`](mod@simplify) | the normal form and its rules; writes steps |
//! | `compose` | maps simplified, and composed in normal form |
//! | `text` | parsing and printing of maps |
//! | `change` | change of variables: domains split into digits, unused variables removed |
//! | [`equal`] | whether two maps agree at every point |
//! | [`explain`] | a simplification with the steps that the checker accepts |
//!
//! Each file uses only files above it.

mod change;
#[cfg(feature = "explain")]
pub mod check;
mod compose;
pub mod domain;
pub mod equal;
#[cfg(feature = "explain")]
pub mod explain;
pub mod map;
pub mod simplify;
pub mod steps;
pub(crate) mod text;

#[cfg(feature = "explain")]
pub use check::{Reason, Refused, replay};
pub use domain::{Domain, Interval};
pub use equal::{Equality, SEARCHED};
#[cfg(feature = "explain")]
pub use explain::Explained;
pub use map::{Indexing, IndexingMap, Kind, VariableOrigin};
pub use simplify::{Form, simplify};
pub use steps::{Claim, Constraint, Rule, Shown, Step, Using};
