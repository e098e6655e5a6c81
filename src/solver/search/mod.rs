//! The search for plans and bounds.

mod eliminate;
mod order;
mod pairwise;

use super::certificate::{Certificate, Dual, ProofNode};
use super::network::{CostNetwork, FORBIDDEN, NetworkError};
use eliminate::Elimination;
use order::order;
use pairwise::{Pairwise, TOP, clamped, forbidden};
use std::fmt;

/// Limits of the search.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that may run at once, 1 or more. The answer does not depend on it.
    pub threads: usize,
    /// After about this many table entries looked at, the search ends with what it has. `None`: it goes on until the
    /// plan is proved optimal, it gets no further, or the caller stops it.
    pub work: Option<u64>,
    /// Entries of the largest table of an exact elimination; 8 bytes each.
    pub table_entries: u64,
}

impl Default for Options {
    /// One thread, no limit of work, tables of up to 2^24 entries.
    fn default() -> Options {
        Options { threads: 1, work: None, table_entries: 1 << 24 }
    }
}

/// How far a search is; given to the caller now and then, who answers whether to go on.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What is being done, as in `elimination`.
    pub phase: &'static str,
    /// The cost of the best plan so far.
    pub cost: Option<i64>,
    /// The best lower bound so far.
    pub bound: Option<i64>,
    /// Table entries looked at.
    pub work: u64,
}

/// A plan with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The plan, its cost, the bound, and why the bound holds.
    pub certificate: Certificate,
}

impl Solution {
    /// For each variable its choice.
    pub fn choices(&self) -> &[usize] {
        &self.certificate.choices
    }

    /// The cost of the plan.
    pub fn cost(&self) -> i64 {
        self.certificate.cost
    }

    /// What every legal plan costs at least.
    pub fn bound(&self) -> i64 {
        self.certificate.bound
    }

    /// Whether no legal plan costs less.
    pub fn optimal(&self) -> bool {
        self.cost() == self.bound()
    }
}

/// Why a search ended without a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPlan {
    /// There is no legal plan; the variables are those whose choices and pairs leave none, as far as known.
    Forbidden {
        /// A variable without a choice that is possible.
        variable: usize,
    },
    /// At a moment even the smallest choices take more than there is.
    Shortage {
        /// The resource.
        resource: usize,
        /// The moment.
        moment: i64,
        /// What the smallest choices take.
        least: i64,
        /// What there is.
        capacity: i64,
        /// The variables that live then, the largest first.
        variables: Vec<usize>,
    },
    /// No legal plan was found, nor shown not to be.
    NotFound {
        /// How the plan that came nearest is not legal.
        nearest: NetworkError,
    },
    /// The caller or the limit of work ended the search before there was a plan.
    Stopped,
}

impl fmt::Display for NoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPlan::Forbidden { variable } => {
                write!(f, "no plan is legal: each choice of variable {variable} is forbidden, or needs one that is")
            }
            NoPlan::Shortage { resource, moment, least, capacity, variables } => {
                let most = &variables[..variables.len().min(5)];
                write!(
                    f,
                    "no plan is legal: at moment {moment} resource {resource} holds at least {least}, {} more than its \
                     capacity {capacity}; the most is of the variables {most:?}",
                    least - capacity
                )
            }
            NoPlan::NotFound { nearest } => write!(f, "no legal plan was found; in the nearest one, {nearest}"),
            NoPlan::Stopped => f.write_str("the search was stopped before it had a plan"),
        }
    }
}

impl std::error::Error for NoPlan {}

/// A plan of least cost, as far as the limits allow, with a bound.
///
/// `watch` is called now and then; when it answers `false` the search ends with what it has. For the same network and
/// options, and a `watch` that always agrees, the answer is the same every time.
///
/// # Errors
/// See [`NoPlan`].
pub fn solve(
    network: &CostNetwork,
    options: &Options,
    watch: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Solution, NoPlan> {
    let problem = pairwise(network);
    let order = order(&problem, options.table_entries, 16 * options.table_entries).ok_or(NoPlan::Stopped)?;
    let mut work = 0;
    let eliminated = Elimination::new(&problem, &order, |entries| {
        work += entries;
        watch(&Progress { phase: "elimination", cost: None, bound: None, work })
    });
    let eliminated = eliminated.ok_or(NoPlan::Stopped)?;
    if forbidden(eliminated.minimum) {
        return Err(NoPlan::Forbidden { variable: 0 });
    }
    let choices: Vec<usize> = eliminated.plan().into_iter().map(|choice| choice as usize).collect();
    let cost = network.cost(&choices).map_err(|nearest| NoPlan::NotFound { nearest })?;
    let dual = Dual { eliminated: order.variables.iter().map(|v| *v as usize).collect(), ..Dual::default() };
    let proof = vec![ProofNode::Bound(dual)];
    Ok(Solution { certificate: Certificate { choices, cost, bound: eliminated.minimum, merges: Vec::new(), proof } })
}

/// For each of the variables, for each of its choices, the cost of the best plan with this choice, the rest optimised
/// anew; [`FORBIDDEN`] where there is none. Capacities do not count. `None` where the tables would be too large.
pub fn min_marginals(network: &CostNetwork, variables: &[usize], options: &Options) -> Option<Vec<Vec<i64>>> {
    let problem = pairwise(network);
    let order = order(&problem, options.table_entries, 16 * options.table_entries)?;
    let eliminated = Elimination::new(&problem, &order, |_| true)?;
    let mut all = vec![Vec::new(); network.variables().len()];
    eliminated.marginals(|variable, costs| {
        all[variable as usize] = costs.iter().map(|cost| if *cost >= TOP { FORBIDDEN } else { *cost }).collect();
    });
    Some(variables.iter().map(|v| all.get(*v).cloned().unwrap_or_default()).collect())
}

/// The costs of a network, without its capacities.
fn pairwise(network: &CostNetwork) -> Pairwise {
    let mut problem = Pairwise::new();
    for costs in network.variables() {
        problem.add_variable(costs.iter().map(|cost| clamped(*cost)));
    }
    for edge in network.edges() {
        problem.add_link(edge.ends.map(|end| end as u32), edge.costs.iter().map(|cost| clamped(*cost)));
    }
    problem
}
