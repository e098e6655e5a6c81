//! Min-marginals: for each choice of a variable, what the best plan with it costs.
//!
//! Without capacities they come from the tables of one elimination. With capacities the rest of the plan has to fit beside
//! the choice, so each choice is a problem of its own.

use super::answer::{Options, Progress};
use super::drive::{TABLES, solve};
use super::eliminate::Elimination;
use super::order::order;
use super::pairwise::{Pairwise, TOP, clamped};
use crate::solver::network::{CostNetwork, FORBIDDEN};

/// For each of the variables, for each of its choices, the cost of the best plan with this choice, the rest optimised
/// anew; [`FORBIDDEN`] where there is none.
///
/// With capacities it is the best plan that is found, by default in an equal part of the work for each choice, and
/// [`FORBIDDEN`] where none is found. `None` where a variable does not exist, where `go_on` has said no, and, without
/// capacities, where the tables would be too large.
pub fn min_marginals(
    network: &CostNetwork,
    variables: &[usize],
    options: &Options,
    go_on: &mut Asked,
) -> Option<Vec<Vec<i64>>> {
    match network.occupancies().is_empty() {
        true => eliminated(network, variables, options, go_on),
        false => solved(network, variables, options, go_on),
    }
}

/// Asked now and then whether to go on.
type Asked<'a> = dyn FnMut(&Progress) -> bool + 'a;

fn eliminated(
    network: &CostNetwork,
    variables: &[usize],
    options: &Options,
    go_on: &mut Asked,
) -> Option<Vec<Vec<i64>>> {
    let mut problem = Pairwise::new();
    for costs in network.variables() {
        problem.add_variable(costs.iter().map(|cost| clamped(*cost)));
    }
    for edge in network.edges() {
        problem.add_link(edge.ends.map(|end| end as u32), edge.costs.iter().map(|cost| clamped(*cost)));
    }
    let order = order(&problem, options.table_entries, options.table_entries.saturating_mul(TABLES))?;
    let mut work = 0u64;
    let eliminated = Elimination::new(&problem, &order, |entries| {
        work = work.saturating_add(entries);
        go_on(&Progress { phase: "min-marginals", cost: None, bound: None, work })
    })?;
    let mut all = vec![Vec::new(); network.variables().len()];
    eliminated.marginals(|variable, costs| {
        all[variable as usize] = costs.iter().map(|cost| if *cost >= TOP { FORBIDDEN } else { *cost }).collect();
    });
    variables.iter().map(|v| all.get(*v).cloned()).collect()
}

fn solved(network: &CostNetwork, variables: &[usize], options: &Options, go_on: &mut Asked) -> Option<Vec<Vec<i64>>> {
    let sizes: Vec<usize> =
        variables.iter().map(|v| network.variables().get(*v).map(Vec::len)).collect::<Option<_>>()?;
    let parts = sizes.iter().sum::<usize>().max(1) as u64;
    let options = Options { work: (options.work / parts).max(1), ..*options };
    let mut over = false;
    let mut best = |variable: usize, choice: usize| {
        let forced = network.with_choice(variable, choice).ok()?;
        let found = solve(&forced, &options, &mut |progress| {
            over |= !go_on(progress);
            !over
        });
        Some(found.ok()?.cost())
    };
    let all = variables.iter().zip(&sizes);
    let all = all.map(|(v, size)| (0..*size).map(|k| best(*v, k).unwrap_or(FORBIDDEN)).collect()).collect();
    (!over).then_some(all)
}
