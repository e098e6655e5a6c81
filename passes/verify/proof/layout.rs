//! The address of an element in a tiled layout, from the layout's text and its definition.

use crate::proof::subscript::Subscript;

/// Where the elements of a shape are, in elements.
#[derive(Clone, Debug, PartialEq)]
pub enum AddressMap {
    /// Offset and strides.
    Strided(Subscript, Vec<i64>),
    /// The sizes, the dimensions from major to minor, and the tiles.
    Tiled(Vec<i64>, Vec<usize>, Vec<Vec<i64>>),
    /// A part of a shape: for each of its dimensions the first index, and the step and the dimension that goes along it.
    Part(Box<AddressMap>, Vec<(Subscript, i64, Option<usize>)>),
}

/// The strides of the row-major order; none beyond 64 bits.
pub fn row_major(sizes: &[i64]) -> Option<AddressMap> {
    let mut strides = vec![1i64; sizes.len()];
    for d in (1..sizes.len()).rev() {
        strides[d - 1] = strides[d].checked_mul(sizes[d].max(1))?;
    }
    Some(AddressMap::Strided(Subscript::Constant(0), strides))
}

/// How many tiles of `t` hold `n`.
fn tiles_of(n: i64, t: i64) -> i64 {
    n / t + i64::from(n % t != 0)
}

/// The number that an index is.
fn constant(s: &Subscript) -> Option<i64> {
    match s {
        Subscript::Constant(c) => Some(*c),
        Subscript::Sum(all) => all.iter().try_fold(0i64, |sum, s| sum.checked_add(constant(s)?)),
        Subscript::Times(s, c) => constant(s)?.checked_mul(*c),
        Subscript::Value(_) | Subscript::Quotient(..) | Subscript::Remainder(..) => None,
    }
}

/// Reads `{1,0:T(8,128)(2,1)S(1)}`, with whatever is around the braces; none of what it has no meaning for.
pub fn tiled(text: &str, sizes: &[i64]) -> Option<AddressMap> {
    let body = text.split_once('{')?.1.split_once('}')?.0;
    let (order, rest) = body.split_once(':').unwrap_or((body, ""));
    let mut order: Vec<usize> =
        order.split(',').filter(|d| !d.is_empty()).map(|d| d.trim().parse().ok()).collect::<Option<_>>()?;
    order.reverse();
    if order.len() != sizes.len() || (0..sizes.len()).any(|d| !order.contains(&d)) {
        return None;
    }
    let mut tiles = Vec::new();
    let mut kind = ' ';
    let mut rest = rest;
    while !rest.is_empty() {
        let (head, tail) = rest.split_once('(')?;
        kind = head.chars().next().unwrap_or(kind);
        let (inside, tail) = tail.split_once(')')?;
        match kind {
            'T' => {
                tiles.push(inside.split(',').map(|n| n.trim().parse().ok().filter(|n| *n > 0)).collect::<Option<_>>()?)
            }
            // The tail and the memory do not move elements.
            'L' | 'S' => {}
            _ => return None,
        }
        rest = tail;
    }
    Some(AddressMap::Tiled(sizes.to_vec(), order, tiles))
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
            AddressMap::Strided(..) | AddressMap::Part(..) => None,
            AddressMap::Tiled(..) => self.expanded().iter().try_fold(1i64, |product, (_, n)| product.checked_mul(*n)),
        }
    }

    /// The sizes that a tiled layout cuts a shape into, in the order of memory, each with the dimension that it is a part of.
    fn expanded(&self) -> Vec<(usize, i64)> {
        let AddressMap::Tiled(sizes, order, tiles) = self else { return vec![] };
        let mut dims: Vec<(usize, i64)> = order.iter().map(|d| (*d, sizes[*d])).collect();
        for tile in tiles {
            while dims.len() < tile.len() {
                dims.insert(0, (0, 1));
            }
            let tiled = dims.split_off(dims.len() - tile.len());
            dims.extend(tiled.iter().zip(tile).map(|((d, n), t)| (*d, tiles_of(*n, *t))));
            dims.extend(tiled.iter().zip(tile).map(|((d, _), t)| (*d, *t)));
        }
        dims
    }

    /// Whether lowered memory of a tiled layout may have these sizes and strides: those of the parts of dimensions, in the
    /// order of memory or in that of the dimensions. Sizes of 1 have any stride.
    pub fn has_parts(&self, sizes: &[i64], strides: &[i64]) -> bool {
        let mut stride = 1i64;
        let mut parts = Vec::new();
        for (d, n) in self.expanded().into_iter().rev().filter(|(_, n)| *n > 1) {
            parts.insert(0, (d, (n, stride)));
            stride = stride.wrapping_mul(n);
        }
        let found: Vec<(i64, i64)> =
            sizes.iter().copied().zip(strides.iter().copied()).filter(|(n, _)| *n > 1).collect();
        let is = |parts: &[(usize, (i64, i64))]| parts.iter().map(|part| part.1).eq(found.iter().copied());
        let in_memory = is(&parts);
        parts.sort_by_key(|part| part.0);
        in_memory || is(&parts)
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
            AddressMap::Strided(offset, strides) => {
                let terms = index.iter().zip(strides).map(|(i, stride)| Subscript::Times(Box::new(i.clone()), *stride));
                Subscript::Sum(terms.chain([offset.clone()]).collect())
            }
            AddressMap::Tiled(sizes, order, tiles) => {
                let mut dims: Vec<(i64, Subscript)> = order.iter().map(|d| (sizes[*d], index[*d].clone())).collect();
                for tile in tiles {
                    while dims.len() < tile.len() {
                        dims.insert(0, (1, Subscript::Constant(0)));
                    }
                    let tiled = dims.split_off(dims.len() - tile.len());
                    let grid = tiled
                        .iter()
                        .zip(tile)
                        .map(|((n, i), t)| (tiles_of(*n, *t), Subscript::Quotient(Box::new(i.clone()), *t)));
                    let inside =
                        tiled.iter().zip(tile).map(|((_, i), t)| (*t, Subscript::Remainder(Box::new(i.clone()), *t)));
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
