//! Memory of programs: peaks, orders, offsets and transfers.

#[path = "../reference/random_hlo.rs"]
mod random_hlo;

mod memory;
mod offsets;
mod schedule;
mod scheduling;
mod transfers;
