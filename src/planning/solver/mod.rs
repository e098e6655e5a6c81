//! Plans of least cost: a choice for each variable of a [`CostNetwork`], with a proven lower bound.
//!
//! ```
//! use layout_plan::solver::{CostNetwork, Options, check, solve};
//!
//! let mut network = CostNetwork::new();
//! let a = network.add_variable(vec![3, 0]).unwrap();
//! let b = network.add_variable(vec![0, 4]).unwrap();
//! network.add_edge(a, b, vec![0, 5, 5, 0]).unwrap();
//! let solution = solve(&network, &Options::default(), &mut |_| true).unwrap();
//! assert_eq!((solution.choices(), solution.cost(), solution.bound()), (&[0, 0][..], 3, 3));
//! assert_eq!(check(&network, &solution.certificate), Ok(()));
//! ```

mod certificate;
mod check;
mod network;
mod notation;
mod search;

pub use certificate::{Certificate, Dual, Message, Multiplier, ProofNode, Reduction};
pub use check::check;
pub use network::{CostNetwork, Edge, FORBIDDEN, LARGEST_SUM, NetworkError, Occupancy};
pub use search::{Marginal, NoPlan, Options, Progress, Solution, min_marginals, solve, solve_from};
