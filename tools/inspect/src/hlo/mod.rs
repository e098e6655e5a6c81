//! `layout-inspect hlo`: the memory that a program takes, and the accesses of its instructions.
//!
//! [`summary`] has the memory report as data, [`measure`] computes it, [`screen`] prints it, [`page`] writes it as HTML
//! and [`trace`] its buffers for Perfetto. [`rows`] computes the listing of the instructions; [`table`] prints it for
//! people, [`mod@json`] for programs, one object a line. Each instruction is printed when it is analysed, and then
//! forgotten.

pub mod dump;
pub mod exhausted;
pub mod json;
pub mod measure;
pub mod occupied;
pub mod origins;
pub mod page;
pub mod rows;
mod screen;
pub mod summary;
mod table;
mod trace;

use crate::clock::Clock;
use crate::layouts::USUAL;
use crate::lists;
use crate::machine::accepted;
use crate::plan::{EntryOption, check_seconds, complaint, spread};
use crate::schedule::{OrderPeaks, OrderedModule, ScheduleOption};
use clap::builder::NonEmptyStringValueParser;
pub use dump::{Dumped, program};
use exhausted::Exhausted;
use layout_console::{Complaint, Stop, check_output, read, stream, warn, write};
pub use measure::Report;
pub use page::{PLAN_SECONDS, PageOptions, WrittenPage, page};
use rows::Program;
pub use screen::{difference, screen};
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use summary::{Bytes, Summary};
use tensor_layout::hlo::Module;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Report the memory of an HLO program: its peak, its padding, its relayouts; with --all each instruction
#[derive(clap::Args)]
pub struct HloOptions {
    /// HLO text as XLA and JAX dump it, the folder of a dump, or an error RESOURCE_EXHAUSTED
    ///
    /// Of several files a line each. Without a file, or with -, standard input. Of a folder, the module that ran out of
    /// memory, or the largest one, in its last stage.
    #[arg(value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    files: Vec<String>,
    /// List all instructions, and what each reads of its operands and feeds of its result
    #[arg(long)]
    all: bool,
    /// List only the instructions of this name
    #[arg(long, value_name = "NAME")]
    instruction: Option<String>,
    /// In the listing, say what a tile of these sizes of each result needs of the operands: 8,128
    ///
    /// Results of another rank are left out; it is an error if no result has this rank.
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true)]
    tile: Option<String>,
    /// Print JSON: one object an instruction, with --summary one object a file
    #[arg(long)]
    json: bool,
    /// Print the report and no listing, which is the default without --json
    #[arg(long, conflicts_with_all = ["all", "instruction", "tile"])]
    summary: bool,
    /// How many tensors, moves and source lines the report has, if not 3; a page of HTML has 30
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    #[arg(long, value_name = "MACHINE", default_value = USUAL, help = accepted(
        "The machine whose layouts are compared with those of tiled tensors"
    ))]
    machine: String,
    /// The order of the instructions that the report is of
    #[arg(long, value_enum, default_value = "file", conflicts_with_all = ["all", "instruction", "tile"])]
    schedule: ScheduleOption,
    /// Print the live bytes of the main memory over the instructions
    #[arg(long, conflicts_with_all = ["all", "instruction", "tile", "summary", "diff"])]
    timeline: bool,
    /// Print what has changed since this file
    #[arg(long, value_name = "OLD", value_parser = NonEmptyStringValueParser::new(), conflicts_with_all = ["all", "instruction", "tile"])]
    diff: Option<String>,
    /// Fail if what is live at the peak of the main memory takes more than this many times its logical bytes: 1.5x
    #[arg(long, value_name = "RATIO", conflicts_with_all = ["all", "instruction", "tile"])]
    fail_over: Option<String>,
    /// Write the report as a page of HTML into this file, - for standard output, and print nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "instruction", "tile", "json", "timeline", "diff"])]
    html: Option<PathBuf>,
    /// Write the buffers over the instructions as a trace into this file, for ui.perfetto.dev, and print nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "instruction", "tile", "json", "timeline", "diff", "html"])]
    trace: Option<PathBuf>,
    /// In the page, put the best plan for the machine beside the program
    #[arg(long, requires = "html")]
    plan: bool,
    /// In the plan, what the arguments and results of the program may be laid out in
    #[arg(long, value_enum, default_value = "default", requires = "plan")]
    entry: EntryOption,
    /// Stop the search for the plan after so many seconds, with the best plan so far
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value_t = PLAN_SECONDS, requires = "plan")]
    seconds: f64,
}

