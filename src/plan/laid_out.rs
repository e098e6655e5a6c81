//! The layouts in which each operation takes and makes its arrays, for those who write them into a program.

use super::layout_plan::{LayoutPlan, Telling, Unplanned};
use super::planner::Planner;
use super::prices::Prices;
use crate::tiled::layout::Layout;

/// The layouts of an operation's arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaidOut {
    /// The graph, and the number of the node in it.
    pub node: (usize, usize),
    /// In which it takes its operands.
    pub operands: Vec<Layout>,
    /// In which it makes its results.
    pub results: Vec<Layout>,
}

impl Planner<'_, '_> {
    /// In which layouts each operation takes and makes its arrays. What is made again for each use has several entries.
    ///
    /// # Errors
    /// A cost does not fit in 64 bits.
    pub fn laid_out(&self, plan: &LayoutPlan) -> Result<Vec<LaidOut>, Unplanned> {
        let (program, choices) = (&self.posed.program, &self.posed.choices);
        let certificate = plan.solution.certificate.clone();
        let telling = Telling { posed: &self.posed, prices: Prices::new(&choices.classes), placed: &[], certificate };
        let mut all: Vec<LaidOut> = Vec::with_capacity(program.instances.len());
        for instance in &program.instances {
            let results = instance.results.iter().map(|made| telling.layout(*made, telling.made_in(*made)));
            all.push(LaidOut { node: instance.node, operands: Vec::new(), results: results.collect() });
        }
        for taken in self.posed.taken() {
            let (user, made) = (taken.by.0, taken.made);
            let way = &choices.ways[user][plan.solution.choices()[user]];
            let met = self.posed.met(&telling.prices, &taken, telling.held(made), way);
            let to = met.map_err(|error| Unplanned::Wrong(Some(all[user].node), error))?.to;
            all[user].operands.push(telling.layout(made, to));
        }
        Ok(all)
    }
}
