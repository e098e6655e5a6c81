//! The operand elements that each result element reads, by each operation's definition, one element at a time. The
//! interpreter combines the same elements.

use crate::boxes::{index_at, indices, is_inside, position};
use crate::tiled::lay_out;
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::operations::leaves;
use tensor_layout::operations::{Array, Shape};
use tensor_layout::operations::{Convolution, Gather, Operation, Start, WindowDim};

pub type Index = Vec<i64>;
/// The integer at an index of an operand, which decides where a block begins.
pub type Held<'a> = &'a dyn Fn(usize, &[i64]) -> i64;
/// Visits an operand's number and an index of it; `None` stands for padding, the operand's initial value.
type Read<'a> = &'a mut dyn FnMut(usize, Option<Index>);

/// A read: the operand's leaf, the result's leaf, the result index, the operand index.
pub type Pair = (usize, usize, Index, Index);

/// All reads of an operation.
pub fn reads(operation: &Operation, operands: &[&Shape], results: &[&Shape], held: Held) -> BTreeSet<Pair> {
    let definition = Definition::new(operation, operands, results);
    let mut found = BTreeSet::new();
    for (result, sizes) in definition.outs.iter().enumerate() {
        for o in indices(sizes) {
            definition.reads(result, &o, held, &mut |operand, at| {
                found.extend(at.map(|at| (operand, result, o.clone(), at)));
            });
        }
    }
    found
}

/// The sizes of all arrays of a shape.
pub fn sizes(shape: &Shape) -> Vec<Index> {
    leaves(shape).iter().map(|array| array.sizes().unwrap()).collect()
}

/// An operation and the sizes of its arrays, with tuples flattened.
pub(super) struct Definition<'a> {
    operation: &'a Operation,
    shapes: &'a [&'a Shape],
    /// The sizes of the operands and of the results.
    ins: Vec<Index>,
    pub(super) outs: Vec<Index>,
    memory: Option<Memory>,
}

