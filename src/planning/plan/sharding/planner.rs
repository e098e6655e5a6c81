//! The candidates: a set of spreads for each value and for the loops of each operation.

use super::candidates::{MOST_OF_LOOPS, MOST_OF_VALUES, SpreadSet, Touched, anchored, of_array, of_loops};
use super::cuts::LoopChoice;
use super::pod::Pod;
use super::reading::{IndexRange, LoopNest, sizes};
use super::spread::{AxisCut, Spread};
use super::traffic::Levels;
use crate::plan::build_steps::BuildSteps;
use crate::plan::canonical::CanonicalOrder;
use crate::plan::clone_cheap::made_again;
use crate::plan::kernels::Kernels;
use crate::plan::layout_plan::{LaidOut, LayoutPlan, Unplanned};
use crate::plan::placing::Residence;
use crate::plan::planned_layout::PlannedLayout;
use crate::plan::planner::{GoOn, ListedLayouts, Planner};
use crate::plan::program::{ArrayName, InstanceKind, Program};
use crate::plan::space::SpaceLimit;
use crate::solver::{Certificate, CostNetwork, Options, check};
use rustc_hash::FxHashMap;
use tensor_layout::operations::facts::Facts;
use tensor_layout::operations::graph::Graph;
use tensor_layout::operations::shape::Array;
use tensor_layout::places::{Fit, Machine, Placement};
use tensor_layout::text::Error;

/// A program whose values are to be spread over the places of a machine.
pub struct ShardingPlanner<'a, 'm> {
    pub(super) machine: &'m Machine,
    pub(super) levels: Levels,
    /// The devices, where the places are some, and what is in memory there.
    pub(super) pod: Option<Pod>,
    pub(super) kernels: Option<Kernels>,
    pub(super) program: Program<'a>,
    /// The loops of each instance; `None` for what moves nothing.
    pub(super) nests: Vec<Option<LoopNest>>,
    /// By array.
    pub(super) homes: Vec<Home>,
    /// By array, and by instance.
    pub(super) values: Vec<SpreadSet>,
    pub(super) loops: Vec<SpreadSet>,
    /// By instance, how its loops may run: the choices of its variable.
    pub(super) choices: Vec<Vec<LoopChoice>>,
    /// The problem: a variable for each value and, after these, for the loops of each instance that has some; an edge for
    /// each array that an instance reads or makes.
    pub(super) network: CostNetwork,
    /// By instance, the variable of its loops.
    pub(super) variables: Vec<Option<usize>>,
    /// The edges, by their numbers.
    pub(super) touches: Vec<Touch>,
    /// On devices, the problem without capacities.
    pub(super) relaxed: Option<CostNetwork>,
    /// The capacities, by the numbers of the network's resources: those that were put in, and that of a device.
    pub(super) limits: Vec<SpaceLimit>,
    asked: Vec<SpaceLimit>,
}

/// The location that a program gives an array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Home {
    /// Nothing: it is planned.
    Free,
    /// It is spread so.
    Given(Spread),
    /// In no place, but in a memory beside them: places get all that they read of it, and give all that they make.
    Outside,
}

/// An array that an instance reads or makes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub by: usize,
    pub made: usize,
    /// The number of the operand; `None` for a result.
    pub operand: Option<usize>,
}

impl<'a, 'm> ShardingPlanner<'a, 'm> {
    /// Poses the problem of the graph with number `entry`; other graphs are those that it calls.
    ///
    /// # Errors
    /// A fault of the program or the machine: no places or too many, costs that do not fit in 64 bits, an array that
    /// does not fit into the memories of the places.
    pub fn new(
        graphs: &'a [Graph],
        entry: usize,
        facts: &Facts,
        machine: &'m Machine,
    ) -> Result<ShardingPlanner<'a, 'm>, Unplanned> {
        let program = Program::new(graphs, entry, facts).map_err(|error| Unplanned::Wrong(None, error))?;
        ShardingPlanner::of_program(&program, machine, &|_| Home::Free)
    }

    /// Poses the problem of a program of which some arrays are somewhere already.
    ///
    /// # Errors
    /// The errors of [`ShardingPlanner::new`].
    pub fn of_program(
        program: &Program<'a>,
        machine: &'m Machine,
        home: &dyn Fn(ArrayName) -> Home,
    ) -> Result<ShardingPlanner<'a, 'm>, Unplanned> {
        ShardingPlanner::of_program_within(program, (machine, home), &mut |_| true)
    }

