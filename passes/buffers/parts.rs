//! The memref dimensions of a tiled layout: their sizes, strides, and indices.
//!
//! A part of a tiled dimension is a dimension of the memref; see [`Expansion::parts`]. Two kinds of size need more:
//!
//! - *A dynamic size.* For `?` rows in tiles of 8, there are `ceil(n / 8)` tiles, so one part has a dynamic
//!   size, and parts further out in memory have a dynamic stride. The number of rows itself is the size of a leading
//!   dimension with stride 0: a memref carries it everywhere, and its index there is always 0. Indices
//!   and sizes that are products of such sizes are in [`Products`].
//! - *Elements of other than whole bytes*, `E(n)`. The fastest part is cut into bytes. If no part fills whole
//!   bytes, a row may begin inside one: then all elements are one dimension of bytes.

use crate::buffers::element_encoding::UnitsPerElement;
use crate::buffers::products::{Products, TiledIndex};
use tensor_layout::expr::Expr;
use tensor_layout::tiled::{Expansion, Layout, Tiling};

/// The dimensions of a memref, grouped by logical dimension.
#[derive(Clone)]
pub struct Parts {
    /// The layout on the sizes, with stand-ins for the dynamic ones.
    pub expansion: Expansion,
    /// The index in each dimension, over the logical index and the products.
    pub exprs: Vec<Expr>,
    /// The position of the element in the memref element, in the steps of [`UnitsPerElement`]; `None` if always the
    /// first bit.
    pub digit: Option<Expr>,
    /// Sizes; `None` if known only at run time.
    pub sizes: Vec<Option<i64>>,
    /// Strides in elements of the memref; `None` if known only at run time.
    pub strides: Vec<Option<i64>>,
    /// The dimensions in memory order, outermost first.
    pub order: Vec<usize>,
    /// The contiguous dimension, if elements are cut into bytes.
    pub fastest: usize,
    /// For each logical dimension of dynamic size, the dimension of the memref that has the same size.
    pub dynamic: Vec<(usize, usize)>,
    /// For each dimension of dynamic size, the size over the logical sizes and the products.
    pub run_time: Vec<(usize, Expr)>,
    /// The number of leading dimensions that only carry a logical size.
    pub carriers: usize,
    /// The meaning of the variables in `exprs` and `run_time`.
    pub products: Products,
}

impl Parts {
    /// The dimensions for a layout on these sizes.
    ///
    /// # Errors
    /// Sizes that overflow.
    pub fn of(shape: &[Option<i64>], layout: &Layout, ratio: UnitsPerElement) -> Result<Parts, String> {
        let expansion = Expansion::new(&stand_ins(shape, layout)?, layout).map_err(|e| e.message)?;
        let (products, digits) = Products::of(shape, layout);
        let parts = expansion.strided_dims();
        let of = |e: fn(&TiledIndex) -> &Expr| -> Vec<Expr> {
            parts.iter().map(|p| e(&digits[p.position]).clone()).collect()
        };
        let mut made = Parts {
            exprs: products.simplified(&of(|digit| &digit.index), shape),
            digit: None,
            sizes: parts.iter().map(|p| Some(p.size)).collect(),
            strides: parts.iter().map(|p| Some(p.stride)).collect(),
            order: (0..parts.len()).collect(),
            fastest: 0,
            dynamic: Vec::new(),
            run_time: Vec::new(),
            carriers: 0,
            products,
            expansion,
        };
        for (k, size) in made.products.simplified(&of(|digit| &digit.size), shape).into_iter().enumerate() {
            if !matches!(size, Expr::Const(_)) {
                made.sizes[k] = None;
                // Strides further out in memory are multiples of this size.
                let outer = (0..parts.len()).filter(|outer| parts[*outer].position < parts[k].position);
                outer.for_each(|outer| made.strides[outer] = None);
                made.run_time.push((k, size));
            }
        }
        // Without elements any order will do; strides of 0 would be invalid.
        match made.sizes.contains(&Some(0)) {
            true => made.strides = row_major(&made.sizes),
            false => made.order.sort_by_key(|k| parts[*k].position),
        }
        if !ratio.is_one() {
            made.pack(shape, digits, ratio)?;
        }
        let mut tiled = Vec::new();
        for d in (0..shape.len()).filter(|d| shape[*d].is_none()) {
            let whole = |(k, size): &(usize, Expr)| made.exprs[*k] == Expr::Var(d) && *size == made.products.size(d);
            match made.run_time.iter().find(|part| whole(part)) {
                Some(&(k, _)) => made.dynamic.push((d, k)),
                None => tiled.push(d),
            }
        }
        made.carry(&tiled);
        Ok(made)
    }

