//! The arrays that each operation of a plan reads and makes, and the part of each outside of a limited fastest memory.
//!
//! With 4,096 bytes for that memory, in which `a` of 1,024 bytes lies, `b = f(a, x)` of an argument `x` works on `a` that is
//! near, and on all of `x` and `b` from afar; 3,072 bytes are left for pieces of these while it runs.

use super::kernels::Kept;
use super::layout_plan::{LayoutPlan, PlanDecoder, Unplanned};
use super::planned_layout::PlannedLayout;
use super::prices::Prices;
use super::sharding::tile_steps::{ALL, WorkingArray, WorkingSet};
use super::tiled::TiledPlanner;

impl<'a> TiledPlanner<'a, '_> {
    /// The arrays that each operation of a plan works on; none without a capacity of the fastest memory. An array
    /// between operations of one kernel counts as far: each operation is taken alone.
    ///
    /// # Errors
    /// A cost does not fit in 64 bits.
    pub fn working_sets(&self, plan: &LayoutPlan) -> Result<Vec<WorkingSet<'a>>, Unplanned> {
        let Some(limit) = self.fast_limit() else { return Ok(Vec::new()) };
        let prices = Prices::new(&self.problem.choices.classes);
        let program = &self.problem.program;
        let laid_out = self.tiled_operations(plan)?;
        let certificate = plan.solution.certificate.clone();
        let decoder = PlanDecoder { problem: &self.problem, prices, placed: self.placed(), certificate };
        // By moment, the bytes that are there more than before.
        let mut changes = vec![0i128; program.instances.len() + 1];
        for (made, moments) in self.problem.moments().iter().enumerate() {
            for held in decoder.bytes(made, moments).iter().filter(|held| held.space == limit.space) {
                for range in &held.moments {
                    let at = |moment: i64| usize::try_from(moment).unwrap_or(0).min(program.instances.len());
                    changes[at(range.start)] += i128::from(held.bytes);
                    changes[at(range.end)] -= i128::from(held.bytes);
                }
            }
        }
        let mut taken = 0i128;
        let mut all = Vec::with_capacity(program.instances.len());
        for (k, (instance, own)) in program.instances.iter().zip(&laid_out).enumerate() {
            taken += changes[k];
            let one = |(made, layout): (&usize, &PlannedLayout)| {
                let (at, array) = (program.name(*made), program.made[*made].array);
                let far = self.far(&decoder, *made, k, limit.space);
                Some(WorkingArray { at, array, layout: layout.tiled()?.clone(), far })
            };
            all.push(WorkingSet {
                node: instance.node,
                kind: instance.kind,
                times: instance.times,
                operands: instance.operands.iter().zip(own.operands.iter().flatten()).filter_map(one).collect(),
                results: instance.results.iter().zip(&own.results).filter_map(one).collect(),
                is_free: self.problem.kernels.kept[k] == Kept::Remade || self.problem.kernels.renamed[k],
                room: i64::try_from(i128::from(limit.bytes) - taken).unwrap_or(0).max(0),
                capacity: limit.bytes,
            });
        }
        Ok(all)
    }

    /// The part of an array that is not in the fastest memory at a moment, in millionths.
    fn far(&self, decoder: &PlanDecoder, mut made: usize, moment: usize, near: u8) -> i64 {
        let (program, kernels) = (&self.problem.program, &self.problem.kernels);
        // Another name of an array lies where that does.
        while let Some(source) = program.instances[program.made[made].by].operands.first()
            && kernels.renamed[program.made[made].by]
        {
            made = *source;
        }
        let by = program.made[made].by;
        match (kernels.kept[by], decoder.residency(made)) {
            (Kept::Remade, _) => 0,
            (Kept::Fused, _) => ALL,
            (Kept::Stored, None) => {
                if decoder.near(made, decoder.made_in(made)) == near {
                    0
                } else {
                    ALL
                }
            }
            (Kept::Stored, Some((_, own))) => {
                let is_far = own.far.iter().any(|range| range.contains(&(moment as i64)));
                match own.is_read_near(moment as i64) {
                    // Without copies, some slices are here and the others there.
                    true if is_far && own.moves.is_empty() => {
                        let [here, there] = own.bytes.map(i128::from);
                        i64::try_from(there * i128::from(ALL) / (here + there).max(1)).unwrap_or(ALL)
                    }
                    true => 0,
                    false => ALL,
                }
            }
        }
    }
}
