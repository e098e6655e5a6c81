//! Kernels: operations that run as one, as far as costs depend on them.
//!
//! A kernel reads its operands, writes its results, and keeps what is between in registers. `y = a + b; z = sum(y)` over
//! `f32[1000]` as one kernel reads `a` and `b`, writes one number, and has one reduction over 1000 elements.

use crate::operations::graph::{Graph, Value};
use crate::operations::operation::{Algorithm, Gather, Operation, WindowDim};
use crate::operations::shape::{Array, Dim, Shape, count, leaves};
use crate::targets::product::{LoopProduct, Product};
use crate::text::Error;
use std::collections::{BTreeMap, BTreeSet};

/// A part of an array that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartRead {
    /// The part, or the whole, in the array's layout.
    pub array: Array,
    /// How many such parts are read.
    pub times: i64,
}

/// The reads, writes and work of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The reads of each operand: the whole, or the parts that slices inside the kernel take of it.
    pub operands: Vec<Vec<PartRead>>,
    /// The array that is written for each result.
    pub results: Vec<Array>,
    /// The operands of reductions.
    pub reduced: Vec<Array>,
    /// The results of operations that compute something.
    pub computed: Vec<Array>,
    /// The results of broadcasts along the minor dimension, with size 1 there.
    pub spread: Vec<Array>,
    /// The results of paddings and the operands of concatenations but the first, each as large as the result.
    pub padded: Vec<Array>,
    /// The result of windows that are combined, and the places of a window.
    pub windowed: Option<(Array, i64)>,
    /// The arrays that are read and written element by element: by gathers, scatters and sorts.
    pub scattered: Vec<Array>,
    /// Arrays that become another order inside the kernel: before and after, with the same dimensions.
    pub reordered: Vec<(Array, Array)>,
    /// The products.
    pub products: Vec<Product>,
    /// Whether something is broadcast.
    pub broadcast: bool,
    /// Whether the kernel is one operation.
    pub lone: bool,
}

/// Where a value in a kernel comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ValueSource {
    /// It is an operand as it is, or a part of it under another shape.
    Operand(usize),
    /// It is made in the kernel.
    Made,
}

impl Kernel {
    /// The deepest nesting of calls that is followed.
    const MAX_DEPTH: usize = 64;

    /// The kernel of one operation.
    pub fn of_operation(operation: &Operation, operands: &[&Array], results: &[&Array]) -> Kernel {
        let mut kernel = Kernel { lone: true, ..Kernel::default() };
        kernel.operands = operands.iter().map(|array| vec![once((*array).clone())]).collect();
        kernel.results = results.iter().map(|array| (*array).clone()).collect();
        match operation {
            Operation::Slice { .. } | Operation::DynamicSlice { .. } => {
                if let (Some(operand), [result, ..]) = (kernel.operands.first_mut(), results) {
                    *operand = vec![once(part(operands[0], result))];
                }
            }
            Operation::Gather(gather) => {
                if let (Some(data), Some(indices)) = (operands.first(), operands.get(1)) {
                    kernel.operands[0] = vec![blocks(data, indices, gather)];
                }
            }
            // The operand is changed where it is.
            Operation::DynamicUpdateSlice => {
                if let ([_, update, ..], [result, ..]) = (operands, &mut kernel.results[..]) {
                    kernel.operands[0] = Vec::new();
                    *result = part(result, update);
                }
            }
            _ => {}
        }
        kernel.add(operation, operands, results);
        kernel
    }

    /// The kernel of a graph: of graph `number` of `graphs`, and those that it calls, run on arrays.
    ///
    /// # Errors
    /// The graphs call each other too deep.
    pub fn of_graph(graphs: &[Graph], number: usize, operands: &[&Array], results: &[&Array]) -> Result<Kernel, Error> {
        let mut kernel = Kernel {
            operands: vec![Vec::new(); operands.len()],
            results: results.iter().map(|array| (*array).clone()).collect(),
            ..Kernel::default()
        };
        let mut reads = vec![BTreeMap::new(); operands.len()];
        let origins: Vec<ValueSource> = (0..operands.len()).map(ValueSource::Operand).collect();
        let mut walk = KernelWalk { graphs, operands, kernel: &mut kernel, reads: &mut reads };
        let updated = walk.graph(number, &origins, 0)?;
        for (result, update) in kernel.results.iter_mut().zip(updated) {
            if let Some(update) = update {
                *result = part(result, &update);
            }
        }
        for ((read, parts), whole) in kernel.operands.iter_mut().zip(reads).zip(operands) {
            *read = match parts.contains_key(&None) {
                true => vec![once((*whole).clone())],
                false => parts.into_values().map(once).collect(),
            };
        }
        Ok(kernel)
    }

