//! What is known of nodes beside their graphs.

use crate::tiled::layout::Layout;
use std::collections::{BTreeMap, BTreeSet};

/// Facts about the nodes of graphs, which are named by the number of the graph and their number in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// How often the bodies of loops run, where it is known.
    pub trips: BTreeMap<(usize, usize), i64>,
    /// Operations that only put their operand into another layout.
    pub copies: BTreeSet<(usize, usize)>,
    /// Operations that run as often as the program says: their results are others each time, or somebody sees that they run.
    pub once: BTreeSet<(usize, usize)>,
    /// The layouts that the program wants its arguments in, by number and which of its arrays, where it says them apart
    /// from the nodes.
    pub arguments: BTreeMap<(usize, usize), Layout>,
    /// The same for the arrays of its result.
    pub results: BTreeMap<usize, Layout>,
    /// For arrays of the result that take the place of an argument, its number and which of its arrays: what a step of
    /// training makes of its weights, for the next step.
    pub carried: BTreeMap<usize, (usize, usize)>,
    /// The layouts that nodes keep.
    pub contracts: BTreeMap<(usize, usize), LayoutContract>,
}

/// The layouts in which a node takes and makes arrays, whatever is chosen around it: those that another program has
/// agreed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutContract {
    /// By array of the operands; `None`, as for those behind the end of the list, where any will do.
    pub operands: Vec<Option<Layout>>,
    /// Whether all arrays of the results have the layouts that the node gives them.
    pub results: bool,
    /// Arrays of the results that lie in the places of arrays of the operands: the two have one layout.
    pub aliases: Vec<(usize, usize)>,
}
