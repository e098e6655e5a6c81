//! What an operation does with indices: the parts of its meaning that say which elements it reads.
//!
//! One [`Operation`] describes an instruction of HLO or an op of MLIR. It has no shapes; those are of its operands and
//! results, and [`Operation::check`] says whether they fit.
//! Dimensions are numbered from 0.

use super::collective::Collective;
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::operations::sizes::without;

/// An operation, as far as its indices are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
pub enum Operation {
    /// The result at an index is made of the operands at the same index; a scalar operand is read at every index.
    Elementwise,
    /// Dimension `i` of the operand is dimension `dims[i]` of the result.
    Broadcast { dims: Vec<usize> },
    /// Dimension `i` of the result is dimension `permutation[i]` of the operand.
    Transpose { permutation: Vec<usize> },
    /// These dimensions run backwards.
    Reverse { dims: Vec<usize> },
    /// These dimensions of all inputs are combined; the operands are the inputs, then as many initial values.
    Reduce { dims: Vec<usize> },
    /// From `starts` to before `limits` in steps of `strides`.
    Slice { starts: Vec<i64>, limits: Vec<i64>, strides: Vec<i64> },
    /// The same elements in row-major order.
    Reshape,
    /// The same bytes, under both shapes' layouts.
    Bitcast,
    /// The operands one after the other along a dimension.
    Concatenate { dim: usize },
    /// A product over the contracting dimensions; result dimensions are batch, then the left's, then the right's.
    Dot { lhs_batch: Vec<usize>, rhs_batch: Vec<usize>, lhs_contracting: Vec<usize>, rhs_contracting: Vec<usize> },
    /// Padding before and after each dimension, negative to cut off, and between elements; operands: data, value.
    Pad { low: Vec<i64>, high: Vec<i64>, interior: Vec<i64> },
    /// Windows of all inputs are combined; the operands are the inputs, then as many initial values. One entry a
    /// dimension.
    ReduceWindow { window: Vec<WindowDim> },
    /// Windows of the left operand times the right one, the kernel.
    Convolution(Box<Convolution>),
    /// A block of these sizes at a start that is clamped into the operand; operands: data, then one scalar a dimension.
    DynamicSlice { sizes: Vec<i64> },
    /// A block written at a clamped start; operands: data, update, then one scalar a dimension.
    DynamicUpdateSlice,
    /// A block written from `starts` on in steps of `strides`; operands: data, update.
    InsertSlice { starts: Vec<i64>, strides: Vec<i64> },
    /// Blocks of the first operand at starts that the second one holds, clamped.
    Gather(Box<Gather>),
    /// Blocks of updates combined into the data, where they fit; operands: data, indices, updates. The fields are those
    /// of the gather that would read the updates back from the result; it needs no slice sizes, the updates have them.
    Scatter(Box<Gather>),
    /// Lines, windows, features or matrices, of each of which an algorithm makes one.
    Algorithm(Box<Algorithm>),
    /// An exchange between devices that all run the same.
    Collective(Box<Collective>),
    /// Loops that read one element of each operand and make one of each result.
    Loops(Box<Loops>),
    /// The predicate, then what is taken where it holds and where not; a scalar predicate is read at every index.
    Select,
    /// The index along a dimension.
    Iota { dim: usize },
    /// Values that come from no operand.
    Constant,
    /// The argument of a computation with this number.
    Parameter { number: usize },
    /// All operands, each a part of the result.
    Tuple,
    /// One part of a tuple.
    GetTupleElement { index: usize },
    /// Some arrays of the operands, by their numbers among all of these; an array of the result without a number is
    /// made of no operand.
    Leaves { numbers: Vec<Option<usize>> },
    /// An operation that runs beside those after it, up to the end of its pair.
    Start(Box<Start>),
    /// A computation, run on the operands; the number of the computation in its module.
    Call { computation: usize },
    /// While one computation says true, another runs.
    While { condition: usize, body: usize },
    /// One of these computations runs, the first operand says which; each has one further operand.
    Conditional { branches: Vec<usize> },
    /// The elements of the result depend on the operands in a way that indices do not describe.
    Other { reason: String },
}

/// The start of an asynchronous pair. Its result is a tuple: arrays that are operands, those that the operation makes,
/// and others, which only the device uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// What runs.
    pub operation: Operation,
    /// The first array of the result that is one of the operands', if there are such, and how many are: the next is the
    /// next operand's.
    pub operands: Option<(usize, usize)>,
    /// The first array of the result that the operation makes, and how many it makes.
    pub results: (usize, usize),
}

