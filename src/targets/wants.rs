//! The layouts that operations want of their operands and results: what a planner begins with.
//!
//! | operation | wants |
//! |---|---|
//! | product | the longest dimension of each of two kinds (rows, columns, summed over) minor and second-minor, as pads least; batch dimensions most major |
//! | convolution | as a product of images (rows), kernels and results: batches and features minor and second-minor in images, input and output features in kernels |
//! | gather, scatter | the data with the dimensions that indices are for most major, the result with those that count blocks; of the others the pair that pads least minor |
//! | sort, top k | on a machine with tiles the sorted dimension second-minor; minor, too, where it fills the lanes of a register |
//! | matrices and Fourier transforms | row-major |
//!
//! All other operations take the layouts that their neighbours have. A planner for tiles has an operation in no other
//! layouts than those that it wants; what each costs is for [`Target::operation_cost`].

use super::target::Target;
use crate::operations::operation::{Algorithm, Convolution, Gather, Operation};
use crate::operations::shape::Array;
use crate::text::Error;
use crate::tiled::{Expansion, Layout};
use std::cmp::Ordering;

/// One way to lay out the operands and results of an operation. `None` where every layout is as good.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Want {
    /// The layout of each operand.
    pub operands: Vec<Option<Layout>>,
    /// The layout of each result.
    pub results: Vec<Option<Layout>>,
}

/// For each operand, and for each result, the dimensions that vary fastest, the fastest first.
type Minor = (Vec<Option<Vec<usize>>>, Vec<Option<Vec<usize>>>);

impl Target {
    /// The ways to lay out the operands and results of an operation that may be the cheapest. None where every layout is as
    /// good as it is small, as for elementwise operations. Shapes must be those that the operation can have.
    ///
    /// # Errors
    /// Those of [`Target::layout`].
    pub fn wants(&self, operation: &Operation, operands: &[&Array], results: &[&Array]) -> Result<Vec<Want>, Error> {
        let ways = match operation {
            Operation::Dot { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } => {
                let contracted = [(lhs_batch.as_slice(), lhs_contracting.as_slice()), (rhs_batch, rhs_contracting)];
                results.first().and_then(|result| self.matrices(contracted, operands, result)).unwrap_or_default()
            }
            Operation::Convolution(convolution) => self.images(convolution, operands, results),
            Operation::Gather(gather) | Operation::Scatter(gather) => self.blocks(gather, operands, results),
            Operation::Algorithm(algorithm) => self.lines(algorithm, operands, results),
            _ => Vec::new(),
        };
        let mut wants: Vec<Want> = Vec::new();
        for (of_operands, of_results) in ways {
            let all = |arrays: &[&Array], minor: Vec<Option<Vec<usize>>>| {
                let one = |(array, minor): (&&Array, Option<Vec<usize>>)| self.wanted(array, minor);
                let minor = minor.into_iter().chain(std::iter::repeat(None));
                arrays.iter().zip(minor).map(one).collect::<Result<Vec<_>, Error>>()
            };
            let want = Want { operands: all(operands, of_operands)?, results: all(results, of_results)? };
            if !wants.contains(&want) {
                wants.push(want);
            }
        }
        Ok(wants)
    }

    /// Updates are row-major. Indices have the dimension of their numbers most major: by XLA's count, a look-up of 300 pairs
    /// of numbers takes 1,861 cycles with them in `{0,1}`, and 4,077 in `{1,0}`. The data has the dimensions that indices are
    /// for most major, and of the others those minor and second-minor that pad least; in the result, blocks are lines, too,
    /// and the dimensions that count them are most major.
    fn blocks(&self, gather: &Gather, operands: &[&Array], results: &[&Array]) -> Vec<Minor> {
        let [Some(data), Some(indices)] = [operands.first(), operands.get(operands.len() / 2)] else {
            return Vec::new();
        };
        let inside = (0..data.dims.len()).rev().filter(|dim| !gather.start_index_map.contains(dim));
        let inside = self.least_padded(inside.collect(), data);
        let numbers = self.single_elements(&inside, data);
        let gone =
            |dim: &usize| gather.collapsed_slice_dims.contains(dim) || gather.operand_batching_dims.contains(dim);
        let of_blocks: Vec<usize> = (0..data.dims.len()).filter(|dim| !gone(dim)).collect();
        let in_result = |dim: &usize| gather.offset_dims.get(of_blocks.iter().position(|own| own == dim)?).copied();
        let mut minor: Vec<usize> = inside.iter().filter_map(in_result).collect();
        minor.extend(gather.offset_dims.iter().rev().filter(|dim| !minor.contains(dim)).copied().collect::<Vec<_>>());
        let of_results =
            if operands.len() == 2 { vec![Some(minor)] } else { vec![Some(numbers.clone()); results.len()] };
        let mut of_operands = vec![Some(Vec::new()); operands.len()];
        if gather.index_vector_dim < indices.dims.len() {
            let places = (0..indices.dims.len()).rev().filter(|dim| *dim != gather.index_vector_dim);
            of_operands[operands.len() / 2] = Some(places.collect());
        }
        of_operands[0] = Some(if inside.is_empty() { numbers } else { inside });
        vec![(of_operands, of_results)]
    }

