//! The layouts that operations want of their operands and results.

use super::target::Target;
use crate::operations::operation::Operation;
use crate::operations::shape::Array;
use crate::text::Error;
use crate::tiled::Layout;

/// One way to lay out the operands and results of an operation. `None` where every layout is as good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// The layout of each operand.
    pub operands: Vec<Option<Layout>>,
    /// The layout of each result.
    pub results: Vec<Option<Layout>>,
}

impl Target {
    /// The ways to lay out the operands and results of an operation that may be the cheapest, to be tried by a planner.
    /// None where every layout is as good as it is small, as for elementwise operations.
    ///
    /// # Errors
    /// Those of [`Target::layout`].
    pub fn wants(&self, operation: &Operation, operands: &[&Array], results: &[&Array]) -> Result<Vec<Want>, Error> {
        let row_major = |arrays: &[&Array]| -> Result<Vec<Option<Layout>>, Error> {
            let layout = |array: &&Array| match array.sizes() {
                Some(sizes) if array.element.is_data() => {
                    let order: Vec<usize> = (0..sizes.len()).rev().collect();
                    self.layout(array.element, &sizes, &order).map(Some)
                }
                _ => Ok(None),
            };
            arrays.iter().map(layout).collect()
        };
        match operation {
            Operation::Dot { .. } | Operation::Convolution(_) | Operation::Gather(_) | Operation::Scatter(_) => {
                Ok(vec![Want { operands: row_major(operands)?, results: row_major(results)? }])
            }
            _ => Ok(Vec::new()),
        }
    }
}