    /// Cuts the fastest part into memref elements, which encode the layout's as `ratio` says.
    fn pack(&mut self, shape: &[Option<i64>], digits: Vec<TiledIndex>, ratio: UnitsPerElement) -> Result<(), String> {
        const LARGE: &str = "its bytes overflow 64 bits";
        let fastest = (0..self.sizes.len()).find(|k| self.strides[*k] == Some(1) && self.sizes[*k] != Some(1));
        let filled = fastest.filter(|k| self.sizes[*k].is_some_and(|n| n % ratio.elements == 0));
        if let Some(fastest) = filled {
            let units = |n: i64| ratio.units_of(n).ok_or(LARGE);
            (self.exprs[fastest], self.digit) = ratio.position(self.exprs[fastest].clone().times(ratio.units));
            self.sizes[fastest] = self.sizes[fastest].map(units).transpose()?;
            // Dimensions further in have size 1, and the stride of the dimension inside them, as in any dense memref.
            for stride in self.strides.iter_mut().filter(|stride| **stride != Some(1)) {
                *stride = stride.map(units).transpose()?;
            }
            self.fastest = fastest;
            return Ok(());
        }
        let Ok(row) = self.products.merge(digits);
        let (at, digit) = ratio.position(row.index.times(ratio.units));
        (self.exprs, self.digit) = (vec![at], digit);
        self.run_time.clear();
        self.sizes = match row.size {
            Expr::Const(n) => vec![Some(ratio.units_of(n).ok_or(LARGE)?)],
            n => {
                let units = (n.times(ratio.units) + Expr::Const(ratio.elements - 1)).floor_div(ratio.elements);
                self.run_time.push((0, self.products.simplified(&[units], shape).remove(0)));
                vec![None]
            }
        };
        self.strides = vec![Some(1)];
        self.order = vec![0];
        Ok(())
    }

    /// Whether the dimensions are in memory order, the last one fastest. Dynamic strides look alike in any order.
    pub fn is_row_major(&self) -> bool {
        self.strides == row_major(&self.sizes) && (!self.strides.contains(&None) || self.order.is_sorted())
    }

    /// Adds leading dimensions that carry the sizes of these logical dimensions.
    fn carry(&mut self, tiled: &[usize]) {
        let n = tiled.len();
        self.carriers = n;
        self.fastest += n;
        self.exprs.splice(0..0, vec![Expr::Const(0); n]);
        self.sizes.splice(0..0, vec![None; n]);
        self.strides.splice(0..0, vec![Some(0); n]);
        self.order = (0..n).chain(self.order.iter().map(|k| k + n)).collect();
        self.dynamic.iter_mut().for_each(|(_, k)| *k += n);
        self.run_time.iter_mut().for_each(|(k, _)| *k += n);
        self.dynamic.extend(tiled.iter().enumerate().map(|(k, d)| (*d, k)));
        self.run_time.extend(tiled.iter().enumerate().map(|(k, d)| (k, self.products.size(*d))));
        self.dynamic.sort_unstable();
        self.run_time.sort_by_key(|run_time| run_time.0);
    }

    /// The same dimensions in memory order, without gaps.
    pub fn in_memory_order(mut self) -> Parts {
        let place = |k: usize, order: &[usize]| order.iter().position(|o| *o == k).expect("the order is a permutation");
        self.exprs = self.order.iter().map(|k| self.exprs[*k].clone()).collect();
        self.sizes = self.order.iter().map(|k| self.sizes[*k]).collect();
        self.strides = row_major(&self.sizes[self.carriers..]);
        self.strides.splice(0..0, vec![Some(0); self.carriers]);
        self.dynamic.iter_mut().for_each(|(_, k)| *k = place(*k, &self.order));
        self.run_time.iter_mut().for_each(|(k, _)| *k = place(*k, &self.order));
        // A memref without dimensions has no fastest one.
        self.fastest = self.order.iter().position(|k| *k == self.fastest).unwrap_or(0);
        self.run_time.sort_by_key(|run_time| run_time.0);
        self.order = (0..self.order.len()).collect();
        self
    }
}

/// The strides of sizes without padding, last dimension fastest; `None` before a dynamic size.
pub fn row_major(sizes: &[Option<i64>]) -> Vec<Option<i64>> {
    let mut strides = vec![Some(1i64); sizes.len()];
    for k in (1..sizes.len()).rev() {
        strides[k - 1] = strides[k].zip(sizes[k]).map(|(stride, size)| stride.saturating_mul(size));
    }
    strides
}

/// The sizes, with a stand-in for each dynamic one large enough to keep all its parts: twice the product of tile sizes.
fn stand_ins(shape: &[Option<i64>], layout: &Layout) -> Result<Vec<i64>, String> {
    let mut cuts = Cuts { shape, products: vec![2; shape.len()] };
    let mut indices: Vec<Vec<usize>> = layout.major_to_minor().map(|d| vec![d]).collect();
    for tile in &layout.tiles {
        cuts.tile(&mut indices, tile)?;
    }
    Ok(shape.iter().zip(cuts.products).map(|(n, product)| n.unwrap_or(product)).collect())
}

/// The tiling rule on the logical dimensions in an index.
struct Cuts<'a> {
    shape: &'a [Option<i64>],
    products: Vec<i64>,
}

impl Tiling for Cuts<'_> {
    type Index = Vec<usize>;
    type Error = String;

    fn leading(&mut self) -> Vec<usize> {
        Vec::new()
    }

    fn merge(&mut self, indices: Vec<Vec<usize>>) -> Result<Vec<usize>, String> {
        Ok(indices.concat())
    }

    fn split(&mut self, index: Vec<usize>, by: i64) -> Result<[Vec<usize>; 2], String> {
        // One large enough dimension suffices for merged dimensions.
        if let Some(&d) = index.iter().find(|d| self.shape[**d].is_none()) {
            self.products[d] = self.products[d].checked_mul(by).ok_or("the product of its tile sizes overflows")?;
        }
        Ok([index.clone(), index])
    }
}
