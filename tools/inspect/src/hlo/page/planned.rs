//! The plan beside the program: which arrays would be laid out otherwise, and what that saves.

use super::pictures::Pictures;
use crate::plan::{EntryOption, posed};
use serde::Serialize;
use std::time::{Duration, Instant};
use tensor_layout::analysis::{Movement, movement};
use tensor_layout::hlo::Module;
use tensor_layout::memory::Footprint;
use tensor_layout::operations::{Array, Operation, Shape, count, leaves};
use tensor_layout::plan::{ArrayName, PlannedRelayout, Unplanned};
use tensor_layout::solver::Options;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;
use tensor_layout::tiled::Layout;

/// A plan, and the program's own layouts.
#[derive(Serialize)]
pub struct Planned {
    pub unit: String,
    /// What the program's layouts cost; `None` where the plan cannot have them.
    pub given: Option<i64>,
    pub cost: i64,
    pub bound: i64,
    /// The number of arrays, and their padded bytes in the program and in the plan.
    pub arrays: usize,
    pub before: i64,
    pub after: i64,
    /// The arrays that the plan lays out otherwise, those first whose bytes change most; the number of the others, and the
    /// bytes that these save.
    pub changes: Vec<Change>,
    pub others: usize,
    pub others_save: i64,
    pub relayouts: Vec<Meeting>,
    pub more_relayouts: usize,
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

/// A relayout of the plan.
#[derive(Serialize)]
pub struct Meeting {
    pub name: String,
    pub from: String,
    pub to: String,
    pub bytes: i64,
    pub cost: i64,
    pub wanted_by: Vec<String>,
}

impl Planned {
    /// The best plan for a machine that is found in so many seconds, with at most `top` entries in each list.
    ///
    /// # Errors
    /// There is no plan; 64 bits do not hold the bytes.
    pub fn of(
        module: &Module,
        target: &Target,
        entry: EntryOption,
        seconds: f64,
        top: usize,
    ) -> Result<Planned, Unplanned> {
        let (graphs, facts) = (module.graphs(), module.facts());
        let planner = posed(&graphs, module.entry, &facts, target, entry, &[])?;
        let end = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
        let plan = planner.plan(&Options::default(), &mut |_| Instant::now() < end)?;
        let wrong = |error| Unplanned::Wrong(None, error);
        let mut values = plan.values;
        values.sort_by_key(|(at, _)| *at);
        values.dedup();
        let (mut before, mut after) = (0_i64, 0_i64);
        let mut changes = Vec::new();
        for (at, layouts) in &values {
            let (Some(array), Some(to)) = (array(module, *at), layouts.first()) else { continue };
            let Some((from, to)) = sides(array, to).map_err(wrong)? else { continue };
            (before, after) = (before.saturating_add(from.1.padded), after.saturating_add(to.1.padded));
            if !same(&from.0, &to.0) {
                changes.push((*at, from, to));
            }
        }
        changes.sort_by_key(|(_, from, to)| std::cmp::Reverse(from.1.padded.abs_diff(to.1.padded)));
        let rest = changes.split_off(changes.len().min(top));
        let saves = |(_, from, to): &(ArrayName, Held, Held)| from.1.padded.saturating_sub(to.1.padded);
        let change = |change: &(ArrayName, Held, Held)| Change {
            name: named(module, change.0),
            from: change.1.0.to_string(),
            to: change.2.0.to_string(),
            before: change.1.1.padded,
            after: change.2.1.padded,
            saves: saves(change),
            pictures: [None, None],
        };
        let meeting = |moved: &PlannedRelayout| Meeting {
            name: named(module, moved.at),
            from: moved.from.to_string(),
            to: moved.to.to_string(),
            bytes: moved.bytes,
            cost: moved.cost,
            wanted_by: moved
                .wanted_by
                .iter()
                .map(|(c, k)| module.computations[*c].instructions[*k].name.clone())
                .collect(),
        };
        let mut moved = plan.relayouts;
        moved.sort_by_key(|moved| std::cmp::Reverse(moved.bytes));
        Ok(Planned {
            unit: target.unit().to_string(),
            given: planner.given(),
            cost: plan.cost,
            bound: plan.bound,
            arrays: values.len(),
            before,
            after,
            changes: changes.iter().map(change).collect(),
            others: rest.len(),
            others_save: rest.iter().map(saves).fold(0, i64::saturating_add),
            relayouts: moved.iter().take(top).map(meeting).collect(),
            more_relayouts: moved.len().saturating_sub(top),
        })
    }

    /// Asks for the pictures of the layouts that change.
    pub fn picture(&mut self, pictures: &mut Pictures) {
        for change in &mut self.changes {
            change.pictures = [pictures.number(&change.from), pictures.number(&change.to)];
        }
    }
}

/// An array in a layout, and its bytes.
type Held = (Array, Footprint);

/// An array as the program has it and as the plan has it, in one memory; `None` where it has no bytes.
fn sides(array: &Array, to: &Layout) -> Result<Option<(Held, Held)>, Error> {
    let to = Layout { memory_space: array.layout.memory_space, ..to.clone() };
    let planned = Array { layout: to, ..array.clone() };
    let (Some(from), Some(to)) = (Footprint::of(array)?, Footprint::of(&planned)?) else { return Ok(None) };
    Ok(Some(((array.clone(), from), (planned, to))))
}

/// Whether every element is at the same offset in both.
fn same(from: &Array, to: &Array) -> bool {
    let (from, to) = (Shape::Array(from.clone()), Shape::Array(to.clone()));
    from == to || matches!(movement(&Operation::Elementwise, &from, &to), Ok(Movement::Free))
}

fn array(module: &Module, (c, k, leaf): ArrayName) -> Option<&Array> {
    leaves(&module.computations[c].instructions[k].shape).get(leaf).copied()
}

/// The name of an array: of an instruction, with the number of the part where it has several.
fn named(module: &Module, (c, k, leaf): ArrayName) -> String {
    let instruction = &module.computations[c].instructions[k];
    if count(&instruction.shape) == 1 { instruction.name.clone() } else { format!("{}#{leaf}", instruction.name) }
}
