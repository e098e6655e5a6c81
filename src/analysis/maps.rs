//! What one operation reads and feeds, as indexing maps.

use super::access::Access;
use super::equations::Application;
use super::relation::Direction;
use crate::operations::operation::Operation;
use crate::operations::shape::{Shape, count};
use crate::text::Error;
use std::collections::BTreeMap;

/// What an operation reads and feeds, for every pair of leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maps {
    /// The numbers of leaves of the operands and of the results.
    leaves: [usize; 2],
    /// By operand and result; pairs of which an operation that only passes arrays on relates nothing are left out.
    pairs: BTreeMap<(usize, usize), (Access, Access)>,
    none: (Access, Access),
}

impl Maps {
    /// From an index of a result to the elements of an operand that are read for it. Both are leaf numbers; `None`
    /// where there is no such leaf.
    pub fn reads(&self, operand: usize, result: usize) -> Option<&Access> {
        self.pair(operand, result).map(|pair| &pair.0)
    }

    /// From an index of an operand to the elements of a result that are made of it. Both are leaf numbers; `None` where
    /// there is no such leaf.
    pub fn feeds(&self, operand: usize, result: usize) -> Option<&Access> {
        self.pair(operand, result).map(|pair| &pair.1)
    }

    fn pair(&self, operand: usize, result: usize) -> Option<&(Access, Access)> {
        let there = operand < self.leaves[0] && result < self.leaves[1];
        there.then(|| self.pairs.get(&(operand, result)).unwrap_or(&self.none))
    }
}

/// Which elements of its operands an operation reads, and which elements of its results they feed.
///
/// # Errors
/// Operands and results that the operation cannot have, and sizes whose arithmetic 64 bits do not hold.
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
