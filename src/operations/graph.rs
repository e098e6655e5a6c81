//! Graphs of operations.

use crate::operations::operation::Operation;
use crate::operations::shape::Shape;

/// A result of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The number of the node in its graph.
    pub node: usize,
    /// The number of the result.
    pub result: usize,
}

/// An operation in a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The operation.
    pub operation: Operation,
    /// The operands.
    pub operands: Vec<Value>,
    /// The shapes of the results: one in HLO, where it may be a tuple.
    pub results: Vec<Shape>,
}

/// A computation: each node comes after its operands, and each graph after the graphs that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The operations.
    pub nodes: Vec<Node>,
    /// The values that the computation returns.
    pub roots: Vec<Value>,
}
