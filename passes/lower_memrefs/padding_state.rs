//! What is known of the padding of buffers while a module is lowered.

use crate::functions::referred;
use crate::kernel::padding::{Content, WholeTiles};
use crate::options::{Options, Padding};
use layout_ir::Op;
use melior::ir::Attribute;
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
}

impl<'c> PaddingState<'c> {
    pub(super) fn new(operations: &[Op<'c>], options: &Options) -> Self {
        let referred = if options.padding == Padding::Masked { HashSet::new() } else { referred(operations) };
        PaddingState { referred, ..PaddingState::default() }
    }
}
