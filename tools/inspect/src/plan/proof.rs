//! `layout-inspect check-plan`: whether a plan is what its proof says.
//!
//! The file that `plan --certificate` writes has a line of JSON, the plan and what it was asked for, and then the
//! [certificate](tensor_layout::solver::Certificate) of the solver. The check poses the problem again, replays the
//! certificate with code that the search does not use, and compares the plan that its choices are with the one in the file.

use super::answer::{Names, PlanAnswer, RelayoutAnswer};
use super::{EntryOption, located, posed, spread, tiles};
use crate::numbers::counted;
use layout_console::{Complaint, read, write};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use tensor_layout::hlo::Module;
use tensor_layout::memory::Schedule;
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
    /// Whether each value stays in the memory that it is made in.
    #[serde(default)]
    pub stay: bool,
    /// The orders of computations that are not those of the file: the numbers of their instructions in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub orders: BTreeMap<usize, Vec<usize>>,
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
    let checked = checked(&text, &proof).map_err(|why| match why {
        Unproved::Program(errors) => complain_all(file, &text, &errors),
        Unproved::Proof(error) => complain_all(certificate, &proof, &[error]),
    })?;
    let (cost, bound) = (counted(checked.cost, &checked.unit), counted(checked.bound, &checked.unit));
    Ok(format!("cost  {cost}\nbound {bound}\nboth hold, and the plan has these layouts\n"))
}

/// Which of two texts is at fault, and what is wrong there.
pub enum Unproved {
    /// The program: all that is wrong with its text, or why it has no such plan.
    Program(Vec<Error>),
    /// The plan with its proof.
    Proof(Error),
}

/// The plan of a program that a proof is of, where it is what the proof says.
///
/// # Errors
/// What is wrong, and in which of the two texts.
pub fn checked(text: &str, proof: &str) -> Result<PlanAnswer, Unproved> {
    let wrong = |at: usize, message: String| Unproved::Proof(Error::at(at, message).syntax());
    let about = |error: Error| Unproved::Proof(error.placed(None));
    let (head, rest) =
        proof.split_once('\n').ok_or_else(|| wrong(0, "expected two parts, found one line".to_string()))?;
    let stated: Proved = serde_json::from_str(head).map_err(|error| {
        let message = format!("expected a plan of `plan --certificate`: {error}");
        wrong(error.column().saturating_sub(1).min(head.len()), message)
    })?;
    let parsed = Certificate::parse(rest).map_err(|error| {
        let at = error.at.unwrap_or(0);
        Unproved::Proof(error.placed(Some(head.len() + 1 + at)))
    })?;
    let target = Target::parse(&stated.machine).map_err(about)?;
    let module = Module::parse(text).map_err(Unproved::Program)?;
    let module = if stated.orders.is_empty() {
        module
    } else {
        Schedule::of_orders(stated.orders.clone()).apply(&module).map_err(about)?
    };
    let limits: Vec<SpaceLimit> =
        stated.capacities.iter().map(|(space, bytes)| SpaceLimit { space: *space, bytes: *bytes }).collect();
    let (graphs, facts) = (module.graphs(), module.facts());
    let of_program = |why| Unproved::Program(vec![located(&module, &target, why)]);
    let by_proof = |why| match why {
        Unplanned::Wrong(None, error) => about(error),
        why => of_program(why),
    };
    let names = Names { module: &module, target: &target };
    let found = if spread::has_places(&target) {
        let mut spreader =
            spread::posed(&names, (&graphs, &facts), &spread::free, &limits, None).map_err(of_program)?;
        spreader.keep(stated.plan.kept).map_err(of_program)?;
        let plan = spreader.proved(parsed).map_err(by_proof)?;
        PlanAnswer { kept: stated.plan.kept, ..spread::answer(&names, &plan) }
    } else {
        let mut planner = posed(&graphs, module.entry, &facts, (&target, stated.entry), (&limits, stated.stay), None)
            .map_err(of_program)?;
        if stated.plan.kept > 0 && !limits.is_empty() {
            planner.keep(stated.plan.kept).map_err(of_program)?;
        }
        let plan = planner.proved(parsed).map_err(by_proof)?;
        tiles::answer(&names, &planner, &plan, &[]).map_err(by_proof)?
    };
    match difference(&stated.plan, &found) {
        Some(difference) => Err(Unproved::Proof(Error::new(difference))),
        None => Ok(found),
    }
}

/// What is wrong with a file: at its places in the text, or as a whole.
fn complain_all(file: &str, text: &str, errors: &[Error]) -> Complaint {
    match errors {
        [error] if error.at.is_none() => Complaint::about(file, &error.message),
        errors => Complaint::in_file(file, text, errors),
    }
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
    let differ = stated.values != found.values;
    for name in stated.values.keys().chain(found.values.keys()).filter(|_| differ) {
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
    if (&stated.stays, &stated.transfers) != (&found.stays, &found.transfers) {
        return Some("the plan moves values between memories at other times than the proof".to_string());
    }
    if (&stated.shardings, stated.work) != (&found.shardings, found.work) {
        return Some("the plan has other shardings or other work than the proof".to_string());
    }
    if stated.recomputed != found.recomputed {
        return Some("the plan makes other values again than the proof".to_string());
    }
    if stated.levels != found.levels {
        return Some("the plan has other bytes at the levels of the machine than the proof".to_string());
    }
    if stated.steps != found.steps {
        return Some("the plan has other steps than the proof".to_string());
    }
    let moved = |plan: &PlanAnswer| {
        let known = |own: &RelayoutAnswer| RelayoutAnswer { without: None, undecided: false, ..own.clone() };
        plan.relayouts.iter().map(known).collect::<Vec<_>>()
    };
    let (said, proved) = (moved(stated), moved(found));
    let first = (0..said.len().max(proved.len())).find(|k| said.get(*k) != proved.get(*k))?;
    let at = said.get(first).or(proved.get(first)).map_or("", |own| &own.at);
    Some(format!("the plan and the proof differ in relayout {first}, of `{at}`"))
}
