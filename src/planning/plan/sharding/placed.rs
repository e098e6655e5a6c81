//! The layouts in which each operation reads and makes its arrays, for those who write them into a program.

use super::candidates::of_array;
use super::cuts::LoopChoice;
use super::reading::sizes;
use super::slices::{OperationSlices, SlicedArray};
use super::spread::Spread;
use super::spreader::{Spreader, Touch, held_by};
use super::told::SpreadPlan;
use crate::plan::program::Doing;
use tensor_layout::places::{Placement, TensorLayout};
use tensor_layout::text::Error;

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
    /// The slices that it takes in steps, where it has several.
    pub slices: Option<OperationSlices>,
}

impl Spreader<'_, '_> {
    /// In which layouts each operation reads, makes and holds its arrays. What is made again for each use has several
    /// entries.
    ///
    /// # Errors
    /// Addresses do not fit in 64 bits.
    pub fn placed(&self, plan: &SpreadPlan) -> Result<Vec<SpreadOperation>, Error> {
        let chosen = self.chosen(&plan.certificate.choices);
        let one = |(by, instance): (usize, &crate::plan::program::Instance)| {
            let own = chosen[by].as_ref().map(|choice| &self.loops[by].all[choice.spread]);
            let touch = |made: &usize, operand| Touch { by, made: *made, operand };
            let reads = instance.operands.iter().enumerate();
            let operands =
                reads.map(|(k, made)| self.met(plan, own, touch(made, Some(k)))).collect::<Result<_, _>>()?;
            let makes = instance.results.iter();
            let made = makes.map(|made| self.met(plan, own, touch(made, None))).collect::<Result<_, _>>()?;
            // A result of the program is what it is made of.
            let held = if matches!(instance.doing, Doing::Result(_)) { &instance.operands } else { &instance.results };
            let results = held.iter().map(|made| self.held_in(plan, *made)).collect::<Result<_, _>>()?;
            let slices = chosen[by].as_ref().and_then(|choice| self.slices(plan, by, choice));
            Ok(SpreadOperation { node: instance.node, operands, made, results, slices })
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

    /// The slices that an operation takes in steps. None where it has one step, or these are no ranges of indices.
    fn slices(&self, plan: &SpreadPlan, by: usize, choice: &LoopChoice) -> Option<OperationSlices> {
        let (own, nest) = (choice.cut.as_ref()?, self.nests[by].as_ref()?);
        let loops = &self.loops[by].all[choice.spread];
        let touches: Vec<Touch> = self.touched(by).collect();
        let sizes: Vec<Vec<i64>> = touches.iter().map(|touch| sizes(self.program.made[touch.made].array)).collect();
        let arrays = touches.iter().zip(&sizes).map(|(touch, sizes)| SlicedArray {
            ranges: self.ranges(*touch),
            sizes,
            is_result: touch.operand.is_none(),
        });
        let mut found = OperationSlices::new(nest, loops, &own.cut, &arrays.collect::<Vec<_>>())?;
        for (touch, slice) in touches.iter().zip(found.operands.iter_mut().chain(&mut found.results)) {
            let Some(slice) = slice else { continue };
            slice.is_held = slice.is_cut() && self.home(plan, touch.made).is_some();
            if nest.is_plain(self.ranges(*touch), &slice.whole) {
                let spread = of_array(loops, self.ranges(*touch));
                for sizes in slice.all_sizes() {
                    let layout = spread.layout(&sizes, self.machine).ok()?;
                    let placement = Placement::new(&layout, Some(&sizes)).ok()?;
                    self.machine.check(&placement, self.bits(*touch), None).ok()?;
                    slice.layouts.push((sizes, layout));
                }
            }
        }
        Some(found)
    }
}
