//! The choice of layouts: plans, removal of conversions, and indexing maps. Before it, functions in the place of their calls,
//! and constants in the place of their transposes.

pub mod fold_constants;
pub mod indexing_analysis;
pub mod inline_calls;
#[cfg(not(feature = "plan"))]
#[path = "no_plan.rs"]
pub mod plan;
#[cfg(feature = "plan")]
pub mod plan;
pub mod remove_conversions;
