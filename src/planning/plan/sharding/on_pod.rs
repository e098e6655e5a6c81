//! The problem on the devices of a pod: copies are held, what moves are collectives, and work is divided.
//!
//! The variables and edges are those of [places](super::network). What differs is what they cost: a value may be held in
//! copies, an edge costs the collectives between a value's home and the loops, and a choice for loops costs the work of a
//! device. Where the machine says no rate of work, loops use as many devices as they can.
//!
//! The memory of each device is a limit. A plan within it is found in two steps: the best plan without it is the best
//! one if it fits; else values get capacities, and where what operations bring beside does not fit then, so much less.

use super::candidates::{MOST_OF_VALUES, of_array};
use super::meshes::{evenly, mesh_of, meshes, spreads};
use super::planner::{Home, ShardingPlanner, Touch, held_by};
use super::pod::{DeviceLine, Pod, PodStep, nothing_divides};
use super::reading::sizes;
use super::spread::Spread;
use crate::plan::kernels::Kept;
use crate::plan::layout_plan::Unplanned;
use crate::plan::program::InstanceKind;
use crate::solver::{FORBIDDEN, NetworkError};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;
use tensor_layout::operations::operation::Operation;
use tensor_layout::places::CollectiveKind;
use tensor_layout::text::Error;

/// The collectives that are known: from a home to a reader, and with sums from a maker to a home.
pub(super) type KnownSteps = FxHashMap<(usize, Spread, Spread, Vec<DeviceLine>), Vec<PodStep>>;

impl ShardingPlanner<'_, '_> {
    /// Finds the candidates on a pod.
    ///
    /// # Errors
    /// The devices divide nothing, or a value has too many bytes for each of them.
    pub(super) fn find_on(&mut self, pod: &Pod) -> Result<(), Unplanned> {
        let mut all = meshes(pod.count, &pod.groups);
        for home in &self.homes {
            if let Home::Given(spread) = home
                && let Some(mesh) = mesh_of(spread, pod.count).filter(|mesh| !all.contains(mesh))
            {
                all.push(mesh);
            }
        }
        let mut divided = false;
        for (made, home) in self.homes.iter().enumerate() {
            let own = sizes(self.program.made[made].array);
            let found = &mut self.values[made];
            match home {
                Home::Free => {
                    let tried = spreads(&all, &own, &|dim, pieces| own[dim] % pieces == 0);
                    tried.into_iter().for_each(|spread| found.add(spread, usize::MAX));
                }
                Home::Given(spread) => found.add(spread.clone(), MOST_OF_VALUES),
                Home::Outside => found.add(Spread::outside(), MOST_OF_VALUES),
            }
            divided |= found.all.iter().any(|spread| (0..own.len()).any(|dim| spread.pieces(dim) > 1));
        }
        if !divided && pod.count > 1 && self.homes.contains(&Home::Free) {
            let known: BTreeSet<i64> = self.program.made.iter().flat_map(|made| sizes(made.array)).collect();
            let known: Vec<i64> = known.into_iter().filter(|size| *size > 1).collect();
            return Err(Unplanned::Wrong(None, nothing_divides(pod, &known)));
        }
        // What is tied to a given spread has it as well.
        for (from, to) in self.tied() {
            for (free, given) in [(from, to), (to, from)] {
                if let (Home::Free, Home::Given(spread)) = (&self.homes[free], &self.homes[given]) {
                    self.values[free].add(spread.clone(), usize::MAX);
                }
            }
        }
        for by in 0..self.nests.len() {
            let Some(nest) = &self.nests[by] else { continue };
            let touched: Vec<Touch> = self.touched(by).collect();
            let arrays: Vec<Vec<i64>> = touched.iter().map(|own| sizes(self.program.made[own.made].array)).collect();
            let may = |of: usize, pieces: i64| {
                let even = |(touch, sizes): (&Touch, &Vec<i64>)| {
                    let mut follow =
                        self.ranges(*touch).iter().zip(sizes).filter(|(range, _)| range.of_loop() == Some(of));
                    let first = follow.next();
                    first.is_none_or(|(range, size)| evenly(*range, [nest.sizes[of], *size], pieces))
                        && follow.next().is_none()
                };
                nest.cuttable[of] && nest.sizes[of] % pieces == 0 && touched.iter().zip(&arrays).all(even)
            };
            let mut tried = spreads(&all, &nest.sizes, &may);
            if pod.work.is_none() {
                let used = |spread: &Spread| (0..nest.sizes.len()).map(|of| spread.pieces(of)).product::<i64>();
                let most = tried.iter().map(used).max();
                tried.retain(|spread| Some(used(spread)) == most);
            }
            tried.into_iter().for_each(|spread| self.loops[by].add(spread, usize::MAX));
        }
        Ok(())
    }

