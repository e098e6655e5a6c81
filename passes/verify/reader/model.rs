//! A program as data: what the reader makes of MLIR, and what proofs and the evaluator work on.
//!
//! A function is a tree of regions, blocks and steps. Each SSA value is a [`Slot`], a number that is unique in its function
//! and has one [`Type`]. A step is one operation. Many operations are one kind of [`Action`]: `scf.for` and `affine.for`
//! are [`Action::Loop`], every operation of linalg is [`Action::Nest`], and all loads and stores are [`Action::Access`].
//! ```text
//! affine.for %i = 0 to min affine_map<(d0) -> (2, 3 - d0 * 2)>(%p) {
//!   %x = affine.load %a[%p * 2 + %i, 0] : memref<3x5xf32>
//! }
//! ```
//! is a `Loop` with lower bound `[0]`, upper bound `[2, d0 * -2 + 3]` of the slot of `%p`, step 1, and an `Access` with the
//! map `[d0 * 2 + d1, 0]` of the slots of `%p` and `%i`. Bounds and maps are those of the operations, not simplified.

use crate::reader::floats::Format;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Axes, from parent to child, each with its number of places.
pub type Axes = Vec<(String, i64)>;
/// The number of an SSA value in its function.
pub type Slot = u32;

/// A module: its functions and each `memref.global`, by name, and what TensorLayouts run over.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "said above")]
pub struct Program {
    pub functions: BTreeMap<String, Function>,
    pub globals: BTreeMap<String, Global>,
    pub axes: Axes,
    /// The other operations of the module, by name, or by number where they have none.
    pub others: BTreeMap<String, Other>,
}

/// An operation of a module that is not looked into.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// The name of the operation.
    pub operation: String,
    /// All of it.
    pub text: String,
}

/// A `memref.global`.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// A memref.
    pub r#type: Type,
    /// The elements as bits in row-major order of the logical index, or one for all; none for memory of unknown contents.
    pub items: Option<Vec<u64>>,
    /// Whether nobody writes it.
    pub constant: bool,
    /// Whether code outside of the module can reach it.
    pub public: bool,
    /// Its other attributes, and its elements where they are not read, as text.
    pub rest: String,
}

/// A function: the types of its results, arguments and slots.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "said above")]
pub struct Function {
    pub results: Vec<Type>,
    pub arguments: Vec<Type>,
    pub slots: Rc<Vec<Type>>,
    /// Its body; none for a declaration. The arguments of the first block are those of the function.
    pub body: Option<Region>,
    /// Whether code outside of the module can call it.
    pub public: bool,
    /// The bits of an element in the padding of each argument, where it is called from outside and the program says so.
    pub padding: Vec<Option<u64>>,
    /// The functions that it calls, and all symbols that operations name which are not modelled.
    pub names: BTreeSet<String>,
    /// The attributes of the LLVM dialect: of each argument, of each result, and of the function.
    pub attributes: [Vec<BTreeSet<String>>; 3],
}

/// The blocks of a region; the first is the one that is entered.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// One, but for branches of `cf`.
    pub blocks: Vec<Block>,
}

/// A block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its arguments. Of a loop's body, the induction variables come first.
    pub arguments: Vec<Slot>,
    /// Its operations, in order.
    pub steps: Vec<Step>,
    /// How it ends.
    pub end: End,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// `yield`, `return`, `condition` (whose first value is the condition), and insertions at the end of `scf.forall`.
    Yield {
        /// The values that it hands on.
        values: Vec<Slot>,
        /// The insertions of `scf.forall.in_parallel`.
        inserts: Vec<Step>,
    },
    /// A branch to blocks of the same region.
    Branch {
        /// None for `cf.br`; else the first target is taken where it is true.
        condition: Option<Slot>,
        /// The block, by its number in the region, and its arguments.
        targets: Vec<(usize, Vec<Slot>)>,
    },
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name, such as `affine.load`.
    pub name: String,
    /// Its location, as MLIR has it; it lives as long as the context.
    pub location: usize,
    /// The results.
    pub results: Vec<Slot>,
    /// Its action.
    pub action: Action,
    /// The operations of a form before that it implements, by the numbers that a pass gave them.
    pub origins: Vec<i64>,
}

// Locations and origins do not matter.
impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        (&self.name, &self.results, &self.action) == (&other.name, &other.results, &other.action)
    }
}

