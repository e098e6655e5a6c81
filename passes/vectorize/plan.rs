//! The plan of a kernel: the elements of a block, and the order of blocks.
//!
//! Each dimension is cut at its operands' tile boundaries, so that every operand's address is a sum over the *levels*
//! of the dimensions. A power of two of the levels that are contiguous in an operand becomes part of the block
//! in registers; the rest of each level is a loop.
//!
//! For a size known only at run time, the largest level is open: its number of steps is a value. Layouts fix the steps
//! of all other levels, so the block and the loops inside it are the same as for a static size.

use super::distance::{Address, Distance};
use super::registers::{Key, Lanes, mask};
use tensor_layout::swizzle::Swizzle;

/// The assumed steps of an open level: more than any number it is compared with.
pub const MANY: i64 = 1 << 60;

/// A part of a dimension between two cuts.
#[derive(Clone)]
pub struct Level {
    /// The dimension.
    pub dim: usize,
    /// Elements of the dimension for each step.
    pub scale: i64,
    /// Number of steps.
    pub size: i64,
    /// Whether the number of steps is known only at run time, so that `size` is [`MANY`], or a part of it.
    pub is_open: bool,
    /// Stride of the steps in each operand.
    pub strides: Vec<Distance>,
    /// Number of steps inside a block, a power of two.
    pub chunk: i64,
    /// The first bit of the step's number in the block.
    pub first_bit: usize,
}

impl Level {
    /// The number of bits for its steps in a block.
    pub fn bits(&self) -> usize {
        self.chunk.trailing_zeros() as usize
    }

    /// The step of an element of the block.
    pub fn step(&self, key: Key) -> i64 {
        (key >> self.first_bit & ((1 << self.bits()) - 1)) as i64
    }

    /// The bits of the block for its steps.
    pub fn mask(&self) -> Key {
        ((1 << self.bits()) - 1) << self.first_bit
    }

    /// Whether an operand has this level.
    pub fn is_of(&self, operand: usize) -> bool {
        !self.strides[operand].is_zero()
    }
}

/// The part of a level inside the block, or over blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digit {
    /// The level.
    pub level: usize,
    /// Elements of the dimension for each step of the digit.
    pub scale: i64,
    /// Whether it is inside the block.
    pub block: bool,
}

/// The combination of elements into results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every element of an output is computed once.
    Elementwise,
    /// Elements are added to an output one after another, in order.
    Sequential,
    /// Elements are added in any order, also across lanes.
    Reassociated,
}

/// A value known only at run time that is a factor of distances.
#[derive(Clone, Copy)]
pub enum RunTime {
    /// The stride of this dimension of an operand's buffer.
    Stride { operand: usize, dim: usize },
    /// The offset of the first element in an operand's buffer.
    Offset { operand: usize },
    /// The product of a number, an earlier value if there is one, and the number of steps of this size in a
    /// dimension, rounded up.
    Steps { times: i64, of: Option<usize>, dim: usize, scale: i64 },
}

/// The inputs, outputs and dimensions of a kernel.
pub struct VectorPlan {
    /// The parts of the dimensions.
    pub levels: Vec<Level>,
    /// The digits, outermost loop first; those of reduced dimensions come last.
    pub digits: Vec<Digit>,
    /// The number of digits of outputs.
    pub parallel: usize,
    /// The combination of results.
    pub mode: Mode,
    /// The lanes of registers in the computation.
    pub lanes: Lanes,
    /// The lanes of registers in loads and stores, for each operand.
    pub memory: Vec<Lanes>,
    /// The block bits of each operand.
    pub bits: Vec<Key>,
    /// Block bits of no output.
    pub reduced: Key,
    /// Reduced bits with accumulators of their own.
    pub kept: Key,
    /// The address of each operand's first element, over the symbols of its view.
    pub starts: Vec<Address>,
    /// The swizzle of each operand's addresses.
    pub swizzles: Vec<Option<Swizzle>>,
    /// Inputs that are first copied into the reading order of the kernel.
    pub packed: Vec<Packed>,
    /// The run-time factors of distances, also for packed inputs.
    pub values: Vec<RunTime>,
}

impl VectorPlan {
    /// All bits of the block.
    pub fn all_bits(&self) -> Key {
        self.levels.iter().fold(0, |all, level| all | level.mask())
    }

    /// The bits of the block that number accumulators.
    pub fn of_accumulators(&self) -> Key {
        self.all_bits() & !self.reduced & !mask(&self.lanes) | self.kept
    }

    /// The number of accumulators of a whole block.
    pub fn accumulators(&self) -> i64 {
        1 << self.of_accumulators().count_ones()
    }
}

/// An input of a contraction that is copied first, because each of its elements is read many times.
pub struct Packed {
    /// The input.
    pub operand: usize,
    /// The number of elements of the copy.
    pub size: Distance,
    /// The copying kernel: from its first operand to its second.
    pub plan: VectorPlan,
}