    /// The candidates of each value that fit into the memory of a device.
    ///
    /// # Errors
    /// The first value of which none does, and what is missing.
    pub(super) fn fitting_on(&self, pod: &Pod) -> Result<Vec<Vec<bool>>, Unplanned> {
        let mut all = Vec::with_capacity(self.values.len());
        for (made, found) in self.values.iter().enumerate() {
            let array = self.program.made[made].array;
            let own: Vec<bool> = found.all.iter().map(|spread| held_by(self.machine, spread, array).is_ok()).collect();
            if !own.contains(&true) {
                let whole = sizes(array)
                    .iter()
                    .fold(array.element.bits().unwrap_or(8).into(), |n: i128, size| n.saturating_mul((*size).into()));
                let most = found
                    .all
                    .iter()
                    .map(|spread| (0..array.dims.len()).map(|dim| spread.pieces(dim)).product::<i64>())
                    .max();
                let memory = self.machine.memory_of_places().map(|(memory, _)| &self.machine.memories[memory]);
                let (name, bytes) = memory.map_or(("memory", 0), |memory| (&memory.name, memory.bytes));
                let least = whole / 8 / i128::from(most.unwrap_or(1));
                let message = format!(
                    "an array of {} bytes takes at least {least} bytes of each of {} devices, {} more than the {bytes} of {name}",
                    whole / 8,
                    pod.count,
                    least - i128::from(bytes)
                );
                return Err(Unplanned::Wrong(
                    Some(self.program.instances[self.program.made[made].by].node),
                    Error::new(message),
                ));
            }
            all.push(own);
        }
        Ok(all)
    }

    /// Arguments, and the arrays that take their places: those of one size that are not given apart.
    pub(super) fn tied(&self) -> Vec<(usize, usize)> {
        let argument = |at: (usize, usize)| {
            let own = self.program.instances.iter().find(|own| own.kind == InstanceKind::Argument(at.0, at.1));
            own.map(|own| own.results[0])
        };
        let result = |number: usize| {
            let own = self.program.instances.iter().find(|own| own.kind == InstanceKind::Result(number));
            own.map(|own| own.operands[0])
        };
        let mut seen = BTreeSet::new();
        let all = self.program.carried.iter().filter_map(|(number, at)| Some((argument(*at)?, result(*number)?)));
        all.filter(|(from, to)| {
            let homes = [from, to].map(|made| &self.homes[*made]);
            let may = (homes.contains(&&Home::Free) || homes[0] == homes[1]) && !homes.contains(&&Home::Outside);
            let [a, b] = [from, to].map(|made| sizes(self.program.made[*made].array));
            from != to && may && a == b && !a.is_empty() && seen.insert((*from, *to))
        })
        .collect()
    }

    /// Lets what a step makes of an argument have the argument's spread.
    ///
    /// # Errors
    /// The network is too large.
    pub(super) fn tie(&mut self) -> Result<(), NetworkError> {
        for (from, to) in self.tied() {
            let costs: Vec<i64> = (self.values[from].all.iter())
                .flat_map(|a| self.values[to].all.iter().map(move |b| if a == b { 0 } else { FORBIDDEN }))
                .collect();
            self.network.add_edge(from, to, costs)?;
        }
        Ok(())
    }

    /// Whether an array is in registers, as long as no collective moves it.
    pub(super) fn in_registers(&self, made: usize) -> bool {
        let by = self.program.made[made].by;
        self.kernels.as_ref().is_some_and(|kernels| kernels.kept[by] != Kept::Stored)
    }

    /// A unit for each time that an argument's copies double: else nothing would speak against copies of what devices take
    /// slices of.
    pub(super) fn copies_cost(&self, made: usize, spread: usize) -> i64 {
        let by = self.program.made[made].by;
        let is_argument = matches!(self.program.instances[by].kind, InstanceKind::Argument(..));
        if !is_argument || self.program.made[made].array.dims.is_empty() {
            return 0;
        }
        let cuts = self.values[made].all[spread].axes.iter().flatten();
        cuts.filter(|cut| cut.of.is_none()).map(|cut| i64::from(cut.pieces.max(1).ilog2())).sum()
    }

