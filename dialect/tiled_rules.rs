//! `#layout.tiled`: its map, its strides, and its checks against a type.
//!
//! The layout `{1,0:T(8,128)}` on `memref<16x256xf32>` has the map
//! `(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)` and no strides. The untiled `{0,1}` has the map
//! `(d0, d1) -> (d1, d0)` and the strides `[1, 16]`.
//!
//! MLIR asks for the map without a shape, and the same attribute may be on a shape with dynamic sizes. So the map is
//! made from the layout alone, by the tiling rule of `tensor-layout`; everything else takes sizes, where `None` is a
//! dynamic one, and checks as much as the static ones allow. [`Expansion`] counts, pads and numbers the elements.

use crate::element::{bits, not_a_number, stored_bits};
use ::tensor_layout::tiled::{Expansion, Layout, TileEntry, Tiling, memory_space};
use melior::{
    Context,
    ir::{AffineExpr, AffineMap, Type},
};
use std::convert::Infallible;

/// Whether the layout is row-major without tiles or other properties, as is a memref without a layout.
pub fn is_identity(layout: &Layout) -> bool {
    *layout == Layout::row_major(layout.rank())
}

/// The map from a logical index to the index in the expanded sizes, in memory order, for any shape.
///
/// For `{1,0:T(8,128)}`: `(d0, d1) -> (d0 floordiv 8, d1 floordiv 128, d0 mod 8, d1 mod 128)`. Dimensions merged by `*`
/// enter as `d0 * s0 + d1`: the symbol is the size of the minor one, which a layout does not know.
pub fn affine_map<'c>(context: &'c Context, layout: &Layout) -> AffineMap<'c> {
    let mut tiling = AffineTiling { context, symbols: 0 };
    let mut indices: Vec<Index> =
        layout.major_to_minor().map(|dim| Index { at: AffineExpr::dim(context, dim), size: None }).collect();
    for tile in &layout.tiles {
        let Ok(()) = tiling.tile(&mut indices, tile);
    }
    let results: Vec<_> = indices.iter().map(|index| index.at).collect();
    AffineMap::new(context, layout.rank(), tiling.symbols, &results)
}

/// An index as an affine expression, and the size of its dimension if the layout alone gives it.
struct Index<'c> {
    at: AffineExpr<'c>,
    size: Option<i64>,
}

/// The tiling rule on affine expressions.
struct AffineTiling<'c> {
    context: &'c Context,
    /// The number of symbols so far.
    symbols: usize,
}

impl<'c> AffineTiling<'c> {
    fn number(&self, value: i64) -> AffineExpr<'c> {
        AffineExpr::constant(self.context, value)
    }
}

impl<'c> Tiling for AffineTiling<'c> {
    type Index = Index<'c>;
    type Error = Infallible;

    fn leading(&mut self) -> Index<'c> {
        Index { at: self.number(0), size: Some(1) }
    }

    fn merge(&mut self, indices: Vec<Index<'c>>) -> Result<Index<'c>, Infallible> {
        let merged = indices.into_iter().reduce(|major, minor| {
            let factor = minor.size.map(|size| self.number(size)).unwrap_or_else(|| {
                self.symbols += 1;
                AffineExpr::symbol(self.context, self.symbols - 1)
            });
            let size = major.size.zip(minor.size).and_then(|(major, minor)| major.checked_mul(minor));
            Index { at: major.at * factor + minor.at, size }
        });
        Ok(merged.expect("a merge has two indices or more"))
    }

    fn split(&mut self, index: Index<'c>, by: i64) -> Result<[Index<'c>; 2], Infallible> {
        // As in `Expansion`, without an overflow at the largest sizes.
        let tiles = index.size.map(|size| size / by + i64::from(size % by != 0));
        let quotient = Index { at: AffineExpr::floor_div(index.at, self.number(by)), size: tiles };
        Ok([quotient, Index { at: AffineExpr::modulo(index.at, self.number(by)), size: Some(by) }])
    }
}

/// The strides of the logical dimensions, in elements; within them `None` is a stride that depends on a dynamic size.
///
/// The whole result is `None` if there are no strides: with tiles, splits or a prefix, or beyond 64 bits.
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

/// Checks the layout against the shape of its type; `None` is a dynamic size.
pub fn verify_layout(layout: &Layout, shape: &[Option<i64>]) -> Result<(), String> {
    // (tiled_c1) A layout has one entry in minor_to_major for each dimension.
    if layout.rank() != shape.len() {
        return Err(format!("layout {layout}: expected rank {}, found {}", shape.len(), layout.rank()));
    }
    // (tiled_c2) With static sizes, everything fits in 64 bits and splits fit their dimension.
    expand(layout, shape).map(|_| ())
}

