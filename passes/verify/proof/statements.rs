//! Functions as statements on memory: loops, operations on elements, loads and stores, in their order.

use crate::proof::layout::AddressMap;
use crate::proof::operation::Operation;
use crate::proof::subscript::{Subscript, ValueId};
use crate::proof::table::{Moved, Table};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The number of a buffer.
pub type BufferId = usize;
/// The number of a block: the body of a loop; the first one is that of the function.
pub type BlockId = usize;

/// A buffer as a statement finds it, in a block that is in no loop but those whose end data decide.
pub type BufferAt = (BufferId, (BlockId, usize));

/// The definition of a value.
#[derive(Clone, Debug)]
pub enum Maker {
    /// An operation on elements, of the lanes of the same number.
    Elements {
        /// The operation.
        operation: Operation,
        /// Values.
        operands: Vec<ValueId>,
    },
    /// An argument of this name, which is no memory.
    Argument(String),
    /// An index.
    Subscript(Subscript),
    /// The least or greatest of indices.
    Extreme(Vec<Subscript>, bool),
    /// One element for each lane, or one for all, as text; whether they are indices.
    Constant(Vec<u64>, String, bool),
    /// The elements from `address` on, `stride` apart.
    Load {
        /// The buffer.
        buffer: BufferId,
        /// The address of the first lane.
        address: Subscript,
        /// From lane to lane.
        stride: i64,
        /// How many there are.
        lanes: i64,
        /// The mask of the lanes that are read; none for all lanes.
        mask: Option<ValueId>,
    },
    /// For each lane, the lane of a value.
    Lanes(Vec<(ValueId, i64)>),
    /// The same bits as an element of this type.
    Bits(ValueId, String),
    /// The `i1` that a byte holds.
    Bool(ValueId),
    /// The lane of a vector that is the index's value.
    Extract(ValueId, Subscript, i64),
    /// Both.
    And(ValueId, ValueId),
    /// The first where the second is false.
    AndNot(ValueId, ValueId),
    /// The index is at least 0.
    AtLeastZero(Subscript),
    /// The second where the first is true, else the third.
    Select(ValueId, ValueId, ValueId),
    /// A result of a loop, by its number in what the loop carries.
    Result(BlockId, usize),
    /// A value that a loop carries, in an iteration.
    Carried(BlockId, usize),
    /// The value of a loop's induction variable.
    Iteration(BlockId),
}

/// One of what a block does, in order.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A value is made.
    Value(ValueId),
    /// A loop runs.
    Loop(BlockId),
    /// The elements of a buffer are undefined from here on.
    Allocate(BufferId),
    /// The lanes go to the elements from `address` on.
    Store {
        /// The buffer.
        buffer: BufferId,
        /// The address of the first lane.
        address: Subscript,
        /// From lane to lane.
        stride: i64,
        /// How many there are.
        lanes: i64,
        /// The stored value.
        value: ValueId,
        /// The mask of the lanes; none for all lanes.
        mask: Option<ValueId>,
    },
}

