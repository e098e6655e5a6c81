//! What a function does to memory: loops, operations on elements, loads and stores, in their order.

use crate::proof::layout::Layout;

/// The number of a value of a [`Program`]; of a vector, all of its lanes.
pub type Value = usize;
/// The number of a buffer.
pub type Buffer = usize;
/// The number of a block: the body of a loop; the first one is that of the function.
pub type Block = usize;

/// An index: an expression of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Subscript {
    /// A number.
    Constant(i64),
    /// An index that the program computes.
    Value(Value),
    /// A sum.
    Sum(Vec<Subscript>),
    /// A product with a number.
    Times(Box<Subscript>, i64),
    /// The quotient by a positive number, rounded down.
    Quotient(Box<Subscript>, i64),
    /// The rest of that.
    Remainder(Box<Subscript>, i64),
}

/// What makes a value.
#[derive(Clone, Debug)]
pub enum Maker {
    /// An operation on elements, of the lanes of the same number, by a name that says its attributes and type.
    Elements {
        /// Its name.
        name: String,
        /// Values.
        operands: Vec<Value>,
    },
    /// An index.
    Subscript(Subscript),
    /// The least or greatest of indices.
    Extreme(Vec<Subscript>, bool),
    /// One element for each lane, or one for all, as text; whether they are indices.
    Constant(Vec<u64>, String, bool),
    /// The elements from `address` on, `stride` apart.
    Load {
        /// The buffer.
        buffer: Buffer,
        /// Of the first lane.
        address: Subscript,
        /// From lane to lane.
        stride: i64,
        /// How many there are.
        lanes: i64,
        /// Which lanes are read; all where there is none.
        mask: Option<Value>,
    },
    /// For each lane, the lane of a value.
    Lanes(Vec<(Value, i64)>),
    /// The same bits as an element of this type.
    Bits(Value, String),
    /// The lane of a vector that is the index's value.
    Extract(Value, Subscript),
    /// Both.
    And(Value, Value),
    /// The first where the second is false.
    AndNot(Value, Value),
    /// The index is at least 0.
    AtLeastZero(Subscript),
    /// The second where the first is true, else the third.
    Select(Value, Value, Value),
    /// What a loop carries out, by its number in what the loop carries.
    Result(Block, usize),
    /// What a loop carries, in an iteration.
    Carried(Block, usize),
    /// The value of a loop's induction variable.
    Iteration(Block),
}

/// One of what a block does, in order.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A value is made.
    Value(Value),
    /// A loop runs.
    Loop(Block),
    /// The elements of a buffer are undefined from here on.
    Allocate(Buffer),
    /// A buffer is used no longer.
    Free(Buffer),
    /// The lanes go to the elements from `address` on.
    Store {
        /// The buffer.
        buffer: Buffer,
        /// Of the first lane.
        address: Subscript,
        /// From lane to lane.
        stride: i64,
        /// How many there are.
        lanes: i64,
        /// What is stored.
        value: Value,
        /// Which lanes; all where there is none.
        mask: Option<Value>,
    },
}

/// The body of a loop, or of the function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// In order.
    pub statements: Vec<Statement>,
    /// The block that the loop is in, and where.
    pub parent: Option<(Block, usize)>,
    /// The first value of the induction variable.
    pub lower: Option<Subscript>,
    /// The bounds of the induction variable, of which the least holds.
    pub uppers: Vec<Subscript>,
    /// Positive.
    pub step: i64,
    /// What it carries: at first, and after an iteration.
    pub carried: Vec<(Value, Value)>,
    /// Whether its iterations have no order.
    pub parallel: bool,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The first is that of the function.
    pub blocks: Vec<Body>,
    /// What makes each value, and where.
    pub values: Vec<(Maker, (Block, usize))>,
    /// The type of its elements, for each value of which that is known.
    pub types: Vec<String>,
    /// How many elements each buffer has, and what is in it at first; none where that is undefined.
    pub buffers: Vec<(i64, Option<Contents>)>,
    /// What the function returns, and then what it leaves in its arguments.
    pub results: Vec<Outcome>,
}

/// What is in a buffer before the function.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// Elements of this name, one for each address.
    Named(String),
    /// The same constant everywhere.
    Splat(String),
}

/// What a function leaves.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// One element.
    Value(Value),
    /// The elements of a buffer.
    Elements {
        /// The buffer.
        buffer: Buffer,
        /// The shape.
        sizes: Vec<i64>,
        /// The address of each index.
        here: Layout,
        /// That which lowering is to give it, where the type says so.
        there: Option<Layout>,
    },
    /// What cannot be shown, and why.
    Unknown(String),
}
