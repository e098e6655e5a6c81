//! The problem as a network of costs.
//!
//! Without capacities a choice for the loops of an operation is how they are spread. With capacities it is also how those of
//! a place are cut into steps, and which arrays are used where they lie: such a choice goes only with a spread of the array
//! in which each place holds all that it uses. All others are brought into buffers, which take room while the operation runs.

use super::cuts::{Brought, LoopChoice, cuts, least};
use super::reading::{IndexRange, sizes};
use super::spread::Spread;
use super::spreader::{Spreader, Touch};
use super::traffic::{Boxes, LevelBytes, Levels, SteppedArray};
use crate::plan::layout_plan::Unplanned;
use crate::solver::{FORBIDDEN, NetworkError};
use rustc_hash::FxHashMap;

/// The most arrays of an operation of which each may be used where it lies or not; of more, either all or none are.
const MOST_IN_PLACE: usize = 4;

/// Sizes, bits of an element, loops, indices, the spreads of the array, and what it costs with which loops.
type TouchKey = (Vec<i64>, i64, Vec<i64>, Vec<IndexRange>, Vec<Spread>, Vec<Spread>);

impl Spreader<'_, '_> {
    /// Puts costs into the network.
    ///
    /// # Errors
    /// The first instance with which the costs are too large.
    pub(super) fn pose(&mut self, fits: Vec<Vec<bool>>) -> Result<(), Unplanned> {
        let nodes: Vec<(usize, usize)> = self.program.instances.iter().map(|instance| instance.node).collect();
        let at = |by: usize| {
            let node = nodes[by];
            move |error: NetworkError| Unplanned::Wrong(Some(node), error.into())
        };
        for (made, fits) in fits.into_iter().enumerate() {
            let costs = fits.into_iter().map(|fits| if fits { 0 } else { FORBIDDEN }).collect();
            self.network.add_variable(costs).map_err(at(self.program.made[made].by))?;
        }
        for (by, nest) in self.nests.iter().enumerate() {
            let variable = nest.as_ref().map(|_| self.network.add_variable(vec![0; self.choices[by].len().max(1)]));
            self.variables.push(variable.transpose().map_err(at(by))?);
        }
        let mut known: FxHashMap<TouchKey, Vec<i64>> = FxHashMap::default();
        for by in 0..self.nests.len() {
            let Some(variable) = self.variables[by] else { continue };
            for (number, touch) in self.arrays_of(by).into_iter().enumerate() {
                let times = self.program.instances[by].times;
                let costs = match self.limits.is_empty() {
                    true => known.entry(self.key(touch)).or_insert_with(|| self.table(touch)).clone(),
                    false => self.table_in_steps(touch, number),
                };
                // What does not fit is an error of the network, not a pair that cannot be.
                let finite = |cost: i64| cost.saturating_mul(times).min(FORBIDDEN - 1);
                let costs: Vec<i64> =
                    costs.into_iter().map(|cost| if cost == FORBIDDEN { cost } else { finite(cost) }).collect();
                self.network.add_edge(touch.made, variable, costs).map_err(at(by))?;
                self.touches.push(touch);
            }
        }
        Ok(())
    }

    /// The arrays that an instance reads and makes, scalars apart.
    pub(super) fn arrays_of(&self, by: usize) -> Vec<Touch> {
        self.touched(by).filter(|touch| !self.program.made[touch.made].array.dims.is_empty()).collect()
    }

    /// What the costs of an edge depend on.
    fn key(&self, touch: Touch) -> TouchKey {
        let array = self.program.made[touch.made].array;
        let nest = self.nests[touch.by].as_ref().map_or(Vec::new(), |nest| nest.sizes.clone());
        let all = (self.values[touch.made].all.clone(), self.loops[touch.by].all.clone());
        (sizes(array), array.element.bits().unwrap_or(8), nest, self.ranges(touch).to_vec(), all.0, all.1)
    }

