//! The operations on whole programs and problems: `dump`, `hlo`, `plan`, `check_plan`, `solve`, `offsets`.

use super::answer::{Answer, Failure};
use super::request::{CheckPlan, Dump, Hlo, Object, Offsets, Plan, Solve};
use crate::clock::Clock;
use crate::hlo::dump::{self, Chosen};
use crate::hlo::exhausted::Exhausted;
use crate::hlo::json::each;
use crate::hlo::measure::Report;
use crate::hlo::rows::Program;
use crate::hlo::{PLAN_SECONDS, PageOptions, TOP, difference, page};
use crate::offsets::{Buffers, STEPS};
use crate::plan::answer::{Names, PlanAnswer};
use crate::plan::proof::{Unproved, checked};
use crate::plan::{Capacities, EntryOption, PlanRequest, located, planned, spread};
use crate::schedule::OrderedModule;
use crate::solve::network;
use layout_console::Stop;
use layout_plan::plan::Unplanned;
use layout_plan::solver::Options;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use tensor_layout::hlo::Module;
use tensor_layout::offsets::SearchLimits;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Passes all answers but the last one to `say`, and returns that one.
///
/// # Errors
/// Only errors of `say`.
pub fn answer(request: &Hlo, say: &mut dyn FnMut(Answer) -> io::Result<()>) -> io::Result<Result<Answer, Failure>> {
    if request.summary || request.html || request.old.is_some() {
        return Ok(report(request));
    }
    let (program, chosen) = match chosen(request) {
        Ok(found) => found,
        Err(failure) => return Ok(Err(Failure::of_field("text", failure))),
    };
    match rows(program, &chosen, say) {
        Ok(answer) => Ok(Ok(answer)),
        Err(Stop::Wrong(error)) => Ok(Err(Failure::of_field("text", error))),
        Err(Stop::Output(error)) => Err(error),
    }
}

fn report(request: &Hlo) -> Result<Answer, Failure> {
    if request.html && request.old.is_some() {
        let message = "`html` and `old` ask for two answers, expected one of them";
        return Err(Failure::of_field("old", Error::new(message)));
    }
    let target = Target::parse(&request.machine).map_err(|error| Failure::of_field("machine", error))?;
    let module = match Module::parse(&request.text) {
        Ok(module) => module,
        Err(errors) => {
            let error = Exhausted::read(&request.text);
            return error
                .map(|error| Answer::Exhausted(Box::new(error)))
                .ok_or_else(|| Failure::of_field("text", first(errors)));
        }
    };
    let of_text = |error| Failure::of_field("text", error);
    let OrderedModule { module, schedule } = OrderedModule::new(module, request.schedule).map_err(of_text)?;
    let report = Report::new(&module, &target).map_err(of_text)?.with_order_peaks(schedule.map(|(_, peaks)| peaks));
    if request.html {
        return paged(request, &report, &target);
    }
    let top = request.top.unwrap_or(TOP);
    match &request.old {
        Some(old) => compared(old, &report, &target, top),
        None => Ok(Answer::Report(Box::new(report.advised(top).map_err(of_text)?))),
    }
}

/// A report as a page.
fn paged(request: &Hlo, report: &Report, target: &Target) -> Result<Answer, Failure> {
    let seconds = checked_seconds(request.seconds)?.unwrap_or(PLAN_SECONDS);
    let plan = request.plan.then_some((request.entry, Clock::new(Some(seconds)).silent()));
    let no_plan = [("plan", request.plan, spread::NO_PAGE)];
    spread::only(target, &no_plan).map_err(|error| Failure::of_field("plan", error))?;
    let assignment = request.assignment.as_deref();
    let options = PageOptions { machine: &request.machine, target, top: request.top, plan, assignment };
    let written = page(report, options).map_err(|error| Failure::of_field("text", error))?;
    match written.unassigned {
        Some(error) => Err(Failure::of_field("assignment", error)),
        None => Ok(Answer::Page { html: written.html }),
    }
}

/// The difference of a report from that of an older module.
fn compared(old: &str, report: &Report, target: &Target, top: usize) -> Result<Answer, Failure> {
    let of_old = |error| Failure::of_field("old", error);
    let module = Module::parse(old).map_err(first).map_err(of_old)?;
    let old = Report::new(&module, target).and_then(|report| report.summary(usize::MAX)).map_err(of_old)?;
    let new = report.summary(usize::MAX).map_err(|error| Failure::of_field("text", error))?;
    Ok(Answer::Difference { difference: difference(&old, &new, top) })
}

/// The module of a dump folder.
pub fn dump(request: &Dump) -> Result<Answer, Failure> {
    let files = request.files.iter().map(|Object(file)| (PathBuf::from(&file.name), file.bytes));
    let Chosen { module, assignment, others, .. } = dump::chosen(files.collect()).map_err(Error::new)?;
    let [file, assignment] =
        [Some(module), assignment].map(|path| path.map(|path| path.to_string_lossy().into_owned()));
    Ok(Answer::Chosen { file: file.unwrap_or_default(), assignment, others })
}

