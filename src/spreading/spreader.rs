//! The problem and the plan: a variable for each value and for the loops of each operation, an edge for each array that an
//! operation reads or makes.

use super::candidates::{MOST_OF_LOOPS, MOST_OF_VALUES, SpreadSet, Touched, anchored, of_array, of_loops};
use super::reading::{IndexRange, LoopNest, sizes};
use super::spread::{AxisCut, Spread};
use super::traffic::{Boxes, LevelBytes, Levels};
use crate::operations::facts::Facts;
use crate::operations::graph::Graph;
use crate::operations::shape::Array;
use crate::places::{Fit, Machine, Placement, TensorLayout};
use crate::plan::again::made_again;
use crate::plan::layout_plan::{ArrayName, Unplanned};
use crate::plan::program::{Doing, Program};
use crate::plan::space::{SpaceLimit, SpaceTaken};
use crate::solver::{Certificate, CostNetwork, FORBIDDEN, NetworkError, Options, Progress, check, solve};
use crate::text::Error;
use rustc_hash::FxHashMap;

/// A program whose values are to be spread over the places of a machine.
pub struct Spreader<'a, 'm> {
    pub(super) machine: &'m Machine,
    levels: Levels,
    pub(super) program: Program<'a>,
    /// The loops of each instance; `None` for what moves nothing.
    pub(super) nests: Vec<Option<LoopNest>>,
    /// By array.
    pub(super) homes: Vec<Home>,
    /// By array, and by instance.
    pub(super) values: Vec<SpreadSet>,
    pub(super) loops: Vec<SpreadSet>,
    pub(super) network: CostNetwork,
    /// The edges, by their numbers.
    pub(super) touches: Vec<Touch>,
    /// The capacities, by the numbers of the network's resources.
    pub(super) limits: Vec<SpaceLimit>,
}

/// What a program says of where an array is.
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
    /// Which operand; `None` for a result.
    pub operand: Option<usize>,
}

/// Spreads for a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpreadPlan {
    /// What the program costs, in the unit of the machine.
    pub cost: i64,
    /// What it costs at least with the spreads that were tried.
    pub bound: i64,
    /// By axis of the machine: the bytes that the busiest nodes get or give, all operations together.
    pub levels: Vec<i64>,
    /// What values take of each memory of a space. Bytes are those of one such memory, that of the place with most; padding
    /// is what is more than an even share of the elements, since places have no default layouts.
    pub taken: Vec<SpaceTaken>,
    /// The layouts of the arrays of the arguments and of the results, in order; `None` for scalars, which every place has,
    /// and for what is in no place.
    pub arguments: Vec<Option<TensorLayout>>,
    /// See `arguments`.
    pub results: Vec<Option<TensorLayout>>,
    /// The layout of each array that the program makes, scalars apart.
    pub values: Vec<(ArrayName, TensorLayout)>,
    /// What moves.
    pub moves: Vec<PlannedMove>,
    /// The choices, and the proof of the bound.
    pub certificate: Certificate,
}

/// An array that an operation reads or makes in other places than those that hold it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedMove {
    /// The array.
    pub at: ArrayName,
    /// The operation.
    pub by: (usize, usize),
    /// Where it is read and made: first the layout that is left, then the one that is needed. `None` beside the places.
    pub from: Option<TensorLayout>,
    /// See `from`; along an axis that it does not name, or after `B@`, it has copies, or sums that are not added up yet.
    pub to: Option<TensorLayout>,
    /// By axis of the machine, as often as the operation runs.
    pub traffic: LevelBytes,
    /// What it costs.
    pub cost: i64,
}

impl<'a, 'm> Spreader<'a, 'm> {
    /// Poses the problem of the graph with number `entry`; other graphs are those that it calls.
    ///
    /// # Errors
    /// What is wrong with the program or the machine: no places or too many, costs that do not fit in 64 bits, an array
    /// that does not fit into the memories of the places.
    pub fn new(
        graphs: &'a [Graph],
        entry: usize,
        facts: &Facts,
        machine: &'m Machine,
    ) -> Result<Spreader<'a, 'm>, Unplanned> {
        let program = Program::new(graphs, entry, facts).map_err(|error| Unplanned::Wrong(None, error))?;
        Spreader::of_program(&program, machine, &|_| Home::Free)
    }

