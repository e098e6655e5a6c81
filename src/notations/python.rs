//! JAX's layouts: `Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))`, which have no sizes.
//!
//! The order is XLA's `minor_to_major` reversed, the tiles are XLA's. JAX cannot express merged dimensions, memory
//! spaces (which belong to a sharding there), tail padding, and cuts.

use crate::element::ElementType;
use crate::notations::described::{Described, Description};
use crate::notations::lists::{at_least, dimensions, list};
use crate::text::{Cursor, Error};
use crate::tiled::expansion::Expansion;
use crate::tiled::jax;
use crate::tiled::layout::{Layout, TileEntry};

/// The arguments of `Layout`, in order.
const ARGUMENTS: [&str; 3] = ["major_to_minor", "tiling", "sub_byte_element_size_in_bits"];

/// Reads a layout, from `Layout` on, of an array of these sizes.
pub(super) fn read_jax(cursor: &mut Cursor, sizes: &[i64]) -> Result<Description, Error> {
    let start = cursor.at();
    if cursor.peek_name() != Some("Layout") {
        return Err(cursor.expected("`Layout(`"));
    }
    cursor.word();
    cursor.expect("(", "`(` after `Layout`")?;
    let mut layout = Layout::row_major(0);
    let mut seen = [false; 3];
    for position in 0.. {
        if cursor.eat(")") {
            break;
        }
        let at = cursor.at();
        let argument = match cursor.peek_name() {
            Some("None") | None => position,
            Some(name) => {
                let found = ARGUMENTS.iter().position(|argument| *argument == name);
                let found = found.ok_or_else(|| cursor.expected("`major_to_minor=`, `tiling=` or `)`"))?;
                cursor.advance(name.len());
                cursor.expect("=", &format!("`=` after `{name}`"))?;
                found
            }
        };
        match seen.get_mut(argument) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => {
                return Err(Error::at(at, format!("`{}` must be given once, found it twice", ARGUMENTS[argument])));
            }
            None => return Err(Error::at(at, "`Layout` must have at most 3 arguments, found more").too_large()),
        }
        read_argument(cursor, argument, sizes, &mut layout)?;
        if !cursor.eat(",") {
            cursor.expect(")", "`,` or `)` to close `Layout`")?;
            break;
        }
    }
    if !seen[0] {
        return Err(Error::at(start, "`major_to_minor` is missing").syntax());
    }
    Expansion::new(sizes, &layout).map_err(|error| Error { at: error.at.or(Some(start)), ..error })?;
    Ok(Description::Tiled { sizes: sizes.to_vec(), layout })
}

fn read_argument(cursor: &mut Cursor, argument: usize, sizes: &[i64], layout: &mut Layout) -> Result<(), Error> {
    let at = cursor.at();
    match argument {
        0 => {
            let order = dimensions(&list(cursor, ["(", ")"], "a dimension", true)?, sizes.len(), "`major_to_minor`")?;
            if order.len() != sizes.len() {
                let message =
                    format!("`major_to_minor` must have all {} dimensions, found {}", sizes.len(), order.len());
                return Err(Error::at(at, message));
            }
            layout.minor_to_major = order.into_iter().rev().collect();
        }
        1 if cursor.peek_name() == Some("None") => cursor.advance(4),
        1 => layout.tiles = read_tiles(cursor)?,
        _ => layout.element_bits = cursor.integer("the bits of an element")?,
    }
    Ok(())
}

fn read_tiles(cursor: &mut Cursor) -> Result<Vec<Vec<TileEntry>>, Error> {
    cursor.expect("(", "`(` and a tile, or `None`")?;
    let mut tiles = Vec::new();
    let mut entries = 0;
    while !cursor.eat(")") {
        let at = cursor.at();
        let tile = list(cursor, ["(", ")"], "a tile size", true)?;
        at_least(&tile, 1, "a tile size")?;
        entries += tile.len();
        if tile.is_empty() || entries > Layout::MAX_TILE_ENTRIES {
            let most = Layout::MAX_TILE_ENTRIES;
            return Err(Error::at(at, format!("a tile must have an entry, and all of them at most {most}")));
        }
        tiles.push(tile.iter().map(|size| TileEntry::Size(size.value)).collect());
        if !cursor.eat(",") {
            cursor.expect(")", "`,` or `)` to close the tiles")?;
            break;
        }
    }
    Ok(tiles)
}

/// The layout in JAX's notation.
///
/// # Errors
/// The reason why there is none.
pub fn write_jax(described: &Described, element: ElementType) -> Result<String, Error> {
    let mut layout = described.tiled()?;
    let bits = element.bits().unwrap_or(0);
    if layout.element_bits == bits && bits % 8 == 0 {
        layout.element_bits = 0;
    }
    let merged = layout.tiles.iter().flatten().any(|entry| *entry == TileEntry::Combine);
    let why = match () {
        () if merged => "merged dimensions (`*`)",
        () if layout.memory_space != 0 => "a memory space: it is part of the sharding there",
        () if layout.tail_alignment != 1 => "tail padding (`L`)",
        () => "cuts, metadata or sparse arrays",
    };
    jax(&layout).ok_or_else(|| Error::new(format!("JAX's `Layout` has no word for {why}")).unsupported())
}
