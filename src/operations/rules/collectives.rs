//! Exchanges between devices: the groups, and the sizes that each device gets.

use super::arrays::{Arrays, Verdict, dimension};
use crate::operations::collective::{Collective, Exchange};
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::sizes::Size;
use crate::text::counted;

/// The rules of all exchanges:
///
/// - `groups_c1`: `groups` has devices from 0 to before `devices`.
/// - `groups_c2`: each device occurs at most once; in a permutation once as a source and once as a target.
/// - `groups_c3`: all groups have the same number of devices, except in a reduction or a broadcast.
/// - `groups_c4`: each device is in a group, except in a broadcast or a permutation.
/// - `groups_c5`: each group of a permutation is a source and a target.
/// - `groups_c6`: a permutation of blocks has the same number of pairs for each block of an input.
/// - `collective_c1`: there are operands, and one result for each.
///
/// With `n` devices in a group:
///
/// - `collective_c2`: `dim` is a dimension of each operand.
/// - `all_gather_c1`: each result has the sizes of its operand, in `dim` `n` times as large.
/// - `reduce_scatter_c1`: the size of each operand in `dim` is a multiple of `n`.
/// - `reduce_scatter_c2`: each result has the sizes of its operand, in `dim` one `n`-th.
/// - `all_to_all_c1`: the size of each operand in `dim` is a multiple of `n`; without `dim` there are `n` operands.
/// - `all_to_all_c2`: without `dim`, all operands have the same sizes.
/// - `all_reduce_c1`: if one computation combines all operands, they have the same sizes.
/// - `collective_c3`: each result has the sizes of its operand, unless another rule gives its sizes.
/// - `permute_blocks_c1`: there are as many results as inputs, and for each as many blocks as sets of pairs.
/// - `permute_blocks_c2`: the operands are the inputs, as many outputs, and two scalars for each dimension of each
///   block.
/// - `permute_blocks_c3`: each result has the sizes of its output.
/// - `permute_blocks_c4`: each block has a size for each dimension of its input and of its output, 0 or more, and no
///   larger.
/// - `permute_blocks_c5`: the starts of blocks are scalars.
/// - `ragged_c1`: there are 6 operands and a result, which has the sizes of operand 1.
/// - `ragged_c2`: the input and the output agree in all dimensions but the first.
/// - `ragged_c3`: the other operands are lists of one length, a multiple of `n`.
pub fn collective(collective: &Collective, arrays: &Arrays) -> Verdict {
    let Collective { exchange, devices, groups, blocks } = collective;
    exchange.fits(groups, *devices, "device").map_err(|misfit| match misfit.entry {
        Some((group, _)) => Refusal::entry(misfit.rule, "groups", group, misfit.must),
        None => Refusal::field(misfit.rule, "groups", misfit.must),
    })?;
    // Sizes are below 2^63, and so is the number of devices in a group.
    let n = groups.first().map_or(1, |group| i64::try_from(group.len()).unwrap_or(i64::MAX));
    match exchange {
        Exchange::Ragged => return ragged(n, arrays),
        Exchange::PermuteBlocks { sets } => return permute_blocks(*sets, blocks, arrays),
        _ => {}
    }
    if arrays.ins.is_empty() {
        return Err(Refusal::new("collective_c1", Subject::Whole, "must have an operand, found none"));
    }
    arrays.count("collective_c1", arrays.ins.len(), arrays.ins.len())?;
    for k in 0..arrays.ins.len() {
        one(*exchange, n, k, arrays)?;
    }
    match exchange {
        Exchange::AllToAll { dim: None } => whole(n, arrays),
        Exchange::ReduceTogether => {
            (1..arrays.ins.len()).try_for_each(|k| arrays.operand("all_reduce_c1", k, &arrays.ins[0].0))
        }
        _ => Ok(()),
    }
}

