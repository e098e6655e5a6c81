//! Which elements a kernel works on at once, and in which order.
//!
//! Each dimension is cut where its operands' tiles are, so that every operand's address is a sum over the *levels* of
//! the dimensions. Of the levels whose elements are contiguous in an operand, a power of two becomes part of the block
//! that is kept in registers; the rest of each level is a loop.
//!
//! Of a size that is known only at run time, the largest level is open: it has as many steps as there are. All others
//! have theirs in the layouts, so the block and the loops inside it are the same as for a size in the type.

use super::distance::{Address, Distance};
use super::registers::{Key, Lanes, mask};

/// The steps of an open level, as far as the plan is concerned: more than any number it is compared with.
pub const MANY: i64 = 1 << 60;

/// A part of a dimension between two cuts.
#[derive(Clone)]
pub struct Level {
    /// The dimension.
    pub dim: usize,
    /// How many elements of the dimension a step is.
    pub scale: i64,
    /// How many steps there are.
    pub size: i64,
    /// Whether the number of steps is known only at run time, so that `size` is [`MANY`], or a part of it.
    pub is_open: bool,
    /// How far apart the steps are in each operand.
    pub strides: Vec<Distance>,
    /// How many of the steps, a power of two, a block has.
    pub chunk: i64,
    /// The number of the first bit of the step inside the block.
    pub first_bit: usize,
}

impl Level {
    /// How many bits number its steps in a block.
    pub fn bits(&self) -> usize {
        self.chunk.trailing_zeros() as usize
    }

    /// The step that an element of the block has.
    pub fn step(&self, key: Key) -> i64 {
        (key >> self.first_bit & ((1 << self.bits()) - 1)) as i64
    }

    /// The block's bits that number its steps.
    pub fn mask(&self) -> Key {
        ((1 << self.bits()) - 1) << self.first_bit
    }

    /// Whether an operand has it.
    pub fn is_of(&self, operand: usize) -> bool {
        !self.strides[operand].is_zero()
    }
}

/// A level's steps inside the block, or those of blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digit {
    /// The level.
    pub level: usize,
    /// How many elements of the dimension a step of the digit is.
    pub scale: i64,
    /// Whether the block has all of it.
    pub block: bool,
}

/// How elements are combined to results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every element of an output is computed once.
    Elementwise,
    /// Elements are added to an output one after another, in order.
    Sequential,
    /// Elements are added up in any order, also across lanes.
    Reassociated,
}

/// A value that is known only at run time, of which distances are multiples.
#[derive(Clone, Copy)]
pub enum RunTime {
    /// The stride of this dimension of an operand's buffer.
    Stride { operand: usize, dim: usize },
    /// Where an operand's buffer has its first element.
    Offset { operand: usize },
    /// The product of a number, a value before this one if there is one, and the number of steps of this size in a
    /// dimension, rounded up.
    Steps { times: i64, of: Option<usize>, dim: usize, scale: i64 },
}

/// The inputs, outputs and dimensions of a kernel.
pub struct Plan {
    /// The parts of the dimensions.
    pub levels: Vec<Level>,
    /// The digits, outermost loop first; those of dimensions that no output has come last.
    pub digits: Vec<Digit>,
    /// How many digits outputs have.
    pub parallel: usize,
    /// How results are put together.
    pub mode: Mode,
    /// The lanes of registers that are computed with.
    pub lanes: Lanes,
    /// The lanes of registers that are loaded and stored, for each operand.
    pub memory: Vec<Lanes>,
    /// Bits of the block that each operand has.
    pub bits: Vec<Key>,
    /// Bits of the block that no output has.
    pub reduced: Key,
    /// Those of them that have accumulators of their own.
    pub kept: Key,
    /// The address of each operand's first element, over the symbols of its view.
    pub starts: Vec<Address>,
    /// Inputs that are copied first, into the order in which the kernel reads them.
    pub packed: Vec<Packed>,
    /// What distances are multiples of; those of packed inputs, too.
    pub values: Vec<RunTime>,
}

impl Plan {
    /// All bits of the block.
    pub fn all_bits(&self) -> Key {
        self.levels.iter().fold(0, |all, level| all | level.mask())
    }

    /// The bits of the block that number accumulators.
    pub fn of_accumulators(&self) -> Key {
        self.all_bits() & !self.reduced & !mask(&self.lanes) | self.kept
    }

    /// How many accumulators a whole block has.
    pub fn accumulators(&self) -> i64 {
        1 << self.of_accumulators().count_ones()
    }
}

/// An input of a contraction that is copied before, because each of its elements is read many times.
pub struct Packed {
    /// The input.
    pub operand: usize,
    /// How many elements the copy has.
    pub size: Distance,
    /// The kernel that copies: from the first of its operands to the second.
    pub plan: Plan,
}
