//! Operations as relations between indices: the part of their meaning that says which elements they read.
//!
//! One [`Operation`] describes an instruction of HLO or an op of MLIR. Shapes belong to its operands and results;
//! [`Operation::check`] says whether they fit. Dimensions are numbered from 0.

use super::collective::Collective;
use crate::expr::Expr;
use crate::maps::domain::Interval;
use crate::operations::sizes::without;

/// An operation, reduced to its index maps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
pub enum Operation {
    /// The result at an index is computed from the operands at the same index; a scalar operand is read at every index.
    Elementwise,
    /// Dimension `i` of the operand is dimension `dims[i]` of the result.
    Broadcast { dims: Vec<usize> },
    /// Dimension `i` of the result is dimension `permutation[i]` of the operand.
    Transpose { permutation: Vec<usize> },
    /// Reverses these dimensions.
    Reverse { dims: Vec<usize> },
    /// Reduces these dimensions of all inputs; the operands are the inputs, then as many initial values.
    Reduce { dims: Vec<usize> },
    /// The elements from `starts` to before `limits` in steps of `strides`.
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
    /// Combines windows of all inputs; the operands are the inputs, then as many initial values. One entry per
    /// dimension.
    ReduceWindow { window: Vec<WindowDim> },
    /// Windows of the left operand times the right one, the kernel.
    Convolution(Box<Convolution>),
    /// A block of these sizes at a start clamped into the operand; operands: data, then one scalar per dimension.
    DynamicSlice { sizes: Vec<i64> },
    /// A block written at a clamped start; operands: data, update, then one scalar per dimension.
    DynamicUpdateSlice,
    /// A block written from `starts` on in steps of `strides`; operands: data, update.
    InsertSlice { starts: Vec<i64>, strides: Vec<i64> },
    /// Blocks of the first operand at clamped starts, which the second operand holds.
    Gather(Box<Gather>),
    /// Blocks of updates combined into the data, where they fit; operands: data, indices, updates. The fields describe
    /// the gather that reads the updates back from the result; slice sizes are not needed, the updates have them.
    Scatter(Box<Gather>),
    /// An algorithm over whole lines, windows, features or matrices.
    Algorithm(Box<Algorithm>),
    /// An exchange between devices that run the same program.
    Collective(Box<Collective>),
    /// Loops that read one element of each operand and define one of each result.
    Loops(Box<Loops>),
    /// Operands: the predicate, the value where it holds, the other value; a scalar predicate is read at every index.
    Select,
    /// The index along a dimension.
    Iota { dim: usize },
    /// Values that come from no operand.
    Constant,
    /// The argument of a computation with this number.
    Parameter { number: usize },
    /// A tuple of all operands.
    Tuple,
    /// One element of a tuple.
    GetTupleElement { index: usize },
    /// Some leaves of the operands, by their numbers among all of these; a leaf of the result without a number comes
    /// from no operand.
    Leaves { numbers: Vec<Option<usize>> },
    /// An asynchronous operation, which runs beside the next ones up to the end of its pair.
    Start(Box<Start>),
    /// A call, on the operands; `computation` is a number in the module.
    Call { computation: usize },
    /// Runs `body` while `condition` returns true.
    While { condition: usize, body: usize },
    /// Runs the branch that the first operand selects; each branch has one further operand.
    Conditional { branches: Vec<usize> },
    /// The elements of the result depend on the operands in a way that index maps do not describe.
    Other { reason: String },
}

/// The start of an asynchronous pair. Its result is a tuple: arrays that alias operands, arrays that the operation
/// defines, and others that only the device uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The operation that runs.
    pub operation: Operation,
    /// The arrays of the result that alias operands, if any: the first one, and their number; they follow the order of
    /// the operands.
    pub operands: Option<(usize, usize)>,
    /// The arrays of the result that the operation defines: the first one, and their number.
    pub results: (usize, usize),
}

/// Loops around an element of each operand and result. Variables of the expressions: the loops in order, then offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loops {
    /// The trip count of each loop.
    pub sizes: Vec<i64>,
    /// Numbers in the expressions that no loop counts, such as the start of a block or a position in a window: the number
    /// of the scalar operand that holds it, if one does, and the interval of the values.
    pub offsets: Vec<(Option<usize>, Interval)>,
    /// The index that is read of each operand; `None` where it is not read at one index.
    pub operands: Vec<Option<Vec<Expr>>>,
    /// The index that is defined of each result.
    pub results: Vec<Vec<Expr>>,
}

