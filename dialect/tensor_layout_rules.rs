//! `#layout.tensor_layout`: its map, its strides, and its checks against a type.
//!
//! The layout `((4_PE, 3:8), (8:1))` has the map `(d0, d1) -> (d0 floordiv 3, (d0 mod 3) * 8 + d1)`: the coordinate
//! along `PE`, then the local address. It has no strides, because an axis is named; `((12:8), (8:1))` has the strides
//! `[8, 1]`.
//!
//! The map is made from the layout alone, for any shape; the checks take sizes, where `None` is a dynamic one.

use crate::affine::affine_expr;
use crate::element::{bits, not_a_number};
use ::tensor_layout::places::Placement;
use ::tensor_layout::places::{Part, TensorLayout};
use melior::Context;
use melior::ir::{AffineExpr, AffineMap, Type};

/// The map from an index to the coordinate of each axis, in the order in which the layout names them, and last to the
/// local address, for any shape. It takes the first copy where there are several.
pub fn affine_map<'c>(context: &'c Context, layout: &TensorLayout) -> AffineMap<'c> {
    let dim = |d| AffineExpr::dim(context, d);
    let exprs = layout.exprs();
    let results = exprs.iter().map(|e| affine_expr(context, e, &dim).expect("digits have no minimum and no maximum"));
    let results: Vec<_> = results.collect();
    AffineMap::new(context, layout.rank(), 0, &results)
}

/// The strides of the dimensions, in units of the address; `None` if a dimension has several parts, or an axis is
/// named.
pub fn strides(layout: &TensorLayout, shape: &[Option<i64>]) -> Option<Vec<i64>> {
    if layout.rank() != shape.len() || !layout.axes().is_empty() {
        return None;
    }
    let stride = |parts: &Vec<Part>| match &parts[..] {
        [] => Some(1),
        [part] => Some(part.stride),
        _ => None,
    };
    layout.dims.iter().map(stride).collect()
}

/// Checks the layout against the shape of its type; `None` is a dynamic size.
pub fn verify_layout(layout: &TensorLayout, shape: &[Option<i64>]) -> Result<(), String> {
    // (tensor_layout_c1) A layout has one entry for each dimension.
    if layout.rank() != shape.len() {
        return Err(format!("layout {layout}: expected rank {}, found {}", shape.len(), layout.rank()));
    }
    let Some(sizes) = shape.iter().copied().collect::<Option<Vec<i64>>>() else { return Ok(()) };
    // (tensor_layout_c1), (tensor_layout_c2) and (tensor_layout_c3) With static sizes.
    Placement::new(layout, Some(&sizes)).map(|_| ()).map_err(|e| format!("layout {layout}: {}", e.error))
}

/// The layout on sizes that must be static; `None` is a dynamic one.
///
/// # Errors
/// A dynamic size, and sizes that [`Placement::new`] refuses.
pub fn static_placement(layout: &TensorLayout, shape: &[Option<i64>]) -> Result<Placement, String> {
    verify_layout(layout, shape)?;
    let sizes =
        shape.iter().copied().collect::<Option<Vec<i64>>>().ok_or("expected static sizes, found a dynamic one")?;
    Placement::new(layout, Some(&sizes)).map_err(|e| format!("layout {layout}: {}", e.error))
}

/// The layout with these parts for each dimension, each an extent, an axis and a stride; no axis is the local address.
///
/// # Errors
/// The errors of [`TensorLayout::new`].
pub fn of_parts(dims: &[Vec<(i64, &str, i64)>]) -> Result<TensorLayout, String> {
    let part = |(extent, axis, stride): &(i64, &str, i64)| match *axis {
        "" => Part::local(*extent, *stride),
        axis => Part::along(axis, *extent, *stride),
    };
    let dims = dims.iter().map(|parts| parts.iter().map(part).collect()).collect();
    TensorLayout::new(dims).map_err(|error| error.message)
}

/// Checks the layout against the type of its tensor.
pub fn verify_encoding(layout: &TensorLayout, shape: &[Option<i64>], element: Type) -> Result<(), String> {
    verify_layout(layout, shape)?;
    // (tensor_layout_c4) A tensor's element type is an integer, index, floating-point or complex type.
    match bits(element) {
        Some(_) => Ok(()),
        None => Err(not_a_number(&layout.to_string(), element)),
    }
}
