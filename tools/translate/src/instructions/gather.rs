//! Gather: blocks of the data at starts from a tensor of indices, element by element. `layout-gather-rows` copies rows
//! where blocks have them.

use crate::builder::{Builder, Operand};
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::operations::Gather;

/// Writes a gather. The operands are the data and the indices.
pub fn gather(b: &mut Builder, g: &Gather, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let (data, indices) = (&ins[0], &ins[1]);
    if data.is_empty() {
        // Blocks without elements, but a result with some: XLA gives zeros.
        let zero = b.zero(data);
        return Ok(b.filled(out, &zero));
    }
    let data = b.without_encoding(data);
    let rank = out.sizes.len();
    let of_data = 0..data.sizes.len();
    let windows: Vec<usize> =
        of_data.filter(|k| !g.collapsed_slice_dims.contains(k) && !g.operand_batching_dims.contains(k)).collect();
    let loops: Vec<String> = (0..rank).map(|k| format!("d{k}")).collect();
    let numbers = (0..g.start_index_map.len()).map(|number| {
        let map = place(g, indices.sizes.len(), &loops, &number.to_string());
        Operand::new(indices, map.join(", "))
    });
    b.each(numbers.collect(), out, |w, numbers| {
        let index: Vec<String> = (0..rank).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
        let mut at = Vec::with_capacity(data.sizes.len());
        for dim in 0..data.sizes.len() {
            let offset = windows.iter().position(|k| *k == dim).map(|k| index[g.offset_dims[k]].clone());
            let start = start(w, g, dim, [&data, indices], &index, numbers);
            at.push(match (start, offset) {
                (Some(a), Some(b)) => w.op(&format!("arith.addi {a}, {b} : index")),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => w.constant("0", "index"),
            });
        }
        Ok(w.op(&format!("tensor.extract {}[{}] : {}", data.name, at.join(", "), data.ty)))
    })
}

/// The dimensions of the result that count blocks, by dimension of the indices; `None` for that of the index vector.
fn counts(g: &Gather, rank: usize, of_result: usize) -> Vec<Option<usize>> {
    let mut batch = (0..of_result).filter(|k| !g.offset_dims.contains(k));
    (0..rank).map(|dim| if dim == g.index_vector_dim { None } else { batch.next() }).collect()
}

/// The index of a number of an index vector in indices of this rank, for the block of `index`.
fn place(g: &Gather, rank: usize, index: &[String], number: &str) -> Vec<String> {
    let of = |dim: Option<usize>| dim.map_or(number.to_string(), |dim| index[dim].clone());
    counts(g, rank, index.len()).into_iter().map(of).collect()
}

/// The start of the block of `index`, in a dimension of the data; `None` where it is 0. `numbers` is the index vector.
fn start(
    w: &mut Writer,
    g: &Gather,
    dim: usize,
    [data, indices]: [&Tensor; 2],
    index: &[String],
    numbers: &[String],
) -> Option<String> {
    if let Some(of) = g.start_index_map.iter().position(|k| *k == dim) {
        return Some(Builder::clamped(w, &numbers[of], indices, data.sizes[dim] - g.slice_sizes[dim].max(1)));
    }
    let batching = g.operand_batching_dims.iter().position(|k| *k == dim)?;
    let of_result = counts(g, indices.sizes.len(), index.len())[g.start_indices_batching_dims[batching]];
    of_result.map(|dim| index[dim].clone())
}
