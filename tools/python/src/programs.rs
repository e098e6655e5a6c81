//! Reports on HLO programs, as JSON and as text; the package turns them into objects.

use crate::errors::{in_text, plain};
use crate::numbers::{Whole, count};
use layout_inspect::{EntryOption, PlanQuestion, Unwritten, Written};
use pyo3::prelude::*;
use tensor_layout::text::{Error, counted, instead};

/// The exception of a report on a text that was not written.
fn unwritten(text: &str, machine: &str, why: Unwritten) -> PyErr {
    match why {
        Unwritten::Machine(error) => in_text(machine, error),
        Unwritten::Capacity(text, error) => in_text(&text, error),
        Unwritten::Program(errors) => {
            let more = errors.len().saturating_sub(1);
            let first = errors.into_iter().next().unwrap_or_else(|| Error::new("the program is wrong"));
            let more = if more == 0 { String::new() } else { format!("; and {}", counted(more, "other error")) };
            let message = format!("{first}{more}");
            in_text(text, first.with_message(message))
        }
    }
}

/// The JSON object and the lines of a report.
fn written(text: &str, machine: &str, found: Result<Written, Unwritten>) -> PyResult<(String, String)> {
    found.map(|Written { json, text }| (json, text)).map_err(|why| unwritten(text, machine, why))
}

/// The text of a file, decompressed where it is compressed, and that of its buffer assignment.
#[pyfunction]
pub fn program_text(py: Python, path: &str) -> PyResult<(String, Option<String>)> {
    py.detach(|| layout_inspect::program_text(path)).map_err(plain)
}

/// The memory report of HLO text.
#[pyfunction]
pub fn memory_report(py: Python, text: &str, machine: &str, top: Whole) -> PyResult<(String, String)> {
    let top = count("top", top, usize::MAX)?;
    let found = py.detach(|| layout_inspect::memory_report(text, machine, top));
    written(text, machine, found)
}

/// The report of HLO text as a page.
#[pyfunction]
pub fn memory_page(py: Python, text: &str, assignment: Option<&str>, machine: &str, top: Whole) -> PyResult<String> {
    let top = count("top", top, usize::MAX)?;
    let found = py.detach(|| layout_inspect::memory_page(text, assignment, machine, top));
    found.map_err(|why| unwritten(text, machine, why))
}

/// All tensors of HLO text, as JSON.
#[pyfunction]
pub fn memory_tensors(py: Python, text: &str, machine: &str) -> PyResult<String> {
    let found = py.detach(|| layout_inspect::memory_tensors(text, machine));
    found.map_err(|why| unwritten(text, machine, why))
}

/// The lines of the difference of two programs.
#[pyfunction]
pub fn memory_difference(py: Python, before: &str, after: &str, machine: &str, top: Whole) -> PyResult<String> {
    let top = count("top", top, usize::MAX)?;
    let found = py.detach(|| layout_inspect::memory_difference([before, after], machine, top));
    found.map_err(|why| unwritten(after, machine, why))
}

/// The plan of layouts for HLO text.
#[pyfunction]
pub fn layout_plan(
    py: Python,
    text: &str,
    machine: &str,
    entry: &str,
    capacity: Vec<String>,
    seconds: Option<f64>,
    compare: bool,
) -> PyResult<(String, String)> {
    let layouts = match entry {
        "fixed" => EntryOption::Fixed,
        "default" => EntryOption::Default,
        "free" => EntryOption::Free,
        _ => {
            let hint = instead(entry, &["fixed", "default", "free"]);
            return Err(in_text(entry, Error::at(0, format!("unknown kind of entry `{entry}`{hint}")).unknown()));
        }
    };
    let question = PlanQuestion { machine, entry: layouts, capacity: &capacity, seconds, compare };
    let found = py.detach(|| layout_inspect::layout_plan(text, &question));
    written(text, machine, found)
}