    /// What each pair of spreads of an array and of loops costs, the array's as rows.
    fn table(&self, touch: Touch) -> Vec<i64> {
        let read: Vec<Boxes> = self.loops[touch.by].all.iter().map(|spread| self.read(touch, spread)).collect();
        let one = |held: &Spread| {
            let held = self.held(touch, held);
            let cost = |read| Levels::cost(self.machine, &self.levels.traffic(read, &held, self.bits(touch)));
            read.iter().map(cost).collect::<Vec<_>>()
        };
        self.values[touch.made].all.iter().flat_map(one).collect()
    }

    pub(super) fn bits(&self, touch: Touch) -> i64 {
        self.program.made[touch.made].array.element.bits().unwrap_or(8)
    }

    /// What places read or make of an array.
    pub(super) fn read(&self, touch: Touch, spread: &Spread) -> Boxes {
        let nest: &[i64] = self.nests[touch.by].as_ref().map_or(&[], |nest| &nest.sizes);
        let own = sizes(self.program.made[touch.made].array);
        self.levels.boxes(nest, spread).of_array(self.ranges(touch), &own)
    }

    /// What places hold of it.
    pub(super) fn held(&self, touch: Touch, spread: &Spread) -> Boxes {
        if spread.is_outside() {
            return self.levels.nowhere(self.program.made[touch.made].array.dims.len());
        }
        self.levels.boxes(&sizes(self.program.made[touch.made].array), spread)
    }

    /// What a choice for the loops of an instance moves of array `number` of it, which is spread so, in one run. `None` where
    /// it would be used where it does not lie.
    pub(super) fn moved(&self, touch: Touch, number: usize, held: &Spread, choice: &LoopChoice) -> Option<LevelBytes> {
        let loops = &self.loops[touch.by].all[choice.spread];
        let (read, held) = (self.read(touch, loops), self.held(touch, held));
        let plain = self.levels.traffic(&read, &held, self.bits(touch));
        self.stepped(touch, number, choice, (&read, &held), plain)
    }

    /// The same from the traffic in one step.
    fn stepped(
        &self,
        touch: Touch,
        number: usize,
        choice: &LoopChoice,
        (read, held): (&Boxes, &Boxes),
        plain: LevelBytes,
    ) -> Option<LevelBytes> {
        let (Some(own), Some(nest)) = (&choice.cut, &self.nests[touch.by]) else { return Some(plain) };
        if own.in_place[number] {
            return is_in_place(&plain).then(|| plain.times(0));
        }
        let loops = &self.loops[touch.by].all[choice.spread];
        let (is_result, sizes) = (touch.operand.is_none(), sizes(self.program.made[touch.made].array));
        let indices = (self.ranges(touch), sizes.as_slice());
        let array = SteppedArray::new(nest, loops, &own.cut, indices, self.bits(touch), is_result);
        match array.times() {
            Some(1) => Some(plain),
            _ if plain.total.iter().all(|bytes| *bytes == 0) => Some(plain),
            Some(times) => Some(plain.times(times)),
            None => Some(self.levels.traffic_in_steps(read, held, &array)),
        }
    }

    /// What each pair of a spread of array `number` of an instance and of a choice for the loops costs.
    fn table_in_steps(&self, touch: Touch, number: usize) -> Vec<i64> {
        let read: Vec<Boxes> = self.loops[touch.by].all.iter().map(|spread| self.read(touch, spread)).collect();
        let mut costs = Vec::with_capacity(self.values[touch.made].all.len() * self.choices[touch.by].len());
        for held in &self.values[touch.made].all {
            let held = self.held(touch, held);
            let plain: Vec<LevelBytes> =
                read.iter().map(|read| self.levels.traffic(read, &held, self.bits(touch))).collect();
            for choice in &self.choices[touch.by] {
                let boxes = (&read[choice.spread], &held);
                let moved = self.stepped(touch, number, choice, boxes, plain[choice.spread].clone());
                costs.push(moved.map_or(FORBIDDEN, |moved| Levels::cost(self.machine, &moved)));
            }
        }
        costs
    }

