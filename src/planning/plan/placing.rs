//! The memories of arrays as part of the problem: a variable for each array that may be in the fastest memory.
//!
//! Its choices are the [residencies](super::residency) of the array in each group of its layouts: those of which all take the
//! same bytes and cost the same to write and read in either memory. Its costs are those of residencies; its edge to the
//! operation that makes the array says which layouts are in the group. What the residencies take of each limited memory at
//! each moment, and of the bandwidth between memories, are amounts that the network adds up.

use super::classes::LayoutId;
use super::live::loop_ends;
use super::prices::{MARGIN, Meeting, Prices};
use super::problem::{LayoutProblem, Taken};
use super::program::InstanceKind;
use super::rematerialize::{Remaking, Rerun};
use super::residency::{Lifetime, MemoryCosts, Residencies, Residency};
use super::transfers::KernelClock;
use super::ways::{AliasOf, MadeIn};
use crate::solver::{CostNetwork, FORBIDDEN};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::ops::Range;
use tensor_layout::text::Error;
use tensor_layout::tiled::expansion::Expansion;

/// Whether arrays may change their memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Residence {
    /// Each is in one memory from when it is made.
    ForLife,
    /// They are copied between memories beside kernels, and each is in one as a whole.
    Whole,
    /// They are copied between memories beside kernels, and some of their slices may be in another than the others.
    #[default]
    OverTime,
}

/// The memories of an array: a variable, and what its choices are.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The number of the variable.
    pub variable: usize,
    /// The fastest memory, which residencies call near.
    pub near: u8,
    /// For each choice where the array lies.
    pub states: Vec<Residency>,
    /// The arrays that it is made of where it is made again.
    pub inputs: Vec<usize>,
}

impl Placed {
    /// The bytes that a residency takes in a memory space, and when.
    pub fn taken(&self, own: &Residency, space: u8) -> Vec<(Range<i64>, i64)> {
        let sides = [(self.near, &own.near, own.bytes[0]), (0, &own.far, own.bytes[1])];
        let here = sides.into_iter().filter(|(side, ..)| *side == space);
        here.flat_map(|(_, moments, bytes)| moments.iter().map(move |moments| (moments.clone(), bytes))).collect()
    }
}

/// Layouts that cost the same in memory.
struct LayoutGroup {
    ids: Vec<LayoutId>,
    costs: MemoryCosts,
    /// Whether arrays of so many bytes are in the fastest memory at all.
    fits: bool,
}

/// The placement of arrays in memories.
pub struct Placing<'p, 'a, 't> {
    problem: &'p LayoutProblem<'a, 't>,
    prices: &'p Prices<'p, 't>,
    residence: Residence,
    clock: KernelClock,
    /// The operands that take each array.
    taken: Vec<Vec<Taken>>,
    /// The loop that each merge is of.
    ends: Vec<Option<usize>>,
    /// The savings of an argument's users where the argument is near.
    saved: FxHashMap<usize, Vec<Saving>>,
    /// How arrays are made again that may be.
    reruns: FxHashMap<usize, Rerun>,
}

/// The saving of an operation that takes an argument in the fastest memory.
struct Saving {
    taken: Taken,
    /// For each layout of the argument and each way of the operation, at most 0.
    costs: FxHashMap<LayoutId, Vec<i64>>,
}

/// The reads of an array by kernel: the moment, and the operand with the share of its reads that are this one's.
type ReadBy = Vec<(usize, Vec<(Taken, i64)>)>;

impl<'p, 'a, 't> Placing<'p, 'a, 't> {
    /// Begins with the costs of a program; `near` is the fastest memory, where arguments may be brought to it. Arrays may be made
    /// again if `remakes` says so.
    ///
    /// # Errors
    /// The costs do not fit in 64 bits.
    pub fn new(
        problem: &'p LayoutProblem<'a, 't>,
        prices: &'p Prices<'p, 't>,
        network: &CostNetwork,
        (residence, near, remakes): (Residence, Option<u8>, bool),
    ) -> Result<Self, Error> {
        let mut taken = vec![Vec::new(); problem.program.made.len()];
        problem.taken().for_each(|own| taken[own.made].push(own));
        let (clock, ends) = (KernelClock::new(problem, network, &[]), loop_ends(&problem.program));
        let saved = FxHashMap::default();
        let reruns = FxHashMap::default();
        let mut placing = Placing { problem, prices, residence, clock, taken, ends, saved, reruns };
        if let (Residence::OverTime | Residence::Whole, Some(near)) = (residence, near) {
            for made in 0..placing.taken.len() {
                placing.save(made, near)?;
            }
            // A kernel that finds its arguments near takes so much less.
            let less = |own: &Saving| (own.taken.by.0, own.costs.values().flatten().copied().min().unwrap_or(0));
            let less: Vec<(usize, i64)> = placing.saved.values().flatten().map(less).collect();
            placing.clock = KernelClock::new(problem, network, &less);
        }
        if remakes {
            placing.find_reruns(&Remaking::new(problem, network));
        }
        Ok(placing)
    }