    /// Whether all that the kernel does is to broadcast what is smaller than its result.
    pub(super) fn is_broadcast(&self) -> bool {
        let inside = [&self.reduced, &self.computed, &self.padded, &self.scattered];
        let whole = |part: &PartRead| self.results.iter().any(|result| result.dims == part.array.dims);
        self.lone
            && inside.iter().all(|arrays| arrays.is_empty())
            && self.reordered.is_empty()
            && !self.operands.iter().flatten().any(whole)
            && self.broadcast
    }

    /// Adds what an operation does inside.
    fn add(&mut self, operation: &Operation, operands: &[&Array], results: &[&Array]) {
        let [result, ..] = results else { return };
        match operation {
            Operation::Elementwise | Operation::Select => {
                self.computed.push((*result).clone());
                self.reorder(operands, result);
            }
            Operation::Transpose { permutation } => {
                if let Some(operand) = operands.first().and_then(|operand| permuted(operand, permutation)) {
                    self.reordered.push((operand, (*result).clone()));
                }
            }
            Operation::Broadcast { dims } => {
                self.broadcast = true;
                let minor = result.layout.minor_to_major.first().filter(|minor| !dims.contains(minor));
                let has_sizes = operands.iter().any(|a| a.dims.iter().any(|dim| *dim != Dim::Exact(1)));
                if let Some(minor) = minor.filter(|_| has_sizes) {
                    let mut spread = (*result).clone();
                    spread.dims[*minor] = Dim::Exact(1);
                    self.spread.push(spread);
                }
            }
            Operation::Pad { .. } => self.padded.push((*result).clone()),
            Operation::Concatenate { .. } => {
                self.padded.extend(operands.iter().skip(1).map(|_| (*result).clone()));
            }
            Operation::Reduce { .. } => {
                let half = operands.len() / 2;
                self.reduced.extend(operands[..half].iter().map(|array| (*array).clone()));
            }
            Operation::ReduceWindow { window } => {
                let sizes = result.sizes().unwrap_or_default();
                let places = window.iter().zip(&sizes).map(places).fold(1i64, i64::saturating_mul);
                self.windowed = Some(((*result).clone(), places));
            }
            Operation::Gather(_) | Operation::Scatter(_) => {
                self.scattered.extend(results.iter().map(|array| (*array).clone()));
            }
            Operation::Algorithm(algorithm)
                if matches!(**algorithm, Algorithm::Sort { .. } | Algorithm::TopK { .. }) =>
            {
                self.scattered.extend(operands.iter().map(|array| (*array).clone()));
            }
            Operation::Dot { .. } if LoopProduct::of(operation, operands).is_some() => {
                let widest = operands.iter().copied().chain([*result]).max_by_key(|array| array.dims.len());
                self.computed.extend(widest.cloned());
                if LoopProduct::of(operation, operands) == Some(LoopProduct::Summed) {
                    self.reduced.extend(widest.cloned());
                }
            }
            _ => match Product::of(operation, operands, result) {
                Some(product) if product.is_depthwise() => {
                    self.windowed = Some((product.result, product.depth.0.saturating_mul(product.depth.1)));
                }
                Some(product) => self.products.push(product),
                None => {}
            },
        }
    }

    /// Adds the operands of an elementwise operation that have another order or other tiles than its result.
    fn reorder(&mut self, operands: &[&Array], result: &Array) {
        let differs = |array: &&&Array| {
            let orders = [*array, &result].map(|array| &array.layout.minor_to_major);
            let tiles = array.layout.tiles != result.layout.tiles && array.element == result.element;
            array.dims == result.dims && (orders[0] != orders[1] || tiles)
        };
        let reordered = operands.iter().filter(differs).map(|operand| ((*operand).clone(), result.clone()));
        self.reordered.extend(reordered);
    }
}

