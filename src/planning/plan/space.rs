//! Memory: what a plan takes of each, when most, and the capacities that it has to keep.
//!
//! Arguments and results are in memory space 0; any other array is in the fastest memory where it takes no more than a
//! quarter of that. With a capacity for the fastest memory, where each array is and when is [chosen](super::placing), for
//! what it costs more to write and to read it in memory space 0, and to copy it. With a capacity for memory space 0, what is
//! cheaper to make again than to keep [is made again](super::rematerialize).
//!
//! Counted are the arrays that are held, each in its layouts, at the [moments](super::live) at which it is in memory. What
//! a single operation takes for itself is not: the copy that only this operation reads, for as long as it runs.

use super::build_steps::BuildSteps;
use super::classes::LayoutId;
use super::holders::HeldIn;
use super::placing::{Amounts, Placed, Placing, Residence, amounts, forbid_missing};
use super::prices::Prices;
use super::problem::{LayoutProblem, Located};
use super::program::{InstanceKind, Program};
use super::residency::Residency;
use super::transfers::BANDWIDTH;
use crate::solver::CostNetwork;
use std::collections::BTreeMap;
use std::ops::Range;
use tensor_layout::text::Error;

/// The bytes of a memory that a program may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceLimit {
    /// The number of the memory space.
    pub space: u8,
    /// The bytes.
    pub bytes: i64,
}

/// The use of one memory by a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceTaken {
    /// The number of the memory space.
    pub space: u8,
    /// The bytes of all arrays that are ever in it, padding included.
    pub bytes: i64,
    /// The bytes of padding among them.
    pub padding: i64,
    /// The padding that there would be if each array had the target's default layout.
    pub default_padding: i64,
    /// The most bytes that are in it at once.
    pub peak: i64,
    /// The node that runs when this is so first.
    pub at: (usize, usize),
}

/// A problem with capacities.
#[derive(Clone, Debug)]
pub struct LimitedSpace {
    /// The network, with a resource for each capacity, and one for the bandwidth between memories where arrays may move.
    pub network: CostNetwork,
    /// The capacities.
    pub limits: Vec<SpaceLimit>,
    /// For each array where it may be, if that is a choice.
    pub placed: Vec<Option<Placed>>,
}

impl LimitedSpace {
    /// A problem with capacities.
    ///
    /// # Errors
    /// An instance whose bytes or costs do not fit in 64 bits, or a capacity below 0.
    pub fn new(
        problem: &LayoutProblem,
        prices: &Prices,
        mut network: CostNetwork,
        (limits, residence): (&[SpaceLimit], Residence),
        steps: &mut BuildSteps,
    ) -> Result<LimitedSpace, Located> {
        let of_program = |error: Error| ((0, 0), error);
        let mut spaces = BTreeMap::new();
        for limit in limits {
            let resource = network.add_resource(limit.bytes).map_err(|error| of_program(error.into()))?;
            spaces.insert(limit.space, resource);
        }
        let near = prices.fastest().filter(|near| spaces.contains_key(near));
        let remakes = residence == Residence::OverTime && spaces.contains_key(&0);
        let placing = Placing::new(problem, prices, &network, (residence, near, remakes)).map_err(of_program)?;
        let bandwidth = match (residence, near) {
            (Residence::OverTime, Some(_)) => {
                Some(network.add_resource(BANDWIDTH).map_err(|error| of_program(error.into()))?)
            }
            _ => None,
        };
        let resources = Resources { spaces, bandwidth };
        let mut placed = vec![None; problem.program.made.len()];
        for (made, moments) in problem.moments().into_iter().enumerate() {
            let (by, result) = (problem.program.made[made].by, problem.program.made[made].result);
            let at = |error: Error| (problem.program.instances[by].node, error);
            steps.step().map_err(at)?;
            if moments.is_empty() {
                continue;
            }
            let class = problem.choices.class[made];
            // A result is what it takes, and in memory space 0.
            let mut layouts = problem.choices.ways[by].iter().map(|way| way.results[result]);
            let mut fits = |near: &u8| layouts.any(|id| prices.space(class, id) == *near);
            if let Some(near) = near.filter(|near| !problem.program.is_result(made) && fits(near)) {
                placed[made] = placing.place(&mut network, made, (near, &moments)).map_err(at)?;
            } else if remakes && !problem.is_outer(made) {
                placed[made] = placing.remake(&mut network, made, &moments).map_err(at)?;
            }
            let placed = placed[made].as_ref();
            let takes = resources.takes(problem, prices, made, &moments, placed);
            for (variable, resource, stretches) in takes {
                for (range, amounts) in stretches {
                    let added = network.add_occupancy(variable, resource, range, amounts);
                    added.map_err(|error| at(error.into()))?;
                }
            }
        }
        forbid_missing(&mut network, &placed).map_err(of_program)?;
        Ok(LimitedSpace { network, limits: limits.to_vec(), placed })
    }
}

/// The resources of a network: by memory space its capacity, and the bandwidth between memories.
struct Resources {
    spaces: BTreeMap<u8, usize>,
    bandwidth: Option<usize>,
}

