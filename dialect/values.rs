//! Attributes of the dialect and the values that they hold, both ways.

use crate::attribute::{self, Body};
use crate::axis::verify_axis;
use crate::imports::{
    RawIndexingMap, bytes, layout_cc_axis_get, layout_cc_axis_level, layout_cc_axis_name, layout_cc_indexing_map_get,
    layout_cc_indexing_map_parts, layout_cc_machine_get, layout_cc_machine_text, layout_cc_memory_space_get,
    layout_cc_memory_space_number, layout_cc_pending_get, layout_cc_pending_layout, layout_cc_tensor_layout_get,
    layout_cc_tensor_layout_text, layout_cc_tiled_get, layout_cc_tiled_text, load, loaded, string_ref,
};
use crate::indexing_map as map;
use crate::memory_space as space;
use layout::{layout::Layout, machine::Machine, map::Indexing, tensor_layout::TensorLayout, text::Error};
use melior::{
    Context, ContextRef,
    ir::{AffineMap, Attribute, AttributeLike},
};
use mlir_sys::{MlirAttribute, MlirContext};

/// The attribute `#layout.MNEMONIC<text>`, for `tiled`, `tensor_layout`, `machine`, `memory_space` and `indexing_map`.
///
/// # Errors
/// Says what is wrong in the text, and where; or that the context does not have the dialect.
pub fn attribute_from_text<'c>(context: &'c Context, mnemonic: &str, text: &str) -> Result<Attribute<'c>, Error> {
    load(context)?;
    let body = attribute::parse_text(mnemonic, text)?;
    // SAFETY: the context is alive and has the dialect.
    Ok(unsafe { Attribute::from_raw(attribute_of(context.to_raw(), &body)) })
}

/// The layout of a `#layout.tiled` attribute; `None` for any other attribute.
///
/// # Panics
/// Where C++ made the attribute from a text that is no layout.
pub fn tiled(attribute: Attribute) -> Option<Layout> {
    // SAFETY: the attribute is alive, and its text lives as long as its context.
    let text = unsafe { bytes(layout_cc_tiled_text(attribute.to_raw()))? };
    let text = str::from_utf8(text).expect("the text of a layout is UTF-8");
    Some(Layout::parse(text).unwrap_or_else(|error| panic!("#layout.tiled<{text}> holds no layout: {error}")))
}

/// The `#layout.tiled` attribute of a layout.
///
/// # Panics
/// Where [`load`] has an error.
pub fn tiled_attribute<'c>(context: &'c Context, layout: &Layout) -> Attribute<'c> {
    // SAFETY: the context is alive and has the dialect; the text is copied.
    unsafe { Attribute::from_raw(layout_cc_tiled_get(loaded(context), string_ref(&layout.to_string()))) }
}

/// The layout of a `#layout.tensor_layout` attribute; `None` for any other attribute.
///
/// # Panics
/// Where C++ made the attribute from a text that is no layout.
pub fn tensor_layout(attribute: Attribute) -> Option<TensorLayout> {
    // SAFETY: the attribute is alive, and its text lives as long as its context.
    let text = unsafe { bytes(layout_cc_tensor_layout_text(attribute.to_raw()))? };
    let text = str::from_utf8(text).expect("the text of a layout is UTF-8");
    let layout = TensorLayout::parse(text);
    Some(layout.unwrap_or_else(|error| panic!("#layout.tensor_layout<{text}> holds no layout: {error}")))
}

/// The `#layout.tensor_layout` attribute of a layout.
///
/// # Panics
/// Where [`load`] has an error.
pub fn tensor_layout_attribute<'c>(context: &'c Context, layout: &TensorLayout) -> Attribute<'c> {
    // SAFETY: the context is alive and has the dialect; the text is copied.
    unsafe { Attribute::from_raw(layout_cc_tensor_layout_get(loaded(context), string_ref(&layout.to_string()))) }
}

