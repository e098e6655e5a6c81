//! What one operation reads and feeds, as indexing maps.

use super::access::Access;
use super::equations::Application;
use super::relation::Direction;
use crate::operations::operation::Operation;
use crate::operations::shape::Shape;
use crate::text::Error;

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
    let applied = Application::new(operation, operands, results)?;
    let pair = |operand, result| {
        Ok((applied.access(operand, result, Direction::Reads)?, applied.access(operand, result, Direction::Feeds)?))
    };
    let row = |operand| (0..applied.results.len()).map(|result| pair(operand, result)).collect::<Result<_, Error>>();
    Ok(Maps { pairs: (0..applied.operands.len()).map(row).collect::<Result<_, Error>>()? })
}
