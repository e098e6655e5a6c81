//! Layouts as JAX writes them: `Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))`.

use crate::tiled::layout::{Layout, TileEntry};
use std::fmt::Display;

/// The layout as a Python expression of `jax.experimental.layout.Layout`.
///
/// `None` if JAX cannot express it: merged dimensions, a memory space (which is part of a sharding there), tail
/// padding, sparse arrays, cuts and metadata.
///
/// ```
/// use tensor_layout::tiled::{Layout, jax};
/// let layout = Layout::parse("{1,0:T(8,128)(2,1)}").unwrap();
/// assert_eq!(jax(&layout).unwrap(), "Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))");
/// let layout = Layout::parse("{0:T(4096)E(4)}").unwrap();
/// let text = "Layout(major_to_minor=(0,), tiling=((4096,),), sub_byte_element_size_in_bits=4)";
/// assert_eq!(jax(&layout).unwrap(), text);
/// ```
pub fn jax(layout: &Layout) -> Option<String> {
    let said = Layout {
        minor_to_major: layout.minor_to_major.clone(),
        tiles: layout.tiles.clone(),
        element_bits: layout.element_bits,
        ..Layout::row_major(0)
    };
    if said != *layout {
        return None;
    }
    let sizes = |tile: &Vec<TileEntry>| {
        let size = |entry: &TileEntry| match entry {
            TileEntry::Size(size) => Some(*size),
            TileEntry::Combine => None,
        };
        tile.iter().map(size).collect::<Option<Vec<i64>>>().map(tuple)
    };
    let mut text = format!("Layout(major_to_minor={}", tuple(layout.major_to_minor()));
    if layout.is_tiled() {
        let tiles = layout.tiles.iter().map(sizes).collect::<Option<Vec<String>>>()?;
        text += &format!(", tiling={}", tuple(tiles));
    }
    if layout.element_bits != 0 {
        text += &format!(", sub_byte_element_size_in_bits={}", layout.element_bits);
    }
    Some(text + ")")
}

/// A Python tuple; a single entry has a comma after it.
fn tuple(entries: impl IntoIterator<Item = impl Display>) -> String {
    let entries: Vec<String> = entries.into_iter().map(|entry| entry.to_string()).collect();
    format!("({}{})", entries.join(", "), if entries.len() == 1 { "," } else { "" })
}
