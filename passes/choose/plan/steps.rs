//! A program as the planner reads it, while it is made of a module: steps, the arrays that they make, and what each operand
//! of an operation is to be.
//!
//! A [`Program`] borrows its arrays and operations; here is what owns them. Arrays are tensors of static sizes whose type
//! has a tiled layout or none, or, on a machine with places, a TensorLayout. All other values stay as they are, and so does
//! what meets them in one operation.
//!
//! On a machine whose arrays have tiles, a type without a layout, or with a row-major one, means the default layout, and one
//! without tiles its order in the tiles of the machine: [`Steps::layout_of`].

use crate::choose::indexing_analysis::shape;
use layout_ir::{self as ir, Op, Shaped, Val};
use layout_plan::plan::{Instance, InstanceKind, Made, Program};
use melior::Context;
use melior::ir::{Type, ValueLike};
use std::collections::HashMap;
use tensor_layout::operations::{Array, Operation, Shape};
use tensor_layout::places::TensorLayout;
use tensor_layout::swizzled::SwizzledLayout;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;
use tensor_layout::tiled::Layout;

/// The number of an array.
pub type ArrayId = usize;

/// The action of a step.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// See [`InstanceKind::Argument`].
    Argument(usize),
    /// See [`InstanceKind::Operation`].
    Operation(Operation),
    /// See [`InstanceKind::Merge`].
    Merge,
    /// See [`InstanceKind::Copy`].
    Copy,
    /// See [`InstanceKind::Opaque`].
    Opaque,
    /// See [`InstanceKind::Result`].
    Result(usize),
}

/// A step of the program.
pub struct Step<'c> {
    pub kind: StepKind,
    pub operands: Vec<ArrayId>,
    pub results: Vec<ArrayId>,
    pub times: i64,
    /// The operation that it belongs to.
    pub op: Op<'c>,
}

/// An array.
pub struct StepArray<'c> {
    pub array: Array,
    pub by: usize,
    pub result: usize,
    /// Whether it keeps its type.
    pub fixed: bool,
    /// The type that its values have; of an array inside of an operation, that of the operation's result.
    pub r#type: Type<'c>,
    /// Whether it is made of nothing, and so is made again where another layout is wanted.
    pub cheap: bool,
}

/// The layout or type that an operand is to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Want<'c> {
    /// The layout in which a step takes this operand.
    Taken(usize, usize),
    /// The type of an array.
    As(ArrayId),
    /// The type of an array; no element of the operand is read.
    Filled(ArrayId),
    /// This type.
    Kept(Type<'c>),
}

/// An array whose order others follow.
#[derive(Clone, Copy, Debug)]
pub enum Followed {
    /// As a step takes this operand.
    Taken(usize, usize),
    /// As it is made.
    Made(ArrayId),
}

/// A program while it is made.
pub struct Steps<'c> {
    pub steps: Vec<Step<'c>>,
    pub arrays: Vec<StepArray<'c>>,
    /// The array that each value is, by the value's key.
    pub places: HashMap<usize, ArrayId>,
    /// By the key of an operation, its operands that are arrays.
    pub wants: HashMap<usize, Vec<(usize, Want<'c>)>>,
    /// Arrays that are nothing to a plan, and have the order of another one.
    pub follows: HashMap<ArrayId, Followed>,
    /// Arrays of which scalar code reads an element: they are needed whatever becomes of it.
    pub extracted: Vec<ArrayId>,
    /// The machine.
    pub target: Target,
    /// Whether planned types say the default layout of the machine; without it they have none then.
    pub says_default: bool,
}

/// The array that a value may be: a tensor of static sizes and a tiled layout or none; with `places`, or a TensorLayout.
fn array_of(t: Type, places: bool) -> Option<Array> {
    let tensor = ir::tensor(t)?;
    let known = |layout| layout_dialect::tiled(layout).is_some() || places && tensor_layout(t).is_some();
    let known = tensor.layout.is_none_or(known);
    // Over places, an array without elements is nowhere.
    let sized = tensor.sizes().is_some_and(|sizes| !places || !sizes.contains(&0));
    let (Shape::Array(array), true) = (shape(t), known && sized) else { return None };
    // What has no bits, such as a tuple, has no layout.
    layout_dialect::element::bits(tensor.element).map(|_| array)
}