impl<'a> Definition<'a> {
    pub(super) fn new(operation: &'a Operation, operands: &'a [&'a Shape], results: &[&Shape]) -> Definition<'a> {
        let all = |shapes: &[&Shape]| shapes.iter().flat_map(|shape| sizes(shape)).collect();
        let memory =
            matches!(operation, Operation::Bitcast).then(|| Memory::new(leaves(operands[0])[0], leaves(results[0])[0]));
        Definition { operation, shapes: operands, ins: all(operands), outs: all(results), memory }
    }

    /// Visits all reads of a result element in the order of the computation: data first, then indices.
    pub(super) fn reads(&self, result: usize, o: &[i64], held: Held, read: Read) {
        let ins = &self.ins;
        let some = |read: Read, operand: usize, at: Index| self.visit(read, operand, at);
        match self.operation {
            Operation::Elementwise | Operation::Select => self.elementwise(o, read),
            Operation::Broadcast { dims } => some(read, 0, dims.iter().map(|d| o[*d]).collect()),
            Operation::Transpose { permutation } => some(read, 0, transposed(permutation, o)),
            Operation::Reverse { dims } => {
                let turned = |k: usize| if dims.contains(&k) { ins[0][k] - 1 - o[k] } else { o[k] };
                some(read, 0, (0..o.len()).map(turned).collect());
            }
            Operation::Reduce { dims } => self.reduce(dims, o, read),
            Operation::ReduceWindow { window } => self.reduce_window(window, o, read),
            Operation::Slice { starts, strides, .. } => {
                some(read, 0, (0..o.len()).map(|k| starts[k] + o[k] * strides[k]).collect());
            }
            Operation::InsertSlice { starts, strides } => match inserted(starts, strides, &ins[1], o) {
                Some(at) => some(read, 1, at),
                None => some(read, 0, o.to_vec()),
            },
            Operation::Reshape => some(read, 0, index_at(position(o, &self.outs[0]), &ins[0])),
            Operation::Bitcast => {
                let memory = self.memory.as_ref().expect("a bitcast has memory");
                memory.overlaps(o).for_each(|at| some(read, 0, at));
            }
            Operation::Concatenate { dim } => self.concatenate(*dim, o, read),
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
                self.dot([(lhs_batch, lhs_contracting), (rhs_batch, rhs_contracting)], o, read);
            }
            Operation::Pad { low, interior, .. } => self.pad(low, interior, o, read),
            Operation::Convolution(c) => self.convolution(c, o, read),
            Operation::DynamicSlice { sizes } => self.dynamic_slice(sizes, o, held, read),
            Operation::DynamicUpdateSlice => self.dynamic_update_slice(o, held, read),
            Operation::Gather(g) => self.gather(g, o, held, read),
            Operation::Scatter(g) => self.scatter(g, o, held, read),
            Operation::Tuple => some(read, result, o.to_vec()),
            Operation::Leaves { numbers } => {
                if let Some(number) = numbers[result] {
                    some(read, number, o.to_vec());
                }
            }
            Operation::Start(start) => match (start.result(result), start.operand(result)) {
                (Some(made), _) => self.started(start).reads(made, o, held, read),
                (None, Some(operand)) => some(read, operand, o.to_vec()),
                (None, None) => {}
            },
            Operation::GetTupleElement { index } => self.visit(read, self.leaves_before(*index) + result, o.to_vec()),
            Operation::Iota { .. } | Operation::Constant | Operation::Parameter { .. } => {}
            other => panic!("{other:?} is not interpreted"),
        }
    }

    /// Visits a read of an element.
    fn visit(&self, read: Read, operand: usize, at: Index) {
        assert!(is_inside(&at, &self.ins[operand]), "{:?} reads {at:?} of operand {operand}", self.operation);
        read(operand, Some(at));
    }

    fn elementwise(&self, o: &[i64], read: Read) {
        for (k, input) in self.ins.iter().enumerate() {
            self.visit(read, k, if input.is_empty() { Vec::new() } else { o.to_vec() });
        }
    }

    fn concatenate(&self, dim: usize, o: &[i64], read: Read) {
        let (mut k, mut at) = (0, o.to_vec());
        while at[dim] >= self.ins[k][dim] {
            at[dim] -= self.ins[k][dim];
            k += 1;
        }
        self.visit(read, k, at);
    }

    fn pad(&self, low: &[i64], interior: &[i64], o: &[i64], read: Read) {
        let steps: Index = interior.iter().map(|n| n + 1).collect();
        match inserted(low, &steps, &self.ins[0], o) {
            Some(at) => self.visit(read, 0, at),
            None => self.visit(read, 1, Vec::new()),
        }
    }

    fn dynamic_slice(&self, sizes: &[i64], o: &[i64], held: Held, read: Read) {
        let start = |k: usize| held(1 + k, &[]).clamp(0, self.ins[0][k] - sizes[k]);
        self.visit(read, 0, (0..o.len()).map(|k| o[k] + start(k)).collect());
        (1..self.ins.len()).for_each(|k| self.visit(read, k, Vec::new()));
    }

    fn dynamic_update_slice(&self, o: &[i64], held: Held, read: Read) {
        let ins = &self.ins;
        let start = |k: usize| held(2 + k, &[]).clamp(0, ins[0][k] - ins[1][k]);
        let at: Index = (0..o.len()).map(|k| o[k] - start(k)).collect();
        match is_inside(&at, &ins[1]) {
            true => self.visit(read, 1, at),
            false => self.visit(read, 0, o.to_vec()),
        }
        (2..ins.len()).for_each(|k| self.visit(read, k, Vec::new()));
    }

    /// The leaves of a tuple before a part.
    fn leaves_before(&self, index: usize) -> usize {
        let Shape::Tuple(parts) = self.shapes[0] else { panic!("no tuple") };
        parts[..index].iter().map(|part| leaves(part).len()).sum()
    }

    /// The operation that an asynchronous start runs.
    fn started(&self, start: &'a Start) -> Definition<'a> {
        let (first, count) = start.results;
        let outs = self.outs[first..first + count].to_vec();
        let memory = matches!(start.operation, Operation::Bitcast).then(|| panic!("no bitcast is started"));
        Definition { operation: &start.operation, shapes: self.shapes, ins: self.ins.clone(), outs, memory }
    }

    /// Visits all elements that differ only in the reduced dimensions, then the initial values.
    fn reduce(&self, dims: &[usize], o: &[i64], read: Read) {
        let (n, rank) = (self.ins.len() / 2, self.ins[0].len());
        let reduced: Vec<usize> = (0..rank).filter(|d| dims.contains(d)).collect();
        let kept: Vec<usize> = (0..rank).filter(|d| !dims.contains(d)).collect();
        for inner in indices(&reduced.iter().map(|d| self.ins[0][*d]).collect::<Vec<_>>()) {
            let mut at = vec![0; rank];
            reduced.iter().zip(inner).for_each(|(d, i)| at[*d] = i);
            kept.iter().zip(o).for_each(|(d, i)| at[*d] = *i);
            (0..n).for_each(|k| read(k, Some(at.clone())));
        }
        (n..2 * n).for_each(|k| read(k, Some(Vec::new())));
    }

    /// Visits all elements under the window, then the initial values.
    fn reduce_window(&self, window: &[WindowDim], o: &[i64], read: Read) {
        let n = self.ins.len() / 2;
        for w in indices(&window.iter().map(|d| d.size).collect::<Vec<_>>()) {
            let at: Option<Index> = (0..o.len()).map(|k| under(&window[k], self.ins[0][k], o[k], w[k])).collect();
            (0..n).for_each(|k| read(k, at.clone()));
        }
        (n..2 * n).for_each(|k| read(k, Some(Vec::new())));
    }

    /// Visits both elements of each product. The result has the batch dimensions, then the others of either side.
    fn dot(&self, sides: [(&Vec<usize>, &Vec<usize>); 2], o: &[i64], read: Read) {
        let contracted: Index = sides[0].1.iter().map(|d| self.ins[0][*d]).collect();
        for inner in indices(&contracted) {
            let mut free = sides[0].0.len();
            for (k, (batch, contracting)) in sides.into_iter().enumerate() {
                let mut coordinate = |d: usize| {
                    if let Some(b) = batch.iter().position(|dim| *dim == d) {
                        return o[b];
                    }
                    if let Some(c) = contracting.iter().position(|dim| *dim == d) {
                        return inner[c];
                    }
                    free += 1;
                    o[free - 1]
                };
                read(k, Some((0..self.ins[k].len()).map(&mut coordinate).collect()));
            }
        }
    }

    /// Visits both elements of each product, none in padding.
    fn convolution(&self, c: &Convolution, o: &[i64], read: Read) {
        let (input, kernel) = (&self.ins[0], &self.ins[1]);
        let (outputs, f) = (kernel[c.kernel_output_feature], o[c.output_feature]);
        let features = kernel[c.kernel_input_feature];
        let (mut from, mut at) = (vec![0; input.len()], vec![0; kernel.len()]);
        from[c.input_batch] = o[c.output_batch];
        from[c.input_batch] += f / (outputs / c.batch_groups) * (input[c.input_batch] / c.batch_groups);
        at[c.kernel_output_feature] = f;
        for w in indices(&c.window.iter().map(|d| d.size).collect::<Vec<_>>()) {
            let place = |k: usize| under(&c.window[k], input[c.input_spatial[k]], o[c.output_spatial[k]], w[k]);
            let Some(places) = (0..w.len()).map(place).collect::<Option<Index>>() else { continue };
            for (k, dim) in c.window.iter().enumerate() {
                from[c.input_spatial[k]] = places[k];
                at[c.kernel_spatial[k]] = if dim.reversed { dim.size - 1 - w[k] } else { w[k] };
            }
            for feature in 0..features {
                from[c.input_feature] = f / (outputs / c.feature_groups) * features + feature;
                at[c.kernel_input_feature] = feature;
                read(0, Some(from.clone()));
                read(1, Some(at.clone()));
            }
        }
    }

    /// Visits one element of a block, and the indices that give the block's start.
    fn gather(&self, g: &Gather, o: &[i64], held: Held, read: Read) {
        let (data, rows) = (&self.ins[0], &self.ins[1]);
        let (batch, offset) = split(g, o);
        let begin = begins(g, &batch, rows, &|at| held(1, at), data.len());
        let begin: Index =
            begin.iter().zip(data).zip(&g.slice_sizes).map(|((at, n), block)| (*at).clamp(0, n - block)).collect();
        read(0, Some(inside(g, &begin, &batch, &offset)));
        let entries = if g.index_vector_dim < rows.len() { rows[g.index_vector_dim] } else { 1 };
        (0..entries).for_each(|entry| read(1, Some(row(g, &batch, rows, entry))));
    }

    /// Visits the element itself, all indices, and the updates of the element: those whose whole block fits.
    fn scatter(&self, g: &Gather, o: &[i64], held: Held, read: Read) {
        let n = self.ins.len() / 2;
        let (data, rows, updates) = (&self.ins[0], &self.ins[n], &self.ins[n + 1]);
        (0..n).for_each(|k| read(k, Some(o.to_vec())));
        indices(rows).into_iter().for_each(|at| read(n, Some(at)));
        let last: Index = updates.iter().map(|n| n - 1).collect();
        let last = split(g, &last).1;
        for u in indices(updates) {
            let (batch, offset) = split(g, &u);
            let begin = begins(g, &batch, rows, &|at| held(n, at), data.len());
            let to = |offset: &[i64]| inside(g, &begin, &batch, offset);
            let fits = is_inside(&to(&vec![0; offset.len()]), data) && is_inside(&to(&last), data);
            if fits && to(&offset) == o {
                (n + 1..self.ins.len()).for_each(|k| read(k, Some(u.clone())));
            }
        }
    }
}

fn transposed(permutation: &[usize], o: &[i64]) -> Index {
    let mut at = o.to_vec();
    permutation.iter().zip(o).for_each(|(d, i)| at[*d] = *i);
    at
}

/// The source index of an element inserted at `starts` with `steps` between elements; `None` between and outside.
fn inserted(starts: &[i64], steps: &[i64], sizes: &[i64], o: &[i64]) -> Option<Index> {
    let at = |k: usize| {
        let past = o[k] - starts[k];
        (past >= 0 && past % steps[k] == 0 && past / steps[k] < sizes[k]).then(|| past / steps[k])
    };
    (0..o.len()).map(at).collect()
}

/// The data index under a position of a window; `None` in padding.
pub(super) fn under(dim: &WindowDim, n: i64, o: i64, w: i64) -> Option<i64> {
    let place = o * dim.stride + w * dim.window_dilation - dim.low;
    (place >= 0 && place % dim.base_dilation == 0 && place / dim.base_dilation < n).then(|| place / dim.base_dilation)
}

/// The batch coordinates of a gathered or scattered array, which select the block, and the offsets inside the block.
fn split(g: &Gather, index: &[i64]) -> (Index, Index) {
    let is_offset = |k: &usize| g.offset_dims.contains(k);
    let (offset, batch): (Vec<usize>, Vec<usize>) = (0..index.len()).partition(is_offset);
    let of = |dims: Vec<usize>| dims.into_iter().map(|k| index[k]).collect();
    (of(batch), of(offset))
}

/// The position, among the indices, of an entry of a block's index. Without an index vector dimension each element is
/// an index by itself.
fn row(g: &Gather, batch: &[i64], rows: &[i64], entry: i64) -> Index {
    let mut at = batch.to_vec();
    if g.index_vector_dim < rows.len() {
        at.insert(g.index_vector_dim, entry);
    }
    at
}

/// The start of a block according to the indices; 0 in dimensions without an index.
fn begins(g: &Gather, batch: &[i64], rows: &[i64], held: &dyn Fn(&[i64]) -> i64, rank: usize) -> Index {
    let mut found = vec![0; rank];
    for (entry, dim) in g.start_index_map.iter().enumerate() {
        found[*dim] = held(&row(g, batch, rows, entry as i64));
    }
    found
}

/// The data index from a block's start, the batch coordinates and the offsets in the block.
fn inside(g: &Gather, begin: &[i64], batch: &[i64], offset: &[i64]) -> Index {
    let mut offsets = offset.iter();
    let coordinate = |k: usize| {
        if let Some(b) = g.operand_batching_dims.iter().position(|dim| *dim == k) {
            let dim = g.start_indices_batching_dims[b];
            return batch[dim - usize::from(dim > g.index_vector_dim)];
        }
        begin[k] + if g.collapsed_slice_dims.contains(&k) { 0 } else { *offsets.next().unwrap() }
    };
    (0..begin.len()).map(coordinate).collect()
}

/// The operand's memory under a bitcast.
struct Memory {
    /// The operand's elements by their offsets in bits, and the width of each.
    elements: BTreeMap<i64, Index>,
    width: i64,
    /// The offsets in bits of the result's elements, its sizes, and the bits of an element.
    to: (Vec<i64>, Index, i64),
}

/// The first bit of each element in memory, in row-major order, the sizes, and the bits of an element.
pub(super) fn bit_offsets(array: &Array) -> (Vec<i64>, Index, i64) {
    let bits = match array.layout.element_bits {
        0 => array.element.bytes().unwrap() * 8,
        bits => bits,
    };
    let sizes = array.sizes().unwrap();
    let offsets = lay_out(&sizes, &array.layout).offsets(&sizes);
    (offsets.into_iter().map(|offset| offset * bits).collect(), sizes, bits)
}

impl Memory {
    fn new(from: &Array, to: &Array) -> Memory {
        let (offsets, sizes, width) = bit_offsets(from);
        Memory { elements: offsets.into_iter().zip(indices(&sizes)).collect(), width, to: bit_offsets(to) }
    }

    /// The operand elements that share bits with a result element.
    fn overlaps(&self, o: &[i64]) -> impl Iterator<Item = Index> {
        let (offsets, sizes, bits) = &self.to;
        let begin = offsets[position(o, sizes)];
        self.elements.range(begin - self.width + 1..begin + bits).map(|(_, at)| at.clone())
    }
}