/// The default length of the lists of the report.
pub const TOP: usize = 3;

impl HloOptions {
    /// Names standard input where no file is named. Returns whether it does so and that is a terminal.
    pub fn default_to_standard_input(&mut self) -> bool {
        let none = self.files.is_empty();
        if none {
            self.files.push("-".to_string());
        }
        none && io::stdin().is_terminal()
    }
}

/// Prints the report, or the listing, each instruction as soon as it is known.
pub fn run(options: &HloOptions) -> Result<(), Complaint> {
    let listing = options.all || options.instruction.is_some() || options.tile.is_some();
    let reporting = options.summary
        || !options.schedule.is_file()
        || options.timeline
        || options.diff.is_some()
        || options.fail_over.is_some();
    if listing || options.json && !reporting {
        return list(options);
    }
    let most = options.fail_over.as_deref().map(ratio).transpose()?;
    let target = Target::parse(&options.machine);
    let target = target.map_err(|error| Complaint::in_argument(&options.machine, &error))?;
    if let Some(page) = &options.html {
        return export(options, ("--html", "page", page), &target, &mut |own| html(options, page, &target, own, most));
    }
    if let Some(file) = &options.trace {
        return export(options, ("--trace", "trace", file), &target, &mut |own| trace(file, own, most));
    }
    if let (Some(_), false) = (&options.diff, options.files.len() == 1) {
        return Err(Complaint::new(format!("--diff must have one file, found {}", options.files.len())));
    }
    // An error in one file does not stop the reports of the others.
    let (mut reports, mut wrong, mut over) = (Vec::new(), Vec::new(), Vec::new());
    for file in &options.files {
        match one(options, file, &target, most) {
            Ok(Some((summary, too_much))) => {
                reports.push((&**file, summary));
                over.extend(too_much);
            }
            Ok(None) => {}
            Err(complaint) => wrong.push(complaint),
        }
    }
    if !options.timeline && !reports.is_empty() {
        print(options, &text(options, &target, &reports)?)?;
    }
    wrong.append(&mut over);
    Complaint::together(wrong).map_or(Ok(()), Err)
}

/// The report of one file, and a complaint where padded bytes exceed `most` times the logical bytes. Prints the
/// timeline, if asked, and what an error about memory says, which has no report.
fn one(
    options: &HloOptions,
    file: &str,
    target: &Target,
    most: Option<f64>,
) -> Result<Option<(Summary, Option<Complaint>)>, Complaint> {
    let text = dump::program(file)?.text;
    let (module, peaks) = match ordered(options, file, &text) {
        Ok(found) => found,
        Err(complaint) => {
            let Some(error) = Exhausted::read(&text) else { return Err(complaint) };
            print(options, &exhausted(options, file, &error))?;
            return Ok(None);
        }
    };
    let in_text = |error: Error| Complaint::in_file(file, &text, &[error]);
    let report = Report::new(&module, target).map_err(in_text)?.with_order_peaks(peaks);
    if options.timeline {
        print(options, &timeline(options, file, &report))?;
    }
    // An entry below the top of one report may be in the top of the other: a difference needs all.
    let top = if options.diff.is_some() { usize::MAX } else { options.top.unwrap_or(TOP) };
    let summary = if options.diff.is_some() { report.summary(top) } else { report.advised(top) }.map_err(in_text)?;
    let over = most.and_then(|most| over(file, &report, summary.live_at_peak, most));
    Ok(Some((summary, over)))
}

/// A report, with the file and the text that it is of, and the file with XLA's addresses.
struct Exported<'m> {
    file: &'m str,
    text: &'m str,
    assignment: Option<PathBuf>,
    report: &'m Report<'m>,
}

impl Exported<'_> {
    fn complaint(&self, error: Error) -> Complaint {
        Complaint::in_file(self.file, self.text, &[error])
    }

    /// A complaint where padded bytes exceed `most` times the logical bytes.
    fn over(&self, most: Option<f64>) -> Result<Option<Complaint>, Complaint> {
        let padding = most.map(|most| Ok((most, self.report.summary(0)?.live_at_peak))).transpose();
        let padding = padding.map_err(|error| self.complaint(error))?;
        Ok(padding.and_then(|(most, padding)| over(self.file, self.report, padding, most)))
    }
}

