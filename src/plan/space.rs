//! Memory: what a plan takes of each, when most, and the capacities that it has to keep.
//!
//! Arguments and results are in memory space 0; any other array is in the fastest memory where it takes no more than a
//! quarter of that. With a capacity for the fastest memory, an array may also be put into memory space 0, for what it
//! costs more to write and to read it there.
//!
//! Counted are the arrays that are held, each in its layouts, at the [moments](super::live) at which it is in memory. What
//! a single operation takes for itself is not: the copy that only this operation reads, for as long as it runs.

use super::classes::LayoutId;
use super::holders::HeldIn;
use super::posed::{Located, Posed};
use super::prices::Prices;
use super::program::{Doing, Program};
use crate::solver::{CostNetwork, FORBIDDEN};
use crate::text::Error;
use std::collections::BTreeMap;

/// The bytes of a memory that a program may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceLimit {
    /// The number of the memory space.
    pub space: u8,
    /// The bytes.
    pub bytes: i64,
}

/// What a plan takes of a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceTaken {
    /// The number of the memory space.
    pub space: u8,
    /// The bytes of all arrays that are ever in it, padding included.
    pub bytes: i64,
    /// Those of them that are padding.
    pub padding: i64,
    /// The padding that there would be if each array had the target's default layout.
    pub default_padding: i64,
    /// The most bytes that are in it at once.
    pub peak: i64,
    /// The node that runs when this is so first.
    pub at: (usize, usize),
}

/// Where an array may be put into memory space 0: the variable, and what its choices are.
pub type Placed = (usize, Vec<(LayoutId, u8)>);

/// A problem with capacities.
#[derive(Clone, Debug)]
pub struct LimitedSpace {
    /// The network, with a resource for each capacity.
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
        posed: &Posed,
        prices: &Prices,
        mut network: CostNetwork,
        limits: &[SpaceLimit],
    ) -> Result<LimitedSpace, Located> {
        let mut resources = Vec::new();
        for limit in limits {
            resources.push(network.add_resource(limit.bytes).map_err(|error| ((0, 0), error.into()))?);
        }
        let resource = |space: u8| limits.iter().position(|limit| limit.space == space).map(|k| resources[k]);
        let mut placed = vec![None; posed.program.made.len()];
        for (made, moments) in posed.moments().into_iter().enumerate() {
            let (by, result) = (posed.program.made[made].by, posed.program.made[made].result);
            let at = |error: Error| (posed.program.instances[by].node, error);
            if moments.is_empty() {
                continue;
            }
            let class = posed.choices.class[made];
            let bytes = |id: LayoutId| posed.choices.classes.all[class].bytes[usize::from(id)];
            let outer = posed.is_outer(made);
            let space = |id: LayoutId| if outer { 0 } else { prices.space(class, id) };
            let own: Vec<LayoutId> = posed.choices.ways[by].iter().map(|way| way.results[result]).collect();
            let movable = !outer && own.iter().any(|id| space(*id) != 0 && resource(space(*id)).is_some());
            let mut takes: Vec<(usize, Vec<(u8, i64)>)> = Vec::new();
            if movable {
                let states = posed.place(prices, &mut network, made, &own).map_err(at)?;
                let amounts: Vec<(u8, i64)> = states.1.iter().map(|(id, space)| (*space, bytes(*id))).collect();
                takes.push((states.0, amounts));
                placed[made] = Some(states);
            } else {
                takes.push((by, own.iter().map(|id| (space(*id), bytes(*id))).collect()));
            }
            if let Some((variable, states)) = &posed.holders[made] {
                let second = |(_, second): &HeldIn| second.map_or((0, 0), |id| (space(id), bytes(id)));
                takes.push((*variable, states.iter().map(second).collect()));
            }
            for (variable, amounts) in takes {
                for limit in limits {
                    let Some(resource) = resource(limit.space) else { continue };
                    let of = |(space, bytes): &(u8, i64)| if *space == limit.space { *bytes } else { 0 };
                    let amounts: Vec<i64> = amounts.iter().map(of).collect();
                    if amounts.iter().all(|amount| *amount == 0) {
                        continue;
                    }
                    for range in &moments {
                        network
                            .add_occupancy(variable, resource, range.clone(), amounts.clone())
                            .map_err(|error| at(error.into()))?;
                    }
                }
            }
        }
        Ok(LimitedSpace { network, limits: limits.to_vec(), placed })
    }
}

impl Posed<'_, '_> {
    /// Whether an array is an argument or a result of the program.
    pub fn is_outer(&self, made: usize) -> bool {
        let by = &self.program.instances[self.program.made[made].by];
        matches!(by.doing, Doing::Argument(..) | Doing::Result(_))
    }

    /// Adds the variable that says in which memory an array is.
    fn place(
        &self,
        prices: &Prices,
        network: &mut CostNetwork,
        made: usize,
        own: &[LayoutId],
    ) -> Result<Placed, Error> {
        let (by, class) = (self.program.made[made].by, self.choices.class[made]);
        let mut ids = own.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let (mut states, mut costs) = (Vec::new(), Vec::new());
        for id in ids {
            states.push((id, prices.space(class, id)));
            costs.push(0);
            if prices.space(class, id) != 0 {
                states.push((id, 0));
                let far = prices.far(class, id)?.checked_mul(self.program.instances[by].times);
                costs.push(far.ok_or_else(|| Error::new("the cost does not fit in 64 bits").too_large())?);
            }
        }
        let variable = network.add_variable(costs)?;
        let fits =
            |id: &LayoutId| states.iter().map(|(other, _)| if id == other { 0 } else { FORBIDDEN }).collect::<Vec<_>>();
        network.add_edge(by, variable, own.iter().flat_map(fits).collect::<Vec<_>>())?;
        Ok((variable, states))
    }

    /// What arrays take that are held in these layouts, each with the number of its memory space.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes.
    pub fn taken_space(&self, held: &[Vec<(LayoutId, u8)>]) -> Result<Vec<SpaceTaken>, Error> {
        let mut all: BTreeMap<u8, (SpaceTaken, BTreeMap<i64, i128>)> = BTreeMap::new();
        for (made, moments) in self.moments().into_iter().enumerate() {
            let own = &self.choices.classes.all[self.choices.class[made]];
            let (Some(bits), false) = (own.element.bits(), moments.is_empty()) else { continue };
            let elements = own.sizes.iter().try_fold(1i64, |n, size| n.checked_mul(*size)).ok_or_else(too_much)?;
            let logical = i64::try_from((i128::from(elements) * i128::from(bits) + 7) / 8).map_err(|_| too_much())?;
            for (k, (id, space)) in held[made].iter().enumerate() {
                let (bytes, default) = (own.bytes[usize::from(*id)], own.bytes[0]);
                let (taken, changes) = all.entry(*space).or_default();
                taken.space = *space;
                let add = |sum: &mut i64, bytes: i64| sum.checked_add(bytes).map(|new| *sum = new).ok_or_else(too_much);
                add(&mut taken.bytes, bytes)?;
                add(&mut taken.padding, (bytes - logical).max(0))?;
                if k == 0 {
                    add(&mut taken.default_padding, (default - logical).max(0))?;
                }
                for range in &moments {
                    *changes.entry(range.start).or_default() += i128::from(bytes);
                    *changes.entry(range.end).or_default() -= i128::from(bytes);
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