    /// The same within a time: `go_on` is asked now and then; when it says no, nothing is decided.
    ///
    /// # Errors
    /// The errors of [`ShardingPlanner::new`], and [`Unplanned::Undecided`].
    pub fn of_program_within(
        program: &Program<'a>,
        (machine, home): (&'m Machine, &dyn Fn(ArrayName) -> Home),
        go_on: &mut GoOn,
    ) -> Result<ShardingPlanner<'a, 'm>, Unplanned> {
        let steps = &mut BuildSteps::long(go_on);
        let wrong = |error| Unplanned::Wrong(None, error);
        let levels = Levels::new(machine).map_err(wrong)?;
        let program = made_again(program).map_err(wrong)?;
        let mut nests = Vec::with_capacity(program.instances.len());
        for instance in &program.instances {
            let [operands, results] = [&instance.operands, &instance.results].map(|own| arrays(&program, own));
            let ends = matches!(instance.kind, InstanceKind::Argument(..) | InstanceKind::Result(_));
            // What makes nothing sends an array from where it is.
            let moves = !ends && !operands.is_empty() && !results.is_empty();
            nests.push(moves.then(|| LoopNest::new(&instance.kind, &operands, &results)));
        }
        let homes = (0..program.made.len()).map(|made| home(program.name(made))).collect();
        let values = vec![SpreadSet::default(); program.made.len()];
        let loops = vec![SpreadSet::default(); program.instances.len()];
        let (network, variables) = (CostNetwork::new(), Vec::new());
        let choices = vec![Vec::new(); program.instances.len()];
        let (touches, limits) = (Vec::new(), Vec::new());
        let pod = Pod::of(machine);
        // An array in registers is in no memory of a device.
        let order = CanonicalOrder::new(&program);
        let own_kernels = pod.as_ref().map(|_| Kernels::on_devices(&program, &order));
        let mut planner = ShardingPlanner {
            machine,
            levels,
            kernels: own_kernels,
            pod,
            relaxed: None,
            program,
            nests,
            homes,
            values,
            loops,
            choices,
            network,
            variables,
            touches,
            limits,
            asked: Vec::new(),
        };
        match planner.pod.clone() {
            Some(pod) => planner.find_on(&pod)?,
            None => planner.find(&order, steps)?,
        }
        let fits = planner.fitting()?;
        planner.pose(fits, steps)?;
        Ok(planner)
    }

    /// The arrays that an instance reads and makes.
    pub(super) fn touched(&self, by: usize) -> impl Iterator<Item = Touch> + '_ {
        let instance = &self.program.instances[by];
        let read =
            instance.operands.iter().enumerate().map(move |(k, made)| Touch { by, made: *made, operand: Some(k) });
        read.chain(instance.results.iter().map(move |made| Touch { by, made: *made, operand: None }))
    }

    /// How often an array comes to an instance, or leaves it. The second operand of a loop's merge comes in each round, and its
    /// result is made once more, before the loop.
    pub(super) fn times(&self, touch: Touch) -> i64 {
        let instance = &self.program.instances[touch.by];
        if instance.kind != InstanceKind::Merge {
            return instance.times;
        }
        let made = |operand: &usize| self.program.instances[self.program.made[*operand].by].times;
        match touch.operand {
            Some(0) if instance.rounds > 0 => instance.times,
            Some(_) if instance.rounds > 0 => instance.rounds,
            None if instance.rounds > 0 => instance.times.saturating_add(instance.rounds),
            // Where loops do not say how often they run, what they carry is made as often as they do.
            Some(k) => instance.operands.get(k).map_or(1, made).max(instance.times),
            None => instance.operands.iter().map(made).fold(instance.times, i64::max),
        }
    }

    /// The indices of an array that an instance reads or makes.
    pub(super) fn ranges(&self, touch: Touch) -> &[IndexRange] {
        let Some(nest) = &self.nests[touch.by] else { return &[] };
        match touch.operand {
            // A loop's merge has its second operand from the body.
            Some(k) => nest.operands.get(k).or(nest.results.first()).map_or(&[], Vec::as_slice),
            None => &nest.results[self.program.made[touch.made].result],
        }
    }

    /// Finds the candidates.
    ///
    /// # Errors
    /// The time is over.
    fn find(&mut self, canonical: &CanonicalOrder, steps: &mut BuildSteps) -> Result<(), Unplanned> {
        let mut anchors = Anchors::default();
        for (found, home) in self.values.iter_mut().zip(&self.homes) {
            match home {
                Home::Free => {}
                Home::Given(spread) => found.add(spread.clone(), MOST_OF_VALUES),
                Home::Outside => found.add(Spread::outside(), MOST_OF_VALUES),
            }
        }
        let order: Vec<usize> = canonical.instances.iter().copied().filter(|by| self.nests[*by].is_some()).collect();
        for streams in [false, true] {
            for by in &order {
                steps.step().map_err(|error| (self.program.instances[*by].node, error))?;
                // What streams takes over from the others first.
                if streams {
                    self.exchange(*by);
                }
                let own = self.nests[*by].as_ref().is_some_and(|nest| nest.streams() == streams);
                if own && self.loops[*by].all.is_empty() {
                    self.anchor(*by, &mut anchors);
                    self.exchange(*by);
                }
            }
            for by in order.iter().chain(order.iter().rev()).chain(&order) {
                steps.step().map_err(|error| (self.program.instances[*by].node, error))?;
                self.exchange(*by);
            }
        }
        for (found, made) in self.values.iter_mut().zip(&self.program.made) {
            if found.all.is_empty() {
                found.add(alone(self.machine, &sizes(made.array)), MOST_OF_VALUES);
            }
        }
        Ok(())
    }

