//! Flows and traffic of a list of graphs, each graph computed once.

use super::amount::Traffic;
use super::flow::{Flow, FlowTable, WORK, add, missing};
use super::traffic::{apart, fused};
use crate::operations::graph::Graph;
use crate::text::Error;
use std::collections::BTreeMap;

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
    /// How much work is left: each graph adds some.
    spare: u64,
    /// What each graph moves where every operation is one kernel.
    apart: BTreeMap<usize, Traffic>,
    /// What each graph moves as one kernel.
    fused: BTreeMap<usize, Traffic>,
}

impl Default for Flows {
    fn default() -> Flows {
        Flows { known: FlowTable::new(), spare: WORK, apart: BTreeMap::new(), fused: BTreeMap::new() }
    }
}

impl Flows {
    /// [`flow`] of a graph. The list may have grown since the last time, but not changed.
    ///
    /// # Errors
    /// As [`flow`].
    pub fn flow(&mut self, graphs: &[Graph], entry: usize) -> Result<&Flow, Error> {
        let missing = missing(&self.known, graphs, entry)?;
        add(&mut self.known, graphs, &missing, &mut self.spare)?;
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
            let moved = apart(graphs, number, &self.known, &self.apart)?;
            self.apart.insert(number, moved);
        }
        if !self.fused.contains_key(&entry) {
            self.fused.insert(entry, fused(graphs, entry, &self.known)?);
        }
        Ok((self.fused[&entry], self.apart[&entry]))
    }
}
