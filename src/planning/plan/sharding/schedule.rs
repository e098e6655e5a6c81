//! The steps of each operation of a plan over places: their order, the pieces of each array, and what moves beside what must.

use super::candidates::of_array;
use super::cuts::{LoopChoice, cuts};
use super::lower_bound::{LeastArray, LeastRule};
use super::planner::{ShardingPlanner, Touch};
use super::reading::sizes;
use super::slices::{OperationSlices, SlicedArray};
use super::spread::StepPart;
use super::steps::{PlannedSteps, SteppedTouch};
use super::traffic::Levels;
use crate::plan::planned_layout::PlannedLayout;
use tensor_layout::places::{Placement, TensorLayout};
use tensor_layout::text::Error;

impl ShardingPlanner<'_, '_> {
    /// How the loops of each instance run by these choices. What lies where it is used is used there, and of cuts that move
    /// the same, the one with fewest steps is taken that there is room for.
    pub(super) fn chosen(&self, choices: &[usize]) -> Vec<Option<LoopChoice>> {
        let room = if self.limits.is_empty() { Vec::new() } else { self.room_beside(choices) };
        let one = |(by, variable): (usize, &Option<usize>)| {
            let choice = self.choices[by].get(choices[(*variable)?])?;
            let fewer = room.get(by).and_then(|room| self.in_fewer_steps(by, choice, *room, choices));
            Some(fewer.unwrap_or_else(|| choice.clone()))
        };
        self.variables.iter().enumerate().map(one).collect()
    }

    /// The cut with fewest steps in so much room, if it costs what a choice does.
    fn in_fewer_steps(&self, by: usize, choice: &LoopChoice, room: i64, choices: &[usize]) -> Option<LoopChoice> {
        let (own, nest) = (choice.cut.as_ref()?, self.nests[by].as_ref()?);
        let (loops, touched) = (&self.loops[by].all[choice.spread], self.arrays_of(by));
        let held = |touch: &Touch| &self.values[touch.made].all[choices[touch.made]];
        let stays = |(touch, in_place): (&Touch, &bool)| {
            let uncut = LoopChoice { cut: None, ..choice.clone() };
            *in_place || self.moved(*touch, 0, held(touch), &uncut).is_some_and(|moved| moved.is_in_place())
        };
        let in_place = [touched.iter().zip(&own.in_place).map(stays).collect()];
        let found = self.brought(by, choice.spread, &|arrays| cuts(nest, loops, arrays, &in_place, room));
        let fewer = LoopChoice { cut: Some(found.into_iter().next()?), ..choice.clone() };
        let same = |(number, touch): (usize, &Touch)| {
            let [old, new] = [choice, &fewer].map(|choice| self.moved(*touch, number, held(touch), choice));
            old.zip(new).is_some_and(|(old, new)| Levels::cost(self.machine, &old) == Levels::cost(self.machine, &new))
        };
        touched.iter().enumerate().all(same).then_some(fewer)
    }

    /// By instance, the bytes of a place that values leave while it runs.
    fn room_beside(&self, choices: &[usize]) -> Vec<i64> {
        let Some((space, most, shared)) = self.buffers() else { return vec![i64::MAX; self.nests.len()] };
        let Some(resource) = self.limits.iter().position(|limit| limit.space == space) else {
            return vec![most; self.nests.len()];
        };
        let mut changes = vec![0i64; self.nests.len() + 2];
        for own in self.network.occupancies() {
            if own.resource == resource && own.variable < self.program.made.len() {
                let amount = own.amounts[choices[own.variable]];
                let end = changes.len() - 1;
                let at = |moment: i64| usize::try_from(moment).unwrap_or(0).min(end);
                changes[at(own.moments.start)] += amount;
                changes[at(own.moments.end)] -= amount;
            }
        }
        let mut held = 0;
        let room = |change: &i64| {
            held += change;
            most.min(self.limits[resource].bytes.saturating_sub(held) / shared.max(1))
        };
        changes.iter().take(self.nests.len()).map(room).collect()
    }

    /// The steps of all operations that bring something into the places.
    ///
    /// # Errors
    /// Addresses do not fit in 64 bits.
    pub(super) fn schedule(
        &self,
        choices: &[usize],
        chosen: &[Option<LoopChoice>],
    ) -> Result<Vec<PlannedSteps>, Error> {
        let room = if self.limits.is_empty() { Vec::new() } else { self.room_beside(choices) };
        let mut all = Vec::new();
        for (by, choice) in chosen.iter().enumerate() {
            let (Some(choice), Some(nest)) = (choice, &self.nests[by]) else { continue };
            let Some(own) = choice.cut.as_ref().filter(|own| own.in_place.contains(&false)) else { continue };
            let loops = &self.loops[by].all[choice.spread];
            let node = self.program.instances[by].node;
            let mut planned = PlannedSteps::new(node, self.levels.count(), LeastRule::Compulsory);
            planned.cut(&own.cut, nest, loops);
            let touched = self.arrays_of(by);
            for (number, touch) in touched.iter().enumerate() {
                planned.add(self.stepped_touch(*touch, number, choice, choices)?);
            }
            let left = room.get(by).copied().unwrap_or(0).saturating_sub(own.bytes);
            planned.double(left, &|k| own.cut.changes(self.ranges(touched[k])));
            planned.slices = self.slices(by, choice, choices);
            self.beside_least(by, &touched, choices, &mut planned);
            all.push(planned);
        }
        Ok(all)
    }

