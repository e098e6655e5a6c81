//! The address of an element in a layout, from the layout's text and its definition.

use crate::proof::subscript::Subscript;
use crate::reader::layouts::{self, Layout, Tile};
use crate::reader::model::Axes;
use crate::reader::places::Places;
use crate::reader::swizzles::Swizzle;

/// A shape in tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiling {
    sizes: Vec<i64>,
    /// The dimensions from major to minor.
    order: Vec<usize>,
    tiles: Vec<Tile>,
    /// The same.
    layout: Layout,
}

/// Where the elements of a shape are, in elements.
#[derive(Clone, Debug, PartialEq)]
pub enum AddressMap {
    /// Offset and strides.
    Strided(Subscript, Vec<i64>),
    /// A layout of tiles.
    Tiled(Box<Tiling>),
    /// A TensorLayout: indices of dimensions are followed by the numbers of copies, and are those of the first ones without.
    Spread(Box<Places>),
    /// A swizzle of a layout, and its size; the addresses are those before the swizzle.
    Swizzled(Box<AddressMap>, Swizzle, i64),
    /// A part of a shape: for each of its dimensions the first index, and the step and the dimension that goes along it.
    Part(Box<AddressMap>, Vec<(Subscript, i64, Option<usize>)>),
    /// Other dimensions of the same elements in row-major order: the sizes that the map has, and the others.
    Reshaped(Box<AddressMap>, Vec<i64>, Vec<i64>),
}

/// The index of an element in a shape, of its index in another shape with as many elements; none beyond 64 bits.
pub fn reshaped(index: &[Subscript], from: &[i64], to: &[i64]) -> Option<Vec<Subscript>> {
    let number = row_major(from)?.address(index);
    let dims = to.iter().zip(layouts::row_major(to)?);
    let digit = |(n, stride): (&i64, i64)| {
        Subscript::Remainder(Box::new(Subscript::Quotient(Box::new(number.clone()), stride)), *n)
    };
    Some(dims.map(digit).collect())
}

/// The row-major order; none beyond 64 bits.
pub fn row_major(sizes: &[i64]) -> Option<AddressMap> {
    Some(AddressMap::Strided(Subscript::Constant(0), layouts::row_major(sizes)?))
}

/// How many tiles of `t` hold `n`.
fn tiles_of(n: i64, t: i64) -> i64 {
    n / t + i64::from(n % t != 0)
}

/// The number that an index is.
pub(super) fn constant(s: &Subscript) -> Option<i64> {
    match s {
        Subscript::Constant(c) => Some(*c),
        Subscript::Sum(all) => all.iter().try_fold(0i64, |sum, s| sum.checked_add(constant(s)?)),
        Subscript::Times(s, c) => constant(s)?.checked_mul(*c),
        Subscript::Value(_) | Subscript::Quotient(..) | Subscript::Remainder(..) => None,
    }
}

/// Reads `#layout.tiled<{1,0:T(8,128)(2,1)S(1)}>`, a TensorLayout over these axes or a swizzle of one; none of any other, and where bytes
/// come before the elements, or these, of so many bits, are not whole elements of memory.
pub fn of_text(text: &str, bits: u32, sizes: &[i64], axes: &Axes) -> Option<AddressMap> {
    if let Some((swizzle, below)) = Swizzle::read(text) {
        // It is of one memory, whatever the machine.
        let below = of_text(&below, bits, sizes, &Axes::new())?;
        let size = swizzle.blocks(below.size(sizes)?)?;
        return Some(AddressMap::Swizzled(Box::new(below), swizzle, size));
    }
    if let Some(places) = Places::read(text, sizes, axes) {
        return Some(AddressMap::Spread(Box::new(places)));
    }
    let layout = Layout::read(text).filter(|layout| layout.is_in_bytes(bits))?;
    let (order, tiles) = layout.plain_tiles(sizes.len())?;
    Some(AddressMap::Tiled(Box::new(Tiling { sizes: sizes.to_vec(), order, tiles, layout })))
}

impl AddressMap {
    /// One more than the greatest address of a shape; with tiles, that of the padding.
    pub fn size(&self, sizes: &[i64]) -> Option<i64> {
        if sizes.contains(&0) {
            return Some(0);
        }
        match self {
            AddressMap::Strided(Subscript::Constant(offset), strides) => sizes
                .iter()
                .zip(strides)
                .try_fold(offset.checked_add(1)?, |sum, (n, stride)| stride.checked_mul(n - 1)?.checked_add(sum)),
            AddressMap::Strided(..) | AddressMap::Part(..) | AddressMap::Reshaped(..) => None,
            AddressMap::Tiled(tiling) => tiling.layout.size(sizes),
            AddressMap::Spread(places) => Some(places.size),
            AddressMap::Swizzled(_, _, size) => Some(*size),
        }
    }

    /// The swizzle, if it moves anything.
    pub fn swizzle(&self) -> Option<Swizzle> {
        if let AddressMap::Swizzled(_, swizzle, _) = self {
            Some(*swizzle).filter(|swizzle| swizzle.mask != 0)
        } else {
            None
        }
    }

    /// Whether strided elements are one behind the other from the first address on, in any order of the dimensions; other layouts
    /// have padding of their own between them.
    pub fn fills(&self, sizes: &[i64]) -> bool {
        let AddressMap::Strided(first, strides) = self else { return true };
        let mut dims: Vec<(i64, i64)> =
            strides.iter().copied().zip(sizes.iter().copied()).filter(|(_, n)| *n != 1).collect();
        dims.sort_unstable();
        let next = |next: i64, (stride, n): (i64, i64)| {
            if stride == next { stride.checked_mul(n) } else { None }
        };
        constant(first) == Some(0) && (sizes.contains(&0) || dims.into_iter().try_fold(1, next).is_some())
    }

