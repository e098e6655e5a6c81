//! What a search is given, and what it answers.

use crate::solver::certificate::Certificate;
use crate::solver::network::NetworkError;
use std::fmt;
use std::time::Duration;

/// Limits of the search.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that may run at once, 1 or 2. The answer does not depend on it.
    pub threads: usize,
    /// After about this many table entries looked at, the search ends with what it has.
    pub work: u64,
    /// Entries of the largest table of an exact elimination; 8 bytes each.
    pub table_entries: u64,
    /// The search ends when the bound is within so many millionths of the cost.
    pub gap: i64,
}

impl Default for Options {
    /// One thread, 2^36 table entries (about a minute), tables of up to 2^24 entries, and no gap.
    fn default() -> Options {
        Options { threads: 1, work: 1 << 36, table_entries: 1 << 24, gap: 0 }
    }
}

impl Options {
    /// How long a search takes at most of which no limit is said.
    pub const USUAL_TIME: Duration = Duration::from_secs(10);

    /// Those of a search of which no limit is said: it ends where the bound is within a thousandth of the cost.
    pub fn usual() -> Options {
        Options { gap: 1000, ..Options::default() }
    }

    /// Whether a plan of this cost is near enough to the bound.
    pub fn is_near(&self, cost: i64, bound: i64) -> bool {
        (i128::from(cost) - i128::from(bound)) * 1_000_000 <= i128::from(cost).abs() * i128::from(self.gap)
    }
}

/// How far a search is; given to the caller now and then, who answers whether to go on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
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

impl Progress {
    /// That of a problem that is not searched yet: nothing is known of its plans.
    pub(crate) fn new(phase: &'static str, work: u64) -> Progress {
        Progress { phase, cost: None, bound: None, work }
    }
}

/// A plan with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
#[non_exhaustive]
pub enum NoPlan {
    /// No plan is legal, whatever the capacities: a variable has no choice that is possible.
    Forbidden {
        /// The variable.
        variable: usize,
    },
    /// No plan is legal, as a search through all of them shows.
    Proved {
        /// How the plan that came nearest is not legal, where there is one without forbidden choices and pairs.
        nearest: Option<NetworkError>,
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
    /// Not decided: no legal plan was found, nor shown not to be.
    NotFound {
        /// How the plan that came nearest is not legal.
        nearest: NetworkError,
    },
    /// Not decided: the caller or the limit of work ended the search before there was a plan.
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
