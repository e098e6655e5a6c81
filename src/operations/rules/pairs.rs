//! Asynchronous pairs: the tuple that the start returns at once, and the arrays that the end takes from it.
//!
//! `slice-start` of f32[8] returns `((f32[8]), f32[2], u32[])`: the operand, the slice, and an array that only the
//! device uses. `slice-done` takes array 1 of these.

use super::arrays::{Arrays, Verdict};
use crate::operations::operation::Start;
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::shape::{Array, Shape};
use crate::text::counted;

/// - `leaves_c1`: there is a number for each array of the result, or none for an array of no operand.
/// - `leaves_c2`: each number is below the number of the operands' arrays.
/// - `leaves_c3`: an array of the result has the sizes of the one with its number.
pub fn leaves(numbers: &[Option<usize>], arrays: &Arrays) -> Verdict {
    let (expected, found) = (arrays.results_count(), numbers.len());
    if expected != found {
        let must = format!("must have {}, one for each array of the result, found {found}", counted(expected, "entry"));
        return Err(Refusal::field("leaves_c1", "numbers", must));
    }
    numbers.iter().enumerate().filter_map(|(k, number)| Some((k, (*number)?))).try_for_each(|(k, number)| {
        let Some(sizes) = arrays.ins.get(number) else {
            let must = format!("must be below the number of arrays, {}, found {number}", arrays.ins.len());
            return Err(Refusal::entry("leaves_c2", "numbers", k, must));
        };
        arrays.result("leaves_c3", k, &sizes.0)
    })
}

/// - `start_c1`: the result has the arrays that the operation defines.
/// - `start_c2`: the result has the arrays that alias operands, at most one for each array of the operands.
/// - `start_c3`: each array that aliases an operand has the operand's sizes.
/// - The operation's own rules hold for the arrays that it defines.
pub fn start(start: &Start, operands: &[&Shape], to: &[&Array], arrays: &Arrays) -> Verdict {
    let (first, count) = start.results;
    let Some(made) = first.checked_add(count).and_then(|end| to.get(first..end)) else {
        let must = format!("must have arrays {first} to {}, found {}", first.saturating_add(count), to.len());
        return Err(Refusal::new("start_c1", Subject::Results, must));
    };
    if let Some((first, count)) = start.operands {
        let found = to.len().saturating_sub(first).min(arrays.ins.len());
        if found < count {
            let must = format!("must have {} that are operands, found {found}", counted(count, "array"));
            return Err(Refusal::new("start_c2", Subject::Results, must));
        }
        for (k, sizes) in arrays.ins[..count].iter().enumerate() {
            arrays.result("start_c3", first + k, &sizes.0)?;
        }
    }
    let made: Vec<Shape> = made.iter().map(|array| Shape::Array((*array).clone())).collect();
    start.operation.check(operands, &made.iter().collect::<Vec<_>>())
}

impl Start {
    /// The number, among the arrays of the operands, of the one that an array of the result aliases.
    pub fn operand(&self, array: usize) -> Option<usize> {
        let (first, count) = self.operands?;
        array.checked_sub(first).filter(|operand| *operand < count)
    }

    /// The number of an array of the result among the results of the operation.
    pub fn result(&self, array: usize) -> Option<usize> {
        let (first, count) = self.results;
        array.checked_sub(first).filter(|result| *result < count)
    }
}