    /// Finds what may be made again, and when: last what others may be made of.
    fn find_reruns(&mut self, rematerialize: &Remaking) {
        let problem = self.problem;
        let mut wanted: FxHashMap<usize, Vec<i64>> = FxHashMap::default();
        for (made, moments) in problem.moments().into_iter().enumerate().rev() {
            let reads = self.reads(made);
            let life = self.life(made, &moments, &reads);
            if life.made.is_none() || !life.may_move || problem.program.is_result(made) {
                continue;
            }
            let Some(mut rerun) = rematerialize.rerun(problem, made) else { continue };
            let costs = MemoryCosts::of_bytes(0);
            let residencies = Residencies { clock: &self.clock, life: &life, costs: &costs };
            let around = (&residencies.points()[..], &residencies.cuts()[..]);
            rematerialize.find_moments(&mut rerun, around, wanted.get(&made).map_or(&[], |own| own));
            if rerun.moments.is_empty() {
                continue;
            }
            for input in &rerun.inputs {
                wanted.entry(*input).or_default().extend(rerun.moments.iter().map(|(_, again)| *again));
            }
            self.reruns.insert(made, rerun);
        }
    }

    /// Notes what those save that take an argument near, where they save something.
    fn save(&mut self, made: usize, near: u8) -> Result<(), Error> {
        let (problem, prices) = (self.problem, self.prices);
        let (class, by) = (problem.choices.class[made], problem.program.made[made].by);
        if !matches!(problem.program.instances[by].kind, InstanceKind::Argument(..)) || problem.holders[made].is_some()
        {
            return Ok(());
        }
        let result = problem.program.made[made].result;
        let ids: BTreeSet<LayoutId> = problem.choices.ways[by].iter().map(|way| way.results[result]).collect();
        let mut all = Vec::new();
        for taken in &self.taken[made] {
            let mut costs = FxHashMap::default();
            for id in ids.iter().filter(|id| prices.space(class, **id) == near) {
                let mut own = Vec::new();
                for way in problem.choices.ways[taken.by.0].iter() {
                    let met = |home| problem.met(prices, taken, (*id, None), MadeIn { home, tied: false }, way);
                    let [far, near] = [met(None)?, met(Some(AliasOf::Near))?];
                    // A name lies where its array does, and what is copied into another layout is not read as it is.
                    let kept = way.home.is_some() || far.from != far.to || [far.cost, near.cost].contains(&FORBIDDEN);
                    let less = if kept { 0 } else { near.cost.saturating_sub(far.cost).min(0) };
                    own.push(less.checked_mul(taken.times).ok_or_else(too_much)?);
                }
                costs.insert(*id, own);
            }
            if costs.values().flatten().any(|cost| *cost != 0) {
                all.push(Saving { taken: *taken, costs });
            }
        }
        if !all.is_empty() {
            self.saved.insert(made, all);
        }
        Ok(())
    }

    /// The reads of an array, in order of time.
    fn reads(&self, made: usize) -> ReadBy {
        let (program, kernels) = (&self.problem.program, &self.problem.kernels);
        let (mut all, mut seen): (ReadBy, FxHashSet<usize>) = Default::default();
        for taken in &self.taken[made] {
            let user = taken.by.0;
            let own = match program.instances[user].kind {
                // Results are there when all has run.
                InstanceKind::Result(_) => vec![program.instances.len() - 1],
                _ => kernels.part_of[user].clone(),
            };
            // A kernel that was seen before has read it already.
            let new: Vec<usize> = own.into_iter().filter(|kernel| seen.insert(*kernel)).collect();
            let count = new.len() as i64;
            new.into_iter().for_each(|kernel| all.push((kernel, vec![(*taken, count)])));
        }
        all.sort_by_key(|(kernel, _)| *kernel);
        all
    }

