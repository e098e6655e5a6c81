//! Doubt: how far the costs of a machine are off for programs of a kind, and which layouts of arguments and results save less
//! than that.
//!
//! "No plan costs less" is about the costs. The machine's `doubt` is about the program: it was measured on programs that no cost
//! and no preference was fitted to.

use super::classes::LayoutId;
use super::layout_plan::{Doubt, EntryChange, LayoutPlan};
use super::planned_layout::PlannedLayout;
use super::planner::{GoOn, Planner};
use super::program::InstanceKind;
use super::tiled::TiledPlanner;
use crate::solver::{FORBIDDEN, Marginal, Options, min_marginals, solve};
use rustc_hash::FxHashMap;

impl TiledPlanner<'_, '_> {
    /// The variables of arguments and then of results, and their arrays.
    pub(super) fn ends(&self) -> Vec<(usize, usize)> {
        let arrays = self.problem.program.entry_arrays().concat();
        arrays.into_iter().map(|made| (self.problem.program.made[made].by, made)).collect()
    }

    /// The choices that give each of some arguments and results a layout: the number of the end among them, and the class of
    /// the array.
    pub(super) fn entry_choices(
        &self,
        ends: &[(usize, usize)],
        layout: impl Fn(usize, usize) -> Option<LayoutId>,
    ) -> Option<FxHashMap<usize, usize>> {
        let (program, choices) = (&self.problem.program, &self.problem.choices);
        let choice = |(end, (variable, made)): (usize, &(usize, usize))| {
            let (layout, result) = (layout(end, choices.class[*made])?, program.made[*made].result);
            Some((*variable, choices.ways[*variable].iter().position(|way| way.results[result] == layout)?))
        };
        ends.iter().enumerate().map(choice).collect()
    }

    /// See [`Planner::doubt`].
    pub(super) fn doubt_of(&self, plan: &LayoutPlan, options: &Options, go_on: &mut GoOn) -> Option<Doubt> {
        let operations = self.problem.program.instances.iter().filter_map(|instance| match instance.kind {
            InstanceKind::Operation(operation) => Some(operation),
            _ => None,
        });
        let (row, off) = self.problem.choices.classes.target.doubt(operations)?;
        let ends = self.ends();
        let defaults = self.entry_choices(&ends, |_, _| Some(0))?;
        let chosen = plan.solution.choices();
        let moved: Vec<usize> = (0..ends.len()).filter(|end| chosen[ends[*end].0] != defaults[&ends[*end].0]).collect();
        if moved.is_empty() {
            return None;
        }
        let most = i128::from(plan.cost) * (1_000_000 + i128::from(off.millionths)) / 1_000_000;
        let within = |cost: &i64| i128::from(*cost) <= most;
        let of = |end: usize| ends[end].0;
        // Each end has its default layout, or that of the plan.
        let forced = |left: &[usize]| -> FxHashMap<usize, usize> {
            let choice = |end: usize| if left.contains(&end) { defaults[&of(end)] } else { chosen[of(end)] };
            (0..ends.len()).map(|end| (of(end), choice(end))).collect()
        };
        let default = self.cost_with(&forced(&moved), options, go_on)?;
        let (mut leave, mut cost) = (moved.clone(), default);
        if !within(&default) {
            let variables: Vec<usize> = moved.iter().map(|end| of(*end)).collect();
            let marginals = min_marginals(self.network(), &variables, options, go_on)?;
            let alone = |(end, marginals): (&usize, Vec<Marginal>)| {
                Some((marginals[defaults[&of(*end)]].cost.filter(within)?, *end))
            };
            let mut alone: Vec<(i64, usize)> = moved.iter().zip(marginals).filter_map(alone).collect();
            alone.sort_unstable();
            (leave, cost) = (Vec::new(), plan.cost);
            // As many as are within the doubt together: the cheapest first.
            let (mut fits, mut fails) = (0, alone.len() + 1);
            while fails - fits > 1 {
                let middle = fits.midpoint(fails);
                let left: Vec<usize> = alone[..middle].iter().map(|(_, end)| *end).collect();
                match self.cost_with(&forced(&left), options, go_on).filter(within) {
                    Some(found) => (fits, leave, cost) = (middle, left, found),
                    None => fails = middle,
                }
            }
        }
        leave.sort_unstable();
        let arguments = plan.arguments.len();
        let change = |end: usize| {
            let argument = end < arguments;
            let class = self.problem.choices.class[ends[end].1];
            let layout = PlannedLayout::Tiled(self.problem.choices.classes.all[class].layouts[0].clone());
            EntryChange { argument, number: if argument { end } else { end - arguments }, layout }
        };
        Some(Doubt { row, off, default, leave: leave.into_iter().map(change).collect(), cost })
    }

    /// The cost of the best plan with some choices made; `None` where none is found.
    fn cost_with(&self, forced: &FxHashMap<usize, usize>, options: &Options, go_on: &mut GoOn) -> Option<i64> {
        let network = self.network().with_costs(|variable, choice, cost| match forced.get(&variable) {
            Some(only) if *only != choice => FORBIDDEN,
            _ => cost,
        });
        let solution = solve(&network.ok()?, options, &mut |progress| go_on(progress)).ok()?;
        Some(solution.certificate.cost)
    }
}
