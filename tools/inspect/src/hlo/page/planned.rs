//! The plan beside the program: the arrays whose layout changes, and the bytes that this saves.

use super::pictures::Pictures;
use crate::advice::{Advice, AdvisedEnd};
use crate::clock::Clock;
use crate::plan::answer::{MemoryAnswer, Names, PlanAnswer, RelayoutAnswer};
use crate::plan::text::left;
use crate::plan::{Capacities, EntryOption, PlanRequest, plan_of, posed};
use layout_plan::memory::Footprint;
use layout_plan::plan::{ArrayName, LayoutPlan, Unplanned};
use serde::Serialize;
use std::collections::HashMap;
use tensor_layout::analysis::{Movement, movement};
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Array, Operation, Shape, leaves};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;
use tensor_layout::tiled::Layout;

/// A plan, and the program's own layouts.
#[derive(Serialize)]
pub struct Planned {
    /// The plan; the lists below replace its own.
    pub plan: PlanAnswer,
    /// Whether the plan chooses the layouts of arguments and results.
    #[serde(skip)]
    pub chooses_ends: bool,
    /// A description of the decisions left open.
    pub left: Option<String>,
    /// Why the program's own layouts have no cost, where they have none.
    pub not_compared: Option<String>,
    pub rows: Vec<PlanRow>,
    /// The arrays whose layout changes, the largest change of bytes first; the number of the others, and the bytes that
    /// these save.
    pub changes: Vec<Change>,
    pub others: usize,
    pub others_save: i64,
    /// The relayouts of the plan that move most, and the number of the others.
    pub relayouts: Vec<RelayoutAnswer>,
    pub more_relayouts: usize,
}

/// A number of the plan beside that of the program.
#[derive(Serialize)]
pub struct PlanRow {
    pub what: String,
    pub in_bytes: bool,
    pub plan: i64,
    /// The program's number, where its layouts can be compared.
    pub given: Option<i64>,
}

/// An array in another layout.
#[derive(Serialize)]
pub struct Change {
    pub name: String,
    pub from: String,
    pub to: String,
    pub before: i64,
    pub after: i64,
    pub saves: i64,
    /// The pictures of both.
    pub pictures: [Option<usize>; 2],
}

impl Planned {
    /// The best plan for a machine that is found in time, with at most `top` entries in each list.
    ///
    /// # Errors
    /// There is no plan; 64 bits do not hold the bytes.
    pub fn of(
        module: &Module,
        target: &Target,
        entry: EntryOption,
        clock: &mut Clock,
        top: usize,
    ) -> Result<Planned, Unplanned> {
        let (graphs, facts) = (module.graphs(), module.facts());
        let names = Names { module, target };
        let capacities = Capacities::default();
        let asked = PlanRequest { entry, capacities: &capacities };
        let mut planner = posed(&names, (&graphs, &facts), asked, Some(&mut *clock))?;
        let (found, mut plan) = plan_of(&names, planner.as_mut(), &capacities, false, clock)?;
        let given = planner.given_plan().map(|given| given.map(|given| names.answer(&given, Some(&[]))));
        let mut changes = changes(module, &found).map_err(|error| Unplanned::Wrong(None, error))?;
        changes.sort_by_key(|(_, from, to)| std::cmp::Reverse((from.1.padded.abs_diff(to.1.padded), from.1.padded)));
        let rest = changes.split_off(changes.len().min(top));
        let mut relayouts = std::mem::take(&mut plan.relayouts);
        let rows = rows(&plan, &relayouts, given.as_ref().ok().and_then(Option::as_ref));
        plan.values.clear();
        relayouts.sort_by_key(|moved| std::cmp::Reverse(moved.bytes));
        let more_relayouts = relayouts.split_off(relayouts.len().min(top)).len();
        Ok(Planned {
            chooses_ends: entry == EntryOption::Free,
            left: plan.left.as_ref().map(left),
            plan,
            not_compared: given.err().map(|(at, error)| format!("{}: {}", names.node(at), error.message)),
            rows,
            changes: changes.iter().map(|change| told(&names, change)).collect(),
            others: rest.len(),
            others_save: rest.iter().map(saves).fold(0, i64::saturating_add),
            relayouts,
            more_relayouts,
        })
    }

