//! Shows the properties of a layout, without a compiler.
//!
//! `layout-inspect 'f32[3,5]{1,0:T(2,2)}'` prints sizes, waste, the index map and the picture of offsets;
//! `layout-inspect '((4_PE, 3:8), (8:1))'` the places of the elements, and the elements of each place. Each subcommand
//! has a file with its options and its function; `layout-inspect --json` is the line protocol of `protocol`.

mod advice;
mod algebra;
mod clock;
mod convert;
mod copies;
mod hlo;
mod layouts;
mod library;
mod lists;
mod machine;
mod maps;
mod moves;
mod numbers;
mod offsets;
mod places;
mod plan;
mod protocol;
mod report;
mod schedule;
mod solve;
mod stopwatch;
mod svg;
mod text_picture;
mod view;

pub use library::{
    PlanQuestion, Unwritten, Written, layout_plan, memory_difference, memory_page, memory_report, memory_tensors,
    program_text,
};
pub use moves::wrong_transpose;
pub use plan::EntryOption;
pub use protocol::answers;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use layout_console::{Complaint, finish, parse, with_stack, write};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tensor_layout::text::{Error, nearest};

/// Show what the layout of a tensor does, and simplify indexing maps
#[derive(Parser)]
#[command(
    name = "layout-inspect",
    version = concat!(env!("CARGO_PKG_VERSION"), ", built without MLIR"),
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The shape or the layout
    #[arg(value_name = "SHAPE|LAYOUT", required_unless_present_any = ["json", "schema"])]
    text: Option<String>,
    /// Draw an SVG picture into this file, - for standard output, and print nothing else
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Read one JSON request a line from standard input, answer one line each
    #[arg(long, exclusive = true)]
    json: bool,
    /// Print the JSON schema of the requests and the answers
    #[arg(long, exclusive = true)]
    schema: bool,
}

#[derive(Subcommand)]
enum Command {
    View(view::ViewOptions),
    Simplify(maps::SimplifyOptions),
    Hlo(hlo::HloOptions),
    Layouts(layouts::LayoutsOptions),
    Machine(machine::MachineOptions),
    Moves(moves::MovesOptions),
    Algebra(algebra::AlgebraOptions),
    Convert(convert::ConvertOptions),
    Solve(solve::SolveOptions),
    Plan(plan::PlanOptions),
    CheckPlan(plan::proof::CheckOptions),
    Offsets(offsets::OffsetsOptions),
}

const LONG_ABOUT: &str = "\
Show what the layout of a tensor does, and simplify indexing maps

Without a command, print the sizes of a shape or layout, its waste, its index map and a picture of its offsets or places.
SHAPE is a shape with its layout, as XLA writes it: f32[3,5]{1,0:T(2,2)}
LAYOUT is a TensorLayout: ((4_PE, 3:8), (8:1)), (10,7)/((3:7, 4_PE), (7:1)), (2:3, 3:1)";

const AFTER_HELP: &str = "\
Examples:
  layout-inspect 'bf16[384,72]{1,0:T(8,128)(2,1)S(1)}'
  layout-inspect '((4_PE, 3:8), (8:1))' --svg places.svg
  layout-inspect view '(2:3, 3:1)' --slice 0:2,1:3
  layout-inspect simplify --explain '(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 3]'
  layout-inspect hlo model.hlo
  layout-inspect hlo model.hlo --fail-over 1.5x
  layout-inspect hlo model.hlo --instruction dot --tile 8,128
  layout-inspect layouts 's32[8388608,8,4]'
  layout-inspect plan model.hlo --machine tpu_v5e --entry free
  layout-inspect moves 'f32[8,128]{1,0}' 'f32[128,8]{1,0}' --transpose 1,0
  echo '{\"op\":\"linear_index\",\"text\":\"f32[3,5]{1,0:T(2,2)}\",\"index\":[2,3]}' | layout-inspect --json

