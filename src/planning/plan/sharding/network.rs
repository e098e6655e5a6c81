//! The problem as a network of costs.
//!
//! Without capacities a choice for the loops of an operation is how they are spread. With capacities it is also how those of
//! a place are cut into steps, and which arrays are used where they lie: such a choice goes only with a spread of the array
//! in which each place holds all that it uses. All others are brought into buffers, which take room while the operation runs.

use super::cuts::{Brought, LoopChoice, cuts, least, total};
use super::on_pod::KnownSteps;
use super::planner::{ShardingPlanner, Touch};
use super::reading::{IndexRange, LoopNest, sizes};
use super::spread::Spread;
use super::traffic::{Boxes, LevelBytes, Levels, SteppedArray};
use crate::plan::build_steps::BuildSteps;
use crate::plan::layout_plan::Unplanned;
use crate::solver::{FORBIDDEN, NetworkError};
use rustc_hash::FxHashMap;

/// The most arrays of an operation of which each may be used where it lies or not; of more, either all or none are.
const MOST_IN_PLACE: usize = 4;

/// A choice with buffers of at most this part of the room is taken to need none, where another is as good beside that.
const SMALL: i64 = 64;

/// Sizes, bits of an element, indices, and the spreads of an array, and whether it is in registers.
type TouchKey = (Vec<i64>, i64, Vec<IndexRange>, Vec<Spread>, bool);

/// The key of an instance's choices: its loops and their spreads, its arrays and how many of these it reads.
type OptionsKey = (LoopNest, Vec<Spread>, Vec<TouchKey>, usize);

/// How the loops of an instance may run, and for each of its arrays the costs of pairs of a spread, as rows, and of these.
#[derive(Clone, Default)]
struct LoopOptions {
    choices: Vec<LoopChoice>,
    costs: Vec<Vec<i64>>,
}

impl ShardingPlanner<'_, '_> {
    /// Puts costs into the network.
    ///
    /// # Errors
    /// The first instance with which the costs are too large, or that does not fit into the capacity; the time is over.
    pub(super) fn pose(&mut self, fits: Vec<Vec<bool>>, steps: &mut BuildSteps) -> Result<(), Unplanned> {
        let nodes: Vec<(usize, usize)> = self.program.instances.iter().map(|instance| instance.node).collect();
        let at = |by: usize| {
            let node = nodes[by];
            move |error: NetworkError| Unplanned::Wrong(Some(node), error.into())
        };
        self.add_values(fits)?;
        let room = self.buffers().map_or(i64::MAX, |(_, room, _)| room);
        let room = (!self.limits.is_empty()).then_some(room);
        let mut known: FxHashMap<OptionsKey, LoopOptions> = FxHashMap::default();
        let mut collectives = KnownSteps::default();
        for by in 0..self.nests.len() {
            steps.step().map_err(|error| (self.program.instances[by].node, error))?;
            let Some(nest) = &self.nests[by] else {
                self.variables.push(None);
                continue;
            };
            let touched = self.arrays_of(by);
            let reads = touched.iter().filter(|touch| touch.operand.is_some()).count();
            let keys = touched.iter().map(|touch| self.key(*touch)).collect();
            let key = (nest.clone(), self.loops[by].all.clone(), keys, reads);
            let options = match known.get(&key) {
                Some(options) => options.clone(),
                None => {
                    let options = match &self.pod {
                        Some(pod) => {
                            let choices = (0..self.loops[by].all.len()).map(|spread| LoopChoice { spread, cut: None });
                            let costs = self.costs_on(pod, by, &touched, &mut collectives);
                            LoopOptions { choices: choices.collect(), costs }
                        }
                        None => self.options(by, &touched, room).map_err(|short| self.short(by, short))?,
                    };
                    known.entry(key).or_insert(options).clone()
                }
            };
            let times = self.program.instances[by].times;
            // What does not fit is an error of the network, not a pair that cannot be.
            let finite = |cost: i64, times: i64| cost.saturating_mul(times).min(FORBIDDEN - 1);
            let work = match &self.pod {
                Some(pod) => self.loops[by].all.iter().map(|own| finite(self.work_on(pod, by, own), times)).collect(),
                None => vec![0; options.choices.len().max(1)],
            };
            let variable = self.network.add_variable(work).map_err(at(by))?;
            self.variables.push(Some(variable));
            self.choices[by] = options.choices;
            for (touch, costs) in touched.into_iter().zip(options.costs) {
                let times = self.times(touch);
                let costs = costs.into_iter().map(|cost| if cost == FORBIDDEN { cost } else { finite(cost, times) });
                self.network.add_edge(touch.made, variable, costs.collect::<Vec<_>>()).map_err(at(by))?;
                self.touches.push(touch);
            }
        }
        if self.pod.is_some() {
            self.tie().map_err(|error| Unplanned::Wrong(None, error.into()))?;
        }
        Ok(())
    }