/// One dimension of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowDim {
    /// The number of places in the window.
    pub size: i64,
    /// The step from one window to the next.
    pub stride: i64,
    /// Padding before the data, negative to cut off.
    pub low: i64,
    /// Padding after the data.
    pub high: i64,
    /// The step from one place of the window to the next.
    pub window_dilation: i64,
    /// The step from one element of the data to the next; elements between are padding.
    pub base_dilation: i64,
    /// Whether the window's places run backwards.
    pub reversed: bool,
}

/// The dimension numbers of a convolution. Spatial dimensions are in the order of the window's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// One entry for each spatial dimension.
    pub window: Vec<WindowDim>,
    /// The batch dimension of the input.
    pub input_batch: usize,
    /// The feature dimension of the input.
    pub input_feature: usize,
    /// The dimensions of the input over which the window moves.
    pub input_spatial: Vec<usize>,
    /// The kernel's dimension of the input features of one group.
    pub kernel_input_feature: usize,
    /// The kernel's dimension of output features.
    pub kernel_output_feature: usize,
    /// The kernel's dimensions of places in the window.
    pub kernel_spatial: Vec<usize>,
    /// The batch dimension of the output.
    pub output_batch: usize,
    /// The feature dimension of the output.
    pub output_feature: usize,
    /// The output's dimensions of windows.
    pub output_spatial: Vec<usize>,
    /// The number of groups of input and output features; each group is a convolution of its own.
    pub feature_groups: i64,
    /// The number of groups of batches and output features; each group is a convolution of its own.
    pub batch_groups: i64,
}

/// The dimension numbers of a gather.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gather {
    /// The result's dimensions inside a block; all others count blocks.
    pub offset_dims: Vec<usize>,
    /// The data's dimensions that blocks lack.
    pub collapsed_slice_dims: Vec<usize>,
    /// The data's dimensions in which the start of a block is its batch index; blocks lack them.
    pub operand_batching_dims: Vec<usize>,
    /// The dimensions of the indices that pair with `operand_batching_dims`.
    pub start_indices_batching_dims: Vec<usize>,
    /// The data's dimension for each entry of an index.
    pub start_index_map: Vec<usize>,
    /// The dimension of the indices that lists an index; their rank where each element is an index.
    pub index_vector_dim: usize,
    /// The sizes of a block, in the data's dimensions.
    pub slice_sizes: Vec<i64>,
}

/// An operation in which an element of a result depends on many elements, in its own way: on a line, a window, a
/// feature, a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the text of a variant says what its fields are")]
pub enum Algorithm {
    /// Sorts all operands together along a dimension, by a comparison.
    Sort { dim: usize },
    /// The `k` largest or smallest elements along the last dimension, in order, and their indices.
    TopK { k: i64 },
    /// Selects one element in each window of the first operand, and scatters the window's element of the second operand
    /// there. Operands: data, source, initial value.
    SelectAndScatter { window: Vec<WindowDim> },
    /// Normalises each feature by its own mean and variance; operands: data, scale, offset; results: data, mean,
    /// variance.
    BatchNormTraining { feature: usize },
    /// Normalises each feature by a given mean and variance; operands: data, scale, offset, mean, variance.
    BatchNormInference { feature: usize },
    /// The gradients of data, scale and offset; operands: data, scale, mean, variance, gradient of the result.
    BatchNormGrad { feature: usize },
    /// A Fourier transform over the last dimensions, one for each length.
    Fft { kind: Fourier, lengths: Vec<i64> },
    /// Decomposes each matrix (the last two dimensions) into a triangular matrix, the result, and its adjoint.
    Cholesky { lower: bool },
    /// [`Algorithm::Cholesky`] that keeps the other triangle of the operand. A second result is, for each matrix, the
    /// first leading minor, counted from 1, that is not positive; 0 if all are.
    CholeskyInPlace { lower: bool },
    /// Solves equations with the triangular matrices of the first operand; `left`: the matrix is the left factor,
    /// `transposed`: the matrix is transposed or its adjoint, `unit`: its diagonal counts as 1.
    TriangularSolve { left: bool, lower: bool, transposed: bool, unit: bool },
    /// A new state, and random bits; the operand is the old state.
    RandomBits,
    /// Wider elements, joined from the parts that the last dimension of the operand counts.
    Joined,
    /// The run-time size of a dimension.
    DimensionSize { dim: usize },
    /// A product of scaled operands, one scale for each block of elements. Operands: left, right, the scales of each.
    ScaledDot(Contraction),
    /// A product with a dimension of the left operand cut into groups. Operands: left, right, the sizes of the groups.
    RaggedDot(RaggedDot),
    /// Runs a computation for each index along a dimension, on the slices of the first operands and on the carries, the
    /// other operands, from the step before. Results: a slice of each step, then the last carries.
    Scan { dim: usize, inputs: usize, reversed: bool },
    /// The same elements in row-major order, in sizes given by the further operands, one scalar per dimension.
    DynamicReshape,
}

