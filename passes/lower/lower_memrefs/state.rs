//! The state of a module during lowering.

use super::padding_state::PaddingState;
use super::types::{Types, lower_type, tiled_layout};
use crate::analysis::origins;
use crate::buffers::lowered::LoweredMemRef;
use crate::buffers::operations::{SLICE_OR_RESHAPE, is};
use crate::buffers::spread::Axes;
use crate::buffers::type_converter::{TypeConverter, has_nested_layout};
use crate::kernel::access::{Buffers, is_slice_of_pending};
use crate::kernel::fusion::Fusion;
use crate::pass::diagnostic::Diagnostic;
use crate::pass::options::LowerMemrefsOptions;
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::{AffineMap, Location, Type, ValueLike};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A pass over one module.
pub(super) struct Lowering<'c> {
    pub(super) rewriter: &'c Rewriter,
    pub(super) options: LowerMemrefsOptions,
    pub(super) types: Types<'c>,
    /// The lowered forms of tiled buffers, and the index maps to their elements.
    pub(super) buffers: Buffers<'c>,
    /// The indexing maps of structured operations.
    pub(super) maps: HashMap<usize, Vec<AffineMap<'c>>>,
    /// Operations that are part of the kernel of the operation with this key, in order.
    pub(super) fused_into: HashMap<usize, Vec<Op<'c>>>,
    /// Operations that wait for the next one, to be lowered with it.
    pub(super) waiting: Vec<Op<'c>>,
    /// Operations that are lowered alone, as their fused kernel could not be vectorised.
    pub(super) no_fusion: HashSet<usize>,
    /// Erased operations, by their old address.
    pub(super) erased: HashSet<usize>,
    /// The origins of the operations that the code at hand replaces; none where operations have no origins.
    origins: Option<Vec<i64>>,
    /// Slices and reshapes of pending buffers, sources first.
    pub(super) views: Vec<Op<'c>>,
    /// Known contents of padding.
    pub(super) padding: PaddingState<'c>,
    pub(super) errors: Vec<Diagnostic<'c>>,
    /// Remarks, emitted if there are no errors.
    pub(super) remarks: Vec<Diagnostic<'c>>,
}

impl<'c> Lowering<'c> {
    pub(super) fn new(
        rewriter: &'c Rewriter,
        root: Op<'c>,
        options: LowerMemrefsOptions,
        operations: &[Op<'c>],
    ) -> Self {
        let axes = Axes::of(root, operations);
        // Named operations derive their maps from their operands' types, so they are read before those change.
        let structured = operations.iter().filter(|op| ir::name(**op).starts_with("linalg."));
        Lowering {
            rewriter,
            options,
            types: Types { form: options.form, axes, lowered: HashMap::new(), nested_layout: HashMap::new() },
            buffers: Buffers::default(),
            maps: structured.filter_map(|op| Some((ir::op_key(*op), ir::indexing_maps(*op)?))).collect(),
            fused_into: HashMap::new(),
            waiting: Vec::new(),
            no_fusion: HashSet::new(),
            erased: HashSet::new(),
            origins: operations.iter().any(|op| !origins::of(*op).is_empty()).then(Vec::new),
            views: Vec::new(),
            padding: PaddingState::new(operations, &options),
            errors: Vec::new(),
            remarks: Vec::new(),
        }
    }

    pub(super) fn error(&mut self, location: Location<'c>, message: String) {
        self.errors.push(Diagnostic::error(location, message));
    }

    /// Gives all tiled buffers their lowered types and records them. Returns false if there are none.
    pub(super) fn convert_types(&mut self, operations: &[Op<'c>]) -> bool {
        let mut known = HashMap::new();
        let mut found = false;
        for op in operations {
            let location = ir::location(*op);
            let arguments = ir::blocks(*op).into_iter().flat_map(ir::arguments);
            for value in ir::results(*op).into_iter().chain(arguments) {
                let t = value.r#type();
                if tiled_layout(t).is_none() {
                    if *self.types.nested_layout.entry(t).or_insert_with(|| has_nested_layout(t)) {
                        self.error(location, format!("cannot lower {t}: a type nested in it contains a layout"));
                    }
                    continue;
                }
                found = true;
                if is_slice_of_pending(value) {
                    continue;
                }
                if let Some(lowered) = self.lowered(t, location) {
                    self.buffers.lowered.insert(ir::key(value), lowered);
                }
            }
            if is(ir::name(*op), SLICE_OR_RESHAPE) && is_slice_of_pending(ir::result(*op, 0)) {
                continue;
            }
            if ir::name(*op) == "memref.global" {
                // Its type becomes that of the allocation after its data are examined.
                found |= ir::attribute(*op, "type").and_then(ir::type_in).is_some_and(|t| tiled_layout(t).is_some());
                continue;
            }
            let mut converter = TypeConverter::with(std::mem::take(&mut known), |t| {
                tiled_layout(t)?;
                found = true;
                self.lowered(t, location).map(|l| l.value_type)
            });
            converter.operation(*op);
            known = converter.into_known();
        }
        found
    }

    /// The lowered form of a tiled type; reports an error at `location`, once for each type, if there is none.
    pub(super) fn lowered(&mut self, t: Type<'c>, location: Location<'c>) -> Option<Rc<LoweredMemRef<'c>>> {
        if let Some(known) = self.types.lowered.get(&t) {
            return known.clone();
        }
        let made = lower_type(t, location, self.types.form, &self.types.axes);
        let made = made.map(Rc::new).map_err(|reason| self.error(location, format!("cannot lower {t}: {reason}"))).ok();
        self.types.lowered.insert(t, made.clone());
        made
    }

    /// Emits code before an operation, and gives it the origins of the operations that it replaces.
    pub(super) fn with_origins<R>(&mut self, op: Op<'c>, emit: impl FnOnce(&mut Self) -> R) -> R {
        let place = self.origins.as_ref().and_then(|_| ir::next(op));
        // Code is behind this operation, which is erased.
        let place = place.and_then(|next| Some((ir::defining_op(Builder::before(op).index(0))?, next)));
        let Some((first, next)) = place else { return emit(self) };
        let outer = self.origins.replace(Vec::new());
        let result = emit(self);
        let end = if self.erased.contains(&ir::op_key(op)) { next } else { op };
        let numbers = std::mem::replace(&mut self.origins, outer);
        origins::hand_on(first, end, &numbers.unwrap_or_default());
        self.rewriter.erase(first);
        result
    }

    pub(super) fn fusion(&self) -> Fusion<'_, 'c> {
        Fusion { buffers: &self.buffers, maps: &self.maps, fused_into: &self.fused_into }
    }

    /// Replaces the results of an operation by these values and erases it.
    pub(super) fn replace(&mut self, op: Op<'c>, by: &[Val<'c>]) {
        for (old, new) in ir::results(op).into_iter().zip(by) {
            ir::replace_all_uses(old, *new);
        }
        if let Some(origins) = &mut self.origins {
            origins.extend(origins::of(op));
        }
        for gone in ir::all_operations(op) {
            self.erased.insert(ir::op_key(gone));
            self.maps.remove(&ir::op_key(gone));
        }
        self.rewriter.erase(op);
    }
}