    /// Adds a variable for each array, of whose spreads some do not fit into the capacity.
    fn add_values(&mut self, fits: Vec<Vec<bool>>) -> Result<(), Unplanned> {
        for (made, fits) in fits.into_iter().enumerate() {
            let least = |k: usize| if self.pod.is_some() { self.copies_cost(made, k) } else { 0 };
            let cost = |(k, fits)| if fits { least(k) } else { FORBIDDEN };
            let costs = fits.into_iter().enumerate().map(cost).collect();
            let node = self.program.instances[self.program.made[made].by].node;
            self.network.add_variable(costs).map_err(|error| Unplanned::Wrong(Some(node), error.into()))?;
        }
        Ok(())
    }

    /// The arrays that an instance reads and makes, scalars apart.
    pub(super) fn arrays_of(&self, by: usize) -> Vec<Touch> {
        self.touched(by).filter(|touch| !self.program.made[touch.made].array.dims.is_empty()).collect()
    }

    fn key(&self, touch: Touch) -> TouchKey {
        let array = self.program.made[touch.made].array;
        let all = self.values[touch.made].all.clone();
        (sizes(array), self.bits(touch), self.ranges(touch).to_vec(), all, self.in_registers(touch.made))
    }

    pub(super) fn bits(&self, touch: Touch) -> i64 {
        self.program.made[touch.made].array.element.bits().unwrap_or(8)
    }

    /// The boxes of an array that places read or make.
    pub(super) fn read(&self, touch: Touch, spread: &Spread) -> Boxes {
        let nest: &[i64] = self.nests[touch.by].as_ref().map_or(&[], |nest| &nest.sizes);
        let own = sizes(self.program.made[touch.made].array);
        self.levels.boxes(nest, spread).of_array(self.ranges(touch), &own)
    }

    /// The boxes of an array that places hold.
    pub(super) fn held(&self, touch: Touch, spread: &Spread) -> Boxes {
        if spread.is_outside() {
            return self.levels.nowhere(self.program.made[touch.made].array.dims.len());
        }
        self.levels.boxes(&sizes(self.program.made[touch.made].array), spread)
    }

