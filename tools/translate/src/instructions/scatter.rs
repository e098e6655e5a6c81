//! Scatter: blocks of updates are combined into the data, one after the other, in place: `layout_programs::SCATTER`.

use super::computation::applied;
use crate::builder::Builder;
use crate::tensor::{ImportResult, Tensor};
use layout_programs::{Program, SCATTER};
use minijinja::{Value, context};
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::Gather;

/// Writes a scatter. The operands are arrays of data, the indices, and as many updates.
pub fn scatter(
    b: &mut Builder,
    i: &Instruction,
    g: &Gather,
    ins: &[Tensor],
    outs: Vec<Tensor>,
) -> ImportResult<Vec<Tensor>> {
    let n = outs.len();
    let precise = ins.iter().zip(&outs).map(|(t, out)| b.precise(t, out)).collect::<ImportResult<Vec<_>>>()?;
    if ins[n + 1].is_empty() {
        return b.all_converted(&precise, &outs);
    }
    let data: Vec<Tensor> = precise.iter().map(|t| b.without_encoding(t)).collect();
    let indices = b.without_encoding(&ins[n]);
    let updates: Vec<Tensor> = ins[n + 1..].iter().map(|t| b.without_encoding(t)).collect();
    let number = i.called.first().copied().ok_or("a scatter needs a computation")?;
    let to: Vec<ElementType> = data.iter().map(|t| t.element).collect();
    let from: Vec<ElementType> = data.iter().chain(&updates).map(|t| t.element).collect();
    let program = Program::new(&SCATTER, parameters(g, &data, &indices, &updates));
    let operands: Vec<String> = [&indices].into_iter().chain(&updates).chain(&data).map(|t| t.name.clone()).collect();
    let module = b.module;
    let done = b
        .w
        .inline(&program, "main", &operands, &mut |w, _, elements| applied(module, number, w, elements, &from, &to))?;
    let done: Vec<Tensor> = done.into_iter().zip(data).map(|(name, t)| Tensor { name, ..t }).collect();
    b.all_converted(&done, &outs)
}

/// The parameters of the template.
fn parameters(g: &Gather, data: &[Tensor], indices: &Tensor, updates: &[Tensor]) -> Value {
    let sizes = &updates[0].sizes;
    let rows: Vec<usize> = (0..sizes.len()).filter(|k| !g.offset_dims.contains(k)).collect();
    let size = |k: &usize| format!("%c{}", sizes[*k]);
    let block: Vec<String> = g.offset_dims.iter().map(size).collect();
    let index_of = |k: usize| match rows.iter().position(|row| *row == k) {
        Some(row) => format!("%row{row}"),
        None => format!("%at{}", g.offset_dims.iter().position(|dim| *dim == k).unwrap_or(0)),
    };
    let update_at: Vec<String> = (0..sizes.len()).map(index_of).collect();
    let array = |(data, update): (&Tensor, &Tensor)| {
        context! {
            data => data.ty, update => update.ty, element => data.element_text, update_element => update.element_text,
        }
    };
    context! {
        arrays => data.iter().zip(updates).map(array).collect::<Vec<_>>(),
        starts => starts(g, &data[0].sizes, &g.block_sizes(data[0].sizes.len(), sizes), indices.sizes.len(), rows.len()),
        rows => or_one(rows.iter().map(size).collect()),
        block => or_one(block),
        indices => indices.ty, kind => indices.element_text, update_at => update_at.join(", "), updates_first => false,
        cast => if indices.element.is_signed() { "index_cast" } else { "index_castui" }, prologue => Vec::<String>::new(),
    }
}

/// The bounds of a loop nest; without any, of one loop that runs once.
fn or_one(bounds: Vec<String>) -> Vec<String> {
    if bounds.is_empty() { vec!["%c1".into()] } else { bounds }
}

/// Where a block starts in each dimension of the data: at a row's index, at an element of the indices, or at 0.
fn starts(g: &Gather, data: &[i64], block: &[i64], rank: usize, rows: usize) -> Vec<Value> {
    let mut places = 0..;
    let start = |dim: usize| {
        let is_dropped = g.collapsed_slice_dims.contains(&dim) || g.operand_batching_dims.contains(&dim);
        let place = if is_dropped { None } else { places.next() };
        let row = g.operand_batching_dims.iter().position(|d| *d == dim).map(|k| {
            let of_indices = g.start_indices_batching_dims[k];
            of_indices - usize::from(of_indices > g.index_vector_dim)
        });
        let number = g.start_index_map.iter().position(|d| *d == dim).map(|number| {
            let mut at: Vec<String> = (0..rows).map(|k| format!("%row{k}")).collect();
            if g.index_vector_dim < rank {
                at.insert(g.index_vector_dim, format!("%c{number}"));
            }
            at.join(", ")
        });
        // The check of shapes refuses a block larger than the data.
        let count = number.is_some().then(|| format!("%c{}", data[dim] - block[dim] + 1));
        context! { dim, place, row, number, count }
    };
    (0..data.len()).map(start).collect()
}