    /// The collectives between a value's home and loops.
    pub(super) fn steps_on(&self, pod: &Pod, touch: Touch, home: &Spread, loops: &Spread) -> Vec<PodStep> {
        self.known_steps(pod, touch, home, loops, &mut KnownSteps::default())
    }

    fn known_steps(
        &self,
        pod: &Pod,
        touch: Touch,
        home: &Spread,
        loops: &Spread,
        known: &mut KnownSteps,
    ) -> Vec<PodStep> {
        let ranges = self.ranges(touch);
        let (used, rank) = (of_array(loops, ranges), ranges.len());
        let sums = match touch.operand {
            Some(_) => Vec::new(),
            None => Pod::lines(loops, &|of| ranges.iter().all(|range| range.of_loop() != Some(of))),
        };
        let key = match touch.operand {
            Some(_) => (rank, home.clone(), used, sums),
            None => (rank, used, home.clone(), sums),
        };
        let find = |(rank, from, to, sums): &(usize, Spread, Spread, Vec<DeviceLine>)| match touch.operand {
            Some(_) => pod.relayout(self.machine, *rank, from, to),
            None => pod.reduction(self.machine, *rank, (from, sums), to),
        };
        if let Some(steps) = known.get(&key) {
            return steps.clone();
        }
        let steps = find(&key);
        known.insert(key, steps.clone());
        steps
    }

    /// The bits of an array.
    pub(super) fn bits_of(&self, made: usize) -> i128 {
        let array = self.program.made[made].array;
        let bits = i128::from(array.element.bits().unwrap_or(8));
        sizes(array).iter().fold(bits, |n, size| n.saturating_mul((*size).into()))
    }

    /// For each array of an instance, the costs of pairs of a home, as rows, and a spread of the loops.
    pub(super) fn costs_on(&self, pod: &Pod, by: usize, touched: &[Touch], known: &mut KnownSteps) -> Vec<Vec<i64>> {
        let mut costs = Vec::with_capacity(touched.len());
        for touch in touched {
            let (bits, registers) = (self.bits_of(touch.made), self.in_registers(touch.made));
            let mut own = Vec::with_capacity(self.values[touch.made].all.len() * self.loops[by].all.len());
            for home in &self.values[touch.made].all {
                for loops in &self.loops[by].all {
                    let steps = self.known_steps(pod, *touch, home, loops, known);
                    let stored = if registers && moves(&steps) { self.stored_on(pod, *touch, home, loops) } else { 0 };
                    own.push(pod.cost(&steps, bits).saturating_add(stored));
                }
            }
            costs.push(own);
        }
        costs
    }

    /// The cost of writing an array that else is in registers, and of reading it behind collectives.
    fn stored_on(&self, pod: &Pod, touch: Touch, home: &Spread, loops: &Spread) -> i64 {
        let (held, used) = (self.block(touch.made, home), self.block(touch.made, &of_array(loops, self.ranges(touch))));
        let (read, written) = if touch.operand.is_some() { (used, held) } else { (held, used) };
        let time = time(read, pod.memory[0]).saturating_add(time(written, pod.memory[1]));
        i64::try_from(time.saturating_add(999_999) / 1_000_000).unwrap_or(i64::MAX)
    }

    /// The bytes of a device of an array that is spread so.
    fn block(&self, made: usize, spread: &Spread) -> i128 {
        let rank = self.program.made[made].array.dims.len();
        let pieces = (0..rank).fold(1i128, |n, dim| n.saturating_mul(spread.pieces(dim).into()));
        self.bits_of(made).saturating_add(7) / 8 / pieces.max(1)
    }