/// Checks one operand and its result.
fn one(exchange: Exchange, n: i64, k: usize, arrays: &Arrays) -> Verdict {
    let from = &arrays.ins[k];
    let along = |dim: usize| match dimension("collective_c2", "dim", dim, from.rank()) {
        Ok(()) => Ok(from.0[dim]),
        Err(refusal) => Err(refusal),
    };
    let with = |dim: usize, size: Size| {
        let mut sizes = from.0.clone();
        sizes[dim] = size;
        sizes
    };
    let multiple = |rule, size: Size| match size.filter(|size| size % n != 0) {
        Some(size) => {
            let must = format!("must have a multiple of {n}, the devices of a group, in the dimension, found {size}");
            Err(Refusal::new(rule, Subject::Operand(k), must))
        }
        None => Ok(()),
    };
    match exchange {
        Exchange::Gather { dim } => {
            let size = along(dim)?.map(|size| {
                let must = "must have a size that fits in 64 bits";
                size.checked_mul(n).ok_or_else(|| Refusal::new("all_gather_c1", Subject::Result(k), must))
            });
            arrays.result("all_gather_c1", k, &with(dim, size.transpose()?))
        }
        Exchange::ReduceScatter { dim } => {
            let size = along(dim)?;
            multiple("reduce_scatter_c1", size)?;
            arrays.result("reduce_scatter_c2", k, &with(dim, size.map(|size| size / n)))
        }
        Exchange::AllToAll { dim: Some(dim) } => {
            multiple("all_to_all_c1", along(dim)?)?;
            arrays.result("collective_c3", k, &from.0)
        }
        _ => arrays.result("collective_c3", k, &from.0),
    }
}

/// Checks an exchange of whole operands, one for each device of a group.
fn whole(n: i64, arrays: &Arrays) -> Verdict {
    let found = arrays.ins.len();
    if i64::try_from(found) != Ok(n) {
        let must =
            format!("must have an operand for each of {n} devices of a group, found {}", counted(found, "operand"));
        return Err(Refusal::new("all_to_all_c1", Subject::Whole, must));
    }
    (1..found).try_for_each(|k| arrays.operand("all_to_all_c2", k, &arrays.ins[0].0))
}

/// Checks an exchange of blocks of inputs into outputs.
fn permute_blocks(sets: usize, blocks: &[Vec<i64>], arrays: &Arrays) -> Verdict {
    let count = arrays.results_count();
    if count == 0 || count.checked_mul(sets) != Some(blocks.len()) {
        let must = format!("must have {}, {sets} for each result, found {}", count * sets, blocks.len());
        return Err(Refusal::field("permute_blocks_c1", "blocks", must));
    }
    let offsets: usize = blocks.iter().map(Vec::len).sum();
    arrays.operands("permute_blocks_c2", 2 * (count + offsets))?;
    for k in 0..count {
        arrays.result("permute_blocks_c3", k, &arrays.ins[count + k].0)?;
    }
    for (k, block) in blocks.iter().enumerate() {
        let (from, to) = (&arrays.ins[k / sets], &arrays.ins[count + k / sets]);
        let inside =
            |sizes: &[Size]| block.iter().zip(sizes).all(|(n, size)| size.is_none_or(|size| (0..=size).contains(n)));
        if block.len() != from.rank() || block.len() != to.rank() || !inside(&from.0) || !inside(&to.0) {
            let must = format!("must be the sizes of a block of {from} and of {to}, found {block:?}");
            return Err(Refusal::entry("permute_blocks_c4", "blocks", k, must));
        }
    }
    (2 * count..arrays.ins.len()).try_for_each(|k| arrays.operand("permute_blocks_c5", k, &[]))
}

fn ragged(n: i64, arrays: &Arrays) -> Verdict {
    arrays.count("ragged_c1", 6, 1)?;
    arrays.result("ragged_c1", 0, &arrays.ins[1].0)?;
    let mut expected = arrays.ins[0].0.clone();
    if let (Some(rows), Some(found)) = (expected.first_mut(), arrays.ins[1].0.first()) {
        *rows = *found;
    }
    if expected.is_empty() {
        return Err(Refusal::new("ragged_c2", Subject::Operand(0), "must have rows, found a scalar"));
    }
    arrays.operand("ragged_c2", 1, &expected)?;
    let length = arrays.ins[2].0.first().copied().flatten();
    for k in 2..6 {
        arrays.operand("ragged_c3", k, &[length])?;
    }
    match length.filter(|length| length % n != 0) {
        Some(length) => {
            let must = format!("must have a multiple of {n} numbers, the devices of a group, found {length}");
            Err(Refusal::new("ragged_c3", Subject::Operand(2), must))
        }
        None => Ok(()),
    }
}
