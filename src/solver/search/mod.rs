//! The search for plans and bounds.
//!
//! 1. [`reduce`] and [`model`]: dominated choices go, variables that follow from others are merged, and of the moments
//!    those stay where capacity may be short. A program of 65,000 variables may leave 250.
//! 2. Without capacities, and where tables are small enough, elimination gives the optimum.
//! 3. Else [`pricing`] maximises the bound over prices of capacities, with message passing inside.
//! 4. [`branch`] closes the gap where it can, while [`local`] looks for better plans. Both do a fixed amount of work in
//!    turns, and tell each other the best plan between the turns, so two threads give the same answer as one.

mod answer;
mod ascent;
mod branch;
mod drive;
mod eliminate;
mod local;
mod marginals;
mod model;
mod order;
mod pairwise;
mod pricing;
mod reduce;
mod rooms;

pub use answer::{NoPlan, Options, Progress, Solution};
pub use drive::{solve, solve_from};
pub use marginals::{Marginal, min_marginals};
