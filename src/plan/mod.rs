//! Layouts for all values of a program at once.

pub mod classes;
pub mod digits;
pub mod holders;
pub mod kernels;
pub mod labels;
pub mod layout_plan;
pub mod posed;
pub mod prices;
pub mod program;
pub mod ways;

pub use layout_plan::{Alternative, ArrayName, LayoutPlan, PlannedRelayout, Planner, Unplanned};
pub use ways::Entry;