/// Loops around an element of each operand and result. Expressions are over the loops, in order, and then the offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loops {
    /// How often each loop runs.
    pub sizes: Vec<i64>,
    /// Scalar operands that the expressions use, by number, and the interval of their values.
    pub offsets: Vec<(usize, Interval)>,
    /// For each operand the index that is read; none where it is not read at one.
    pub operands: Vec<Option<Vec<Expr>>>,
    /// For each result the index that is made.
    pub results: Vec<Vec<Expr>>,
}

/// One dimension of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowDim {
    /// The number of places in the window.
    pub size: i64,
    /// From one window to the next.
    pub stride: i64,
    /// Padding before the data, negative to cut off.
    pub low: i64,
    /// Padding after the data.
    pub high: i64,
    /// From one place of the window to the next.
    pub window_dilation: i64,
    /// From one element of the data to the next; what is between is padding.
    pub base_dilation: i64,
    /// Whether the window's places run backwards.
    pub reversed: bool,
}

/// What is what in a convolution. Spatial dimensions are in the order of the window's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// One entry for each spatial dimension.
    pub window: Vec<WindowDim>,
    /// The input's dimension of batches.
    pub input_batch: usize,
    /// The input's dimension of features.
    pub input_feature: usize,
    /// The input's dimensions that the window moves over.
    pub input_spatial: Vec<usize>,
    /// The kernel's dimension of the input's features, those of one group.
    pub kernel_input_feature: usize,
    /// The kernel's dimension of the output's features.
    pub kernel_output_feature: usize,
    /// The kernel's dimensions of places in the window.
    pub kernel_spatial: Vec<usize>,
    /// The output's dimension of batches.
    pub output_batch: usize,
    /// The output's dimension of features.
    pub output_feature: usize,
    /// The output's dimensions of windows.
    pub output_spatial: Vec<usize>,
    /// Into how many groups the features of the input and of the output are cut; each makes its own.
    pub feature_groups: i64,
    /// Into how many groups the batches and the features of the output are cut; each makes its own.
    pub batch_groups: i64,
}

/// Which dimension does what in a gather.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gather {
    /// The result's dimensions that count inside a block; all others say which block.
    pub offset_dims: Vec<usize>,
    /// The data's dimensions that blocks have no dimension for.
    pub collapsed_slice_dims: Vec<usize>,
    /// The data's dimensions in which a block is at the place of its index; blocks have no dimension for them.
    pub operand_batching_dims: Vec<usize>,
    /// The dimensions of the indices that go with those.
    pub start_indices_batching_dims: Vec<usize>,
    /// The data's dimension that each entry of an index is for.
    pub start_index_map: Vec<usize>,
    /// The dimension of the indices that lists an index; their rank where each element is one.
    pub index_vector_dim: usize,
    /// The sizes of a block, in the data's dimensions.
    pub slice_sizes: Vec<i64>,
}

/// An operation of which each element of a result is made of many elements, in a way of its own: of a line, a window, a
/// feature, a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
pub enum Algorithm {
    /// All operands are put into one order along a dimension, which a comparison says.
    Sort { dim: usize },
    /// The `k` largest elements, or the smallest, along the last dimension, in order; and where they were.
    TopK { k: i64 },
    /// In each window of the first operand one element is selected; to its place goes the element of the second operand
    /// for the window. Operands: data, source, initial value.
    SelectAndScatter { window: Vec<WindowDim> },
    /// Each feature is normalised by its own mean and variance; operands: data, scale, offset; results: data, mean,
    /// variance.
    BatchNormTraining { feature: usize },
    /// Each feature is normalised by a given mean and variance; operands: data, scale, offset, mean, variance.
    BatchNormInference { feature: usize },
    /// The gradients of data, scale and offset; operands: data, scale, mean, variance, gradient of the result.
    BatchNormGrad { feature: usize },
    /// A Fourier transform over as many last dimensions as there are lengths.
    Fft { kind: Fourier, lengths: Vec<i64> },
    /// Each matrix, the last two dimensions, as the product of a triangular one, the result, and its adjoint.
    Cholesky { lower: bool },
    /// The same, where the other triangle is that of the operand. A second result says of each matrix which of its leading
    /// minors, counted from 1, is the first that is not positive; 0 if all are.
    CholeskyInPlace { lower: bool },
    /// Systems of equations whose matrices, of the first operand, are triangular; `left` where the matrix is the left
    /// factor, `transposed` where it is taken transposed or as its adjoint, `unit` where its diagonal counts as 1.
    TriangularSolve { left: bool, lower: bool, transposed: bool, unit: bool },
    /// A state, and random bits made of it; the operand is the state before.
    RandomBits,
    /// Elements put together to wider ones, whose parts the last dimension of the operand counts.
    Joined,
    /// The size that a dimension has when the program runs.
    DimensionSize { dim: usize },
    /// A product whose operands are multiplied by scales first, each scale for a block of elements. Operands: left, right,
    /// the scales of each.
    ScaledDot(Contraction),
    /// A product of which a dimension of the left operand is cut into groups. Operands: left, right, the sizes of the
    /// groups.
    RaggedDot(RaggedDot),
    /// A computation is run for each index along a dimension, on the slices of the first operands there, and on what the
    /// other operands, the carries, became in the step before. Results: a slice of each step, then the last carries.
    Scan { dim: usize, inputs: usize, reversed: bool },
    /// The same elements in row-major order, of sizes that the further operands say, one scalar a dimension.
    DynamicReshape,
}

