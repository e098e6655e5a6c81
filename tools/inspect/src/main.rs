//! Shows what a layout does, without a compiler.
//!
//! `layout-inspect 'f32[3,5]{1,0:T(2,2)}'` prints sizes, waste, the index map and the picture of offsets;
//! `layout-inspect '((4_PE, 3:8), (8:1))'` the places of the elements, and what each place holds.
//! `layout-inspect view LAYOUT` says whether a reshape, transpose or slice is a view.
//! `layout-inspect simplify MAP` simplifies an indexing map, and with `--explain` says how.
//! `layout-inspect --json` serves programs: one request a line, one answer a line, in order; see [`json`].

mod convert;
mod hlo;
mod json;
mod maps;
mod picture;
mod places;
mod report;
mod svg;
mod usage;

use std::io::{self, Read, Write};
use std::process::ExitCode;
use tensor_layout::analysis::movement;
use tensor_layout::operations::Operation;
use tensor_layout::places::Slice;
use tensor_layout::text::Error;

const USAGE: &str = "\
Shows what the layout of a tensor does, and simplifies indexing maps.

Usage: layout-inspect SHAPE [--svg FILE]
       layout-inspect LAYOUT [--svg FILE]
       layout-inspect view LAYOUT --reshape SIZES | --transpose DIMENSIONS | --slice SLICES
       layout-inspect simplify [--explain] MAP
       layout-inspect hlo FILE [--instruction NAME] [--tile SIZES] [--json]
       layout-inspect moves SHAPE SHAPE [--transpose DIMENSIONS]
       layout-inspect convert LAYOUT LAYOUT [--machine MACHINE] [--element TYPE] [--blocks]
       layout-inspect --json

SHAPE is a shape with its layout, as XLA writes it: f32[3,5]{1,0:T(2,2)}
LAYOUT is a TensorLayout: ((4_PE, 3:8), (8:1)), (10,7)/((3:7, 4_PE), (7:1)), (2:3, 3:1)
MAP is an indexing map: (d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 7]
FILE is HLO text, - for standard input; printed are its instructions, and what each reads and feeds
`view` prints the layout of a reshape, transpose or slice of a layout, or of a shape, if that is a view, and else why not
`moves` says whether going from the first shape to the second, as a reshape or a transpose, is a mere bitcast
`convert` says what moves where from the first layout to the second
MACHINE is mn_core, mn_core_2, tpu_like, or axes: (..), memories: (..), word: 64

Options:
      --explain  Print the steps of the simplification, and the rules they stand on
      --instruction NAME
                 Only the instructions of this name
      --tile SIZES
                 Say what a tile of each result needs of the operands: 8,128
      --transpose DIMENSIONS
                 The dimension of the first shape that each of the second is: 1,0
      --reshape SIZES
                 The sizes of the view: 3,2
      --slice SLICES
                 First index, limit and step of each dimension: 0:2,0:3:2
      --svg FILE
                 Draw an SVG picture into this file, - for standard output, and print nothing else
      --machine MACHINE
                 The tree of places, with its memories; without it, the axes as the layouts name them
      --element TYPE
                 The type of the elements, f32 if not said
      --blocks   List the strided copies that do it
      --json     With `hlo`, print one JSON object an instruction. Alone, read one JSON request a line from standard input, answer one line each
  -h, --help     Print this text
  -V, --version  Print the version

Examples:
  layout-inspect 'bf16[384,72]{1,0:T(8,128)(2,1)S(1)}'
  layout-inspect '((4_PE, 3:8), (8:1))' --svg places.svg
  layout-inspect view '(2:3, 3:1)' --slice 0:2,1:3
  layout-inspect simplify --explain '(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 3]'
  layout-inspect hlo model.hlo --instruction dot --tile 8,128
  layout-inspect moves 'f32[8,128]{1,0}' 'f32[128,8]{1,0}' --transpose 1,0
  echo '{\"op\":\"linear_index\",\"text\":\"f32[3,5]{1,0:T(2,2)}\",\"index\":[2,3]}' | layout-inspect --json

Exit status:
  0  It worked; with `--json` alone also where a request was wrong, which its answer says
  1  Something is wrong with a text or a file, or with what an option was given
  2  The command line is none of those above
