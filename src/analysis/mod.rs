//! Which elements every operation reads and feeds.
//!
//! For the element of a result at an index, [`Maps::reads`] says which elements of an operand it is made of; for the
//! element of an operand, [`Maps::feeds`] says which elements of a result it goes into. Both describe one relation, and
//! both are sets of [indexing maps](crate::maps::map), because one map does not say everything: what a padding reads of its
//! value is all that lies before, behind and between the data.
//!
//! ```
//! use tensor_layout::analysis::maps;
//! use tensor_layout::operations::Operation;
//! use tensor_layout::operations::Shape;
//!
//! let [long, short] = ["f32[256,10]", "f32[10]"].map(|text| Shape::parse(text).unwrap());
//! let init = Shape::parse("f32[]").unwrap();
//! let found = maps(&Operation::Reduce { dims: vec![0] }, &[&long, &init], &[&short]).unwrap();
//! let text = "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]";
//! assert_eq!(found.reads(0, 0).unwrap().to_string(), text);
//! let text = "(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]";
//! assert_eq!(found.feeds(0, 0).unwrap().to_string(), text);
//! ```
//!
//! Offsets that only the running program knows are run-time variables; [`RunTime`] says which element of which operand
//! holds the value. What no finite map says is unknown, with the reason; it is never an error. Errors are shapes that
//! the operation cannot have.
//!
//! Tuples are taken apart: operands and results are numbered by their *leaves*, the arrays in them from left to right.
//! A size that is a bound counts as that size.

mod bitcast;
mod count;
mod graph;
mod loops;
mod moves;
mod relation;
mod rules;
mod tile;

use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::maps::map::IndexingMap;
use crate::operations::operation::Operation;
use crate::operations::shape::Shape;
use crate::text::Error;
pub use count::{COUNTED, Count, Traffic, Usage, traffic};
pub use graph::{Flow, Flows, Place, flow};
pub use moves::{Cause, Moved, Movement, movement};
use relation::Direction;
use std::fmt;
pub use tile::{Needed, Tile};

/// What a run-time variable of a map stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTime<S = usize> {
    /// What holds the value: an operand's leaf, or a place in a graph.
    pub source: S,
    /// The element that holds it, over the variables of the map.
    pub element: Vec<Expr>,
    /// Where the variable lies.
    pub within: Interval,
    /// Whether a value outside is clamped into `within`; where not, it makes the map say nothing.
    pub clamped: bool,
}

/// An indexing map whose run-time variables have a source each, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped<S = usize> {
    /// The map, simplified.
    pub map: IndexingMap,
    /// One entry for each run-time variable of the map.
    pub run_time: Vec<RunTime<S>>,
}

/// Which elements of one tensor go with an element of another: the points of all maps together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access<S = usize> {
    /// The maps; none where nothing is related.
    pub maps: Vec<Mapped<S>>,
    /// Why there may be more than the maps say; none where they say everything.
    pub unknown: Vec<String>,
}

/// What an operation reads and feeds, for every pair of leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maps {
    /// One row for each leaf of an operand, with an entry for each leaf of a result.
    pairs: Vec<Vec<(Access, Access)>>,
}

impl Maps {
    /// From an index of a result to the elements of an operand that are read for it. Both are leaf numbers; `None`
    /// where there is no such leaf.
    pub fn reads(&self, operand: usize, result: usize) -> Option<&Access> {
        self.pairs.get(operand)?.get(result).map(|pair| &pair.0)
    }

    /// From an index of an operand to the elements of a result that are made of it. Both are leaf numbers; `None` where
    /// there is no such leaf.
    pub fn feeds(&self, operand: usize, result: usize) -> Option<&Access> {
        self.pairs.get(operand)?.get(result).map(|pair| &pair.1)
    }
}

/// Which elements of its operands an operation reads, and which elements of its results they feed.
///
/// # Errors
/// Operands and results that the operation cannot have, and sizes whose arithmetic 64 bits do not hold.
pub fn maps(operation: &Operation, operands: &[&Shape], results: &[&Shape]) -> Result<Maps, Error> {
    let site = rules::Site::new(operation, operands, results);
    site.check()?;
    let pair = |operand, result| {
        Ok((site.access(operand, result, Direction::Reads)?, site.access(operand, result, Direction::Feeds)?))
    };
    let row = |operand| (0..site.results.len()).map(|result| pair(operand, result)).collect::<Result<_, Error>>();
    Ok(Maps { pairs: (0..site.operands.len()).map(row).collect::<Result<_, Error>>()? })
}

impl<S> Access<S> {
    /// Nothing is related.
    pub fn none() -> Access<S> {
        Access { maps: Vec::new(), unknown: Vec::new() }
    }

    /// Whether the maps say everything.
    pub fn is_known(&self) -> bool {
        self.unknown.is_empty()
    }
}

/// The maps, one a line, and then why there may be more; `KNOWN EMPTY` where there is neither.
impl<S: fmt::Display> fmt::Display for Access<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.maps.is_empty() && self.unknown.is_empty() {
            return f.write_str("KNOWN EMPTY");
        }
        let mut first = true;
        let mut line = |f: &mut fmt::Formatter<'_>| if std::mem::take(&mut first) { Ok(()) } else { writeln!(f) };
        for mapped in &self.maps {
            line(f)?;
            write!(f, "{mapped}")?;
        }
        for reason in &self.unknown {
            line(f)?;
            write!(f, "UNDEFINED: {reason}")?;
        }
        Ok(())
    }
}

/// The map, and for each run-time variable where its value is: `rt0: 1[d0, 0]`.
impl<S: fmt::Display> fmt::Display for Mapped<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.map)?;
        for (k, run_time) in self.run_time.iter().enumerate() {
            let name = |v| self.map.name(v);
            let own = name(self.map.dims + self.map.ranges + k);
            write!(f, ", {own}: {}[", run_time.source)?;
            for (k, e) in run_time.element.iter().enumerate() {
                f.write_str(if k == 0 { "" } else { ", " })?;
                write!(f, "{}", crate::expr::Named(e, &name))?;
            }
            f.write_str("]")?;
        }
        Ok(())
    }
}
