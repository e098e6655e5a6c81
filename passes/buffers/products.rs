//! Products of values that are known only at run time.
//!
//! `*` merges the indices `[i, j]` into `i * n + j`, where `n` is the bound of `j`. If `n` is known only at
//! run time, this is a product of two values, which affine expressions do not have. So the expressions of a layout have
//! a variable for it, and [`Products`] holds its factors. For an array of rank `r` the variables are
//!
//! | variables | are |
//! |---|---|
//! | `0 .. r` | the logical index |
//! | `r .. 2r` | the logical sizes |
//! | from `2r` on | products of two expressions over the variables before |
//!
//! The tiling rule on such expressions gives the indices and sizes of all dimensions of the tiles, whatever they merge:
//! `{1,0:T(*,2)}` on `[5, n]` has `(i * n + j) floordiv 2`, below `(5 * n) ceildiv 2`, and `(i * n + j) mod 2`.

use std::convert::Infallible;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Domain, Interval, simplify};
use tensor_layout::tiled::{Layout, Tiling};

/// The products in the expressions of a layout.
#[derive(Clone, Default)]
pub struct Products {
    rank: usize,
    factors: Vec<[Expr; 2]>,
}

/// A dimension from tiling: its index, and the bound of the index.
#[derive(Clone)]
pub struct TiledIndex {
    pub index: Expr,
    pub size: Expr,
}

impl Products {
    /// The dimensions of a layout on an array of these sizes, in memory order, and the products in them.
    pub fn of(shape: &[Option<i64>], layout: &Layout) -> (Products, Vec<TiledIndex>) {
        let rank = shape.len();
        let mut products = Products { rank, factors: Vec::new() };
        let size = |d: usize| shape[d].map_or(products.size(d), Expr::Const);
        let digit = |d: usize| TiledIndex { index: Expr::Var(d), size: size(d) };
        let mut digits: Vec<TiledIndex> = layout.major_to_minor().map(digit).collect();
        for tile in &layout.tiles {
            let Ok(()) = products.tile(&mut digits, tile);
        }
        (products, digits)
    }

    /// The size of a logical dimension.
    pub fn size(&self, dim: usize) -> Expr {
        Expr::Var(self.rank + dim)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// Simplifies expressions for a logical index inside an array of these sizes.
    pub fn simplified(&self, exprs: &[Expr], shape: &[Option<i64>]) -> Vec<Expr> {
        let known = shape.iter().copied().map(layout_ir::indices_below);
        let open = std::iter::repeat_n(Interval::new(0, i64::MAX), self.rank + self.factors.len());
        simplify(exprs, &Domain { vars: known.chain(open).collect(), constraints: Vec::new() })
    }

    /// The values of the layout's variables for this logical index and these logical sizes, as expressions over
    /// other variables, in which `product` expresses a product of two.
    pub fn terms(&self, index: &[Expr], sizes: &[Expr], mut product: impl FnMut([Expr; 2]) -> Expr) -> Vec<Expr> {
        let mut terms = [index, sizes].concat();
        for factors in &self.factors {
            terms.push(product(factors.each_ref().map(|e| e.substitute(&terms))));
        }
        terms
    }

    /// The product of two expressions.
    fn times(&mut self, a: Expr, b: Expr) -> Expr {
        match (a, b) {
            (Expr::Const(a), Expr::Const(b)) => Expr::Const(a.saturating_mul(b)),
            (Expr::Const(c), e) | (e, Expr::Const(c)) => e.times(c),
            (a, b) => {
                let factors = [a, b];
                let known = self.factors.iter().position(|known| *known == factors);
                let number = known.unwrap_or_else(|| {
                    self.factors.push(factors);
                    self.factors.len() - 1
                });
                Expr::Var(2 * self.rank + number)
            }
        }
    }
}

impl Tiling for Products {
    type Index = TiledIndex;
    type Error = Infallible;

    fn leading(&mut self) -> TiledIndex {
        TiledIndex { index: Expr::Const(0), size: Expr::Const(1) }
    }

    fn merge(&mut self, digits: Vec<TiledIndex>) -> Result<TiledIndex, Infallible> {
        let whole = digits.into_iter().reduce(|major, minor| TiledIndex {
            index: sum(self.times(major.index, minor.size.clone()), minor.index),
            size: self.times(major.size, minor.size),
        });
        Ok(whole.unwrap_or_else(|| self.leading()))
    }