    /// Whether a change of the program leaves its ends in the layouts that the plan chooses for them.
    pub fn agrees(&self, advice: &Advice) -> bool {
        let of = |end: &AdvisedEnd| if end.is_result { &self.plan.entry.results } else { &self.plan.entry.arguments };
        let agrees = |end: &AdvisedEnd| of(end).get(end.number) == Some(&end.layout);
        !self.chooses_ends || advice.ends.iter().all(agrees)
    }

    /// Asks for the pictures of the layouts that change.
    pub fn picture(&mut self, pictures: &mut Pictures) {
        for change in &mut self.changes {
            change.pictures = [pictures.number(&change.from), pictures.number(&change.to)];
        }
    }
}

/// The numbers of a plan beside those of the program's layouts.
fn rows(plan: &PlanAnswer, relayouts: &[RelayoutAnswer], given: Option<&PlanAnswer>) -> Vec<PlanRow> {
    let moved = |all: &[RelayoutAnswer]| all.iter().fold(0_i64, |sum, moved| sum.saturating_add(moved.bytes));
    let row = |what: String, in_bytes, plan, given| PlanRow { what, in_bytes, plan, given };
    let mut rows = vec![
        row(format!("Cost in {}s", plan.unit), false, plan.cost, given.map(|given| given.cost)),
        row("Relayouts".to_string(), false, relayouts.len() as i64, given.map(|given| given.relayouts.len() as i64)),
        row("Relayouts read and write".to_string(), true, moved(relayouts), given.map(|given| moved(&given.relayouts))),
    ];
    for memory in &plan.memories {
        let other = |get: fn(&MemoryAnswer) -> i64| {
            given.map(|given| given.memories.iter().find(|other| other.space == memory.space).map_or(0, get))
        };
        let name = &memory.name;
        rows.push(row(
            format!("Padding of all arrays in {name}"),
            true,
            memory.padding,
            other(|memory| memory.padding),
        ));
    }
    rows
}

/// An array with its layout, and its bytes.
type Held = (Array, Footprint);

/// An array whose layout changes, as the program and as the plan has it.
type Changed = (ArrayName, Held, Held);

/// The arrays whose layout changes, each pair of an array and a layout once.
fn changes(module: &Module, plan: &LayoutPlan) -> Result<Vec<Changed>, Error> {
    let mut values: Vec<(ArrayName, &Layout)> =
        plan.values.iter().filter_map(|(at, layouts)| Some((*at, layouts.first()?.tiled()?))).collect();
    values.sort_by_cached_key(|(at, layout)| (*at, layout.to_string()));
    values.dedup();
    let mut found = Vec::new();
    // A tuple of many parts has as many values.
    let mut arrays: HashMap<(usize, usize), Vec<&Array>> = HashMap::new();
    for ((c, k, leaf), to) in values {
        let of = arrays.entry((c, k)).or_insert_with(|| leaves(&module.computations[c].instructions[k].shape));
        let Some(array) = of.get(leaf).copied() else { continue };
        let Some((from, to)) = sides(array, to)? else { continue };
        if !same(&from.0, &to.0) {
            found.push(((c, k, leaf), from, to));
        }
    }
    Ok(found)
}

fn saves((_, from, to): &Changed) -> i64 {
    from.1.padded.saturating_sub(to.1.padded)
}

fn told(names: &Names, change: &Changed) -> Change {
    let (at, (from, before), (to, after)) = change;
    Change {
        name: names.array(*at),
        from: from.to_string(),
        to: to.to_string(),
        before: before.padded,
        after: after.padded,
        saves: saves(change),
        pictures: [None, None],
    }
}

/// An array in the program's and in the plan's layout, in one memory; `None` where it has no bytes.
fn sides(array: &Array, to: &Layout) -> Result<Option<(Held, Held)>, Error> {
    let to = Layout { memory_space: array.layout.memory_space, ..to.clone() };
    let planned = Array { layout: to, ..array.clone() };
    let (Some(from), Some(to)) = (Footprint::of(array)?, Footprint::of(&planned)?) else { return Ok(None) };
    Ok(Some(((array.clone(), from), (planned, to))))
}

/// Whether both layouts give every element the same offset.
fn same(from: &Array, to: &Array) -> bool {
    let (from, to) = (Shape::Array(from.clone()), Shape::Array(to.clone()));
    from == to || matches!(movement(&Operation::Elementwise, &from, &to), Ok(Movement::Free))
}