/// The places of a window along a dimension. A window as long as the dimension is a scan, which takes as long as two.
fn places((dim, size): (&WindowDim, &i64)) -> i64 {
    if dim.size >= *size { dim.size.min(2) } else { dim.size }
}

/// The arrays of a graph inside a kernel, by node, up to the one that is looked at.
struct GraphArrays<'g> {
    graph: &'g Graph,
    number: usize,
    arrays: Vec<Vec<&'g Array>>,
    /// The first array of each parameter, and where all parameters' arrays come from.
    first: BTreeMap<usize, usize>,
    origins: &'g [ValueSource],
    sources: Vec<Vec<ValueSource>>,
    /// For each array the update in place that it is.
    updates: Vec<Vec<Option<Array>>>,
}

/// The walk through the graphs of a kernel.
struct KernelWalk<'a> {
    graphs: &'a [Graph],
    operands: &'a [&'a Array],
    kernel: &'a mut Kernel,
    /// By operand, and by graph and node of the slice that reads a part of it; `None` for the whole.
    reads: &'a mut Vec<BTreeMap<Option<(usize, usize)>, Array>>,
}

impl KernelWalk<'_> {
    /// Goes through a graph whose parameters' arrays come from `origins`; gives for each array of its roots the update
    /// where it is an operand that is changed in place.
    fn graph(&mut self, number: usize, origins: &[ValueSource], depth: usize) -> Result<Vec<Option<Array>>, Error> {
        let graphs = self.graphs;
        let Some(graph) = graphs.get(number).filter(|_| depth < Kernel::MAX_DEPTH) else {
            return Err(
                Error::new(format!("calls must be nested at most {} deep, found more", Kernel::MAX_DEPTH)).too_large()
            );
        };
        let arrays: Vec<Vec<&Array>> =
            graph.nodes.iter().map(|n| n.results.iter().flat_map(leaves).collect()).collect();
        let first = parameters(graph, &arrays);
        let (sources, updates) = (Vec::new(), Vec::new());
        let mut values = GraphArrays { graph, number, arrays, first, origins, sources, updates };
        for k in 0..graph.nodes.len() {
            let (sources, mut updates) = self.node(&values, k, depth)?;
            updates.resize(values.arrays[k].len(), None);
            values.sources.push(sources);
            values.updates.push(updates);
        }
        let mut found = Vec::new();
        for Value { node, .. } in &graph.roots {
            // An operand that is a result as it is is copied.
            self.read_whole(&values.sources[*node]);
            found.extend(values.updates[*node].iter().cloned());
        }
        Ok(found)
    }

    /// Goes through a node; gives where its arrays come from, and the updates in place that they are.
    fn node(
        &mut self,
        values: &GraphArrays,
        k: usize,
        depth: usize,
    ) -> Result<(Vec<ValueSource>, Vec<Option<Array>>), Error> {
        let (node, arrays) = (&values.graph.nodes[k], &values.arrays[k]);
        let operands: Vec<&Array> = node.operands.iter().flat_map(|v| values.arrays[v.node].iter().copied()).collect();
        let sources: Vec<ValueSource> = node.operands.iter().flat_map(|v| values.sources[v.node].clone()).collect();
        let made = vec![ValueSource::Made; arrays.len()];
        // Tuples and bitcasts of what is changed in place are so, too.
        let mut update: Vec<Option<Array>> =
            node.operands.iter().flat_map(|v| values.updates[v.node].clone()).collect();
        let passes = matches!(node.operation, Operation::Tuple | Operation::Bitcast);
        if !passes || update.len() != arrays.len() {
            update = vec![None; arrays.len()];
        }
        let origin = match &node.operation {
            Operation::Parameter { number } => {
                let start = values.first.get(number).copied().unwrap_or(0);
                let origin = |n| values.origins.get(n).cloned().unwrap_or(ValueSource::Made);
                (start..start + arrays.len()).map(origin).collect()
            }
            Operation::Tuple | Operation::Bitcast if sources.len() == arrays.len() => sources,
            Operation::GetTupleElement { index } => {
                let start = part_of(&values.graph.nodes[node.operands[0].node].results, *index);
                sources.get(start..start + arrays.len()).map_or(made, <[ValueSource]>::to_vec)
            }
            Operation::Call { computation } => {
                update = self.graph(*computation, &sources, depth + 1)?;
                made
            }
            Operation::Slice { .. } | Operation::DynamicSlice { .. } => {
                self.read_whole(sources.get(1..).unwrap_or_default());
                if let (Some(source), Some(operand)) = (sources.first(), operands.first()) {
                    self.read(source, Some((values.number, k)), Some(part(operand, arrays[0])));
                }
                made
            }
            Operation::DynamicUpdateSlice if matches!(sources[..], [ValueSource::Operand(_), _, ..]) => {
                self.read_whole(&sources[1..]);
                update = vec![operands.get(1).map(|update| (*update).clone())];
                made
            }
            operation => {
                self.read_whole(&sources);
                self.kernel.add(operation, &operands, arrays);
                made
            }
        };
        Ok((origin, update))
    }

    /// Notes that operands are read as wholes.
    fn read_whole(&mut self, origins: &[ValueSource]) {
        origins.iter().for_each(|origin| self.read(origin, None, None));
    }

    /// Notes that an operand is read: a part of it, or the whole.
    fn read(&mut self, origin: &ValueSource, by: Option<(usize, usize)>, part: Option<Array>) {
        if let ValueSource::Operand(operand) = origin {
            let whole = || self.operands[*operand].clone();
            self.reads[*operand].entry(by).or_insert_with(|| {
                let mut read = part.unwrap_or_else(whole);
                read.layout.memory_space = self.operands[*operand].layout.memory_space;
                read
            });
        }
    }
}

