//! `layout-inspect moves`: whether a reshape or a transpose between two shapes moves bytes; or with `--copies` the
//! strided copies of a relayout or a slice.

use crate::lists;
use layout_console::Complaint;
use std::fmt::Write;
use tensor_layout::analysis::movement;
use tensor_layout::operations::{Array, Operation, Refusal, Shape, Subject};
use tensor_layout::text::Error;
use tensor_layout::tiled::Layout;
use tensor_layout::transfers::{CopyRules, StridedCopy, Window, strided_copies};

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
    /// List the strided copies that bring the elements of the second shape from the first: offsets and strides in elements
    #[arg(long)]
    copies: bool,
    /// The second shape is a slice of the first, from this index on, as in 8,0
    #[arg(long, value_name = "INDEX", requires = "copies", conflicts_with = "transpose", allow_hyphen_values = true)]
    start: Option<String>,
    /// The most loops of a copy
    #[arg(long, value_name = "LOOPS", requires = "copies", value_parser = clap::value_parser!(u8).range(1..))]
    rank: Option<u8>,
    /// Copy padding, too, where that needs fewer copies
    #[arg(long, requires = "copies")]
    padding: bool,
}

/// The operation: a transpose where a permutation is given.
pub fn operation(transpose: Option<Vec<usize>>) -> Operation {
    transpose.map_or(Operation::Reshape, |permutation| Operation::Transpose { permutation })
}

/// The error in the permutation of a transpose, named `name` in the message; `None` if there is none.
pub fn wrong_transpose(operation: &Operation, from: &Shape, to: &Shape, name: &str) -> Option<Error> {
    let Refusal { subject, problem, .. } = operation.check(&[from], &[to]).err()?;
    match subject {
        Subject::Field { entry: None, .. } => Some(Error::new(format!("{name} {problem}"))),
        Subject::Field { entry: Some(k), .. } => Some(Error::new(format!("entry {k} of {name} {problem}"))),
        _ => None,
    }
}

/// Prints whether bytes move, and which; or the strided copies.
pub fn run(options: &MovesOptions) -> Result<String, Complaint> {
    let MovesOptions { from, to, transpose, .. } = options;
    let permutation =
        |list: &String| lists::numbers(list).ok_or_else(|| lists::wrong("--transpose", "dimensions such as 1,0", list));
    let permutation = transpose.as_ref().map(permutation).transpose()?;
    let operation = operation(permutation.clone());
    let shape = |text: &String| Shape::parse(text).map_err(|error| Complaint::in_argument(text, &error));
    let (a, b) = (shape(from)?, shape(to)?);
    if let (Some(list), Some(error)) = (transpose, wrong_transpose(&operation, &a, &b, "--transpose")) {
        return Err(Complaint::in_argument(list, &error));
    }
    if options.copies {
        let index =
            |list: &String| lists::numbers(list).ok_or_else(|| lists::wrong("--start", "an index such as 8,0", list));
        let start = options.start.as_ref().map(index).transpose()?;
        let rules = rules(options.rank.map(usize::from), options.padding);
        let found = copies(&a, &b, permutation.as_deref(), (start.as_deref(), "--start"), &rules);
        let found = found.map_err(|error| Complaint::in_argument(to, &error))?;
        return Ok(listed(&found, [&a, &b]));
    }
    let moved = movement(&operation, &a, &b);
    Ok(format!("{}\n", moved.map_err(|error| Complaint::in_argument(to, &error))?))
}

/// The rules for copies: their most loops, and whether they may write padding.
pub fn rules(rank: Option<usize>, padding: bool) -> CopyRules {
    let rules = CopyRules::default();
    let rules = rank.map_or(rules, |rank| rules.with_rank(rank));
    if padding { rules.with_padding() } else { rules }
}

/// The copies of a relayout, of a transpose, or of a slice from index `start`, named `name` in messages.
///
/// # Errors
/// A shape is no array; errors of [`strided_copies`].
pub fn copies(
    from: &Shape,
    to: &Shape,
    permutation: Option<&[usize]>,
    (start, name): (Option<&[i64]>, &str),
    rules: &CopyRules,
) -> Result<Vec<StridedCopy>, Error> {
    let (Shape::Array(from), Shape::Array(to)) = (from, to) else {
        return Err(Error::new("both shapes must be arrays"));
    };
    let sizes = to.sizes().ok_or_else(|| Error::new(format!("each size must be known, found {to}")))?;
    let mut source = from.clone();
    if let Some(permutation) = permutation {
        source = transposed(from, permutation)?;
    }
    if start.is_none() && source.sizes().as_ref() != Some(&sizes) {
        let message = format!("the sizes must be those of {source}, found {to}; give {name} for a slice");
        return Err(Error::new(message));
    }
    let mut window = Window::whole(&sizes);
    window.from = start.map_or(window.from, <[i64]>::to_vec);
    strided_copies(&source, to, &window, rules)
}

/// The same memory with dimension `permutation[k]` as dimension `k`.
fn transposed(array: &Array, permutation: &[usize]) -> Result<Array, Error> {
    let sizes = array.sizes().ok_or_else(|| Error::new(format!("each size must be known, found {array}")))?;
    let place = |dim: &usize| permutation.iter().position(|of| of == dim).unwrap_or(*dim);
    let minor_to_major = array.layout.minor_to_major.iter().map(place).collect();
    let layout = Layout { minor_to_major, ..array.layout.clone() };
    let sizes: Vec<i64> = permutation.iter().map(|dim| sizes[*dim]).collect();
    Array::new(array.element, &sizes, layout)
}

/// A line for their sum, then one for each copy.
fn listed(copies: &[StridedCopy], [from, to]: [&Shape; 2]) -> String {
    let space = |shape: &Shape| if let Shape::Array(array) = shape { array.layout.memory_space } else { 0 };
    let elements: i64 = copies.iter().map(StridedCopy::elements).sum();
    let s = if copies.len() == 1 { "y" } else { "ies" };
    let mut out = format!(
        "{} strided cop{s} of {elements} elements from memory {} to {}\n",
        copies.len(),
        space(from),
        space(to)
    );
    for copy in copies {
        let list = |list: &[i64]| list.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let _ = writeln!(
            out,
            "[{}] from {} by [{}] to {} by [{}]",
            list(&copy.sizes),
            copy.from,
            list(&copy.from_strides),
            copy.to,
            list(&copy.to_strides)
        );
    }
    out
}
