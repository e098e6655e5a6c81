//! Which dimensions of an operation's arrays are one: the same loop runs over them.
//!
//! `reduce(x[2,65,125], 0), dimensions={2}` runs over loops 0, 1 and 2; `x` has the loops `[0, 1, 2]`, the result `[0, 1]`.
//! An order of the loops is an order of the dimensions of each array: with the loops in the order `{2,0,1}`, minor first,
//! `x` is `{2,0,1}` and the result `{0,1}`. So a kernel reads and writes everything in the order in which it runs.

use tensor_layout::expr::Expr;
use tensor_layout::operations::operation::{Algorithm, Convolution, Gather, Loops, Operation};
use tensor_layout::operations::shape::Array;
use tensor_layout::operations::sizes::without;

/// The loop of each dimension of each array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Of the operands.
    pub operands: Vec<Vec<usize>>,
    /// Of the results.
    pub results: Vec<Vec<usize>>,
    /// Whether an order of one array is one of all others: the operation streams through all of them.
    pub streams: bool,
}

impl Labels {
    /// The loops of an operation; `None` where its dimensions have nothing to do with each other.
    pub fn new(operation: &Operation, operands: &[&Array], results: &[&Array]) -> Option<Labels> {
        let all = |rank: usize| (0..rank).collect::<Vec<_>>();
        let rank = |arrays: &[&Array]| arrays.iter().map(|array| array.dims.len()).max().unwrap_or(0);
        let alike = |arrays: &[&Array], rank: usize| {
            let one = |array: &&Array| if array.dims.len() == rank { all(rank) } else { Vec::new() };
            arrays.iter().map(one).collect::<Vec<_>>()
        };
        let streams = |operands, results| Some(Labels { operands, results, streams: true });
        match operation {
            Operation::Elementwise
            | Operation::Select
            | Operation::Reverse { .. }
            | Operation::Slice { .. }
            | Operation::Pad { .. }
            | Operation::DynamicSlice { .. }
            | Operation::DynamicUpdateSlice
            | Operation::InsertSlice { .. }
            | Operation::Concatenate { .. }
            | Operation::ReduceWindow { .. }
            | Operation::Iota { .. }
            | Operation::Algorithm(_)
                if Self::keeps_rank(operation, operands, results) =>
            {
                let rank = rank(results);
                streams(alike(operands, rank), alike(results, rank))
            }
            Operation::Broadcast { dims } => streams(vec![dims.clone()], vec![all(rank(results))]),
            Operation::Transpose { permutation } => streams(vec![all(permutation.len())], vec![permutation.clone()]),
            Operation::Reduce { dims } => {
                let rank = rank(operands);
                let left = without(rank, &[dims]);
                streams(alike(operands, rank), vec![left; results.len()])
            }
            Operation::Loops(loops) => loops_of(loops),
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
                let [lhs, rhs] = operands else { return None };
                let (mut a, mut b) = (vec![0; lhs.dims.len()], vec![0; rhs.dims.len()]);
                let mut next = 0;
                let mut name = |dims: &mut dyn Iterator<Item = &mut usize>| {
                    let own = next;
                    dims.for_each(|dim| *dim = own);
                    next += 1;
                    own
                };
                let mut result = Vec::new();
                for (l, r) in lhs_batch.iter().zip(rhs_batch) {
                    result.push(name(&mut [&mut a[*l], &mut b[*r]].into_iter()));
                }
                for l in without(lhs.dims.len(), &[lhs_batch, lhs_contracting]) {
                    result.push(name(&mut [&mut a[l]].into_iter()));
                }
                for r in without(rhs.dims.len(), &[rhs_batch, rhs_contracting]) {
                    result.push(name(&mut [&mut b[r]].into_iter()));
                }
                for (l, r) in lhs_contracting.iter().zip(rhs_contracting) {
                    name(&mut [&mut a[*l], &mut b[*r]].into_iter());
                }
                Some(Labels { operands: vec![a, b], results: vec![result], streams: false })
            }
            Operation::Convolution(convolution) => Some(convolved(convolution)),
            Operation::Gather(gather) => gathered(gather, operands, results),
            _ => None,
        }
    }

    /// Whether all arrays of an operation that are not scalars have one rank, and their dimensions go together.
    fn keeps_rank(operation: &Operation, operands: &[&Array], results: &[&Array]) -> bool {
        let Some(rank) = results.first().map(|array| array.dims.len()) else { return false };
        let fits = |array: &&Array| array.dims.is_empty() || array.dims.len() == rank;
        let algorithm = match operation {
            Operation::Algorithm(algorithm) => matches!(
                **algorithm,
                Algorithm::Sort { .. }
                    | Algorithm::TopK { .. }
                    | Algorithm::SelectAndScatter { .. }
                    | Algorithm::Fft { .. }
                    | Algorithm::Cholesky { .. }
                    | Algorithm::TriangularSolve { .. }
                    | Algorithm::Scan { .. }
            ),
            _ => true,
        };
        algorithm && operands.iter().chain(results).all(fits)
    }

    /// The number of loops.
    pub fn loops(&self) -> usize {
        self.operands.iter().chain(&self.results).flatten().max().map_or(0, |most| most + 1)
    }

    /// The array that has all loops, each once, if there is one: the first result, else the first operand.
    pub fn widest(&self) -> Option<(bool, usize)> {
        let whole = |labels: &Vec<usize>| {
            let mut sorted = labels.clone();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.len() == labels.len() && labels.len() == self.loops()
        };
        let result = self.results.iter().position(whole).map(|k| (true, k));
        result.or_else(|| self.operands.iter().position(whole).map(|k| (false, k)))
    }
}

