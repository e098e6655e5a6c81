//! A plan: the layouts of all values, what they take, and where relayouts stand.

use super::classes::LayoutId;
use super::holders::HeldIn;
use super::placing::Placed;
use super::planned_layout::PlannedLayout;
use super::prices::Prices;
use super::problem::{LayoutProblem, Located, Taken};
use super::program::{ArrayName, InstanceKind};
use super::residency::Residency;
use super::sharding::pod::DeviceLine;
use super::sharding::steps::PlannedSteps;
use super::sharding::traffic::LevelBytes;
use super::space::{HeldBytes, SpaceTaken};
use super::ways::MadeIn;
use crate::solver::{Certificate, Marginal, NetworkError, NoPlan, Solution};
use std::fmt;
use std::ops::Range;
use tensor_layout::operations::shape::Array;
use tensor_layout::places::{CollectiveKind, Decimal, PreferenceRow};
use tensor_layout::text::{Error, ErrorKind};
use tensor_layout::tiled::layout::Layout;
use tensor_layout::transfers::{StridedCopy, whole_copy};

/// Layouts for a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LayoutPlan {
    /// The cost of the program, in the unit of the target.
    pub cost: i64,
    /// The lower bound of the cost over all layouts.
    pub bound: i64,
    /// The layouts of the arguments' arrays, in order.
    pub arguments: Vec<PlannedLayout>,
    /// The layouts of the results' arrays, in order.
    pub results: Vec<PlannedLayout>,
    /// For each array the layouts that it is held in, the one that it is made in first. An array that is made several times
    /// has several entries. Over places, scalars are left out.
    pub values: Vec<(ArrayName, Vec<PlannedLayout>)>,
    /// Where layouts meet.
    pub relayouts: Vec<PlannedRelayout>,
    /// Over places, by axis of the machine: the bytes that the busiest nodes get or give, all operations together.
    pub levels: Vec<i64>,
    /// On devices, the part of the cost that is their work; the other part is communication.
    pub work: i64,
    /// For each of the values the number of the memory space that it is made in; none over places.
    pub spaces: Vec<u8>,
    /// Where values are that are not in one memory as long as they live, by value and time.
    pub stays: Vec<PlannedStay>,
    /// The copies between memories that run beside kernels, by value and time.
    pub transfers: Vec<PlannedTransfer>,
    /// The values that are made again, by value and time.
    pub remade: Vec<PlannedRemake>,
    /// With capacities, the steps of operations that bring something into the places.
    pub steps: Vec<PlannedSteps>,
    /// The bytes of a memory that arrays leave to what operations bring, if the plan is one of those that do so.
    pub kept: i64,
    /// The memory use of the plan, by memory. Over places, bytes are those of one such memory, that of the place with
    /// most; padding is what is more than an even share of the elements, since places have no default layouts.
    pub taken: Vec<SpaceTaken>,
    /// The proof of the bound.
    pub solution: Solution,
}

/// A relayout. Over places, an array that an operation reads or makes in other places than those that hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedRelayout {
    /// The array.
    pub at: ArrayName,
    /// The layout in which it is made.
    pub from: PlannedLayout,
    /// The layout in which it is taken; along an axis that it does not name, or after `B@`, it has copies, or sums that are
    /// not added up yet.
    pub to: PlannedLayout,
    /// The bytes that are read and written, padding included; over places those of all places and levels.
    pub bytes: i64,
    /// The cost, with that of the fusion that it breaks.
    pub cost: i64,
    /// The nodes that take it: their graphs, and their numbers there.
    pub wanted_by: Vec<(usize, usize)>,
    /// The operands that it is for: instances of the program, and the numbers of their operands.
    pub(in crate::plan) taken_by: Vec<(usize, usize)>,
    /// Over places, what moves at each level, as often as the operation runs, in all of its steps.
    pub traffic: LevelBytes,
    /// On devices, the collectives that do it, in their order.
    pub collectives: Vec<PlannedCollective>,
}

