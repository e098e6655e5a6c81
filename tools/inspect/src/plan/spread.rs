//! `layout-inspect plan` for a machine with places: TensorLayouts for all values, and what moves at which level.

use super::answer::{EntryArrays, LevelAnswer, Names, PlanAnswer, RelayoutAnswer};
use crate::clock::Clock;
use std::collections::BTreeMap;
use tensor_layout::operations::{Facts, Graph};
use tensor_layout::places::TensorLayout;
use tensor_layout::plan::Unplanned;
use tensor_layout::solver::Options;
use tensor_layout::spreading::{PlannedMove, Spreader};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// Whether values of a program have TensorLayouts on this machine.
pub fn has_places(target: &Target) -> bool {
    !target.machine().axes.is_empty()
}

/// That none of these is asked for where the machine has places: they have no meaning there.
///
/// # Errors
/// The first one that is.
pub fn only(target: &Target, asked: &[(&str, bool)]) -> Result<(), Error> {
    match asked.iter().find(|(_, asked)| *asked && has_places(target)) {
        Some((name, _)) => Err(Error::new(format!("`{name}` is for machines without places, found axes"))),
        None => Ok(()),
    }
}

/// The best plan.
///
/// # Errors
/// Why there is none.
pub fn answer(names: &Names, graphs: &[Graph], facts: &Facts, clock: &mut Clock) -> Result<PlanAnswer, Unplanned> {
    let machine = names.target.machine();
    let spreader = Spreader::new(graphs, names.module.entry, facts, machine)?;
    clock.say(&format!("the costs of {} arrays are known", spreader.arrays()));
    let plan = spreader.plan(&Options::default(), &mut |progress| clock.go_on(progress))?;
    let levels = |bytes: &[i64]| {
        let one = |(axis, bytes): (&tensor_layout::places::Axis, &i64)| LevelAnswer {
            axis: axis.name.clone(),
            bytes: *bytes,
        };
        machine.axes.iter().zip(bytes).map(one).collect::<Vec<_>>()
    };
    // Scalars are in every place.
    let text = |layout: &Option<TensorLayout>| layout.as_ref().map_or("()".to_string(), TensorLayout::to_string);
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (at, layout) in &plan.values {
        let (own, text) = (values.entry(names.array(*at)).or_default(), layout.to_string());
        if !own.contains(&text) {
            own.push(text);
        }
    }
    let relayout = |moved: &PlannedMove| RelayoutAnswer {
        at: names.array(moved.at),
        from: moved.from.to_string(),
        to: moved.to.to_string(),
        bytes: moved.traffic.total.iter().fold(0i64, |sum, bytes| sum.saturating_add(*bytes)),
        cost: moved.cost,
        wanted_by: vec![names.node(moved.by).to_string()],
        without: None,
        levels: levels(&moved.traffic.busiest),
    };
    Ok(PlanAnswer {
        cost: plan.cost,
        bound: plan.bound,
        unit: names.target.unit().to_string(),
        entry: EntryArrays {
            arguments: plan.arguments.iter().map(text).collect(),
            results: plan.results.iter().map(text).collect(),
        },
        values,
        spaces: BTreeMap::new(),
        relayouts: plan.moves.iter().map(relayout).collect(),
        levels: levels(&plan.levels),
        peak: BTreeMap::new(),
        memories: Vec::new(),
        given: None,
        compare: None,
        judged: None,
    })
}