/// The first array of each parameter, by its number, among all parameters' arrays.
fn parameters(graph: &Graph, arrays: &[Vec<&Array>]) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for (node, arrays) in graph.nodes.iter().zip(arrays) {
        if let Operation::Parameter { number } = node.operation {
            counts.insert(number, arrays.len());
        }
    }
    let mut next = 0;
    let first = |(number, count)| {
        let start = next;
        next += count;
        (number, start)
    };
    counts.into_iter().map(first).collect()
}

/// The number of the first array of a part of a tuple.
fn part_of(results: &[Shape], index: usize) -> usize {
    match results {
        [Shape::Tuple(parts)] => parts.iter().take(index).map(count).sum(),
        results => results.iter().take(index).map(count).sum(),
    }
}

/// A part that is read once.
fn once(array: Array) -> PartRead {
    PartRead { array, times: 1 }
}

/// The blocks that a gather reads.
fn blocks(data: &Array, indices: &Array, gather: &Gather) -> PartRead {
    let dims: Vec<Dim> = gather.slice_sizes.iter().map(|size| Dim::Exact(*size)).collect();
    let sizes = indices.sizes().unwrap_or_default();
    let counted = sizes.iter().enumerate().filter(|(dim, _)| *dim != gather.index_vector_dim);
    let times = counted.fold(1i64, |n, (_, size)| n.saturating_mul(*size));
    if dims.len() == data.dims.len() {
        PartRead { array: Array { dims, ..data.clone() }, times }
    } else {
        once(data.clone())
    }
}

/// The part of `whole` that has the sizes of `slice`; where a bitcast is between them, `slice` in the memory of `whole`.
fn part(whole: &Array, slice: &Array) -> Array {
    if whole.dims.len() == slice.dims.len() {
        Array { dims: slice.dims.clone(), ..whole.clone() }
    } else {
        whole.clone()
    }
}

/// The array that a transpose makes without moving anything.
fn permuted(operand: &Array, permutation: &[usize]) -> Option<Array> {
    let distinct: BTreeSet<usize> = permutation.iter().copied().collect();
    if distinct.len() != operand.dims.len() || permutation.len() != operand.dims.len() {
        return None;
    }
    let dims = permutation.iter().map(|dim| operand.dims.get(*dim).copied()).collect::<Option<Vec<_>>>()?;
    let mut layout = operand.layout.clone();
    for dim in &mut layout.minor_to_major {
        *dim = permutation.iter().position(|of| of == dim)?;
    }
    Some(Array { dims, layout, ..operand.clone() })
}
