//! Tuples, by the arrays in them from left to right.

use super::arrays::{Arrays, Checked, plural};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::shape::{Shape, leaves};
use std::ops::Range;

/// - `tuple_c1`: the results have as many arrays as the operands.
/// - `tuple_c2`: they have the same sizes, in their order.
pub fn tuple(arrays: &Arrays) -> Checked {
    passed(["tuple_c1", "tuple_c2"], 0..arrays.ins.len(), arrays)
}

/// - `get_tuple_element_c1`: there is one operand, a tuple.
/// - `get_tuple_element_c2`: `index` is below the number of its parts.
/// - `get_tuple_element_c3`: the result has as many arrays as the part.
/// - `get_tuple_element_c4`: they have the same sizes, in their order.
pub fn get_tuple_element(index: usize, operands: &[&Shape], arrays: &Arrays) -> Checked {
    let range = part(index, operands)?;
    passed(["get_tuple_element_c3", "get_tuple_element_c4"], range, arrays)
}

/// The arrays of a part among those of the operand: part 1 of `(f32[2], (s32[], f32[3]))` are those from 1 to before 3.
pub(crate) fn part(index: usize, operands: &[&Shape]) -> Result<Range<usize>, Refusal> {
    let [Shape::Tuple(parts)] = operands else {
        let must = "must have one operand, a tuple, found others";
        return Err(Refusal::new("get_tuple_element_c1", Subject::Whole, must));
    };
    let Some(part) = parts.get(index) else {
        let must = format!("must be below the number of parts, {}, found {index}", parts.len());
        return Err(Refusal::field("get_tuple_element_c2", "index", must));
    };
    let first = parts[..index].iter().map(|part| leaves(part).len()).sum();
    Ok(first..first + leaves(part).len())
}

fn passed([count, sizes]: [&'static str; 2], from: Range<usize>, arrays: &Arrays) -> Checked {
    let found = arrays.outs.len();
    if found != from.len() {
        let must = format!("must be {}, found {found}", plural(from.len(), "array"));
        return Err(Refusal::new(count, Subject::Results, must));
    }
    from.enumerate().try_for_each(|(k, from)| arrays.result(sizes, k, &arrays.ins[from].0))
}
