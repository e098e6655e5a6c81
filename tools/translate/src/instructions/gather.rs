//! Gather: blocks of the data at starts from a tensor of indices; row by row where blocks have rows, else element by
//! element.

use crate::builder::{Builder, Operand};
use crate::loops::Typed;
use crate::syntax::plain;
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::operations::Gather;

/// The least elements of a row that is copied as one; shorter copies take as long as single elements.
const ROW: i64 = 8;

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
    let last = data.sizes.len().wrapping_sub(1);
    let has_rows = !g.collapsed_slice_dims.contains(&last) && !g.operand_batching_dims.contains(&last);
    if has_rows && !out.is_empty() && g.slice_sizes.last().is_some_and(|size| *size >= ROW) {
        let indices = b.without_encoding(indices);
        return blocks(b, g, [&data, &indices], out);
    }
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
            let start = start(w, g, dim, [&data, indices], &index, &mut |_, number| numbers[number].clone());
            at.push(match (start, offset) {
                (Some(a), Some(b)) => w.op(&format!("arith.addi {a}, {b} : index")),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => w.constant("0", "index"),
            });
        }
        Ok(w.op(&format!("tensor.extract {}[{}] : {}", data.name, at.join(", "), data.ty)))
    })
}

/// Copies block after block into the result.
fn blocks(b: &mut Builder, g: &Gather, [data, indices]: [&Tensor; 2], out: &Tensor) -> ImportResult<Tensor> {
    let rank = out.sizes.len();
    let batch: Vec<usize> = (0..rank).filter(|k| !g.offset_dims.contains(k)).collect();
    let block: Vec<i64> = g.offset_dims.iter().map(|k| out.sizes[*k]).collect();
    let block = Tensor { ty: plain(&block, &data.element_text), sizes: block, ..data.clone() };
    // A block has one index in each dimension of the data that the result lacks.
    let sizes: Vec<i64> = g.slice_sizes.iter().map(|size| (*size).max(1)).collect();
    let in_result: Vec<i64> = (0..rank).map(|k| if batch.contains(&k) { 1 } else { out.sizes[k] }).collect();
    let plain_out = Tensor { ty: out.plain(), ..out.clone() };
    let begin = Typed::all(&[b.empty(&plain_out)]);
    let counts: Vec<String> = batch.iter().map(|k| b.w.index(out.sizes[*k])).collect();
    let done = b.w.nest(&counts, begin, &mut |w, row, values| {
        let mut index = vec![String::from("0"); rank];
        batch.iter().zip(row).for_each(|(k, at)| index[*k] = at.clone());
        let mut number = |w: &mut Writer, number: usize| {
            let number = w.constant(&number.to_string(), "index");
            let at = place(g, indices.sizes.len(), &index, &number).join(", ");
            w.op(&format!("tensor.extract {}[{at}] : {}", indices.name, indices.ty))
        };
        let starts = (0..sizes.len()).map(|dim| start(w, g, dim, [data, indices], &index, &mut number));
        let starts: Vec<String> = starts.map(|start| start.unwrap_or("0".to_string())).collect();
        let starts = starts.join(", ");
        let ones = |n: usize| vec![1; n];
        let taken = w.op(&format!(
            "tensor.extract_slice {}[{starts}] {sizes:?} {:?} : {} to {}",
            data.name,
            ones(sizes.len()),
            data.ty,
            block.ty
        ));
        let name = w.op(&format!(
            "tensor.insert_slice {taken} into {}[{}] {in_result:?} {:?} : {} into {}",
            values[0].name,
            index.join(", "),
            ones(rank),
            block.ty,
            values[0].ty
        ));
        Ok(vec![Typed { name, ty: values[0].ty.clone() }])
    })?;
    let gathered = Tensor { name: done[0].name.clone(), ..plain_out };
    Ok(b.converted(&gathered, out))
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

/// The start of the block of `index`, in a dimension of the data; `None` where it is 0. `number` gives an element of the
/// index vector.
fn start(
    w: &mut Writer,
    g: &Gather,
    dim: usize,
    [data, indices]: [&Tensor; 2],
    index: &[String],
    number: &mut dyn FnMut(&mut Writer, usize) -> String,
) -> Option<String> {
    if let Some(of) = g.start_index_map.iter().position(|k| *k == dim) {
        let value = number(w, of);
        return Some(Builder::clamped(w, &value, indices, data.sizes[dim] - g.slice_sizes[dim].max(1)));
    }
    let batching = g.operand_batching_dims.iter().position(|k| *k == dim)?;
    let of_result = counts(g, indices.sizes.len(), index.len())[g.start_indices_batching_dims[batching]];
    of_result.map(|dim| index[dim].clone())
}