/// The machine of a `#layout.machine` attribute; `None` for any other attribute.
///
/// # Panics
/// Where C++ made the attribute from a text that is no machine.
pub fn machine(attribute: Attribute) -> Option<Machine> {
    // SAFETY: the attribute is alive, and its text lives as long as its context.
    let text = unsafe { bytes(layout_cc_machine_text(attribute.to_raw()))? };
    let text = str::from_utf8(text).expect("the text of a machine is UTF-8");
    Some(Machine::parse(text).unwrap_or_else(|error| panic!("#layout.machine<{text}> holds no machine: {error}")))
}

/// The `#layout.machine` attribute of a machine.
///
/// # Panics
/// Where [`load`] has an error.
pub fn machine_attribute<'c>(context: &'c Context, machine: &Machine) -> Attribute<'c> {
    // SAFETY: the context is alive and has the dialect; the text is copied.
    unsafe { Attribute::from_raw(layout_cc_machine_get(loaded(context), string_ref(&machine.to_string()))) }
}

/// The `#layout.axis` attribute of an axis, which is at this level of its machine, 0 at the root.
///
/// # Panics
/// Where [`load`] has an error, and where no axis can have this name.
pub fn axis_attribute<'c>(context: &'c Context, name: &str, level: usize) -> Attribute<'c> {
    let level = i64::try_from(level).expect("a machine has few levels");
    verify_axis(name, level).unwrap_or_else(|message| panic!("{message}"));
    // SAFETY: the context is alive and has the dialect; the text is copied.
    unsafe { Attribute::from_raw(layout_cc_axis_get(loaded(context), string_ref(name), level)) }
}

/// The name and the level of a `#layout.axis` attribute; `None` for any other attribute.
pub fn axis(attribute: Attribute) -> Option<(String, i64)> {
    // SAFETY: the attribute is alive, its text lives as long as its context, and it has a level where it has a name.
    unsafe {
        let name = bytes(layout_cc_axis_name(attribute.to_raw()))?;
        Some((String::from_utf8_lossy(name).into_owned(), layout_cc_axis_level(attribute.to_raw())))
    }
}

/// The affine map that memrefs with this layout have; `None` where the attribute is neither `#layout.tiled` nor
/// `#layout.tensor_layout`.
///
/// It takes a logical index to the index in the expanded sizes of a tiled layout, and to the coordinate along each axis
/// and the local address of a TensorLayout.
pub fn affine_map<'c>(attribute: Attribute<'c>) -> Option<AffineMap<'c>> {
    let context = attribute.context();
    // SAFETY: the context outlives what is made in it, which `'c` says of both.
    let context: &'c Context = unsafe { context.to_ref() };
    match tiled(attribute) {
        Some(layout) => Some(crate::tiled::affine_map(context, &layout)),
        None => tensor_layout(attribute).map(|layout| crate::tensor_layout::affine_map(context, &layout)),
    }
}

/// XLA's number of a `#layout.memory_space` attribute; `None` for any other attribute.
pub fn memory_space(attribute: Attribute) -> Option<i64> {
    // SAFETY: the attribute is alive.
    let number = unsafe { layout_cc_memory_space_number(attribute.to_raw()) };
    (number >= 0).then_some(number)
}

/// The `#layout.memory_space` attribute of one of XLA's numbers.
///
/// # Panics
/// Where [`load`] has an error, and where the number is not in 0 to 127.
pub fn memory_space_attribute(context: &Context, number: i64) -> Attribute<'_> {
    space::verify(number).unwrap_or_else(|message| panic!("{message}, got {number}"));
    // SAFETY: the context is alive and has the dialect.
    unsafe { Attribute::from_raw(layout_cc_memory_space_get(loaded(context), number)) }
}

/// The value of a `#layout.indexing_map` attribute; `None` for any other attribute.
///
/// # Panics
/// Where C++ made the attribute from parts that its verifier refuses.
pub fn indexing_map(attribute: Attribute) -> Option<Indexing> {
    let mut parts = std::mem::MaybeUninit::<RawIndexingMap>::uninit();
    // SAFETY: the attribute is alive; the parts are written where it is an indexing map, and live with the context.
    let parts = unsafe {
        if !layout_cc_indexing_map_parts(attribute.to_raw(), parts.as_mut_ptr()) {
            return None;
        }
        parts.assume_init().read()
    };
    Some(map::value(&parts).unwrap_or_else(|error| panic!("the indexing map does not hold together: {error}")))
}