    /// Poses the problem of a program of which some arrays are somewhere already.
    ///
    /// # Errors
    /// Those of [`Spreader::new`].
    pub fn of_program(
        program: &Program<'a>,
        machine: &'m Machine,
        home: &dyn Fn(ArrayName) -> Home,
    ) -> Result<Spreader<'a, 'm>, Unplanned> {
        let wrong = |error| Unplanned::Wrong(None, error);
        let levels = Levels::new(machine).map_err(wrong)?;
        let program = made_again(program).map_err(wrong)?;
        let mut nests = Vec::with_capacity(program.instances.len());
        for instance in &program.instances {
            let [operands, results] = [&instance.operands, &instance.results].map(|own| arrays(&program, own));
            let moves = !matches!(instance.doing, Doing::Argument(..) | Doing::Result(_)) && !operands.is_empty();
            nests.push(moves.then(|| LoopNest::new(&instance.doing, &operands, &results)));
        }
        let homes = (0..program.made.len()).map(|made| home(named(&program, made))).collect();
        let values = vec![SpreadSet::default(); program.made.len()];
        let loops = vec![SpreadSet::default(); program.instances.len()];
        let (network, touches, limits) = (CostNetwork::new(), Vec::new(), Vec::new());
        let mut spreader = Spreader { machine, levels, program, nests, homes, values, loops, network, touches, limits };
        spreader.find();
        let fits = spreader.fitting()?;
        spreader.pose(fits)?;
        Ok(spreader)
    }

    /// The number of values that are spread.
    pub fn arrays(&self) -> usize {
        self.program.made.len()
    }

    /// The problem as a network of costs.
    pub fn network(&self) -> &CostNetwork {
        &self.network
    }