    /// The order of data of which single elements are looked up, since indices are for all of its dimensions: the default. By
    /// XLA's count, a look-up of an element in each row of f32[300,18] and an update of it take 7,404 cycles in `{0,1}`, and
    /// 7,746 in `{1,0}`. Nothing where blocks are looked up.
    fn single_elements(&self, inside: &[usize], data: &Array) -> Vec<usize> {
        let sizes = data.sizes().filter(|_| inside.is_empty()).unwrap_or_default();
        self.default_layout(data.element, &sizes).map(|layout| layout.minor_to_major).unwrap_or_default()
    }

    /// Dimensions of an array with those first that pad least as the minor and the second-minor one; of equals the first ones.
    fn least_padded(&self, dims: Vec<usize>, array: &Array) -> Vec<usize> {
        let pairs = dims.iter().flat_map(|minor| dims.iter().map(move |second| [*minor, *second]));
        let apart = pairs.filter(|[minor, second]| minor != second);
        let others = |pair: [usize; 2]| (0..array.dims.len()).rev().filter(move |dim| !pair.contains(dim));
        let order = |pair: [usize; 2]| pair.into_iter().chain(others(pair)).collect::<Vec<_>>();
        let Some(pair) = apart.min_by_key(|pair| self.padded_bytes(array, &order(*pair)).map_or(i64::MAX, |n| n))
        else {
            return dims;
        };
        pair.into_iter().chain(dims.iter().copied().filter(|dim| !pair.contains(dim))).collect()
    }

    /// The bytes of an array in the layout of an order, padding included.
    fn padded_bytes(&self, array: &Array, order: &[usize]) -> Option<i64> {
        let sizes = array.sizes()?;
        let layout = self.layout(array.element, &sizes, order).ok()?;
        Expansion::new(&sizes, &layout).ok()?.padded_bytes(array.element).ok()
    }

    /// The layout of an array whose fastest dimensions are these.
    fn wanted(&self, array: &Array, minor: Option<Vec<usize>>) -> Result<Option<Layout>, Error> {
        let (Some(minor), Some(sizes)) = (minor, array.sizes()) else { return Ok(None) };
        let others = (0..sizes.len()).rev().filter(|dim| !minor.contains(dim));
        let order: Vec<usize> = minor.iter().copied().chain(others).collect();
        self.layout(array.element, &sizes, &order).map(Some)
    }
}

/// The dimensions of an operand of a product by their kind.
struct OperandDims<'a> {
    batch: &'a [usize],
    contracting: &'a [usize],
    free: Vec<usize>,
    sizes: Vec<i64>,
}

impl<'a> OperandDims<'a> {
    /// `None` where a size is not known.
    fn new(array: &Array, (batch, contracting): (&'a [usize], &'a [usize])) -> Option<OperandDims<'a>> {
        let taken = |dim: &usize| batch.contains(dim) || contracting.contains(dim);
        let free = (0..array.dims.len()).filter(|dim| !taken(dim)).collect();
        Some(OperandDims { batch, contracting, free, sizes: array.sizes()? })
    }

    /// The position of the longest dimension of a list, of equals the last dimension.
    fn longest(&self, dims: &[usize]) -> Option<usize> {
        (0..dims.len()).max_by_key(|position| (self.sizes[dims[*position]], dims[*position]))
    }
}

impl Target {
    /// The ways of a product. The longest dimension of each kind (rows, columns, summed over) is one of the two minor ones of
    /// both arrays that have it; dimensions that are summed over come next, then rows, columns, and batch dimensions. So XLA's
    /// compiler for a TPU lays out 314 of 327 random products whose entry it may choose.
    fn matrices(&self, dims: [(&[usize], &[usize]); 2], operands: &[&Array], result: &Array) -> Option<Vec<Minor>> {
        let [lhs, rhs, ..] = operands else { return None };
        let [left, right] = [OperandDims::new(lhs, dims[0])?, OperandDims::new(rhs, dims[1])?];
        let depth = left.longest(left.contracting);
        let order = |side: &OperandDims, array: &Array| {
            let pair = [depth.map(|k| side.contracting[k]), side.longest(&side.free).map(|k| side.free[k])];
            let major = side.batch.iter().rev().copied();
            self.least_padded_pairs(array, pair, from_last(side.contracting).chain(from_last(&side.free)).chain(major))
        };
        let rows = left.batch.len()..left.batch.len() + left.free.len();
        let columns = rows.end..rows.end + right.free.len();
        let row = left.longest(&left.free).map(|k| rows.start + k);
        let column = right.longest(&right.free).map(|k| columns.start + k);
        let rest = rows.clone().rev().chain(columns.rev()).chain((0..rows.start).rev());
        let written = self.least_padded_pairs(result, [row, column], rest);
        let mut ways = Vec::new();
        for left in order(&left, lhs) {
            for right in order(&right, rhs) {
                let read = || vec![Some(left.clone()), Some(right.clone())];
                ways.extend(written.iter().map(|written| (read(), vec![Some(written.clone())])));
            }
        }
        Some(ways)
    }

