//! The options and results of a search.

use crate::solver::certificate::Certificate;
use crate::solver::network::NetworkError;
use std::fmt;
use std::time::Duration;

/// Limits of the search.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The number of threads, 1 or 2. The result does not depend on it.
    pub threads: usize,
    /// The limit on table entries visited, approximate; the search then returns its best plan so far.
    pub work: u64,
    /// The limit on the entries of a table in exact elimination; 8 bytes each.
    pub table_entries: u64,
    /// The search ends when the bound is within this many millionths of the cost.
    pub gap: i64,
}

impl Default for Options {
    /// One thread, 2^36 table entries (about a minute), tables of up to 2^24 entries, and no gap.
    fn default() -> Options {
        Options { threads: 1, work: 1 << 36, table_entries: 1 << 24, gap: 0 }
    }
}

impl Options {
    /// The usual time limit of a search.
    pub const USUAL_TIME: Duration = Duration::from_secs(10);

    /// The usual limits: the search ends when the bound is within a thousandth of the cost, which takes less time than
    /// exact elimination with tables of more than 2^22 entries.
    pub fn usual() -> Options {
        Options { gap: 1000, table_entries: 1 << 22, ..Options::default() }
    }

    /// Whether this cost is within the gap of the bound.
    pub fn is_near(&self, cost: i64, bound: i64) -> bool {
        (i128::from(cost) - i128::from(bound)) * 1_000_000 <= i128::from(cost).abs() * i128::from(self.gap)
    }
}

/// The state of a search. The caller receives it from time to time and answers whether to continue.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// The current phase, such as `elimination`.
    pub phase: &'static str,
    /// The cost of the best plan so far.
    pub cost: Option<i64>,
    /// The best lower bound so far.
    pub bound: Option<i64>,
    /// The number of table entries visited.
    pub work: u64,
}

impl Progress {
    /// The progress before a search: no cost and no bound.
    pub(crate) fn new(phase: &'static str, work: u64) -> Progress {
        Progress { phase, cost: None, bound: None, work }
    }
}

/// A plan with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Solution {
    /// The plan, its cost, the bound, and the proof of the bound.
    pub certificate: Certificate,
}

impl Solution {
    /// The choice of each variable.
    pub fn choices(&self) -> &[usize] {
        &self.certificate.choices
    }

    /// The cost of the plan.
    pub fn cost(&self) -> i64 {
        self.certificate.cost
    }

    /// A lower bound on the cost of every legal plan.
    pub fn bound(&self) -> i64 {
        self.certificate.bound
    }

    /// Whether the plan is proven optimal.
    pub fn optimal(&self) -> bool {
        self.cost() == self.bound()
    }
}

/// The reason why a search found no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoPlan {
    /// No plan is legal for any capacities: a variable has no possible choice.
    Forbidden {
        /// The variable.
        variable: usize,
    },
    /// No plan is legal, by exhaustive search.
    Proved {
        /// The violation in the nearest plan, if a plan without forbidden choices and pairs exists.
        nearest: Option<NetworkError>,
    },
    /// At a moment, even the smallest choices exceed the capacity.
    Shortage {
        /// The resource.
        resource: usize,
        /// The moment.
        moment: i64,
        /// The sum of the smallest choices.
        least: i64,
        /// The capacity.
        capacity: i64,
        /// The variables live at the moment, the largest first.
        variables: Vec<usize>,
    },
    /// Undecided: the search found no legal plan, and no proof that none exists.
    NotFound {
        /// The violation in the nearest plan.
        nearest: NetworkError,
    },
    /// Undecided: the caller or the work limit ended the search before a plan was found.
    Stopped,
}

impl fmt::Display for NoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPlan::Forbidden { variable } => {
                write!(f, "no plan is legal: each choice of variable {variable} is forbidden, or needs one that is")
            }
            NoPlan::Proved { nearest: None } => f.write_str("no plan is legal: choices and pairs forbid each other"),
            NoPlan::Proved { nearest: Some(nearest) } => write!(f, "no plan is legal; in the nearest one, {nearest}"),
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
