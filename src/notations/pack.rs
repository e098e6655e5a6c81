//! Packed tensors: IREE's encodings and MLIR's `linalg.pack`.
//!
//! `inner_dims_pos = [0, 1] inner_tiles = [8, 4] outer_dims_perm = [1, 0]` cuts dimension 0 into tiles of 8, dimension 1
//! into tiles of 4. The sizes of the packed tensor are first the numbers of tiles, in the order of `outer_dims_perm`,
//! then the tile sizes, in the order of `inner_dims_pos`; the last dimension varies fastest. Element (9, 5) is at
//! `[5 floordiv 4, 9 floordiv 8, 9 mod 8, 5 mod 4]`. Tiles that are not full are padded.
//!
//! An encoding of IREE has the same in `innerDimsPos`, `innerTileSizes`, `outerDimsPerm`. A `swizzle` cuts the tiles
//! into the factors of `expandShape`, the most significant first, and permutes these: dimension `k` of the result is
//! factor `permutation[k]`. Such a swizzle is read, and not written.
//!
//! Here a layout has one tile for each dimension, so of XLA's tiled layouts only those with one tile can be written.

use crate::conversion::{on_the_address, reached};
use crate::element::ElementType;
use crate::notations::described::{Described, Description};
use crate::notations::lists::{ReadNumber, at_least, dimensions, list, text, values};
use crate::notations::types::spelled;
use crate::places::placement::Placement;
use crate::places::tensor_layout::Part;
use crate::text::{Cursor, Error};
use crate::tiled::layout::{Layout, TileEntry};

/// Tiles and orders of a packed tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackedTiles {
    inner_dims: Vec<usize>,
    inner_tiles: Vec<i64>,
    outer_order: Vec<usize>,
    /// The factors of the tiles in memory order: the number of the tile, the weight in it, and the size. Without a
    /// swizzle, the whole tiles.
    factors: Vec<(usize, i64, i64)>,
}

/// The lists of a packing, each with its byte offset.
#[derive(Default)]
pub(super) struct PackedLists {
    pub inner_dims: Option<(usize, Vec<ReadNumber>)>,
    pub inner_tiles: Option<(usize, Vec<ReadNumber>)>,
    pub outer_order: Option<(usize, Vec<ReadNumber>)>,
}

impl PackedLists {
    /// The packing of a tensor of this rank. `at` is the byte offset of the lists.
    pub fn packing(self, rank: usize, at: usize) -> Result<PackedTiles, Error> {
        let (_, inner_dims) =
            self.inner_dims.ok_or_else(|| Error::at(at, "the dimensions of the tiles are missing").syntax())?;
        let (tiles_at, tiles) =
            self.inner_tiles.ok_or_else(|| Error::at(at, "the sizes of the tiles are missing").syntax())?;
        let inner_dims = dimensions(&inner_dims, rank, "the dimensions of the tiles")?;
        at_least(&tiles, 1, "a tile size")?;
        if tiles.len() != inner_dims.len() {
            let (count, found) = (inner_dims.len(), tiles.len());
            return Err(Error::at(
                tiles_at,
                format!("the tile sizes must be one for each of the {count} dimensions, found {found}"),
            ));
        }
        let outer_order = match self.outer_order {
            Some((at, order)) if !order.is_empty() => {
                let order = dimensions(&order, rank, "the order of the tiles")?;
                if order.len() != rank {
                    let found = order.len();
                    return Err(Error::at(
                        at,
                        format!("the order of the tiles must have all {rank} dimensions, found {found}"),
                    ));
                }
                order
            }
            _ => (0..rank).collect(),
        };
        let inner_tiles = values(&tiles);
        let factors = inner_tiles.iter().enumerate().map(|(k, tile)| (k, 1, *tile)).collect();
        Ok(PackedTiles { inner_dims, inner_tiles, outer_order, factors })
    }
}

