//! The plan that a solution is.

use super::candidates::of_array;
use super::cuts::LoopChoice;
use super::planner::{ShardingPlanner, Touch};
use super::pod::PodStep;
use super::reading::sizes;
use super::spread::Spread;
use super::traffic::LevelBytes;
use crate::plan::layout_plan::{LayoutPlan, PlannedCollective, PlannedRelayout, Unplanned};
use crate::plan::planned_layout::PlannedLayout;
use crate::plan::planner::{GoOn, Planner};
use crate::plan::program::InstanceKind;
use crate::plan::space::SpaceLimit;
use crate::solver::{Certificate, CostNetwork, Options, Solution, solve_from};
use tensor_layout::text::Error;

/// How often a plan on devices is made again with more bytes for what operations bring.
const MOST_TRIES: usize = 16;

impl ShardingPlanner<'_, '_> {
    /// The best plan on devices: the best without capacities if that fits, or else one in which values leave as many bytes as
    /// it takes.
    ///
    /// # Errors
    /// Why there is no plan.
    pub(super) fn plan_on_devices(
        &self,
        relaxed: &CostNetwork,
        options: &Options,
        go_on: &mut GoOn,
    ) -> Result<LayoutPlan, Unplanned> {
        let start = self.start(options, go_on);
        if let Ok(solution) = solve_from(relaxed, &start, options, go_on) {
            let plan = self.decode(solution.certificate)?;
            if self.excess(&plan) == 0 {
                return Ok(plan);
            }
        }
        // The most bytes that were too few, and the least for which no plan leaves room.
        let (mut kept, mut few, mut many) = (0i64, None, i64::MAX);
        for _ in 0..MOST_TRIES {
            let Some(network) = self.kept(kept)? else { break };
            match solve_from(&network, &start, options, go_on) {
                Ok(solution) => {
                    let plan = self.decode(solution.certificate)?;
                    match self.excess(&plan) {
                        0 => return Ok(LayoutPlan { kept, ..plan }),
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
        let message = format!(
            "not decided: no plan was found that fits, with what operations bring beside values, into {} of each device",
            limits.collect::<Vec<_>>().join(" and ")
        );
        Err(Unplanned::Wrong(None, Error::new(message).undecided()))
    }

    /// By how much a plan takes more of a memory than there is.
    pub(super) fn excess(&self, plan: &LayoutPlan) -> i64 {
        let over = |limit: &SpaceLimit| {
            let taken = plan.taken.iter().find(|taken| taken.space == limit.space);
            taken.map_or(0, |taken| taken.peak.saturating_sub(limit.bytes).max(0))
        };
        self.limits.iter().map(over).max().unwrap_or(0)
    }

    /// The plan that a certificate says.
    ///
    /// # Errors
    /// Addresses or bytes do not fit in 64 bits.
    pub(super) fn told(&self, certificate: Certificate) -> Result<LayoutPlan, Error> {
        let choices = &certificate.choices;
        let chosen = self.chosen(choices);
        let mut plan = LayoutPlan {
            cost: certificate.cost,
            bound: certificate.bound,
            arguments: Vec::new(),
            results: Vec::new(),
            values: Vec::new(),
            relayouts: Vec::new(),
            levels: vec![0; self.levels.count()],
            work: 0,
            spaces: Vec::new(),
            stays: Vec::new(),
            transfers: Vec::new(),
            remade: Vec::new(),
            steps: if self.pod.is_some() { Vec::new() } else { self.schedule(choices, &chosen)? },
            kept: 0,
            taken: self.taken(choices, &chosen)?,
            solution: Solution { certificate: certificate.clone() },
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
            let own = self.told_move(*touch, choice, (self.layout(choices, touch.made)?, spread), traffic, cost)?;
            plan.relayouts.push(own);
        }
        Ok(plan)
    }

    /// Puts the layouts of the arrays into a plan.
    fn tell_arrays(&self, plan: &mut LayoutPlan) -> Result<(), Error> {
        let choices = &plan.solution.certificate.choices;
        let mut arguments: Vec<((usize, usize), PlannedLayout)> = Vec::new();
        for instance in &self.program.instances {
            match instance.kind {
                InstanceKind::Argument(number, leaf) => {
                    arguments.push(((number, leaf), self.layout(choices, instance.results[0])?));
                }
                InstanceKind::Result(_) => {
                    plan.results.push(self.layout(choices, instance.operands[0])?);
                    continue;
                }
                _ => {}
            }
            for made in instance.results.iter().filter(|made| !self.program.made[**made].array.dims.is_empty()) {
                plan.values.push((self.program.name(*made), vec![self.layout(choices, *made)?]));
            }
        }
        for (name, made) in
            self.program.names.iter().filter(|(_, made)| !self.program.made[*made].array.dims.is_empty())
        {
            plan.values.push((*name, vec![self.layout(choices, *made)?]));
        }
        arguments.sort_by_key(|(at, _)| *at);
        plan.arguments = arguments.into_iter().map(|(_, layout)| layout).collect();
        Ok(())
    }

    /// The relayout between an operation and an array that is held so.
    fn told_move(
        &self,
        touch: Touch,
        choice: &LoopChoice,
        (held, spread): (PlannedLayout, &Spread),
        traffic: LevelBytes,
        cost: i64,
    ) -> Result<PlannedRelayout, Error> {
        let loops = &self.loops[touch.by].all[choice.spread];
        let used = match self.in_steps(touch, choice)? {
            Some(layout) => layout,
            None => {
                let used = of_array(loops, self.ranges(touch));
                used.layout(&sizes(self.program.made[touch.made].array), self.machine)?
            }
        };
        let used = PlannedLayout::Places(used);
        let (from, to) = if touch.operand.is_some() { (held, used) } else { (used, held) };
        let steps = self.pod.as_ref().map(|pod| self.steps_on(pod, touch, spread, loops));
        let (bits, times) = (self.bits_of(touch.made), self.times(touch));
        let one = |step: PodStep| PlannedCollective {
            kind: step.kind,
            bytes: i64::try_from(step.bytes(bits).saturating_mul(times.into())).unwrap_or(i64::MAX),
            along: step.along,
        };
        let collectives = steps.unwrap_or_default().into_iter().map(one).collect();
        let bytes = traffic.total.iter().fold(0i64, |sum, bytes| sum.saturating_add(*bytes));
        let (at, wanted_by) = (self.program.name(touch.made), vec![self.program.instances[touch.by].node]);
        Ok(PlannedRelayout { at, from, to, bytes, cost, wanted_by, taken_by: Vec::new(), traffic, collectives })
    }

    /// The layout of an array by these choices.
    pub(super) fn layout(&self, choices: &[usize], made: usize) -> Result<PlannedLayout, Error> {
        let (array, spread) = (self.program.made[made].array, &self.values[made].all[choices[made]]);
        Ok(match spread.is_outside() {
            _ if array.dims.is_empty() => PlannedLayout::Everywhere,
            true => PlannedLayout::Beside,
            false => PlannedLayout::Places(spread.layout(&sizes(array), self.machine)?),
        })
    }
}
