//! Operations that move elements to other dimensions.

use super::arrays::{Arrays, Verdict, dimension, distinct, elements, entries};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::shape::{Array, bits};
use crate::operations::sizes::{Size, Sizes};

/// - `broadcast_c1`: there are one operand and one result.
/// - `broadcast_c2`: `dims` has an entry for each dimension of the operand.
/// - `broadcast_c3`: its entries are different dimensions of the result.
/// - `broadcast_c4`: dimension `dims[i]` of the result has the size of dimension `i` of the operand: `[3]` with
///   `dims = [1]` becomes `[2, 3]`, not `[3, 2]`.
pub fn broadcast(dims: &[usize], arrays: &Arrays) -> Verdict {
    arrays.count("broadcast_c1", 1, 1)?;
    let from = &arrays.ins[0];
    entries("broadcast_c2", "dims", dims.len(), from.rank(), "one for each dimension of the operand")?;
    let Some(to) = arrays.out(0) else { return Ok(()) };
    distinct("broadcast_c3", "dims", dims, to.rank())?;
    let mut expected = to.0.clone();
    dims.iter().zip(&from.0).for_each(|(dim, size)| expected[*dim] = *size);
    arrays.result("broadcast_c4", 0, &expected)
}

/// - `transpose_c1`: there are one operand and one result.
/// - `transpose_c2`: `permutation` has an entry for each dimension of the operand.
/// - `transpose_c3`: its entries are different dimensions of the operand.
/// - `transpose_c4`: dimension `i` of the result has the size of dimension `permutation[i]` of the operand: `[2, 3, 5]`
///   with `permutation = [2, 0, 1]` becomes `[5, 2, 3]`.
pub fn transpose(permutation: &[usize], arrays: &Arrays) -> Verdict {
    arrays.count("transpose_c1", 1, 1)?;
    let from = &arrays.ins[0];
    entries("transpose_c2", "permutation", permutation.len(), from.rank(), "one for each dimension of the operand")?;
    distinct("transpose_c3", "permutation", permutation, from.rank())?;
    arrays.result("transpose_c4", 0, &from.at(permutation))
}

/// - `reverse_c1`: there are one operand and one result.
/// - `reverse_c2`: `dims` are different dimensions of the operand.
/// - `reverse_c3`: the result has the sizes of the operand.
pub fn reverse(dims: &[usize], arrays: &Arrays) -> Verdict {
    arrays.count("reverse_c1", 1, 1)?;
    distinct("reverse_c2", "dims", dims, arrays.ins[0].rank())?;
    arrays.result("reverse_c3", 0, &arrays.ins[0].0)
}

/// - `reshape_c1`: there are one operand and one result.
/// - `reshape_c2`: both have the same number of elements, the product of the sizes: `[4, 6]` and `[3, 8]` have 24.
pub fn reshape(arrays: &Arrays) -> Verdict {
    arrays.count("reshape_c1", 1, 1)?;
    let from = elements("reshape_c2", Subject::Operand(0), &arrays.ins[0])?;
    let Some(to) = arrays.out(0) else { return Ok(()) };
    let to = elements("reshape_c2", Subject::Result(0), to)?;
    equal("reshape_c2", from, to, "elements")
}

/// - `bitcast_c1`: there are one operand and one result.
/// - `bitcast_c2`: both have the same number of bits, elements times bits per element: `f32[6]` and `f64[3]` have 192.
///   A layout with tiles may add padding, so layouts with tiles are not compared.
pub fn bitcast(arrays: &Arrays, from: &[&Array], to: &[&Array]) -> Verdict {
    arrays.count("bitcast_c1", 1, 1)?;
    let each = |array: &Array| bits(array).filter(|_| !array.layout.is_tiled());
    let Some(to) = to.first() else { return Ok(()) };
    same_bits("bitcast_c2", (from[0], each(from[0])), (to, each(to)))
}

/// Checks that two arrays, with elements of these bits, have the same number of bits.
pub fn same_bits(rule: &'static str, from: (&Array, Option<i64>), to: (&Array, Option<i64>)) -> Verdict {
    let total = |subject, (array, each): (&Array, Option<i64>)| {
        let Some((n, each)) = elements(rule, subject, &Sizes::of(array))?.zip(each) else { return Ok(None) };
        let must = "must have a number of bits that fits in 128 bits";
        n.checked_mul(each.into()).map(Some).ok_or_else(|| Refusal::new(rule, subject, must))
    };
    equal(rule, total(Subject::Operand(0), from)?, total(Subject::Result(0), to)?, "bits")
}

fn equal(rule: &'static str, from: Option<i128>, to: Option<i128>, what: &str) -> Verdict {
    match (from, to) {
        (Some(from), Some(to)) if from != to => {
            let must = format!("must have {from} {what}, as the operand, found {to}");
            Err(Refusal::new(rule, Subject::Result(0), must))
        }
        _ => Ok(()),
    }
}

/// - `concatenate_c1`: there are operands, and one result.
/// - `concatenate_c2`: `dim` is a dimension of the first operand.
/// - `concatenate_c3`: all operands have the same sizes in the other dimensions.
/// - `concatenate_c4`: the result has these, and in `dim` the sum of the sizes: `[2, 3]` and `[2, 4]` along dimension 1
///   become `[2, 7]`.
pub fn concatenate(dim: usize, arrays: &Arrays) -> Verdict {
    let Some(first) = arrays.ins.first() else {
        return Err(Refusal::new("concatenate_c1", Subject::Whole, "must have an operand, found none"));
    };
    arrays.count("concatenate_c1", arrays.ins.len(), 1)?;
    dimension("concatenate_c2", "dim", dim, first.rank())?;
    let mut expected = first.0.clone();
    let mut whole: Size = Some(0);
    for (k, found) in arrays.ins.iter().enumerate() {
        expected[dim] = found.0.get(dim).copied().flatten();
        arrays.operand("concatenate_c3", k, &expected)?;
        whole = match whole.zip(expected[dim]) {
            Some((sum, n)) => Some(sum.checked_add(n).ok_or_else(|| {
                Refusal::new("concatenate_c4", Subject::Result(0), "must have a size that fits in 64 bits")
            })?),
            None => None,
        };
    }
    expected[dim] = whole;
    arrays.result("concatenate_c4", 0, &expected)
}
