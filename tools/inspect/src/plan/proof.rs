//! `layout-inspect check-plan`: whether a plan's proof holds.
//!
//! The file that `plan --certificate` writes has a line of JSON, the plan and its question, and then the
//! [certificate](layout_plan::solver::Certificate) of the solver. The check builds the layout problem again, replays
//! the certificate with code that the search does not use, and compares the plan that its choices decode to with the
//! plan in the file, field by field. So the file has nothing that only another search could confirm, see
//! [`PlanAnswer::provable`].

use super::answer::{Names, PlanAnswer};
use super::{Capacities, EntryOption, PlanRequest, located, posed, spread, tiled};
use crate::numbers::counted;
use clap::builder::NonEmptyStringValueParser;
use layout_console::{Complaint, read, write};
use layout_plan::memory::Schedule;
use layout_plan::plan::{EntryOrders, Planner, SpaceLimit, Unplanned};
use layout_plan::solver::{Certificate, LARGEST_SUM};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tensor_layout::hlo::Module;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Check a plan and the proof of its bound, both from `plan --certificate`
#[derive(clap::Args)]
pub struct CheckOptions {
    /// The HLO text that was planned, - for standard input
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    file: String,
    /// The file that `plan --certificate` has written
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    certificate: String,
}

/// The first line of a proof.
#[derive(Serialize, Deserialize)]
pub struct Proved<Plan> {
    /// The text of the machine.
    pub machine: String,
    /// The layouts that arguments and results may have.
    pub entry: EntryOption,
    /// Orders of arguments and results that a judge has named and that are in no list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<EntryOrders>,
    /// The capacities of memory spaces.
    pub capacities: Vec<(u8, i64)>,
    /// Whether each value stays in the memory that it is made in; only with capacities on a machine without places.
    pub stay: bool,
    /// The orders of computations that differ from the file's: instruction numbers of the file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub orders: BTreeMap<usize, Vec<usize>>,
    /// The plan.
    pub plan: Plan,
}

/// The part of the plan that belongs to its question.
#[derive(Deserialize)]
struct KeptBytes {
    #[serde(default)]
    kept: i64,
}

impl Proved<PlanAnswer> {
    /// The first line, as JSON.
    fn line(&self) -> Result<String, Error> {
        serde_json::to_string(self).map_err(|error| Error::new(error.to_string()))
    }
}

/// Writes a proof.
pub fn save(file: &Path, proved: &Proved<PlanAnswer>, certificate: &Certificate) -> Result<(), Complaint> {
    let line = proved.line().map_err(|error| Complaint::new(error.message))?;
    write(file, &format!("{line}\n{certificate}"))
}

/// Checks a plan against its proof.
pub fn run(CheckOptions { file, certificate }: &CheckOptions) -> Result<String, Complaint> {
    let (text, proof) = (read(file)?, read(certificate)?);
    let checked = checked(&text, &proof).map_err(|why| match why {
        Unproved::Program(errors) => complain_all(file, &text, &errors),
        Unproved::Proof(error) => complain_all(certificate, &proof, &[error]),
    })?;
    let (cost, bound) = (counted(checked.cost, &checked.unit), counted(checked.bound, &checked.unit));
    Ok(format!("cost  {cost}\nbound {bound}\nboth hold, and the plan has these layouts\n"))
}

/// A failed check: the text at fault, and its errors.
pub enum Unproved {
    /// The program: all errors of its text, or why it has no such plan.
    Program(Vec<Error>),
    /// The plan with its proof.
    Proof(Error),
}

/// The plan of a program, where its proof holds.
///
/// # Errors
/// The program or the proof is wrong; the error says which of the two texts is at fault.
pub fn checked(text: &str, proof: &str) -> Result<PlanAnswer, Unproved> {
    let wrong = |at: usize, message: String| Unproved::Proof(Error::at(at, message).syntax());
    let (head, rest) =
        proof.split_once('\n').ok_or_else(|| wrong(0, "expected two parts, found one line".to_string()))?;
    let unread = |error: serde_json::Error| {
        let message = format!("expected a plan of `plan --certificate`: {error}");
        wrong(error.column().saturating_sub(1).min(head.len()), message)
    };
    let stated: Proved<KeptBytes> = serde_json::from_str(head).map_err(unread)?;
    let parsed = Certificate::parse(rest).map_err(|error| {
        let at = error.at.unwrap_or(0);
        Unproved::Proof(error.with_offset(Some(head.len() + 1 + at)))
    })?;
    let target = Target::parse(&stated.machine).map_err(about)?;
    let module = Module::parse(text).map_err(Unproved::Program)?;
    let module = if stated.orders.is_empty() {
        module
    } else {
        Schedule::of_orders(stated.orders.clone()).apply(&module).map_err(about)?
    };
    check_question(&stated).map_err(Unproved::Proof)?;
    let found = replayed(&Names { module: &module, target: &target }, &stated, parsed)?;
    let stay = stated.stay && !spread::has_places(&target) && !stated.capacities.is_empty();
    let Proved { machine, entry, offered, capacities, orders, .. } = stated;
    let proved = Proved { machine, entry, offered, capacities, stay, orders, plan: found.provable() };
    if proved.line().map_err(Unproved::Proof)? == head {
        return Ok(found);
    }
    // JSON may write one value in several ways.
    let said: Value = serde_json::from_str(head).map_err(unread)?;
    match difference(&said, &json!(proved), "") {
        Some(difference) => Err(Unproved::Proof(Error::new(difference))),
        None => Ok(found),
    }
}

