//! The texts of the index maps of a layout.

use layout::expansion::Expansion;
use layout::map::IndexingMap;

/// The map from the logical index to the index in the expanded sizes, and the map to the offset, in elements.
pub fn texts(expansion: &Expansion) -> (String, String) {
    let text = |results| IndexingMap::of_sizes(expansion.logical_sizes(), results).to_string();
    (text(expansion.exprs()), text(vec![expansion.offset_expr()]))
}