    /// The cost of a device's work in one run of an instance whose loops are spread so.
    pub(super) fn work_on(&self, pod: &Pod, by: usize, loops: &Spread) -> i64 {
        let (Some(nest), Some(kernels)) = (&self.nests[by], &self.kernels) else { return 0 };
        let instance = &self.program.instances[by];
        let InstanceKind::Operation(operation) = instance.kind else { return 0 };
        let block = |touch: &Touch| self.block(touch.made, &of_array(loops, self.ranges(*touch)));
        let is_stored = kernels.kept[by] == Kept::Stored && !kernels.renamed[by];
        let made: i128 = self.touched(by).filter(|own| own.operand.is_none()).map(|own| block(&own)).sum();
        let read = |touch: &Touch| {
            let Some(k) = touch.operand else { return 0 };
            let is_part = nest.scattered.get(k) == Some(&true) || matches!(operation, Operation::Slice { .. });
            let bytes = if is_part { block(touch).min(made) } else { block(touch) };
            bytes.saturating_mul(kernels.reads[by].get(k).copied().unwrap_or(0).into())
        };
        let mut bytes = [self.touched(by).map(|own| read(&own)).sum(), if is_stored { made } else { 0 }];
        if let (Operation::DynamicUpdateSlice, Some(update)) =
            (operation, self.touched(by).find(|own| own.operand == Some(1)))
        {
            bytes = [block(&update); 2];
        }
        // What is looked up and cut out is as much as the result.
        let picks = matches!(
            operation,
            Operation::Gather(_)
                | Operation::Slice { .. }
                | Operation::DynamicSlice { .. }
                | Operation::DynamicUpdateSlice
        );
        let follows = |of: usize| nest.results.iter().flatten().any(|range| range.of_loop() == Some(of));
        let runs = nest.sizes.iter().enumerate().filter(|(of, _)| !picks || follows(*of));
        let runs = runs.fold(1i128, |n, (of, size)| n.saturating_mul(loops.block(of, *size).into()));
        let is_product = matches!(operation, Operation::Dot { .. } | Operation::Convolution(_));
        let is_moved = matches!(
            operation,
            Operation::Reshape | Operation::Bitcast | Operation::Transpose { .. } | Operation::Constant
        );
        let computed = time(if is_moved { 0 } else { runs * if is_product { 2 } else { 1 } }, pod.work);
        let moved = time(bytes[0], pod.memory[0]).saturating_add(time(bytes[1], pod.memory[1]));
        i64::try_from(computed.max(moved).saturating_add(999_999) / 1_000_000).unwrap_or(i64::MAX)
    }

    /// The moments at which a device needs bytes for what it brings, and for sums that are not added up yet. What is brought
    /// into a kernel is there until its end.
    pub(super) fn buffers_on(&self, pod: &Pod, choices: &[usize]) -> Vec<(Range<i64>, i128)> {
        let mut found = Vec::new();
        for by in 0..self.nests.len() {
            let mut seen = BTreeSet::new();
            for (touch, used) in self.brought_on(pod, by, choices) {
                let is_read = touch.operand.is_some();
                let kernels = self.kernels.as_ref().map_or(&[][..], |own| &own.part_of[by]);
                let last = kernels.iter().copied().filter(|_| is_read).fold(by, usize::max);
                if seen.insert((touch.made, used.clone())) {
                    found.push((by as i64..last as i64 + 1, self.block(touch.made, &used)));
                }
            }
        }
        found
    }

    /// The arrays that collectives move by these choices, though they would be in registers else.
    pub(super) fn moved_registers(&self, choices: &[usize]) -> BTreeSet<usize> {
        let Some(pod) = &self.pod else { return BTreeSet::new() };
        let all = (0..self.nests.len()).flat_map(|by| self.brought_on(pod, by, choices));
        all.map(|(touch, _)| touch.made).filter(|made| self.in_registers(*made)).collect()
    }

    /// The arrays that collectives bring to an instance or take from it, as its loops have them.
    fn brought_on(&self, pod: &Pod, by: usize, choices: &[usize]) -> Vec<(Touch, Spread)> {
        let Some(variable) = self.variables[by] else { return Vec::new() };
        let loops = &self.loops[by].all[self.choices[by][choices[variable]].spread];
        let touched = self.arrays_of(by).into_iter();
        let moved = touched.filter(|touch| {
            moves(&self.steps_on(pod, *touch, &self.values[touch.made].all[choices[touch.made]], loops))
        });
        moved.map(|touch| (touch, of_array(loops, self.ranges(touch)))).collect()
    }
}

/// Whether something comes from other devices.
fn moves(steps: &[PodStep]) -> bool {
    steps.iter().any(|step| step.kind != CollectiveKind::Slice)
}

/// So much at a rate in millionths, in millionths of a unit of cost; nothing without a rate.
fn time(amount: i128, rate: Option<i64>) -> i128 {
    rate.map_or(0, |rate| amount.saturating_mul(1_000_000_000_000) / i128::from(rate))
}
