//! Reductions of all inputs.

use super::arrays::{Arrays, Verdict, distinct};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::sizes::Sizes;
use crate::text::counted;

/// The sizes of the inputs of an operation with as many initial values and results.
///
/// - `inputs_c1`: there is an initial value for each input, and there are inputs.
/// - `inputs_c2`: there is a result for each input.
/// - `inputs_c3`: all inputs have the same sizes.
/// - `inputs_c4`: the initial values are scalars.
pub fn inputs(arrays: &Arrays) -> Result<&Sizes, Refusal> {
    let found = arrays.ins.len();
    if found == 0 || !found.is_multiple_of(2) {
        let must = format!("must have an initial value for each input, found {}", counted(found, "operand"));
        return Err(Refusal::new("inputs_c1", Subject::Whole, must));
    }
    let n = found / 2;
    arrays.count("inputs_c2", 2 * n, n)?;
    (1..n).try_for_each(|k| arrays.operand("inputs_c3", k, &arrays.ins[0].0))?;
    (n..2 * n).try_for_each(|k| arrays.operand("inputs_c4", k, &[]))?;
    Ok(&arrays.ins[0])
}

/// The rules of [`inputs`], and:
///
/// - `reduce_c1`: `dims` are different dimensions of the inputs.
/// - `reduce_c2`: the results have the sizes of the other dimensions: `[2, 3, 5]` with `dims = [1]` becomes `[2, 5]`.
pub fn reduce(dims: &[usize], arrays: &Arrays) -> Verdict {
    let input = inputs(arrays)?;
    distinct("reduce_c1", "dims", dims, input.rank())?;
    arrays.results("reduce_c2", &input.without(dims))
}
