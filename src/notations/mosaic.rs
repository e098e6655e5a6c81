//! Mosaic's tiled memrefs: `memref<272x256xf32, #tpu.tiled<(8,128)(2,1),[2,1]>>`.
//!
//! The first tile cuts the last dimensions, as many as it has sizes, in order. Then come strides, one for each
//! dimension, between its tiles (between its elements if it is not cut), in units of the first tile. Later tiles cut
//! the one before them, as in XLA's layouts, and divide it. Element (9, 130) of the example is in tile (1, 1), which
//! begins at `(1*2 + 1*1) * 1024`, and there at (1, 2), which `(2,1)` puts at 5: 3077.

use crate::conversion::{made, on_the_address, reached, to_tensor_layout, to_tiled};
use crate::element::ElementType;
use crate::notations::described::{Described, Description};
use crate::notations::lists::{ReadNumber, at_least, list, text, values};
use crate::notations::types::{spelled, tpu_space};
use crate::places::placement::Placement;
use crate::places::tensor_layout::Part;
use crate::text::{Cursor, Error};
use crate::tiled::expansion::Expansion;
use crate::tiled::layout::{Layout, TileEntry};

/// Reads `#tpu.tiled<..>`, from `<` on, on these sizes. `start` is the byte of the attribute.
pub(super) fn read_mosaic(cursor: &mut Cursor, sizes: &[i64], start: usize) -> Result<Description, Error> {
    cursor.expect("<", "`<` and tiles")?;
    let mut tiles: Vec<(usize, Vec<ReadNumber>)> = Vec::new();
    while cursor.peek() == Some(b'(') {
        let at = cursor.at();
        let tile = list(cursor, ["(", ")"], "a tile size", false)?;
        at_least(&tile, 1, "a tile size")?;
        tiles.push((at, tile));
    }
    cursor.expect(",", "`(` and a tile, or `,` and the strides of the tiles")?;
    let at = cursor.at();
    let strides = list(cursor, ["[", "]"], "a stride in tiles", false)?;
    cursor.expect(">", "`>`")?;
    at_least(&strides, 0, "a stride")?;
    if strides.len() != sizes.len() {
        let (rank, found) = (sizes.len(), strides.len());
        return Err(Error::at(at, format!("the strides must be one for each of the {rank} dimensions, found {found}")));
    }
    let first = tiles.first().map_or(0, |(_, tile)| tile.len());
    if first > sizes.len() {
        let message = format!("a tile must have at most the {} dimensions of the memref, found {first}", sizes.len());
        return Err(Error::at(start, message));
    }
    let (inner, sizes_of_tile) = inside(&tiles)?;
    let located = |error: Error| Error { at: error.at.or(Some(at)), ..error };
    let whole = sizes_of_tile.iter().try_fold(1i64, |all, size| all.checked_mul(*size));
    let whole = whole.ok_or_else(|| Error::at(start, "the size of a tile does not fit in 64 bits").too_large())?;
    let untiled = sizes.len() - first;
    let mut parts = Vec::new();
    for (dim, size) in sizes.iter().enumerate() {
        let tile = dim.checked_sub(untiled).map_or(1, |k| sizes_of_tile[k]);
        let large = || Error::at(strides[dim].at, "the offsets do not fit in 64 bits").too_large();
        let stride = strides[dim].value.checked_mul(whole).ok_or_else(large)?;
        let extent = size / tile + i64::from(size % tile != 0);
        if extent > 1 && stride == 0 {
            let message = format!("a stride must be at least 1, found 0: {extent} tiles share a place");
            return Err(Error::at(strides[dim].at, message));
        }
        parts.push((dim, tile, Part { extent, axis: None, stride }));
    }
    parts.extend(inner.into_iter().map(|(k, weight, part)| (untiled + k, weight, part)));
    Description::of_parts(sizes, parts, Vec::new()).map_err(located)
}