/// The TensorLayout that a tensor type says.
pub fn tensor_layout(t: Type) -> Option<TensorLayout> {
    ir::tensor(t).and_then(|tensor| tensor.layout).and_then(layout_dialect::tensor_layout)
}

/// The swizzled layout that a tensor type says, which no plan changes.
fn swizzled(t: Type) -> Option<SwizzledLayout> {
    ir::tensor(t).and_then(|tensor| tensor.layout).and_then(layout_dialect::swizzled)
}

/// Whether a conversion between two tensor types moves elements.
pub fn moves(from: Type, to: Type) -> bool {
    match (tensor_layout(from), tensor_layout(to)) {
        (None, None) => layout_in(from) != layout_in(to) || swizzled(from) != swizzled(to),
        (from, to) => from != to,
    }
}

/// The row-major layout of a tensor type.
fn plain(t: Type) -> Layout {
    Layout::row_major(ir::tensor(t).map_or(0, |tensor| tensor.shape.len()))
}

/// The layout that a tensor type says, or the row-major one.
pub fn layout_in(t: Type) -> Layout {
    ir::tensor(t).and_then(|tensor| tensor.layout).and_then(layout_dialect::tiled).unwrap_or_else(|| plain(t))
}

/// A tensor type with a layout: the type itself if it has that, else without one where that is row-major.
///
/// # Errors
/// The layout is none in MLIR.
pub fn with_layout<'c>(context: &'c Context, t: Type<'c>, layout: &Layout) -> Result<Type<'c>, Error> {
    let Some(tensor) = ir::tensor(t).filter(|_| layout_in(t) != *layout) else { return Ok(t) };
    let layout = match *layout == plain(t) {
        true => None,
        false => Some(layout_dialect::tiled_attribute(context, layout)?),
    };
    Ok(ir::tensor_type(&Shaped { layout, ..tensor }))
}

/// A tensor type with a TensorLayout.
///
/// # Errors
/// The layout is none in MLIR.
pub fn with_tensor_layout<'c>(context: &'c Context, t: Type<'c>, layout: &TensorLayout) -> Result<Type<'c>, Error> {
    let layout = Some(layout_dialect::tensor_layout_attribute(context, layout)?);
    Ok(ir::tensor(t).map_or(t, |tensor| ir::tensor_type(&Shaped { layout, ..tensor })))
}

