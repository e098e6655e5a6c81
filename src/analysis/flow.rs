//! What a computation reads and feeds: operations composed along a graph.
//!
//! In `y = p + transpose(p)` the root reads `p` at `(d0, d1)` and at `(d1, d0)`. From the root down, every value gets
//! the set of maps by which the root reaches it; an operation's maps take the set of its result to those of its
//! operands. Nodes come after those that they use, so each is visited once, whatever the number of paths to it; equal
//! maps are kept once, so forty diamonds in a chain still give one map.
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
//! The flow of a computation is computed once, however often it is called. A conditional reads what each of its
//! branches reads. A loop passes on what its body passes on; what the body changes is unknown, because the number of
//! rounds is.
//!
//! Limits: [`MOST_MAPS`] maps for a value, [`MOST_OPERATIONS`] in a map, and [`WORK`] in all; beyond these the access
//! is unknown, with the reason.

use super::access::Access;
use std::collections::BTreeMap;
use std::fmt;

/// A leaf of a node's results, in a graph or in one that it calls. Prints as `7#0`, and `4/7#0` in what node 4 calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The nodes that call the graph, the outermost first.
    pub calls: Vec<usize>,
    /// The graph that the node is in.
    pub graph: usize,
    /// The node.
    pub node: usize,
    /// The leaf, counted through all results of the node.
    pub leaf: usize,
}

/// What a computation reads and feeds.
#[derive(Clone, Debug)]
pub struct Flow {
    /// By leaves of the roots.
    pub(super) rows: Vec<Row>,
    /// The number of leaves of each parameter.
    pub(super) parameters: Vec<usize>,
    pub(super) none: Pair,
    /// For each leaf of the roots that is a parameter's leaf as it is, which one.
    pub(super) passed: Vec<Option<(usize, usize)>>,
}

/// What a leaf of the roots reads, and what is fed to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// By parameter and leaf; others have nothing to do with it.
    pub pairs: BTreeMap<(usize, usize), Pair>,
    /// What goes for the other ones, where the work was too much.
    pub others: Option<Pair>,
}

/// What is read for an element of the root, and what of the root is made of an element.
pub(super) type Pair = (Access<Place>, Access<Place>);

/// How many maps are kept for one value; what is beyond is unknown.
pub(super) const MOST_MAPS: usize = 256;
/// How many operations a map may have, divisions counted three times; what is beyond is unknown.
pub(super) const MOST_OPERATIONS: u32 = 400;
/// How many variables and operations all maps may have that are composed, each step along an operand counting as one; what
/// is beyond is unknown. Each graph adds [`WORK_PER_NODE`] and [`WORK_PER_LEAF`], so an analysis takes as long as there
/// are operations.
pub(super) const WORK: u64 = 10_000;
/// How many more for each operation.
pub(super) const WORK_PER_NODE: u64 = 60;
/// How many more for each array in the results of operations.
pub(super) const WORK_PER_LEAF: u64 = 20;
/// The reason where that was not enough.
pub(super) const TOO_MUCH: &str = "the maps have too many operations together";

impl Flow {
    /// From an index of a leaf of the roots to what is read of a leaf of a parameter; `None` where there is none.
    /// Leaves of the roots are counted through all roots.
    pub fn reads(&self, parameter: usize, leaf: usize, root: usize) -> Option<&Access<Place>> {
        self.pair(parameter, leaf, root).map(|pair| &pair.0)
    }

    /// From an index of a leaf of a parameter to what it feeds of a leaf of the roots; `None` where there is none.
    pub fn feeds(&self, parameter: usize, leaf: usize, root: usize) -> Option<&Access<Place>> {
        self.pair(parameter, leaf, root).map(|pair| &pair.1)
    }

    fn pair(&self, parameter: usize, leaf: usize, root: usize) -> Option<&Pair> {
        let row = self.rows.get(root).filter(|_| self.parameters.get(parameter).is_some_and(|n| leaf < *n))?;
        Some(row.pairs.get(&(parameter, leaf)).or(row.others.as_ref()).unwrap_or(&self.none))
    }

    /// The parameters and their leaves that a leaf of the roots has to do with, ascending. A tuple of many arrays has
    /// few for each.
    pub fn related(&self, root: usize) -> impl Iterator<Item = (usize, usize)> {
        self.rows.get(root).into_iter().flat_map(|row| row.pairs.keys().copied())
    }

    /// What goes for all other parameters of a leaf of the roots, where there were too many to look at.
    pub fn others(&self, root: usize) -> Option<&Access<Place>> {
        self.rows.get(root)?.others.as_ref().map(|pair| &pair.0)
    }

    /// The number of leaves of the roots.
    pub fn roots(&self) -> usize {
        self.rows.len()
    }

    /// Whether a leaf of the roots is a parameter's leaf as it is.
    pub fn passes_on(&self, root: usize) -> bool {
        self.passed.get(root).is_some_and(Option::is_some)
    }

    /// The number of leaves of each parameter.
    pub fn parameters(&self) -> &[usize] {
        &self.parameters
    }
}

/// Flows by the numbers of their graphs.
pub(super) type FlowTable = BTreeMap<usize, Flow>;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for call in &self.calls {
            write!(f, "{call}/")?;
        }
        write!(f, "{}#{}", self.node, self.leaf)
    }
}
