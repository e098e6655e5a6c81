//! `layout-translate --import-hlo FILE` prints HLO as MLIR.

use clap::builder::NonEmptyStringValueParser;
use clap::{Parser, ValueEnum};
use layout_console::{Complaint, check_output, finish, parse_from, read, to, warn, with_stack};
use layout_translate::{Collectives, Elided, Failure, Options};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use tensor_layout::hlo::Module;

/// Turn HLO text into MLIR whose tensors carry the layouts of the text
#[derive(Parser)]
#[command(
    name = "layout-translate",
    version = concat!(env!("CARGO_PKG_VERSION"), ", built without MLIR"),
    after_help = AFTER_HELP
)]
struct Arguments {
    /// Read HLO as XLA and JAX dump it, or StableHLO
    #[arg(long, required = true, visible_alias = "import-stablehlo")]
    import_hlo: bool,
    /// What becomes of exchanges between devices: calls of functions that somebody else writes, or what a single device gets
    #[arg(long, value_name = "calls|single", default_value = "calls")]
    collectives: How,
    /// What becomes of constants whose value the text leaves out: globals that a runner defines, or errors
    #[arg(long, value_name = "resource|error", default_value = "resource")]
    elided_constants: Constants,
    /// The file to read, - for standard input
    #[arg(default_value = "-", value_parser = NonEmptyStringValueParser::new())]
    file: String,
    /// Write the result into this file, - for standard output
    #[arg(short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum How {
    Calls,
    Single,
}

impl From<How> for Collectives {
    fn from(how: How) -> Collectives {
        match how {
            How::Calls => Collectives::Calls,
            How::Single => Collectives::Single,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Constants {
    Resource,
    Error,
}

impl From<Constants> for Elided {
    fn from(constants: Constants) -> Elided {
        match constants {
            Constants::Resource => Elided::Resource,
            Constants::Error => Elided::Error,
        }
    }
}

const AFTER_HELP: &str = "\
Examples:
  layout-translate --import-hlo model.hlo | layout-opt --layout-to-llvm
  layout-translate --import-hlo - -o model.mlir < model.hlo

Exit status:
  0  Success
  1  The HLO is invalid or cannot be imported, or a file cannot be read or written; each error has its line and column
  2  The command line is invalid
  3  Internal error: a bug of the tool";

fn main() -> ExitCode {
    with_stack(run)
}

fn run() -> ExitCode {
    let arguments: Arguments = parse_from(two_dashes(std::env::args_os()));
    finish(import(&arguments).map(|()| String::new()))
}

/// The command line with `--import-hlo` for `-import-hlo`, which MLIR's own tools accept, too.
fn two_dashes(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut options = true;
    given
        .map(|argument| {
            options &= argument != "--";
            if options && argument == "-import-hlo" { "--import-hlo".into() } else { argument }
        })
        .collect()
}

/// Reads a file of HLO and writes its module as MLIR.
fn import(arguments: &Arguments) -> Result<(), Complaint> {
    let file = &arguments.file;
    check_output(&arguments.output, &[file])?;
    let text = read(file)?;
    let module = Module::parse(&text).map_err(|errors| Complaint::in_file(file, &text, &errors))?;
    warn(&Complaint::warnings(file, &text, &module.warnings));
    let options = Options { collectives: arguments.collectives.into(), elided: arguments.elided_constants.into() };
    let written = to(&arguments.output, |out| layout_translate::write(&module, &text, file, options, out));
    match written.map_err(|error| Complaint::about(&arguments.output.display().to_string(), error))? {
        Ok(warnings) => {
            warn(&Complaint::warnings(file, &text, &warnings));
            Ok(())
        }
        Err(Failure::Wrong(errors)) => Err(Complaint::in_file(file, &text, &errors)),
        Err(Failure::Output(error)) => Err(Complaint::about(&arguments.output.display().to_string(), error)),
    }
}