/// Writes the report of one file as the option says: `form` is what it writes, into the file `to`.
fn export(
    options: &HloOptions,
    (option, form, to): (&str, &str, &Path),
    target: &Target,
    write: &mut dyn FnMut(&Exported) -> Result<(), Complaint>,
) -> Result<(), Complaint> {
    check_output(to, &options.files.iter().map(String::as_str).collect::<Vec<_>>())?;
    let [file] = &options.files[..] else {
        return Err(Complaint::new(format!("{option} must have one file, found {}", options.files.len())));
    };
    let Dumped { text, assignment } = dump::program(file)?;
    let not_whole = |complaint| match Exhausted::read(&text) {
        Some(error) => {
            Complaint::about(file, format!("an error has no {form}, since it does not list all: {}", error.next))
        }
        None => complaint,
    };
    let (module, peaks) = ordered(options, file, &text).map_err(not_whole)?;
    let report = Report::new(&module, target).map_err(|error| Complaint::in_file(file, &text, &[error]))?;
    // In another order than XLA's, its addresses may overlap.
    let assignment = assignment.filter(|_| options.schedule.is_file());
    write(&Exported { file, text: &text, assignment, report: &report.with_order_peaks(peaks) })
}

/// Writes the buffers of a program as a trace.
fn trace(to: &Path, own: &Exported, most: Option<f64>) -> Result<(), Complaint> {
    write(to, &trace::trace(own.report).map_err(|error| own.complaint(error))?)?;
    own.over(most)?.map_or(Ok(()), Err)
}

/// Writes a report as a page.
fn html(options: &HloOptions, to: &Path, target: &Target, own: &Exported, most: Option<f64>) -> Result<(), Complaint> {
    check_seconds(options.seconds)?;
    spread::only(target, &[("--plan", options.plan, spread::NO_PAGE)])
        .map_err(|error| Complaint::new(error.message))?;
    let plan = options.plan.then(|| (options.entry, Clock::new(Some(options.seconds))));
    let assignment = own.assignment.as_ref().map(|path| read(&path.to_string_lossy())).transpose()?;
    let asked =
        PageOptions { machine: &options.machine, target, top: options.top, plan, assignment: assignment.as_deref() };
    let WrittenPage { html, unplanned, unassigned } = page(own.report, asked).map_err(|error| own.complaint(error))?;
    if let (Some(error), Some(path), Some(text)) = (unassigned, &own.assignment, &assignment) {
        warn(&Complaint::warnings(&path.to_string_lossy(), text, &[error]));
    }
    write(to, &html)?;
    let unplanned = unplanned.map(|why| complaint(own.file, own.text, why));
    Complaint::together(unplanned.into_iter().chain(own.over(most)?).collect()).map_or(Ok(()), Err)
}

/// The reports in the format of the options.
fn text(options: &HloOptions, target: &Target, reports: &[(&str, Summary)]) -> Result<String, Complaint> {
    let object = |(file, summary): &(&str, Summary)| {
        let mut object = json!(summary);
        object["file"] = json!(file);
        format!("{object}\n")
    };
    match (&options.diff, reports) {
        (Some(old), [new]) => {
            let text = dump::program(old)?.text;
            let module = module(old, &text)?;
            let before = Report::new(&module, target).and_then(|report| report.summary(usize::MAX));
            let before = before.map_err(|error| Complaint::in_file(old, &text, &[error]))?;
            Ok(if options.json {
                format!("{}\n", json!({"old": before, "new": new.1}))
            } else {
                difference(&before, &new.1, options.top.unwrap_or(TOP))
            })
        }
        _ if options.json => Ok(reports.iter().map(object).collect()),
        _ if options.files.len() == 1 => Ok(reports.iter().map(|(_, summary)| screen(summary)).collect()),
        _ => Ok(screen::several(reports)),
    }
}

/// The timeline of a file, under its name where there are several.
fn timeline(options: &HloOptions, file: &str, report: &Report) -> String {
    /// The lines of a screen.
    const STEPS: usize = 40;
    let live = report.timeline(0);
    if options.json {
        let all: Vec<_> = live.iter().map(|(name, bytes)| json!({"name": name, "bytes": bytes})).collect();
        return format!("{}\n", json!({"file": file, "timeline": all}));
    }
    let name = if options.files.len() > 1 { format!("{file}\n") } else { String::new() };
    name + &screen::timeline(&live, STEPS)
}