    /// Searches for spreads of the loops of an instance.
    fn anchor(&mut self, by: usize, anchors: &mut Anchors) {
        let Some(nest) = &self.nests[by] else { return };
        let all: Vec<(Vec<i64>, &[IndexRange], i64)> = self
            .touched(by)
            .map(|touch| (sizes(self.program.made[touch.made].array), self.ranges(touch), self.bits(touch)))
            .collect();
        let key = (nest.sizes.clone(), all.iter().map(|(_, ranges, bits)| (ranges.to_vec(), *bits)).collect());
        let best = anchors.entry(key).or_insert_with(|| {
            let touched = all.iter().map(|(sizes, ranges, bits)| Touched { sizes, ranges, bits: *bits });
            anchored(self.machine, nest, &touched.collect::<Vec<_>>())
        });
        let best = best.clone();
        best.into_iter().for_each(|spread| self.loops[by].add(spread, MOST_OF_LOOPS));
    }

    /// Values get what an instance would have them in, and its loops what the values have.
    fn exchange(&mut self, by: usize) {
        let in_places = |touch: &Touch| self.homes[touch.made] != Home::Outside;
        let touched: Vec<Touch> = self.touched(by).filter(in_places).collect();
        for touch in &touched {
            let Some(nest) = &self.nests[by] else { return };
            let ranges = self.ranges(*touch).to_vec();
            let lifted: Vec<Spread> =
                self.values[touch.made].all.iter().map(|spread| of_loops(spread, &ranges, nest)).collect();
            // What uses fewer places than others do is no candidate.
            let places =
                |spread: &Spread| (0..spread.axes.len()).fold(1i64, |n, axis| n.saturating_mul(spread.used(axis)));
            let most = self.loops[by].all.iter().chain(&lifted).map(places).max();
            let full: Vec<Spread> = lifted.into_iter().filter(|spread| Some(places(spread)) == most).collect();
            full.into_iter().for_each(|spread| self.loops[by].add(spread, MOST_OF_LOOPS));
        }
        for touch in touched.into_iter().filter(|touch| self.homes[touch.made] == Home::Free) {
            let ranges = self.ranges(touch).to_vec();
            let own = sizes(self.program.made[touch.made].array);
            for spread in &self.loops[by].all {
                self.values[touch.made].add(of_array(spread, &ranges).without_copies(&own), MOST_OF_VALUES);
            }
        }
    }

    /// The candidates of each array that fit into the memories of the places. Where none does, the array is cut over
    /// all places, and where it does not fit so, it is beside them.
    ///
    /// # Errors
    /// On devices, the first value of which none fits.
    pub(super) fn fitting(&mut self) -> Result<Vec<Vec<bool>>, Unplanned> {
        if let Some(pod) = &self.pod {
            return self.fitting_on(pod);
        }
        let mut all = Vec::with_capacity(self.values.len());
        for ((found, made), home) in self.values.iter_mut().zip(&self.program.made).zip(&self.homes) {
            if *home != Home::Free {
                all.push(vec![true; found.all.len()]);
                continue;
            }
            let fits = |spread: &Spread| held_by(self.machine, spread, made.array).is_ok();
            let mut own: Vec<bool> = found.all.iter().map(fits).collect();
            if !own.contains(&true) {
                let most = alone(self.machine, &sizes(made.array));
                found.add(if fits(&most) { most } else { Spread::outside() }, MOST_OF_VALUES + 1);
                own.resize(found.all.len(), true);
            }
            all.push(own);
        }
        Ok(all)
    }
}

