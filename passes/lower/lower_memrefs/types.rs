//! Tiled memref types and their lowered types.

use crate::buffers::lowered::{AnyLayout, LoweredMemRef};
use crate::buffers::spread::Axes;
use crate::pass::options::Form;
use layout_ir::{self as ir, Shaped};
use melior::ir::{Attribute, Location, Type};
use std::collections::HashMap;
use std::rc::Rc;
use tensor_layout::tiled::Layout;

/// A cache of examined types.
pub(super) struct Types<'c> {
    pub(super) form: Form,
    pub(super) axes: Axes,
    pub(super) lowered: HashMap<Type<'c>, Option<Rc<LoweredMemRef<'c>>>>,
    /// Whether a type contains a layout that no pass converts.
    pub(super) nested_layout: HashMap<Type<'c>, bool>,
}

/// The layout of a type: in its own slot, or pending in the memory space.
pub(super) fn tiled_layout<'c>(t: Type<'c>) -> Option<Attribute<'c>> {
    let shaped = ir::memref(t)?;
    let own = shaped.layout.filter(|_| AnyLayout::of_memref(t).is_some());
    own.or_else(|| shaped.space.and_then(layout_dialect::pending))
}

pub(super) fn lower_type<'c>(
    t: Type<'c>,
    location: Location<'c>,
    form: Form,
    axes: &Axes,
) -> Result<LoweredMemRef<'c>, String> {
    let shaped = ir::memref(t).ok_or("it is not a memref")?;
    let own = AnyLayout::of_memref(t);
    let pending = shaped.space.and_then(layout_dialect::pending);
    let (layout, space) = match (own, pending) {
        (None, Some(carried)) if shaped.layout.is_none() => (AnyLayout::of(carried), None),
        (Some(layout), None) => (Some(layout), shaped.space),
        _ => return Err("it is a slice whose buffer is not known here".into()),
    };
    let layout = layout.ok_or("it carries no layout")?;
    let context = ir::location_context(location);
    let context = ir::borrowed(&context);
    let of_layout = i64::from(layout.memory_space());
    let of_layout = (of_layout != 0).then(|| layout_dialect::memory_space_attribute(context, of_layout)).transpose();
    let of_layout = of_layout.map_err(|error| error.message)?;
    let space = match (space, of_layout) {
        (Some(given), Some(own)) if given != own => {
            let own = layout_dialect::memory_space(own).unwrap_or(0);
            return Err(format!("its memory space must be that of its layout, S({own}), found {given}"));
        }
        (given, own) => given.or(own),
    };
    let shaped = Shaped { layout: None, space, ..shaped };
    let lowered = |layout: &AnyLayout<'c>| LoweredMemRef::new(location, &shaped, layout, axes, form);
    // Bufferization gives the copy of a slice or reshape the layout of its source buffer. If the copy cannot
    // have it, the layout is free: the copy is a buffer of its own.
    let row_major = AnyLayout::Tiled(Layout::row_major(shaped.shape.len()));
    match &layout {
        AnyLayout::Tiled(tiled) if pending.is_some() && tiled.rank() != shaped.shape.len() => lowered(&row_major),
        AnyLayout::Tensor(_) | AnyLayout::Swizzled(_) if pending.is_some() => {
            lowered(&layout).or_else(|_| lowered(&row_major))
        }
        _ => lowered(&layout),
    }
}
