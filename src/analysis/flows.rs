//! Flows and traffic of a list of graphs, each graph worked out once.

use super::amount::Traffic;
use super::flow::{Flow, Known, add};
use super::traffic::{apart, fused};
use crate::operations::graph::Graph;
use crate::text::Error;
use std::collections::BTreeMap;

/// What the graph with number `entry` reads of its parameters. Other graphs are those that it calls.
///
/// # Errors
/// A node that uses one behind it, a graph that calls one behind it, operations whose shapes do not fit, parameters that
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
#[derive(Debug, Default)]
pub struct Flows {
    known: Known,
    /// What each graph moves where every operation is one kernel.
    apart: BTreeMap<usize, Traffic>,
}

impl Flows {
    /// [`flow`] of a graph. The list may have grown since the last time, but not changed.
    ///
    /// # Errors
    /// As [`flow`].
    pub fn flow(&mut self, graphs: &[Graph], entry: usize) -> Result<&Flow, Error> {
        add(&mut self.known, graphs, entry)?;
        Ok(&self.known[&entry])
    }

    /// [`flow`] of a graph that may be another one the next time.
    ///
    /// # Errors
    /// As [`flow`].
    pub fn flow_once(&mut self, graphs: &[Graph], entry: usize) -> Result<Flow, Error> {
        add(&mut self.known, graphs, entry)?;
        self.known.remove(&entry).ok_or_else(|| Error::new("there is no graph"))
    }

    /// [`traffic`] of a graph.
    ///
    /// # Errors
    /// As [`flow`].
    pub fn traffic(&mut self, graphs: &[Graph], entry: usize) -> Result<(Traffic, Traffic), Error> {
        for number in add(&mut self.known, graphs, entry)? {
            if number == entry || !self.apart.contains_key(&number) {
                let moved = apart(graphs, number, &self.known, &self.apart)?;
                self.apart.insert(number, moved);
            }
        }
        Ok((fused(graphs, entry, &self.known)?, self.apart[&entry]))
    }
}
