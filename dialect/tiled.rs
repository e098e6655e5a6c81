//! `#layout.tiled`: a layout as an affine map, as strides, and against the type it stands on.

use layout::{
    expansion::Expansion,
    layout::{Layout, TileEntry},
    text::Error,
};
use melior::{
    Context,
    ir::{AffineExpr, AffineMap, Type, TypeLike, r#type::IntegerType},
};

/// Reads the body of the attribute.
pub fn parse(text: &str) -> Result<Layout, Error> {
    Layout::parse(text)
}

/// (C6) The text is canonical: it is a layout, written as it prints.
pub fn verify(text: &str) -> Result<(), String> {
    let canonical = Layout::parse(text).map_err(|error| error.message)?.to_string();
    if canonical == text { Ok(()) } else { Err(format!("the canonical text of layout {text} is {canonical}")) }
}

/// Whether the layout says no more than the builtin row-major one.
pub fn is_identity(layout: &Layout) -> bool {
    *layout == Layout::row_major(layout.rank())
}

/// The map from a logical index to the index in the expanded sizes, in memory order, for any shape.
///
/// For `{1,0:T(8,128)}`: `(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)`. A dimension that `*`
/// merges into another enters as `d0 * s0 + d1`, where the symbol is the size of the other: a layout does not know it.
pub fn affine_map<'c>(context: &'c Context, layout: &Layout) -> AffineMap<'c> {
    let number = |value| AffineExpr::constant(context, value);
    let mut symbols = 0;
    let mut indices: Vec<Index> =
        layout.major_to_minor().map(|dim| Index { at: AffineExpr::dim(context, dim), size: None }).collect();
    for tile in &layout.tiles {
        // A tile longer than the rank finds dimensions of size 1.
        let missing = tile.len().saturating_sub(indices.len());
        indices.splice(0..0, (0..missing).map(|_| Index { at: number(0), size: Some(1) }));

        let (mut outer, mut inner) = (Vec::new(), Vec::new());
        let mut merged: Option<Index> = None;
        let tiled = indices.split_off(indices.len() - tile.len());
        for (index, entry) in tiled.into_iter().zip(tile) {
            let index = match merged.take() {
                None => index,
                Some(major) => {
                    let factor = match index.size {
                        Some(size) => number(size),
                        None => {
                            symbols += 1;
                            AffineExpr::symbol(context, symbols - 1)
                        }
                    };
                    let size = major.size.zip(index.size).and_then(|(major, minor)| major.checked_mul(minor));
                    Index { at: major.at * factor + index.at, size }
                }
            };
            match entry {
                TileEntry::Combine => merged = Some(index),
                TileEntry::Size(size) => {
                    let grid = index.size.map(|whole| (whole as u64).div_ceil(*size as u64) as i64);
                    outer.push(Index { at: AffineExpr::floor_div(index.at, number(*size)), size: grid });
                    inner.push(Index { at: AffineExpr::modulo(index.at, number(*size)), size: Some(*size) });
                }
            }
        }
        indices.append(&mut outer);
        indices.append(&mut inner);
    }
    let results: Vec<_> = indices.iter().map(|index| index.at).collect();
    AffineMap::new(context, layout.rank(), symbols, &results)
}

/// An index into one of the expanded sizes, and that size where the layout alone gives it.
struct Index<'c> {
    at: AffineExpr<'c>,
    size: Option<i64>,
}

/// The strides of the logical dimensions, in elements; within them `None` is a stride that depends on a dynamic size.
///
/// `None` where there are none: with tiles, splits or a prefix, or where 64 bits do not hold a stride.
pub fn strides(layout: &Layout, shape: &[Option<i64>]) -> Option<Vec<Option<i64>>> {
    if layout.is_tiled() || !layout.splits.is_empty() || layout.metadata_prefix != 0 {
        return None;
    }
    let mut strides = vec![None; shape.len()];
    let mut stride = Some(1i64);
    for &dim in &layout.minor_to_major {
        strides[dim] = stride;
        stride = match (stride, shape[dim]) {
            (Some(stride), Some(size)) => Some(stride.checked_mul(size)?),
            _ => None,
        };
    }
    Some(strides)
}

/// Checks the layout against the shape it stands on; `None` is a dynamic size.
pub fn verify_layout(layout: &Layout, shape: &[Option<i64>]) -> Result<(), String> {
    // (C1) A layout has one entry in minor_to_major for each dimension.
    if layout.rank() != shape.len() {
        return Err(format!(
            "layout {layout} is of rank {}, which does not match a shape of rank {}",
            layout.rank(),
            shape.len()
        ));
    }
    // (C2) With static sizes, everything fits in 64 bits and splits fit their dimension.
    expand(layout, shape).map(|_| ())
}

/// The layout on static sizes; `None` where one is dynamic.
fn expand(layout: &Layout, shape: &[Option<i64>]) -> Result<Option<Expansion>, String> {
    let Some(sizes) = shape.iter().copied().collect::<Option<Vec<i64>>>() else { return Ok(None) };
    Expansion::new(&sizes, layout).map(Some).map_err(|error| format!("layout {layout}: {error}"))
}

/// Checks the layout against the tensor it stands on.
pub fn verify_encoding(layout: &Layout, shape: &[Option<i64>], element: Type) -> Result<(), String> {
    verify_layout(layout, shape)?;
    // (C3) A tensor's element type is an integer, index, floating-point or complex type.
    let Some(bits) = bits(element) else {
        return Err(format!("layout {layout} needs elements of a number type, got '{element}'"));
    };
    // (C4) On a tensor, E(n) is at least the bit width of the element type.
    if layout.element_bits != 0 && layout.element_bits < bits {
        return Err(format!("elements of {bits} bits do not fit in E({})", layout.element_bits));
    }
    // (C2) On a tensor, the bytes fit as well; without E(n) an element takes whole ones.
    let bits = if layout.element_bits != 0 { layout.element_bits } else { (bits + 7) / 8 * 8 };
    let elements = expand(layout, shape)?.map_or(0, |expansion| expansion.allocated_elements());
    if i64::try_from((i128::from(elements) * i128::from(bits) + 7) / 8).is_err() {
        return Err(format!("layout {layout}: the number of bytes does not fit in 64 bits"));
    }
    Ok(())
}

/// The bits of a number type; an index counts as 64.
fn bits(element: Type) -> Option<i64> {
    if let Ok(integer) = IntegerType::try_from(element) {
        Some(integer.width().into())
    } else if element.is_index() {
        Some(64)
    } else if element.is_float() {
        Some(element.float_width().into())
    } else if element.is_complex() {
        bits(crate::ffi::complex_element(element)).map(|bits| 2 * bits)
    } else {
        None
    }
}