impl Resources {
    /// The variables whose choices take something because of an array, each with a resource and what they take of it.
    fn takes(
        &self,
        problem: &LayoutProblem,
        prices: &Prices,
        made: usize,
        moments: &[Range<i64>],
        placed: Option<&Placed>,
    ) -> Vec<(usize, usize, Amounts)> {
        let (by, result) = (problem.program.made[made].by, problem.program.made[made].result);
        let class = problem.choices.class[made];
        let bytes = |id: LayoutId| problem.choices.classes.all[class].bytes[usize::from(id)];
        let outer = problem.is_outer(made);
        let space = |id: LayoutId| if outer { 0 } else { prices.space(class, id) };
        let mut takes = Vec::new();
        for (limited, resource) in &self.spaces {
            let all = |id: LayoutId| {
                let bytes = if space(id) == *limited { bytes(id) } else { 0 };
                moments.iter().map(|range| (range.clone(), bytes)).collect::<Vec<_>>()
            };
            match placed {
                Some(placed) => {
                    let taken: Vec<_> = placed.states.iter().map(|own| placed.taken(own, *limited)).collect();
                    takes.push((placed.variable, *resource, amounts(&taken)));
                }
                None => {
                    let taken: Vec<_> = problem.choices.ways[by].iter().map(|way| all(way.results[result])).collect();
                    takes.push((by, *resource, amounts(&taken)));
                }
            }
            if let Some((variable, states)) = &problem.holders[made] {
                let nothing = || moments.iter().map(|range| (range.clone(), 0)).collect();
                let second = |(_, second): &HeldIn| second.map_or_else(nothing, all);
                takes.push((*variable, *resource, amounts(&states.iter().map(second).collect::<Vec<_>>())));
            }
        }
        if let (Some(placed), Some(bandwidth)) = (placed, self.bandwidth) {
            let flights = |own: &Residency| {
                own.moves.iter().map(|own| (own.flight.moments.clone(), own.flight.share)).collect::<Vec<_>>()
            };
            let shares: Vec<_> = placed.states.iter().map(flights).collect();
            takes.push((placed.variable, bandwidth, amounts(&shares)));
        }
        takes
    }
}

/// Bytes of an array in a memory.
#[derive(Clone, Debug)]
pub struct HeldBytes {
    /// The layout of the array.
    pub layout: LayoutId,
    /// The number of the memory space.
    pub space: u8,
    /// How many: those of the layout, or of some slices of the array.
    pub bytes: i64,
    /// When they are there.
    pub moments: Vec<Range<i64>>,
}

impl LayoutProblem<'_, '_> {
    /// Whether an array is an argument or a result of the program.
    pub fn is_outer(&self, made: usize) -> bool {
        let by = &self.program.instances[self.program.made[made].by];
        matches!(by.kind, InstanceKind::Argument(..) | InstanceKind::Result(_))
    }

    /// The memory use of arrays, each of which is held in some layouts: how many bytes in which memory, and when.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes.
    pub fn taken_space(&self, held: &[Vec<HeldBytes>]) -> Result<Vec<SpaceTaken>, Error> {
        let mut all: BTreeMap<u8, (SpaceTaken, BTreeMap<i64, i128>)> = BTreeMap::new();
        for (made, held) in held.iter().enumerate() {
            let own = &self.choices.classes.all[self.choices.class[made]];
            let Some(bits) = own.element.bits() else { continue };
            let elements = own.sizes.iter().try_fold(1i64, |n, size| n.checked_mul(*size)).ok_or_else(too_much)?;
            let logical = i64::try_from((i128::from(elements) * i128::from(bits) + 7) / 8).map_err(|_| too_much())?;
            for (k, HeldBytes { layout, space, bytes, moments }) in held.iter().enumerate() {
                if moments.is_empty() {
                    continue;
                }
                let (whole, default) = (own.bytes[usize::from(*layout)].max(1), own.bytes[0]);
                // Of some slices, so much is padding as of all.
                let part = |n: i64| i64::try_from(i128::from(n) * i128::from(*bytes) / i128::from(whole)).unwrap_or(n);
                let (taken, changes) = all.entry(*space).or_default();
                taken.space = *space;
                let add = |sum: &mut i64, bytes: i64| sum.checked_add(bytes).map(|new| *sum = new).ok_or_else(too_much);
                add(&mut taken.bytes, *bytes)?;
                add(&mut taken.padding, part((own.bytes[usize::from(*layout)] - logical).max(0)))?;
                if k == 0 {
                    add(&mut taken.default_padding, part((default - logical).max(0)))?;
                }
                for range in moments {
                    *changes.entry(range.start).or_default() += i128::from(*bytes);
                    *changes.entry(range.end).or_default() -= i128::from(*bytes);
                }
            }
        }
        let mut found = Vec::new();
        for (mut taken, changes) in all.into_values() {
            taken.fill(&self.program, changes)?;
            found.push(taken);
        }
        Ok(found)
    }
}

impl SpaceTaken {
    /// Says how much is in the memory at once, and when, given how many bytes more that is from each moment on.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes.
    pub(crate) fn fill(&mut self, program: &Program, changes: BTreeMap<i64, i128>) -> Result<(), Error> {
        let mut live = 0i128;
        for (moment, change) in changes {
            live += change;
            let live = i64::try_from(live).map_err(|_| too_much())?;
            if live > self.peak {
                self.peak = live;
                self.at = program.at_moment(moment);
            }
        }
        Ok(())
    }
}

pub(crate) fn too_much() -> Error {
    Error::new("the bytes of all arrays do not fit in 64 bits").too_large()
}