/// The logical dimensions, fastest varying first.
pub fn minor_to_major(layout: &Layout) -> Vec<i64> {
    layout.minor_to_major.iter().map(|&dim| dim as i64).collect()
}

/// The tiles, as numbers; -1 is `*`.
pub fn tiles(layout: &Layout) -> Vec<Vec<i64>> {
    let number = |entry: &TileEntry| match entry {
        TileEntry::Size(size) => *size,
        TileEntry::Combine => -1,
    };
    layout.tiles.iter().map(|tile| tile.iter().map(number).collect()).collect()
}

/// The layout from the numbers of [`minor_to_major`], [`tiles`] and its memory space.
///
/// # Errors
/// The errors of [`Layout::new`], a negative size other than -1, and a memory space outside 0 to 127.
pub fn of_numbers(minor_to_major: &[i64], tiles: &[&[i64]], space: i64) -> Result<Layout, String> {
    let negative = |dim: &i64| format!("a dimension in minor_to_major must be at least 0, found {dim}");
    let order = minor_to_major.iter().map(|dim| usize::try_from(*dim).map_err(|_| negative(dim)));
    let entry = |entry: &i64| if *entry == -1 { TileEntry::Combine } else { TileEntry::Size(*entry) };
    let tiles = tiles.iter().map(|tile| tile.iter().map(entry).collect()).collect();
    let layout = Layout::new(order.collect::<Result<_, _>>()?, tiles).map_err(|error| error.message)?;
    Ok(Layout { memory_space: memory_space::check(space)?, ..layout })
}

/// The bytes of memory for a tensor, padding included: the number of expanded elements, rounded up to `L(n)`, times
/// the bits of one, which are those of `E(n)` or else the whole bytes of the type. Metadata (`M`) is not counted.
///
/// # Errors
/// The errors of [`static_expansion`], and an element type that is no number.
pub fn padded_bytes(layout: &Layout, shape: &[Option<i64>], element: Type) -> Result<i64, String> {
    static_expansion(layout, shape)?;
    verify_encoding(layout, shape, element)?;
    bytes(layout, shape, bits(element).ok_or_else(|| not_a_number(&layout.to_string(), element))?)
}

/// The layout on sizes that must be static; `None` is a dynamic one.
///
/// # Errors
/// A dynamic size, and sizes that [`Expansion::new`] refuses.
pub fn static_expansion(layout: &Layout, shape: &[Option<i64>]) -> Result<Expansion, String> {
    verify_layout(layout, shape)?;
    expand(layout, shape)?.ok_or_else(|| "expected static sizes, found a dynamic one".into())
}

/// The layout on static sizes; `None` if one is dynamic.
fn expand(layout: &Layout, shape: &[Option<i64>]) -> Result<Option<Expansion>, String> {
    let Some(sizes) = shape.iter().copied().collect::<Option<Vec<i64>>>() else { return Ok(None) };
    Expansion::new(&sizes, layout).map(Some).map_err(|error| format!("layout {layout}: {error}"))
}

/// Checks the layout against the type of its tensor.
pub fn verify_encoding(layout: &Layout, shape: &[Option<i64>], element: Type) -> Result<(), String> {
    verify_layout(layout, shape)?;
    // (tiled_c3) A tensor's element type is an integer, index, floating-point or complex type.
    let Some(bits) = bits(element) else {
        return Err(not_a_number(&layout.to_string(), element));
    };
    // (tiled_c4) On a tensor, E(n) is at least the bit width of the element type.
    if layout.element_bits != 0 && layout.element_bits < bits {
        return Err(format!("E(n) must be at least {bits}, the bits of {element}, found E({})", layout.element_bits));
    }
    // (tiled_c2) On a tensor, the bytes fit too.
    bytes(layout, shape, bits).map(drop)
}

