//! The layouts in which each operation reads and makes its arrays, for those who write them into a program.

use super::candidates::of_array;
use super::reading::sizes;
use super::spread::Spread;
use super::spreader::{Spreader, Touch, held_by};
use super::told::SpreadPlan;
use crate::places::TensorLayout;
use crate::plan::program::Doing;
use crate::text::Error;
use rustc_hash::FxHashMap;

/// The layouts of an operation's arrays; `None` for scalars and for what is in no place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpreadOperation {
    /// The graph, and the number of the node in it.
    pub node: (usize, usize),
    /// In which it reads its operands. `None` also where that is no layout, as with windows, which overlap, or does not fit
    /// into the places: then these read elements where they are.
    pub operands: Vec<Option<TensorLayout>>,
    /// In which it makes its results: with copies, which are added up, where loops of a sum are spread. `None` as above.
    pub made: Vec<Option<TensorLayout>>,
    /// In which its results are held.
    pub results: Vec<Option<TensorLayout>>,
}

impl Spreader<'_, '_> {
    /// In which layouts each operation reads, makes and holds its arrays. What is made again for each use has several
    /// entries.
    ///
    /// # Errors
    /// Addresses do not fit in 64 bits.
    pub fn placed(&self, plan: &SpreadPlan) -> Result<Vec<SpreadOperation>, Error> {
        let mut loops: FxHashMap<usize, &Spread> = FxHashMap::default();
        for (edge, touch) in self.network().edges().iter().zip(&self.touches) {
            let choice = &self.choices[touch.by][plan.certificate.choices[edge.ends[1]]];
            loops.insert(touch.by, &self.loops[touch.by].all[choice.spread]);
        }
        let one = |(by, instance): (usize, &crate::plan::program::Instance)| {
            let own = loops.get(&by).copied();
            let touch = |made: &usize, operand| Touch { by, made: *made, operand };
            let reads = instance.operands.iter().enumerate();
            let operands =
                reads.map(|(k, made)| self.met(plan, own, touch(made, Some(k)))).collect::<Result<_, _>>()?;
            let makes = instance.results.iter();
            let made = makes.map(|made| self.met(plan, own, touch(made, None))).collect::<Result<_, _>>()?;
            // A result of the program is what it is made of.
            let held = if matches!(instance.doing, Doing::Result(_)) { &instance.operands } else { &instance.results };
            let results = held.iter().map(|made| self.held_in(plan, *made)).collect::<Result<_, _>>()?;
            Ok(SpreadOperation { node: instance.node, operands, made, results })
        };
        self.program.instances.iter().enumerate().map(one).collect()
    }

    /// In which layout an array is held.
    fn held_in(&self, plan: &SpreadPlan, made: usize) -> Result<Option<TensorLayout>, Error> {
        let own = sizes(self.program.made[made].array);
        self.home(plan, made).map(|spread| spread.layout(&own, self.machine)).transpose()
    }

    /// In which layout loops read or make an array.
    fn met(&self, plan: &SpreadPlan, loops: Option<&Spread>, touch: Touch) -> Result<Option<TensorLayout>, Error> {
        let (Some(loops), Some(nest)) = (loops, &self.nests[touch.by]) else { return self.held_in(plan, touch.made) };
        let array = self.program.made[touch.made].array;
        let (own, ranges) = (sizes(array), self.ranges(touch));
        if own.is_empty() || !nest.is_plain(ranges, &own) {
            return Ok(None);
        }
        let spread = of_array(loops, ranges);
        if held_by(self.machine, &spread, array).is_err() {
            return Ok(None);
        }
        spread.layout(&own, self.machine).map(Some)
    }
}