/// Which dimension does what in a product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contraction {
    /// The left operand's dimensions that the right one and the result have, too.
    pub lhs_batch: Vec<usize>,
    /// Those of the right operand.
    pub rhs_batch: Vec<usize>,
    /// The left operand's dimensions that are summed over.
    pub lhs_contracting: Vec<usize>,
    /// Those of the right operand.
    pub rhs_contracting: Vec<usize>,
}

impl Contraction {
    /// The left operand's dimensions that are neither, of so many.
    pub fn lhs_free(&self, rank: usize) -> Vec<usize> {
        without(rank, &[&self.lhs_batch, &self.lhs_contracting])
    }

    /// The same of the right operand.
    pub fn rhs_free(&self, rank: usize) -> Vec<usize> {
        without(rank, &[&self.rhs_batch, &self.rhs_contracting])
    }
}

/// A product with groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaggedDot {
    /// The product.
    pub dims: Contraction,
    /// The left operand's dimension that is cut into groups.
    pub ragged: usize,
    /// The right operand's dimension that counts the groups, where each has a right operand of its own.
    pub group: Option<usize>,
}

/// What the dimension is that is cut into groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ragged {
    /// One of the result: each group is multiplied by its own right operand, and rows of no group are 0.
    Free,
    /// One that is summed over: each group makes a result of its own, which the first dimension counts.
    Contracting,
    /// A batch dimension: groups change nothing.
    Batch,
}

impl RaggedDot {
    /// What the dimension is that is cut into groups.
    pub fn kind(&self) -> Ragged {
        if self.dims.lhs_batch.contains(&self.ragged) {
            Ragged::Batch
        } else if self.dims.lhs_contracting.contains(&self.ragged) {
            Ragged::Contracting
        } else {
            Ragged::Free
        }
    }

    /// The left operand's dimensions, of so many, for each index of which the sizes of the groups may be others: those
    /// of the result, or those that are summed over, before the one that is cut.
    pub fn prefix(&self, rank: usize) -> Vec<usize> {
        let before = |dims: &[usize]| dims.iter().copied().take_while(|dim| *dim != self.ragged).collect::<Vec<_>>();
        let batch = &self.dims.lhs_batch;
        match self.kind() {
            Ragged::Batch => before(batch),
            Ragged::Contracting => [batch.clone(), before(&self.dims.lhs_contracting)].concat(),
            Ragged::Free => [batch.clone(), before(&self.dims.lhs_free(rank))].concat(),
        }
    }

    /// The right operand's dimensions, of so many, that the result has, but for batch dimensions.
    pub fn rhs_free(&self, rank: usize) -> Vec<usize> {
        self.dims.rhs_free(rank).into_iter().filter(|dim| Some(*dim) != self.group).collect()
    }
}

/// The kind of a Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fourier {
    /// Complex numbers to complex numbers.
    Forward,
    /// The same back, divided by the number of elements.
    Inverse,
    /// Real numbers to complex numbers: the last dimension has the first half of them, `n / 2 + 1`.
    Real,
    /// The same back.
    InverseReal,
}
