//! Blocks whose starts are in an array of indices.

use super::site::{Found, Site, Types};
use crate::operations::operation::{Gather, Operation};
use crate::text::Error;

/// The dimension of the indices that holds an index; the attribute `map` is required, too.
fn index_vector(site: &mut Site, indices: usize, map: &str) -> Result<usize, Error> {
    let element = site.element(indices)?;
    if !element.is_signed() && !element.is_unsigned() {
        return Err(site.operand_must(indices, "have integers as elements"));
    }
    let dim = site.index("index_vector_dim", "index_vector_dim", "dimension")?;
    site.need(map, "{dimensions}")?;
    Ok(dim)
}

/// Blocks of the first operand.
pub fn gather(site: &mut Site) -> Found {
    let element = site.element(0)?;
    let types = Types { operands: vec![element, site.element(1)?], results: vec![element] };
    let index_vector_dim = index_vector(site, 1, "start_index_map")?;
    site.need("slice_sizes", "{sizes}")?;
    let operation = Operation::Gather(Box::new(Gather {
        offset_dims: site.ascending("offset_dims", "offset_dims")?,
        collapsed_slice_dims: site.ascending("collapsed_slice_dims", "collapsed_slice_dims")?,
        operand_batching_dims: site.ascending("operand_batching_dims", "operand_batching_dims")?,
        start_indices_batching_dims: site.dims("start_indices_batching_dims", "start_indices_batching_dims")?,
        start_index_map: site.dims("start_index_map", "start_index_map")?,
        index_vector_dim,
        slice_sizes: site.list("slice_sizes", "slice_sizes")?,
    }));
    site.checked(operation, &types)
}

/// Blocks of the updates, combined into the data. The fields are those of the inverse gather.
pub fn scatter(site: &mut Site) -> Found {
    let n = site.operands.len() / 2;
    let data = (0..n).map(|k| site.element(k)).collect::<Result<Vec<_>, Error>>()?;
    let indices = site.element(n)?;
    for k in n + 1..site.operands.len() {
        site.array(k)?;
    }
    let operands = data.iter().chain([&indices]).chain(&data).copied().collect();
    let types = Types { operands, results: data };
    if site.operands.len().is_multiple_of(2) {
        // The number of operands is the error, whatever the attributes.
        return site.checked(Operation::Scatter(Box::default()), &types);
    }
    let index_vector_dim = index_vector(site, n, "scatter_dims_to_operand_dims")?;
    let operation = Operation::Scatter(Box::new(Gather {
        offset_dims: site.ascending("offset_dims", "update_window_dims")?,
        collapsed_slice_dims: site.ascending("collapsed_slice_dims", "inserted_window_dims")?,
        operand_batching_dims: site.ascending("operand_batching_dims", "input_batching_dims")?,
        start_indices_batching_dims: site.dims("start_indices_batching_dims", "scatter_indices_batching_dims")?,
        start_index_map: site.dims("start_index_map", "scatter_dims_to_operand_dims")?,
        index_vector_dim,
        slice_sizes: Vec::new(),
    }));
    let operation = site.checked(operation, &types)?;
    site.reducer("to_apply", 0, &types.results)?;
    Ok(operation)
}
