//! The plan that a solution is.

use super::candidates::of_array;
use super::cuts::LoopChoice;
use super::pod::{DeviceLine, PodStep};
use super::reading::sizes;
use super::schedule::PlannedSteps;
use super::spread::Spread;
use super::spreader::{Spreader, Touch};
use super::traffic::LevelBytes;
use crate::plan::layout_plan::{ArrayName, Unplanned};
use crate::plan::program::Doing;
use crate::plan::space::{SpaceLimit, SpaceTaken};
use crate::solver::{Certificate, Options, Progress, check, solve_from};
use tensor_layout::places::{CollectiveKind, TensorLayout};
use tensor_layout::text::Error;

/// How often a plan on devices is made again with more bytes for what operations bring.
const MOST_TRIES: usize = 16;

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
    /// The arrays that lie beside the places.
    pub beside: Vec<ArrayName>,
    /// What moves.
    pub moves: Vec<PlannedMove>,
    /// With capacities, the steps of each operation that brings something into the places.
    pub steps: Vec<PlannedSteps>,
    /// On devices, the part of the cost that is their work; the other part is communication.
    pub work: i64,
    /// On devices with capacities, the bytes of each that values leave to what operations bring; 0 where all plans have been
    /// looked at.
    pub kept: i64,
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
    /// By axis of the machine, as often as the operation runs, in all of its steps.
    pub traffic: LevelBytes,
    /// What it costs.
    pub cost: i64,
    /// On devices, the collectives that do it, in their order.
    pub collectives: Vec<PlannedCollective>,
}

/// A collective of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedCollective {
    /// What is done.
    pub kind: CollectiveKind,
    /// Between the devices that differ in these parts of the axis.
    pub along: Vec<DeviceLine>,
    /// The bytes that each device gets, as often as the operation runs.
    pub bytes: i64,
}

impl Spreader<'_, '_> {
    /// The best plan. `go_on` is asked now and then; when it says no, the best plan so far is taken.
    ///
    /// # Errors
    /// Why there is no plan.
    pub fn plan(&self, options: &Options, go_on: &mut dyn FnMut(&Progress) -> bool) -> Result<SpreadPlan, Unplanned> {
        let wrong = |error| Unplanned::Wrong(None, error);
        let Some(relaxed) = &self.relaxed else {
            let solution = solve_from(&self.network, &self.start(), options, go_on);
            let solution = solution.map_err(|why| self.unplanned(why))?;
            return self.told(solution.certificate).map_err(wrong);
        };
        if let Ok(solution) = solve_from(relaxed, &self.start(), options, go_on) {
            let plan = self.told(solution.certificate).map_err(wrong)?;
            if self.excess(&plan) == 0 {
                return Ok(plan);
            }
        }
        // The most bytes that were too few, and the least for which no plan leaves room.
        let (mut kept, mut few, mut many) = (0i64, None, i64::MAX);
        for _ in 0..MOST_TRIES {
            let Some(network) = self.kept(kept)? else { break };
            match solve_from(&network, &self.start(), options, go_on) {
                Ok(solution) => {
                    let plan = self.told(solution.certificate).map_err(wrong)?;
                    match self.excess(&plan) {
                        0 => return Ok(SpreadPlan { kept, ..plan }),
                        // By half at least, since another plan brings something else.
                        excess => few = Some((kept, kept.saturating_add(excess.max(kept / 2)))),
                    }
                }
                // Values alone take more than there is.
                Err(why) if kept == 0 => return Err(self.unplanned(why)),
                Err(_) => many = kept,
            }
            let Some((few, next)) = few else { break };
            kept = if next < many { next } else { few + (many - few) / 2 };
            if kept == few {
                break;
            }
        }
        let memory = |space: u8| self.machine.space_name(space);
        let limits = self.limits.iter().map(|limit| format!("{} bytes of `{}`", limit.bytes, memory(limit.space)));
        Err(wrong(Error::new(format!(
            "not decided: no plan was found that fits, with what operations bring beside values, into {} of each device",
            limits.collect::<Vec<_>>().join(" and ")
        ))
        .undecided()))
    }

    /// A plan to begin with: values beside the places where they may be, and loops with the least buffers. It may not be legal.
    fn start(&self) -> Vec<usize> {
        let mut loops = vec![0; self.network.variables().len()];
        self.variables.iter().enumerate().for_each(|(by, variable)| variable.iter().for_each(|own| loops[*own] = by));
        self.network.completed(Vec::new(), |variable, choice| match self.values.get(variable) {
            Some(set) => i64::from(!set.all[choice].is_outside()),
            None => self.choices[loops[variable]].get(choice).map_or(0, LoopChoice::buffers),
        })
    }

    /// By how much a plan takes more of a memory than there is.
    fn excess(&self, plan: &SpreadPlan) -> i64 {
        let over = |limit: &SpaceLimit| {
            let taken = plan.taken.iter().find(|taken| taken.space == limit.space);
            taken.map_or(0, |taken| taken.peak.saturating_sub(limit.bytes).max(0))
        };
        self.limits.iter().map(over).max().unwrap_or(0)
    }

    /// The plan that a certificate proves.
    ///
    /// # Errors
    /// What is wrong with the certificate.
    pub fn proved(&self, certificate: Certificate) -> Result<SpreadPlan, Unplanned> {
        let wrong = |error| Unplanned::Wrong(None, error);
        // A bound of all plans is one of those that fit.
        if self.relaxed.as_ref().is_some_and(|relaxed| check(relaxed, &certificate).is_ok()) {
            let plan = self.told(certificate).map_err(wrong)?;
            return match self.excess(&plan) {
                0 => Ok(plan),
                excess => Err(wrong(Error::new(format!("the plan takes {excess} bytes more of a device than it has")))),
            };
        }
        check(&self.network, &certificate).map_err(|error| wrong(Error::new(error.to_string())))?;
        self.told(certificate).map_err(wrong)
    }