    fn split(&mut self, digit: TiledIndex, by: i64) -> Result<[TiledIndex; 2], Infallible> {
        let size = match digit.size {
            Expr::Const(n) => Expr::Const(n.div_euclid(by) + i64::from(n.rem_euclid(by) != 0)),
            n => (n + Expr::Const(by - 1)).floor_div(by),
        };
        let [quotient, remainder] = [digit.index.clone().floor_div(by), digit.index.modulo(by)];
        Ok([TiledIndex { index: quotient, size }, TiledIndex { index: remainder, size: Expr::Const(by) }])
    }
}

/// The sum, without a 0.
fn sum(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Const(0), e) | (e, Expr::Const(0)) => e,
        (a, b) => a + b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffers::element_encoding::UnitsPerElement;
    use crate::buffers::parts::Parts;
    use tensor_layout::tiled::Expansion;

    impl Products {
        /// The variables' values.
        fn values(&self, index: &[i64], sizes: &[i64]) -> Vec<i64> {
            let mut values = [index, sizes].concat();
            for factors in &self.factors {
                let [a, b] = factors.each_ref().map(|e| e.evaluate(&values).expect("small numbers"));
                values.push(a * b);
            }
            values
        }
    }

    /// The bit at which an element begins, by the dimensions of the memref with all sizes known only at run time.
    fn bit(parts: &Parts, ratio: UnitsPerElement, sizes: &[i64], index: &[i64], bits: i64) -> i64 {
        let values = parts.products.values(index, sizes);
        let at = |e: &Expr| e.evaluate(&values).expect("small numbers");
        let size = |k: usize| {
            let open = parts.run_time.iter().find(|part| part.0 == k).map(|part| at(&part.1));
            parts.sizes[k].or(open).expect("a size is known, or it is computed")
        };
        let (mut unit, mut stride) = (0, 1);
        for k in parts.order.iter().rev().filter(|k| **k >= parts.carriers) {
            let index = at(&parts.exprs[*k]);
            assert!((0..size(*k)).contains(&index) && parts.strides[*k].is_none_or(|known| known == stride));
            unit += index * stride;
            stride *= size(*k);
        }
        let digit = parts.digit.as_ref().map_or(0, at);
        unit * bits * ratio.elements / ratio.units + digit * bits / ratio.units
    }

    /// Checks at all small sizes that each element has the address that the layout has on static sizes.
    #[test]
    fn elements_are_where_known_sizes_have_them() {
        let tiles = ["", ":T(2,4)", ":T(*,3)", ":T(*,*,2)", ":T(2,4)(2,1)", ":T(2,3)(*,*,4)", ":T(*,2,3)(*,*,2)(*,2)"];
        let orders = ["{2,1,0", "{0,1,2", "{1,2,0"];
        let open = [[None; 3], [None, Some(2), None], [Some(3), None, Some(4)], [Some(2), Some(3), None]];
        let mut checked = 0;
        for text in orders.iter().flat_map(|order| tiles.iter().map(move |tile| format!("{order}{tile}}}"))) {
            let layout: Layout = text.parse().expect("a layout");
            for (bits, shape) in [1, 3, 4, 8, 12, 24].into_iter().flat_map(|bits| open.map(|shape| (bits, shape))) {
                let ratio = UnitsPerElement::new(&"bits", 1, bits).expect("few bits").unwrap_or(UnitsPerElement::ONE);
                let parts = Parts::of(&shape, &layout, ratio).expect("a layout of small tiles");
                for n in 0..27 {
                    let sizes: [i64; 3] =
                        std::array::from_fn(|d| shape[d].unwrap_or(1 + n / 3i64.pow(d as u32) % 3 * 2));
                    let known = Expansion::new(&sizes, &layout).expect("small sizes");
                    for k in 0..sizes.iter().product() {
                        let index = [k / sizes[2] / sizes[1], k / sizes[2] % sizes[1], k % sizes[2]];
                        let offset = known.offset(&index).expect("an index inside");
                        assert_eq!(
                            bit(&parts, ratio, &sizes, &index, bits),
                            offset * bits,
                            "{text} {shape:?} {sizes:?}"
                        );
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 100_000);
    }
}
