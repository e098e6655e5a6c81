//! Checks a [`Certificate`] against its network; shares no code with the search.
//!
//! [`CostNetwork::cost`] adds up the cost of the plan. The proof is followed step by step as `certificate.rs` defines
//! it, from the costs of the network. The only fact trusted is that the sum of minima after these steps is a lower
//! bound. Sums are checked, so numbers that are too large are an error. Time is linear in the tables visited.

mod merged;
mod priced;
mod sums;

use super::certificate::{Certificate, ProofNode, Reduction};
use super::network::CostNetwork;
use merged::Merged;
use priced::Priced;
use std::collections::BTreeSet;
use sums::wrong;
use tensor_layout::text::Error;

/// Checks that the plan is legal, has the stated cost, and that the proof shows the stated bound.
///
/// # Errors
/// The first mistake found.
pub fn check(network: &CostNetwork, certificate: &Certificate) -> Result<(), Error> {
    let cost = network.cost(&certificate.choices).map_err(|error| Error::new(format!("the plan: {error}")))?;
    if cost != certificate.cost {
        return wrong(format!("the plan costs {cost}, not {}", certificate.cost));
    }
    let mut merged = Merged::new(network);
    for reduction in &certificate.reductions {
        match *reduction {
            Reduction::Drop { variable, choice } => merged.drop_choice(variable, choice)?,
            Reduction::Dominated { variable, choice, by } => merged.drop_dominated(variable, choice, by)?,
            Reduction::Merge { from, into } => merged.merge(from, into)?,
        }
    }
    let bound = proved(network, &merged, certificate)?;
    if bound != Some(certificate.bound) {
        let bound = bound.map_or("that there is no legal plan".to_string(), |bound| format!("the bound {bound}"));
        return wrong(format!("the proof shows {bound}, not the bound {}", certificate.bound));
    }
    if certificate.bound > certificate.cost {
        return wrong(format!("the bound {} is above the cost {cost}", certificate.bound));
    }
    Ok(())
}

/// The bound that the proof shows: the least of the bounds of its leaves and of the limits of exclusions; `None` if it
/// shows that no plan is legal.
fn proved(network: &CostNetwork, merged: &Merged, certificate: &Certificate) -> Result<Option<i64>, Error> {
    let mut least: Option<i64> = None;
    // The forbidden choices for each node still to come.
    let mut open: Vec<BTreeSet<(usize, usize)>> = vec![BTreeSet::new()];
    for (at, node) in certificate.proof.iter().enumerate() {
        let within = |error: Error| {
            let message = format!("node {at} of the proof: {error}");
            error.with_message(message)
        };
        let Some(mut without) = open.pop() else {
            return wrong(format!("node {at} of the proof is below no other"));
        };
        match node {
            ProofNode::Bound(dual) => {
                let bound = Priced::new(network, merged, &without, dual).and_then(|p| p.bound(dual)).map_err(within)?;
                least = [least, bound].into_iter().flatten().min();
            }
            ProofNode::Exclude(limit, dual) => {
                let priced = Priced::new(network, merged, &without, dual).map_err(within)?;
                without.extend(priced.excluded(dual, *limit).map_err(within)?);
                least = Some(least.map_or(*limit, |least| least.min(*limit)));
                open.push(without);
            }
            ProofNode::Branch { variable, parts } => {
                let size = merged.unary.get(variable).map(Vec::len).unwrap_or(0);
                let all: BTreeSet<usize> = parts.iter().flatten().copied().collect();
                if size == 0 || !all.iter().copied().eq(0..size) {
                    return wrong(format!(
                        "node {at} of the proof: the sets do not have exactly the choices of variable {variable}"
                    ));
                }
                for part in parts.iter().rev() {
                    let mut without = without.clone();
                    without.extend(all.iter().filter(|choice| !part.contains(choice)).map(|k| (*variable, *k)));
                    open.push(without);
                }
            }
        }
    }
    match open.is_empty() {
        true => Ok(least),
        false => wrong(format!("the proof ends with {} nodes missing", open.len())),
    }
}
