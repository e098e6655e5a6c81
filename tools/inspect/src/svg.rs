//! The picture of what a text describes.

use crate::report::{self, Subject};
use tensor_layout::drawing::{draw_array, draw_placement};
use tensor_layout::operations::Shape;
use tensor_layout::text::Error;

/// The picture of a shape or a TensorLayout, as SVG.
///
/// # Errors
/// Those of the report, and that a shape has no offsets.
pub fn draw(text: &str) -> Result<String, Error> {
    match report::parse(text).map_err(|misplaced| misplaced.error)? {
        Subject::Places(placement) => Ok(draw_placement(*placement)),
        Subject::Shape(Shape::Tuple(_)) => Err(Error::new("there are no offsets to draw")),
        Subject::Shape(Shape::Array(array) | Shape::Buffer(array)) => {
            draw_array(&array).map_err(|error| report::in_sizes(text, error))
        }
    }
}