/// An order of the dimensions of one array as an order of its loops.
pub fn order_of_loops(labels: &[usize], minor_to_major: &[usize]) -> Vec<usize> {
    minor_to_major.iter().map(|dim| labels[*dim]).collect()
}

/// The order of dimensions that an order of loops is, minor to major. Dimensions of loops that are not in the order are
/// most major, in descending order.
pub fn order_of_dimensions(labels: &[usize], loops: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..labels.len()).rev().collect();
    order.sort_by_key(|dim| loops.iter().position(|own| *own == labels[*dim]).unwrap_or(usize::MAX));
    order
}

/// Loops whose indices are single variables; other dimensions have loops of their own.
fn loops_of(loops: &Loops) -> Option<Labels> {
    let mut next = loops.sizes.len();
    let mut own = |index: &Vec<Expr>| {
        let label = |e: &Expr| match e {
            Expr::Var(v) if *v < loops.sizes.len() => *v,
            _ => {
                next += 1;
                next - 1
            }
        };
        index.iter().map(label).collect::<Vec<_>>()
    };
    let results: Vec<Vec<usize>> = loops.results.iter().map(&mut own).collect();
    let operands = loops.operands.iter().map(|index| index.as_ref().map_or(Vec::new(), &mut own)).collect();
    let mut found = Labels { operands, results, streams: false };
    found.streams = found.widest().is_some();
    Some(found)
}

fn convolved(convolution: &Convolution) -> Labels {
    let spatial = convolution.input_spatial.len();
    let rank = spatial + 2;
    let (mut input, mut kernel, mut output) = (vec![0; rank], vec![0; rank], vec![0; rank]);
    // Batch 0, output features 1, input features 2, then the spatial dimensions, of the window apart.
    input[convolution.input_batch] = 0;
    output[convolution.output_batch] = 0;
    kernel[convolution.kernel_output_feature] = 1;
    output[convolution.output_feature] = 1;
    input[convolution.input_feature] = 2;
    kernel[convolution.kernel_input_feature] = 2;
    for k in 0..spatial {
        input[convolution.input_spatial[k]] = 3 + k;
        output[convolution.output_spatial[k]] = 3 + k;
        kernel[convolution.kernel_spatial[k]] = 3 + spatial + k;
    }
    Labels { operands: vec![input, kernel], results: vec![output], streams: false }
}

/// The result's dimensions inside a block are the data's, the others those of the indices.
fn gathered(gather: &Gather, operands: &[&Array], results: &[&Array]) -> Option<Labels> {
    let ([data, indices], [result]) = (operands, results) else { return None };
    let own: Vec<usize> = (0..result.dims.len()).collect();
    let mut next = result.dims.len();
    let mut fresh = |n: usize| {
        let all: Vec<usize> = (next..next + n).collect();
        next += n;
        all
    };
    let (mut a, mut b) = (fresh(data.dims.len()), fresh(indices.dims.len()));
    let inside = without(data.dims.len(), &[&gather.collapsed_slice_dims, &gather.operand_batching_dims]);
    for (dim, offset) in inside.iter().zip(&gather.offset_dims) {
        a[*dim] = own[*offset];
    }
    let outside = without(result.dims.len(), &[&gather.offset_dims]);
    for (dim, batch) in without(indices.dims.len(), &[&[gather.index_vector_dim]]).iter().zip(&outside) {
        b[*dim] = own[*batch];
    }
    Some(Labels { operands: vec![a, b], results: vec![own], streams: false })
}
