//! The two notations of a layout side by side: what both mean, and how one becomes the other.

pub mod convert;
pub mod meaning;

pub use convert::{to_tensor_layout, to_tiled};
pub use meaning::Meaning;
