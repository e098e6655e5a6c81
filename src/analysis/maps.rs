//! The reads and feeds of one operation, as indexing maps.

use super::access::Access;
use super::equations::Application;
use super::relation::Direction;
use crate::operations::operation::Operation;
use crate::operations::shape::{Shape, count};
use crate::text::Error;
use std::collections::BTreeMap;

/// The reads and feeds of an operation, for every pair of leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maps {
    /// The numbers of leaves of the operands and of the results.
    leaves: [usize; 2],
    /// By operand and result; pairs that a pass-through operation leaves unrelated are absent.
    pairs: BTreeMap<(usize, usize), (Access, Access)>,
    none: (Access, Access),
}

impl Maps {
    /// The map from an index of a result to the elements of an operand that are read for it. Both are leaf numbers;
    /// `None` if a leaf does not exist.
    pub fn reads(&self, operand: usize, result: usize) -> Option<&Access> {
        self.pair(operand, result).map(|pair| &pair.0)
    }

    /// The map from an index of an operand to the elements of a result computed from it. Both are leaf numbers; `None`
    /// if a leaf does not exist.
    pub fn feeds(&self, operand: usize, result: usize) -> Option<&Access> {
        self.pair(operand, result).map(|pair| &pair.1)
    }

    fn pair(&self, operand: usize, result: usize) -> Option<&(Access, Access)> {
        let there = operand < self.leaves[0] && result < self.leaves[1];
        there.then(|| self.pairs.get(&(operand, result)).unwrap_or(&self.none))
    }
}

/// Derives the elements that an operation reads of its operands, and the elements of its results that they feed.
///
/// # Errors
/// Operands and results that the operation cannot have, and sizes whose arithmetic overflows 64 bits.
pub fn maps(operation: &Operation, operands: &[&Shape], results: &[&Shape]) -> Result<Maps, Error> {
    let applied = Application::new(operation, operands, results)?;
    let mut pairs = BTreeMap::new();
    for result in 0..applied.results.len() {
        let related = applied.passed(result).map_or(0..applied.operands.len(), |operand| operand..operand + 1);
        for operand in related {
            let access = |direction| applied.access(operand, result, direction);
            let pair = (access(Direction::Reads)?, access(Direction::Feeds)?);
            pairs.insert((applied.first + operand, result), pair);
        }
    }
    let operands = operands.iter().map(|shape| count(shape)).sum();
    Ok(Maps { leaves: [operands, applied.results.len()], pairs, none: (Access::none(), Access::none()) })
}
