//! The layouts in which each operation reads and makes its arrays, for those who write them into a program.

use super::candidates::of_array;
use super::planner::{ShardingPlanner, Touch, held_by};
use super::reading::sizes;
use super::spread::Spread;
use crate::plan::layout_plan::{LaidOut, LayoutPlan};
use crate::plan::planned_layout::PlannedLayout;
use crate::plan::program::InstanceKind;
use tensor_layout::text::Error;

impl ShardingPlanner<'_, '_> {
    /// In which layouts each operation reads, makes and holds its arrays.
    ///
    /// # Errors
    /// Addresses do not fit in 64 bits.
    pub(super) fn placed(&self, plan: &LayoutPlan) -> Result<Vec<LaidOut>, Error> {
        let choices = &plan.solution.certificate.choices;
        let chosen = self.chosen(choices);
        let mut all = Vec::with_capacity(chosen.len());
        for (by, instance) in self.program.instances.iter().enumerate() {
            let loops = chosen[by].as_ref().map(|choice| &self.loops[by].all[choice.spread]);
            let held = |made: &usize| self.layout(choices, *made);
            let (mut operands, mut made) = (Vec::new(), Vec::new());
            for touch in self.touched(by) {
                let own = if touch.operand.is_some() { &mut operands } else { &mut made };
                own.push(self.met(choices, loops, touch)?);
            }
            // A result of the program is what it is made of.
            let is_end = matches!(instance.kind, InstanceKind::Result(_));
            let results = if is_end { &instance.operands } else { &instance.results };
            all.push(LaidOut {
                node: instance.node,
                in_place: operands.iter().map(Option::is_none).collect(),
                operands,
                read: instance.operands.iter().map(held).collect::<Result<_, _>>()?,
                made,
                results: results.iter().map(held).collect::<Result<_, _>>()?,
                spaces: Vec::new(),
            });
        }
        Ok(all)
    }

    /// In which layout loops read or make an array.
    fn met(&self, choices: &[usize], loops: Option<&Spread>, touch: Touch) -> Result<Option<PlannedLayout>, Error> {
        let (Some(loops), Some(nest)) = (loops, &self.nests[touch.by]) else {
            return self.layout(choices, touch.made).map(Some);
        };
        let array = self.program.made[touch.made].array;
        let (own, ranges) = (sizes(array), self.ranges(touch));
        let spread = of_array(loops, ranges);
        if own.is_empty() || !nest.is_plain(ranges, &own) || held_by(self.machine, &spread, array).is_err() {
            return Ok(None);
        }
        spread.layout(&own, self.machine).map(|layout| Some(PlannedLayout::Places(layout)))
    }
}
