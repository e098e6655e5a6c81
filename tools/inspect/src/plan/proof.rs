//! `layout-inspect check-plan`: whether a plan is what its proof says.
//!
//! The file that `plan --certificate` writes has a line of JSON, the plan and what it was asked for, and then the
//! [certificate](tensor_layout::solver::Certificate) of the solver. The check poses the problem again, replays the
//! certificate with code that the search does not use, and compares the plan that its choices are with the one in the file.

use super::answer::{Names, PlanAnswer};
use super::{EntryOption, complain, posed, spread};
use crate::numbers::counted;
use layout_console::{Complaint, read, write};
use serde::{Deserialize, Serialize};
use std::path::Path;
use tensor_layout::hlo::Module;
use tensor_layout::plan::{SpaceLimit, Unplanned};
use tensor_layout::solver::Certificate;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Check a plan and the proof of its bound, both from `plan --certificate`
#[derive(clap::Args)]
pub struct CheckOptions {
    /// The HLO text that was planned, - for standard input
    file: String,
    /// The file that `plan --certificate` has written
    certificate: String,
}

/// The first line of a proof.
#[derive(Serialize, Deserialize)]
pub struct Proved {
    /// The text of the machine.
    pub machine: String,
    /// What arguments and results may be laid out in.
    pub entry: EntryOption,
    /// The capacities of memory spaces.
    pub capacities: Vec<(u8, i64)>,
    /// The plan.
    pub plan: PlanAnswer,
}

/// Writes a proof.
pub fn save(file: &Path, proved: &Proved, certificate: &Certificate) -> Result<(), Complaint> {
    write(file, &format!("{}\n{certificate}", serde_json::json!(proved)))
}

/// Whether a plan is what its proof says.
pub fn run(CheckOptions { file, certificate }: &CheckOptions) -> Result<String, Complaint> {
    let (text, proof) = (read(file)?, read(certificate)?);
    let wrong = |at: usize, message: String| Complaint::in_file(certificate, &proof, &[Error::at(at, message)]);
    let (head, rest) =
        proof.split_once('\n').ok_or_else(|| wrong(0, "expected two parts, found one line".to_string()))?;
    let stated: Proved = serde_json::from_str(head).map_err(|error| {
        let message = format!("expected a plan of `plan --certificate`: {error}");
        wrong(error.column().saturating_sub(1).min(head.len()), message)
    })?;
    let parsed = Certificate::parse(rest).map_err(|error| {
        let at = error.at.unwrap_or(0);
        wrong(head.len() + 1 + at, error.message)
    })?;
    let target = Target::parse(&stated.machine).map_err(|error| Complaint::about(certificate, error.message))?;
    spread::only(&target, &[("check-plan", true)]).map_err(|error| Complaint::about(certificate, error.message))?;
    let module = Module::parse(&text).map_err(|errors| Complaint::in_file(file, &text, &errors))?;
    let limits: Vec<SpaceLimit> =
        stated.capacities.iter().map(|(space, bytes)| SpaceLimit { space: *space, bytes: *bytes }).collect();
    let (graphs, facts) = (module.graphs(), module.facts());
    let complain = |why| complain(&module, &target, file, &text, why);
    let planner = posed(&graphs, module.entry, &facts, &target, stated.entry, &limits).map_err(complain)?;
    let plan = planner.proved(parsed).map_err(|why| match why {
        Unplanned::Wrong(None, error) => Complaint::about(certificate, error),
        why => complain(why),
    })?;
    let found = Names { module: &module, target: &target }.answer(&plan, &[]);
    if let Some(difference) = difference(&stated.plan, &found) {
        return Err(Complaint::about(certificate, difference));
    }
    let (cost, bound) = (counted(found.cost, &found.unit), counted(found.bound, &found.unit));
    Ok(format!("cost  {cost}\nbound {bound}\nboth hold, and the plan has these layouts\n"))
}

/// The first thing that a plan says and its proof does not.
fn difference(stated: &PlanAnswer, found: &PlanAnswer) -> Option<String> {
    if (stated.cost, stated.bound) != (found.cost, found.bound) {
        let (cost, bound) = (found.cost, found.bound);
        return Some(format!(
            "the plan says cost {} and bound {}, the proof {cost} and {bound}",
            stated.cost, stated.bound
        ));
    }
    let names = stated.values.keys().chain(found.values.keys());
    for name in names {
        let (a, b) = (stated.values.get(name), found.values.get(name));
        if a != b {
            let said = |layouts: Option<&Vec<String>>| layouts.map_or("nothing".to_string(), |own| own.join(" and "));
            return Some(format!("the plan says {} of `{name}`, the proof {}", said(a), said(b)));
        }
    }
    if stated.entry != found.entry {
        return Some("the plan has other layouts of arguments or results than the proof".to_string());
    }
    if (&stated.spaces, &stated.peak, &stated.memories) != (&found.spaces, &found.peak, &found.memories) {
        return Some("the plan has values in other memories than the proof".to_string());
    }
    let moved = |plan: &PlanAnswer| {
        let known =
            |own: &super::answer::RelayoutAnswer| super::answer::RelayoutAnswer { without: None, ..own.clone() };
        plan.relayouts.iter().map(known).collect::<Vec<_>>()
    };
    let (said, proved) = (moved(stated), moved(found));
    let first = (0..said.len().max(proved.len())).find(|k| said.get(*k) != proved.get(*k))?;
    let at = said.get(first).or(proved.get(first)).map_or("", |own| &own.at);
    Some(format!("the plan and the proof differ in relayout {first}, of `{at}`"))
}
