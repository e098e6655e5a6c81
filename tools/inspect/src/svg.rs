//! The picture of a shape or a TensorLayout, as SVG.

use crate::report::{self, Subject};
use tensor_layout::drawing::{MOST, draw_array, draw_placement};
use tensor_layout::operations::Shape;
use tensor_layout::text::Error;

/// The picture of a shape or a TensorLayout, as SVG.
///
/// # Errors
/// The text has no report, or the shape has no offsets.
pub fn draw(text: &str) -> Result<String, Error> {
    draw_part(text, [MOST; 2])
}

/// The same with at most `most` rows and columns, none above [`MOST`].
///
/// # Errors
/// As for the whole picture.
pub fn draw_part(text: &str, most: [i64; 2]) -> Result<String, Error> {
    match report::parse(text).map_err(|misplaced| misplaced.error)? {
        Subject::Places(placement) => Ok(draw_placement(*placement, most)),
        Subject::Shape(Shape::Tuple(_)) => Err(Error::new("there are no offsets to draw")),
        Subject::Shape(Shape::Array(array) | Shape::Buffer(array)) => {
            draw_array(&array, most).map_err(|error| report::in_sizes(text, error))
        }
    }
}
