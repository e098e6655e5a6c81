//! What other programs call: the reports on a text, as JSON and as text.

use crate::clock::Clock;
use crate::hlo::{Report, screen};
use crate::plan::answer::Names;
use crate::plan::{self, EntryOption};
use layout_console::with_room;
use serde_json::json;
use tensor_layout::hlo::Module;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// A report for programs and for people.
#[derive(Clone, Debug)]
pub struct Written {
    /// A JSON object.
    pub json: String,
    /// Lines of at most 100 columns.
    pub text: String,
}

/// Why there is no report.
#[derive(Clone, Debug)]
pub enum Unwritten {
    /// The text of the machine is wrong.
    Machine(Error),
    /// The HLO text is wrong: all its errors, at least one.
    Program(Vec<Error>),
}

impl From<Error> for Unwritten {
    fn from(error: Error) -> Unwritten {
        Unwritten::Program(vec![error])
    }
}

/// The memory report of HLO text: as `layout-inspect hlo`, with at most `top` entries in each list. The JSON object is
/// that of `--summary --json`.
///
/// # Errors
/// The machine or the HLO text is wrong, or 64 bits do not hold the bytes.
pub fn memory_report(text: &str, machine: &str, top: usize) -> Result<Written, Unwritten> {
    with_room(|| {
        let target = Target::parse(machine).map_err(Unwritten::Machine)?;
        let module = Module::parse(text).map_err(Unwritten::Program)?;
        let summary = Report::new(&module, &target)?.summary(top)?;
        Ok(Written { json: json!(summary).to_string(), text: screen(&summary) })
    })
}

/// The plan of layouts for HLO text: as `layout-inspect plan`, with `seconds` for the search.
///
/// # Errors
/// The machine or the HLO text is wrong, or no plan is possible.
pub fn layout_plan(text: &str, machine: &str, entry: EntryOption, seconds: Option<f64>) -> Result<Written, Unwritten> {
    with_room(|| {
        let target = Target::parse(machine).map_err(Unwritten::Machine)?;
        let module = Module::parse(text).map_err(Unwritten::Program)?;
        let (graphs, facts) = (module.graphs(), module.facts());
        let planned = || {
            let (names, mut clock) = (Names { module: &module, target: &target }, Clock::quiet(seconds));
            if plan::spread::has_places(&target) {
                return plan::spread::answer(&names, &graphs, &facts, &mut clock);
            }
            let planner = plan::posed(&graphs, module.entry, &facts, &target, entry, &[])?;
            Ok(plan::plan_of(&names, &planner, &mut clock)?.1)
        };
        let answer = planned().map_err(|why| {
            let (at, message) = plan::located(&module, &target, why);
            Error { at, message }
        })?;
        Ok(Written { json: plan::json(&answer).to_string(), text: plan::text::text(&answer) })
    })
}
