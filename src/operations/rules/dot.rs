//! Products with contracting dimensions.

use super::arrays::{Arrays, Verdict, disjoint, distinct, entries};
use crate::operations::operation::Contraction;
use crate::operations::refusal::Refusal;
use crate::operations::sizes::{Sizes, fits};

/// The fields of [`Operation::Dot`](crate::operations::operation::Operation::Dot).
pub struct Dot<'a> {
    pub lhs_batch: &'a [usize],
    pub rhs_batch: &'a [usize],
    pub lhs_contracting: &'a [usize],
    pub rhs_contracting: &'a [usize],
}

impl<'a> Dot<'a> {
    /// The fields of another product.
    pub fn of(dims: &'a Contraction) -> Dot<'a> {
        let Contraction { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } = dims;
        Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting }
    }
}

/// - `dot_c1`: there are two operands and one result.
/// - `dot_c2`: the entries of each list are different dimensions of its operand.
/// - `dot_c3`: no dimension is a batch dimension and a contracting dimension.
/// - `dot_c4`: both operands have the same number of batch dimensions, and of contracting ones.
/// - `dot_c5`: they have the same sizes in both operands, in the order of the lists.
/// - `dot_c6`: the result has the batch dimensions, then the left operand's free dimensions, then the right one's:
///   `[9, 2, 3]` times `[9, 3, 5]` with batch `[0]`, `[0]` and contracting `[2]`, `[1]` is
///   `[9, 2, 5]`.
pub fn dot(dot: &Dot, arrays: &Arrays) -> Verdict {
    arrays.count("dot_c1", 2, 1)?;
    let (lhs, rhs) = (&arrays.ins[0], &arrays.ins[1]);
    sides(dot, lhs, rhs)?;
    let mut expected = lhs.at(dot.lhs_batch);
    expected.extend(lhs.without(&[dot.lhs_batch, dot.lhs_contracting].concat()));
    expected.extend(rhs.without(&[dot.rhs_batch, dot.rhs_contracting].concat()));
    arrays.result("dot_c6", 0, &expected)
}

/// Checks that the operands fit each other.
pub fn sides(dot: &Dot, lhs: &Sizes, rhs: &Sizes) -> Verdict {
    distinct("dot_c2", "lhs_batch", dot.lhs_batch, lhs.rank())?;
    distinct("dot_c2", "rhs_batch", dot.rhs_batch, rhs.rank())?;
    distinct("dot_c2", "lhs_contracting", dot.lhs_contracting, lhs.rank())?;
    distinct("dot_c2", "rhs_contracting", dot.rhs_contracting, rhs.rank())?;
    disjoint("dot_c3", "lhs_contracting", dot.lhs_contracting, dot.lhs_batch, "batch")?;
    disjoint("dot_c3", "rhs_contracting", dot.rhs_contracting, dot.rhs_batch, "batch")?;
    paired(
        "rhs_batch",
        (lhs, dot.lhs_batch),
        (rhs, dot.rhs_batch),
        "one for each batch dimension of the left operand",
    )?;
    let of = "one for each contracting dimension of the left operand";
    paired("rhs_contracting", (lhs, dot.lhs_contracting), (rhs, dot.rhs_contracting), of)
}

fn paired(name: &'static str, left: (&Sizes, &[usize]), right: (&Sizes, &[usize]), of: &str) -> Verdict {
    entries("dot_c4", name, right.1.len(), left.1.len(), of)?;
    for (k, (l, r)) in left.1.iter().zip(right.1).enumerate() {
        let (expected, found) = (left.0.0[*l], right.0.0[*r]);
        if let (false, Some(expected), Some(found)) = (fits(expected, found), expected, found) {
            let must =
                format!("must be a dimension of {expected} elements, as dimension {l} on the left, found {found}");
            return Err(Refusal::entry("dot_c5", name, k, must));
        }
    }
    Ok(())
}