/// The bytes of a buffer of elements of this width; 0 if a size is dynamic. Without `E(n)` an element takes whole
/// bytes.
fn bytes(layout: &Layout, shape: &[Option<i64>], bits: i64) -> Result<i64, String> {
    let bits = if layout.element_bits != 0 { layout.element_bits } else { stored_bits(bits) };
    let elements = expand(layout, shape)?.map_or(0, |expansion| expansion.allocated_elements());
    let bytes = (i128::from(elements) * i128::from(bits) + 7) / 8;
    i64::try_from(bytes).map_err(|_| format!("layout {layout}: the number of bytes does not fit in 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of an affine expression at a logical index.
    fn evaluate(e: AffineExpr, index: &[i64], symbols: &[i64]) -> i64 {
        if e.is_constant() {
            return e.constant_value();
        } else if e.is_dim() {
            return index[e.dim_position()];
        } else if e.is_symbol() {
            return symbols[e.symbol_position()];
        }
        let [lhs, rhs] = [e.lhs(), e.rhs()].map(|operand| evaluate(operand, index, symbols));
        match () {
            () if e.is_add() => lhs + rhs,
            () if e.is_mul() => lhs * rhs,
            () if e.is_floor_div() => lhs.div_euclid(rhs),
            () if e.is_mod() => lhs.rem_euclid(rhs),
            () => panic!("{e} is no sum, product, quotient or remainder"),
        }
    }

    /// Checks the map against the layout's own arithmetic at every index; `symbols` are the sizes that `*` merges into.
    fn check(text: &str, sizes: &[i64], symbols: &[i64]) {
        let context = Context::new();
        let layout = Layout::parse(text).unwrap();
        let expansion = Expansion::new(sizes, &layout).unwrap();
        let map = affine_map(&context, &layout);
        assert_eq!((map.dim_count(), map.symbol_count()), (sizes.len(), symbols.len()), "{map}");
        let mut indices = vec![vec![]];
        for &size in sizes {
            indices = indices.iter().flat_map(|head| (0..size).map(move |at| [&head[..], &[at]].concat())).collect();
        }
        for index in indices {
            let results: Vec<_> =
                (0..map.result_count()).map(|result| evaluate(map.result(result).unwrap(), &index, symbols)).collect();
            assert_eq!(results, expansion.expand(&index).unwrap(), "{text} at {index:?}: {map}");
        }
    }

    /// Checks that the numbers of a layout make it again; other numbers are errors.
    #[test]
    fn numbers_make_the_layout() {
        for text in ["{}", "{0,1}", "{1,0:T(8,128)(2,1)S(1)}", "{2,0,1:T(*,*,4)S(127)}"] {
            let layout = Layout::parse(text).unwrap();
            let tiles = tiles(&layout);
            let tiles: Vec<&[i64]> = tiles.iter().map(|tile| &tile[..]).collect();
            let made = of_numbers(&minor_to_major(&layout), &tiles, layout.memory_space.into());
            assert_eq!(made.unwrap().to_string(), text);
        }
        let wrong = |order: &[i64], tiles: &[&[i64]], space| of_numbers(order, tiles, space).unwrap_err();
        assert_eq!(wrong(&[1, 1], &[], 0), "minor_to_major must list each dimension once, found 1 twice");
        assert_eq!(wrong(&[0, -1], &[], 0), "a dimension in minor_to_major must be at least 0, found -1");
        assert_eq!(wrong(&[0], &[&[8, -2]], 0), "a tile size must be at least 1, found -2");
        assert!(wrong(&[0], &[&[8, -1]], 0).contains("last entry"), "{}", wrong(&[0], &[&[8, -1]], 0));
        assert!(wrong(&[0], &[&[]], 0).contains("last entry"), "{}", wrong(&[0], &[&[]], 0));
        assert_eq!(wrong(&[0], &[], 128), "the number of a memory space must be in 0 to 127, found 128");
    }

    #[test]
    fn affine_map_is_the_expansion() {
        check("{}", &[], &[]);
        check("{:T(256)}", &[], &[]);
        check("{0,1}", &[2, 3], &[]);
        check("{1,0:T(2,2)}", &[3, 5], &[]);
        check("{1,0:T(2,4)(2,1,1,1)}", &[8, 8], &[]);
        check("{1,0:T(8,16)(3,1)}", &[11, 17], &[]);
        check("{0:T(2,4)}", &[7], &[]);
        check("{0:T(16)(8)(2,1)}", &[40], &[]);
        check("{2,0,1:T(2,3)}", &[3, 4, 5], &[]);
        check("{4,3,2,1,0:T(*,*,2,*,3)}", &[2, 3, 2, 3, 4], &[3, 2, 4]);
        check("{1,0:T(4,4)(*,2)}", &[5, 6], &[]);
        check("{1,0:T(4,4)(*,2,2,2)}", &[5, 6], &[2]);
        check("{1,0:T(*,8)(*,3)}", &[4, 6], &[6]);
        check("{0:T(*,4)}", &[7], &[]);
        check("{0:T(2,*,*,4)}", &[7], &[]);
    }
}