    /// When an array is made and read.
    fn life(&self, made: usize, moments: &[Range<i64>], reads: &ReadBy) -> Lifetime {
        let instances = &self.problem.program.instances;
        let by = self.problem.program.made[made].by;
        let argument = matches!(instances[by].kind, InstanceKind::Argument(..));
        let merges = |k: usize| instances[k].kind == InstanceKind::Merge;
        let inside = if argument { None } else { self.clock.inside(by) };
        let carried = merges(by) || self.problem.users[made].iter().any(|(user, _)| merges(*user));
        let here = reads.iter().all(|(at, _)| self.clock.inside(*at) == inside && (argument || *at > by));
        Lifetime {
            moments: moments.to_vec(),
            made: (!argument).then_some(by),
            reads: reads.iter().map(|(at, _)| *at).collect(),
            inside,
            may_move: !carried && here && moments.len() == 1 && self.ends[by].is_none(),
        }
    }

    /// The least extra cost over the ways of a product whose operand is far, or whose result is far in a layout; `None`
    /// for other operations.
    fn product_far(&self, k: usize, operand: Option<usize>, result: Option<LayoutId>) -> Result<Option<i64>, Error> {
        let problem = self.problem;
        let instance = &problem.program.instances[k];
        let InstanceKind::Operation(operation) = instance.kind else { return Ok(None) };
        let classes = |all: &[usize]| all.iter().map(|made| problem.choices.class[*made]).collect::<Vec<_>>();
        let (from, to) = (classes(&instance.operands), classes(&instance.results));
        let mut least = None;
        for way in problem.choices.ways[k].iter().filter(|way| result.is_none_or(|id| way.results[0] == id)) {
            let Some(more) = self.prices.product_far(operation, way, (&from, &to), operand)? else { return Ok(None) };
            least = Some(least.map_or(more, |least: i64| least.min(more)));
        }
        Ok(least)
    }

    /// The extra costs of the products that read an array far, also under other names, by kernel.
    fn products(&self, made: usize) -> Result<FxHashMap<usize, i64>, Error> {
        let kernels = &self.problem.kernels;
        let mut found: FxHashMap<usize, i64> = FxHashMap::default();
        let mut names = vec![made];
        while let Some(name) = names.pop() {
            for Taken { by: (user, operand), times, .. } in &self.taken[name] {
                if kernels.renamed[*user] {
                    names.extend(&self.problem.program.instances[*user].results);
                    continue;
                }
                let Some(more) = self.product_far(*user, Some(*operand), None)? else { continue };
                let more = more.checked_mul(*times).ok_or_else(too_much)?;
                for kernel in &kernels.part_of[*user] {
                    let sum = found.entry(*kernel).or_default();
                    *sum = sum.checked_add(more).ok_or_else(too_much)?;
                }
            }
        }
        Ok(found)
    }

    /// The costs of an array in a layout, by memory; `products` is the extra cost of each read by products from afar.
    fn costs(
        &self,
        made: usize,
        id: LayoutId,
        (reads, products): (&ReadBy, &[i64]),
        near: u8,
    ) -> Result<MemoryCosts, Error> {
        let (class, problem) = (self.problem.choices.class[made], self.problem);
        let own = &problem.choices.classes.all[class];
        let by = problem.program.made[made].by;
        let times = problem.program.instances[by].times;
        let argument = matches!(problem.program.instances[by].kind, InstanceKind::Argument(..));
        let layout = &own.layouts[usize::from(id)];
        let sizes = Expansion::new(&own.sizes, layout)?.sizes().to_vec();
        let slices = sizes.into_iter().find(|size| *size > 1).unwrap_or(1);
        let bytes = own.bytes[usize::from(id)];
        let in_all = |cost: i64| cost.checked_mul(times).ok_or_else(too_much);
        let mut costs = MemoryCosts {
            bytes,
            slices,
            write: in_all(match self.product_far(by, None, Some(id))? {
                Some(more) => more,
                None => self.prices.written_far(class, id)?,
            })?,
            reads: Vec::with_capacity(reads.len()),
            saves: self.saved.contains_key(&made),
            copy: in_all(self.prices.beside(class, id)?.saturating_add(MARGIN))?,
            takes: [[0; 2]; 2],
        };
        for ((_, takers), product) in reads.iter().zip(products) {
            let mut sum = *product;
            // What others save that read an argument near is in edges.
            for (taken, share) in takers.iter().filter(|_| !argument) {
                let meeting = problem.meeting(taken);
                let at = |argument: bool| self.prices.meeting(Meeting { argument, ..meeting }, id, id);
                let more = at(true)?.saturating_sub(at(false)?).max(0) / share;
                sum = more.checked_mul(taken.times).and_then(|more| sum.checked_add(more)).ok_or_else(too_much)?;
            }
            costs.reads.push(sum);
        }
        for (takes, spaces) in costs.takes.iter_mut().zip([[near, 0], [0, near]]) {
            let [latency, moving] = problem.choices.classes.target.transfer_time(bytes, spaces)?;
            *takes = [in_all(latency)?, in_all(moving)?];
        }
        Ok(costs)
    }