    fn told(&self, certificate: Certificate) -> Result<SpreadPlan, Error> {
        let choices = &certificate.choices;
        let chosen = self.chosen(choices);
        let mut plan = SpreadPlan {
            cost: certificate.cost,
            bound: certificate.bound,
            levels: vec![0; self.levels.count()],
            taken: self.taken(choices, &chosen)?,
            arguments: Vec::new(),
            results: Vec::new(),
            values: Vec::new(),
            beside: Vec::new(),
            moves: Vec::new(),
            steps: if self.pod.is_some() { Vec::new() } else { self.schedule(choices, &chosen)? },
            work: 0,
            kept: 0,
            certificate: certificate.clone(),
        };
        self.tell_arrays(&mut plan)?;
        if let Some(pod) = &self.pod {
            for (by, choice) in chosen.iter().enumerate() {
                let Some(choice) = choice else { continue };
                let own = self.work_on(pod, by, &self.loops[by].all[choice.spread]);
                plan.work = plan.work.saturating_add(own.saturating_mul(self.program.instances[by].times));
            }
        }
        let mut numbers = vec![0; self.program.instances.len()];
        for (edge, touch) in self.network.edges().iter().zip(&self.touches) {
            let (Some(choice), number) = (&chosen[touch.by], numbers[touch.by]) else { continue };
            numbers[touch.by] += 1;
            let spread = &self.values[touch.made].all[choices[touch.made]];
            let Some(traffic) = self.moved(*touch, number, spread, choice) else { continue };
            let traffic = traffic.times(self.times(*touch));
            if traffic.total.iter().all(|bytes| *bytes == 0) {
                continue;
            }
            plan.levels.iter_mut().zip(&traffic.busiest).for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
            let cost = edge.costs[choices[edge.ends[0]] * self.choices[touch.by].len().max(1) + choices[edge.ends[1]]];
            let own = self.told_move(*touch, choice, (self.layout(&plan, touch.made)?, spread), traffic, cost)?;
            plan.moves.push(own);
        }
        Ok(plan)
    }

    /// Puts the layouts of the arrays into a plan.
    fn tell_arrays(&self, plan: &mut SpreadPlan) -> Result<(), Error> {
        let mut arguments: Vec<((usize, usize), Option<TensorLayout>)> = Vec::new();
        for instance in &self.program.instances {
            match instance.doing {
                Doing::Argument(number, leaf) => {
                    arguments.push(((number, leaf), self.layout(plan, instance.results[0])?));
                }
                Doing::Result(_) => {
                    plan.results.push(self.layout(plan, instance.operands[0])?);
                    continue;
                }
                _ => {}
            }
            for made in &instance.results {
                match self.layout(plan, *made)? {
                    Some(layout) => plan.values.push((self.name(*made), layout)),
                    None if self.program.made[*made].array.dims.is_empty() => {}
                    None => plan.beside.push(self.name(*made)),
                }
            }
        }
        arguments.sort_by_key(|(at, _)| *at);
        plan.arguments = arguments.into_iter().map(|(_, layout)| layout).collect();
        Ok(())
    }

    /// What an operation moves of an array that is held so.
    fn told_move(
        &self,
        touch: Touch,
        choice: &LoopChoice,
        (held, spread): (Option<TensorLayout>, &Spread),
        traffic: LevelBytes,
        cost: i64,
    ) -> Result<PlannedMove, Error> {
        let loops = &self.loops[touch.by].all[choice.spread];
        let used = match self.in_steps(touch, choice)? {
            Some(layout) => layout,
            None => {
                let used = of_array(loops, self.ranges(touch));
                used.layout(&sizes(self.program.made[touch.made].array), self.machine)?
            }
        };
        let (from, to) = if touch.operand.is_some() { (held, Some(used)) } else { (Some(used), held) };
        let steps = self.pod.as_ref().map(|pod| self.steps_on(pod, touch, spread, loops));
        let (bits, times) = (self.bits_of(touch.made), self.times(touch));
        let one = |step: PodStep| PlannedCollective {
            kind: step.kind,
            bytes: i64::try_from(step.bytes(bits).saturating_mul(times.into())).unwrap_or(i64::MAX),
            along: step.along,
        };
        let collectives = steps.unwrap_or_default().into_iter().map(one).collect();
        let (at, by) = (self.name(touch.made), self.program.instances[touch.by].node);
        Ok(PlannedMove { at, by, from, to, traffic, cost, collectives })
    }

    /// The layout of an array in a plan; `None` for scalars, and for what is in no place.
    fn layout(&self, plan: &SpreadPlan, made: usize) -> Result<Option<TensorLayout>, Error> {
        let layout = |spread: &Spread| spread.layout(&sizes(self.program.made[made].array), self.machine);
        self.home(plan, made).map(layout).transpose()
    }

    /// How an array is spread by a plan; `None` for scalars, and for what is in no place.
    pub(super) fn home(&self, plan: &SpreadPlan, made: usize) -> Option<&Spread> {
        let spread = &self.values[made].all[plan.certificate.choices[made]];
        (!self.program.made[made].array.dims.is_empty() && !spread.is_outside()).then_some(spread)
    }
}
