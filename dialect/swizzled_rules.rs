//! `#layout.swizzled`: its map, and its checks against a type.
//!
//! The map takes an index to its address. A swizzle flips bits, and a flipped bit is the remainder by 2 of a sum:
//! `Sw<1,0,1> o {0}` has the map `(d0) -> (d0 + (d0 + d0 floordiv 2) mod 2 - d0 mod 2)`. The sizes of an inner tiled layout that
//! it does not know are symbols, as in [`crate::tiled_rules`].

use crate::affine::affine_expr;
use crate::element::{bits, not_a_number};
use crate::tiled_rules;
use ::tensor_layout::swizzle::Swizzle;
use ::tensor_layout::swizzled::{Addresses, Inner, SwizzledLayout};
use melior::Context;
use melior::ir::{AffineExpr, AffineMap, Type};

/// The map from a logical index to its address, for any shape.
pub fn affine_map<'c>(context: &'c Context, layout: &SwizzledLayout) -> AffineMap<'c> {
    let (address, symbols) = match &layout.inner {
        Inner::Tiled(tiled) => tiled_rules::address(context, tiled),
        Inner::Tensor(tensor) => {
            let address = tensor.exprs().pop().expect("the address is the last");
            let dim = |d| AffineExpr::dim(context, d);
            (affine_expr(context, &address, &dim).expect("digits have no minimum and no maximum"), 0)
        }
    };
    AffineMap::new(context, layout.rank(), symbols, &[swizzled(context, layout.swizzle, address)])
}

/// The swizzle of an address.
fn swizzled<'c>(context: &'c Context, swizzle: Swizzle, address: AffineExpr<'c>) -> AffineExpr<'c> {
    let number = |n: i64| AffineExpr::constant(context, n);
    swizzle.flips().fold(address, |place, (flipped, by)| {
        let [old, by] = [flipped, by].map(|bit| AffineExpr::floor_div(address, number(1 << bit)));
        let change = AffineExpr::modulo(old + by, number(2)) + AffineExpr::modulo(old, number(2)) * number(-1);
        place + change * number(1 << flipped)
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affine::exprs_of_map;

    /// Checks the map against the layout's own arithmetic at every index.
    #[test]
    fn affine_map_is_the_address() {
        let context = Context::new();
        for (text, sizes) in [
            ("Sw<1,0,1> o {0}", vec![11]),
            ("Sw<2,1,-3> o {0,1}", vec![8, 40]),
            ("Sw<2,0,3> o ((2:1, 4:16), (8:2))", vec![8, 8]),
            ("Sw<3,1,3> o ((8:16), (16:1))", vec![8, 13]),
        ] {
            let layout = SwizzledLayout::parse(text).unwrap();
            let addresses = addresses(&layout, &sizes.iter().copied().map(Some).collect::<Vec<_>>()).unwrap();
            let map = affine_map(&context, &layout);
            for number in 0..sizes.iter().product() {
                let index: Vec<i64> = match sizes[..] {
                    [_, columns] => vec![number / columns, number % columns],
                    _ => vec![number],
                };
                // Symbols stand for the sizes of the minor dimensions.
                let sizes = &sizes[..map.symbol_count()];
                let by: Vec<_> = index.iter().chain(sizes).map(|n| ::tensor_layout::expr::Expr::Const(*n)).collect();
                let at = crate::affine::exprs_at(map, &by).unwrap().remove(0);
                assert_eq!(at.evaluate(&[]), Some(addresses.offset(&index).unwrap()), "{text} at {index:?}");
            }
            assert!(exprs_of_map(map).is_some() || map.symbol_count() > 0);
        }
    }
}