/// A collective of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedCollective {
    /// The kind of the collective.
    pub kind: CollectiveKind,
    /// Between the devices that differ in these parts of the axis.
    pub along: Vec<DeviceLine>,
    /// The bytes that each device gets, as often as the operation runs.
    pub bytes: i64,
}

/// A value in a memory for a part of its life.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedStay {
    /// The value.
    pub at: ArrayName,
    /// The number of the memory space.
    pub space: u8,
    /// The bytes there: all of the value, or some of its slices.
    pub bytes: i64,
    /// The nodes that run when it is there first and last.
    pub nodes: [(usize, usize); 2],
    /// The moments of the schedule at which it is there, which are the numbers of the instances.
    pub moments: Range<i64>,
}

/// A value that is in no memory between two of its reads, and made again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedRemake {
    /// The value.
    pub at: ArrayName,
    /// The bytes that are free between.
    pub bytes: i64,
    /// The node that reads it last before, and the one before which it is made again.
    pub nodes: [(usize, usize); 2],
    /// The moments of the schedule between, which are the numbers of the instances.
    pub moments: Range<i64>,
    /// The cost of making it again, and of keeping it in its memory.
    pub cost: i64,
}

/// A copy between memories that runs beside kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedTransfer {
    /// The value.
    pub at: ArrayName,
    /// The bytes that are moved.
    pub bytes: i64,
    /// The number of the memory space that is read.
    pub from: u8,
    /// The number of the one that is written.
    pub to: u8,
    /// The node before which it starts, and the one before which it is done.
    pub nodes: [(usize, usize); 2],
    /// The moments of the schedule beside whose kernels it runs; none where all stand still for it.
    pub moments: Range<i64>,
    /// The time that kernels wait for it, in the unit of the target; the cost of the plan contains it.
    pub exposed: i64,
    /// The share of the bandwidth that it has as long as it runs, in millionths.
    pub share: i64,
    /// The layout, which is the same in both memories.
    pub layout: Layout,
    /// The strided copy that it is: a run of all elements, padding included.
    pub copy: StridedCopy,
    /// The nodes that read what it moved: their graphs, and their numbers there. Others read what was there before: also
    /// those that run when the value is near no more and was in memory space 0 all the time.
    pub read_by: Vec<(usize, usize)>,
}

/// The layouts of an operation's arrays, for those who write them into a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaidOut {
    /// The graph, and the number of the node in it.
    pub node: (usize, usize),
    /// In which it takes its operands. `None` where that is no layout over the places, as with windows, which overlap, or does
    /// not fit into them: then these read elements where they are.
    pub operands: Vec<Option<PlannedLayout>>,
    /// In which these are where it takes them.
    pub read: Vec<PlannedLayout>,
    /// Whether it reads each there, so that no copy stands between.
    pub in_place: Vec<bool>,
    /// In which it makes its results: over places with copies, which are added up, where loops of a sum are spread. `None` as
    /// above.
    pub made: Vec<Option<PlannedLayout>>,
    /// In which its results are held.
    pub results: Vec<PlannedLayout>,
    /// In which memory spaces; 0 where they are in registers, inside of a kernel. Over places none.
    pub spaces: Vec<u8>,
}

/// A layout of an array, with the best plan that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alternative {
    /// The layout.
    pub layout: PlannedLayout,
    /// The best plan in which the array is made in it.
    pub best: Marginal,
}

/// Why there is no plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Unplanned {
    /// A node, if one is at fault, and what is wrong.
    Wrong(Option<(usize, usize)>, Error),
    /// No plan fits: a memory is too small for any.
    Short {
        /// The number of the memory space.
        space: u8,
        /// The name of the memory.
        memory: String,
        /// The node that runs when it is.
        at: (usize, usize),
        /// The bytes that it must hold then at least.
        least: i64,
        /// The bytes that it has.
        capacity: i64,
        /// The arrays that take most, with the least that each can take.
        arrays: Vec<(ArrayName, i64)>,
    },
    /// No plan fits, as a search through all of them has shown: where the nearest one does not.
    Unfit(MemoryExcess),
    /// The time, or the limit of work, ended before there was a plan, or a proof that there is none: where the nearest plan
    /// that was found does not fit.
    Undecided(Option<MemoryExcess>),
    /// No layouts are possible.
    Impossible(NoPlan),
}

