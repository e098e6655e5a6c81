//! `layout-inspect moves`: whether a reshape or a transpose between two shapes moves bytes.

use crate::lists;
use layout_console::Complaint;
use tensor_layout::analysis::movement;
use tensor_layout::operations::{Operation, Refusal, Shape, Subject};
use tensor_layout::text::Error;

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

/// The operation: a transpose where a permutation is given.
pub fn operation(transpose: Option<Vec<usize>>) -> Operation {
    transpose.map_or(Operation::Reshape, |permutation| Operation::Transpose { permutation })
}

/// What is wrong with the permutation of a transpose, which its user knows by this name; `None` where nothing is.
pub fn wrong_transpose(operation: &Operation, from: &Shape, to: &Shape, name: &str) -> Option<Error> {
    let Refusal { subject, problem, .. } = operation.check(&[from], &[to]).err()?;
    match subject {
        Subject::Field { entry: None, .. } => Some(Error::new(format!("{name} {problem}"))),
        Subject::Field { entry: Some(k), .. } => Some(Error::new(format!("entry {k} of {name} {problem}"))),
        _ => None,
    }
}

/// A line that says whether bytes move, and which.
pub fn run(MovesOptions { from, to, transpose }: &MovesOptions) -> Result<String, Complaint> {
    let permutation =
        |list: &String| lists::numbers(list).ok_or_else(|| lists::wrong("--transpose", "dimensions such as 1,0", list));
    let operation = operation(transpose.as_ref().map(permutation).transpose()?);
    let shape = |text: &String| Shape::parse(text).map_err(|error| Complaint::in_argument(text, &error));
    let (a, b) = (shape(from)?, shape(to)?);
    if let (Some(list), Some(error)) = (transpose, wrong_transpose(&operation, &a, &b, "--transpose")) {
        return Err(Complaint::in_argument(list, &error));
    }
    let moved = movement(&operation, &a, &b);
    Ok(format!("{}\n", moved.map_err(|error| Complaint::in_argument(to, &error))?))
}
