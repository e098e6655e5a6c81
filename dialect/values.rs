//! Conversion between attributes of the dialect and their values.
//!
//! An attribute of a layout or a machine keeps only its canonical text, so that there is one grammar and one
//! owner of its meaning, in Rust. The price is that each function here that reads a value parses the text again, and
//! so does every method that C++ calls. Example: the attribute `#layout.tiled<{1,0:T(8,128)}>` keeps `{1,0:T(8,128)}`;
//! [`tiled`] returns the [`Layout`] that `Layout::parse` makes of that text.
//!
//! For every function that makes an attribute, the context's registry needs the dialect, which is loaded if necessary.

use crate::attribute::{self, Body};
use crate::axis::verify_axis;
use crate::context::borrowed;
use crate::imports::{self, MACHINE, SWIZZLED, TENSOR_LAYOUT, TILED, load};
use crate::indexing_map as map;
use ::tensor_layout::maps::Indexing;
use ::tensor_layout::places::{Machine, TensorLayout};
use ::tensor_layout::swizzled::SwizzledLayout;
use ::tensor_layout::text::Error;
use ::tensor_layout::tiled::{Layout, memory_space::check};
use melior::{
    Context,
    ir::{
        AffineMap, Attribute, AttributeLike, Type,
        r#type::{MemRefType, RankedTensorType},
    },
};

pub use crate::imports::{axis, memory_space, pending};

/// The attribute `#layout.MNEMONIC<text>`, for `tiled`, `tensor_layout`, `swizzled`, `machine`, `memory_space` and
/// `indexing_map`.
///
/// # Errors
/// The error in the text, with its position; or a context without the dialect.
pub fn attribute_from_text<'c>(context: &'c Context, mnemonic: &str, text: &str) -> Result<Attribute<'c>, Error> {
    load(context)?;
    attribute_of(context, &attribute::parse_text(mnemonic, text)?)
}

/// The attribute with this body.
pub(crate) fn attribute_of<'c>(context: &'c Context, body: &Body) -> Result<Attribute<'c>, Error> {
    match body {
        Body::Tiled(layout) => tiled_attribute(context, layout),
        Body::TensorLayout(layout) => tensor_layout_attribute(context, layout),
        Body::Swizzled(layout) => swizzled_attribute(context, layout),
        Body::Machine(machine) => machine_attribute(context, machine),
        Body::IndexingMap(map) => indexing_map_attribute(context, map),
        Body::MemorySpace(number) => memory_space_attribute(context, *number),
    }
}

/// The body of an attribute with a notation of its own; `None` for any other attribute.
pub(crate) fn body(attribute: Attribute) -> Option<Body> {
    tiled(attribute)
        .map(Body::Tiled)
        .or_else(|| tensor_layout(attribute).map(Body::TensorLayout))
        .or_else(|| swizzled(attribute).map(Body::Swizzled))
        .or_else(|| machine(attribute).map(|machine| Body::Machine(Box::new(machine))))
        .or_else(|| memory_space(attribute).map(Body::MemorySpace))
        .or_else(|| indexing_map(attribute).map(Body::IndexingMap))
}

/// The layout of a `#layout.tiled` attribute; `None` for any other attribute.
///
/// # Panics
/// If C++ made the attribute, unchecked, from a text that is no layout.
pub fn tiled(attribute: Attribute) -> Option<Layout> {
    let text = TILED.text(attribute)?;
    Some(Layout::parse(text).unwrap_or_else(|error| panic!("expected a tiled layout, found `{text}`: {error}")))
}

/// The `#layout.tiled` attribute of a layout.
///
/// # Errors
/// The errors of [`load`].
pub fn tiled_attribute<'c>(context: &'c Context, layout: &Layout) -> Result<Attribute<'c>, Error> {
    TILED.of_text(context, &layout.to_string())
}

/// The layout of a `#layout.tensor_layout` attribute; `None` for any other attribute.
///
/// # Panics
/// If C++ made the attribute, unchecked, from a text that is no layout.
pub fn tensor_layout(attribute: Attribute) -> Option<TensorLayout> {
    let text = TENSOR_LAYOUT.text(attribute)?;
    Some(TensorLayout::parse(text).unwrap_or_else(|error| panic!("expected a TensorLayout, found `{text}`: {error}")))
}

/// The `#layout.tensor_layout` attribute of a layout.
///
/// # Errors
/// The errors of [`load`].
pub fn tensor_layout_attribute<'c>(context: &'c Context, layout: &TensorLayout) -> Result<Attribute<'c>, Error> {
    TENSOR_LAYOUT.of_text(context, &layout.to_string())
}

/// The layout of a `#layout.swizzled` attribute; `None` for any other attribute.
///
/// # Panics
/// If C++ made the attribute, unchecked, from a text that is no layout.
pub fn swizzled(attribute: Attribute) -> Option<SwizzledLayout> {
    let text = SWIZZLED.text(attribute)?;
    Some(
        SwizzledLayout::parse(text)
            .unwrap_or_else(|error| panic!("expected a swizzled layout, found `{text}`: {error}")),
    )
}

