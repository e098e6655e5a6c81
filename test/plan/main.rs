//! Plans of layouts, the solver below them, and the memory and orders of programs.

#[path = "../reference/sample.rs"]
mod sample;

mod checker;
mod device_memory;
mod devices;
mod fixed_layouts;
mod invariance;
mod memory;
mod plan;
mod rematerialize;
mod residency;
mod schedule;
mod scheduling;
mod sharding;
mod solver;
mod steps;
mod steps_of_plans;
mod targets;
