//! Indexing maps: their text, their arithmetic, the simplifier, and the checker that replays its steps.
//!
//! | file | what it holds |
//! |---|---|
//! | [`domain`] | intervals of variables and constraints |
//! | [`steps`] | the steps of a simplification as data: rules, claims, facts |
//! | [`simplify`] | the normal form and its rules; writes steps |
//! | [`map`] | [`IndexingMap`]: composition, images, evaluation |
//! | `text` | parsing and printing of maps |
//! | `change` | change of variables: domains split into digits, unused variables removed |
//! | [`equal`] | whether two maps agree at every point |
//! | [`check`] | [`check::replay`]: accepts or refuses steps; uses `domain`, `steps` and `map`, nothing of `simplify` |

mod change;
pub mod check;
pub mod domain;
pub mod equal;
pub mod map;
pub mod simplify;
pub mod steps;
pub(crate) mod text;

pub use check::{Refused, replay};
pub use domain::{Domain, Interval};
pub use equal::{Equality, SEARCHED};
pub use map::{Indexing, IndexingMap, Kind, Source};
pub use simplify::{Form, simplify};
pub use steps::{Claim, Constraint, Explained, Rule, Shown, Step, Using};
