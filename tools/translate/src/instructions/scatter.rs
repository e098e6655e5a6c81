//! Scatter: blocks of updates are combined into the data, one after the other, in place.
//!
//! The loops run over the rows of the indices and then over the elements of a block. A block that does not fit into the
//! data is dropped: the first loop over it runs to 0.

use super::computation::applied;
use crate::builder::Builder;
use crate::loops::Typed;
use crate::tensor::{ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::Gather;

/// The parts of a scatter.
struct Scatter<'a> {
    g: &'a Gather,
    /// The sizes of the data.
    data: Vec<i64>,
    /// The sizes of a block, in the data's dimensions.
    block: Vec<i64>,
    indices: Tensor,
    /// The dimensions of the updates that number the blocks.
    rows: Vec<usize>,
}

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
    let block_dims = (0..updates[0].sizes.len()).filter(|k| !g.offset_dims.contains(k));
    let s = Scatter {
        g,
        data: data[0].sizes.clone(),
        block: g.block_sizes(data[0].sizes.len(), &updates[0].sizes),
        indices,
        rows: block_dims.collect(),
    };
    let number = i.called.first().copied().ok_or("a scatter needs a computation")?;
    let to: Vec<ElementType> = data.iter().map(|t| t.element).collect();
    let from: Vec<ElementType> = data.iter().chain(&updates).map(|t| t.element).collect();
    let sources = Typed::all(&updates);
    let module = b.module;
    let rows: Vec<String> = s.rows.iter().map(|k| b.w.index(updates[0].sizes[*k])).collect();
    let done = b.w.nest(&rows, Typed::all(&data), &mut |w, row, values| {
        let begin = s.begin(w, row);
        let bounds = s.bounds(w, &begin, &updates[0].sizes);
        w.nest(&bounds, values, &mut |w, place, values| {
            let (at, of_update) = s.element(w, &begin, row, place);
            let mut arguments: Vec<String> = values.iter().map(|t| w.load(t, &at)).collect();
            arguments.extend(sources.iter().map(|t| w.load(t, &of_update)));
            let combined = applied(module, number, w, &arguments, &from, &to)?;
            Ok(combined.iter().zip(&values).map(|(value, t)| w.store(value, t, &at)).collect())
        })
    })?;
    let done: Vec<Tensor> = done.into_iter().zip(data).map(|(v, t)| Tensor { name: v.name, ..t }).collect();
    b.all_converted(&done, &outs)
}

/// The start of a block in a dimension of the data.
struct Begin {
    /// The index; `None` where it is 0.
    index: Option<String>,
    /// Whether the start comes from the indices, so that the block may not fit.
    checked: bool,
}

impl Scatter<'_> {
    /// The start of a row's block, in each dimension of the data.
    fn begin(&self, w: &mut Writer, row: &[String]) -> Vec<Begin> {
        (0..self.data.len()).map(|dim| self.begin_in(w, row, dim)).collect()
    }

    fn begin_in(&self, w: &mut Writer, row: &[String], dim: usize) -> Begin {
        let (g, rank) = (self.g, self.indices.sizes.len());
        if let Some(k) = g.operand_batching_dims.iter().position(|d| *d == dim) {
            let of_indices = g.start_indices_batching_dims[k];
            let counted = of_indices - usize::from(of_indices > g.index_vector_dim);
            return Begin { index: Some(row[counted].clone()), checked: false };
        }
        let Some(number) = g.start_index_map.iter().position(|d| *d == dim) else {
            return Begin { index: None, checked: false };
        };
        let mut at = row.to_vec();
        if g.index_vector_dim < rank {
            at.insert(g.index_vector_dim, w.index(number as i64));
        }
        let value = w.load(&Typed::new(&self.indices.name, &self.indices.ty), &at);
        let kind = if self.indices.element.is_signed() { "index_cast" } else { "index_castui" };
        let index = w.op(&format!("arith.{kind} {value} : {} to index", self.indices.element_text));
        Begin { index: Some(index), checked: true }
    }

    /// The trip counts of the loops over a block, the first 0 where the block does not fit. A block of one element has
    /// one loop that runs once.
    fn bounds(&self, w: &mut Writer, begin: &[Begin], updates: &[i64]) -> Vec<String> {
        let mut bounds: Vec<String> = self.g.offset_dims.iter().map(|k| w.index(updates[*k])).collect();
        if bounds.is_empty() {
            bounds.push(w.index(1));
        }
        let mut fits: Option<String> = None;
        for (dim, begin) in begin.iter().enumerate().filter(|(_, begin)| begin.checked) {
            let Some(index) = &begin.index else { continue };
            // As an unsigned number, a negative index is larger than any size. The check of shapes refuses a block
            // larger than the data.
            let most = w.index(self.data[dim] - self.block[dim]);
            let inside = w.compare("ule", index, &most, "index");
            fits = Some(match fits {
                Some(all) => w.same("arith.andi", &[all, inside], "i1"),
                None => inside,
            });
        }
        if let Some(fits) = fits {
            let zero = w.index(0);
            bounds[0] = w.select(&fits, &bounds[0], &zero, "index");
        }
        bounds
    }

    /// The index into the data and the index into the updates, for an element of a row's block.
    fn element(&self, w: &mut Writer, begin: &[Begin], row: &[String], place: &[String]) -> (Vec<String>, Vec<String>) {
        let g = self.g;
        let mut of_update = vec![String::new(); self.rows.len() + g.offset_dims.len()];
        self.rows.iter().zip(row).for_each(|(k, index)| of_update[*k] = index.clone());
        g.offset_dims.iter().zip(place).for_each(|(k, index)| of_update[*k] = index.clone());
        let mut offsets = place.iter();
        let mut at = Vec::with_capacity(begin.len());
        for (dim, begin) in begin.iter().enumerate() {
            let dropped = g.collapsed_slice_dims.contains(&dim) || g.operand_batching_dims.contains(&dim);
            let offset = if dropped { None } else { offsets.next() };
            at.push(match (&begin.index, offset) {
                (Some(a), Some(b)) => w.on_index("addi", a, b),
                (Some(one), None) | (None, Some(one)) => one.clone(),
                (None, None) => w.index(0),
            });
        }
        (at, of_update)
    }
}