/// The program of a request and its requested instructions.
fn chosen(request: &Hlo) -> Result<(Program, Vec<(usize, usize)>), Failure> {
    if request.tile.iter().flatten().any(|size| *size < 1) {
        return Err(Failure::of_field("tile", Error::new("`tile` must have positive sizes")));
    }
    let program = Program::new(&request.text, request.tile.clone()).map_err(first)?;
    let chosen = program.chosen(request.instruction.as_deref());
    let chosen = chosen.map_err(|error| Failure::of_field("instruction", error))?;
    program.check_tile(&chosen, "`tile`").map_err(|error| Failure::of_field("tile", error))?;
    Ok((program, chosen))
}

fn rows(
    mut program: Program,
    chosen: &[(usize, usize)],
    say: &mut dyn FnMut(Answer) -> io::Result<()>,
) -> Result<Answer, Stop> {
    each(&mut program, chosen, &mut |object| match json!(object) {
        Value::Object(row) => Ok(say(Answer::Row { more: true, row })?),
        _ => Ok(()),
    })?;
    Ok(Answer::End { more: false, rows: chosen.len() })
}

/// A plan.
pub fn plan(request: &Plan) -> Result<Answer, Failure> {
    let target = Target::parse(&request.machine).map_err(|error| Failure::of_field("machine", error))?;
    let module = Module::parse(&request.text).map_err(first).map_err(|error| Failure::of_field("text", error))?;
    let ordered = OrderedModule::new(module, request.schedule);
    let module = ordered.map_err(|error| Failure::of_field("text", error))?.module;
    let stated: Vec<String> = request.capacity.iter().map(|(space, bytes)| format!("{space}={bytes}")).collect();
    let capacities = Capacities::parse(&target, &stated);
    let capacities = capacities.map_err(|(_, error)| Failure::of_field("capacity", error.with_offset(None)))?;
    let capacities = Capacities { unlimited: request.unlimited, stay: request.stay, ..capacities };
    let mut clock = Clock::of_plan(checked_seconds(request.seconds)?).silent();
    let wrong = |why: Unplanned| Failure::of_field("text", located(&module, &target, why));
    let names = Names { module: &module, target: &target };
    let fixed = request.entry == EntryOption::Fixed;
    for (field, asked) in [("entry", fixed), ("compare", request.compare)] {
        let asked = [(field, asked, spread::NO_FILE_LAYOUTS)];
        spread::only(&target, &asked).map_err(|error| Failure::of_field(field, error))?;
    }
    let asked = PlanRequest { entry: request.entry, capacities: &capacities };
    let answer = planned(&names, asked, (request.room_for_steps, request.compare), &mut clock).map_err(wrong)?;
    Ok(Answer::Plan(Box::new(PlanAnswer { schedule: request.schedule, ..answer })))
}

/// Checks a plan against its proof.
pub fn check_plan(request: &CheckPlan) -> Result<Answer, Failure> {
    let found = checked(&request.text, &request.certificate).map_err(|why| match why {
        Unproved::Program(errors) => Failure::of_field("text", first(errors)),
        Unproved::Proof(error) => Failure::of_field("certificate", error),
    })?;
    Ok(Answer::Proved { cost: found.cost, bound: found.bound, unit: found.unit })
}

/// Choices of least cost.
pub fn solve(request: &Solve) -> Result<Answer, Failure> {
    let network = network(&request.text).map_err(|error| Failure::of_field("text", error))?;
    let mut clock = Clock::new(checked_seconds(request.seconds)?).silent();
    let limits = Options { threads: 2, ..Options::default() };
    let found = layout_plan::solver::solve(&network, &limits, &mut |progress| clock.go_on(progress));
    let solution = found.map_err(|why| Failure::of_field("text", Error::new(why.to_string())))?;
    Ok(Answer::Solution {
        cost: solution.cost(),
        bound: solution.bound(),
        optimal: solution.optimal(),
        choices: solution.choices().to_vec(),
    })
}

/// Offsets in one memory.
pub fn offsets(request: &Offsets) -> Result<Answer, Failure> {
    let at_least = |name: &'static str, number: i64, least: i64| match number {
        number if number >= least => Ok(number),
        _ => Err(Failure::of_field(name, Error::new(format!("`{name}` must be {least} or more, found {number}")))),
    };
    let alignment = at_least("alignment", request.alignment.unwrap_or(1), 1)?;
    let capacity = request.capacity.map(|bytes| at_least("capacity", bytes, 0)).transpose()?;
    let buffers = Buffers::read(&request.text, alignment).map_err(|errors| Failure::of_field("text", first(errors)))?;
    let limits = SearchLimits { capacity, steps: request.steps.unwrap_or(STEPS) };
    let arena = buffers.arena(&limits).map_err(|error| Failure::of_field("text", error))?;
    Ok(Answer::Offsets(buffers.answer(&arena)))
}

/// The time limit of a request, in seconds.
fn checked_seconds(seconds: Option<f64>) -> Result<Option<f64>, Failure> {
    match seconds {
        Some(seconds) if !seconds.is_finite() || seconds < 0.0 => {
            let message = format!("`seconds` must be a number from 0, found {seconds}");
            Err(Failure::of_field("seconds", Error::new(message)))
        }
        seconds => Ok(seconds),
    }
}

/// The first error of a text, with the number of the others.
fn first(errors: Vec<Error>) -> Error {
    let more = errors.len().saturating_sub(1);
    let first = errors.into_iter().next().unwrap_or_else(|| Error::new("the text is invalid"));
    match more {
        0 => first,
        more => {
            let message = format!("{first}, and {more} more errors");
            first.with_message(message)
        }
    }
}