impl PackedTiles {
    /// The tile of a dimension; 1 if it is not cut.
    fn tile(&self, dim: usize) -> i64 {
        self.inner_dims.iter().position(|inner| *inner == dim).map_or(1, |k| self.inner_tiles[k])
    }

    /// The sizes of the packed tensor, without those of a swizzle.
    pub fn sizes(&self, sizes: &[i64]) -> Vec<i64> {
        let outer = self.outer_order.iter().map(|dim| {
            let tile = self.tile(*dim);
            sizes[*dim] / tile + i64::from(sizes[*dim] % tile != 0)
        });
        outer.chain(self.inner_tiles.iter().copied()).collect()
    }

    /// The layout of a tensor of these sizes.
    pub fn describe(&self, sizes: &[i64], at: usize) -> Result<Description, Error> {
        let outer = self.outer_order.iter().zip(self.sizes(sizes)).map(|(dim, count)| (*dim, self.tile(*dim), count));
        let inner = self.factors.iter().map(|(k, weight, size)| (self.inner_dims[*k], *weight, *size));
        let mut stride = 1i64;
        let mut parts = Vec::new();
        for (dim, weight, extent) in outer.chain(inner).collect::<Vec<_>>().into_iter().rev() {
            parts.push((dim, weight, Part { extent: extent.max(1), axis: None, stride }));
            let large = || Error::at(at, "the size in elements does not fit in 64 bits").too_large();
            stride = stride.checked_mul(extent.max(1)).ok_or_else(large)?;
        }
        let located = |error: Error| Error { at: error.at.or(Some(at)), ..error };
        Description::of_parts(sizes, parts, Vec::new()).map_err(located)
    }
}

/// Reads `#iree_encoding.layout<[..]>`, or one of the attributes in it, of a tensor of these sizes.
pub(super) fn read_iree(cursor: &mut Cursor, sizes: &[i64]) -> Result<Description, Error> {
    let start = cursor.at();
    let outside = cursor.eat("#iree_encoding.layout");
    if outside {
        cursor.expect("<", "`<`")?;
        cursor.expect("[", "`[` and a resolver")?;
    }
    let at = cursor.at();
    cursor.expect("#", "a resolver, as `#iree_cpu.cpu_encoding_resolver<..>`")?;
    let dialect = cursor.peek_name().filter(|name| name.starts_with("iree_"));
    let dialect = dialect.ok_or_else(|| {
        Error::at(at, "expected a resolver of IREE, as `#iree_cpu.cpu_encoding_resolver<..>`").syntax()
    })?;
    cursor.advance(dialect.len());
    cursor.expect(".", "`.`")?;
    let resolver = cursor.peek_name().ok_or_else(|| cursor.expected("the name of a resolver"))?;
    cursor.advance(resolver.len());
    cursor.expect("<", "`<`")?;
    word(cursor, "configuration")?;
    cursor.expect("=", "`=`")?;
    cursor.expect("{", "`{`")?;
    let info = cursor.at();
    word(cursor, "encoding_info")?;
    cursor.expect("=", "`=`")?;
    let packing = read_info(cursor, sizes.len(), info)?;
    cursor.expect("}", "`}`: attributes beside `encoding_info` are of a layout that is not chosen yet")?;
    cursor.expect(">", "`>`")?;
    if outside {
        cursor.expect("]", "`]`: a layout of several resolvers is of several devices")?;
        cursor.expect(">", "`>`")?;
    }
    packing.describe(sizes, start)
}

fn word(cursor: &mut Cursor, expected: &str) -> Result<(), Error> {
    match cursor.peek_name() == Some(expected) {
        true => cursor.advance(expected.len()),
        false => return Err(cursor.expected(&format!("`{expected}`"))),
    }
    Ok(())
}

