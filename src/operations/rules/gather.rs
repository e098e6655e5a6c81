//! Gathers and scatters: blocks at starts from an array of indices.

use super::arrays::{Arrays, Verdict, disjoint, distinct, entries};
use super::slices::fitting;
use crate::operations::operation::Gather;
use crate::operations::refusal::{Refusal, Subject};
use crate::operations::sizes::{Size, Sizes, fits, without};
use crate::text::counted;

/// The dimensions of blocks and of indices.
struct Frame {
    /// The sizes of the indices without the dimension that lists an index.
    rows: Vec<Size>,
    /// The dimensions of the data that blocks keep.
    kept: Vec<usize>,
}

/// - `blocks_c1`: each list names different dimensions: `start_index_map`, `collapsed_slice_dims` and
///   `operand_batching_dims` of the data, `start_indices_batching_dims` of the indices.
/// - `blocks_c2`: `index_vector_dim` is a dimension of the indices, or their rank, where each element is an index.
/// - `blocks_c3`: `start_index_map` has an entry for each entry of an index: indices `[5, 2]` with
///   `index_vector_dim = 1` need two.
/// - `blocks_c4`: there are as many batching dimensions of the indices as of the data, and none lists an index.
/// - `blocks_c5`: the batching dimensions of both have the same sizes.
/// - `blocks_c6`: no batching dimension is collapsed, and none has a start.
fn frame(g: &Gather, data: &Sizes, indices: &Sizes) -> Result<Frame, Refusal> {
    if g.index_vector_dim > indices.rank() {
        let must = format!("must be at most the rank of the indices, {}, found {}", indices.rank(), g.index_vector_dim);
        return Err(Refusal::field("blocks_c2", "index_vector_dim", must));
    }
    distinct("blocks_c1", "start_index_map", &g.start_index_map, data.rank())?;
    distinct("blocks_c1", "collapsed_slice_dims", &g.collapsed_slice_dims, data.rank())?;
    distinct("blocks_c1", "operand_batching_dims", &g.operand_batching_dims, data.rank())?;
    distinct("blocks_c1", "start_indices_batching_dims", &g.start_indices_batching_dims, indices.rank())?;
    if let Some(n) = indices.0.get(g.index_vector_dim).copied().unwrap_or(Some(1)) {
        let needed = usize::try_from(n).unwrap_or(usize::MAX);
        entries("blocks_c3", "start_index_map", g.start_index_map.len(), needed, "one for each entry of an index")?;
    }
    batching(g, data, indices)?;
    let name = "collapsed_slice_dims";
    disjoint("blocks_c6", name, &g.collapsed_slice_dims, &g.operand_batching_dims, "batching")?;
    disjoint("blocks_c6", "start_index_map", &g.start_index_map, &g.operand_batching_dims, "batching")?;
    Ok(Frame {
        rows: indices.without(&[g.index_vector_dim]),
        kept: without(data.rank(), &[&g.collapsed_slice_dims, &g.operand_batching_dims]),
    })
}

/// Checks `blocks_c4` and `blocks_c5`.
fn batching(g: &Gather, data: &Sizes, indices: &Sizes) -> Verdict {
    let (name, rows) = ("start_indices_batching_dims", &g.start_indices_batching_dims);
    let of = "one for each batching dimension of the data";
    entries("blocks_c4", name, rows.len(), g.operand_batching_dims.len(), of)?;
    for (k, (row, dim)) in rows.iter().zip(&g.operand_batching_dims).enumerate() {
        if *row == g.index_vector_dim {
            let must = format!("must be a dimension that does not list an index, found {row}");
            return Err(Refusal::entry("blocks_c4", name, k, must));
        }
        let (expected, found) = (data.0[*dim], indices.0[*row]);
        if let (false, Some(expected), Some(found)) = (fits(expected, found), expected, found) {
            let must =
                format!("must be a dimension of {expected} elements, as dimension {dim} of the data, found {found}");
            return Err(Refusal::entry("blocks_c5", name, k, must));
        }
    }
    Ok(())
}

/// The sizes of all blocks in one array: the sizes of a block in `offset_dims`, of the rows in the other dimensions.
fn together(offset_dims: &[usize], block: &[Size], rows: &[Size]) -> Vec<Size> {
    let rank = block.len() + rows.len();
    let mut sizes = vec![None; rank];
    offset_dims.iter().zip(block).for_each(|(dim, size)| sizes[*dim] = *size);
    without(rank, &[offset_dims]).into_iter().zip(rows).for_each(|(dim, size)| sizes[dim] = *size);
    sizes
}

