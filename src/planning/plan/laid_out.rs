//! The layouts in which each operation takes and makes its arrays, for those who write them into a program.

use super::kernels::Kept;
use super::layout_plan::{LaidOut, LayoutPlan, Telling, Unplanned};
use super::planned_layout::PlannedLayout;
use super::prices::Prices;
use super::tiled::TiledPlanner;

impl TiledPlanner<'_, '_> {
    /// In which layouts each operation takes and makes its arrays. What is made again for each use has several entries.
    ///
    /// # Errors
    /// A cost does not fit in 64 bits.
    pub(super) fn tiled_operations(&self, plan: &LayoutPlan) -> Result<Vec<LaidOut>, Unplanned> {
        let (program, choices) = (&self.posed.program, &self.posed.choices);
        let certificate = plan.solution.certificate.clone();
        let prices = Prices::new(&choices.classes);
        let telling = Telling { posed: &self.posed, prices, placed: self.placed(), certificate };
        let mut all: Vec<LaidOut> = Vec::with_capacity(program.instances.len());
        for (k, instance) in program.instances.iter().enumerate() {
            let stored = self.posed.kernels.kept[k] == Kept::Stored;
            // Another name of an argument is where that is.
            let space = |made: &usize| match stored && !self.posed.is_argument(*made) {
                true => telling.space(*made),
                false => 0,
            };
            let results = instance.results.iter().map(|made| telling.layout(*made, telling.made_in(*made)));
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
        for taken in self.posed.taken() {
            let (user, made) = (taken.by.0, taken.made);
            let way = &choices.ways[user][plan.solution.choices()[user]];
            let met = self.posed.met(&telling.prices, &taken, telling.held(made), telling.origin(made), way);
            let met = met.map_err(|error| Unplanned::Wrong(Some(all[user].node), error))?;
            all[user].operands.push(Some(telling.layout(made, met.to)));
            all[user].read.push(telling.layout(made, met.from));
            all[user].in_place.push(self.posed.meeting(&taken).is_read_in_place());
        }
        Ok(all)
    }
}
