//! The library for other programs: the reports on a text, as JSON and as text.

use crate::clock::Clock;
use crate::hlo::exhausted::Exhausted;
use crate::hlo::{self, Dumped, PageOptions, Report, difference, page, screen};
use crate::plan::answer::Names;
use crate::plan::{self, Capacities, EntryOption, PlanRequest};
use layout_console::{Complaint, guarded, read, with_room};
use layout_plan::plan::Unplanned;
use serde_json::json;
use tensor_layout::hlo::Module;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// A report for programs and for people.
#[derive(Clone, Debug)]
pub struct Written {
    /// A JSON object.
    pub json: String,
    /// Lines of at most 100 columns, the warnings about the text before them.
    pub text: String,
}

/// Why there is no report.
#[derive(Clone, Debug)]
pub enum Unwritten {
    /// The text of the machine is wrong.
    Machine(Error),
    /// The HLO text is wrong: all its errors, at least one. Or a bug was met, which is one error.
    Program(Vec<Error>),
    /// The text of a capacity is wrong.
    Capacity(String, Error),
}

impl From<Error> for Unwritten {
    fn from(error: Error) -> Unwritten {
        Unwritten::Program(vec![error])
    }
}

/// The warnings about a text, as the command line prints them to standard error.
fn warned(text: &str, module: &Module) -> String {
    Complaint::warnings("HLO", text, &module.warnings).plain()
}

/// Makes a report on a stack of its own; a panic in it is an error.
fn alone<T: Send>(report: impl FnOnce() -> Result<T, Unwritten> + Send) -> Result<T, Unwritten> {
    with_room(|| guarded(report).unwrap_or_else(|bug| Err(bug.into())))
}

/// The answer that `say` makes of the report on HLO text.
fn reported<T: Send>(
    text: &str,
    machine: &str,
    say: impl FnOnce(&Report) -> Result<T, Error> + Send,
) -> Result<T, Unwritten> {
    alone(|| {
        let target = Target::parse(machine).map_err(Unwritten::Machine)?;
        let module = Module::parse(text).map_err(Unwritten::Program)?;
        Ok(say(&Report::new(&module, &target)?)?)
    })
}

/// The page of HLO text: as from `layout-inspect hlo --html`, with at most `top` entries in each list. With the text of
/// XLA's buffer assignment the addresses are XLA's.
///
/// # Errors
/// As of [`memory_report`].
pub fn memory_page(text: &str, assignment: Option<&str>, machine: &str, top: usize) -> Result<String, Unwritten> {
    let target = Target::parse(machine).map_err(Unwritten::Machine)?;
    let asked = PageOptions { machine, target: &target, top: Some(top), plan: None, assignment };
    reported(text, machine, |report| Ok(page(report, asked)?.html))
}

/// All tensors of HLO text, the largest first: a JSON list of the objects that `worst` of a report has.
///
/// # Errors
/// As of [`memory_report`].
pub fn memory_tensors(text: &str, machine: &str) -> Result<String, Unwritten> {
    reported(text, machine, |report| {
        let (tensors, _, _) = report.tensors(usize::MAX, 0)?;
        Ok(json!(tensors.into_iter().map(|own| own.tensor).collect::<Vec<_>>()).to_string())
    })
}

/// The difference of two programs: as from `layout-inspect hlo --diff`, with at most `top` lines of the program.
///
/// # Errors
/// As of [`memory_report`].
pub fn memory_difference(texts: [&str; 2], machine: &str, top: usize) -> Result<String, Unwritten> {
    let [before, after] = texts.map(|text| reported(text, machine, |report| report.summary(usize::MAX)));
    Ok(difference(&before?, &after?, top))
}

/// The text of a file, decompressed where gzip or zstd compressed it, or of the module of a dump folder, and that of the
/// buffer assignment in the same folder, if there is one.
///
/// # Errors
/// A file cannot be read or holds no text, or the folder has no module.
pub fn program_text(file: &str) -> Result<(String, Option<String>), Error> {
    let found = hlo::program(file).and_then(|Dumped { text, assignment }| {
        let assignment = assignment.map(|path| read(&path.to_string_lossy())).transpose()?;
        Ok((text, assignment))
    });
    found.map_err(|complaint| Error::new(complaint.plain().trim_end()))
}

/// The memory report of HLO text: as `layout-inspect hlo`, with at most `top` entries in each list. The JSON object is
/// as from `--summary --json`, also of an error about memory.
///
/// # Errors
/// The machine or the HLO text is wrong, or 64 bits do not hold the bytes.
pub fn memory_report(text: &str, machine: &str, top: usize) -> Result<Written, Unwritten> {
    alone(|| {
        let target = Target::parse(machine).map_err(Unwritten::Machine)?;
        let module = match Module::parse(text) {
            Ok(module) => module,
            Err(errors) => {
                let error = Exhausted::read(text).ok_or(Unwritten::Program(errors))?;
                return Ok(Written { json: json!(error).to_string(), text: error.screen(top) });
            }
        };
        let summary = Report::new(&module, &target)?.advised(top)?;
        Ok(Written { json: json!(summary).to_string(), text: warned(text, &module) + &screen(&summary) })
    })
}

/// The question of a plan.
#[derive(Clone, Debug)]
pub struct PlanQuestion<'a> {
    /// The machine: a name, or the text of a machine.
    pub machine: &'a str,
    /// The layouts that the arguments and results may have.
    pub entry: EntryOption,
    /// The capacities of memories, as `vmem=16777216`, or `none` for those of the machine, too.
    pub capacity: &'a [String],
    /// The time for the search.
    pub seconds: Option<f64>,
    /// Whether the text's own layouts are reported as a plan, too.
    pub compare: bool,
}

/// The plan of layouts for HLO text: as `layout-inspect plan`.
///
/// # Errors
/// The machine, a capacity or the HLO text is wrong, no plan is possible, or the layouts of the text cannot be
/// compared.
pub fn layout_plan(text: &str, question: &PlanQuestion) -> Result<Written, Unwritten> {
    alone(|| {
        let target = Target::parse(question.machine).map_err(Unwritten::Machine)?;
        let capacities = Capacities::parse(&target, question.capacity);
        let capacities = capacities.map_err(|(text, error)| Unwritten::Capacity(text, error))?;
        let module = Module::parse(text).map_err(Unwritten::Program)?;
        let planned = || {
            let names = Names { module: &module, target: &target };
            let mut clock = Clock::of_plan(question.seconds).silent();
            let asked = [("entry", question.entry == EntryOption::Fixed), ("compare", question.compare)];
            let asked = asked.map(|(name, asked)| (name, asked, plan::spread::NO_FILE_LAYOUTS));
            plan::spread::only(&target, &asked).map_err(|error| Unplanned::Wrong(None, error))?;
            let asked = PlanRequest { entry: question.entry, capacities: &capacities };
            plan::planned(&names, asked, (false, question.compare), &mut clock)
        };
        let answer = planned().map_err(|why| plan::located(&module, &target, why))?;
        Ok(Written { json: plan::json(&answer).to_string(), text: warned(text, &module) + &plan::text::text(&answer) })
    })
}
