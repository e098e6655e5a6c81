//! The choice of layouts: plans, removal of conversions, and indexing maps.

pub mod indexing_analysis;
pub mod plan;
pub mod remove_conversions;
