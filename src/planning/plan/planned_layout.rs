//! The layout of an array in a plan.

use std::fmt;
use tensor_layout::places::TensorLayout;
use tensor_layout::tiled::layout::Layout;

/// The text for the layout of an array that is in none of the places.
pub const BESIDE: &str = "beside the places";

/// The layout of an array in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlannedLayout {
    /// An order of dimensions in one memory, with tiles.
    Tiled(Layout),
    /// Over the places of a machine.
    Places(TensorLayout),
    /// In each place: a scalar.
    Everywhere,
    /// In none of the places, but in a memory beside them.
    Beside,
}

impl PlannedLayout {
    /// The layout in one memory.
    pub fn tiled(&self) -> Option<&Layout> {
        if let PlannedLayout::Tiled(layout) = self { Some(layout) } else { None }
    }

    /// The layout over the places.
    pub fn places(&self) -> Option<&TensorLayout> {
        if let PlannedLayout::Places(layout) = self { Some(layout) } else { None }
    }

    /// The order of the dimensions in one memory, minor to major; over places none.
    pub fn order(&self) -> &[usize] {
        self.tiled().map_or(&[], |layout| &layout.minor_to_major)
    }
}

impl fmt::Display for PlannedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlannedLayout::Tiled(layout) => write!(f, "{layout}"),
            PlannedLayout::Places(layout) => write!(f, "{layout}"),
            PlannedLayout::Everywhere => f.write_str("()"),
            PlannedLayout::Beside => f.write_str(BESIDE),
        }
    }
}
