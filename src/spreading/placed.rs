//! The layouts in which each operation reads and makes its arrays, for those who write them into a program.

use super::candidates::of_array;
use super::cuts::LoopChoice;
use super::reading::{IndexRange, sizes};
use super::spread::Spread;
use super::spreader::{Spreader, Touch, held_by};
use super::told::SpreadPlan;
use crate::places::{Placement, TensorLayout};
use crate::plan::program::Doing;
use crate::text::Error;

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

/// The slices of its arrays that an operation takes, one after the other. The slice of step `t` of a loop of size `n` has
/// indices `t * s` to `(t + 1) * s - 1`, spread over the places: each element is in as many steps, and as often in a place,
/// as in steps through what a place has of each loop, and arrays that are beside the places do not care in which.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationSlices {
    /// The number of steps of each loop, the outermost first.
    pub counts: Vec<i64>,
    /// Of the operands; `None` for scalars.
    pub operands: Vec<Option<ArraySlice>>,
    /// Of the results.
    pub results: Vec<Option<ArraySlice>>,
}

/// A slice of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArraySlice {
    /// By dimension, which of the loops over steps it follows, and the indices from one step to the next.
    pub follows: Vec<Option<(usize, i64)>>,
    /// Its sizes.
    pub sizes: Vec<i64>,
    /// In which layout it is used. `None` where that is no layout: then its elements are read where they are.
    pub layout: Option<TensorLayout>,
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

    /// The slices that an operation takes in steps. None where it has one step, or where slices would not be equally large,
    /// or not of arrays beside the places.
    fn slices(&self, plan: &SpreadPlan, by: usize, choice: &LoopChoice) -> Option<OperationSlices> {
        let (own, nest) = (choice.cut.as_ref()?, self.nests[by].as_ref()?);
        let loops = &self.loops[by].all[choice.spread];
        let count = |of: &usize| own.cut.count(*of, nest, loops);
        let counts: Vec<i64> = own.cut.order.iter().map(count).collect();
        let step = |of: usize| loops.pieces(of).checked_mul(own.cut.steps[of]);
        let is_even = |of: &usize| step(*of).and_then(|step| step.checked_mul(count(of))) == Some(nest.sizes[*of]);
        if counts.is_empty() || !own.cut.order.iter().all(is_even) {
            return None;
        }
        let slice = |touch: Touch| -> Option<ArraySlice> {
            let (sizes, ranges) = (sizes(self.program.made[touch.made].array), self.ranges(touch));
            let mut found = ArraySlice { follows: vec![None; sizes.len()], sizes: sizes.clone(), layout: None };
            for (dim, range) in ranges.iter().enumerate() {
                let position = own.cut.order.iter().position(|of| range.of_loop() == Some(*of));
                let (Some(position), IndexRange::Along { of, stride, low, high, divisor }) = (position, *range) else {
                    continue;
                };
                let by_step = step(of)?.checked_mul(stride)?;
                let size = by_step.checked_sub(stride)?.checked_add(high)?.checked_add(1)?;
                let end = (counts[position] - 1).checked_mul(by_step)?.checked_add(size)?;
                if (low, divisor) != (0, 1) || end > sizes[dim] || self.home(plan, touch.made).is_some() {
                    return None;
                }
                (found.follows[dim], found.sizes[dim]) = (Some((position, by_step)), size);
            }
            if nest.is_plain(ranges, &sizes) {
                let layout = of_array(loops, ranges).layout(&found.sizes, self.machine).ok()?;
                let placement = Placement::new(&layout, Some(&found.sizes)).ok()?;
                self.machine.check(&placement, self.bits(touch), None).ok()?;
                found.layout = Some(layout);
            }
            Some(found)
        };
        let sliced = |touches: Vec<Touch>| -> Option<Vec<Option<ArraySlice>>> {
            let is_scalar = |touch: &Touch| self.program.made[touch.made].array.dims.is_empty();
            touches
                .into_iter()
                .map(|touch| if is_scalar(&touch) { Some(None) } else { slice(touch).map(Some) })
                .collect()
        };
        let (operands, results) = self.touched(by).partition(|touch| touch.operand.is_some());
        let (operands, results) = (sliced(operands)?, sliced(results)?);
        Some(OperationSlices { counts, operands, results })
    }
}