    /// The bytes of array `number` of an instance, spread so, that a choice for the loops moves in one run. `None`
    /// where it would be used where it does not lie.
    pub(super) fn moved(&self, touch: Touch, number: usize, held: &Spread, choice: &LoopChoice) -> Option<LevelBytes> {
        let loops = &self.loops[touch.by].all[choice.spread];
        if let Some(pod) = &self.pod {
            let bits = self.bits_of(touch.made);
            let bytes = self.steps_on(pod, touch, held, loops).iter().map(|step| step.bytes(bits)).sum::<i128>();
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            return Some(LevelBytes { busiest: vec![bytes], total: vec![bytes.saturating_mul(pod.count)] });
        }
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
            return plain.is_in_place().then(|| plain.times(0));
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

    /// The choices for the loops of an instance, with a capacity those whose buffers take at most `room` bytes of a place.
    ///
    /// # Errors
    /// The least bytes that are needed, by array, where that is more.
    fn options(&self, by: usize, touched: &[Touch], room: Option<i64>) -> Result<LoopOptions, Vec<(usize, i64)>> {
        let spreads = &self.loops[by].all;
        let boxes = |touch: &Touch| {
            let read: Vec<Boxes> = spreads.iter().map(|spread| self.read(*touch, spread)).collect();
            let held: Vec<Boxes> = self.values[touch.made].all.iter().map(|own| self.held(*touch, own)).collect();
            (read, held)
        };
        let boxes: Vec<(Vec<Boxes>, Vec<Boxes>)> = touched.iter().map(boxes).collect();
        // By array, by spread of it, by spread of the loops: what moves in one step.
        let plain: Vec<Vec<Vec<LevelBytes>>> = (touched.iter().zip(&boxes))
            .map(|(touch, (read, held))| {
                let one = |held| read.iter().map(|read| self.levels.traffic(read, held, self.bits(*touch))).collect();
                held.iter().map(one).collect()
            })
            .collect();
        let mut choices: Vec<LoopChoice> = (0..spreads.len()).map(|spread| LoopChoice { spread, cut: None }).collect();
        if let Some(room) = room {
            let can_stay = |spread: usize| -> Vec<bool> {
                plain.iter().map(|all| all.iter().any(|moved| moved[spread].is_in_place())).collect()
            };
            choices = self.cut(by, touched, &can_stay, room)?;
        }
        let mut costs = Vec::with_capacity(touched.len());
        for (number, (touch, (read, held))) in touched.iter().zip(&boxes).enumerate() {
            let mut own = Vec::with_capacity(held.len() * choices.len());
            for (held, plain) in held.iter().zip(&plain[number]) {
                for choice in &choices {
                    let boxes = (&read[choice.spread], held);
                    let moved = self.stepped(*touch, number, choice, boxes, plain[choice.spread].clone());
                    own.push(moved.map_or(FORBIDDEN, |moved| Levels::cost(self.machine, &moved)));
                }
            }
            costs.push(own);
        }
        let options = LoopOptions { choices, costs };
        Ok(match room {
            Some(room) => options.without_worse(room),
            None => options,
        })
    }

    /// The cuts of each spread of the loops of an instance.
    ///
    /// # Errors
    /// The least bytes that are needed, by array, where that is more than `room`.
    fn cut(
        &self,
        by: usize,
        touched: &[Touch],
        can_stay: &dyn Fn(usize) -> Vec<bool>,
        room: i64,
    ) -> Result<Vec<LoopChoice>, Vec<(usize, i64)>> {
        let Some(nest) = &self.nests[by] else { return Ok(Vec::new()) };
        let (mut all, mut short) = (Vec::new(), None::<Vec<(usize, i64)>>);
        for (spread, loops) in self.loops[by].all.iter().enumerate() {
            let needed = once(touched, &self.brought(by, spread, &|arrays| least(nest, loops, arrays)));
            if total(&needed) > room {
                if short.as_ref().is_none_or(|known| total(&needed) < total(known)) {
                    short = Some(needed);
                }
                continue;
            }
            let in_place = subsets(&can_stay(spread));
            let cuts = self.brought(by, spread, &|arrays| cuts(nest, loops, arrays, &in_place, room));
            all.extend(cuts.into_iter().map(|cut| LoopChoice { spread, cut: Some(cut) }));
        }
        match short {
            Some(short) if all.is_empty() => Err(short),
            _ => Ok(all),
        }
    }

    /// The result of a function of the arrays of an instance whose loops have a spread.
    pub(super) fn brought<R>(&self, by: usize, spread: usize, of: &dyn Fn(&[Brought]) -> R) -> R {
        let touched = self.arrays_of(by);
        let loops = &self.loops[by].all[spread];
        let own: Vec<Vec<i64>> = touched.iter().map(|touch| sizes(self.program.made[touch.made].array)).collect();
        let scattered = self.nests[by].as_ref().map_or(&[][..], |nest| &nest.scattered);
        let one = |touch: &Touch| {
            let outside = self.held(*touch, &Spread::outside());
            let moved = self.levels.traffic(&self.read(*touch, loops), &outside, self.bits(*touch));
            let is_scattered = touch.operand.is_some_and(|k| scattered.get(k) == Some(&true));
            (Levels::cost(self.machine, &moved), is_scattered)
        };
        let known: Vec<(i64, bool)> = touched.iter().map(one).collect();
        let arrays = touched.iter().zip(&own).zip(&known).map(|((touch, sizes), (weight, is_scattered))| {
            let indices = (self.ranges(*touch), sizes.as_slice());
            let array = Brought::new(indices, self.bits(*touch), touch.operand.is_none(), *weight);
            Brought { is_scattered: *is_scattered, ..array }
        });
        of(&arrays.collect::<Vec<_>>())
    }
}

impl LoopOptions {
    /// Without those that need no less room than another and cost no less with any spread of any array. The one that needs
    /// least room stays.
    fn without_worse(self, room: i64) -> LoopOptions {
        let LoopOptions { choices, costs } = self;
        let count = choices.len();
        let column = |number: usize| costs.iter().flat_map(move |own| own.iter().skip(number).step_by(count.max(1)));
        let needs = |number: usize| {
            let bytes = choices[number].buffers();
            if bytes <= room / SMALL { 0 } else { bytes }
        };
        let sum = |number: usize| column(number).fold(0i128, |sum, cost| sum + i128::from(*cost));
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_cached_key(|number| (needs(*number), sum(*number), choices[*number].buffers()));
        let least = (0..count).min_by_key(|number| choices[*number].buffers());
        let mut kept: Vec<usize> = Vec::new();
        for number in order {
            let is_worse = |other: &usize| column(*other).zip(column(number)).all(|(other, own)| other <= own);
            if Some(number) == least || !kept.iter().any(is_worse) {
                kept.push(number);
            }
        }
        kept.sort_unstable();
        let one = |own: &Vec<i64>| own.chunks(count.max(1)).flat_map(|row| kept.iter().map(|k| row[*k])).collect();
        LoopOptions {
            costs: costs.iter().map(one).collect(),
            choices: kept.iter().map(|k| choices[*k].clone()).collect(),
        }
    }
}

/// Subsets of the arrays that can be used where they lie.
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