/// The plan that a certificate proves for a question.
fn replayed(names: &Names, stated: &Proved<KeptBytes>, certificate: Certificate) -> Result<PlanAnswer, Unproved> {
    let (module, target, kept) = (names.module, names.target, stated.plan.kept);
    let limits = stated.capacities.iter().map(|(space, bytes)| SpaceLimit { space: *space, bytes: *bytes }).collect();
    let capacities = Capacities { limits, stay: stated.stay, unlimited: true };
    let (graphs, facts) = (module.graphs(), module.facts());
    let of_program = |why| Unproved::Program(vec![located(module, target, why)]);
    let by_proof = |why| match why {
        Unplanned::Wrong(None, error) => about(error),
        why => of_program(why),
    };
    let request = PlanRequest { entry: stated.entry, capacities: &capacities };
    let program = (&graphs[..], &facts);
    let mut planner: Box<dyn Planner> = if stated.entry == EntryOption::Free && !stated.offered.is_empty() {
        let planner = tiled(names, program, request, &mut |_| true).map_err(of_program)?;
        Box::new(planner.offering(&stated.offered, &mut |_| true).map_err(by_proof)?)
    } else {
        posed(names, program, request, None).map_err(of_program)?
    };
    // Bytes are kept of a capacity, which devices always have.
    let has_limits =
        if spread::has_places(target) { spread::has_devices(target) } else { !capacities.limits.is_empty() };
    let kept = if has_limits { kept } else { 0 };
    if kept > 0 {
        planner.keep(kept).map_err(of_program)?;
    }
    let mut plan = planner.proved(certificate).map_err(by_proof)?;
    planner.add_steps(&mut plan).map_err(by_proof)?;
    Ok(PlanAnswer { kept, given: planner.given(), ..names.answer(&plan, None) })
}

/// An error of a proof as a whole.
fn about(error: Error) -> Unproved {
    Unproved::Proof(error.with_offset(None))
}

/// Checks the numbers of a plan's question.
fn check_question(stated: &Proved<KeptBytes>) -> Result<(), Error> {
    let bytes = stated.capacities.iter().map(|(_, bytes)| *bytes).chain([stated.plan.kept]);
    match bytes.into_iter().find(|bytes| !(0..=LARGEST_SUM).contains(bytes)) {
        Some(bytes) => Err(Error::new(format!(
            "expected bytes from 0 to {LARGEST_SUM} in `capacities` and `plan.kept`, found {bytes}"
        ))),
        None => Ok(()),
    }
}

/// A complaint about a file: at the errors' places in the text, or as a whole.
fn complain_all(file: &str, text: &str, errors: &[Error]) -> Complaint {
    match errors {
        [error] if error.at.is_none() => Complaint::about(file, &error.message),
        errors => Complaint::in_file(file, text, errors),
    }
}

/// The first field in which a plan differs from its proof, and both values. Every field counts, also one that is left
/// out.
fn difference(said: &Value, proved: &Value, at: &str) -> Option<String> {
    match (said, proved) {
        (Value::Object(a), Value::Object(b)) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let inside = |name: &String| if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            names.into_iter().find_map(|name| difference_at(a.get(name), b.get(name), &inside(name)))
        }
        (Value::Array(a), Value::Array(b)) => {
            (0..a.len().max(b.len())).find_map(|k| difference_at(a.get(k), b.get(k), &format!("{at}[{k}]")))
        }
        (a, b) => (a != b).then(|| format!("the plan says {} in `{at}`, the proof {}", excerpt(a), excerpt(b))),
    }
}

/// The same for a field that one side may lack.
fn difference_at(said: Option<&Value>, proved: Option<&Value>, at: &str) -> Option<String> {
    match (said, proved) {
        (Some(said), Some(proved)) => difference(said, proved, at),
        (None, None) => None,
        (Some(said), None) => Some(format!("the plan says {} in `{at}`, the proof nothing", excerpt(said))),
        (None, Some(proved)) => Some(format!("the plan says nothing in `{at}`, the proof {}", excerpt(proved))),
    }
}

/// The text of a value, cut to 100 characters.
fn excerpt(value: &Value) -> String {
    const LONGEST: usize = 100;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}
