//! `layout-inspect algebra`: calculations with layouts.

use layout_console::{Complaint, write};
use std::path::PathBuf;
use tensor_layout::drawing::{MOST, draw_function};
use tensor_layout::notations::expression::operations;
use tensor_layout::notations::{Answer, calculate};
use tensor_layout::text::{Error, choices};

/// Calculate with layouts as functions: compose, invert, divide, multiply and compare them
#[derive(clap::Args)]
pub struct AlgebraOptions {
    #[arg(value_name = "EXPRESSION", help = format!(
        "The expression: layouts in any notation, 'A o B', 'A == B', or an operation such as complement(A, 64): {}",
        choices(&operations())
    ))]
    text: String,
    /// Draw the layout as an SVG picture into this file, - for standard output, and print nothing else
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The value of the expression, or its picture in a file.
pub fn run(AlgebraOptions { text, svg }: &AlgebraOptions) -> Result<String, Complaint> {
    let wrong = |error: Error| Complaint::in_argument(text, &error);
    let answer = calculate(text).map_err(wrong)?;
    let Some(file) = svg else { return Ok(format!("{answer}\n")) };
    let Answer::Layout(layout) = answer else {
        return Err(wrong(Error::at(0, "a picture is of a layout, found another value")));
    };
    write(file, &draw_function(&layout, [MOST; 2]))?;
    Ok(String::new())
}