    /// Adds the variable of an array's memories; `None` where it is in one memory whatever is chosen.
    ///
    /// # Errors
    /// The costs do not fit in 64 bits.
    pub fn place(
        &self,
        network: &mut CostNetwork,
        made: usize,
        (near, moments): (u8, &[Range<i64>]),
    ) -> Result<Option<Placed>, Error> {
        let problem = self.problem;
        let (class, by) = (problem.choices.class[made], problem.program.made[made].by);
        let argument = matches!(problem.program.instances[by].kind, InstanceKind::Argument(..));
        let own: Vec<LayoutId> =
            problem.choices.ways[by].iter().map(|way| way.results[problem.program.made[made].result]).collect();
        let reads = self.reads(made);
        let life = self.life(made, moments, &reads);
        let products = self.products(made)?;
        let products: Vec<i64> = reads.iter().map(|(at, _)| products.get(at).copied().unwrap_or(0)).collect();
        if argument && !self.saved.contains_key(&made) && products.iter().all(|cost| *cost == 0) {
            return Ok(None);
        }
        let mut groups: Vec<LayoutGroup> = Vec::new();
        for id in own.iter().copied().collect::<BTreeSet<LayoutId>>() {
            let fits = self.prices.space(class, id) == near;
            let costs = self.costs(made, id, (&reads, &products), near)?;
            // What is saved depends on the layout.
            let same = |group: &&mut LayoutGroup| !costs.saves && (&group.costs, group.fits) == (&costs, fits);
            match groups.iter_mut().find(same) {
                Some(group) => group.ids.push(id),
                None => groups.push(LayoutGroup { ids: vec![id], costs, fits }),
            }
        }
        let rerun = self.reruns.get(&made);
        let mut states: Vec<(usize, Residency)> = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let residencies = Residencies { clock: &self.clock, life: &life, costs: &group.costs };
            let mut found = match (group.fits, self.residence) {
                // It is in memory space 0 in all plans, and so its costs say.
                (false, _) => {
                    let far = residencies.of_life().pop();
                    far.into_iter().map(|far| Residency { cost: 0, ..far }).collect()
                }
                (true, Residence::ForLife) => residencies.of_life(),
                (true, Residence::Whole) => residencies.over_time(false),
                (true, Residence::OverTime) => residencies.over_time(true),
            };
            if let (Some(rerun), Some(whole)) = (rerun, found.first().cloned()) {
                found.extend(Remaking::residencies((&life, rerun), &residencies.points(), &whole));
            }
            states.extend(found.into_iter().map(|own| (number, own)));
        }
        let variable = network.add_variable(states.iter().map(|(_, own)| own.cost).collect())?;
        let fits = |id: &LayoutId| {
            let cost = |(group, _): &(usize, Residency)| if groups[*group].ids.contains(id) { 0 } else { FORBIDDEN };
            states.iter().map(cost).collect::<Vec<_>>()
        };
        network.add_edge(by, variable, own.iter().flat_map(fits).collect::<Vec<_>>())?;
        if argument {
            self.add_savings(network, made, (variable, &states), &groups)?;
        }
        let inputs = rerun.map_or_else(Vec::new, |rerun| rerun.inputs.clone());
        Ok(Some(Placed { variable, near, states: states.into_iter().map(|(_, own)| own).collect(), inputs }))
    }

    /// Adds the variable of an array in memory space 0 that may be made again, where the fastest memory is not limited; `None` where
    /// it may not.
    ///
    /// # Errors
    /// The costs do not fit in 64 bits.
    pub fn remake(
        &self,
        network: &mut CostNetwork,
        made: usize,
        moments: &[Range<i64>],
    ) -> Result<Option<Placed>, Error> {
        let problem = self.problem;
        let (class, by) = (problem.choices.class[made], problem.program.made[made].by);
        let reads = self.reads(made);
        let life = self.life(made, moments, &reads);
        let Some(rerun) = self.reruns.get(&made) else { return Ok(None) };
        let result = problem.program.made[made].result;
        let own: Vec<LayoutId> = problem.choices.ways[by].iter().map(|way| way.results[result]).collect();
        let bytes = |id: LayoutId| problem.choices.classes.all[class].bytes[usize::from(id)];
        let kinds: BTreeSet<(bool, i64)> =
            own.iter().map(|id| (self.prices.space(class, *id) == 0, bytes(*id))).collect();
        let mut states: Vec<((bool, i64), Residency)> = Vec::new();
        for kind @ (far, bytes) in kinds {
            let at = |side: bool| if side { life.moments.clone() } else { Vec::new() };
            let whole = Residency { near: at(!far), far: at(far), bytes: [bytes; 2], ..Residency::default() };
            if far {
                let costs = MemoryCosts::of_bytes(bytes);
                let residencies = Residencies { clock: &self.clock, life: &life, costs: &costs };
                let again = Remaking::residencies((&life, rerun), &residencies.points(), &whole);
                states.extend(again.into_iter().map(|own| (kind, own)));
            }
            states.push((kind, whole));
        }
        let variable = network.add_variable(states.iter().map(|(_, own)| own.cost).collect())?;
        let fits = |id: &LayoutId| {
            let own = (self.prices.space(class, *id) == 0, bytes(*id));
            states.iter().map(move |(kind, _)| if *kind == own { 0 } else { FORBIDDEN }).collect::<Vec<_>>()
        };
        network.add_edge(by, variable, own.iter().flat_map(fits).collect::<Vec<_>>())?;
        let near = self.prices.fastest().unwrap_or(0);
        let states = states.into_iter().map(|(_, own)| own).collect();
        Ok(Some(Placed { variable, near, states, inputs: rerun.inputs.clone() }))
    }

    /// Adds what those save that take an argument where it was brought to.
    fn add_savings(
        &self,
        network: &mut CostNetwork,
        made: usize,
        (variable, states): (usize, &[(usize, Residency)]),
        groups: &[LayoutGroup],
    ) -> Result<(), Error> {
        for Saving { taken, costs } in self.saved.get(&made).into_iter().flatten() {
            let user = taken.by.0;
            let kernels = &self.problem.kernels.part_of[user];
            let ways = self.problem.choices.ways[user].len();
            let mut table = Vec::with_capacity(states.len() * ways);
            for (group, own) in states {
                let near = kernels.iter().all(|kernel| own.is_read_near(*kernel as i64));
                match costs.get(&groups[*group].ids[0]).filter(|_| near) {
                    Some(saved) => table.extend_from_slice(saved),
                    None => table.resize(table.len() + ways, 0),
                }
            }
            if table.iter().any(|cost| *cost != 0) {
                network.add_edge(variable, user, table)?;
            }
        }
        Ok(())
    }
}