/// Where a plan takes more of a memory than there is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryExcess {
    /// The number of the memory space.
    pub space: u8,
    /// The name of the memory.
    pub memory: String,
    /// The node that runs when most is missing.
    pub at: (usize, usize),
    /// The bytes that the plan takes then.
    pub bytes: i64,
    /// The bytes that the memory has.
    pub capacity: i64,
}

impl fmt::Display for MemoryExcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemoryExcess { memory, bytes, capacity, .. } = self;
        let more = bytes.saturating_sub(*capacity);
        write!(f, "{bytes} bytes of `{memory}`, {more} more than its capacity {capacity}")
    }
}

impl Unplanned {
    /// Why there is no plan, given why the solver has none and what is short of a resource at a moment.
    pub(crate) fn of(
        why: NoPlan,
        excess: impl Fn(usize, i64, i64, i64) -> Option<MemoryExcess>,
        arrays: impl Fn(usize, i64) -> Vec<(ArrayName, i64)>,
    ) -> Unplanned {
        let of = |error: &NetworkError| match error {
            NetworkError::OverCapacity { resource, moment, used, capacity } => {
                excess(*resource, *moment, *used, *capacity)
            }
            _ => None,
        };
        match &why {
            NoPlan::Shortage { resource, moment, least, capacity, .. } => {
                match excess(*resource, *moment, *least, *capacity) {
                    Some(MemoryExcess { space, memory, at, bytes: least, capacity }) => {
                        let arrays = arrays(*resource, *moment);
                        Unplanned::Short { space, memory, at, least, capacity, arrays }
                    }
                    None => Unplanned::Impossible(why),
                }
            }
            NoPlan::Proved { nearest } => match nearest.as_ref().and_then(of) {
                Some(excess) => Unplanned::Unfit(excess),
                None => Unplanned::Impossible(why),
            },
            NoPlan::NotFound { nearest } => Unplanned::Undecided(of(nearest)),
            NoPlan::Stopped => Unplanned::Undecided(None),
            NoPlan::Forbidden { .. } => Unplanned::Impossible(why),
        }
    }
}

impl fmt::Display for Unplanned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unplanned::Wrong(_, error) => write!(f, "{error}"),
            Unplanned::Short { memory, least, capacity, .. } => {
                write!(f, "`{memory}` must hold {least} bytes at once, found {capacity}")
            }
            Unplanned::Unfit(nearest) => {
                write!(f, "no plan fits, as a search through all of them shows: the nearest one takes {nearest}")
            }
            Unplanned::Undecided(nearest) => {
                f.write_str("not decided: the search ended before it had a plan, or a proof that there is none")?;
                nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; the nearest one that was found takes {nearest}"))
            }
            Unplanned::Impossible(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for Unplanned {}

impl From<Located> for Unplanned {
    fn from((node, error): Located) -> Unplanned {
        match error.kind {
            // No node is at fault.
            ErrorKind::Undecided => Unplanned::Undecided(None),
            _ => Unplanned::Wrong(Some(node), error),
        }
    }
}

/// An argument or a result in another layout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryChange {
    /// Whether it is an argument.
    pub argument: bool,
    /// Its number among the arrays of all arguments, or of all results.
    pub number: usize,
    /// The layout.
    pub layout: PlannedLayout,
}

