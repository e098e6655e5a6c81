//! `layout-translate --import-hlo FILE` prints HLO as MLIR.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use tensor_layout::hlo::Module;
use tensor_layout::text::{complaints, nearest};

const USAGE: &str = "\
Turns HLO text into MLIR whose tensors carry the layouts of the text.

Usage: layout-translate --import-hlo [FILE] [-o FILE]

Options:
      --import-hlo   Read HLO as XLA and JAX dump it; without a file, or with -, from standard input
  -o FILE            Write there and not to standard output
  -h, --help         Print this text
  -V, --version      Print the version

Examples:
  layout-translate --import-hlo model.hlo | layout-opt --layout-to-llvm
  layout-translate --import-hlo - -o model.mlir < model.hlo

Exit status:
  0  It worked
  1  Something is wrong with the HLO, or a file cannot be read or written; each error has its line and column
  2  The command line is not that above
";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let (mut import, mut input, mut output, mut options) = (false, None, None, true);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match &**argument {
            file if !options || file == "-" || !file.starts_with('-') => match input {
                None => input = Some(file.to_string()),
                Some(_) => return usage(&format!("`{file}` is a second file: one is read")),
            },
            "--" => options = false,
            "-h" | "--help" => return print(USAGE),
            "-V" | "--version" => {
                return print(concat!("layout-translate ", env!("CARGO_PKG_VERSION"), ", built without MLIR\n"));
            }
            "--import-hlo" | "-import-hlo" => import = true,
            "-o" => match rest.next() {
                Some(file) => output = Some(file.to_string()),
                None => return usage("-o needs a file"),
            },
            other => {
                let near = nearest(other, ["--import-hlo", "--help", "--version", "-o"].into_iter());
                let hint = near.map_or(String::new(), |near| format!(": did you mean `{near}`?"));
                return usage(&format!("unknown option `{other}`{hint}"));
            }
        }
    }
    if !import {
        return usage("--import-hlo is needed");
    }
    let file = input.unwrap_or_else(|| "-".into());
    match run(&file, output.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprint!("{message}");
            ExitCode::from(1)
        }
    }
}

fn usage(wrong: &str) -> ExitCode {
    eprintln!("{wrong}\n\nlayout-translate --help says what there is.");
    ExitCode::from(2)
}

fn print(text: &str) -> ExitCode {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitCode::from(1),
        _ => ExitCode::SUCCESS,
    }
}

fn run(file: &str, output: Option<&str>) -> Result<(), String> {
    let mut bytes = Vec::new();
    let read = match file {
        "-" => io::stdin().lock().read_to_end(&mut bytes).map(|_| ()),
        file => std::fs::read(file).map(|all| bytes = all),
    };
    read.map_err(|error| format!("{file}: error: {error}\n"))?;
    let at = |error: std::string::FromUtf8Error| {
        format!("{file}: error: byte {} is not UTF-8\n", error.utf8_error().valid_up_to())
    };
    let text = String::from_utf8(bytes).map_err(at)?;
    let told = |errors: Vec<_>| complaints(file, &text, &errors);
    let module = Module::parse(&text).map_err(told)?;
    let mlir = layout_translate::import(&module, &text, file).map_err(told)?;
    match output {
        Some(path) if path != "-" => std::fs::write(path, mlir).map_err(|error| format!("{path}: error: {error}\n")),
        _ => match io::stdout().lock().write_all(mlir.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("error: {error}\n")),
            _ => Ok(()),
        },
    }
}
