//! Scans, and reshapes to sizes given by operands.

use super::arrays::{Arrays, Verdict, dimension, elements};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::sizes::Size;

/// - `scan_c1`: there is an input, and a result for each carry.
/// - `scan_c2`: the dimension is one of each input's, and of each result that has slices.
/// - `scan_c3`: it has one size in all of them.
/// - `scan_c4`: the last results have the sizes of the carries.
pub fn scan(dim: usize, inputs: usize, arrays: &Arrays) -> Verdict {
    let carries = arrays.ins.len().checked_sub(inputs);
    let (Some(carries), true) = (carries, inputs > 0) else {
        let must = format!("must have 1 to {} inputs, found {inputs}", arrays.ins.len());
        return Err(Refusal::new("scan_c1", Subject::Whole, must));
    };
    let Some(outputs) = arrays.results_count().checked_sub(carries) else {
        let must = format!("must be at least {carries} arrays, one for each carry, found {}", arrays.results_count());
        return Err(Refusal::new("scan_c1", Subject::Results, must));
    };
    dimension("scan_c2", "dim", dim, arrays.ins[0].rank())?;
    let along = arrays.ins[0].0[dim];
    let each = (1..inputs).map(|k| (Subject::Operand(k), &arrays.ins[k]));
    for (subject, sizes) in each.chain((0..outputs).filter_map(|k| Some((Subject::Result(k), arrays.out(k)?)))) {
        let Some(found) = sizes.0.get(dim) else {
            let must = format!("must have more than {dim} dimensions, found {}", sizes.rank());
            return Err(Refusal::new("scan_c2", subject, must));
        };
        if let (Some(n), Some(found), false) = (along, *found, *found == along) {
            let must = format!("must have the size {n} in dimension {dim}, found {found}");
            return Err(Refusal::new("scan_c3", subject, must));
        }
    }
    (0..carries).try_for_each(|k| arrays.result("scan_c4", outputs + k, &arrays.ins[inputs + k].0))
}

/// - `dynamic_reshape_c1`: there are the data and a scalar for each dimension of the one result.
/// - `dynamic_reshape_c2`: the result has as many elements as the data, counted by the bounds.
pub fn dynamic_reshape(arrays: &Arrays) -> Verdict {
    let Some(out) = arrays.out(0) else { return Ok(()) };
    let rank = out.rank();
    arrays.count("dynamic_reshape_c1", rank + 1, 1)?;
    (1..=rank).try_for_each(|k| arrays.operand("dynamic_reshape_c1", k, &[] as &[Size]))?;
    let rule = "dynamic_reshape_c2";
    let from = elements(rule, Subject::Operand(0), &arrays.ins[0])?;
    let to = elements(rule, Subject::Result(0), out)?;
    match (from, to) {
        (Some(from), Some(to)) if from != to => {
            Err(Refusal::new(rule, Subject::Result(0), format!("must have {from} elements, found {to}")))
        }
        _ => Ok(()),
    }
}