impl<'c> Steps<'c> {
    /// No steps.
    pub fn new(target: Target) -> Steps<'c> {
        let (steps, arrays, extracted) = (Vec::new(), Vec::new(), Vec::new());
        let (places, wants, follows) = (HashMap::new(), HashMap::new(), HashMap::new());
        Steps { steps, arrays, places, wants, follows, extracted, target, says_default: true }
    }

    /// Whether the machine has places.
    pub fn has_places(&self) -> bool {
        !self.target.machine().axes.is_empty()
    }

    /// Whether a type says its layout. A row-major one says no more than none at all, as it is in most HLO, and one without
    /// tiles says an order, where arrays have tiles.
    pub fn says_layout(&self, t: Type) -> bool {
        let layout = layout_in(t);
        let is_said = match self.target.has_tiles() {
            true => layout.is_tiled() || layout.memory_space != 0,
            false => layout != plain(t),
        };
        tensor_layout(t).is_some() || is_said
    }

    /// The array that a value of a type may be.
    pub fn array_of(&self, t: Type) -> Option<Array> {
        let mut array = array_of(t, self.has_places())?;
        if self.target.has_tiles() && !array.layout.is_tiled() {
            let (sizes, space) = (array.sizes()?, array.layout.memory_space);
            let order = &array.layout.minor_to_major;
            let meant = match order.is_sorted_by(|minor, major| minor > major) {
                true => self.target.default_layout(array.element, &sizes),
                false => self.target.layout(array.element, &sizes, order),
            };
            // What has no default layout is refused where it is planned.
            array.layout = meant.map_or(array.layout, |layout| Layout { memory_space: space, ..layout });
        }
        Some(array)
    }

    /// The layout that a tensor type means on the machine.
    pub fn layout_of(&self, t: Type) -> Layout {
        self.array_of(t).map_or_else(|| layout_in(t), |array| array.layout)
    }

    /// A tensor type with a layout; without tiles and row-major where that is the default of which types say nothing.
    ///
    /// # Errors
    /// The layout is none in MLIR.
    pub fn with_layout(&self, context: &'c Context, t: Type<'c>, layout: &Layout) -> Result<Type<'c>, Error> {
        let bare = ir::tensor(t).map_or(t, |tensor| ir::tensor_type(&Shaped { layout: None, ..tensor }));
        let (default, space) = (self.layout_of(bare), layout.memory_space);
        match !self.says_default && *layout == (Layout { memory_space: space, ..default }) {
            true => with_layout(context, t, &Layout { memory_space: space, ..plain(t) }),
            false => with_layout(context, t, layout),
        }
    }

    /// Adds a step that makes arrays of these types.
    pub fn step(
        &mut self,
        op: Op<'c>,
        times: i64,
        kind: StepKind,
        operands: Vec<ArrayId>,
        results: &[(Type<'c>, Array)],
    ) -> usize {
        let (by, first) = (self.steps.len(), self.arrays.len());
        for (result, (t, array)) in results.iter().enumerate() {
            let array = array.clone();
            self.arrays.push(StepArray { array, by, result, fixed: false, r#type: *t, cheap: false });
        }
        let results = (first..self.arrays.len()).collect();
        self.steps.push(Step { kind, operands, results, times, op });
        by
    }

    /// Adds a step that makes one array: the number of that.
    pub fn made(
        &mut self,
        op: Op<'c>,
        times: i64,
        kind: StepKind,
        operands: Vec<ArrayId>,
        result: (Type<'c>, Array),
    ) -> ArrayId {
        let step = self.step(op, times, kind, operands, &[result]);
        self.steps[step].results[0]
    }

    /// Says which array a value is. One whose type says its layout keeps it.
    pub fn place(&mut self, v: Val<'c>, array: ArrayId) {
        self.places.insert(ir::key(v), array);
        self.arrays[array].fixed |= self.says_layout(v.r#type());
    }

    /// The array that a value is.
    pub fn array(&self, v: Val<'c>) -> Option<ArrayId> {
        self.places.get(&ir::key(v)).copied()
    }

    /// Says what an operand is to be.
    pub fn want(&mut self, op: Op<'c>, operand: usize, want: Want<'c>) {
        self.wants.entry(ir::op_key(op)).or_default().push((operand, want));
    }

    /// The program. Its nodes are the numbers of the steps. Its results come last: what they are made of is there then.
    pub fn program(&self) -> Program<'_> {
        let is_result = |number: &usize| matches!(self.steps[*number].kind, StepKind::Result(_));
        let (results, others): (Vec<usize>, Vec<usize>) = (0..self.steps.len()).partition(is_result);
        let order = [others, results].concat();
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, number)| places[*number] = place);
        Program {
            instances: order.iter().map(|number| self.steps[*number].instance(*number)).collect(),
            made: self.arrays.iter().map(|array| Made { by: places[array.by], ..array.made() }).collect(),
            deciding: self.extracted.iter().map(|array| (0, self.arrays[*array].by)).collect(),
            ..Program::default()
        }
    }
}

impl Step<'_> {
    fn instance(&self, number: usize) -> Instance<'_> {
        let kind = match &self.kind {
            StepKind::Argument(argument) => InstanceKind::Argument(*argument, 0),
            StepKind::Operation(operation) => InstanceKind::Operation(operation),
            StepKind::Merge => InstanceKind::Merge,
            StepKind::Copy => InstanceKind::Copy,
            StepKind::Opaque => InstanceKind::Opaque,
            StepKind::Result(result) => InstanceKind::Result(*result),
        };
        let (operands, results) = (self.operands.clone(), self.results.clone());
        Instance { kind, operands, results, times: self.times, rounds: 0, node: (0, number), once: false }
    }
}

impl StepArray<'_> {
    /// Whether its type is that of its values: a scalar and what is inside of an operation have none.
    pub fn is_whole(&self) -> bool {
        array_of(self.r#type, true).is_some_and(|array| array.dims == self.array.dims)
    }

    fn made(&self) -> Made<'_> {
        let StepArray { by, result, .. } = *self;
        // What is cheap is made in the layout that is wanted, whatever its type says.
        Made { array: &self.array, by, result, leaf: result, fixed: self.fixed && !self.cheap, said: None }
    }
}
