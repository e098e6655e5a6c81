//! The layouts that operations want of their operands and results: what a planner begins with.
//!
//! | operation | wants |
//! |---|---|
//! | product | the last dimension of each of two kinds (rows, columns, summed over) minor and second-minor, in either order; batch dimensions outside |
//! | convolution | features minor and batches second; features and the last spatial dimension; batches and features; the last spatial dimension and features. The kernel with output features minor |
//! | gather, scatter | the data with the dimensions that indices are for most major, all else row-major: blocks are then whole lines |
//! | sort, top k | a dimension minor that is not the one that is sorted: lanes are compared at the same time |
//! | matrices and Fourier transforms | row-major |
//!
//! All other operations take the layouts that their neighbours have. Wants are candidates, not demands: what each costs
//! is for [`Target::operation_cost`].

use super::target::Target;
use crate::operations::operation::{Algorithm, Convolution, Gather, Operation};
use crate::operations::shape::Array;
use crate::text::Error;
use crate::tiled::Layout;

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
                dot([lhs_batch, rhs_batch], [lhs_contracting, rhs_contracting], operands)
            }
            Operation::Convolution(convolution) => windows(convolution),
            Operation::Gather(gather) | Operation::Scatter(gather) => self.blocks(gather, operands, results),
            Operation::Algorithm(algorithm) => lines(algorithm, operands, results),
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
    /// for most major, and of the others those minor and second-minor that pad least; in the result, too, blocks are lines.
    fn blocks(&self, gather: &Gather, operands: &[&Array], results: &[&Array]) -> Vec<Minor> {
        let [Some(data), Some(indices)] = [operands.first(), operands.get(operands.len() / 2)] else {
            return Vec::new();
        };
        let inside: Vec<usize> =
            (0..data.dims.len()).rev().filter(|dim| !gather.start_index_map.contains(dim)).collect();
        let inside = self.least_padded(inside, &data.sizes().unwrap_or_default());
        let numbers = self.single_elements(&inside, data);
        let gone =
            |dim: &usize| gather.collapsed_slice_dims.contains(dim) || gather.operand_batching_dims.contains(dim);
        let of_blocks: Vec<usize> = (0..data.dims.len()).filter(|dim| !gone(dim)).collect();
        let in_result = |dim: &usize| gather.offset_dims.get(of_blocks.iter().position(|own| own == dim)?).copied();
        let mut minor: Vec<usize> = inside.iter().filter_map(in_result).collect();
        minor.extend(gather.offset_dims.iter().rev().filter(|dim| !minor.contains(dim)).copied().collect::<Vec<_>>());
        minor.truncate(2);
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

    /// Dimensions with those first that pad least as the minor and the second-minor one; of equals the first ones.
    fn least_padded(&self, dims: Vec<usize>, sizes: &[i64]) -> Vec<usize> {
        let (rows, lanes) = self.machine().model.registers.unwrap_or((1, 1));
        let times = |dim: usize, by: i64| {
            let n = sizes.get(dim).copied().unwrap_or(1).max(1);
            i128::from(n / by + i64::from(n % by != 0)) * i128::from(by) * 1_000_000 / i128::from(n)
        };
        let pairs = dims.iter().flat_map(|minor| dims.iter().map(move |second| (*minor, *second)));
        let apart = pairs.filter(|(minor, second)| minor != second);
        let Some((minor, second)) = apart.min_by_key(|(minor, second)| times(*minor, lanes) * times(*second, rows))
        else {
            return dims;
        };
        let rest = dims.iter().copied().filter(|dim| *dim != minor && *dim != second);
        [minor, second].into_iter().chain(rest).collect()
    }

    /// The layout of an array whose fastest dimensions are these.
    fn wanted(&self, array: &Array, minor: Option<Vec<usize>>) -> Result<Option<Layout>, Error> {
        let (Some(minor), Some(sizes)) = (minor, array.sizes()) else { return Ok(None) };
        let others = (0..sizes.len()).rev().filter(|dim| !minor.contains(dim));
        let order: Vec<usize> = minor.iter().copied().chain(others).collect();
        self.layout(array.element, &sizes, &order).map(Some)
    }
}

/// The ways of a product: for each operand and the result, which of its two kinds of dimensions is minor.
fn dot(batch: [&[usize]; 2], contracting: [&[usize]; 2], operands: &[&Array]) -> Vec<Minor> {
    let [lhs, rhs, ..] = operands else { return Vec::new() };
    let free = |side: usize, array: &Array| -> Vec<usize> {
        let taken = |dim: &usize| !batch[side].contains(dim) && !contracting[side].contains(dim);
        (0..array.dims.len()).filter(taken).collect()
    };
    let (rows, columns) = (free(0, lhs), free(1, rhs));
    let first = batch[0].len();
    let ends = |a: Option<usize>, b: Option<usize>| {
        let pair = [a, b].into_iter().flatten().collect::<Vec<_>>();
        let turned = pair.iter().rev().copied().collect();
        if pair.len() == 2 { vec![pair, turned] } else { vec![pair] }
    };
    let left = ends(contracting[0].iter().max().copied(), rows.last().copied());
    let right = ends(columns.last().copied(), contracting[1].iter().max().copied());
    let last = |dims: &[usize], before: usize| (!dims.is_empty()).then(|| before + dims.len() - 1);
    let out = ends(last(&columns, first + rows.len()), last(&rows, first));
    let mut ways = Vec::new();
    for left in &left {
        for right in &right {
            for out in &out {
                ways.push((vec![Some(left.clone()), Some(right.clone())], vec![Some(out.clone())]));
            }
        }
    }
    ways
}

/// The ways of a convolution: the input and the output alike.
fn windows(convolution: &Convolution) -> Vec<Minor> {
    let Convolution { input_batch, input_feature, output_batch, output_feature, .. } = *convolution;
    let kernel = vec![convolution.kernel_output_feature, convolution.kernel_input_feature];
    let kernel = if convolution.window.iter().any(|window| window.base_dilation > 1) { None } else { Some(kernel) };
    let mut pairs = vec![
        ([input_feature, input_batch], [output_feature, output_batch]),
        ([input_batch, input_feature], [output_batch, output_feature]),
    ];
    let width = convolution.input_spatial.iter().zip(&convolution.output_spatial).next_back();
    if let Some((input, output)) = width {
        pairs.insert(1, ([input_feature, *input], [output_feature, *output]));
        pairs.push(([*input, input_feature], [*output, output_feature]));
    }
    let way = |(input, output): ([usize; 2], [usize; 2])| {
        (vec![Some(input.to_vec()), kernel.clone()], vec![Some(output.to_vec())])
    };
    pairs.into_iter().map(way).collect()
}

/// What algorithms want that go through lines, windows or matrices.
fn lines(algorithm: &Algorithm, operands: &[&Array], results: &[&Array]) -> Vec<Minor> {
    let rank = operands.first().map_or(0, |array| array.dims.len());
    let sorted = match algorithm {
        Algorithm::Sort { dim } => *dim,
        Algorithm::TopK { .. } => rank.saturating_sub(1),
        Algorithm::Fft { .. } | Algorithm::Cholesky { .. } | Algorithm::TriangularSolve { .. } => {
            return vec![(vec![Some(Vec::new()); operands.len()], vec![Some(Vec::new()); results.len()])];
        }
        _ => return Vec::new(),
    };
    let way = |minor: usize| {
        let order = || Some(vec![minor]);
        (vec![order(); operands.len()], vec![order(); results.len()])
    };
    (0..rank).rev().filter(|dim| *dim != sorted).map(way).collect()
}
