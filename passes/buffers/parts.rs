//! The dimensions of the memref that a tiled layout becomes: their sizes, strides, and indices.
//!
//! A part of a tiled dimension is a dimension of the memref; see [`Expansion::parts`]. Two kinds of size need more:
//!
//! - *A size known only at run time.* Of `?` rows in tiles of 8, `ceil(n / 8)` tiles follow each other, so one part is of
//!   unknown size and what is further out in memory has an unknown stride. The number of rows itself is the size of a
//!   dimension in front whose stride is 0: a memref carries it wherever it goes, and its index there is always 0.
//! - *Elements of less than a byte*, `E(n)`. The part that varies fastest is cut into bytes. Where no part fills whole
//!   bytes, a row may begin inside one: then all elements are one dimension of bytes.

use layout_ir as ir;
use tensor_layout::expr::Expr;
use tensor_layout::maps::{Domain, simplify};
use tensor_layout::tiled::{Expansion, Layout, Tiling};

/// The dimensions of a memref, those of a logical dimension together.
#[derive(Clone)]
pub struct Parts {
    /// The layout on the sizes, with others in place of the unknown ones.
    pub expansion: Expansion,
    /// The index in each dimension, over the logical index.
    pub exprs: Vec<Expr>,
    /// The position of the element in the memref's element, where that holds several.
    pub digit: Option<Expr>,
    /// None where known only at run time.
    pub sizes: Vec<Option<i64>>,
    /// In elements of the memref; none where known only at run time.
    pub strides: Vec<Option<i64>>,
    /// The dimensions in memory order, outermost first.
    pub order: Vec<usize>,
    /// For each logical dimension of unknown size, the dimension of the memref that has the same size.
    pub dynamic: Vec<(usize, usize)>,
    /// For each dimension of unknown size, the size over the logical sizes.
    pub run_time: Vec<(usize, Expr)>,
    /// How many dimensions, the first ones, do no more than carry a logical size.
    pub carriers: usize,
}

impl Parts {
    /// The dimensions for a layout on these sizes, of which each element of the memref holds `count` elements.
    ///
    /// # Errors
    /// Sizes that do not fit, and unknown ones that `*` merges into others or that let rows begin inside bytes.
    pub fn of(shape: &[Option<i64>], layout: &Layout, count: i64) -> Result<Parts, String> {
        let expansion = Expansion::new(&stand_ins(shape, layout)?, layout).map_err(|e| e.message)?;
        let vars = shape.iter().copied().map(ir::indices_below).collect();
        let expanded = simplify(&expansion.exprs(), &Domain { vars, constraints: Vec::new() });
        let parts = expansion.parts();
        let mut made = Parts {
            exprs: parts.iter().map(|p| expanded[p.position].clone()).collect(),
            digit: None,
            sizes: parts.iter().map(|p| Some(p.size)).collect(),
            strides: parts.iter().map(|p| Some(p.stride)).collect(),
            order: (0..parts.len()).collect(),
            dynamic: Vec::new(),
            run_time: Vec::new(),
            carriers: 0,
            expansion,
        };
        let mut tiled = Vec::new();
        for (d, _) in shape.iter().enumerate().filter(|(_, n)| n.is_none()) {
            let whole = made.exprs.iter().position(|e| is_quotient(e, d)).ok_or_else(|| {
                format!("the size of dimension {d} is dynamic, and `*` merges its tiles: a dimension that is merged must be whole")
            })?;
            made.sizes[whole] = None;
            // The strides of what is further out in memory are multiples of this size.
            for (k, _) in parts.iter().enumerate().filter(|(_, p)| p.position < parts[whole].position) {
                made.strides[k] = None;
            }
            // The last index tells how many there are, also of none: `(0 - 1) floordiv 8 + 1` is 0. That of a dimension
            // merged into it is known.
            let last = |(v, n): (usize, &Option<i64>)| n.map_or(Expr::Var(v) + Expr::Const(-1), |n| Expr::Const(n - 1));
            let by: Vec<Expr> = shape.iter().enumerate().map(last).collect();
            match made.exprs[whole] == Expr::Var(d) {
                true => made.dynamic.push((d, whole)),
                false => tiled.push(d),
            }
            made.run_time.push((whole, made.exprs[whole].substitute(&by) + Expr::Const(1)));
        }
        // Without elements any order will do, and strides of 0 would be none.
        match made.sizes.contains(&Some(0)) {
            true => made.strides = row_major(&made.sizes),
            false => made.order.sort_by_key(|k| parts[*k].position),
        }
        if count > 1 {
            made.pack(count)?;
        }
        made.carry(&tiled);
        Ok(made)
    }

