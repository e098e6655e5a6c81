//! The known state of the padding of buffers during lowering.

use crate::analysis::functions::{referred, symbol};
use crate::buffers::operations::{SAME_BUFFER, is};
use crate::kernel::padding::{Content, WholeTiles};
use crate::pass::options::{LowerMemrefsOptions, Padding};
use layout_dialect::PADDING;
use layout_ir::{self as ir, Op, Val};
use melior::ir::attribute::AttributeLike;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Type};
use std::collections::{HashMap, HashSet};

/// A kernel that wrote padding.
pub(super) struct Writer<'c> {
    pub(super) value: Content<'c>,
    /// Whether it wrote all of the buffer's padding.
    pub(super) all: bool,
    /// Its block.
    pub(super) block: usize,
}

/// The known state of padding, by the value of the whole buffer.
#[derive(Default)]
pub(super) struct PaddingState<'c> {
    pub(super) tiles: WholeTiles<'c>,
    pub(super) writers: HashMap<usize, Vec<Writer<'c>>>,
    /// Values that padding must keep inside an operation.
    pub(super) needed: HashMap<usize, Vec<(Attribute<'c>, usize)>>,
    /// Whether all users of a buffer are known.
    pub(super) owned: HashMap<usize, bool>,
    /// The padding of constants, by their names.
    pub(super) constants: HashMap<String, Attribute<'c>>,
    /// The functions that the module itself refers to.
    pub(super) referred: HashSet<String>,
    /// The element types of arguments with a `layout.padding`.
    pub(super) promised: HashSet<Type<'c>>,
}

impl<'c> PaddingState<'c> {
    pub(super) fn new(operations: &[Op<'c>], options: &LowerMemrefsOptions) -> Self {
        if options.padding == Padding::Masked {
            return PaddingState::default();
        }
        let referred = referred(operations);
        let functions = operations.iter().filter(|op| ir::name(**op) == "func.func");
        let believed = functions.filter(|op| symbol(**op).is_some_and(|name| !referred.contains(name)));
        let entries = believed.flat_map(|op| ir::elements(*op, "arg_attrs")).flat_map(ir::entries);
        let promised = entries.filter(|(name, _)| name == PADDING).map(|(_, value)| value.r#type()).collect();
        PaddingState { referred, promised, ..PaddingState::default() }
    }
}

/// The buffer that a value views.
pub(super) fn root(mut v: Val) -> Val {
    while let Some(op) = ir::defining_op(v).filter(|op| is(ir::name(*op), SAME_BUFFER)) {
        v = ir::operands(op)[0];
    }
    v
}

/// The identity of an operation's block.
pub(super) fn block(op: Op) -> usize {
    op.block().map_or(0, |block| block.to_raw().ptr as usize)
}