/// The parts inside of the first tile, `(dimension, weight, part)`, and its sizes.
#[expect(clippy::type_complexity, reason = "what `of_parts` takes")]
fn inside(tiles: &[(usize, Vec<ReadNumber>)]) -> Result<(Vec<(usize, i64, Part)>, Vec<i64>), Error> {
    let Some(((at, first), later)) = tiles.split_first() else { return Ok(Default::default()) };
    let sizes = values(first);
    let mut layout = Layout::row_major(sizes.len());
    let mut cut: Vec<i64> = sizes.clone();
    for (at, tile) in later {
        if tile.len() > sizes.len() {
            let message = format!(
                "a tile must have at most the {} dimensions of the first one, found {}",
                sizes.len(),
                tile.len()
            );
            return Err(Error::at(*at, message));
        }
        let start = cut.len() - tile.len();
        for (ReadNumber { value, at }, before) in tile.iter().zip(&mut cut[start..]) {
            if *before % value != 0 {
                return Err(Error::at(
                    *at,
                    format!("a later tile must divide the one before, {before}, found {value}"),
                ));
            }
            *before = *value;
        }
        layout.tiles.push(tile.iter().map(|size| TileEntry::Size(size.value)).collect());
    }
    let located = |error: Error| Error { at: error.at.or(Some(*at)), ..error };
    let expansion = Expansion::new(&sizes, &layout).map_err(located)?;
    if sizes.is_empty() {
        return Err(Error::at(*at, "a tile must have a size, found none"));
    }
    let inner = to_tensor_layout(&expansion, &layout).map_err(located)?;
    let mut parts = Vec::new();
    for (dim, own) in inner.dims.into_iter().enumerate() {
        let mut weight = 1;
        for part in own.into_iter().rev() {
            let extent = part.extent;
            parts.push((dim, weight, part));
            weight *= extent;
        }
    }
    Ok((parts, sizes))
}

/// The layout in Mosaic's notation.
///
/// # Errors
/// The reason why there is none: tiles that cut other dimensions than the last ones, axes, several strides of tiles.
pub fn mosaic(described: &Described, element: ElementType) -> Result<String, Error> {
    let sizes = described.description.sizes();
    let space = match described.memory_space {
        0 => String::new(),
        number => format!(", {}", tpu_space(number)?),
    };
    let (tiles, strides) = match &described.description {
        Description::Tiled { sizes, layout } if layout.is_tiled() || sizes.is_empty() || sizes.contains(&0) => {
            of_tiled(sizes, layout)?
        }
        // Without elements any strides are right.
        _ if sizes.contains(&0) => (Vec::new(), vec![1; sizes.len()]),
        _ => of_parts(&described.placement()?)?,
    };
    let tiles: String = tiles.iter().map(|tile| text(tile, ["(", ")"]).replace(' ', "")).collect();
    let strides = text(&strides, ["[", "]"]).replace(' ', "");
    Ok(format!("memref<{}, #tpu.tiled<{tiles},{strides}>{space}>", spelled(sizes, element)))
}

/// Tiles and strides.
type TilesAndStrides = (Vec<Vec<i64>>, Vec<i64>);

/// The tiles and strides of a tiled layout.
fn of_tiled(sizes: &[i64], layout: &Layout) -> Result<TilesAndStrides, Error> {
    let size = |entry: &TileEntry| match entry {
        TileEntry::Size(size) => Ok(*size),
        TileEntry::Combine => Err(Error::new("Mosaic has no merged dimensions (`*`)").unsupported()),
    };
    let tile = |tile: &Vec<TileEntry>| tile.iter().map(size).collect::<Result<Vec<i64>, Error>>();
    let tiles = layout.tiles.iter().map(tile).collect::<Result<Vec<_>, Error>>()?;
    let first = tiles.first().cloned().unwrap_or_default();
    if first.len() > sizes.len() {
        let rank = sizes.len();
        return Err(Error::new(format!(
            "a tile of Mosaic must have at most the {rank} dimensions of the memref, found {}",
            first.len()
        )));
    }
    let last = layout.minor_to_major[..first.len()].iter().copied();
    if !last.clone().eq((0..sizes.len()).rev().take(first.len())) {
        let last: Vec<usize> = last.collect();
        return Err(Error::new(format!(
            "a tile of Mosaic cuts the last dimensions in their order, found one of the dimensions {last:?}, minor to major"
        )).unsupported());
    }
    let untiled = sizes.len() - first.len();
    let mut strides = vec![1; sizes.len()];
    let mut stride = 1i64;
    for dim in &layout.minor_to_major {
        strides[*dim] = stride;
        let tile = dim.checked_sub(untiled).map_or(1, |k| first[k]);
        let count = sizes[*dim] / tile + i64::from(sizes[*dim] % tile != 0);
        stride = stride
            .checked_mul(count.max(1))
            .ok_or_else(|| Error::new("the strides do not fit in 64 bits").too_large())?;
    }
    Ok((tiles, strides))
}

