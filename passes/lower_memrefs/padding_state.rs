//! What is known of the padding of buffers while a module is lowered.

use crate::buffers::operations::{SAME_BUFFER, is};
use crate::functions::{referred, symbol};
use crate::kernel::padding::{Content, WholeTiles};
use crate::options::{Options, Padding};
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
    /// The block that it is in.
    pub(super) block: usize,
}

/// What is known of the padding of buffers, by the value that is the whole buffer.
#[derive(Default)]
pub(super) struct PaddingState<'c> {
    pub(super) tiles: WholeTiles<'c>,
    pub(super) writers: HashMap<usize, Vec<Writer<'c>>>,
    /// What padding must go on holding inside an operation.
    pub(super) needed: HashMap<usize, Vec<(Attribute<'c>, usize)>>,
    /// Whether all uses of a buffer are known.
    pub(super) owned: HashMap<usize, bool>,
    /// What the padding of constants holds, by their names.
    pub(super) constants: HashMap<String, Attribute<'c>>,
    /// The functions that the module itself refers to.
    pub(super) referred: HashSet<String>,
    /// The elements of arguments whose padding holds what their `layout.padding` says.
    pub(super) promised: HashSet<Type<'c>>,
}

impl<'c> PaddingState<'c> {
    pub(super) fn new(operations: &[Op<'c>], options: &Options) -> Self {
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

/// The buffer that a value shows.
pub(super) fn root(mut v: Val) -> Val {
    while let Some(op) = ir::defining_op(v).filter(|op| is(ir::name(*op), SAME_BUFFER)) {
        v = ir::operands(op)[0];
    }
    v
}

/// What identifies the block of an operation.
pub(super) fn block(op: Op) -> usize {
    op.block().map_or(0, |block| block.to_raw().ptr as usize)
}