    /// Whether lowered memory of a tiled layout may have these sizes and strides: those of the parts of dimensions, in the
    /// order of memory or in that of the dimensions. Sizes of 1 have any stride.
    pub fn has_parts(&self, sizes: &[i64], strides: &[i64]) -> bool {
        if let AddressMap::Swizzled(_, _, size) = self {
            return sizes == [*size] && strides == [1];
        }
        if let AddressMap::Spread(places) = self {
            return places.is_shape(sizes, strides);
        }
        let AddressMap::Tiled(tiling) = self else { return false };
        let parts = tiling.layout.lowered(&tiling.sizes);
        parts.and_then(|parts| layouts::are_parts(&tiling.layout, parts, (sizes, strides), true)) == Some(true)
    }

    /// How many copies there are of each element, and how far they are apart; those of several entries multiply.
    pub fn copies(&self) -> &[(i64, i64)] {
        if let AddressMap::Spread(places) = self { &places.copies } else { &[] }
    }

    /// The layout of a part, for each dimension of the whole with its first index, step, and dimension of the part.
    pub fn part(&self, dims: Vec<(Subscript, i64, Option<usize>)>) -> AddressMap {
        let AddressMap::Strided(_, strides) = self else { return AddressMap::Part(Box::new(self.clone()), dims) };
        let rank = dims.iter().filter_map(|dim| dim.2).map(|d| d + 1).max().unwrap_or(0);
        let first: Vec<Subscript> = dims.iter().map(|dim| dim.0.clone()).collect();
        let mut own = vec![0; rank];
        for ((_, step, along), stride) in dims.iter().zip(strides) {
            along.iter().for_each(|d| own[*d] = step.wrapping_mul(*stride));
        }
        let first = self.address(&first);
        AddressMap::Strided(constant(&first).map_or(first, Subscript::Constant), own)
    }

    /// The address of an index.
    pub fn address(&self, index: &[Subscript]) -> Subscript {
        match self {
            AddressMap::Part(whole, dims) => {
                let along = |(first, step, along): &(Subscript, i64, Option<usize>)| match along {
                    Some(d) => {
                        Subscript::Sum(vec![first.clone(), Subscript::Times(Box::new(index[*d].clone()), *step)])
                    }
                    None => first.clone(),
                };
                whole.address(&dims.iter().map(along).collect::<Vec<_>>())
            }
            AddressMap::Swizzled(below, ..) => below.address(index),
            AddressMap::Reshaped(whole, to, from) => {
                whole.address(&reshaped(index, from, to).expect("sizes that the reshape has looked at"))
            }
            AddressMap::Strided(offset, strides) => {
                let terms = index.iter().zip(strides).map(|(i, stride)| Subscript::Times(Box::new(i.clone()), *stride));
                Subscript::Sum(terms.chain([offset.clone()]).collect())
            }
            AddressMap::Spread(places) => {
                let digit = |(dim, weight, extent, stride): &(usize, i64, i64, i64)| {
                    let digit = Subscript::Quotient(Box::new(index[*dim].clone()), *weight);
                    Subscript::Times(Box::new(Subscript::Remainder(Box::new(digit), *extent)), *stride)
                };
                let rank = index.len().min(places.rank);
                let copies = index[rank..].iter().zip(&places.copies);
                let copies = copies.map(|(k, (_, stride))| Subscript::Times(Box::new(k.clone()), *stride));
                Subscript::Sum(places.digits.iter().map(digit).chain(copies).collect())
            }
            AddressMap::Tiled(tiling) => {
                let Tiling { sizes, order, tiles, .. } = &**tiling;
                let mut dims: Vec<(i64, Subscript)> = order.iter().map(|d| (sizes[*d], index[*d].clone())).collect();
                for tile in tiles {
                    while dims.len() < tile.len() {
                        dims.insert(0, (1, Subscript::Constant(0)));
                    }
                    let mut tiled = vec![];
                    let mut merged: Option<(i64, Subscript)> = None;
                    for ((n, i), t) in dims.split_off(dims.len() - tile.len()).into_iter().zip(tile) {
                        let whole = match merged.take() {
                            Some((m, j)) => {
                                (m.wrapping_mul(n), Subscript::Sum(vec![Subscript::Times(Box::new(j), n), i]))
                            }
                            None => (n, i),
                        };
                        match t {
                            Some(t) => tiled.push((whole, *t)),
                            None => merged = Some(whole),
                        }
                    }
                    let grid = tiled
                        .iter()
                        .map(|((n, i), t)| (tiles_of(*n, *t), Subscript::Quotient(Box::new(i.clone()), *t)));
                    let inside = tiled.iter().map(|((_, i), t)| (*t, Subscript::Remainder(Box::new(i.clone()), *t)));
                    let both: Vec<(i64, Subscript)> = grid.chain(inside).collect();
                    dims.extend(both);
                }
                let mut stride = 1;
                let mut terms = Vec::new();
                for (n, i) in dims.into_iter().rev() {
                    terms.push(Subscript::Times(Box::new(i), stride));
                    stride = stride.wrapping_mul(n);
                }
                Subscript::Sum(terms)
            }
        }
    }
}