";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let arguments: Vec<&str> = arguments.iter().map(|argument| &**argument).collect();
    let done = match arguments[..] {
        ["-h" | "--help"] => print(USAGE),
        ["-V" | "--version"] => print(concat!("layout-inspect ", env!("CARGO_PKG_VERSION"), ", built without MLIR\n")),
        ["--json"] => json::serve(io::stdin().lock(), io::stdout().lock()).map(|()| true),
        ["hlo", ..] => match hlo_options(&arguments[1..]) {
            Some(options) => inspect_hlo(&options),
            None => return wrong(&arguments),
        },
        ["convert", ..] => match convert::Options::parse(&arguments[1..]) {
            Some(options) => match convert::convert(&options) {
                Ok(found) => print(&found),
                Err((text, error)) => show(text, Err(error)),
            },
            None => return wrong(&arguments),
        },
        ["moves", from, to] => moves(from, to, None),
        ["moves", from, to, "--transpose", list] | ["moves", "--transpose", list, from, to] => {
            moves(from, to, Some(list))
        }
        ["view", text, option @ ("--reshape" | "--transpose" | "--slice"), list]
        | ["view", option @ ("--reshape" | "--transpose" | "--slice"), list, text] => {
            show(text, view(text, option, list))
        }
        [text, "--svg", file] | ["--svg", file, text] => draw(text, file),
        ["simplify", text] | ["simplify", "--", text] if arguments.len() == 3 || text != "--explain" => {
            show(text, maps::simplify(text, false))
        }
        ["simplify", "--explain", text] | ["simplify", "--explain", "--", text] | ["simplify", text, "--explain"] => {
            show(text, maps::simplify(text, true))
        }
        [text] | ["--", text]
            if arguments.len() == 2 || !text.starts_with('-') && !["simplify", "view", "moves"].contains(&text) =>
        {
            let hinted = |error: Error| Error { message: error.message + &usage::command_hint(USAGE, text), ..error };
            show(text, report::report(text).map_err(hinted))
        }
        _ => return wrong(&arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        // Whoever reads the answers has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("layout-inspect: {error}");
            ExitCode::from(1)
        }
    }
}

/// Says what is wrong with the command line.
fn wrong(arguments: &[&str]) -> ExitCode {
    let tile = arguments.iter().position(|argument| *argument == "--tile").and_then(|at| arguments.get(at + 1));
    if tile.is_some_and(|sizes| numbers(sizes).is_none()) {
        eprintln!("error: --tile takes sizes, such as 8,128");
        return ExitCode::from(1);
    }
    eprintln!("{}\n\nlayout-inspect --help says what there is.", usage::wrong(USAGE, arguments));
    ExitCode::from(2)
}

/// What is asked of an HLO file.
struct HloOptions<'a> {
    file: &'a str,
    instruction: Option<&'a str>,
    tile: Option<Vec<i64>>,
    json: bool,
}

/// Numbers between commas.
fn numbers(list: &str) -> Option<Vec<i64>> {
    list.split(',').map(|n| n.trim().parse().ok()).collect()
}

/// Numbers of dimensions between commas.
fn dimensions(list: &str) -> Option<Vec<usize>> {
    list.split(',').map(|n| n.trim().parse().ok()).collect()
}

/// The view of a layout.
fn view(text: &str, option: &str, list: &str) -> Result<String, Error> {
    let layout = report::placement(text)?.layout().clone();
    let wrong = |what: &str| Error::new(format!("{option} takes {what}"));
    let found = match option {
        "--reshape" => layout.reshaped(&numbers(list).ok_or_else(|| wrong("sizes, such as 3,2"))?)?,
        "--transpose" => {
            let permutation = dimensions(list).ok_or_else(|| wrong("dimensions, such as 1,0"))?;
            layout.transposed(&permutation)?
        }
        _ => layout.sliced(&slices(list).ok_or_else(|| wrong("slices, such as 0:2,0:3:2"))?)?,
    };
    Ok(format!("layout    {}\noffset    {}\n", found.layout, found.offset))
}

/// First index, limit and step between colons, a step of 1 left out.
fn slices(list: &str) -> Option<Vec<Slice>> {
    let slice = |text: &str| match text.split(':').map(|n| n.trim().parse().ok()).collect::<Option<Vec<_>>>()?[..] {
        [start, limit] => Some(Slice { start, limit, step: 1 }),
        [start, limit, step] => Some(Slice { start, limit, step }),
        _ => None,
    };
    list.split(',').map(slice).collect()
}