/// The action of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An index: the least or greatest result of a map (`affine.apply`, `affine.min`, `affine.max`).
    Index(Bound),
    /// Elements as bits, in row-major order, or one for all.
    Constant(Vec<u64>),
    /// Elementwise: the operator on each element of the operands (`arith`, `math`, `complex`).
    Compute {
        /// The operator.
        operator: Operator,
        /// All of one shape.
        operands: Vec<Slot>,
    },
    /// Lane `k` of a vector is lane `sources[k].1` of operand `sources[k].0` (`vector.shuffle`, `broadcast`, `extract`, ...).
    Lanes {
        /// Scalars and vectors.
        operands: Vec<Slot>,
        /// One for each lane of the result, in row-major order.
        sources: Vec<(u32, u32)>,
    },
    /// The same bits as elements of another type.
    Bitcast(Slot),
    /// One element or lane (`tensor.extract`, `vector.extract` at a position that the program computes).
    Extract {
        /// Elements.
        source: Slot,
        /// Where.
        at: Vec<Size>,
    },
    /// The elements with one replaced (`tensor.insert`, `vector.insert`).
    Insert {
        /// One element.
        item: Slot,
        /// Elements.
        into: Slot,
        /// Where.
        at: Vec<Size>,
    },
    /// A tensor or buffer without defined contents; the sizes of the type that only the program has, in order.
    Empty(Vec<Slot>),
    /// The buffer of a global.
    Global(String),
    /// A buffer is no longer used.
    Free(Slot),
    /// The elements of one buffer into another of the same shape.
    Copy {
        /// Read.
        from: Slot,
        /// Written.
        to: Slot,
    },
    /// A new buffer with the contents of another (`bufferization.clone`).
    Clone(Slot),
    /// The same elements under another type (`tensor.cast`, `memref.cast`, `layout.convert` of tensors).
    Cast(Slot),
    /// Part of a tensor or memref.
    Slice {
        /// The tensor or memref that it is a part of.
        source: Slot,
        /// A tensor that replaces the part; the result is then all of the tensor.
        insert: Option<Slot>,
        /// The first index.
        offsets: Vec<Size>,
        /// The sizes of the part.
        sizes: Vec<Size>,
        /// The steps.
        strides: Vec<Size>,
    },
    /// The same elements in the same row-major order with other dimensions.
    Reshape {
        /// A tensor or memref.
        source: Slot,
        /// For each dimension of the shape with fewer dimensions, those of the other that it is made of.
        groups: Vec<Vec<usize>>,
        /// Sizes of the result of an expansion; none of a collapse.
        sizes: Option<Vec<Size>>,
    },
    /// The dimensions of a memref in another order: dimension `k` is dimension `permutation[k]` of the source.
    Transpose {
        /// A memref.
        source: Slot,
        /// The order of the dimensions.
        permutation: Vec<usize>,
    },
    /// A memref of the same buffer with an offset, sizes and strides of its own; the offset counts from the buffer's begin.
    Reinterpret {
        /// A memref.
        source: Slot,
        /// In elements.
        offset: Size,
        /// The sizes of the result.
        sizes: Vec<Size>,
        /// In elements.
        strides: Vec<Size>,
    },
    /// The buffer, offset, sizes and strides of a memref (`memref.extract_strided_metadata`).
    Metadata(Slot),
    /// A size.
    Dim {
        /// A tensor or memref.
        source: Slot,
        /// The dimension.
        dim: Slot,
    },
    /// A load or a store.
    Access(Access),
    /// `tensor.generate`: each element of its index. `tensor.pad`: the same where `source` has none.
    Generate {
        /// For `tensor.pad`: what is padded, and the padding before and behind it in each dimension.
        source: Option<(Slot, Vec<Size>, Vec<Size>)>,
        /// For `tensor.generate`: the sizes that only the program has.
        sizes: Vec<Slot>,
        /// From the index to the element.
        body: Region,
    },
    /// An operation of linalg.
    Nest(Nest),
    /// Parts along a dimension, one after the other.
    Concat {
        /// Tensors.
        parts: Vec<Slot>,
        /// The dimension.
        dim: usize,
    },
    /// `scf.for`, `affine.for`: iterations in order.
    Loop {
        /// The first value of the induction variable.
        lower: Bound,
        /// The end, which is not reached.
        upper: Bound,
        /// Positive.
        step: Size,
        /// The first values of what is carried from one iteration to the next.
        carried: Vec<Slot>,
        /// Its arguments: the induction variable, then what is carried.
        body: Region,
    },
    /// `scf.forall`, `scf.parallel`, `affine.parallel`: iterations in any order.
    Parallel {
        /// The first values, one for each dimension.
        lower: Vec<Bound>,
        /// The ends.
        upper: Vec<Bound>,
        /// The steps.
        steps: Vec<Size>,
        /// Tensors that iterations insert into.
        outputs: Vec<Slot>,
        /// Its arguments: the induction variables, then the outputs.
        body: Region,
    },
    /// One of two regions.
    If {
        /// When the first is taken.
        condition: Condition,
        /// The second may be missing.
        regions: Vec<Region>,
    },
    /// `scf.while`: the first region yields a condition and values, the second the arguments of the first.
    While {
        /// The first arguments.
        carried: Vec<Slot>,
        /// Before the condition, and after it.
        regions: Vec<Region>,
    },
    /// `scf.index_switch`: the first region is the default one.
    Switch {
        /// The index.
        on: Slot,
        /// The case of each further region.
        cases: Vec<i64>,
        /// The regions.
        regions: Vec<Region>,
    },
    /// A region that runs once.
    Run(Region),
    /// A call.
    Call {
        /// The function.
        callee: String,
        /// Its arguments.
        arguments: Vec<Slot>,
    },
    /// An operation on the bytes of memory.
    Bytes(crate::reader::bytes::OnBytes),
    /// `vector.print`.
    Print(Vec<PrintPiece>),
    /// `cf.assert`: the program ends with this message where the condition is false.
    Assert {
        /// An `i1`.
        condition: Slot,
        /// The message.
        message: String,
    },
    /// Nothing (`memref.prefetch`).
    Nothing,
    /// Not modelled: where it runs, nothing is shown.
    Unknown,
}

