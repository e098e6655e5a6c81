//! Min-marginals: for each choice of a variable, the cost of the best plan with it.
//!
//! Without capacities they come from the tables of one elimination, if these are small enough. Otherwise the rest of
//! the plan has to fit beside the choice, so each choice is a problem of its own.

use super::answer::{NoPlan, Options, Progress};
use super::drive::{TABLES, solve};
use super::eliminate::Elimination;
use super::order::order;
use super::pairwise::{Pairwise, TOP, clamped};
use crate::solver::network::CostNetwork;

/// The cost of the best plan with a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Marginal {
    /// The cost of the best plan found; `None` if none was found.
    pub cost: Option<i64>,
    /// Whether the cost is within the gap of the optimum, or no such plan exists, by proof.
    pub is_decided: bool,
}

/// The min-marginals of each choice of the given variables. If each choice is a problem of its own, each gets an equal
/// part of the work. The rest is undecided once `go_on` declines. `None` if a variable does not exist.
pub fn min_marginals(
    network: &CostNetwork,
    variables: &[usize],
    options: &Options,
    go_on: &mut Asked,
) -> Option<Vec<Vec<Marginal>>> {
    let sizes: Vec<usize> =
        variables.iter().map(|v| network.variables().get(*v).map(Vec::len)).collect::<Option<_>>()?;
    let eliminated = match network.occupancies().is_empty() {
        true => eliminated(network, variables, options, go_on),
        false => Eliminated::TooLarge,
    };
    Some(match eliminated {
        Eliminated::Exact(found) => found,
        Eliminated::Stopped => sizes.into_iter().map(|size| vec![Marginal::default(); size]).collect(),
        Eliminated::TooLarge => solved(network, (variables, &sizes), options, go_on),
    })
}

/// A callback that answers whether to continue.
type Asked<'a> = dyn FnMut(&Progress) -> bool + 'a;

/// The outcome of an elimination.
enum Eliminated {
    Exact(Vec<Vec<Marginal>>),
    Stopped,
    TooLarge,
}

fn eliminated(network: &CostNetwork, variables: &[usize], options: &Options, go_on: &mut Asked) -> Eliminated {
    let mut problem = Pairwise::new();
    for costs in network.variables() {
        problem.add_variable(costs.iter().map(|cost| clamped(*cost)));
    }
    for edge in network.edges() {
        problem.add_link(edge.ends.map(|end| end as u32), edge.costs.iter().map(|cost| clamped(*cost)));
    }
    // One elimination is for all choices, so it may take longer than that of one search.
    let entries = options.table_entries.max(Options::default().table_entries);
    let Some(order) = order(&problem, entries, entries.saturating_mul(TABLES)) else {
        return Eliminated::TooLarge;
    };
    let mut work = 0u64;
    let eliminated = Elimination::new(&problem, &order, |entries| {
        work = work.saturating_add(entries);
        go_on(&Progress { phase: "min-marginals", cost: None, bound: None, work })
    });
    let Some(eliminated) = eliminated else { return Eliminated::Stopped };
    let mut all = vec![Vec::new(); network.variables().len()];
    eliminated.marginals(|variable, costs| {
        let one = |cost: &i64| Marginal { cost: (*cost < TOP).then_some(*cost), is_decided: true };
        all[variable as usize] = costs.iter().map(one).collect();
    });
    Eliminated::Exact(variables.iter().map(|v| all[*v].clone()).collect())
}

fn solved(
    network: &CostNetwork,
    (variables, sizes): (&[usize], &[usize]),
    options: &Options,
    go_on: &mut Asked,
) -> Vec<Vec<Marginal>> {
    let parts = sizes.iter().sum::<usize>().max(1) as u64;
    let options = Options { work: (options.work / parts).max(1), ..*options };
    let mut over = false;
    let mut best = |variable: usize, choice: usize| {
        let Ok(forced) = network.with_choice(variable, choice) else { return Marginal::default() };
        let found = solve(&forced, &options, &mut |progress| {
            over |= !go_on(progress);
            !over
        });
        Marginal::of(found.map(|found| (found.cost(), found.bound())), &options)
    };
    let all = variables.iter().zip(sizes);
    all.map(|(v, size)| (0..*size).map(|k| best(*v, k)).collect()).collect()
}

impl Marginal {
    /// The marginal of a choice that no plan has.
    pub(crate) const IMPOSSIBLE: Marginal = Marginal { cost: None, is_decided: true };

    /// The marginal of either of two choices.
    pub(crate) fn or(self, other: Marginal) -> Marginal {
        let cost = self.cost.into_iter().chain(other.cost).min();
        Marginal { cost, is_decided: self.is_decided && other.is_decided }
    }

    /// The marginal from a search: its cost and bound, or the reason why it found no plan.
    pub(crate) fn of(found: Result<(i64, i64), NoPlan>, options: &Options) -> Marginal {
        match found {
            Ok((cost, bound)) => Marginal { cost: Some(cost), is_decided: options.is_near(cost, bound) },
            Err(why) => Marginal { cost: None, is_decided: !matches!(why, NoPlan::Stopped | NoPlan::NotFound { .. }) },
        }
    }
}