/// Reads `{innerDimsPos = [0, 1], innerTileSizes = [8, 4], outerDimsPerm = [0, 1]}`.
fn read_info(cursor: &mut Cursor, rank: usize, at: usize) -> Result<PackedTiles, Error> {
    cursor.expect("{", "`{`")?;
    let mut lists = PackedLists::default();
    let mut swizzle = None;
    loop {
        let key = cursor.at();
        let name = cursor.peek_name().unwrap_or_default();
        let field = match name {
            "innerDimsPos" => Some(&mut lists.inner_dims),
            "innerTileSizes" => Some(&mut lists.inner_tiles),
            "outerDimsPerm" => Some(&mut lists.outer_order),
            "swizzle" => None,
            _ => return Err(cursor.expected("`innerDimsPos`, `innerTileSizes`, `outerDimsPerm` or `swizzle`")),
        };
        cursor.advance(name.len());
        cursor.expect("=", &format!("`=` after `{name}`"))?;
        let value = cursor.at();
        let twice = match field {
            Some(field) => field.replace((value, list(cursor, ["[", "]"], "a number", false)?)).is_some(),
            None => swizzle.replace((value, read_swizzle(cursor)?)).is_some(),
        };
        if twice {
            return Err(Error::at(key, format!("`{name}` must be given once, found it twice")));
        }
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect("}", "`,` or `}`")?;
    let mut packing = lists.packing(rank, at)?;
    if let Some((at, (factors, order))) = swizzle {
        packing.factors = swizzled(&packing, &factors, &order, at)?;
    }
    Ok(packing)
}

/// The factors of a swizzle for each tile, and their order.
type Factors = (Vec<Vec<ReadNumber>>, Vec<ReadNumber>);

/// Reads `{expandShape = [[["CrossThread", 4 : i16], ..], ..], permutation = [1, 0]}`.
fn read_swizzle(cursor: &mut Cursor) -> Result<Factors, Error> {
    cursor.expect("{", "`{`")?;
    word(cursor, "expandShape")?;
    cursor.expect("=", "`=`")?;
    cursor.expect("[", "`[` and the factors of each tile")?;
    let mut factors = Vec::new();
    while !cursor.eat("]") {
        cursor.expect("[", "`[` and the factors of a tile")?;
        let mut own = Vec::new();
        while !cursor.eat("]") {
            own.push(read_factor(cursor)?);
            if !cursor.eat(",") {
                cursor.expect("]", "`,` or `]`")?;
                break;
            }
        }
        factors.push(own);
        if factors.iter().map(Vec::len).sum::<usize>() > Layout::MAX_TILE_ENTRIES {
            return Err(cursor.expected(&format!("at most {} factors", Layout::MAX_TILE_ENTRIES)));
        }
        if !cursor.eat(",") {
            cursor.expect("]", "`,` or `]`")?;
            break;
        }
    }
    cursor.expect(",", "`, permutation = `")?;
    word(cursor, "permutation")?;
    cursor.expect("=", "`=`")?;
    let order = list(cursor, ["[", "]"], "a factor", false)?;
    cursor.expect("}", "`}`")?;
    Ok((factors, order))
}

/// Reads `["CrossThread", 4 : i16]`; the kind of threads does not move the factor.
fn read_factor(cursor: &mut Cursor) -> Result<ReadNumber, Error> {
    cursor.expect("[", "`[` and the kind of a factor")?;
    cursor.expect("\"", "the kind of the factor, as `\"CrossThread\"`")?;
    if cursor.word().is_none() {
        return Err(cursor.expected("the kind of the factor"));
    }
    cursor.expect("\"", "`\"`")?;
    cursor.expect(",", "`,`")?;
    let factor = ReadNumber { at: cursor.at(), value: cursor.integer("the size of a factor")? };
    at_least(&[factor], 1, "a factor")?;
    cursor.expect(":", "`:` and a type")?;
    if cursor.word().is_none() {
        return Err(cursor.expected("a type"));
    }
    cursor.expect("]", "`]`")?;
    Ok(factor)
}

fn swizzled(
    packing: &PackedTiles,
    factors: &[Vec<ReadNumber>],
    order: &[ReadNumber],
    at: usize,
) -> Result<Vec<(usize, i64, i64)>, Error> {
    if factors.len() != packing.inner_tiles.len() {
        let (count, found) = (packing.inner_tiles.len(), factors.len());
        return Err(Error::at(
            at,
            format!("`expandShape` must have the factors of each of {count} tiles, found {found}"),
        ));
    }
    let mut flat = Vec::new();
    for (k, (own, tile)) in factors.iter().zip(&packing.inner_tiles).enumerate() {
        let mut weight = 1i64;
        let first = flat.len();
        for factor in own.iter().rev() {
            flat.insert(first, (k, weight, factor.value));
            weight = weight.checked_mul(factor.value).filter(|weight| weight <= tile).unwrap_or(0);
            if weight == 0 {
                return Err(Error::at(
                    factor.at,
                    format!("the factors of a tile must have the product {tile}, found more"),
                ));
            }
        }
        if weight != *tile {
            return Err(Error::at(at, format!("the factors of a tile must have the product {tile}, found {weight}")));
        }
    }
    let positions = dimensions(order, flat.len(), "the permutation")?;
    if positions.len() != flat.len() {
        let message = format!("the permutation must have all {} factors, found {}", flat.len(), positions.len());
        return Err(Error::at(order.first().map_or(at, |first| first.at), message));
    }
    Ok(positions.into_iter().map(|position| flat[position]).collect())
}

/// The layout as an encoding of IREE.
///
/// # Errors
/// The reason why there is none.
pub fn iree(described: &Described, element: ElementType) -> Result<String, Error> {
    let packing = packed(described)?;
    let numbers = |dims: &[usize]| text(&dims.iter().map(|dim| *dim as i64).collect::<Vec<_>>(), ["[", "]"]);
    Ok(format!(
        "tensor<{}, #iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<configuration = {{encoding_info = \
         {{innerDimsPos = {}, innerTileSizes = {}, outerDimsPerm = {}}}}}>]>>",
        spelled(described.description.sizes(), element),
        numbers(&packing.inner_dims),
        text(&packing.inner_tiles, ["[", "]"]),
        numbers(&packing.outer_order)
    ))
}

/// The layout as its `linalg.pack` operation.
///
/// # Errors
/// The reason why there is none.
pub fn pack(described: &Described, element: ElementType) -> Result<String, Error> {
    let packing = packed(described)?;
    let sizes = described.description.sizes();
    let numbers = |dims: &[usize]| text(&dims.iter().map(|dim| *dim as i64).collect::<Vec<_>>(), ["[", "]"]);
    let pads = packing.inner_dims.iter().any(|dim| sizes[*dim] % packing.tile(*dim) != 0);
    let padding = if pads { format!(" padding_value(%pad : {})", spelled(&[], element)) } else { String::new() };
    Ok(format!(
        "linalg.pack %source{padding} outer_dims_perm = {} inner_dims_pos = {} inner_tiles = {} into %packed : tensor<{}> -> tensor<{}>",
        numbers(&packing.outer_order),
        numbers(&packing.inner_dims),
        text(&packing.inner_tiles, ["[", "]"]),
        spelled(sizes, element),
        spelled(&packing.sizes(sizes), element)
    ))
}

fn packed(described: &Described) -> Result<PackedTiles, Error> {
    let sizes = described.description.sizes();
    if sizes.is_empty() {
        return Err(Error::new("a packed tensor must have at least one dimension, found none"));
    }
    match &described.description {
        Description::Tiled { layout, .. } if layout.tiles.len() <= 1 => of_tile(layout),
        _ => of_parts(&described.placement()?),
    }
}

/// The packing of a layout with one tile.
fn of_tile(layout: &Layout) -> Result<PackedTiles, Error> {
    let order: Vec<usize> = layout.major_to_minor().collect();
    let tile = layout.tiles.first().map_or(&[][..], Vec::as_slice);
    if tile.len() > order.len() {
        return Err(Error::new(format!(
            "a packed tensor has a tile for each dimension, found a tile of {} sizes for {} dimensions",
            tile.len(),
            order.len()
        )));
    }
    let size = |entry: &TileEntry| match entry {
        TileEntry::Size(size) => Ok(*size),
        TileEntry::Combine => Err(Error::new("a packed tensor has no merged dimensions (`*`)").unsupported()),
    };
    let inner_tiles = tile.iter().map(size).collect::<Result<Vec<i64>, Error>>()?;
    let inner_dims = order[order.len() - tile.len()..].to_vec();
    Ok(PackedTiles { inner_dims, factors: Vec::new(), inner_tiles, outer_order: order })
}

/// The packing of a TensorLayout: the parts with the least strides are the tiles.
fn of_parts(placement: &Placement) -> Result<PackedTiles, Error> {
    on_the_address(placement, "a packed tensor")?;
    let rank = placement.sizes().len();
    let mut parts: Vec<(usize, i64, Part)> = (0..rank)
        .flat_map(|dim| reached(placement, dim).into_iter().map(move |(weight, part)| (dim, weight, part)))
        .collect();
    parts.sort_by_key(|(.., part)| std::cmp::Reverse(part.stride));
    // A tile of a dimension of size 1 only pads: it has the elements below the least stride.
    let single = placement.sizes().iter().position(|size| *size == 1);
    if let (Some(dim), Some(least)) = (single, parts.last().map(|(.., part)| part.stride).filter(|stride| *stride > 1))
    {
        parts.push((dim, 1, Part { extent: least, axis: None, stride: 1 }));
    }
    // The steps of each part in memory: up to the stride of the next larger one.
    let mut steps = Vec::new();
    for (k, (dim, _, part)) in parts.iter().enumerate() {
        let larger = if k == 0 { part.extent.saturating_mul(part.stride) } else { parts[k - 1].2.stride };
        if part.stride == 0 || larger % part.stride != 0 {
            return Err(Error::new(format!(
                "the strides of a packed tensor must be multiples of each other, found {larger} and {} in dimension {dim}",
                part.stride
            )));
        }
        steps.push(larger / part.stride);
    }
    let dense = parts.last().is_none_or(|(.., part)| part.stride == 1);
    let found = (0..=parts.len()).rev().filter(|_| dense).find_map(|count| split(placement, &parts, &steps, count));
    found.ok_or_else(|| Error::new("a packed tensor has one tile for each dimension and all tiles after all grids, found another order in memory").unsupported())
}

/// The packing whose grid is the first `count` parts.
fn split(placement: &Placement, parts: &[(usize, i64, Part)], steps: &[i64], count: usize) -> Option<PackedTiles> {
    let sizes = placement.sizes();
    let (outer, inner) = parts.split_at(count);
    let mut packing =
        PackedTiles { inner_dims: Vec::new(), inner_tiles: Vec::new(), outer_order: Vec::new(), factors: Vec::new() };
    for ((dim, weight, _), tile) in inner.iter().zip(&steps[count..]) {
        if *weight != 1 || packing.inner_dims.contains(dim) {
            return None;
        }
        packing.inner_dims.push(*dim);
        packing.inner_tiles.push(*tile);
    }
    for ((dim, weight, _), steps) in outer.iter().zip(steps) {
        let tile = packing.tile(*dim);
        let grid = sizes[*dim] / tile + i64::from(sizes[*dim] % tile != 0);
        if *weight != tile || *steps != grid || packing.outer_order.contains(dim) {
            return None;
        }
        packing.outer_order.push(*dim);
    }
    // A dimension with a single tile may be anywhere: at its number, if possible.
    for (dim, size) in sizes.iter().enumerate() {
        if !packing.outer_order.contains(&dim) {
            if *size > packing.tile(dim) {
                return None;
            }
            let before = packing.outer_order.iter().position(|other| *other > dim).unwrap_or(packing.outer_order.len());
            packing.outer_order.insert(before, dim);
        }
    }
    Some(packing)
}