    /// The arrays that an instance reads and makes.
    fn touched(&self, by: usize) -> impl Iterator<Item = Touch> + '_ {
        let instance = &self.program.instances[by];
        let read =
            instance.operands.iter().enumerate().map(move |(k, made)| Touch { by, made: *made, operand: Some(k) });
        read.chain(instance.results.iter().map(move |made| Touch { by, made: *made, operand: None }))
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
    fn find(&mut self) {
        let mut anchors = Anchors::default();
        for (found, home) in self.values.iter_mut().zip(&self.homes) {
            match home {
                Home::Free => {}
                Home::Given(spread) => found.add(spread.clone(), MOST_OF_VALUES),
                Home::Outside => found.add(Spread::default(), MOST_OF_VALUES),
            }
        }
        let order: Vec<usize> = (0..self.nests.len()).filter(|by| self.nests[*by].is_some()).collect();
        for streams in [false, true] {
            for by in &order {
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
                self.exchange(*by);
            }
        }
        for (found, made) in self.values.iter_mut().zip(&self.program.made) {
            if found.all.is_empty() {
                found.add(alone(self.machine, &sizes(made.array)), MOST_OF_VALUES);
            }
        }
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

    /// Which candidates of each array fit into the memories of the places. Where none does, the array is cut over all places.
    fn fitting(&mut self) -> Result<Vec<Vec<bool>>, Unplanned> {
        let mut all = Vec::with_capacity(self.values.len());
        for ((found, made), home) in self.values.iter_mut().zip(&self.program.made).zip(&self.homes) {
            if *home != Home::Free {
                all.push(vec![true; found.all.len()]);
                continue;
            }
            let mut fits: Vec<bool> =
                found.all.iter().map(|spread| held_by(self.machine, spread, made.array).is_ok()).collect();
            if !fits.contains(&true) {
                let most = alone(self.machine, &sizes(made.array));
                held_by(self.machine, &most, made.array).map_err(|error| {
                    let node = self.program.instances[made.by].node;
                    let message =
                        format!("an array does not fit into the places, cut over all of them: {}", error.message);
                    Unplanned::Wrong(Some(node), error.saying(message))
                })?;
                found.add(most, MOST_OF_VALUES + 1);
                fits.resize(found.all.len(), true);
            }
            all.push(fits);
        }
        Ok(all)
    }

    /// Puts costs into the network.
    ///
    /// # Errors
    /// The first instance with which the costs are too large.
    fn pose(&mut self, fits: Vec<Vec<bool>>) -> Result<(), Unplanned> {
        let nodes: Vec<(usize, usize)> = self.program.instances.iter().map(|instance| instance.node).collect();
        let at = |by: usize| {
            let node = nodes[by];
            move |error: NetworkError| Unplanned::Wrong(Some(node), error.into())
        };
        for (made, fits) in fits.into_iter().enumerate() {
            let costs = fits.into_iter().map(|fits| if fits { 0 } else { FORBIDDEN }).collect();
            self.network.add_variable(costs).map_err(at(self.program.made[made].by))?;
        }
        let mut number = Vec::new();
        for (by, (found, nest)) in self.loops.iter().zip(&self.nests).enumerate() {
            let variable = nest.as_ref().map(|_| self.network.add_variable(vec![0; found.all.len().max(1)]));
            number.push(variable.transpose().map_err(at(by))?);
        }
        let mut known: FxHashMap<TouchKey, Vec<i64>> = FxHashMap::default();
        for (by, variable) in number.into_iter().enumerate() {
            let Some(variable) = variable else { continue };
            let touched: Vec<Touch> = self.touched(by).collect();
            for touch in touched.into_iter().filter(|touch| !self.program.made[touch.made].array.dims.is_empty()) {
                let key = self.key(touch);
                let costs = known.entry(key).or_insert_with(|| self.table(touch)).clone();
                let times = self.program.instances[by].times;
                // What does not fit is an error of the network, not a pair that cannot be.
                let costs: Vec<i64> =
                    costs.into_iter().map(|cost| cost.saturating_mul(times).min(FORBIDDEN - 1)).collect();
                self.network.add_edge(touch.made, variable, costs).map_err(at(by))?;
                self.touches.push(touch);
            }
        }
        Ok(())
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

    fn bits(&self, touch: Touch) -> i64 {
        self.program.made[touch.made].array.element.bits().unwrap_or(8)
    }

    /// What places read or make of an array.
    fn read(&self, touch: Touch, spread: &Spread) -> Boxes {
        let nest: &[i64] = self.nests[touch.by].as_ref().map_or(&[], |nest| &nest.sizes);
        let own = sizes(self.program.made[touch.made].array);
        self.levels.boxes(nest, spread).of_array(self.ranges(touch), &own)
    }

    /// What places hold of it.
    fn held(&self, touch: Touch, spread: &Spread) -> Boxes {
        if self.homes[touch.made] == Home::Outside {
            return self.levels.nowhere(self.program.made[touch.made].array.dims.len());
        }
        self.levels.boxes(&sizes(self.program.made[touch.made].array), spread)
    }

    /// The best plan. `go_on` is asked now and then; when it says no, the best plan so far is taken.
    ///
    /// # Errors
    /// Why there is no plan.
    pub fn plan(&self, options: &Options, go_on: &mut dyn FnMut(&Progress) -> bool) -> Result<SpreadPlan, Unplanned> {
        let solution = solve(&self.network, options, go_on).map_err(|why| self.unplanned(why))?;
        self.told(solution.certificate).map_err(|error| Unplanned::Wrong(None, error))
    }

    /// The plan that a certificate proves.
    ///
    /// # Errors
    /// What is wrong with the certificate.
    pub fn proved(&self, certificate: Certificate) -> Result<SpreadPlan, Unplanned> {
        let wrong = |error| Unplanned::Wrong(None, error);
        check(&self.network, &certificate).map_err(|error| wrong(Error::new(error.to_string())))?;
        self.told(certificate).map_err(wrong)
    }

    fn told(&self, certificate: Certificate) -> Result<SpreadPlan, Error> {
        let choices = &certificate.choices;
        let spread = |made: usize| &self.values[made].all[choices[made]];
        let layout = |made: usize| {
            let own = sizes(self.program.made[made].array);
            let is_placed = !own.is_empty() && self.homes[made] != Home::Outside;
            is_placed.then(|| spread(made).layout(&own, self.machine)).transpose()
        };
        let mut plan = SpreadPlan {
            cost: certificate.cost,
            bound: certificate.bound,
            levels: vec![0; self.levels.count()],
            taken: self.taken(choices)?,
            arguments: Vec::new(),
            results: Vec::new(),
            values: Vec::new(),
            moves: Vec::new(),
            certificate: certificate.clone(),
        };
        let mut arguments: Vec<((usize, usize), Option<TensorLayout>)> = Vec::new();
        for instance in &self.program.instances {
            match instance.doing {
                Doing::Argument(number, leaf) => arguments.push(((number, leaf), layout(instance.results[0])?)),
                Doing::Result(_) => plan.results.push(layout(instance.operands[0])?),
                _ => {}
            }
            if !matches!(instance.doing, Doing::Result(_)) {
                for made in &instance.results {
                    plan.values.extend(layout(*made)?.map(|layout| (self.name(*made), layout)));
                }
            }
        }
        arguments.sort_by_key(|(at, _)| *at);
        plan.arguments = arguments.into_iter().map(|(_, layout)| layout).collect();
        for (edge, touch) in self.network.edges().iter().zip(&self.touches) {
            let loops = &self.loops[touch.by].all[choices[edge.ends[1]]];
            let (read, held) = (self.read(*touch, loops), self.held(*touch, spread(touch.made)));
            let mut traffic = self.levels.traffic(&read, &held, self.bits(*touch));
            let times = self.program.instances[touch.by].times;
            let all = traffic.busiest.iter_mut().chain(&mut traffic.total);
            all.for_each(|bytes| *bytes = bytes.saturating_mul(times));
            if traffic.total.iter().all(|bytes| *bytes == 0) {
                continue;
            }
            plan.levels.iter_mut().zip(&traffic.busiest).for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
            let used = of_array(loops, self.ranges(*touch));
            let used = used.layout(&sizes(self.program.made[touch.made].array), self.machine)?;
            let (held, used) = (layout(touch.made)?, Some(used));
            let (from, to) = if touch.operand.is_some() { (held, used) } else { (used, held) };
            let cost =
                edge.costs[choices[edge.ends[0]] * self.loops[touch.by].all.len().max(1) + choices[edge.ends[1]]];
            let (at, by) = (self.name(touch.made), self.program.instances[touch.by].node);
            plan.moves.push(PlannedMove { at, by, from, to, traffic, cost });
        }
        Ok(plan)
    }

    pub(super) fn name(&self, made: usize) -> ArrayName {
        named(&self.program, made)
    }

    /// How an array is spread by a plan; `None` for scalars, and for what is in no place.
    pub(super) fn home(&self, plan: &SpreadPlan, made: usize) -> Option<&Spread> {
        let is_placed = !self.program.made[made].array.dims.is_empty() && self.homes[made] != Home::Outside;
        is_placed.then(|| &self.values[made].all[plan.certificate.choices[made]])
    }
}

fn named(program: &Program, made: usize) -> ArrayName {
    let (graph, node) = program.instances[program.made[made].by].node;
    (graph, node, program.made[made].leaf)
}

/// By the sizes of loops, and the indices and bits of arrays, what the search has found.
type Anchors = FxHashMap<(Vec<i64>, Vec<(Vec<IndexRange>, i64)>), Vec<Spread>>;

/// Sizes, bits of an element, loops, indices, and the spreads of both.
type TouchKey = (Vec<i64>, i64, Vec<i64>, Vec<IndexRange>, Vec<Spread>, Vec<Spread>);

fn arrays<'a>(program: &Program<'a>, numbers: &[usize]) -> Vec<&'a Array> {
    numbers.iter().map(|made| program.made[*made].array).collect()
}

/// What an array that is spread so takes of the memories of the places; `None` for scalars.
///
/// # Errors
/// The bytes that it needs, and those that there are.
pub(super) fn held_by(machine: &Machine, spread: &Spread, array: &Array) -> Result<Option<Fit>, Error> {
    if array.dims.is_empty() {
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