/// Writes the picture of a text into a file; says whether there is one.
fn draw(text: &str, file: &str) -> io::Result<bool> {
    let picture = match svg::draw(text) {
        Ok(picture) => picture,
        Err(error) => return show(text, Err(error)),
    };
    if file == "-" {
        return print(&picture);
    }
    if let Err(error) = std::fs::write(file, picture) {
        eprintln!("{file}: error: {error}");
        return Ok(false);
    }
    Ok(true)
}

/// Says whether an operation between two shapes moves bytes.
fn moves(from: &str, to: &str, transpose: Option<&str>) -> io::Result<bool> {
    let operation = match transpose.map(dimensions) {
        None => Operation::Reshape,
        Some(list) => {
            let Some(permutation) = list else {
                eprintln!("error: --transpose takes dimensions, such as 1,0");
                return Ok(false);
            };
            Operation::Transpose { permutation }
        }
    };
    let mut shapes = Vec::new();
    for text in [from, to] {
        match tensor_layout::operations::Shape::parse(text) {
            Ok(shape) => shapes.push(shape),
            Err(error) => return show(text, Err(error)),
        }
    }
    let found = movement(&operation, &shapes[0], &shapes[1]).map(|moved| format!("{}\n", hlo::said(&moved)));
    show(to, found)
}

fn hlo_options<'a>(mut arguments: &[&'a str]) -> Option<HloOptions<'a>> {
    let (mut file, mut only, mut tile, mut json) = (None, None, None, false);
    while let [first, rest @ ..] = arguments {
        arguments = rest;
        match *first {
            "--json" => json = true,
            "--instruction" => {
                let [name, rest @ ..] = rest else { return None };
                (only, arguments) = (Some(*name), rest);
            }
            "--tile" => {
                let [sizes, rest @ ..] = rest else { return None };
                (tile, arguments) = (Some(numbers(sizes)?), rest);
            }
            name if (name == "-" || !name.starts_with('-')) && file.is_none() => file = Some(name),
            _ => return None,
        }
    }
    Some(HloOptions { file: file?, instruction: only, tile, json })
}

/// Prints what the instructions of a file read and feed; says whether that worked.
fn inspect_hlo(options: &HloOptions) -> io::Result<bool> {
    let HloOptions { file, instruction: only, ref tile, json } = *options;
    let read = match file {
        "-" => io::stdin().lock().bytes().collect::<io::Result<Vec<u8>>>(),
        file => std::fs::read(file),
    };
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{file}: error: {error}");
            return Ok(false);
        }
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: error: byte {} is not UTF-8", error.utf8_error().valid_up_to());
            return Ok(false);
        }
    };
    let mut report = match hlo::Report::new(&text, tile.clone()) {
        Ok(report) => report,
        Err(errors) => {
            eprint!("{}", tensor_layout::text::complaints(file, &text, &errors));
            return Ok(false);
        }
    };
    let found = match json {
        true => report.json(only).map(|all| all.iter().map(|object| format!("{object}\n")).collect()),
        false => report.table(only),
    };
    match found {
        Ok(found) => print(&found),
        Err(error) => {
            eprintln!("{file}: error: {error}");
            Ok(false)
        }
    }
}

/// Prints what was found in a text, or what is wrong with the text; says whether it was found.
fn show(text: &str, found: Result<String, Error>) -> io::Result<bool> {
    match found {
        Ok(found) => print(&found),
        Err(error) => {
            eprint!("{}", complaint(text, &error));
            Ok(false)
        }
    }
}

fn print(text: &str) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(true)
}

/// An error with the line of the text at fault and a caret under the column.
fn complaint(text: &str, error: &Error) -> String {
    let Some(at) = error.at else { return format!("error: {error}\n") };
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or("");
    // A tab stays a tab, so that the caret stands under its column wherever the tab stops are.
    let indent: String = text[start..at].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    format!("error: {error}\n  {line}\n  {indent}^\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_column() {
        let text = "(f32[2],\n/*é*/\tf32[2]{1})";
        let error = tensor_layout::operations::Shape::parse(text).unwrap_err();
        let expected = "error: dimension 1 in minor_to_major is out of range: the last is 0\n  /*é*/\tf32[2]{1})\n       \t       ^\n";
        assert_eq!(complaint(text, &error), expected);
        let end = tensor_layout::operations::Shape::parse("f32[").unwrap_err();
        assert!(complaint("f32[", &end).ends_with("\n  f32[\n      ^\n"));
        assert_eq!(complaint("f32[2]", &Error::new("no place")), "error: no place\n");
    }
}
