//! `layout-translate --import-hlo FILE` prints HLO as MLIR.

use clap::{Parser, ValueEnum};
use layout_console::{Complaint, finish, parse_from, read, with_stack, write};
use layout_translate::{Collectives, Options};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
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
    /// Read HLO as XLA and JAX dump it
    #[arg(long, required = true)]
    import_hlo: bool,
    /// What becomes of exchanges between devices: calls of functions that somebody else writes, or what a single device gets
    #[arg(long, value_name = "calls|single", default_value = "calls")]
    collectives: How,
    /// The file to read, - for standard input
    #[arg(default_value = "-")]
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

const AFTER_HELP: &str = "\
Examples:
  layout-translate --import-hlo model.hlo | layout-opt --layout-to-llvm
  layout-translate --import-hlo - -o model.mlir < model.hlo

Exit status:
  0  Success
  1  The HLO is invalid or cannot be imported, or a file cannot be read or written; each error has its line and column
  2  The command line is invalid";

fn main() -> ExitCode {
    with_stack(run)
}

fn run() -> ExitCode {
    let arguments: Arguments = parse_from(two_dashes(std::env::args_os()));
    let collectives = match arguments.collectives {
        How::Calls => Collectives::Calls,
        How::Single => Collectives::Single,
    };
    finish(import(&arguments.file, &arguments.output, Options { collectives }).map(|()| String::new()))
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
fn import(file: &str, output: &Path, options: Options) -> Result<(), Complaint> {
    let text = read(file)?;
    let complaint = |errors: Vec<_>| Complaint::in_file(file, &text, &errors);
    let module = Module::parse(&text).map_err(complaint)?;
    write(output, &layout_translate::import_with(&module, &text, file, options).map_err(complaint)?)
}