    /// Cuts the part that varies fastest into memref elements that hold so many of the layout's.
    fn pack(&mut self, count: i64) -> Result<(), String> {
        let fastest = (0..self.sizes.len()).find(|k| self.strides[*k] == Some(1) && self.sizes[*k] != Some(1));
        let filled = fastest.filter(|k| self.sizes[*k].is_some_and(|n| n % count == 0));
        if let Some(fastest) = filled {
            let index = self.exprs[fastest].clone();
            self.exprs[fastest] = index.clone().floor_div(count);
            self.digit = Some(index.modulo(count));
            self.sizes[fastest] = self.sizes[fastest].map(|n| n / count);
            for (_, stride) in self.strides.iter_mut().enumerate().filter(|(k, _)| *k != fastest) {
                *stride = stride.map(|n| (n / count).max(1));
            }
            return Ok(());
        }
        if !self.run_time.is_empty() {
            return Err(format!(
                "rows may begin inside a byte, as their size is known only at run time: expected a fastest varying part \
                 of whole bytes, a multiple of {count} elements"
            ));
        }
        let offset = self.expansion.offset_expr();
        let elements = self.expansion.elements();
        self.exprs = vec![offset.clone().floor_div(count)];
        self.digit = Some(offset.modulo(count));
        self.sizes = vec![Some(elements / count + i64::from(elements % count != 0))];
        self.strides = vec![Some(1)];
        self.order = vec![0];
        Ok(())
    }

    /// Whether the dimensions follow each other in memory, the last one fastest. Unknown strides look alike in any order.
    pub fn is_row_major(&self) -> bool {
        self.strides == row_major(&self.sizes) && (!self.strides.contains(&None) || self.order.is_sorted())
    }

    /// Puts a dimension with the size of each of these logical dimensions in front.
    fn carry(&mut self, tiled: &[usize]) {
        let n = tiled.len();
        self.carriers = n;
        self.exprs.splice(0..0, vec![Expr::Const(0); n]);
        self.sizes.splice(0..0, vec![None; n]);
        self.strides.splice(0..0, vec![Some(0); n]);
        self.order = (0..n).chain(self.order.iter().map(|k| k + n)).collect();
        self.dynamic.iter_mut().for_each(|(_, k)| *k += n);
        self.run_time.iter_mut().for_each(|(k, _)| *k += n);
        self.dynamic.extend(tiled.iter().enumerate().map(|(k, d)| (*d, k)));
        self.run_time.extend(tiled.iter().enumerate().map(|(k, d)| (k, Expr::Var(*d))));
        self.dynamic.sort_unstable();
        self.run_time.sort_by_key(|run_time| run_time.0);
    }

    /// The same dimensions in memory order, with nothing between them.
    pub fn in_memory_order(mut self) -> Parts {
        let place = |k: usize, order: &[usize]| order.iter().position(|o| *o == k).expect("the order is a permutation");
        self.exprs = self.order.iter().map(|k| self.exprs[*k].clone()).collect();
        self.sizes = self.order.iter().map(|k| self.sizes[*k]).collect();
        self.strides = row_major(&self.sizes[self.carriers..]);
        self.strides.splice(0..0, vec![Some(0); self.carriers]);
        self.dynamic.iter_mut().for_each(|(_, k)| *k = place(*k, &self.order));
        self.run_time.iter_mut().for_each(|(k, _)| *k = place(*k, &self.order));
        self.run_time.sort_by_key(|run_time| run_time.0);
        self.order = (0..self.order.len()).collect();
        self
    }
}

/// The strides of sizes without padding, last dimension fastest; none before an unknown size.
pub fn row_major(sizes: &[Option<i64>]) -> Vec<Option<i64>> {
    let mut strides = vec![Some(1i64); sizes.len()];
    for k in (1..sizes.len()).rev() {
        strides[k - 1] = strides[k].zip(sizes[k]).map(|(stride, size)| stride.saturating_mul(size));
    }
    strides
}

/// Whether an expression grows with a logical index without end, and with all others that it has: a quotient of it, or of
/// what others are merged into. Then it is largest at the last index.
fn is_quotient(e: &Expr, d: usize) -> bool {
    let mut found = false;
    e.for_each_var(&mut |v| found |= v == d);
    found && grows(e)
}

fn grows(e: &Expr) -> bool {
    match e {
        Expr::Mod(..) | Expr::Min(..) | Expr::Max(..) => false,
        Expr::Mul(_, factor) if *factor < 0 => false,
        e => e.operands().all(grows),
    }
}

/// The sizes, and in place of each unknown one such that no part of it is left out: twice the product of the tiles' sizes.
fn stand_ins(shape: &[Option<i64>], layout: &Layout) -> Result<Vec<i64>, String> {
    let mut cuts = Cuts { shape, products: vec![2; shape.len()] };
    let mut indices: Vec<Vec<usize>> = layout.major_to_minor().map(|d| vec![d]).collect();
    for tile in &layout.tiles {
        cuts.tile(&mut indices, tile)?;
    }
    Ok(shape.iter().zip(cuts.products).map(|(n, product)| n.unwrap_or(product)).collect())
}

/// The tiling rule on the logical dimensions that an index is made of.
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
        let merged = indices.concat();
        // `i * size of j + j`: the size of `i` is in no product of two values.
        match merged.iter().skip(1).find(|d| self.shape[**d].is_none()) {
            None => Ok(merged),
            Some(d) => Err(format!(
                "the size of dimension {d} is dynamic, and `*` merges it into dimension {}: only the majormost of the \
                 dimensions that are merged may be dynamic, as affine maps have no products of two indices",
                merged[0]
            )),
        }
    }

    fn split(&mut self, index: Vec<usize>, by: i64) -> Result<[Vec<usize>; 2], String> {
        // Of merged dimensions only the first may be unknown.
        if let Some(&d) = index.first()
            && self.shape[d].is_none()
        {
            self.products[d] = self.products[d].checked_mul(by).ok_or("the product of its tile sizes overflows")?;
        }
        Ok([index.clone(), index])
    }
}
