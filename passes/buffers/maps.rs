//! The plain memref that replaces one with an `affine_map` layout.
//!
//! The results of the map are the index into it, so it has one dimension for each result, with the largest result plus
//! one as its size: `memref<85x40xf32, affine_map<(i, j) -> (j, i)>>` becomes `memref<40x85xf32>`, and
//! `memref<10xf32, affine_map<(i) -> (i floordiv 4, i mod 4)>>` becomes `memref<3x4xf32>`. Upstream's
//! `--normalize-memrefs` makes the same memref. A map with one result and a strided form is left to upstream.
//!
//! No two elements may share an address. The digits of the map prove it, or a comparison of all elements.

use crate::buffers::parts::row_major;
use layout_dialect::affine;
use melior::ir::AffineMap;
use std::collections::HashMap;
use tensor_layout::expr::Expr;
use tensor_layout::maps::IndexingMap;

/// The most elements to compare if the digits of a map do not prove that all addresses differ.
const COMPARED: u128 = 1 << 20;

/// The dimensions of the plain memref.
pub struct MappedDims {
    /// The index in each dimension, over the logical index.
    pub exprs: Vec<Expr>,
    /// The sizes; `None` where known only at run time.
    pub sizes: Vec<Option<i64>>,
    /// For each logical dimension of dynamic size, the dimension of the same size.
    pub dynamic: Vec<(usize, usize)>,
}

impl MappedDims {
    /// The dimensions for a map on these sizes.
    ///
    /// # Errors
    /// Symbols, divisors that are no constants, a negative index, two elements with one address, sizes that overflow,
    /// and a dynamic size whose dimension the map does more than move.
    pub fn of(shape: &[Option<i64>], map: AffineMap) -> Result<MappedDims, String> {
        if map.symbol_count() > 0 {
            return Err("its map must have no symbols unless it is a sum of strides".into());
        }
        let exprs = affine::exprs_of_map(map).ok_or("its map must multiply and divide by constants alone")?;
        let unknown: Vec<usize> = (0..shape.len()).filter(|d| shape[*d].is_none()).collect();
        let place = |d: usize| {
            let mut using = exprs.iter().enumerate().filter(|(_, e)| uses(e, d));
            match (using.next(), using.next()) {
                (Some((k, e)), None) if *e == Expr::Var(d) => Ok((d, k)),
                _ => Err(format!(
                    "dimension {d}, whose size is known only at run time, must be a result of its map as it is"
                )),
            }
        };
        let dynamic = unknown.into_iter().map(place).collect::<Result<Vec<_>, String>>()?;
        if shape.contains(&Some(0)) {
            let sizes = vec![Some(0); exprs.len()];
            return Ok(MappedDims { exprs, sizes, dynamic });
        }
        // One row along dynamic dimensions shows the whole map.
        let known: Vec<i64> = shape.iter().map(|n| n.unwrap_or(1)).collect();
        let on_sizes = IndexingMap::of_sizes(&known, exprs.clone());
        let mut sizes = Vec::new();
        for (k, interval) in on_sizes.image().into_iter().enumerate() {
            if interval.lo < 0 {
                return Err(format!("result {k} of its map must not be negative, found {}", interval.lo));
            }
            let size = interval.hi.checked_add(1).ok_or("a result of its map overflows 64 bits")?;
            sizes.push((!dynamic.iter().any(|known| known.1 == k)).then_some(size));
        }
        if row_major(&sizes).first().zip(sizes.first()).is_some_and(|(stride, n)| {
            stride.zip(*n).is_some_and(|(stride, n)| stride.checked_mul(n).is_none_or(|n| n == i64::MAX))
        }) {
            return Err("the number of its elements overflows 64 bits".into());
        }
        one_to_one(&on_sizes)?;
        Ok(MappedDims { exprs, sizes, dynamic })
    }
}

/// Checks that all elements have different addresses.
///
/// # Errors
/// Two elements with one address, or an unknown answer.
pub fn one_to_one(map: &IndexingMap) -> Result<(), String> {
    if map.invert().is_some() {
        return Ok(());
    }
    if map.box_points() > COMPARED {
        return Err("it is not known whether its map puts two elements at one place".into());
    }
    let mut places: HashMap<Vec<i64>, Vec<i64>> = HashMap::new();
    for element in map.points() {
        let place = map.evaluate(&element).ok().flatten().ok_or("a result of its map overflows 64 bits")?;
        if let Some(other) = places.insert(place, element.clone()) {
            return Err(format!(
                "its map must not put two elements at one place, as it does with {other:?} and {element:?}"
            ));
        }
    }
    Ok(())
}

/// Whether an expression uses a variable.
fn uses(e: &Expr, variable: usize) -> bool {
    match e {
        Expr::Const(_) => false,
        Expr::Var(v) => *v == variable,
        Expr::Add(a, b) | Expr::Min(a, b) | Expr::Max(a, b) => uses(a, variable) || uses(b, variable),
        Expr::Mul(a, _) | Expr::FloorDiv(a, _) | Expr::Mod(a, _) => uses(a, variable),
    }
}
