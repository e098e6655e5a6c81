//! Products with scales, and products with groups.

use super::arrays::{Arrays, Verdict, dimension};
use super::dot::{Dot, sides};
use crate::operations::operation::{Contraction, Ragged, RaggedDot};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::sizes::{Size, Sizes};

/// The rules of a product for its operands, and:
///
/// - `scaled_dot_c1`: there are four operands and one result.
/// - `scaled_dot_c2`: scales have the rank of their operand, and each of its sizes is a multiple of theirs.
/// - `scaled_dot_c3`: the result has the sizes of the product.
pub fn scaled_dot(dims: &Contraction, arrays: &Arrays) -> Verdict {
    arrays.count("scaled_dot_c1", 4, 1)?;
    let (lhs, rhs) = (&arrays.ins[0], &arrays.ins[1]);
    sides(&Dot::of(dims), lhs, rhs)?;
    for (side, data) in [lhs, rhs].into_iter().enumerate() {
        let scale = &arrays.ins[2 + side];
        let multiple = |(n, of): (&Size, &Size)| match (n, of) {
            (Some(n), Some(of)) => n == of || *of > 0 && n % of == 0,
            _ => true,
        };
        if scale.rank() != data.rank() || !data.0.iter().zip(&scale.0).all(multiple) {
            let must = format!("must have sizes that divide those of operand {side}, {data}, found {scale}");
            return Err(Refusal::new("scaled_dot_c2", Subject::Operand(2 + side), must));
        }
    }
    arrays.result("scaled_dot_c3", 0, &result(dims, lhs, rhs, None))
}

/// The rules of a product for its operands, and:
///
/// - `ragged_dot_c1`: there are three operands and one result.
/// - `ragged_dot_c2`: `ragged` is a dimension of the left operand.
/// - `ragged_dot_c3`: if it is a dimension of the result, `group` is a dimension of the right operand, neither a batch
///   nor a contracting one; else there is no `group`.
/// - `ragged_dot_c4`: the group sizes have one dimension, which counts the groups, or before it the dimensions of
///   [`RaggedDot::prefix`], too.
/// - `ragged_dot_c5`: the result has the sizes of the product, without the right operand's `group`; if `ragged` is a
///   contracting dimension, the first dimension counts the groups.
pub fn ragged_dot(dot: &RaggedDot, arrays: &Arrays) -> Verdict {
    arrays.count("ragged_dot_c1", 3, 1)?;
    let (lhs, rhs, groups) = (&arrays.ins[0], &arrays.ins[1], &arrays.ins[2]);
    sides(&Dot::of(&dot.dims), lhs, rhs)?;
    dimension("ragged_dot_c2", "ragged", dot.ragged, lhs.rank())?;
    let count = match (dot.kind(), dot.group) {
        (Ragged::Free, Some(group)) => {
            dimension("ragged_dot_c3", "group", group, rhs.rank())?;
            if !dot.dims.rhs_free(rhs.rank()).contains(&group) {
                let must = format!("must be no batch and no contracting dimension, found {group}");
                return Err(Refusal::field("ragged_dot_c3", "group", must));
            }
            rhs.0[group]
        }
        (Ragged::Free, None) => {
            return Err(Refusal::field("ragged_dot_c3", "group", "must be one dimension, found none"));
        }
        (_, Some(group)) => {
            let must = format!("must be no dimension where no dimension of the result has groups, found {group}");
            return Err(Refusal::field("ragged_dot_c3", "group", must));
        }
        (_, None) => groups.0.last().copied().flatten(),
    };
    let mut expected = if groups.rank() == 1 { Vec::new() } else { lhs.at(&dot.prefix(lhs.rank())) };
    expected.push(count);
    arrays.operand("ragged_dot_c4", 2, &expected)?;
    let mut expected = result(&dot.dims, lhs, rhs, dot.group);
    if dot.kind() == Ragged::Contracting {
        expected.insert(0, count);
    }
    arrays.result("ragged_dot_c5", 0, &expected)
}

/// The sizes of a product, without dimension `but` of the right operand.
fn result(dims: &Contraction, lhs: &Sizes, rhs: &Sizes, but: Option<usize>) -> Vec<Size> {
    let right = dims.rhs_free(rhs.rank()).into_iter().filter(|dim| Some(*dim) != but).collect::<Vec<_>>();
    [lhs.at(&dims.lhs_batch), lhs.at(&dims.lhs_free(lhs.rank())), rhs.at(&right)].concat()
}
