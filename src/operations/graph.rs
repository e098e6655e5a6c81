//! Graphs of operations.

use crate::operations::operation::Operation;
use crate::operations::shape::Shape;

/// A result of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The number of the node in its graph.
    pub node: usize,
    /// Which of its results.
    pub result: usize,
}

/// An operation in a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it does.
    pub operation: Operation,
    /// The values that it takes.
    pub operands: Vec<Value>,
    /// The shapes of its results: one in HLO, where it may be a tuple.
    pub results: Vec<Shape>,
}

/// A computation: each node comes after those that it uses, and each graph after those that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The operations.
    pub nodes: Vec<Node>,
    /// What it computes.
    pub roots: Vec<Value>,
}