fn print(options: &HloOptions, text: &str) -> Result<(), Complaint> {
    stream(|out| Ok(out.write_all(text.as_bytes())?)).map_err(|stop| stop.complaint(&options.files[0]))
}

/// The content of an error RESOURCE_EXHAUSTED, in the format of the options.
fn exhausted(options: &HloOptions, file: &str, error: &Exhausted) -> String {
    if !options.json {
        return error.screen(options.top.unwrap_or(TOP));
    }
    let mut object = json!(error);
    object["file"] = json!(file);
    format!("{object}\n")
}

/// A module in the order of the options, and the file's peaks with the bounds.
fn ordered(options: &HloOptions, file: &str, text: &str) -> Result<(Module, Option<OrderPeaks>), Complaint> {
    let ordered = OrderedModule::new(module(file, text)?, options.schedule);
    let ordered = ordered.map_err(|error| Complaint::in_file(file, text, &[error]))?;
    Ok((ordered.module, ordered.schedule.map(|(_, peaks)| peaks)))
}

/// The module of a text.
fn module(file: &str, text: &str) -> Result<Module, Complaint> {
    let module = Module::parse(text).map_err(|errors| {
        let other = Exhausted::other(text).filter(|_| !text.contains("HloModule"));
        Complaint::in_file(file, text, &other.map_or(errors, |error| vec![error]))
    })?;
    warn(&Complaint::warnings(file, text, &module.warnings));
    Ok(module)
}

/// The listing.
fn list(options: &HloOptions) -> Result<(), Complaint> {
    let [file] = &options.files[..] else {
        let listing = if options.json { "the listing, which --json without --summary prints," } else { "the listing" };
        return Err(Complaint::new(format!("{listing} must have one file, found {}", options.files.len())));
    };
    let sizes = options.tile.as_deref().map(sizes).transpose()?;
    let text = dump::program(file)?.text;
    let mut program = Program::new(&text, sizes).map_err(|errors| Complaint::in_file(file, &text, &errors))?;
    warn(&Complaint::warnings(file, &text, program.warnings()));
    drop(text);
    let about = |Error { message, .. }| Complaint::about(file, message);
    let chosen = program.chosen(options.instruction.as_deref()).map_err(about)?;
    program.check_tile(&chosen, "--tile").map_err(about)?;
    let write = |out: &mut dyn Write| -> Result<(), Stop> {
        if options.json { json::objects(&mut program, &chosen, out) } else { table::table(&mut program, &chosen, out) }
    };
    stream(write).map_err(|stop| stop.complaint(file))
}

/// The sizes of a tile.
fn sizes(list: &str) -> Result<Vec<i64>, Complaint> {
    let sizes = lists::numbers(list).filter(|sizes| sizes.iter().all(|n| *n > 0));
    sizes.ok_or_else(|| lists::wrong("--tile", "positive sizes such as 8,128", list))
}

/// A ratio such as `1.5x` or `1.5`.
fn ratio(text: &str) -> Result<f64, Complaint> {
    let ratio = text.strip_suffix('x').unwrap_or(text).parse().ok().filter(|ratio: &f64| ratio.is_finite());
    ratio
        .filter(|ratio| *ratio >= 1.0)
        .ok_or_else(|| lists::wrong("--fail-over", "a ratio of at least 1 such as 1.5x", text))
}

/// A complaint about a program whose padded bytes exceed `most` times its logical bytes.
fn over(file: &str, report: &Report, Bytes { logical, padded }: Bytes, most: f64) -> Option<Complaint> {
    if padded as f64 <= logical as f64 * most {
        return None;
    }
    let worst = report.most_padded(0);
    let worst = worst.map_or(String::new(), |tensor| format!("; most padding has {} {}", tensor.name, tensor.shape));
    let found =
        if logical == 0 { "all is padding".to_string() } else { format!("{:.2}x", padded as f64 / logical as f64) };
    Some(Complaint::about(
        file,
        format!("what is live at the peak must take at most {most}x its logical bytes, found {found}{worst}"),
    ))
}