    fn stepped_touch(
        &self,
        touch: Touch,
        number: usize,
        choice: &LoopChoice,
        choices: &[usize],
    ) -> Result<SteppedTouch, Error> {
        let (Some(own), Some(nest)) = (&choice.cut, &self.nests[touch.by]) else {
            return Err(Error::new("an operation without steps has no pieces"));
        };
        let loops = &self.loops[touch.by].all[choice.spread];
        let ranges = self.ranges(touch);
        let array = self.program.made[touch.made].array;
        let in_place = own.in_place[number];
        let is_scattered = touch.operand.is_some_and(|k| nest.scattered.get(k) == Some(&true));
        let elements = if in_place || is_scattered { 0 } else { own.cut.piece(ranges, &sizes(array), nest, loops) };
        let bytes = (i128::from(elements) * i128::from(self.bits(touch)) + 7) / 8;
        let steps = |range: &super::reading::IndexRange| range.of_loop().map_or(1, |of| own.cut.count(of, nest, loops));
        let held = &self.values[touch.made].all[choices[touch.made]];
        let moved = self.moved(touch, number, held, choice).unwrap_or_default();
        Ok(SteppedTouch {
            at: self.program.name(touch.made),
            operand: touch.operand,
            in_place,
            cut: ranges.iter().map(steps).enumerate().filter(|(_, count)| *count > 1).collect(),
            layout: self.in_steps(touch, choice)?.map(PlannedLayout::Places),
            bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
            is_double: false,
            levels: moved.times(self.times(touch)).busiest,
        })
    }

    /// The layout over places and time in which loops read or make an array.
    ///
    /// # Errors
    /// Addresses do not fit in 64 bits.
    pub(super) fn in_steps(&self, touch: Touch, choice: &LoopChoice) -> Result<Option<TensorLayout>, Error> {
        let (Some(own), Some(nest)) = (&choice.cut, &self.nests[touch.by]) else { return Ok(None) };
        let (loops, ranges) = (&self.loops[touch.by].all[choice.spread], self.ranges(touch));
        let sizes = sizes(self.program.made[touch.made].array);
        if !nest.is_plain(ranges, &sizes) {
            return Ok(None);
        }
        let count = |of: usize| own.cut.count(of, nest, loops);
        let stride =
            |position: usize| own.cut.order[position + 1..].iter().fold(1i64, |n, of| n.saturating_mul(count(*of)));
        let (mut cut, mut copies) = (vec![None; sizes.len()], Vec::new());
        for (position, of) in own.cut.order.iter().enumerate() {
            let part = StepPart { step: own.cut.steps[*of], count: count(*of), stride: stride(position) };
            if part.step.checked_mul(part.count) != Some(loops.block(*of, nest.sizes[*of])) {
                return Ok(None);
            }
            let mut dims = (0..sizes.len()).filter(|dim| ranges[*dim].of_loop() == Some(*of));
            match (dims.next(), dims.next()) {
                (None, _) => copies.push(part),
                (Some(dim), None) => cut[dim] = Some(part),
                _ => return Ok(None),
            }
        }
        of_array(loops, ranges).layout_in_steps(&sizes, self.machine, &cut, &copies).map(Some)
    }

    /// Puts in the least bytes of an operation.
    fn beside_least(&self, by: usize, touched: &[Touch], choices: &[usize], planned: &mut PlannedSteps) {
        let Some(nest) = &self.nests[by] else { return };
        let own: Vec<Vec<i64>> = touched.iter().map(|touch| sizes(self.program.made[touch.made].array)).collect();
        let one = |(touch, sizes): (&Touch, _)| {
            let Touch { made, operand, .. } = *touch;
            let is_scattered = operand.is_some_and(|k| nest.scattered.get(k) == Some(&true));
            let is_outside = self.values[made].all[choices[made]].is_outside() && !is_scattered;
            LeastArray::new((self.ranges(*touch), sizes), self.bits(*touch), operand.is_none(), is_outside)
        };
        let arrays: Vec<LeastArray> = touched.iter().zip(own.iter().map(Vec::as_slice)).map(one).collect();
        planned.rule = LeastRule::of(nest, &arrays);
        let (_, room, _) = self.buffers().unwrap_or((0, i64::MAX, 1));
        let places = self.machine.axes.iter().fold(1i64, |n, axis| n.saturating_mul(axis.extent));
        let mut nodes = 1i64;
        for axis in &self.machine.axes {
            nodes = nodes.saturating_mul(axis.extent);
            let least = planned.rule.bytes(nest, &arrays, nodes, room.saturating_mul(places / nodes));
            planned.least.push(least.saturating_mul(self.program.instances[by].times));
        }
    }

    /// The slices that an operation takes in steps. None where it has one step, or these are no ranges of indices.
    fn slices(&self, by: usize, choice: &LoopChoice, choices: &[usize]) -> Option<OperationSlices> {
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
            slice.is_held = slice.is_cut() && !self.values[touch.made].all[choices[touch.made]].is_outside();
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