    /// The ways of a convolution: a product of images, kernels and results, whose rows are images. The order of each array
    /// is the one that pads least of the two that have both its kinds of dimensions minor. XLA's compiler for a TPU, which may
    /// choose the entry, lays out 165 of 193 random convolutions so, those that cut images included, and 105 of them where
    /// a plan may also have a spatial dimension minor.
    fn images(&self, convolution: &Convolution, operands: &[&Array], results: &[&Array]) -> Vec<Minor> {
        let ([input, kernel, ..], [output, ..]) = (operands, results) else { return Vec::new() };
        if !self.has_tiles() {
            return minor_kinds(convolution);
        }
        let order = |array: &Array, pair: [usize; 2]| {
            self.least_padded_pairs(array, pair.map(Some), (0..array.dims.len()).rev())
        };
        let inputs = order(input, [convolution.input_feature, convolution.input_batch]);
        let kernels = order(kernel, [convolution.kernel_output_feature, convolution.kernel_input_feature]);
        let outputs = order(output, [convolution.output_feature, convolution.output_batch]);
        let read = inputs.iter().map(|input| vec![Some(input.clone()), kernels.first().cloned()]);
        read.flat_map(|read| outputs.iter().map(move |output| (read.clone(), vec![Some(output.clone())]))).collect()
    }

    /// The orders that begin with two dimensions, in the way that pads least, or in both, the last dimension minor first;
    /// `rest` has the others, too.
    fn least_padded_pairs(
        &self,
        array: &Array,
        pair: [Option<usize>; 2],
        rest: impl Iterator<Item = usize>,
    ) -> Vec<Vec<usize>> {
        let rest: Vec<usize> = rest.filter(|dim| !pair.contains(&Some(*dim))).collect();
        let [Some(a), Some(b)] = pair else { return vec![pair.into_iter().flatten().chain(rest).collect()] };
        let bytes = |order: &Vec<usize>| self.padded_bytes(array, order);
        let [one, other] = [[a.max(b), a.min(b)], [a.min(b), a.max(b)]].map(|minor| [&minor[..], &rest].concat());
        match bytes(&one).cmp(&bytes(&other)) {
            Ordering::Less => vec![one],
            Ordering::Greater => vec![other],
            Ordering::Equal => vec![one, other],
        }
    }

    /// The ways of algorithms that go through lines or matrices. A line is sorted in the rows of registers; in the lanes, too,
    /// where it fills them.
    fn lines(&self, algorithm: &Algorithm, operands: &[&Array], results: &[&Array]) -> Vec<Minor> {
        let sizes = operands.first().and_then(|array| array.sizes()).unwrap_or_default();
        let all =
            |order: &[usize]| (vec![Some(order.to_vec()); operands.len()], vec![Some(order.to_vec()); results.len()]);
        let sorted = match algorithm {
            Algorithm::Sort { dim } => *dim,
            Algorithm::TopK { .. } => sizes.len().saturating_sub(1),
            Algorithm::Fft { .. } | Algorithm::Cholesky { .. } | Algorithm::TriangularSolve { .. } => {
                return vec![all(&[])];
            }
            _ => return Vec::new(),
        };
        let registers = self.machine().model.registers.filter(|_| self.has_tiles());
        let Some((_, lanes)) = registers.filter(|_| sorted < sizes.len()) else { return Vec::new() };
        let others = (0..sizes.len()).rev().filter(|dim| *dim != sorted);
        let ways = others.flat_map(|other| [[other, sorted], [sorted, other]]);
        ways.filter(|[minor, _]| *minor != sorted || sizes[sorted] >= lanes).map(|order| all(&order)).collect()
    }
}

/// Dimensions from the last to the first.
fn from_last(dims: &[usize]) -> impl Iterator<Item = usize> {
    let mut dims = dims.to_vec();
    dims.sort_unstable();
    dims.into_iter().rev()
}

/// The ways of a convolution on a machine without tiles: features, images, or the last spatial dimension minor.
fn minor_kinds(convolution: &Convolution) -> Vec<Minor> {
    let mut kinds = vec![
        (convolution.input_feature, convolution.output_feature),
        (convolution.input_batch, convolution.output_batch),
    ];
    kinds.extend(convolution.input_spatial.iter().copied().zip(convolution.output_spatial.iter().copied()).next_back());
    let kernel = Some(vec![convolution.kernel_output_feature, convolution.kernel_input_feature]);
    let way = |(input, output)| (vec![Some(vec![input]), kernel.clone()], vec![Some(vec![output])]);
    kinds.into_iter().map(way).collect()
}
