//! The choice of layouts: plans, removal of conversions, and indexing maps; functions in the place of their calls before it.

pub mod indexing_analysis;
pub mod inline_calls;
#[cfg(not(feature = "plan"))]
#[path = "no_plan.rs"]
pub mod plan;
#[cfg(feature = "plan")]
pub mod plan;
pub mod remove_conversions;
