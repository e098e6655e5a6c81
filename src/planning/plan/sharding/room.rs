//! Capacities of the memories of places.
//!
//! A place holds its part of each value from the operation that makes it to the last that reads it, arguments all the time,
//! but for values that lie beside the places. While an operation runs there are also the buffers for the pieces of what it
//! brings and takes away. A second buffer of each piece, in which the next comes while one is used, is not part of the
//! problem: it is there where room is left.

use super::candidates::MOST_OF_VALUES;
use super::cuts::{LoopChoice, total};
use super::planner::{Home, ShardingPlanner, held_by};
use super::reading::sizes;
use super::spread::Spread;
use crate::plan::build_steps::BuildSteps;
use crate::plan::kernels::{Kept, Kernels};
use crate::plan::layout_plan::Unplanned;
use crate::plan::live::moments;
use crate::plan::planner::{MOST_NAMED, Planner};
use crate::plan::program::{ArrayName, InstanceKind};
use crate::plan::space::{SpaceLimit, SpaceTaken, too_much};
use crate::solver::{CostNetwork, NetworkError};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tensor_layout::operations::operation::Operation;
use tensor_layout::text::Error;

impl ShardingPlanner<'_, '_> {
    /// Puts in the memory of a device, which is a limit in any case.
    ///
    /// # Errors
    /// A capacity below 0; bytes that do not fit.
    pub(super) fn limit_devices(&mut self) -> Result<(), Unplanned> {
        if let Some((memory, _)) = self.machine.memory_of_places() {
            let memory = &self.machine.memories[memory];
            if self.limits.iter().all(|limit| limit.space != memory.space) {
                self.limits.push(SpaceLimit { space: memory.space, bytes: memory.bytes });
            }
        }
        self.relaxed = Some(self.network.clone());
        self.keep(0)
    }

