//! Tuples, as the arrays in them from left to right.

use super::arrays::{Arrays, Verdict};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::shape::{Shape, count, leaves};
use crate::operations::sizes::Sizes;
use crate::text::counted;

/// - `tuple_c1`: the results have as many arrays as the operands.
/// - `tuple_c2`: they have the same sizes, in their order.
pub fn tuple(arrays: &Arrays) -> Verdict {
    passed(["tuple_c1", "tuple_c2"], arrays)
}

/// - `get_tuple_element_c1`: there is one operand, a tuple.
/// - `get_tuple_element_c2`: `index` is below the number of its elements.
/// - `get_tuple_element_c3`: the result has as many arrays as the element.
/// - `get_tuple_element_c4`: they have the same sizes, in their order.
pub fn get_tuple_element(index: usize, operands: &[&Shape], results: Vec<Sizes>) -> Verdict {
    let part = parts(index, operands)?;
    let arrays = Arrays::new(leaves(&part[index]).into_iter().map(Sizes::of).collect(), results);
    passed(["get_tuple_element_c3", "get_tuple_element_c4"], &arrays)
}

/// The elements of the operand, a tuple that has this index.
fn parts<'a>(index: usize, operands: &[&'a Shape]) -> Result<&'a [Shape], Refusal> {
    let [Shape::Tuple(parts)] = operands else {
        let must = "must have one operand, a tuple, found others";
        return Err(Refusal::new("get_tuple_element_c1", Subject::Whole, must));
    };
    if index < parts.len() {
        return Ok(parts);
    }
    let must = format!("must be below the number of parts, {}, found {index}", parts.len());
    Err(Refusal::field("get_tuple_element_c2", "index", must))
}

/// The number of arrays before an element of a tuple: one before element 1 of `(f32[2], (s32[], f32[3]))`.
pub(crate) fn before(index: usize, operands: &[&Shape]) -> Result<usize, Refusal> {
    Ok(parts(index, operands)?[..index].iter().map(count).sum())
}

/// Checks that the results have the sizes of the operands.
fn passed([count, sizes]: [&'static str; 2], arrays: &Arrays) -> Verdict {
    let (expected, found) = (arrays.ins.len(), arrays.results_count());
    if found != expected {
        let must = format!("must be {}, found {found}", counted(expected, "array"));
        return Err(Refusal::new(count, Subject::Results, must));
    }
    (0..found).try_for_each(|k| arrays.result(sizes, k, &arrays.ins[k].0))
}