/// The results of a `#layout.indexing_map` attribute; `None` for any other attribute, and where it is no map.
pub fn indexing_affine_map(attribute: Attribute) -> Option<AffineMap> {
    let mut parts = std::mem::MaybeUninit::<RawIndexingMap>::uninit();
    // SAFETY: the attribute is alive; the parts are written where it is an indexing map, and live with the context.
    unsafe {
        let read = layout_cc_indexing_map_parts(attribute.to_raw(), parts.as_mut_ptr());
        read.then(|| parts.assume_init()).filter(|parts| parts.kind == 0).map(|parts| AffineMap::from_raw(parts.map))
    }
}

/// What stands between the brackets of an attribute of this dialect; `None` for any other attribute and for
/// `#layout.pending`.
pub fn text(attribute: Attribute) -> Option<String> {
    if let Some(number) = memory_space(attribute) {
        return Some(space::print(number));
    }
    if let Some((name, level)) = axis(attribute) {
        return Some(format!("\"{name}\", level = {level}"));
    }
    let layout = tiled(attribute).map(|layout| layout.to_string());
    layout
        .or_else(|| tensor_layout(attribute).map(|layout| layout.to_string()))
        .or_else(|| machine(attribute).map(|machine| machine.to_string()))
        .or_else(|| indexing_map(attribute).map(|map| map.to_string()))
}

/// The `#layout.indexing_map` attribute of a value.
///
/// # Panics
/// Where [`load`] has an error, and where a result or constraint keeps a minimum or maximum, which an affine map cannot say.
pub fn indexing_map_attribute<'c>(context: &'c Context, value: &Indexing) -> Attribute<'c> {
    let parts = map::parts(context, value);
    let raw = RawIndexingMap {
        kind: parts.kind,
        map: parts.map.to_raw(),
        ranges: parts.ranges,
        intervals: parts.intervals.as_ptr(),
        interval_count: parts.intervals.len(),
        constraints: parts.constraints.to_raw(),
        constraint_intervals: parts.constraint_intervals.as_ptr(),
        constraint_interval_count: parts.constraint_intervals.len(),
        names: string_ref(&parts.names),
    };
    // SAFETY: the context is alive and has the dialect; everything is copied.
    unsafe { Attribute::from_raw(layout_cc_indexing_map_get(loaded(context), &raw)) }
}

/// The layout attribute inside a `#layout.pending` attribute; `None` for any other attribute.
pub fn pending(attribute: Attribute) -> Option<Attribute> {
    // SAFETY: the attribute is alive.
    unsafe { Attribute::from_option_raw(layout_cc_pending_layout(attribute.to_raw())) }
}

/// The `#layout.pending` attribute around a layout.
///
/// # Panics
/// Where `layout` is neither a `#layout.tiled` nor a `#layout.tensor_layout` attribute.
pub fn pending_attribute(layout: Attribute) -> Attribute {
    assert!(tiled(layout).is_some() || tensor_layout(layout).is_some(), "{layout} is no layout of this dialect");
    // SAFETY: the attribute is alive, and of the kind that C++ casts it to.
    unsafe { Attribute::from_raw(layout_cc_pending_get(layout.to_raw())) }
}

/// The attribute with this body.
///
/// # Safety
/// The context is alive and has the dialect loaded.
pub(crate) unsafe fn attribute_of(context: MlirContext, body: &Body) -> MlirAttribute {
    // SAFETY: the caller's promise; texts are copied.
    unsafe {
        match body {
            Body::Tiled(layout) => layout_cc_tiled_get(context, string_ref(&layout.to_string())),
            Body::TensorLayout(layout) => layout_cc_tensor_layout_get(context, string_ref(&layout.to_string())),
            Body::Machine(machine) => layout_cc_machine_get(context, string_ref(&machine.to_string())),
            Body::IndexingMap(map) => {
                let context = ContextRef::from_raw(context);
                indexing_map_attribute(context.to_ref(), map).to_raw()
            }
            Body::MemorySpace(number) => layout_cc_memory_space_get(context, *number),
        }
    }
}