/// The tiles and strides of a TensorLayout: the parts with the least strides are the tile.
fn of_parts(placement: &Placement) -> Result<TilesAndStrides, Error> {
    on_the_address(placement, "a layout of Mosaic")?;
    let rank = placement.sizes().len();
    // The dimension, the weight, and the part.
    let mut parts: Vec<(usize, i64, Part)> = (0..rank)
        .flat_map(|dim| reached(placement, dim).into_iter().map(move |(weight, part)| (dim, weight, part)))
        .collect();
    parts.sort_by_key(|(.., part)| part.stride);
    let tiled = |count: usize| split(placement, &parts[..count], &parts[count..]);
    (0..=parts.len()).find_map(tiled).ok_or_else(|| {
        Error::new("Mosaic has tiles of the last dimensions and one stride for each dimension between them, found other strides").unsupported()
    })
}

/// The tiles and strides with these parts inside and outside of the first tile.
fn split(
    placement: &Placement,
    inside: &[(usize, i64, Part)],
    outside: &[(usize, i64, Part)],
) -> Option<TilesAndStrides> {
    let rank = placement.sizes().len();
    let from = inside.iter().map(|(dim, ..)| *dim).min().unwrap_or(rank);
    let mut inner: Vec<Vec<Part>> = vec![Vec::new(); rank - from];
    let mut least = inside.to_vec();
    // The gap between a part and the next larger stride is padding, if the part is the most significant of its
    // dimension.
    let later = inside.iter().chain(outside).skip(1).map(|(.., next)| next.stride);
    for ((dim, weight, part), next) in least.iter_mut().zip(later) {
        let top = inside.iter().chain(outside).all(|(other, heavier, _)| other != dim || heavier <= weight);
        if top && next % part.stride == 0 {
            part.extent = next / part.stride;
        }
    }
    least.sort_by_key(|(dim, weight, _)| (*dim, std::cmp::Reverse(*weight)));
    least.iter().for_each(|(dim, _, part)| inner[dim - from].push(part.clone()));
    let tile: Option<Vec<i64>> =
        inner.iter().map(|parts| parts.iter().try_fold(1i64, |all, part| all.checked_mul(part.extent))).collect();
    let tile = tile?;
    let whole = tile.iter().try_fold(1i64, |all, size| all.checked_mul(*size))?;
    let mut strides = vec![1; rank];
    let mut seen = vec![false; rank];
    for (dim, weight, part) in outside {
        let size = dim.checked_sub(from).map_or(1, |k| tile[k]);
        if seen[*dim] || *weight != size || part.stride % whole != 0 {
            return None;
        }
        seen[*dim] = true;
        strides[*dim] = part.stride / whole;
    }
    if tile.is_empty() {
        return Some((Vec::new(), strides));
    }
    let layout = made(&tile, inner, Vec::new());
    let layout = to_tiled(&Placement::new(&layout, Some(&tile)).ok()?).ok()?;
    let row_major = layout.minor_to_major.iter().rev().copied().eq(0..tile.len());
    let later = match (row_major, &*layout.tiles) {
        (true, tiles) => {
            let size = |entry: &TileEntry| if let TileEntry::Size(size) = entry { Some(*size) } else { None };
            let sizes = |tile: &Vec<TileEntry>| tile.iter().map(size).collect::<Option<Vec<i64>>>();
            tiles.iter().map(sizes).collect::<Option<Vec<_>>>()?
        }
        (false, []) => reordering(&tile, &layout.minor_to_major),
        (false, _) => return None,
    };
    let shorter = later.iter().all(|later| later.len() <= tile.len());
    shorter.then(|| ([vec![tile], later].concat(), strides))
}

/// The later tiles that reorder the elements of a tile from row-major. A tile with the sizes of some dimensions, and 1
/// for all others, puts those dimensions last: `(4,128)(4,1)` is 128 columns of 4. So there is one for each place in
/// the order, major to minor, where a dimension follows one of a larger number.
fn reordering(tile: &[i64], minor_to_major: &[usize]) -> Vec<Vec<i64>> {
    let order: Vec<usize> = minor_to_major.iter().rev().copied().collect();
    let turns = (1..order.len()).filter(|at| order[*at] < order[at - 1]);
    let inside =
        |at: usize| (0..tile.len()).map(|dim| if order[at..].contains(&dim) { tile[dim] } else { 1 }).collect();
    turns.map(inside).collect()
}
