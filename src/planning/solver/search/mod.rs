//! The search for plans and bounds.
//!
//! 1. [`reduce`] and [`model`]: dominated choices are dropped, variables that follow from others are merged, and only
//!    moments stay at which capacity may be exceeded. A program of 65,000 variables may leave 250.
//! 2. Elimination gives the optimum if there are no capacities and tables are small enough.
//! 3. Otherwise [`pricing`] maximises the bound over prices of capacities, with message passing inside.
//!    [`fitting`] makes the plans that come up legal.
//! 4. [`branch`] closes the gap if it can, while [`local`] looks for better plans. Both do a fixed amount of work in
//!    turns, and exchange the best plan between turns, so two threads give the same result as one.

mod answer;
mod ascent;
mod branch;
mod drive;
mod eliminate;
mod fitting;
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
