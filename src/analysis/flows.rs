//! Flows and traffic of a list of graphs; each graph is computed once.

use super::amount::Traffic;
use super::flow::{Flow, FlowTable, WORK, WORK_PER_LEAF, WORK_PER_NODE};
use super::traffic::{apart, fused};
use super::walk::{Solved, Walk};
use crate::operations::graph::Graph;
use crate::operations::shape::count;
use crate::text::Error;
use std::collections::{BTreeMap, BTreeSet};

/// Computes the reads and feeds between the roots and parameters of graph `entry`. The other graphs are those it calls.
///
/// # Errors
/// A node that uses a later one, a graph that calls a later one, operations whose shapes do not fit, parameters that do
/// not fit a call.
pub fn flow(graphs: &[Graph], entry: usize) -> Result<Flow, Error> {
    Flows::default().flow_once(graphs, entry)
}

/// The bytes that a graph moves as one kernel, and with one kernel per operation. Each needed element is read once, and
/// all results are written. Tuples and bitcasts move nothing. Operations of called graphs are kernels, too; a loop
/// moves the same bytes each round, for an unknown trip count.
///
/// # Errors
/// As [`flow`].
pub fn traffic(graphs: &[Graph], entry: usize) -> Result<(Traffic, Traffic), Error> {
    Flows::default().traffic(graphs, entry)
}

/// The analysis of a list of graphs, cached between calls.
#[derive(Debug)]
pub struct Flows {
    known: FlowTable,
    solved: Solved,
    /// The remaining work; each graph adds some.
    spare: u64,
    /// The traffic of each graph with one kernel per operation.
    apart: BTreeMap<usize, Traffic>,
    /// The traffic of each graph as one kernel.
    fused: BTreeMap<usize, Traffic>,
}

impl Default for Flows {
    fn default() -> Flows {
        Flows {
            known: FlowTable::new(),
            solved: Solved::default(),
            spare: WORK,
            apart: BTreeMap::new(),
            fused: BTreeMap::new(),
        }
    }
}

impl Flows {
    /// Computes [`flow`] of a graph. The list may grow between calls, but not change.
    ///
    /// # Errors
    /// As [`flow`].
    pub fn flow(&mut self, graphs: &[Graph], entry: usize) -> Result<&Flow, Error> {
        let missing = missing(&self.known, graphs, entry)?;
        add(&mut self.known, graphs, &missing, &self.solved, &mut self.spare)?;
        Ok(&self.known[&entry])
    }

    /// Computes [`flow`] of a graph that may change before the next call; kept only if [`Flows::flow`] has computed it.
    ///
    /// # Errors
    /// As [`flow`].
    pub fn flow_once(&mut self, graphs: &[Graph], entry: usize) -> Result<Flow, Error> {
        // The callees of a known graph stay known.
        let known = self.known.contains_key(&entry);
        let found = self.flow(graphs, entry)?;
        if known {
            return Ok(found.clone());
        }
        self.known.remove(&entry).ok_or_else(|| Error::new("the graph must be known, found none"))
    }

    /// Computes [`traffic`] of a graph. The list may grow between calls, but not change.
    ///
    /// # Errors
    /// As [`flow`].
    pub fn traffic(&mut self, graphs: &[Graph], entry: usize) -> Result<(Traffic, Traffic), Error> {
        self.flow(graphs, entry)?;
        for number in missing(&self.apart, graphs, entry)? {
            let moved = apart(graphs, number, &self.known, &self.solved, &self.apart)?;
            self.apart.insert(number, moved);
        }
        if !self.fused.contains_key(&entry) {
            self.fused.insert(entry, fused(graphs, entry, &self.known, &self.solved)?);
        }
        Ok((self.fused[&entry], self.apart[&entry]))
    }
}

/// The unknown graphs among `entry` and its callees, ascending. Callees of a known graph are known and not visited: a
/// query for each graph of a call chain takes as long as one for the last.
fn missing<T>(known: &BTreeMap<usize, T>, graphs: &[Graph], entry: usize) -> Result<BTreeSet<usize>, Error> {
    let n = graphs.len();
    if entry >= n {
        return Err(Error::new(format!("the graph must be below the number of graphs, {n}, found {entry}")));
    }
    let mut missing = BTreeSet::new();
    let mut next = Some(entry).filter(|k| !known.contains_key(k));
    while let Some(k) = next {
        missing.insert(k);
        for callee in graphs[k].nodes.iter().flat_map(|node| node.operation.callees()) {
            if callee >= k {
                let message = format!("graph {k} must call graphs before it, found a call of graph {callee}");
                return Err(Error::new(message));
            }
            if !known.contains_key(&callee) {
                missing.insert(callee);
            }
        }
        next = missing.range(..k).next_back().copied();
    }
    Ok(missing)
}

/// Adds the flows of these graphs, each after its callees. `spare` is the remaining work.
fn add(
    known: &mut FlowTable,
    graphs: &[Graph],
    missing: &BTreeSet<usize>,
    solved: &Solved,
    spare: &mut u64,
) -> Result<(), Error> {
    for k in missing {
        let nodes = &graphs[*k].nodes;
        let arrays = nodes.iter().flat_map(|node| &node.results).map(|shape| count(shape) as u64).sum::<u64>();
        *spare = spare.saturating_add(WORK_PER_NODE * nodes.len() as u64 + WORK_PER_LEAF * arrays);
        let found = Walk::new(graphs, *k, known, solved)?.all(spare)?;
        known.insert(*k, found);
    }
    Ok(())
}
