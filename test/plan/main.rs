//! Plans of layouts, and the solver below them.

#[path = "../reference/sample.rs"]
mod sample;

mod checker;
mod contracts;
mod device_memory;
mod devices;
mod invariance;
mod plan;
mod remaking;
mod residency;
mod solver;
mod spreading;
mod steps;
mod steps_of_plans;
mod targets;
