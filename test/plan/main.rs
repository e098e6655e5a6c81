//! Plans of layouts, and the solver below them.

#[path = "../reference/sample.rs"]
mod sample;

mod checker;
mod device_memory;
mod devices;
mod fixed_layouts;
mod invariance;
mod plan;
mod remaking;
mod residency;
mod solver;
mod spreading;
mod steps;
mod steps_of_plans;
mod targets;