/// A part of what is printed.
#[derive(Clone, Debug, PartialEq)]
pub enum PrintPiece {
    /// Text as it is.
    Text(String),
    /// An element, or this lane of a vector in row-major order.
    Element(Slot, usize),
}

/// A load or a store of one element or of a vector's lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// A memref, or a tensor of a transfer.
    pub buffer: Slot,
    /// The stored value; none for a load.
    pub store: Option<Slot>,
    /// One expression for each dimension of the buffer, of `operands`.
    pub map: Vec<Expr>,
    /// Indices.
    pub operands: Vec<Slot>,
    /// The dimensions of the vector, major to minor; none for one element.
    pub lanes: Vec<Lane>,
    /// The mask of the lanes; none for all lanes.
    pub mask: Option<Slot>,
    /// A load: what masked lanes and lanes out of bounds have.
    pub other: Option<Slot>,
    /// How the element is combined with the one in memory, for `memref.atomic_rmw`.
    pub atomic: Option<Operator>,
}

/// A dimension of a vector in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// How many lanes.
    pub size: i64,
    /// The dimension of the memref along which they lie; none where all have the same element.
    pub dim: Option<usize>,
    /// Whether a lane out of bounds is an error, rather than left out.
    pub in_bounds: bool,
}

/// An operation of linalg: for each point of its domain, in lexicographic order, the body reads an element of each operand
/// and makes the element of each output.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// The number of dimensions of the domain.
    pub dims: usize,
    /// For each operand, inputs first, one expression for each of its dimensions.
    pub maps: Vec<Vec<Expr>>,
    /// Tensors, memrefs and scalars.
    pub inputs: Vec<Slot>,
    /// Tensors or memrefs.
    pub outputs: Vec<Slot>,
    /// Its arguments: an element of each operand.
    pub body: Region,
    /// The slots in the body that are `linalg.index`, and of which dimension.
    pub indices: Vec<(Slot, usize)>,
}

/// When the first region of a condition is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A boolean.
    Value(Slot),
    /// All expressions of `operands` are 0 (`true`) or at least 0.
    Set {
        /// With whether it is an equality.
        constraints: Vec<(Expr, bool)>,
        /// The operands of the expressions.
        operands: Vec<Slot>,
    },
}

/// A bound of a loop: the least or greatest of some expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// At least one.
    pub exprs: Vec<Expr>,
    /// Indices, which [`Expr::Operand`] counts.
    pub operands: Vec<Slot>,
    /// Whether it is the greatest.
    pub greatest: bool,
}

/// A number in the program's text, or one that it computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// In the text.
    Static(i64),
    /// An index.
    Slot(Slot),
}

