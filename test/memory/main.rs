//! Memory of programs: peaks and orders.

#[path = "../reference/random_hlo.rs"]
mod random_hlo;
#[path = "../reference/sample.rs"]
mod sample;

mod memory;
mod schedule;
mod scheduling;