/// The `#layout.swizzled` attribute of a layout.
///
/// # Errors
/// The errors of [`load`].
pub fn swizzled_attribute<'c>(context: &'c Context, layout: &SwizzledLayout) -> Result<Attribute<'c>, Error> {
    SWIZZLED.of_text(context, &layout.to_string())
}

/// The machine of a `#layout.machine` attribute; `None` for any other attribute.
///
/// # Panics
/// If C++ made the attribute, unchecked, from a text that is no machine.
pub fn machine(attribute: Attribute) -> Option<Machine> {
    let text = MACHINE.text(attribute)?;
    Some(Machine::parse(text).unwrap_or_else(|error| panic!("expected a machine, found `{text}`: {error}")))
}

/// The `#layout.machine` attribute of a machine.
///
/// # Errors
/// The errors of [`load`].
pub fn machine_attribute<'c>(context: &'c Context, machine: &Machine) -> Result<Attribute<'c>, Error> {
    MACHINE.of_text(context, &machine.to_string())
}

/// The `#layout.axis` attribute of an axis at this level of its machine, 0 at the root.
///
/// # Errors
/// A name that no axis can have, and the errors of [`load`].
pub fn axis_attribute<'c>(context: &'c Context, name: &str, level: usize) -> Result<Attribute<'c>, Error> {
    let level = i64::try_from(level).map_err(|_| Error::new("the level of an axis must be below 2^63"))?;
    verify_axis(name, level).map_err(Error::new)?;
    imports::axis_of(context, name, level)
}

/// The encoding of a ranked tensor type, or the layout of a memref type, of this dialect or any other; `None` for other
/// types, and for tensors without an encoding.
pub fn layout(of: Type) -> Option<Attribute> {
    match RankedTensorType::try_from(of) {
        Ok(tensor) => imports::encoding(tensor),
        Err(_) => MemRefType::try_from(of).ok().map(|memref| imports::memref_parts(memref).0),
    }
}

/// The affine map of memrefs with this layout; `None` if the attribute is no layout of this dialect.
///
/// The map takes a logical index to the index in the expanded sizes of a tiled layout, to the coordinate along each
/// axis and the local address of a TensorLayout. That of a swizzled layout is the identity with a last result that is
/// not affine.
pub fn affine_map<'c>(attribute: Attribute<'c>) -> Option<AffineMap<'c>> {
    let context = borrowed(&attribute.context());
    if let Some(layout) = tiled(attribute) {
        return Some(crate::tiled_rules::affine_map(context, &layout));
    }
    if let Some(layout) = swizzled(attribute) {
        return Some(crate::swizzled_rules::affine_map(context, layout.rank()));
    }
    let layout = tensor_layout(attribute)?;
    Some(crate::tensor_layout_rules::affine_map(context, &layout))
}

/// The `#layout.memory_space` attribute of one of XLA's numbers.
///
/// # Errors
/// A number outside 0 to 127, and the errors of [`load`].
pub fn memory_space_attribute(context: &Context, number: i64) -> Result<Attribute<'_>, Error> {
    check(number).map_err(Error::new)?;
    imports::memory_space_of(context, number)
}

/// The value of a `#layout.indexing_map` attribute; `None` for any other attribute.
///
/// # Panics
/// If C++ made the attribute, unchecked, from parts that its verifier refuses.
pub fn indexing_map(attribute: Attribute) -> Option<Indexing> {
    let parts = imports::indexing_map(attribute)?;
    Some(map::value(&parts).unwrap_or_else(|error| panic!("expected the parts of an indexing map: {error}")))
}

/// The results of a `#layout.indexing_map` attribute; `None` for any other attribute, and for `KNOWN EMPTY` and
/// `UNDEFINED`, which have none.
pub fn indexing_affine_map(attribute: Attribute) -> Option<AffineMap> {
    imports::indexing_map(attribute).filter(map::Parts::is_map).map(|parts| parts.map)
}

/// The `#layout.indexing_map` attribute of a value.
///
/// # Errors
/// A result or a constraint without an affine map: it has a minimum or a maximum, or coefficients beyond 64 bits. And
/// the errors of [`load`].
pub fn indexing_map_attribute<'c>(context: &'c Context, value: &Indexing) -> Result<Attribute<'c>, Error> {
    imports::indexing_map_of(context, &map::parts(context, value)?)
}

/// The `#layout.pending` attribute around a layout.
///
/// # Errors
/// An attribute that is no layout of this dialect.
pub fn pending_attribute(layout: Attribute) -> Result<Attribute, Error> {
    imports::pending_of(layout).ok_or_else(|| Error::new(no_layout(layout)))
}

/// The message for an attribute where a layout of this dialect is required.
pub(crate) fn no_layout(found: Attribute) -> String {
    format!("expected #layout.tiled, #layout.tensor_layout or #layout.swizzled, found {found}")
}

/// The text between the brackets of an attribute of this dialect; `None` for any other attribute and for
/// `#layout.pending`.
pub fn text(attribute: Attribute) -> Option<String> {
    let of_axis = || axis(attribute).map(|(name, level)| crate::axis::print(&name, level));
    body(attribute).map(|body| body.text()).or_else(of_axis)
}
