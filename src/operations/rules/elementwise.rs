//! Operations on elements at the same index.

use super::arrays::{Arrays, Verdict, dimension};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::sizes::Size;

/// - `elementwise_c1`: there is a result.
/// - `elementwise_c2`: operands that are not scalars have the same sizes.
/// - `elementwise_c3`: results have these sizes; where all operands are scalars, those of the first result.
pub fn elementwise(arrays: &Arrays) -> Verdict {
    if arrays.results_count() == 0 {
        return Err(Refusal::new("elementwise_c1", Subject::Results, "must be at least 1 array, found none"));
    }
    pointwise(["elementwise_c2", "elementwise_c3"], arrays)
}

/// - `select_c1`: there are three operands and one result.
/// - `select_c2`: operands that are not scalars have the same sizes.
/// - `select_c3`: the result has these sizes.
pub fn select(arrays: &Arrays) -> Verdict {
    arrays.count("select_c1", 3, 1)?;
    pointwise(["select_c2", "select_c3"], arrays)
}

fn pointwise([operands, results]: [&'static str; 2], arrays: &Arrays) -> Verdict {
    let mut full = (0..arrays.ins.len()).filter(|k| arrays.ins[*k].rank() != 0);
    let Some(first) = full.next() else {
        return arrays.results(results, arrays.out(0).map_or(&[], |sizes| &sizes.0));
    };
    let mut expected = arrays.ins[first].0.clone();
    for k in full {
        arrays.operand(operands, k, &expected)?;
        // With wanted results, a size that one operand does not know is unknown; with given results, known sizes are
        // compared.
        let joined = |a: Size, b: Size| if arrays.is_wanted() { a.and(b) } else { a.or(b) };
        expected.iter_mut().zip(&arrays.ins[k].0).for_each(|(size, found)| *size = joined(*size, *found));
    }
    arrays.results(results, &expected)
}

/// - `iota_c1`: there is no operand and one result.
/// - `iota_c2`: the dimension is one of the result.
pub fn iota(dim: usize, arrays: &Arrays) -> Verdict {
    arrays.count("iota_c1", 0, 1)?;
    arrays.out(0).map_or(Ok(()), |out| dimension("iota_c2", "dim", dim, out.rank()))
}

/// - `constant_c1`: there is no operand.
pub fn constant(arrays: &Arrays) -> Verdict {
    arrays.operands("constant_c1", 0)
}

/// - `parameter_c1`: there is no operand.
pub fn parameter(arrays: &Arrays) -> Verdict {
    arrays.operands("parameter_c1", 0)
}
