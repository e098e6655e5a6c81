//! Gather: blocks of the data at starts that a tensor of indices has, element by element.

use crate::builder::Builder;
use crate::tensor::{Done, Tensor};
use crate::writer::Writer;
use tensor_layout::operations::Gather;

/// The operands are the data and the indices.
pub fn gather(b: &mut Builder, g: &Gather, ins: &[Tensor], out: &Tensor) -> Done<Tensor> {
    let (data, indices) = (&ins[0], &ins[1]);
    if data.is_empty() {
        // The blocks have no elements, but the result has: XLA gives zeros.
        let zero = b.zero(data);
        return Ok(b.filled(out, &zero));
    }
    let (data, indices) = (b.flattened(data), b.flattened(indices));
    let rank = out.sizes.len();
    let of_data = 0..data.sizes.len();
    let windows: Vec<usize> =
        of_data.filter(|k| !g.collapsed_slice_dims.contains(k) && !g.operand_batching_dims.contains(k)).collect();
    b.each(Vec::new(), out, |w, _| {
        let index: Vec<String> = (0..rank).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
        let mut at = Vec::with_capacity(data.sizes.len());
        for dim in 0..data.sizes.len() {
            let offset = windows.iter().position(|k| *k == dim).map(|k| index[g.offset_dims[k]].clone());
            at.push(match (start(w, g, dim, &data, &indices, &index), offset) {
                (Some(a), Some(b)) => w.op(&format!("arith.addi {a}, {b} : index")),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => w.constant("0", "index"),
            });
        }
        Ok(w.op(&format!("tensor.extract {}[{}] : {}", data.name, at.join(", "), data.ty)))
    })
}

/// Where the block of the result at `index` begins in a dimension of the data; `None` where it begins at 0.
fn start(w: &mut Writer, g: &Gather, dim: usize, data: &Tensor, indices: &Tensor, index: &[String]) -> Option<String> {
    let rank = indices.sizes.len();
    let batch: Vec<usize> = (0..index.len()).filter(|k| !g.offset_dims.contains(k)).collect();
    // The dimensions of the indices that count blocks: all but that of the vectors of starts.
    let counted: Vec<usize> = (0..rank).filter(|k| *k != g.index_vector_dim).collect();
    let of_batch = |dim: usize| counted.iter().position(|k| *k == dim).map(|k| index[batch[k]].clone());
    let Some(number) = g.start_index_map.iter().position(|k| *k == dim) else {
        let batching = g.operand_batching_dims.iter().position(|k| *k == dim);
        return batching.and_then(|k| of_batch(g.start_indices_batching_dims[k]));
    };
    let mut place: Vec<String> = (0..rank).filter_map(of_batch).collect();
    if g.index_vector_dim < rank {
        place.insert(g.index_vector_dim, w.constant(&number.to_string(), "index"));
    }
    let value = w.op(&format!("tensor.extract {}[{}] : {}", indices.name, place.join(", "), indices.ty));
    Some(Builder::clamped(w, &value, indices, data.sizes[dim] - g.slice_sizes[dim].max(1)))
}