    /// Poses the problem again with capacities: values may be beside the places, and loops run in steps.
    ///
    /// # Errors
    /// A capacity below 0, an operation that does not fit; the time is over.
    pub(super) fn limit_places(&mut self, limits: &[SpaceLimit], steps: &mut BuildSteps) -> Result<(), Unplanned> {
        let wrong = |error: NetworkError| Unplanned::Wrong(None, error.into());
        (self.network, self.variables, self.touches) = (CostNetwork::new(), Vec::new(), Vec::new());
        for (made, home) in self.homes.iter().enumerate() {
            if *home == Home::Free && !self.program.made[made].array.dims.is_empty() {
                self.values[made].add(Spread::outside(), MOST_OF_VALUES + 2);
            }
        }
        let fits = self.fitting()?;
        self.pose(fits, steps)?;
        let network = std::mem::take(&mut self.network);
        self.network = self.with_capacities(network, limits)?;
        let Some((space, _, shared)) = self.buffers() else { return Ok(()) };
        for by in 0..self.nests.len() {
            let amounts: Vec<i64> =
                self.choices[by].iter().map(|choice| choice.buffers().saturating_mul(shared)).collect();
            let resource = limits.iter().position(|limit| limit.space == space);
            if let (Some(resource), Some(variable), true) =
                (resource, self.variables[by], amounts.iter().any(|bytes| *bytes > 0))
            {
                let moments = by as i64..by as i64 + 1;
                self.network.add_occupancy(variable, resource, moments, amounts).map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// The problem on devices in which values leave so many bytes; `None` without capacities.
    pub(super) fn kept(&self, bytes: i64) -> Result<Option<CostNetwork>, Unplanned> {
        let Some(relaxed) = &self.relaxed else { return Ok(None) };
        let less = |limit: &SpaceLimit| SpaceLimit { bytes: limit.bytes.saturating_sub(bytes).max(0), ..*limit };
        let limits: Vec<SpaceLimit> = self.limits.iter().map(less).collect();
        self.with_capacities(relaxed.clone(), &limits).map(Some)
    }

    /// A network with what values take of memories.
    fn with_capacities(&self, mut network: CostNetwork, limits: &[SpaceLimit]) -> Result<CostNetwork, Unplanned> {
        let wrong = |error: NetworkError| Unplanned::Wrong(None, error.into());
        for limit in limits {
            network.add_resource(limit.bytes).map_err(wrong)?;
        }
        for (made, moments) in self.lives(&BTreeSet::new()) {
            let held: Vec<_> = self.values[made]
                .all
                .iter()
                .map(|own| held_by(self.machine, own, self.program.made[made].array))
                .collect();
            for (resource, limit) in limits.iter().enumerate() {
                let bytes = |fit: &Result<Option<tensor_layout::places::Fit>, Error>| {
                    let fit = fit.as_ref().ok().and_then(Option::as_ref);
                    let own = fit.filter(|fit| {
                        fit.memory.is_some_and(|memory| self.machine.memories[memory].space == limit.space)
                    });
                    own.map_or(0, |fit| fit.bytes)
                };
                let most = held.iter().map(bytes).max().unwrap_or(0);
                // What does not fit is forbidden: the least that a value takes is that of what does.
                let amounts: Vec<i64> = held.iter().map(|fit| if fit.is_err() { most } else { bytes(fit) }).collect();
                for moment in moments.iter().filter(|_| amounts.iter().any(|amount| *amount > 0)) {
                    network.add_occupancy(made, resource, moment.clone(), amounts.clone()).map_err(wrong)?;
                }
            }
        }
        Ok(network)
    }

    /// The error that an instance needs these bytes by array, at least, in the buffers of a place.
    pub(super) fn short(&self, by: usize, needed: Vec<(usize, i64)>) -> Unplanned {
        let (space, capacity, _) = self.buffers().unwrap_or_default();
        let least = total(&needed);
        let mut arrays: Vec<(ArrayName, i64)> =
            needed.into_iter().map(|(made, bytes)| (self.program.name(made), bytes)).collect();
        arrays.sort_by_key(|(_, bytes)| Reverse(*bytes));
        arrays.truncate(MOST_NAMED);
        let memory = self.machine.space_name(space);
        Unplanned::Short { space, memory, at: self.program.instances[by].node, least, capacity, arrays }
    }

    /// The memory space in which places have buffers, the most bytes that those of one place may take, and the number of
    /// places that share such a memory. None where the machine has no memories.
    pub(super) fn buffers(&self) -> Option<(u8, i64, i64)> {
        let (memory, shared) = self.machine.memory_of_places()?;
        let memory = &self.machine.memories[memory];
        let limits = self.limits.iter().filter(|limit| limit.space == memory.space).map(|limit| limit.bytes);
        Some((memory.space, limits.fold(memory.bytes, i64::min) / shared.max(1), shared))
    }

    /// The values that are in the places, each with the moments when it is. On devices an argument whose place a result takes
    /// is there until it was read last, and `stored` are in memory, though they are inside of kernels.
    fn lives(&self, stored: &BTreeSet<usize>) -> Vec<(usize, Vec<Range<i64>>)> {
        let n = self.program.instances.len();
        // In places, nothing is in registers only.
        let mut kernels = self.kernels.clone().unwrap_or_else(|| Kernels {
            kept: vec![Kept::Stored; n],
            reads: vec![Vec::new(); n],
            part_of: vec![Vec::new(); n],
            renamed: vec![false; n],
        });
        stored.iter().for_each(|made| kernels.kept[self.program.made[*made].by] = Kept::Stored);
        let users = self.program.users();
        let mut live = moments(&self.program, &users, &kernels);
        for (from, to) in if self.pod.is_some() { self.tied() } else { Vec::new() } {
            let by = self.program.made[to].by;
            let mut end = by;
            for (user, _) in &users[from] {
                let last = kernels.part_of[*user].iter().copied().fold(*user, usize::max);
                // The same elements are read and written.
                let is_in_place = last == by && self.reads_and_writes_alike(*user) && self.reads_and_writes_alike(by);
                end = end.max(if is_in_place { by } else { last + 1 });
            }
            live[from] = std::iter::once(0..end as i64).collect();
        }
        let live = live.into_iter().enumerate();
        live.filter(|(made, _)| self.homes[*made] != Home::Outside).collect()
    }

    /// Whether an instance reads each element where it writes one.
    fn reads_and_writes_alike(&self, by: usize) -> bool {
        match self.program.instances[by].kind {
            InstanceKind::Operation(operation) => matches!(operation, Operation::Elementwise | Operation::Select),
            kind => kind == InstanceKind::Merge,
        }
    }

    /// The memory use of values, and of buffers while operations run, by these choices.
    pub(super) fn taken(&self, choices: &[usize], chosen: &[Option<LoopChoice>]) -> Result<Vec<SpaceTaken>, Error> {
        let mut all: BTreeMap<u8, (SpaceTaken, BTreeMap<i64, i128>)> = BTreeMap::new();
        for (made, moments) in
            self.lives(&self.moved_registers(choices)).into_iter().filter(|(_, moments)| !moments.is_empty())
        {
            // A result of the program is the array that it is made of.
            if matches!(self.program.instances[self.program.made[made].by].kind, InstanceKind::Result(_)) {
                continue;
            }
            let array = self.program.made[made].array;
            let fit = held_by(self.machine, &self.values[made].all[choices[made]], array)?;
            let Some((memory, bytes)) = fit.and_then(|fit| Some((fit.memory?, fit.bytes))) else { continue };
            let memory = &self.machine.memories[memory];
            let depth = memory.axis.as_ref().and_then(|axis| self.machine.depth(axis));
            let axes = &self.machine.axes[..depth.map_or(0, |depth| depth + 1)];
            let memories = axes.iter().fold(1i128, |n, axis| n.saturating_mul(axis.extent.into()));
            let elements = sizes(array).iter().fold(1i128, |n, size| n.saturating_mul((*size).into()));
            let bits = elements.saturating_mul(array.element.bits().unwrap_or(8).into());
            let share = (bits / 8 / memories.max(1)).min(bytes.into()) as i64;
            let (taken, changes) = all.entry(memory.space).or_default();
            taken.space = memory.space;
            taken.bytes = taken.bytes.checked_add(bytes).ok_or_else(too_much)?;
            taken.padding = taken.padding.saturating_add(bytes - share);
            taken.default_padding = taken.padding;
            for range in moments {
                *changes.entry(range.start).or_default() += i128::from(bytes);
                *changes.entry(range.end).or_default() -= i128::from(bytes);
            }
        }
        for (by, choice) in chosen.iter().enumerate() {
            let (Some(choice), Some((space, _, shared))) = (choice, self.buffers()) else { continue };
            let bytes = i128::from(choice.buffers()) * i128::from(shared);
            if bytes > 0 {
                let (taken, changes) = all.entry(space).or_default();
                taken.space = space;
                *changes.entry(by as i64).or_default() += bytes;
                *changes.entry(by as i64 + 1).or_default() -= bytes;
            }
        }
        if let (Some(pod), Some((memory, _))) = (&self.pod, self.machine.memory_of_places()) {
            let space = self.machine.memories[memory].space;
            let (taken, changes) = all.entry(space).or_default();
            taken.space = space;
            for (moments, bytes) in self.buffers_on(pod, choices) {
                *changes.entry(moments.start).or_default() += bytes;
                *changes.entry(moments.end).or_default() -= bytes;
            }
        }
        let filled = all.into_values().map(|(mut taken, changes)| {
            taken.fill(&self.program, changes)?;
            Ok(taken)
        });
        filled.collect()
    }
}
