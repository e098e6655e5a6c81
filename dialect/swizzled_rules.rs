//! `#layout.swizzled`: its map, and its checks against a type.
//!
//! A flipped bit is the remainder by 2 of a sum, but upstream's analysis of a map with such remainders takes all memory. So
//! the map is the identity, with one result more that is not affine: `d0 mod d0`. Passes that need an affine map, such as
//! `--normalize-memrefs`, leave memrefs with it alone. It has no symbols, so an allocation takes no operands for them.

use crate::element::{bits, not_a_number};
use ::tensor_layout::swizzled::{Addresses, SwizzledLayout};
use melior::Context;
use melior::ir::{AffineExpr, AffineMap, Type};

/// The identity, and a result that is not affine.
pub fn affine_map<'c>(context: &'c Context, rank: usize) -> AffineMap<'c> {
    let dims = (0..rank).map(|k| AffineExpr::dim(context, k));
    let first = (rank > 0).then(|| AffineExpr::dim(context, 0)).map(|dim| AffineExpr::modulo(dim, dim));
    AffineMap::new(context, rank, 0, &dims.chain(first).collect::<Vec<_>>())
}

/// The addresses of the layout on a shape; `None` is a dynamic size.
///
/// # Errors
/// A shape that the layout cannot have.
pub fn addresses(layout: &SwizzledLayout, shape: &[Option<i64>]) -> Result<Addresses, String> {
    // (swizzled_c1) A layout has one entry for each dimension.
    if layout.rank() != shape.len() {
        return Err(format!("layout {layout}: expected rank {}, found {}", shape.len(), layout.rank()));
    }
    // (swizzled_c2) All sizes are static.
    let sizes = shape.iter().copied().collect::<Option<Vec<i64>>>();
    let sizes = sizes.ok_or_else(|| format!("layout {layout}: expected static sizes, found a dynamic one"))?;
    // (swizzled_c1), (swizzled_c3) The inner layout fits the sizes, and the addresses fit in 64 bits.
    layout.on(&sizes).map_err(|error| format!("layout {layout}: {error}"))
}

/// Checks the layout against the type of its tensor.
pub fn verify_encoding(layout: &SwizzledLayout, shape: &[Option<i64>], element: Type) -> Result<(), String> {
    addresses(layout, shape)?;
    // (swizzled_c5) A tensor's element type is an integer, index, floating-point or complex type.
    bits(element).map(drop).ok_or_else(|| not_a_number(&layout.to_string(), element))
}
