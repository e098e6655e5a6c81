//! What operations and relayouts cost.

use super::target::Target;
use crate::operations::operation::Operation;
use crate::operations::shape::Array;
use crate::text::Error;
use crate::tiled::{Expansion, Layout};

/// What a kernel costs, in the target's unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Starting the kernel and its windows.
    pub start: i64,
    /// Reading each operand.
    pub reads: Vec<i64>,
    /// Writing each result.
    pub writes: Vec<i64>,
    /// Computing, as far as it takes longer than moving.
    pub compute: i64,
}

impl Price {
    /// All together.
    ///
    /// # Errors
    /// The sum does not fit in 64 bits.
    pub fn total(&self) -> Result<i64, Error> {
        let parts = self.reads.iter().chain(&self.writes).chain([&self.compute]);
        parts.copied().try_fold(self.start, i64::checked_add).ok_or_else(too_much)
    }
}

impl Target {
    /// What an operation costs as a kernel of its own, given the arrays of its operands and results with their layouts.
    /// What moves nothing costs nothing, nor do calls, whose computations are counted where they are.
    ///
    /// # Errors
    /// A layout has no meaning, or the cost does not fit in 64 bits.
    pub fn operation_cost(&self, operation: &Operation, operands: &[&Array], results: &[&Array]) -> Result<i64, Error> {
        self.operation_price(operation, operands, results)?.total()
    }

    /// [`Target::operation_cost`] in parts.
    ///
    /// # Errors
    /// Those of [`Target::operation_cost`].
    pub fn operation_price(
        &self,
        operation: &Operation,
        operands: &[&Array],
        results: &[&Array],
    ) -> Result<Price, Error> {
        let free = matches!(
            operation,
            Operation::Bitcast
                | Operation::Parameter { .. }
                | Operation::Constant
                | Operation::Tuple
                | Operation::GetTupleElement { .. }
                | Operation::Leaves { .. }
                | Operation::Call { .. }
                | Operation::While { .. }
                | Operation::Conditional { .. }
        );
        if free {
            return Ok(Price::default());
        }
        let moved = |arrays: &[&Array]| arrays.iter().map(|array| self.moved(array)).collect::<Result<_, _>>();
        let start = self.machine().model.costs.kernel.millionths / 1_000_000;
        Ok(Price { start, reads: moved(operands)?, writes: moved(results)?, compute: 0 })
    }

    /// What it costs to bring an array from one layout into another; 0 where both are the same.
    ///
    /// # Errors
    /// Those of [`Target::operation_cost`].
    pub fn relayout_cost(&self, array: &Array, from: &Layout, to: &Layout) -> Result<i64, Error> {
        if from == to {
            return Ok(0);
        }
        let [from, to] = [from, to].map(|layout| Array { layout: layout.clone(), ..array.clone() });
        self.operation_cost(&Operation::Elementwise, &[&from], &[&to])
    }

    /// What it costs to read or write an array once.
    fn moved(&self, array: &Array) -> Result<i64, Error> {
        let Some(sizes) = array.sizes().filter(|_| array.element.is_data()) else { return Ok(0) };
        let bytes = Expansion::new(&sizes, &array.layout)?.padded_bytes(array.element)?;
        let space = array.layout.memory_space;
        let Some(memory) = self.machine().memories.iter().find(|memory| memory.space == space) else {
            return Ok(bytes);
        };
        match memory.rate {
            Some(rate) => {
                let cost = i128::from(bytes) * 1_000_000 / i128::from(rate.millionths);
                i64::try_from(cost).map_err(|_| too_much())
            }
            None if self.machine().model.unit.is_empty() => Ok(bytes),
            None => Ok(0),
        }
    }
}

fn too_much() -> Error {
    Error::new("the cost does not fit in 64 bits")
}
