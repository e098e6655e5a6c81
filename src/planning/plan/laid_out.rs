//! The layouts in which each operation takes and makes its arrays, for those who write them into a program.

use super::kernels::Kept;
use super::layout_plan::{LaidOut, LayoutPlan, PlanDecoder, Unplanned};
use super::planned_layout::PlannedLayout;
use super::prices::Prices;
use super::tiled::TiledPlanner;

impl TiledPlanner<'_, '_> {
    /// In which layouts each operation takes and makes its arrays. What is made again for each use has several entries.
    ///
    /// # Errors
    /// A cost does not fit in 64 bits.
    pub(super) fn tiled_operations(&self, plan: &LayoutPlan) -> Result<Vec<LaidOut>, Unplanned> {
        let (program, choices) = (&self.problem.program, &self.problem.choices);
        let certificate = plan.solution.certificate.clone();
        let prices = Prices::new(&choices.classes);
        let decoder = PlanDecoder { problem: &self.problem, prices, placed: self.placed(), certificate };
        let mut all: Vec<LaidOut> = Vec::with_capacity(program.instances.len());
        for (k, instance) in program.instances.iter().enumerate() {
            let stored = self.problem.kernels.kept[k] == Kept::Stored;
            // Another name of an argument is where that is.
            let space = |made: &usize| match stored && !self.problem.is_argument(*made) {
                true => decoder.space(*made),
                false => 0,
            };
            let results = instance.results.iter().map(|made| decoder.layout(*made, decoder.made_in(*made)));
            let results: Vec<PlannedLayout> = results.collect();
            all.push(LaidOut {
                node: instance.node,
                operands: Vec::new(),
                read: Vec::new(),
                in_place: Vec::new(),
                made: results.iter().cloned().map(Some).collect(),
                results,
                spaces: instance.results.iter().map(space).collect(),
            });
        }
        for taken in self.problem.taken() {
            let (user, made) = (taken.by.0, taken.made);
            let way = &choices.ways[user][plan.solution.choices()[user]];
            let met = self.problem.met(&decoder.prices, &taken, decoder.held(made), decoder.origin(made), way);
            let met = met.map_err(|error| Unplanned::Wrong(Some(all[user].node), error))?;
            all[user].operands.push(Some(decoder.layout(made, met.to)));
            all[user].read.push(decoder.layout(made, met.from));
            all[user].in_place.push(self.problem.meeting(&taken).is_read_in_place());
        }
        Ok(all)
    }
}