Exit status:
  0  Success; with --json alone also if requests fail: their answers have the errors
  1  A text, a file or the value of an option is invalid
  2  The command line is invalid
  3  Internal error: a bug of the tool";

/// The program `layout-inspect`, with the arguments of the process.
pub fn main() -> ExitCode {
    with_stack(run)
}

fn run() -> ExitCode {
    let mut arguments: Arguments = parse();
    if let Some(Command::Hlo(options)) = &mut arguments.command
        && options.default_to_standard_input()
    {
        let message = "expected the name of a file, or HLO text on standard input";
        Arguments::command().error(ErrorKind::MissingRequiredArgument, message).exit();
    }
    finish(match &arguments.command {
        Some(Command::View(options)) => view::run(options),
        Some(Command::Simplify(options)) => maps::run(options),
        Some(Command::Hlo(options)) => hlo::run(options).map(|()| String::new()),
        Some(Command::Layouts(options)) => layouts::run(options),
        Some(Command::Machine(options)) => machine::run(options),
        Some(Command::Moves(options)) => moves::run(options),
        Some(Command::Algebra(options)) => algebra::run(options),
        Some(Command::Convert(options)) => convert::run(options),
        Some(Command::Solve(options)) => solve::run(options),
        Some(Command::Plan(options)) => plan::run(options),
        Some(Command::CheckPlan(options)) => plan::proof::run(options),
        Some(Command::Offsets(options)) => offsets::run(options),
        None if arguments.json => serve(),
        None if arguments.schema => Ok(protocol::schema()),
        None => inspect(&arguments),
    })
}

/// Serves the line protocol on standard input and output. A reader that has closed its end is no error.
fn serve() -> Result<String, Complaint> {
    match protocol::serve(io::stdin().lock(), io::stdout().lock()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Complaint::new(error)),
        _ => Ok(String::new()),
    }
}

/// The report on a shape or a layout, or its picture in a file.
fn inspect(arguments: &Arguments) -> Result<String, Complaint> {
    let text = arguments.text.as_deref().unwrap_or_default();
    let Some(file) = &arguments.svg else {
        return report::report(text).map_err(|error| Complaint::in_argument(text, &hinted(text, error)));
    };
    let picture = svg::draw(text).map_err(|error| Complaint::in_argument(text, &error))?;
    write(file, &picture)?;
    Ok(String::new())
}

/// The error with a hint at the command that may be meant: a name like `mvoes`, or `hlo` for the name of a file.
fn hinted(text: &str, error: Error) -> Error {
    let arguments = Arguments::command();
    let path = Path::new(text);
    if path.is_file() || path.extension().is_some_and(|extension| extension == "hlo") {
        let message = format!("expected a shape or a layout, found the name of a file; did you mean `hlo {text}`?");
        return error.with_message(message).with_offset(Some(0));
    }
    if text.starts_with(['{', '#']) {
        let message = format!("{error}; a layout must have its shape before it, such as f32[3,5]{{1,0:T(8,128)}}");
        return error.with_message(message);
    }
    match nearest(text, arguments.get_subcommands().map(clap::Command::get_name)) {
        Some(near) => {
            let message = format!("{error}; did you mean the command `{near}`?");
            error.with_message(message)
        }
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_misspelled_command_is_recognised() {
        let hint = |text| hinted(text, Error::new("wrong")).message;
        assert_eq!(hint("mvoes"), "wrong; did you mean the command `moves`?");
        assert_eq!(hint("f32[2]"), "wrong");
        assert_eq!(hint("{1,0}"), "wrong; a layout must have its shape before it, such as f32[3,5]{1,0:T(8,128)}");
        let file = "expected a shape or a layout, found the name of a file; did you mean `hlo ";
        assert_eq!(hint("model.hlo"), format!("{file}model.hlo`?"));
        assert_eq!(hint("Cargo.toml"), format!("{file}Cargo.toml`?"));
    }
}
