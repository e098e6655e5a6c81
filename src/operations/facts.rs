//! Facts about nodes that are not in their graphs.

use crate::tiled::layout::Layout;
use std::collections::{BTreeMap, BTreeSet};

/// The trip count of a loop of which none is known. Of 60 programs that XLA compiled for TPU and CPU, 22 loops have known
/// trip counts, 5 to 40, half of them at most 20: 16 is the nearest power of two.
pub const UNKNOWN_TRIPS: i64 = 16;

/// Facts about the nodes of graphs; a node is the number of its graph and its number there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The trip counts of loops, if known.
    pub trips: BTreeMap<(usize, usize), i64>,
    /// Operations that only change the layout of their operand.
    pub copies: BTreeSet<(usize, usize)>,
    /// Operations that must run as often as the program says: results differ each time, or the run is observable.
    pub once: BTreeSet<(usize, usize)>,
    /// For nodes whose results their operands say: nodes of one number compute the same of the same operands.
    pub computed: BTreeMap<(usize, usize), usize>,
    /// Calls that compute again what may have been computed before, on purpose.
    pub behind_barriers: BTreeSet<(usize, usize)>,
    /// Conversions to floats of fewer bits: a product that only one of them takes is made in its type.
    pub casts: BTreeSet<(usize, usize)>,
    /// The layouts that the program requires for its arguments, by number and array, if given apart from the nodes.
    pub arguments: BTreeMap<(usize, usize), Layout>,
    /// The layouts that the program requires for the arrays of its result.
    pub results: BTreeMap<usize, Layout>,
    /// Arrays of the result that replace an argument, as its number and array: the weights after a training step, for
    /// the next step.
    pub carried: BTreeMap<usize, (usize, usize)>,
    /// The fixed layouts of nodes.
    pub fixed_layouts: BTreeMap<(usize, usize), FixedLayouts>,
}

/// The fixed layouts of a node's operands and results, independent of its neighbours: an agreement with another
/// program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedLayouts {
    /// The layout of each array of the operands; any layout where it is `None` or beyond the list.
    pub operands: Vec<Option<Layout>>,
    /// Whether all arrays of the results have the layouts of the node.
    pub results: bool,
    /// Arrays of the results that alias arrays of the operands: the two have one layout.
    pub aliases: Vec<(usize, usize)>,
}
