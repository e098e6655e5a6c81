//! Memory of programs: peaks and orders.

#[path = "../reference/random_hlo.rs"]
mod random_hlo;

mod memory;
mod schedule;
mod scheduling;