/// An affine expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// An operand, counting dimensions and then symbols.
    Operand(u32),
    /// A number.
    Constant(i64),
    /// Sum.
    Add(Box<(Expr, Expr)>),
    /// Product.
    Mul(Box<(Expr, Expr)>),
    /// Rest, at least 0, for a positive divisor.
    Mod(Box<(Expr, Expr)>),
    /// Quotient, rounded down.
    FloorDiv(Box<(Expr, Expr)>),
    /// Quotient, rounded up.
    CeilDiv(Box<(Expr, Expr)>),
}

impl Expr {
    /// The value; none for a division by what is not positive, and where a number does not fit.
    pub fn at(&self, operand: &impl Fn(u32) -> Option<i64>) -> Option<i64> {
        let both = |sides: &(Expr, Expr)| Some((sides.0.at(operand)?, sides.1.at(operand)?));
        let divided = |sides: &(Expr, Expr)| both(sides).filter(|(_, by)| *by > 0);
        match self {
            Expr::Operand(k) => operand(*k),
            Expr::Constant(n) => Some(*n),
            Expr::Add(sides) => both(sides).and_then(|(a, b)| a.checked_add(b)),
            Expr::Mul(sides) => both(sides).and_then(|(a, b)| a.checked_mul(b)),
            Expr::Mod(sides) => divided(sides).map(|(a, b)| a.rem_euclid(b)),
            Expr::FloorDiv(sides) => divided(sides).map(|(a, b)| a.div_euclid(b)),
            Expr::CeilDiv(sides) => divided(sides).and_then(|(a, b)| a.div_euclid(b).checked_add((a % b != 0).into())),
        }
    }
}

/// The operator of an elementwise operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operator {
    /// The operation, such as `arith.cmpf`.
    pub name: String,
    /// Its attributes as text, without flags, and the types of operands that are not of the type `from`.
    pub attributes: String,
    /// Bits of `flags`: what it may assume and do.
    pub flags: u32,
    /// The element of the last operand.
    pub from: Element,
    /// The element of the result.
    pub to: Element,
}

/// A type of elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// As MLIR prints it: `f32`, `i8`, `index`, `complex<f32>`.
    pub text: String,
    /// Its width in bits; 64 for `index`.
    pub bits: u32,
    /// Whether it is an integer, or an index.
    pub integer: bool,
    /// The format of a floating-point type that is computed.
    pub float: Option<Format>,
}

impl Element {
    /// The type of this text and width.
    pub fn new(text: impl Into<String>, bits: u32) -> Element {
        let text = text.into();
        let (integer, float) = (text.trim_start_matches(['s', 'u']).starts_with('i'), Format::of(&text));
        Element { text, bits, integer, float }
    }

    /// The type of the parts of a complex number.
    pub fn part(&self) -> Option<Element> {
        Some(Element::new(self.text.strip_prefix("complex<")?.strip_suffix('>')?, self.bits / 2))
    }

    /// How many bits apart elements are in memory: whole bytes, of which there are 1, 2, 4 or a multiple of these.
    pub fn pitch(&self) -> u32 {
        self.bits.div_ceil(8).next_power_of_two() * 8
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// One element.
    Scalar(Element),
    /// Elements in a shape.
    Shaped {
        /// The kind of the value.
        kind: Kind,
        /// The elements.
        element: Element,
        /// The sizes; none for those that only the program has.
        sizes: Vec<Option<i64>>,
        /// Where the elements are.
        place: Place,
        /// The memory space of a memref, or the encoding of a tensor that is no layout of this project.
        space: Option<String>,
    },
    /// Any other type.
    Other(String),
}

impl Type {
    /// Whether it is memory of bytes in one dimension of known size, as an arena is.
    pub fn is_bytes(&self) -> bool {
        let Type::Shaped { kind: Kind::MemRef, element, sizes, .. } = self else { return false };
        element.integer && element.bits == 8 && matches!(sizes[..], [Some(_)])
    }
}

/// The kind of a value that has a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value.
    Tensor,
    /// A value of fixed size.
    Vector,
    /// A view of a buffer.
    MemRef,
}

/// Where the elements of a shaped type are.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Row-major. With a text, this is the layout that lowering is still to give the memory: the encoding of a tensor, or
    /// `#layout.pending` in the memory space of a memref, whose offset and strides then are those of the row-major index.
    RowMajor(Option<String>),
    /// Offset and strides in elements; none for those that only the program has. The text is as in `RowMajor`.
    Strided {
        /// The offset of the first element.
        offset: Option<i64>,
        /// The stride of each dimension.
        strides: Vec<Option<i64>>,
        /// The layout to be given.
        pending: Option<String>,
    },
    /// The layout of this text is the memref's layout.
    Layout(String),
}
