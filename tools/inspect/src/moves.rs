//! `layout-inspect moves`: whether a reshape or a transpose between two shapes moves bytes.

use crate::lists;
use layout_console::Complaint;
use tensor_layout::analysis::movement;
use tensor_layout::operations::Operation;
use tensor_layout::operations::Shape;

/// Say whether a reshape or a transpose from the first shape to the second moves bytes, or is a bitcast
#[derive(clap::Args)]
pub struct MovesOptions {
    /// The shape with its layout before
    #[arg(value_name = "SHAPE")]
    from: String,
    /// The shape with its layout after
    #[arg(value_name = "SHAPE")]
    to: String,
    /// The operation is a transpose: the dimension of the first shape that each of the second is, as in 1,0
    #[arg(long, value_name = "DIMENSIONS", allow_hyphen_values = true)]
    transpose: Option<String>,
}

/// A line that says whether bytes move, and which.
pub fn run(MovesOptions { from, to, transpose }: &MovesOptions) -> Result<String, Complaint> {
    let operation = match transpose {
        None => Operation::Reshape,
        Some(list) => {
            let permutation = lists::numbers(list);
            let wrong = || lists::wrong("--transpose", "dimensions such as 1,0", list);
            Operation::Transpose { permutation: permutation.ok_or_else(wrong)? }
        }
    };
    let shape = |text: &String| Shape::parse(text).map_err(|error| Complaint::in_argument(text, &error));
    let moved = movement(&operation, &shape(from)?, &shape(to)?);
    Ok(format!("{}\n", moved.map_err(|error| Complaint::in_argument(to, &error))?))
}
