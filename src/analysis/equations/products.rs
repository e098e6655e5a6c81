//! Products with scales, and products with groups.

use super::sides::{Equations, Related, Sides};
use crate::operations::operation::{Contraction, Ragged, RaggedDot};

/// A scale is read with each element of its block; data elements are read as in a plain product.
pub fn scaled_dot(dims: &Contraction, s: &Sides) -> Equations {
    let mut r = s.relation();
    let side = s.operand % 2;
    let (data, scale) = (&s.ins[side], s.input());
    for (out, input) in kept(dims, side, data.len(), s.out().len()) {
        let block = data[input] / scale[input].max(1);
        let place = r.unknown(0, if s.operand < 2 { 0 } else { block - 1 });
        let factor = if s.operand < 2 { 1 } else { block };
        r.equation(vec![(r.input(input), factor), (place, 1), (r.out(out), -1)], 0)?;
    }
    Ok(r.into())
}

/// An element may belong to any group, as the sizes of the groups decide.
pub fn ragged_dot(dot: &RaggedDot, s: &Sides) -> Equations {
    let mut r = s.relation();
    let dims = &dot.dims;
    let groups = usize::from(dot.kind() == Ragged::Contracting);
    let rank = s.ins[0].len();
    if s.operand < 2 {
        let free = match s.operand {
            0 => dims.lhs_free(rank),
            _ => dot.rhs_free(s.input().len()),
        };
        let (batch, first) = match s.operand {
            0 => (&dims.lhs_batch, groups + dims.lhs_batch.len()),
            _ => (&dims.rhs_batch, s.out().len() - free.len()),
        };
        batch.iter().enumerate().try_for_each(|(k, dim)| r.link(groups + k, *dim))?;
        free.iter().enumerate().try_for_each(|(k, dim)| r.link(first + k, *dim))?;
        return Ok(r.into());
    }
    if dot.kind() == Ragged::Batch {
        return Ok(Related::By(Vec::new()));
    }
    // The sizes of the groups up to one give its start; they may differ for each index before it.
    let free = dims.lhs_free(rank);
    let place = |dim: &usize| {
        let own = |list: &[usize]| list.iter().position(|d| d == dim);
        own(&dims.lhs_batch).or_else(|| own(&free).map(|k| dims.lhs_batch.len() + k))
    };
    if s.input().len() > 1 {
        for (k, dim) in dot.prefix(rank).iter().enumerate() {
            if let Some(out) = place(dim) {
                r.link(groups + out, k)?;
            }
        }
    }
    if groups == 1 {
        let last = r.input(s.input().len() - 1);
        r.within(vec![(r.out(0), 1), (last, -1)], 0, s.out()[0])?;
    }
    Ok(r.into())
}

/// Pairs of a dimension of a product's result and the dimension of one operand it comes from.
fn kept(dims: &Contraction, side: usize, rank: usize, results: usize) -> Vec<(usize, usize)> {
    let (batch, free) = match side {
        0 => (&dims.lhs_batch, dims.lhs_free(rank)),
        _ => (&dims.rhs_batch, dims.rhs_free(rank)),
    };
    let first = if side == 0 { batch.len() } else { results - free.len() };
    let free = free.into_iter().enumerate().map(|(k, dim)| (first + k, dim));
    batch.iter().copied().enumerate().chain(free).collect()
}
