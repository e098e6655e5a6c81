//! The stages of `layout-verify`.

use super::verify::{flag, option, steps};
use crate::analysis::origins;
use crate::models;
use crate::pass::diagnostic::{Diagnostic, Severity};
use crate::pass::options::CheckWitnessOptions;
use crate::pass::upstream::emit;
use layout_dialect::ORIGINS;
use layout_ir::{self as ir, Builder, Op, Rewriter};
use layout_verify::{Finding, Limits, Source};
use melior::ir::attribute::{AttributeLike, StringAttribute};
use melior::ir::operation::{OperationLike, OperationMutLike, OperationPrintingFlags};
use melior::ir::{BlockLike, Location, Module};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

/// The option of a file to which answers are added, as it may have those of several modules.
const REPORT: &str = "report";

/// The pass that makes kernels where the option `kernels` names none. It hands the numbers of operations on.
const MAKES_KERNELS: &str = "layout-lower-memrefs";

/// The names of the two programs in a witness.
const PROGRAMS: [&str; 2] = ["before", "after"];

/// The state of the pass between its stages.
#[derive(Default)]
pub(crate) struct State<'c> {
    source: Option<Source<'c>>,
    /// The report, with one line for each function.
    report: String,
    /// The witness, up to the program whose operations have numbers.
    witness: Option<Module<'c>>,
}

/// Stage `number` of the pass: records the program after the passes so far, and after the last one compares. Returns
/// the pass that runs next.
///
/// # Errors
/// A program that computes something else.
pub(crate) fn run<'c>(
    rewriter: &'c Rewriter,
    (passes, options): (&[String], &str),
    number: usize,
    state: &mut State<'c>,
) -> Result<Option<String>, Vec<Diagnostic<'c>>> {
    let module = rewriter.root();
    let wrong = |message| vec![Diagnostic::error(ir::location(module), message)];
    let limits = limits(passes, options).map_err(wrong)?;
    let remarks = flag(options, "remarks", true);
    let last = number.checked_sub(1).and_then(|last| passes.get(last));
    let next = passes.get(number).cloned();
    let makes_kernels = makes_kernels(passes, options).map_err(wrong)?;
    let hands_on = next.as_ref().is_some_and(|pass| name_of(pass) == makes_kernels);
    if hands_on {
        origins::number(module);
    }
    let program = models::expanded(rewriter, module)?;
    layout_verify::read_resources_by(layout_dialect::resource_data);
    match &mut state.source {
        // The program of one process computes a part of the former program: another program.
        Some(source) if last.is_some_and(|last| begins_anew(module, last)) => {
            state.report += &told(source, module, passes, remarks)?;
            state.source = Some(Source::new(program, limits));
        }
        Some(source) if number > 0 => source.note(program, number),
        _ => *state = State { source: Some(Source::new(program, limits)), ..State::default() },
    }
    if let (Some(source), true) = (&mut state.source, hands_on) {
        source.note_numbered(program);
        state.witness = option(options, "witness").map(|_| Module::new(ir::location(module)));
        state.witness.iter().for_each(|witness| add_program(witness, PROGRAMS[0], program));
    }
    let (None, Some(source)) = (&next, &mut state.source) else { return Ok(next) };
    let witness = state.witness.take();
    witness.iter().for_each(|witness| add_program(witness, PROGRAMS[1], program));
    origins::forget(module);
    let write = |name: &str, text: &dyn Fn() -> String| {
        let Some(file) = option(options, name) else { return Ok(()) };
        let wrong = |error| Diagnostic::error(ir::location(module), format!("cannot write {name}={file}: {error}"));
        write_file(file, &text(), name == REPORT).map_err(|error| vec![wrong(error)])
    };
    write("witness", &|| witness.as_ref().map_or_else(String::new, witness_text))?;
    state.report += &told(source, module, passes, remarks)?;
    write("smt", &|| source.obligations())?;
    write(REPORT, &|| state.report.clone())?;
    Ok(None)
}

/// The changes that the passes may make, by their options.
fn limits(passes: &[String], options: &str) -> Result<Limits, String> {
    let allows = |option: &str| {
        passes.iter().any(|pass| {
            let mut values = pass.split([' ', '{', '}']).filter_map(|word| word.strip_prefix(option));
            values.any(|value| !matches!(value, "=0" | "=false"))
        })
    };
    Ok(Limits {
        steps: steps(options)?,
        reassociate: allows("reassociate"),
        contract: allows("contract"),
        approximate: allows("approximate"),
        interfaces: passes.iter().any(|pass| pass.contains("entry=default") || pass.contains("entry=free")),
        arenas: passes.iter().any(|pass| pass.contains("arena=argument")),
        spaces: passes.iter().any(|pass| pass.starts_with("layout-strip-memory-spaces")),
        obligations: option(options, "smt").is_some(),
        exact_origins: false,
    })
}