/// The rules of blocks (`blocks_c1` to `blocks_c6`), and:
///
/// - `gather_c1`: there are two operands, the data and the indices, and one result.
/// - `gather_c2`: `slice_sizes` has an entry for each dimension of the data.
/// - `gather_c3`: its entries are between 0 and the size of the dimension.
/// - `gather_c4`: they are at most 1 in the dimensions that blocks lack.
/// - `gather_c5`: `offset_dims` has an entry for each dimension that blocks have.
/// - `gather_c6`: its entries are different dimensions of the result.
/// - `gather_c7`: the result has the sizes of a block in `offset_dims`, and the sizes of the indices without
///   `index_vector_dim` in the others: blocks `[1, 20]` of `[10, 20]` at indices `[5, 1]`, with dimension 0 collapsed
///   and `offset_dims = [1]`, are `[5, 20]`.
pub fn gather(g: &Gather, arrays: &Arrays) -> Verdict {
    arrays.count("gather_c1", 2, 1)?;
    let data = &arrays.ins[0];
    let Frame { rows, kept } = frame(g, data, &arrays.ins[1])?;
    entries("gather_c2", "slice_sizes", g.slice_sizes.len(), data.rank(), "one for each dimension of the data")?;
    fitting("gather_c3", "slice_sizes", &g.slice_sizes, data)?;
    let mut dropped = g.collapsed_slice_dims.iter().chain(&g.operand_batching_dims);
    if let Some(dim) = dropped.find(|dim| g.slice_sizes[**dim] > 1) {
        let must = format!("must be at most 1 in a dimension that blocks do not have, found {}", g.slice_sizes[*dim]);
        return Err(Refusal::entry("gather_c4", "slice_sizes", *dim, must));
    }
    entries("gather_c5", "offset_dims", g.offset_dims.len(), kept.len(), "one for each dimension of a block")?;
    distinct("gather_c6", "offset_dims", &g.offset_dims, rows.len() + kept.len())?;
    let block: Vec<Size> = kept.iter().map(|dim| Some(g.slice_sizes[*dim])).collect();
    arrays.result("gather_c7", 0, &together(&g.offset_dims, &block, &rows))
}

/// The rules of blocks (`blocks_c1` to `blocks_c6`), and:
///
/// - `scatter_c1`: the operands are as many arrays of data as results, the indices, and as many updates.
/// - `scatter_c2`: the data and the results have the same sizes.
/// - `scatter_c3`: `offset_dims` has an entry for each dimension that blocks have.
/// - `scatter_c4`: the updates have the rank of a block and of the indices together, without `index_vector_dim`.
/// - `scatter_c5`: `offset_dims` are different dimensions of the updates.
/// - `scatter_c6`: a block is not larger than the data.
/// - `scatter_c7`: the updates have a block for each index: for blocks `[20]` at indices `[5, 1]` they are `[5, 20]`.
pub fn scatter(g: &Gather, arrays: &Arrays) -> Verdict {
    let n = arrays.ins.len() / 2;
    if arrays.ins.len().is_multiple_of(2) || n == 0 {
        let found = counted(arrays.ins.len(), "operand");
        let must = format!("must have data, indices, and an update for each array of data, found {found}");
        return Err(Refusal::new("scatter_c1", Subject::Whole, must));
    }
    arrays.count("scatter_c1", 2 * n + 1, n)?;
    let (data, updates) = (&arrays.ins[0], &arrays.ins[n + 1]);
    (1..n).try_for_each(|k| arrays.operand("scatter_c2", k, &data.0))?;
    arrays.results("scatter_c2", &data.0)?;
    let Frame { rows, kept } = frame(g, data, &arrays.ins[n])?;
    entries("scatter_c3", "offset_dims", g.offset_dims.len(), kept.len(), "one for each dimension of a block")?;
    if updates.rank() != rows.len() + kept.len() {
        let must = format!("must have {}, found {}", counted(rows.len() + kept.len(), "dimension"), updates.rank());
        return Err(Refusal::new("scatter_c4", Subject::Operand(n + 1), must));
    }
    distinct("scatter_c5", "offset_dims", &g.offset_dims, updates.rank())?;
    for (dim, of_data) in g.offset_dims.iter().zip(&kept) {
        if let Some((found, most)) = updates.0[*dim].zip(data.0[*of_data]).filter(|(found, most)| found > most) {
            let must = format!("must have at most {most} elements in dimension {dim}, found {found}");
            return Err(Refusal::new("scatter_c6", Subject::Operand(n + 1), must));
        }
    }
    let expected = together(&g.offset_dims, &updates.at(&g.offset_dims), &rows);
    (n + 1..2 * n + 1).try_for_each(|k| arrays.operand("scatter_c7", k, &expected))
}

impl Gather {
    /// The sizes of the blocks in the updates of a scatter, in the `rank` dimensions of the data: 1 in dimensions that
    /// blocks lack. The operation must have been checked with updates of these sizes.
    pub fn block_sizes(&self, rank: usize, updates: &[i64]) -> Vec<i64> {
        update_sizes(self, rank, updates)
    }
}

/// The sizes of the blocks in updates of these sizes, in all dimensions of the data: 1 in dimensions that blocks lack.
/// The operation must have been checked.
pub(crate) fn update_sizes(g: &Gather, rank: usize, updates: &[i64]) -> Vec<i64> {
    let kept = without(rank, &[&g.collapsed_slice_dims, &g.operand_batching_dims]);
    let mut sizes = vec![1; rank];
    kept.iter().zip(&g.offset_dims).for_each(|(dim, offset)| sizes[*dim] = updates[*offset]);
    sizes
}