/// Forbids that an array is made again of another that is away then.
///
/// # Errors
/// The errors of the network.
pub fn forbid_missing(network: &mut CostNetwork, placed: &[Option<Placed>]) -> Result<(), Error> {
    for own in placed.iter().flatten() {
        for input in own.inputs.iter().filter_map(|input| placed[*input].as_ref()) {
            let mut table = Vec::with_capacity(input.states.len() * own.states.len());
            for there in &input.states {
                let is_there = |moment: i64| there.near.iter().chain(&there.far).any(|own| own.contains(&moment));
                let cost = |state: &Residency| if state.again.is_none_or(is_there) { 0 } else { FORBIDDEN };
                table.extend(own.states.iter().map(cost));
            }
            if table.contains(&FORBIDDEN) {
                network.add_edge(input.variable, own.variable, table)?;
            }
        }
    }
    Ok(())
}

fn too_much() -> Error {
    Error::new("the cost does not fit in 64 bits").too_large()
}

/// Stretches of moments, and what each choice of a variable takes there.
pub type Amounts = Vec<(Range<i64>, Vec<i64>)>;

/// For each stretch of moments at which the same choices of a variable take something, what each takes.
pub fn amounts(taken: &[Vec<(Range<i64>, i64)>]) -> Amounts {
    let ends: BTreeSet<i64> = taken.iter().flatten().flat_map(|(moments, _)| [moments.start, moments.end]).collect();
    let ends: Vec<i64> = ends.into_iter().collect();
    let mut found = Amounts::new();
    for pair in ends.windows(2) {
        let at = |own: &Vec<(Range<i64>, i64)>| {
            let here = own.iter().filter(|(moments, _)| moments.contains(&pair[0]));
            here.fold(0i64, |sum, (_, amount)| sum.saturating_add(*amount))
        };
        let amounts: Vec<i64> = taken.iter().map(at).collect();
        if amounts.iter().all(|amount| *amount == 0) {
            continue;
        }
        match found.last_mut() {
            Some((moments, before)) if moments.end == pair[0] && *before == amounts => moments.end = pair[1],
            _ => found.push((pair[0]..pair[1], amounts)),
        }
    }
    found
}
