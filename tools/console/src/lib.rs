//! The shared code of the command-line tools.
//!
//! A tool is a function from its arguments to the text that it prints, or to a [`Complaint`] about its input:
//!
//! ```no_run
//! use layout_console::{Complaint, finish, parse, read, with_stack};
//!
//! /// Counts the lines of a file.
//! #[derive(clap::Parser)]
//! struct Arguments {
//!     file: String,
//! }
//!
//! fn lines(arguments: &Arguments) -> Result<String, Complaint> {
//!     Ok(format!("{}\n", read(&arguments.file)?.lines().count()))
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     with_stack(|| finish(lines(&parse())))
//! }
//! ```
//!
//! The exit status is 0 for success, 1 for invalid input, 2 for an invalid command line and 3 for a bug of the tool.

mod arguments;
mod complaint;
mod files;
mod guard;
mod stack;

pub use arguments::{parse, parse_from};
pub use complaint::Complaint;
pub use files::{Stop, check_output, finish, print, read, stream, to, warn, write};
pub use guard::{guarded, report_panics};
pub use stack::{with_room, with_stack};
