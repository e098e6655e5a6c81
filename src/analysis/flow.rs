//! The reads and feeds of a computation: maps of operations composed along a graph.
//!
//! In `y = p + transpose(p)` the root reads `p` at `(d0, d1)` and at `(d1, d0)`. From the root down, every value gets
//! the set of maps by which the root reaches it; the maps of an operation carry this set from its result to its
//! operands. Nodes come after their operands, so each is visited once for any number of paths; equal maps are stored
//! once, so a chain of forty diamonds still gives one map.
//!
//! ```
//! use tensor_layout::analysis::flow;
//! use tensor_layout::operations::{Graph, Node, Value};
//! use tensor_layout::operations::Operation;
//! use tensor_layout::operations::Shape;
//!
//! let node = |operation, operands: &[usize]| Node {
//!     operation,
//!     operands: operands.iter().map(|node| Value { node: *node, result: 0 }).collect(),
//!     results: vec![Shape::parse("f32[9,9]").unwrap()],
//! };
//! let nodes = vec![
//!     node(Operation::Parameter { number: 0 }, &[]),
//!     node(Operation::Transpose { permutation: vec![1, 0] }, &[0]),
//!     node(Operation::Elementwise, &[0, 1]),
//! ];
//! let graph = Graph { nodes, roots: vec![Value { node: 2, result: 0 }] };
//! let found = flow(&[graph], 0).unwrap();
//! let maps: Vec<String> = found.reads(0, 0, 0).unwrap().maps.iter().map(|m| m.to_string()).collect();
//! assert_eq!(maps[0], "(d0, d1) -> (d0, d1), domain: d0 in [0, 8], d1 in [0, 8]");
//! assert_eq!(maps[1], "(d0, d1) -> (d1, d0), domain: d0 in [0, 8], d1 in [0, 8]");
//! ```
//!
//! The flow of a computation is computed once for all its calls. A conditional reads everything that its branches read.
//! A loop passes on what its body passes on; the other effects of the body are unknown, because the trip count is.
//!
//! Limits: [`MOST_MAPS`] maps for a value, [`MOST_OPERATIONS`] in a map, and [`WORK`] in all; beyond these the access
//! is unknown, with the reason.

use super::access::Access;
use std::collections::BTreeMap;
use std::fmt;

/// A leaf of a node's results, in a graph or in a called one. Prints as `7#0`, and as `4/7#0` inside the call of node
/// 4.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueRef {
    /// The calling nodes, outermost first.
    pub calls: Vec<usize>,
    /// The graph of the node.
    pub graph: usize,
    /// The node.
    pub node: usize,
    /// The leaf, counted over all results of the node.
    pub leaf: usize,
}

/// The reads and feeds of a computation.
#[derive(Clone, Debug)]
pub struct Flow {
    /// By leaves of the roots.
    pub(super) rows: Vec<Row>,
    /// The number of leaves of each parameter.
    pub(super) parameters: Vec<usize>,
    pub(super) none: Pair,
    /// For each root leaf that is a parameter unchanged: that parameter's leaf.
    pub(super) passed: Vec<Option<(usize, usize)>>,
}

/// The reads and feeds of one root leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// By parameter and leaf; missing ones are unrelated.
    pub pairs: BTreeMap<(usize, usize), Pair>,
    /// The access for all missing ones, if the work limit was reached.
    pub others: Option<Pair>,
}

/// The elements read for an element of the root, and the elements of the root fed by an element.
pub(super) type Pair = (Access<ValueRef>, Access<ValueRef>);

/// The limit on maps of one value; more are unknown.
pub(super) const MOST_MAPS: usize = 256;
/// The limit on operations in a map, divisions counted three times; a longer one is unknown.
pub(super) const MOST_OPERATIONS: u32 = 400;
/// The limit on variables and operations of all composed maps, each step along an operand counting as one; the rest is
/// unknown. Each graph adds [`WORK_PER_NODE`] and [`WORK_PER_LEAF`], so the time of an analysis is linear in the
/// operations.
pub(super) const WORK: u64 = 10_000;
/// The work added for each operation.
pub(super) const WORK_PER_NODE: u64 = 60;
/// The work added for each array in the results of operations.
pub(super) const WORK_PER_LEAF: u64 = 20;
/// The reason if the work limit was reached.
pub(super) const TOO_MUCH: &str = "the maps have too many operations together";

impl Flow {
    /// The map from an index of a root leaf to the elements read of a parameter leaf; `None` if either does not exist.
    /// Root leaves are counted over all roots.
    pub fn reads(&self, parameter: usize, leaf: usize, root: usize) -> Option<&Access<ValueRef>> {
        self.pair(parameter, leaf, root).map(|pair| &pair.0)
    }

    /// The map from an index of a parameter leaf to the elements of a root leaf that it feeds; `None` if either does
    /// not exist.
    pub fn feeds(&self, parameter: usize, leaf: usize, root: usize) -> Option<&Access<ValueRef>> {
        self.pair(parameter, leaf, root).map(|pair| &pair.1)
    }

    fn pair(&self, parameter: usize, leaf: usize, root: usize) -> Option<&Pair> {
        let row = self.rows.get(root).filter(|_| self.parameters.get(parameter).is_some_and(|n| leaf < *n))?;
        Some(row.pairs.get(&(parameter, leaf)).or(row.others.as_ref()).unwrap_or(&self.none))
    }

    /// The related parameter leaves of a root leaf, ascending; few even in a tuple of many arrays.
    pub fn related(&self, root: usize) -> impl Iterator<Item = (usize, usize)> {
        self.rows.get(root).into_iter().flat_map(|row| row.pairs.keys().copied())
    }

    /// The access to all other parameters of a root leaf, if the work limit was reached.
    pub fn others(&self, root: usize) -> Option<&Access<ValueRef>> {
        self.rows.get(root)?.others.as_ref().map(|pair| &pair.0)
    }

    /// The number of leaves of the roots.
    pub fn roots(&self) -> usize {
        self.rows.len()
    }

    /// Whether a root leaf is a parameter leaf unchanged.
    pub fn passes_on(&self, root: usize) -> bool {
        self.passed.get(root).is_some_and(Option::is_some)
    }

    /// The number of leaves of each parameter.
    pub fn parameters(&self) -> &[usize] {
        &self.parameters
    }
}

/// Flows by graph number.
pub(super) type FlowTable = BTreeMap<usize, Flow>;

impl fmt::Display for ValueRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for call in &self.calls {
            write!(f, "{call}/")?;
        }
        write!(f, "{}#{}", self.node, self.leaf)
    }
}