/// The body of a loop, or of the function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// In order.
    pub statements: Vec<Statement>,
    /// The block that the loop is in, and where.
    pub parent: Option<(BlockId, usize)>,
    /// The first value of the induction variable.
    pub lower: Option<Subscript>,
    /// The bounds of the induction variable, of which the least holds.
    pub uppers: Vec<Subscript>,
    /// Positive.
    pub step: i64,
    /// The carried values: at first, and after an iteration.
    pub carried: Vec<(ValueId, ValueId)>,
    /// Whether its iterations have no order.
    pub parallel: bool,
    /// The exit of a loop with a data-dependent end: how many of its statements each iteration begins with, and the
    /// condition under which it does the others, and goes on.
    pub exit: Option<(usize, ValueId)>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// The first is that of the function.
    pub blocks: Vec<Body>,
    /// The definition of each value, and where.
    pub values: Vec<(Maker, (BlockId, usize))>,
    /// The type of its elements, for each value of which that is known.
    pub types: Vec<String>,
    /// How many elements each buffer has, and what is in it at first; none where that is undefined.
    pub buffers: Vec<(i64, Option<Contents>)>,
    /// The shape of each buffer that holds a tensor in row-major order, and the layout that lowering is to give it.
    pub shapes: Vec<Option<(Vec<i64>, Option<AddressMap>)>>,
    /// The results of the function, and then the contents of its arguments, which are the first buffers.
    pub results: Vec<FunctionResult>,
    /// How many arguments are memory or tensors.
    pub arguments: usize,
    /// The buffer of each message of an assertion: one element, whether all of its conditions hold.
    pub asserted: BTreeMap<String, BufferId>,
    /// The indices of loads in each iteration that data are part of, each with the size of its dimension.
    pub indexed: Vec<(BlockId, Subscript, i64)>,
    /// Accesses of swizzled memory of several addresses, which have to be in one run of so many with this one.
    pub runs: BTreeMap<(BlockId, usize), (Subscript, i64)>,
}

impl Statements {
    /// Whether a block is the function's own, or of a loop whose end data decide, in no other loop.
    pub fn is_single(&self, block: BlockId) -> bool {
        match self.blocks[block].parent {
            None => true,
            Some((parent, _)) => self.blocks[block].exit.is_some() && self.is_single(parent),
        }
    }

    /// The loops around a block, and its own, outermost first; none of those whose end data decide.
    pub fn counted_loops(&self, block: BlockId) -> Vec<BlockId> {
        let mut chain = Vec::new();
        let mut at = block;
        while let Some((parent, _)) = self.blocks[at].parent {
            chain.extend(self.blocks[at].exit.is_none().then_some(at));
            at = parent;
        }
        chain.reverse();
        chain
    }

    /// The statement of the function in which a statement is.
    pub fn outermost(&self, (block, number): (BlockId, usize)) -> usize {
        self.blocks[block].parent.map_or(number, |outer| self.outermost(outer))
    }

    /// The address of an access, its stride, its number of lanes and its mask; none of what accesses no memory.
    pub fn access(&self, (block, number): (BlockId, usize)) -> Option<(&Subscript, i64, i64, Option<ValueId>)> {
        match &self.blocks[block].statements[number] {
            Statement::Store { address, stride, lanes, mask, .. } => Some((address, *stride, *lanes, *mask)),
            Statement::Value(value) => match &self.values[*value].0 {
                Maker::Load { address, stride, lanes, mask, .. } => Some((address, *stride, *lanes, *mask)),
                _ => None,
            },
            Statement::Loop(_) | Statement::Allocate(_) => None,
        }
    }
}

/// The contents of a buffer before the function.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// Elements of this name, one for each address.
    Named(String),
    /// The same constant everywhere.
    Splat(String),
    /// A constant for each address.
    Table(Rc<Table>),
    /// The elements of a table of the other program, at other addresses.
    Moved(Rc<Moved>),
}

/// A result of a function, or what it leaves in an argument.
#[derive(Clone, Debug)]
pub enum FunctionResult {
    /// One element, or a vector.
    Value {
        /// The value.
        value: ValueId,
        /// How many lanes it has.
        lanes: i64,
        /// Its type.
        of: String,
    },
    /// The elements of a buffer.
    Elements(ResultElements),
    /// A result that cannot be shown, and why.
    Unknown(String),
}

/// The elements of a buffer that a function leaves.
#[derive(Clone, Debug)]
pub struct ResultElements {
    /// The buffer.
    pub buffer: BufferId,
    /// The shape.
    pub sizes: Vec<i64>,
    /// The type of the elements.
    pub of: String,
    /// Whether it is memory, not a tensor.
    pub is_memref: bool,
    /// The address of each index.
    pub here: AddressMap,
    /// The address after lowering, where the type says so.
    pub there: Option<AddressMap>,
}
