//! The stages of `layout-verify`.

use super::verify::{flag, option, steps};
use crate::analysis::origins;
use crate::pass::diagnostic::{Diagnostic, Severity};
use layout_ir::{self as ir, Op};
use layout_verify::{Finding, Limits, Source};
use melior::ir::Location;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

/// The option of a file to which answers are added, as it may have those of several modules.
const REPORT: &str = "report";

/// The pass that hands the numbers of operations on to the code that it replaces them by.
const HANDS_ON: &str = "layout-lower-memrefs";

/// The state of the pass between its stages.
#[derive(Default)]
pub(crate) struct State<'c> {
    source: Option<Source<'c>>,
    /// The report, with one line for each function.
    report: String,
    /// The text of the program whose operations have numbers, for the witness.
    numbered: Option<String>,
}

/// Stage `number` of the pass: records the program after the passes so far, and after the last one compares. Returns
/// the pass that runs next.
///
/// # Errors
/// A program that computes something else.
pub(crate) fn run<'c>(
    module: Op<'c>,
    (passes, options): (&[String], &str),
    number: usize,
    state: &mut State<'c>,
) -> Result<Option<String>, Vec<Diagnostic<'c>>> {
    let allows = |option: &str| {
        passes.iter().any(|pass| {
            let mut values = pass.split([' ', '{', '}']).filter_map(|word| word.strip_prefix(option));
            values.any(|value| !matches!(value, "=0" | "=false"))
        })
    };
    let limits = || -> Result<Limits, Vec<Diagnostic<'c>>> {
        let wrong = |message| vec![Diagnostic::error(ir::location(module), message)];
        Ok(Limits {
            steps: steps(options).map_err(wrong)?,
            reassociate: allows("reassociate"),
            contract: allows("contract"),
            approximate: allows("approximate"),
            interfaces: passes.iter().any(|pass| pass.contains("entry=default") || pass.contains("entry=free")),
            arenas: passes.iter().any(|pass| pass.contains("arena=argument")),
            spaces: passes.iter().any(|pass| pass.starts_with("layout-strip-memory-spaces")),
            obligations: option(options, "smt").is_some(),
        })
    };
    let remarks = flag(options, "remarks", true);
    let last = number.checked_sub(1).and_then(|last| passes.get(last));
    let next = passes.get(number).cloned();
    let hands_on = next.as_ref().is_some_and(|pass| pass.trim_start().starts_with(HANDS_ON));
    if hands_on {
        origins::number(module);
    }
    match &mut state.source {
        // The program of one process computes a part of the former program: another program.
        Some(source) if last.is_some_and(|last| begins_anew(module, last)) => {
            state.report += &told(source, module, passes, remarks)?;
            state.source = Some(Source::new(module, limits()?));
        }
        Some(source) if number > 0 => source.note(module, number),
        _ => *state = State { source: Some(Source::new(module, limits()?)), ..State::default() },
    }
    if let (Some(source), true) = (&mut state.source, hands_on) {
        source.note_numbered(module);
        state.numbered = option(options, "witness").map(|_| module.to_string());
    }
    let (None, Some(source)) = (&next, &mut state.source) else { return Ok(next) };
    let witness = state.numbered.take().map(|numbered| format!("{numbered}// -----\n{module}"));
    origins::forget(module);
    let write = |name: &str, text: &dyn Fn() -> String| {
        let Some(file) = option(options, name) else { return Ok(()) };
        let wrong = |error| Diagnostic::error(ir::location(module), format!("cannot write {name}={file}: {error}"));
        write_file(file, &text(), name == REPORT).map_err(|error| vec![wrong(error)])
    };
    write("witness", &|| witness.clone().unwrap_or_default())?;
    state.report += &told(source, module, passes, remarks)?;
    write("smt", &|| source.obligations())?;
    write(REPORT, &|| state.report.clone())?;
    Ok(None)
}

/// Writes a file, or adds to it.
fn write_file(file: &str, text: &str, adds: bool) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).write(true).append(adds).truncate(!adds).open(file)?;
    file.write_all(text.as_bytes())
}

/// Whether a pass made the program of a process, or its messages: its result is not compared with the former program.
fn begins_anew(module: Op, pass: &str) -> bool {
    let made = match pass.split('{').next().unwrap_or_default().trim() {
        "layout-partition" => "shard.",
        "layout-shard-to-mpi" => "mpi.",
        _ => return false,
    };
    ir::all_operations(module).into_iter().any(|op| ir::name(op).starts_with(made))
}

/// The location of the first operation of a module: that of a module without a line of its own is line 0.
fn first_location<'c>(module: Op<'c>) -> Location<'c> {
    let first = ir::blocks(module).into_iter().flat_map(ir::operations).next();
    ir::location(first.unwrap_or(module))
}

/// Compares the recorded program with the one before; with `remarks`, reports everything that is not shown. Returns one
/// line for each function.
fn told<'c>(
    source: &mut Source<'c>,
    module: Op<'c>,
    passes: &[String],
    remarks: bool,
) -> Result<String, Vec<Diagnostic<'c>>> {
    let errors = source.check();
    let first = first_location(module);
    let diagnostic = |finding: &Finding, after: &str| Diagnostic {
        severity: if finding.is_error { Severity::Error } else { Severity::Remark },
        location: finding.location(module).unwrap_or(first),
        message: format!("{after}@{}: {}", finding.function, finding.message),
        notes: vec![],
    };
    if !errors.is_empty() {
        let after = |number: usize| passes.get(number - 1).map_or(String::new(), |pass| format!("after {pass}: "));
        return Err(errors.iter().map(|(number, finding)| diagnostic(finding, &after(*number))).collect());
    }
    let open = source.open();
    if remarks {
        open.iter().for_each(|finding| crate::pass::upstream::emit(&diagnostic(finding, "")));
    }
    let mut lines = String::new();
    for (function, evidence) in source.shown() {
        let _ = writeln!(lines, "@{function}: {evidence}");
    }
    for finding in open {
        let _ = writeln!(lines, "@{}: {}", finding.function, finding.message);
    }
    Ok(lines)
}