/// Layouts of arguments and results that are in doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Doubt {
    /// The operation of the program whose row of the machine's doubt is the largest; `None` for that of programs without such rows.
    pub row: Option<PreferenceRow>,
    /// The row: the part by which four of five programs cost at most more than planned, beside default layouts.
    pub off: Decimal,
    /// The best plan with default layouts of all arguments and results costs so much.
    pub default: i64,
    /// The arguments and results that are better left in their default layouts, with these.
    pub leave: Vec<EntryChange>,
    /// The best plan that leaves them costs so much.
    pub cost: i64,
}

/// A solution as a plan.
pub(super) struct PlanDecoder<'p, 'a, 't> {
    pub problem: &'p LayoutProblem<'a, 't>,
    pub prices: Prices<'p, 't>,
    pub placed: &'p [Option<Placed>],
    pub certificate: Certificate,
}

impl PlanDecoder<'_, '_, '_> {
    pub fn plan(self) -> Result<LayoutPlan, Located> {
        let program = &self.problem.program;
        let mut held: Vec<Vec<LayoutId>> = (0..program.made.len()).map(|made| vec![self.made_in(made)]).collect();
        let relayouts = self.relayouts(&mut held)?;
        let entry = |made: &usize| self.layout(*made, self.made_in(*made));
        let [arguments, results] = program.entry_arrays().map(|arrays| arrays.iter().map(entry).collect());
        let spaces: Vec<u8> = (0..program.made.len()).map(|made| self.space(made)).collect();
        let moments = self.problem.moments();
        let all: Vec<Vec<HeldBytes>> = moments.iter().enumerate().map(|(made, own)| self.bytes(made, own)).collect();
        let taken = self.problem.taken_space(&all).map_err(|error| ((0, 0), error))?;
        let (stays, transfers) = self.movements()?;
        let told = (0..program.made.len()).filter(|made| !program.is_result(*made));
        let told: Vec<_> = told.map(|made| (program.name(made), made)).chain(program.names.iter().copied()).collect();
        let value =
            |(name, made): &(ArrayName, usize)| (*name, held[*made].iter().map(|id| self.layout(*made, *id)).collect());
        Ok(LayoutPlan {
            cost: self.certificate.cost,
            bound: self.certificate.bound,
            arguments,
            results,
            values: told.iter().map(value).collect(),
            relayouts,
            levels: Vec::new(),
            work: 0,
            spaces: told.iter().map(|(_, made)| spaces[*made]).collect(),
            stays,
            transfers,
            remade: self.remade(),
            steps: Vec::new(),
            kept: 0,
            taken,
            solution: Solution { certificate: self.certificate },
        })
    }

    /// Where an array lies over its life, if that is a choice.
    pub fn residency(&self, made: usize) -> Option<(&Placed, &Residency)> {
        let placed = self.placed.get(made)?.as_ref()?;
        Some((placed, &placed.states[self.certificate.choices[placed.variable]]))
    }

    /// The number of the memory space that an array is made in.
    pub fn space(&self, made: usize) -> u8 {
        let by = self.problem.program.made[made].by as i64;
        match self.residency(made) {
            _ if self.problem.is_outer(made) => 0,
            Some((placed, own)) if own.is_read_near(by) => placed.near,
            Some(_) => 0,
            None => self.near(made, self.made_in(made)),
        }
    }

    /// The bytes of an array, in its layouts. What is copied for one operation is not held.
    pub fn bytes(&self, made: usize, moments: &[Range<i64>]) -> Vec<HeldBytes> {
        let (layout, second) = self.held(made);
        let bytes =
            |id: LayoutId| self.problem.choices.classes.all[self.problem.choices.class[made]].bytes[usize::from(id)];
        let whole = |layout: LayoutId, space: u8| {
            let moments = moments.to_vec();
            HeldBytes { layout, space, bytes: bytes(layout), moments }
        };
        let mut all = match self.residency(made) {
            None => vec![whole(layout, self.near(made, layout))],
            Some((placed, own)) => {
                let sides = [(placed.near, &own.near, own.bytes[0]), (0, &own.far, own.bytes[1])];
                let side = |(space, moments, bytes): (u8, &Vec<Range<i64>>, i64)| HeldBytes {
                    layout,
                    space,
                    bytes,
                    moments: moments.clone(),
                };
                sides.into_iter().filter(|(_, moments, _)| !moments.is_empty()).map(side).collect()
            }
        };
        all.extend(second.map(|id| whole(id, self.near(made, id))));
        all
    }

    /// Where arrays are that are not in one memory as long as they live, and how they come there.
    fn movements(&self) -> Result<(Vec<PlannedStay>, Vec<PlannedTransfer>), Located> {
        let program = &self.problem.program;
        let node = |moment: i64| program.at_moment(moment);
        let (mut stays, mut transfers) = (Vec::new(), Vec::new());
        for made in 0..program.made.len() {
            let Some((placed, own)) = self.residency(made) else { continue };
            let at = program.name(made);
            if own.near.is_empty() || own.far.is_empty() {
                continue;
            }
            for (space, moments, bytes) in [(placed.near, &own.near, own.bytes[0]), (0, &own.far, own.bytes[1])] {
                let stay = |own: &Range<i64>| {
                    let nodes = [node(own.start), node(own.end - 1)];
                    PlannedStay { at, space, bytes, nodes, moments: own.clone() }
                };
                stays.extend(moments.iter().map(stay));
            }
            for (number, moved) in own.moves.iter().enumerate() {
                let layout = self.tiled(made, self.made_in(made));
                let array = Array { layout: layout.clone(), ..program.made[made].array.clone() };
                let copy = whole_copy(&array).map_err(|error| (node(moved.flight.moments.start), error))?;
                let (from, to) = if moved.out { (placed.near, 0) } else { (0, placed.near) };
                let flight = &moved.flight;
                transfers.push(PlannedTransfer {
                    at,
                    bytes: own.bytes[usize::from(!moved.out)],
                    from,
                    to,
                    nodes: [node(flight.moments.start), node(moved.done)],
                    moments: flight.moments.clone(),
                    exposed: flight.exposed,
                    share: flight.share,
                    layout,
                    copy,
                    read_by: self.readers(made, &|moment| own.read_after(moment) == Some(number)),
                });
            }
        }
        Ok((stays, transfers))
    }

    /// The nodes that take an array, for kernels of which the first runs at one of some moments.
    fn readers(&self, made: usize, moments: &dyn Fn(i64) -> bool) -> Vec<(usize, usize)> {
        let (program, kernels) = (&self.problem.program, &self.problem.kernels);
        let at = |user: usize| match program.instances[user].kind {
            // Results are there when all has run.
            InstanceKind::Result(_) => program.instances.len() - 1,
            _ => kernels.part_of[user].iter().copied().min().unwrap_or(user),
        };
        let mut users: Vec<usize> = self.problem.users[made].iter().map(|(user, _)| *user).collect();
        users.retain(|user| moments(at(*user) as i64));
        users.sort_unstable();
        let mut nodes: Vec<(usize, usize)> = users.into_iter().map(|user| program.instances[user].node).collect();
        nodes.dedup();
        nodes
    }

    /// Lists the values that are made again.
    fn remade(&self) -> Vec<PlannedRemake> {
        let program = &self.problem.program;
        let mut found = Vec::new();
        for made in 0..program.made.len() {
            let Some((_, own)) = self.residency(made) else { continue };
            let (Some(again), Some(first)) = (own.again, own.near.first().or(own.far.first())) else { continue };
            let nodes = [program.at_moment(first.end - 1), program.at_moment(again)];
            let bytes = own.bytes[usize::from(own.near.is_empty())];
            let at = program.name(made);
            found.push(PlannedRemake { at, bytes, nodes, moments: first.end..again, cost: own.cost });
        }
        found
    }

    /// The number of the memory space of an array with nothing that speaks for another.
    pub fn near(&self, made: usize, id: LayoutId) -> u8 {
        if self.problem.is_outer(made) { 0 } else { self.prices.space(self.problem.choices.class[made], id) }
    }

    /// The layout that an array is made in.
    pub fn made_in(&self, made: usize) -> LayoutId {
        let (by, result) = (self.problem.program.made[made].by, self.problem.program.made[made].result);
        self.problem.choices.ways[by][self.certificate.choices[by]].results[result]
    }

    /// The layouts that an array is held in.
    pub fn held(&self, made: usize) -> HeldIn {
        match &self.problem.holders[made] {
            Some((variable, states)) => states[self.certificate.choices[*variable]],
            None => (self.made_in(made), None),
        }
    }

    /// The origin of an array, for the operations that take it.
    pub fn origin(&self, made: usize) -> MadeIn {
        let by = self.problem.program.made[made].by;
        match self.problem.holders[made] {
            Some(_) => MadeIn::default(),
            None => self.problem.choices.ways[by][self.certificate.choices[by]].origin(),
        }
    }

    /// A layout of an array, as a plan has it.
    pub fn layout(&self, made: usize, id: LayoutId) -> PlannedLayout {
        PlannedLayout::Tiled(self.tiled(made, id))
    }

    pub fn tiled(&self, made: usize, id: LayoutId) -> Layout {
        self.problem.choices.classes.all[self.problem.choices.class[made]].layouts[usize::from(id)].clone()
    }

    /// The relayouts; adds to each array the layouts that they make.
    fn relayouts(&self, held: &mut [Vec<LayoutId>]) -> Result<Vec<PlannedRelayout>, Located> {
        let program = &self.problem.program;
        let mut found = Vec::new();
        // The relayout to the second layout of an array.
        let mut second: Vec<Option<usize>> = vec![None; program.made.len()];
        for (made, number) in second.iter_mut().enumerate() {
            if let (from, Some(to)) = self.held(made) {
                let by = &program.instances[program.made[made].by];
                let cost = self.problem.held(&self.prices, made, (from, Some(to))).map_err(|error| (by.node, error))?;
                *number = Some(found.len());
                found.push(self.relayout(held, made, (from, to), cost.saturating_mul(by.times)));
            }
        }
        // Dead code is not run, nor what brings its operands into other layouts.
        for taken in self.problem.taken().filter(|taken| self.problem.needed[taken.by.0]) {
            let Taken { by: (user, _), made, times } = taken;
            let (node, state) = (program.instances[user].node, self.held(made));
            let way = &self.problem.choices.ways[user][self.certificate.choices[user]];
            let met = self.problem.met(&self.prices, &taken, state, self.origin(made), way);
            let met = met.map_err(|error| (node, error))?;
            let meeting = met.meeting;
            if met.from != met.to && !meeting.is_read_in_place() {
                let cost = self.prices.relayout(meeting, met.from, met.to);
                let cost = cost.map_err(|error| (node, error))?.saturating_mul(times);
                let mut relayout = self.relayout(held, made, (met.from, met.to), cost);
                relayout.wanted_by.push(node);
                relayout.taken_by.push(taken.by);
                found.push(relayout);
            } else if let Some(number) = second[made].filter(|_| met.from != state.0) {
                found[number].wanted_by.push(node);
                found[number].taken_by.push(taken.by);
            }
        }
        Ok(found)
    }

    fn relayout(
        &self,
        held: &mut [Vec<LayoutId>],
        made: usize,
        (from, to): (LayoutId, LayoutId),
        cost: i64,
    ) -> PlannedRelayout {
        if !held[made].contains(&to) {
            held[made].push(to);
        }
        let bytes = &self.problem.choices.classes.all[self.problem.choices.class[made]].bytes;
        PlannedRelayout {
            at: self.problem.program.name(made),
            from: self.layout(made, from),
            to: self.layout(made, to),
            bytes: bytes[usize::from(from)].saturating_add(bytes[usize::from(to)]),
            cost,
            wanted_by: Vec::new(),
            taken_by: Vec::new(),
            traffic: LevelBytes::default(),
            collectives: Vec::new(),
        }
    }
}