    /// Each spread of the loops of each instance, in one step.
    pub(super) fn uncut(&self) -> Vec<Vec<LoopChoice>> {
        let all = |own: &super::candidates::SpreadSet| {
            (0..own.all.len()).map(|spread| LoopChoice { spread, cut: None }).collect()
        };
        self.loops.iter().map(all).collect()
    }

    /// The choices for the loops of an instance whose buffers take at most `room` bytes of a place.
    ///
    /// # Errors
    /// The least bytes that are needed, by array, where that is more.
    pub(super) fn cut(&self, by: usize, room: i64) -> Result<Vec<LoopChoice>, Vec<(usize, i64)>> {
        let Some(nest) = &self.nests[by] else { return Ok(Vec::new()) };
        let touched = self.arrays_of(by);
        let own: Vec<Vec<i64>> = touched.iter().map(|touch| sizes(self.program.made[touch.made].array)).collect();
        let (mut all, mut short) = (Vec::new(), None::<Vec<(usize, i64)>>);
        for (spread, loops) in self.loops[by].all.iter().enumerate() {
            let mut arrays = Vec::with_capacity(touched.len());
            let mut can_stay = Vec::with_capacity(touched.len());
            for (touch, sizes) in touched.iter().zip(&own) {
                let read = self.read(*touch, loops);
                let moved = |held: &Spread| self.levels.traffic(&read, &self.held(*touch, held), self.bits(*touch));
                can_stay.push(self.values[touch.made].all.iter().any(|held| is_in_place(&moved(held))));
                let weight = Levels::cost(self.machine, &moved(&Spread::outside()));
                let indices = (self.ranges(*touch), sizes.as_slice());
                let is_scattered = touch.operand.is_some_and(|k| nest.scattered.get(k) == Some(&true));
                let array = Brought::new(indices, self.bits(*touch), touch.operand.is_none(), weight);
                arrays.push(Brought { is_scattered, ..array });
            }
            let needed = once(&touched, &least(nest, loops, &arrays));
            if total(&needed) > room {
                if short.as_ref().is_none_or(|known| total(&needed) < total(known)) {
                    short = Some(needed);
                }
                continue;
            }
            let cuts = cuts(nest, loops, &arrays, &subsets(&can_stay), room);
            all.extend(cuts.into_iter().map(|cut| LoopChoice { spread, cut: Some(cut) }));
        }
        match short {
            Some(short) if all.is_empty() => Err(short),
            _ => Ok(all),
        }
    }
}

/// Whether each place holds what it uses: nothing moves at the last level.
fn is_in_place(moved: &LevelBytes) -> bool {
    moved.total.last().is_none_or(|bytes| *bytes == 0)
}

/// Which arrays are used where they lie, of those that can be.
fn subsets(can_stay: &[bool]) -> Vec<Vec<bool>> {
    let own: Vec<usize> = (0..can_stay.len()).filter(|k| can_stay[*k]).collect();
    if own.len() > MOST_IN_PLACE {
        return vec![vec![false; can_stay.len()], can_stay.to_vec()];
    }
    let one = |bits: usize| {
        let stays = |k: usize| own.iter().position(|own| *own == k).is_some_and(|bit| bits >> bit & 1 == 1);
        (0..can_stay.len()).map(stays).collect()
    };
    (0..1usize << own.len()).map(one).collect()
}

/// Bytes by array, each once.
fn once(touched: &[Touch], bytes: &[i64]) -> Vec<(usize, i64)> {
    let mut all: Vec<(usize, i64)> = Vec::new();
    for (touch, bytes) in touched.iter().zip(bytes) {
        match all.iter_mut().find(|(made, _)| *made == touch.made) {
            Some((_, most)) => *most = (*most).max(*bytes),
            None => all.push((touch.made, *bytes)),
        }
    }
    all
}

/// The sum of bytes.
pub(super) fn total(all: &[(usize, i64)]) -> i64 {
    all.iter().fold(0i64, |sum, (_, bytes)| sum.saturating_add(*bytes))
}
