//! The choice of layouts: plans, removal of conversions, and indexing maps.

pub mod indexing_analysis;
#[cfg(not(feature = "plan"))]
#[path = "no_plan.rs"]
pub mod plan;
#[cfg(feature = "plan")]
pub mod plan;
pub mod remove_conversions;
