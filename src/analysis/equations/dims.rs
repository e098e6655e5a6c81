//! Operations that permute, insert or reduce dimensions.

use super::sides::{Equations, Sides};
use crate::analysis::relation::reshape as same_position;
use crate::operations::rules::dot::Dot;
use crate::operations::sizes::without;

/// `out[dims[k]] = in[k]`.
pub fn broadcast(dims: &[usize], s: &Sides) -> Equations {
    let mut r = s.relation();
    dims.iter().enumerate().try_for_each(|(k, dim)| r.link(*dim, k))?;
    Ok(r.into())
}

/// `out[k] = in[permutation[k]]`.
pub fn transpose(permutation: &[usize], s: &Sides) -> Equations {
    let mut r = s.relation();
    permutation.iter().enumerate().try_for_each(|(k, dim)| r.link(k, *dim))?;
    Ok(r.into())
}

/// `out[k] + in[k] = n - 1` in the reversed dimensions.
pub fn reverse(dims: &[usize], s: &Sides) -> Equations {
    let mut r = s.relation();
    for (k, n) in s.input().iter().enumerate() {
        match dims.contains(&k) {
            true => r.equation(vec![(r.out(k), 1), (r.input(k), 1)], 1 - n)?,
            false => r.link(k, k)?,
        }
    }
    Ok(r.into())
}

/// The remaining dimensions are the result's. An initial value is read for every element.
pub fn reduce(dims: &[usize], s: &Sides) -> Equations {
    let mut r = s.relation();
    if s.operand < s.ins.len() / 2 {
        let kept = without(s.input().len(), &[dims]);
        kept.iter().enumerate().try_for_each(|(k, dim)| r.link(k, *dim))?;
    }
    Ok(r.into())
}

/// Both indices have the same row-major position.
pub fn reshape(s: &Sides) -> Equations {
    let mut r = s.relation();
    let outs: Vec<_> = s.out().iter().enumerate().map(|(k, n)| (r.out(k), *n)).collect();
    let ins: Vec<_> = s.input().iter().enumerate().map(|(k, n)| (r.input(k), *n)).collect();
    same_position(&mut r, &outs, &ins)?;
    Ok(r.into())
}

/// `out[dim] = in[dim] + before`, where `before` is the sum of the sizes of earlier operands.
pub fn concatenate(dim: usize, s: &Sides) -> Equations {
    let mut r = s.relation();
    // The sum over all operands fits: it is the size of the result.
    let before = s.ins[..s.operand].iter().map(|sizes| sizes[dim]).sum();
    for k in 0..s.input().len() {
        let shift = if k == dim { before } else { 0 };
        r.equation(vec![(r.input(k), 1), (r.out(k), -1)], shift)?;
    }
    Ok(r.into())
}

/// Result dimensions: batch, then the free dimensions of the left operand, then of the right.
pub fn dot(dot: &Dot, s: &Sides) -> Equations {
    let mut r = s.relation();
    let (batch, contracting) = match s.operand {
        0 => (dot.lhs_batch, dot.lhs_contracting),
        _ => (dot.rhs_batch, dot.rhs_contracting),
    };
    let free = without(s.input().len(), &[batch, contracting]);
    let first = if s.operand == 0 { batch.len() } else { s.out().len() - free.len() };
    batch.iter().enumerate().try_for_each(|(k, dim)| r.link(k, *dim))?;
    free.iter().enumerate().try_for_each(|(k, dim)| r.link(first + k, *dim))?;
    Ok(r.into())
}
