//! The operation `hlo`: an answer for each instruction, or the report.

use super::answer::{Answer, Failure};
use super::request::Hlo;
use crate::hlo::json::each;
use crate::hlo::measure::Report;
use crate::hlo::rows::Program;
use layout_console::Stop;
use serde_json::{Value, json};
use std::io;
use tensor_layout::hlo::Module;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Says all answers but the last one, which it returns.
///
/// # Errors
/// Only those of `say`.
pub fn answer(request: &Hlo, say: &mut dyn FnMut(Answer) -> io::Result<()>) -> io::Result<Result<Answer, Failure>> {
    if request.summary {
        return Ok(report(request));
    }
    match rows(request, say) {
        Ok(answer) => Ok(Ok(answer)),
        Err(Stop::Wrong(error)) => Ok(Err(error.into())),
        Err(Stop::Output(error)) => Err(error),
    }
}

fn report(request: &Hlo) -> Result<Answer, Failure> {
    let target = Target::parse(&request.machine).map_err(|error| Failure::of_field("machine", error))?;
    let module = Module::parse(&request.text).map_err(first).map_err(|error| Failure::of_field("text", error))?;
    let summary = Report::new(&module, &target).and_then(|report| report.summary(request.top));
    Ok(Answer::Report(Box::new(summary.map_err(|error| Failure::of_field("text", error))?)))
}

fn rows(request: &Hlo, say: &mut dyn FnMut(Answer) -> io::Result<()>) -> Result<Answer, Stop> {
    if request.tile.iter().flatten().any(|size| *size < 1) {
        return Err(Error::new("`tile` must have positive sizes").into());
    }
    let mut program = Program::new(&request.text, request.tile.clone()).map_err(first)?;
    let chosen = program.chosen(request.instruction.as_deref())?;
    program.check_tile(&chosen)?;
    each(&mut program, &chosen, &mut |object| match json!(object) {
        Value::Object(row) => Ok(say(Answer::Row { more: true, row })?),
        _ => Ok(()),
    })?;
    Ok(Answer::End { more: false, rows: chosen.len() })
}

/// The first error of a text, and how many there are.
fn first(errors: Vec<Error>) -> Error {
    let more = errors.len().saturating_sub(1);
    let first = errors.into_iter().next().unwrap_or_else(|| Error::new("the text is invalid"));
    match more {
        0 => first,
        more => Error { message: format!("{}, and {more} more errors", first.message), ..first },
    }
}