/// The pass before which operations get numbers.
fn makes_kernels<'o>(passes: &[String], options: &'o str) -> Result<&'o str, String> {
    match option(options, "kernels") {
        None => Ok(MAKES_KERNELS),
        Some(name) if passes.iter().any(|pass| name_of(pass) == name) => Ok(name),
        Some(name) => Err(format!("kernels names `{name}`, which is not one of the passes")),
    }
}

/// The name of a pass in the text of a pipeline.
fn name_of(pass: &str) -> &str {
    pass.split('{').next().unwrap_or_default().trim()
}

/// Adds a copy of a program to a witness.
fn add_program(witness: &Module, name: &str, program: Op) {
    let mut copy = (*program).clone();
    copy.set_attribute("sym_name", StringAttribute::new(Builder::before(program).context(), name).into());
    witness.body().append_operation(copy);
}

/// The text of a witness: in the generic form if it has transfers, as MLIR reads their attributes in no other.
fn witness_text(witness: &Module) -> String {
    let root = witness.as_operation();
    let has_transfers = ir::all_operations(root).into_iter().any(|op| ir::name(op).starts_with("memref.dma_"));
    let flags = OperationPrintingFlags::new();
    let flags = if has_transfers { flags.print_generic_operation_form() } else { flags };
    format!("{}\n", root.to_string_with_flags(flags).unwrap_or_default())
}

/// Compares the two programs of a witness, and reports how each function is shown.
///
/// # Errors
/// A module that is no witness, a kernel that is not what its origins say, and a program that computes something else.
pub(crate) fn check_witness<'c>(module: Op<'c>, options: CheckWitnessOptions) -> Result<(), Vec<Diagnostic<'c>>> {
    let programs: Vec<Op> = ir::blocks(module).into_iter().flat_map(ir::operations).collect();
    let named = |op: &Op<'c>| ir::attribute(*op, "sym_name").and_then(ir::text);
    let names: Vec<&str> = programs.iter().filter(|op| ir::name(**op) == "builtin.module").filter_map(named).collect();
    let ([before, after], true) = (&programs[..], names == PROGRAMS) else {
        let message = "expected the modules @before and @after, which layout-verify writes with witness=FILE";
        return Err(vec![Diagnostic::error(ir::location(module), message)]);
    };
    check_origin_types(module)?;
    let limits = Limits {
        steps: Some(options.steps).filter(|steps| *steps > 0),
        reassociate: options.reassociate,
        contract: options.contract,
        approximate: options.approximate,
        interfaces: false,
        arenas: options.arenas,
        spaces: false,
        obligations: false,
        exact_origins: true,
    };
    let mut source = Source::new(*before, limits);
    source.note_numbered(*before);
    source.note(*after, 1);
    told(&mut source, *after, &[], true)?;
    let functions = ir::blocks(*after).into_iter().flat_map(ir::operations);
    let named: HashMap<&str, Op> = functions.filter_map(|op| Some((named(&op)?, op))).collect();
    for (function, evidence) in source.shown() {
        let location = named.get(function).map_or(ir::location(*after), |op| ir::location(*op));
        emit(&Diagnostic::remark(location, format!("@{function}: {evidence}")));
    }
    Ok(())
}

/// Checks that the numbers of operations are arrays of 64-bit integers: others would be none.
fn check_origin_types<'c>(module: Op<'c>) -> Result<(), Vec<Diagnostic<'c>>> {
    let is_wrong = |op: &Op<'c>| ir::attribute(*op, ORIGINS).is_some_and(|numbers| !numbers.is_dense_i64_array());
    let wrong = ir::all_operations(module).into_iter().filter(is_wrong);
    let errors: Vec<_> = wrong
        .map(|op| Diagnostic::error(ir::location(op), format!("expected {ORIGINS} to be an array<i64: ..>")))
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Writes a file, or adds to it.
fn write_file(file: &str, text: &str, adds: bool) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).write(true).append(adds).truncate(!adds).open(file)?;
    file.write_all(text.as_bytes())
}

/// Whether a pass made the program of a process, or its messages: its result is not compared with the former program.
fn begins_anew(module: Op, pass: &str) -> bool {
    let made = match name_of(pass) {
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
        open.iter().for_each(|finding| emit(&diagnostic(finding, "")));
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
