//! Flows and traffic of a list of graphs, each graph computed once.

use super::amount::Traffic;
use super::flow::{Flow, FlowTable, WORK, WORK_PER_LEAF, WORK_PER_NODE};
use super::traffic::{apart, fused};
use super::walk::{Solved, Walk};
use crate::operations::graph::Graph;
use crate::operations::operation::Operation;
use crate::operations::shape::count;
use crate::text::Error;
use std::collections::{BTreeMap, BTreeSet};

/// What the graph with number `entry` reads of its parameters. Other graphs are those that it calls.
///
/// # Errors
/// A node that uses a later one, a graph that calls a later one, operations whose shapes do not fit, parameters that
/// do not fit a call.
pub fn flow(graphs: &[Graph], entry: usize) -> Result<Flow, Error> {
    Flows::default().flow_once(graphs, entry)
}

/// The bytes that a graph moves where all of it is one kernel, and where every operation is one: read are the elements
/// that are needed, once; written are all results. Tuples, and what only renames bytes, move nothing. In a called graph
/// every operation is one too; a loop moves as much each round, and the number of rounds is not known.
///
/// # Errors
/// As [`flow`].
pub fn traffic(graphs: &[Graph], entry: usize) -> Result<(Traffic, Traffic), Error> {
    Flows::default().traffic(graphs, entry)
}

/// What is known of a list of graphs, kept from one question to the next.
#[derive(Debug)]
pub struct Flows {
    known: FlowTable,
    solved: Solved,
    /// How much work is left: each graph adds some.
    spare: u64,
    /// What each graph moves where every operation is one kernel.
    apart: BTreeMap<usize, Traffic>,
    /// What each graph moves as one kernel.
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
    /// [`flow`] of a graph. The list may have grown since the last time, but not changed.
    ///
    /// # Errors
    /// As [`flow`].
    pub fn flow(&mut self, graphs: &[Graph], entry: usize) -> Result<&Flow, Error> {
        let missing = missing(&self.known, graphs, entry)?;
        add(&mut self.known, graphs, &missing, &self.solved, &mut self.spare)?;
        Ok(&self.known[&entry])
    }

    /// [`flow`] of a graph that may be another one the next time, unless [`Flows::flow`] has computed it.
    ///
    /// # Errors
    /// As [`flow`].
    pub fn flow_once(&mut self, graphs: &[Graph], entry: usize) -> Result<Flow, Error> {
        // What a known graph calls stays known.
        let known = self.known.contains_key(&entry);
        let found = self.flow(graphs, entry)?;
        if known {
            return Ok(found.clone());
        }
        self.known.remove(&entry).ok_or_else(|| Error::new("the graph must be known, found none"))
    }

    /// [`traffic`] of a graph. The list may have grown since the last time, but not changed.
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

/// The numbers of the graph `entry` and of all that it calls, ascending, without those that are known. What a known
/// graph calls is known, so it is not looked at: asking for each of a chain of calls takes as long as asking for the
/// last one.
fn missing<T>(known: &BTreeMap<usize, T>, graphs: &[Graph], entry: usize) -> Result<BTreeSet<usize>, Error> {
    let n = graphs.len();
    if entry >= n {
        return Err(Error::new(format!("the graph must be below the number of graphs, {n}, found {entry}")));
    }
    let mut missing = BTreeSet::new();
    let mut next = Some(entry).filter(|k| !known.contains_key(k));
    while let Some(k) = next {
        missing.insert(k);
        for callee in graphs[k].nodes.iter().flat_map(|node| callees(&node.operation)) {
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

/// Adds the flows of these graphs, each of which comes after those that it calls. `spare` is the work that is left.
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

/// The computations that an operation runs.
fn callees(operation: &Operation) -> Vec<usize> {
    match operation {
        Operation::Call { computation } => vec![*computation],
        Operation::While { condition, body } => vec![*condition, *body],
        Operation::Conditional { branches } => branches.clone(),
        Operation::Start(start) => callees(&start.operation),
        _ => Vec::new(),
    }
}