impl Planner for ShardingPlanner<'_, '_> {
    fn program(&self) -> &Program<'_> {
        &self.program
    }

    fn machine(&self) -> &Machine {
        self.machine
    }

    fn network(&self) -> &CostNetwork {
        &self.network
    }

    fn limits(&self) -> &[SpaceLimit] {
        &self.limits
    }

    fn capacities(&self) -> &[SpaceLimit] {
        &self.asked
    }

    /// Values are the first variables; others are loops.
    fn array_of(&self, variable: usize) -> Option<usize> {
        (variable < self.program.made.len()).then_some(variable)
    }

    fn listed(&self, made: usize) -> Option<ListedLayouts> {
        let sizes = sizes(self.program.made[made].array);
        let layout = |spread: &Spread| match spread.is_outside() {
            true => Some(PlannedLayout::Beside),
            false => spread.layout(&sizes, self.machine).ok().map(PlannedLayout::Places),
        };
        let layouts: Vec<_> = self.values[made].all.iter().map(layout).collect();
        let chosen = (0..layouts.len()).collect();
        let is_free = self.homes[made] != Home::Outside && !sizes.is_empty();
        is_free.then_some(ListedLayouts { variable: made, layouts, chosen })
    }

    /// Values beside the places where they may be, and loops with the least buffers.
    fn start(&self, _: &Options, _: &mut GoOn) -> Vec<usize> {
        let mut loops = vec![0; self.network.variables().len()];
        self.variables.iter().enumerate().for_each(|(by, variable)| variable.iter().for_each(|own| loops[*own] = by));
        self.network.completed(Vec::new(), |variable, choice| match self.values.get(variable) {
            Some(set) => i64::from(!set.all[choice].is_outside()),
            None => self.choices[loops[variable]].get(choice).map_or(0, LoopChoice::buffers),
        })
    }

    fn decode(&self, certificate: Certificate) -> Result<LayoutPlan, Unplanned> {
        self.told(certificate).map_err(|error| Unplanned::Wrong(None, error))
    }

    /// On places, arrays do not change their memory.
    fn put_limits(&mut self, limits: &[SpaceLimit], _: Residence, go_on: &mut GoOn) -> Result<(), Unplanned> {
        (self.limits, self.asked) = (limits.to_vec(), limits.to_vec());
        match self.pod {
            Some(_) => self.limit_devices(),
            None if limits.is_empty() => Ok(()),
            None => self.limit_places(limits, &mut BuildSteps::long(go_on)),
        }
    }

    fn keep(&mut self, bytes: i64) -> Result<(), Unplanned> {
        if let Some(network) = self.kept(bytes)? {
            self.network = network;
        }
        Ok(())
    }

    fn plan(&self, options: &Options, go_on: &mut GoOn) -> Result<LayoutPlan, Unplanned> {
        match &self.relaxed {
            Some(relaxed) => self.plan_on_devices(relaxed, options, go_on),
            None => self.best(options, go_on),
        }
    }

    fn laid_out(&self, plan: &LayoutPlan) -> Result<Vec<LaidOut>, Unplanned> {
        self.placed(plan).map_err(|error| Unplanned::Wrong(None, error))
    }

    /// On devices, a bound of all plans is one of those that fit.
    fn proved(&self, certificate: Certificate) -> Result<LayoutPlan, Unplanned> {
        let is_of_all = self.relaxed.as_ref().is_some_and(|relaxed| check(relaxed, &certificate).is_ok());
        if !is_of_all {
            return self.replayed(certificate);
        }
        let plan = self.decode(certificate)?;
        match self.excess(&plan) {
            0 => Ok(plan),
            excess => {
                let message = format!("the plan takes {excess} bytes more of a device than it has");
                Err(Unplanned::Wrong(None, Error::new(message)))
            }
        }
    }
}

/// By the sizes of loops, and the indices and bits of arrays, what the search has found.
type Anchors = FxHashMap<(Vec<i64>, Vec<(Vec<IndexRange>, i64)>), Vec<Spread>>;

fn arrays<'a>(program: &Program<'a>, numbers: &[usize]) -> Vec<&'a Array> {
    numbers.iter().map(|made| program.made[*made].array).collect()
}

/// The room that an array, spread so, takes in the memories of the places; `None` for scalars and arrays in no place.
///
/// # Errors
/// The bytes that it needs, and those that there are.
pub(super) fn held_by(machine: &Machine, spread: &Spread, array: &Array) -> Result<Option<Fit>, Error> {
    if array.dims.is_empty() || spread.is_outside() {
        return Ok(None);
    }
    let own = sizes(array);
    let placement = Placement::new(&spread.layout(&own, machine)?, Some(&own));
    let placement = placement.map_err(|error| error.error)?;
    machine.check(&placement, array.element.bits().unwrap_or(8), None).map(Some)
}

/// The spread of a value that nothing reads: cut along its largest dimensions.
fn alone(machine: &Machine, sizes: &[i64]) -> Spread {
    let axes = machine.axes.iter().map(|axis| vec![AxisCut::copies(axis.extent)]).collect();
    Spread { axes, local: Vec::new() }.without_copies(sizes)
}
