//! The steps of operations on a machine without places, and the answer of `plan` with them.

use super::answer::{LevelAnswer, Names, PlanAnswer, StepArrayAnswer, StepLoopAnswer, StepsAnswer};
use layout_plan::plan::sharding::{LeastRule, TileSteps, TiledTouch, tile_steps};
use layout_plan::plan::{LayoutPlan, Planner, Unplanned};
use layout_plan::solver::Marginal;

/// The answer of a plan, with the known costs of plans without each of its relayouts.
///
/// # Errors
/// A cost or the bytes of a layout do not fit in 64 bits.
pub fn answer(
    names: &Names,
    planner: &Planner,
    plan: &LayoutPlan,
    without: &[Marginal],
) -> Result<PlanAnswer, Unplanned> {
    let main = names.target.machine().space_name(0);
    let level = |bytes: i64| vec![LevelAnswer { axis: main.clone(), bytes }];
    let touch = |own: &TiledTouch| StepArrayAnswer {
        at: names.array(own.at),
        operand: own.operand,
        in_place: own.is_near,
        cut: own.cut.iter().map(|(dim, count)| [*dim as i64, *count]).collect(),
        layout: Some(own.layout.to_string()),
        bytes: own.bytes,
        double: own.is_double,
        levels: level(own.moved),
    };
    let steps = |own: &TileSteps| StepsAnswer {
        by: names.node(own.by).to_string(),
        loops: own
            .loops
            .iter()
            .map(|own| StepLoopAnswer { r#loop: own.of, step: own.step, count: own.count })
            .collect(),
        arrays: own.arrays.iter().map(touch).collect(),
        levels: level(own.bytes),
        least: level(own.least),
        rule: match own.rule {
            LeastRule::Product { .. } => "product".to_string(),
            _ => "compulsory".to_string(),
        },
        needs: own.needs,
        room: Some(own.room),
    };
    let all = tile_steps(planner, plan)?;
    let cut = all.iter().filter(|own| !own.loops.is_empty() || own.needs.is_some());
    Ok(PlanAnswer { steps: cut.map(steps).collect(), ..names.answer(plan, without) })
}
