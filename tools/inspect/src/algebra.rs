//! `layout-inspect algebra`: calculations with layouts.

use layout_console::Complaint;
use tensor_layout::notations::calculate;

/// Calculate with layouts as functions: compose, invert, divide, multiply and compare them
#[derive(clap::Args)]
pub struct AlgebraOptions {
    /// The expression: 'A o B', 'A == B', complement(A, 64), inverse(A); layouts in any notation
    #[arg(value_name = "EXPRESSION")]
    text: String,
}

/// The value of the expression.
pub fn run(AlgebraOptions { text }: &AlgebraOptions) -> Result<String, Complaint> {
    let answer = calculate(text).map_err(|error| Complaint::in_argument(text, &error))?;
    Ok(format!("{answer}\n"))
}