/// The dimension numbers of a product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contraction {
    /// The left operand's batch dimensions.
    pub lhs_batch: Vec<usize>,
    /// The right operand's batch dimensions.
    pub rhs_batch: Vec<usize>,
    /// The left operand's contracting dimensions.
    pub lhs_contracting: Vec<usize>,
    /// The right operand's contracting dimensions.
    pub rhs_contracting: Vec<usize>,
}

impl Operation {
    /// The numbers of the computations that the operation runs.
    ///
    /// ```
    /// use tensor_layout::operations::operation::Operation;
    /// assert_eq!(Operation::While { condition: 0, body: 1 }.callees(), [0, 1]);
    /// assert_eq!(Operation::Elementwise.callees(), []);
    /// ```
    pub fn callees(&self) -> Vec<usize> {
        match self {
            Operation::Call { computation } => vec![*computation],
            Operation::While { condition, body } => vec![*condition, *body],
            Operation::Conditional { branches } => branches.clone(),
            Operation::Start(start) => start.operation.callees(),
            _ => Vec::new(),
        }
    }
}

impl Contraction {
    /// The dimensions of a left operand of this rank that are neither batch nor contracting.
    pub fn lhs_free(&self, rank: usize) -> Vec<usize> {
        without(rank, &[&self.lhs_batch, &self.lhs_contracting])
    }

    /// The dimensions of a right operand of this rank that are neither batch nor contracting.
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
    /// The right operand's dimension that counts the groups, if each group has a right operand of its own.
    pub group: Option<usize>,
}

/// The role of the dimension that is cut into groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ragged {
    /// A dimension of the result: each group has its own right operand, and rows of no group are 0.
    Free,
    /// A contracting dimension: each group has a result of its own, which the first dimension counts.
    Contracting,
    /// A batch dimension: groups change nothing.
    Batch,
}

impl RaggedDot {
    /// The role of the dimension that is cut into groups.
    pub fn kind(&self) -> Ragged {
        if self.dims.lhs_batch.contains(&self.ragged) {
            Ragged::Batch
        } else if self.dims.lhs_contracting.contains(&self.ragged) {
            Ragged::Contracting
        } else {
            Ragged::Free
        }
    }

    /// The dimensions of a left operand of this rank that index the group sizes: batch dimensions, then dimensions of
    /// the ragged one's role, up to the ragged one.
    pub fn prefix(&self, rank: usize) -> Vec<usize> {
        let before = |dims: &[usize]| dims.iter().copied().take_while(|dim| *dim != self.ragged).collect::<Vec<_>>();
        let batch = &self.dims.lhs_batch;
        match self.kind() {
            Ragged::Batch => before(batch),
            Ragged::Contracting => [batch.clone(), before(&self.dims.lhs_contracting)].concat(),
            Ragged::Free => [batch.clone(), before(&self.dims.lhs_free(rank))].concat(),
        }
    }

    /// The dimensions of a right operand of this rank that the result has, without batch dimensions.
    pub fn rhs_free(&self, rank: usize) -> Vec<usize> {
        self.dims.rhs_free(rank).into_iter().filter(|dim| Some(*dim) != self.group).collect()
    }
}

/// The kind of a Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fourier {
    /// Complex numbers to complex numbers.
    Forward,
    /// The inverse, divided by the number of elements.
    Inverse,
    /// Real numbers to complex numbers: the last dimension keeps the first half of them, `n / 2 + 1`.
    Real,
    /// The inverse of [`Fourier::Real`].
    InverseReal,
}
