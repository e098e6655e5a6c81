//! Blocks whose starts are in an array of indices.

use super::sides::{Equations, Sides};
use crate::analysis::relation::{Element, Relation};
use crate::operations::operation::Gather;
use crate::operations::rules::gather::update_sizes;
use crate::operations::sizes::without;
use crate::text::Error;

/// An element of a block is an element of the data at the block's start; a row of the indices is read for its block.
pub fn gather(g: &Gather, s: &Sides) -> Equations {
    let mut r = s.relation();
    let (outs, ins) = unknowns(&r, s);
    if s.operand == 0 {
        block(&mut r, g, [&ins, &outs], (s.input(), &g.slice_sizes), (1, s.ins[1].len()), true)?;
    } else {
        let batch = without(s.out().len(), &[&g.offset_dims]);
        let dims = without(s.input().len(), &[&[g.index_vector_dim]]);
        dims.iter().zip(&batch).try_for_each(|(dim, k)| r.link(*k, *dim))?;
    }
    Ok(r.into())
}

/// An element of an update goes to the result at the start of its block, if the block fits into the data.
pub fn scatter(g: &Gather, s: &Sides) -> Equations {
    let n = s.ins.len() / 2;
    if s.operand < n {
        return s.identity();
    }
    let mut r = s.relation();
    // Any index may address a given element.
    if s.operand > n {
        let (outs, ins) = unknowns(&r, s);
        let slices = update_sizes(g, s.out().len(), s.input());
        block(&mut r, g, [&outs, &ins], (s.out(), &slices), (n, s.ins[n].len()), false)?;
    }
    Ok(r.into())
}

/// The unknowns of the result's index and of the operand's.
fn unknowns(r: &Relation, s: &Sides) -> (Vec<usize>, Vec<usize>) {
    ((0..s.out().len()).map(|k| r.out(k)).collect(), (0..s.input().len()).map(|k| r.input(k)).collect())
}

/// Equates an element of the data and an element of the blocks; the first two slices hold the unknowns of their
/// indices.
fn block(
    r: &mut Relation,
    g: &Gather,
    [data_at, block_at]: [&[usize]; 2],
    (data, slices): (&[i64], &[i64]),
    (indices, rank): (usize, usize),
    clamped: bool,
) -> Result<(), Error> {
    let batch = without(block_at.len(), &[&g.offset_dims]);
    let rows = without(rank, &[&[g.index_vector_dim]]);
    let mut offsets = g.offset_dims.iter();
    for (k, i) in data_at.iter().enumerate() {
        let mut terms = vec![(*i, -1)];
        if let Some(b) = g.operand_batching_dims.iter().position(|dim| *dim == k) {
            let row = rows.iter().position(|dim| *dim == g.start_indices_batching_dims[b]);
            terms.extend(row.map(|row| (block_at[batch[row]], 1)));
        } else if !g.collapsed_slice_dims.contains(&k) {
            terms.extend(offsets.next().map(|dim| (block_at[*dim], 1)));
        }
        if let Some(entry) = g.start_index_map.iter().position(|dim| *dim == k) {
            let mut element: Vec<Element> = Vec::with_capacity(rank);
            let mut row = batch.iter();
            for dim in 0..rank {
                element.push(match dim == g.index_vector_dim {
                    true => Element::At(entry as i64),
                    false => Element::Unknown(row.next().map_or(0, |k| block_at[*k])),
                });
            }
            terms.push((r.run_time((0, data[k] - slices[k].max(1)), indices, element, clamped), 1));
        }
        r.equation(terms, 0)?;
    }
    Ok(())
}
