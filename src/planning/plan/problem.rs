//! The problem that a program is: a variable for each instance, whose choices are its ways, and an edge for each operand.

use super::build_steps::BuildSteps;
use super::canonical::CanonicalOrder;
use super::classes::{LayoutClasses, LayoutId};
use super::holders::{HeldIn, states};
use super::homes::{end, homes, rename};
use super::kernels::{Kept, Kernels};
use super::live::moments;
use super::moving::{Around, ReshapeEnds, ends, form, in_place, through_form, without_form};
use super::prices::{Extent, Meeting, Prices, Taker};
use super::program::{InstanceKind, Program};
use super::renames::Renames;
use super::ways::{AliasOf, Choices, EntryLayouts, MadeIn, Tied, Way};
use crate::solver::{CostNetwork, FORBIDDEN, NetworkError};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use tensor_layout::operations::operation::Operation;
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// A node, and what is wrong with it.
pub type Located = ((usize, usize), Error);

/// A program as a problem. Variables are the instances, by their numbers.
pub struct LayoutProblem<'a, 't> {
    /// The program.
    pub program: Program<'a>,
    /// The layouts and ways that can be chosen.
    pub choices: Choices<'t>,
    /// The kernels.
    pub kernels: Kernels,
    /// The arguments and results under other names.
    pub renames: Renames,
    /// For each instance whether its work is [needed](Program::needed).
    pub needed: Vec<bool>,
    /// The users of each array, in [canonical order](super::canonical): instances and their operands, without dead code.
    pub users: Vec<Vec<(usize, usize)>>,
    /// For each array that may be held in two layouts: its variable, and what the choices of that are.
    pub holders: Vec<Option<(usize, Rc<Vec<HeldIn>>)>>,
}

/// Where and how an operation takes an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// The cost of one run.
    pub cost: i64,
    /// The layout that is read or copied.
    pub from: LayoutId,
    /// The layout in which the operation takes it.
    pub to: LayoutId,
    /// The facts that the cost depends on.
    pub meeting: Meeting,
}

/// An operand and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The instance that takes the array, and as which operand.
    pub by: (usize, usize),
    /// The array.
    pub made: usize,
    /// How often.
    pub times: i64,
}

impl<'a, 't> LayoutProblem<'a, 't> {
    /// Poses the problem.
    ///
    /// # Errors
    /// An instance and what is wrong with it.
    pub fn new(
        program: Program<'a>,
        target: &'t Target,
        entry: EntryLayouts,
    ) -> Result<LayoutProblem<'a, 't>, Located> {
        LayoutProblem::within(program, LayoutClasses::new(target), entry, &mut BuildSteps::new(&mut |_| true))
    }

    /// The same within a time, with layouts that arrays may have in any case.
    ///
    /// # Errors
    /// The errors of [`LayoutProblem::new`] and of [`BuildSteps::step`].
    pub fn within(
        program: Program<'a>,
        classes: LayoutClasses<'t>,
        entry: EntryLayouts,
        steps: &mut BuildSteps,
    ) -> Result<LayoutProblem<'a, 't>, Located> {
        let order = CanonicalOrder::new(&program);
        let users = order.users(&program);
        let kernels = Kernels::new(&program, &order, &users, classes.target.has_tiles());
        let located = |(k, error): (usize, Error)| (program.instances[k].node, error);
        let mut choices = Choices::new(&program, &order, classes, entry, steps).map_err(located)?;
        let moves = |k: usize| form(&program, &choices, k).is_some_and(|ends| !in_place(&choices, ends));
        let renames = Renames::new(&program, &users, moves);
        let mut holders = Vec::with_capacity(users.len());
        let mut next = program.instances.len();
        for (made, own) in users.iter().enumerate() {
            let (by, result) = (program.made[made].by, program.made[made].result);
            steps.step().map_err(|error| located((by, error)))?;
            let layouts: Vec<LayoutId> = choices.ways[by].iter().map(|way| way.results[result]).collect();
            let named = kernels.renamed[by] || form(&program, &choices, by).is_some();
            let is_end = |user: &(usize, usize)| matches!(program.instances[user.0].kind, InstanceKind::Result(_));
            let ends = if own.iter().any(is_end) { vec![0, choices.given[made]] } else { Vec::new() };
            let states = states(&choices, choices.class[made], &layouts, own, &ends).filter(|_| !named);
            holders.push(states.map(|states| (next, Rc::new(states))));
            next += usize::from(holders[made].is_some());
        }
        homes(&program, &mut choices, (&kernels, &users), &renames);
        Ok(LayoutProblem { program, choices, kernels, renames, needed: order.needed, users, holders })
    }

    /// When each array is in memory.
    pub fn moments(&self) -> Vec<Vec<Range<i64>>> {
        moments(&self.program, &self.users, &self.kernels)
    }

    /// The operands of all instances.
    pub fn taken(&self) -> impl Iterator<Item = Taken> + '_ {
        self.program.instances.iter().enumerate().flat_map(|(k, instance)| {
            let times = |made: usize| match instance.kind {
                // A loop takes what its body makes as often as the body runs.
                InstanceKind::Merge => self.program.instances[self.program.made[made].by].times,
                _ => instance.times,
            };
            let taken =
                move |(operand, made): (usize, &usize)| Taken { by: (k, operand), made: *made, times: times(*made) };
            instance.operands.iter().enumerate().map(taken)
        })
    }

    /// The facts that the costs of an operand depend on, beside the two layouts.
    pub fn meeting(&self, taken: &Taken) -> Meeting {
        let (user, operand) = taken.by;
        let maker = self.program.made[taken.made].by;
        let taker = match self.program.instances[user].kind {
            InstanceKind::Result(_) => Taker::Result,
            InstanceKind::Operation(operation) => match operation {
                Operation::Dot { .. } if self.program.loop_product(user).is_some() => Taker::Stream,
                // What is open is brought into a form of its own by a kernel that streams.
                Operation::Convolution(_) if self.cuts((user, operand)) => {
                    let several = self.users[taken.made].iter().filter(|user| self.cuts(**user)).nth(1).is_some();
                    if several { Taker::Cut } else { Taker::Stream }
                }
                Operation::Dot { .. } | Operation::Convolution(_) | Operation::Gather(_) | Operation::Scatter(_) => {
                    Taker::Matrix
                }
                _ => Taker::Stream,
            },
            InstanceKind::Argument(..) | InstanceKind::Merge | InstanceKind::Copy | InstanceKind::Opaque => {
                Taker::Other
            }
        };
        Meeting {
            class: self.choices.class[taken.made],
            kept: self.kernels.kept[maker],
            argument: self.is_argument(taken.made),
            taker,
            extent: self.extent(user, operand),
            reads: self.kernels.reads[user][operand],
            in_place: self.choices.classes.target.reads_in_any_order() && self.has_loops(user),
            follows: self.follows(user),
        }
    }

    /// Whether an operand is the images that a convolution cuts.
    fn cuts(&self, (user, operand): (usize, usize)) -> bool {
        let convolution =
            matches!(self.program.instances[user].kind, InstanceKind::Operation(Operation::Convolution(_)));
        convolution && operand == 0 && self.choices.ways[user][0].operands[0].is_none()
    }

    /// Whether an operation is computed in the layouts of its neighbours.
    fn follows(&self, k: usize) -> bool {
        let InstanceKind::Operation(operation) = self.program.instances[k].kind else { return false };
        self.choices.classes.target.has_tiles()
            && match operation {
                Operation::Reshape | Operation::Convolution(_) | Operation::Gather(_) | Operation::Scatter(_) => false,
                Operation::Dot { .. } => self.program.loop_product(k).is_some(),
                Operation::Algorithm(_) | Operation::Other { .. } => false,
                _ => true,
            }
    }

    /// Whether an instance is a kernel of loops, or in one: it goes through its operands in an order of its own.
    fn has_loops(&self, k: usize) -> bool {
        let InstanceKind::Operation(operation) = self.program.instances[k].kind else { return false };
        let product = self.program.loop_product(k).is_some();
        product
            || matches!(
                operation,
                Operation::Elementwise
                    | Operation::Select
                    | Operation::Broadcast { .. }
                    | Operation::Transpose { .. }
                    | Operation::Reduce { .. }
                    | Operation::Loops(_)
            )
    }

    /// The part of an operand that an instance reads.
    fn extent(&self, user: usize, operand: usize) -> Extent {
        let instance = &self.program.instances[user];
        match instance.kind {
            InstanceKind::Operation(Operation::Slice { .. } | Operation::DynamicSlice { .. }) if operand == 0 => {
                Extent::Part(self.choices.class[instance.results[0]])
            }
            // An argument must stay as it is: it is copied, and the copy is changed.
            InstanceKind::Operation(Operation::DynamicUpdateSlice | Operation::InsertSlice { .. }) if operand == 0 => {
                let maker = self.program.made[instance.operands[0]].by;
                let argument = matches!(self.program.instances[maker].kind, InstanceKind::Argument(..));
                if argument { Extent::Whole } else { Extent::Nothing }
            }
            _ => Extent::Whole,
        }
    }

    /// How an operation takes an array that is held in these layouts and lies there, in one of its ways.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn met(
        &self,
        prices: &Prices,
        taken: &Taken,
        (from, second): HeldIn,
        origin: MadeIn,
        by: &Way,
    ) -> Result<Met, Error> {
        let (mut meeting, (user, operand)) = (self.meeting(taken), taken.by);
        let lies = origin.home.unwrap_or(if meeting.argument { AliasOf::Argument } else { AliasOf::Near });
        meeting.argument = lies == AliasOf::Argument;
        let moved = self.moved(user, by).is_some();
        if moved && form(&self.program, &self.choices, user).is_some() {
            // What it reads is part of its own cost.
            meeting.taker = Taker::Other;
        } else if let Some(home) = by.home {
            // A name costs nothing.
            meeting.taker = if home == AliasOf::Result { Taker::Result } else { Taker::Other };
        } else if self.only_renames(user, by) {
            meeting.taker = if self.renames.to_result[user] { Taker::Renamed } else { Taker::Other };
        }
        let met = |from: LayoutId| -> Result<Met, Error> {
            let port = &self.choices.ports[user][operand];
            let to = match by.operands[operand] {
                Some(to) => to,
                None if origin.tied && port.contains(&from) => from,
                None => {
                    let (cost, to) = prices.port(meeting, from, port)?;
                    let cost = if origin.tied && from != to { FORBIDDEN } else { cost };
                    return Ok(Met { cost, from, to, meeting });
                }
            };
            // Behind a name that may follow a copy, an operand is not there as it was made.
            if from != to && origin.tied || by.tied == Some(Tied::Operand) && (from != to || origin.tied) {
                return Ok(Met { cost: FORBIDDEN, from, to, meeting });
            }
            // A name with other users is not in the result's memory alone: the kernel that makes it writes both.
            let alone = self.renames.to_result[self.program.made[taken.made].by];
            let cost = match by.home {
                Some(home) if !moved => {
                    rename(prices, meeting, (lies, origin.home.is_some() && alone), home, (from, to))?
                }
                _ => match (matches!(self.program.instances[user].kind, InstanceKind::Result(_)), origin.home) {
                    (false, Some(AliasOf::Result)) => FORBIDDEN,
                    (true, Some(AliasOf::Near)) if from == to && !alone => prices.written_far(meeting.class, to)?,
                    (true, Some(home)) => end(prices, meeting, home, (from, to))?,
                    _ => prices.meeting(meeting, from, to)?,
                },
            };
            Ok(Met { cost, from, to, meeting })
        };
        let first = met(from)?;
        let Some(second) = second else { return Ok(first) };
        let other = met(second)?;
        // A copy of the second layout is none of the array's own.
        Ok(if other.to == second && other.cost < first.cost { other } else { first })
    }

    /// The facts that the cost of a second layout of an array depends on, beside the two layouts.
    fn holding(&self, made: usize) -> Meeting {
        let by = self.program.made[made].by;
        Meeting {
            class: self.choices.class[made],
            kept: self.kernels.kept[by],
            argument: self.is_argument(made),
            taker: Taker::Other,
            extent: Extent::Nothing,
            reads: 0,
            in_place: false,
            follows: self.users[made].iter().all(|(user, _)| self.has_no_order(*user)),
        }
    }

    /// Whether an instance takes arrays in any layout as well: an operation in its neighbours' layouts, a loop, a result.
    fn has_no_order(&self, k: usize) -> bool {
        matches!(self.program.instances[k].kind, InstanceKind::Result(_) | InstanceKind::Merge) || self.follows(k)
    }

    /// Whether an array is an argument of the program, perhaps under another name.
    pub fn is_argument(&self, made: usize) -> bool {
        let by = self.program.made[made].by;
        matches!(self.program.instances[by].kind, InstanceKind::Argument(..)) || self.renames.of_argument[made]
    }

    /// The cost, for one run, of holding an array in a second layout.
    ///
    /// # Errors
    /// The cost does not fit in 64 bits.
    pub fn held(&self, prices: &Prices, made: usize, (from, second): HeldIn) -> Result<i64, Error> {
        let Some(second) = second else { return Ok(0) };
        prices.relayout(self.holding(made), from, second)
    }

    /// The network of costs.
    ///
    /// # Errors
    /// An instance, and why its costs do not fit.
    pub fn network(&self, prices: &Prices, steps: &mut BuildSteps) -> Result<CostNetwork, Located> {
        let mut network = CostNetwork::new();
        self.add_instances(prices, steps, &mut network)?;
        self.add_holders(prices, &mut network)?;
        self.add_operands(prices, steps, &mut network)?;
        self.add_carried(&mut network)?;
        Ok(network)
    }

    /// Lets an argument and the result that takes its buffer have one layout, where there is one that both may have.
    fn add_carried(&self, network: &mut CostNetwork) -> Result<(), Located> {
        let (mut arguments, mut results) = (FxHashMap::default(), FxHashMap::default());
        for (k, instance) in self.program.instances.iter().enumerate() {
            match instance.kind {
                InstanceKind::Argument(number, leaf) => arguments.insert((number, leaf), k),
                InstanceKind::Result(number) => results.insert(number, k),
                _ => None,
            };
        }
        for (result, argument) in &self.program.carried {
            let (Some(&argument), Some(&result)) = (arguments.get(argument), results.get(result)) else { continue };
            let made = [argument, result].map(|k| self.program.instances[k].results[0]);
            if self.choices.class[made[0]] != self.choices.class[made[1]] {
                continue;
            }
            let ids = [argument, result].map(|k| self.choices.ways[k].iter().map(|way| way.results[0]));
            let table: Vec<bool> = ids[0].clone().flat_map(|a| ids[1].clone().map(move |b| a == b)).collect();
            if table.contains(&true) {
                let table: Vec<i64> = table.into_iter().map(|same| if same { 0 } else { FORBIDDEN }).collect();
                let wrong = |error: NetworkError| (self.program.instances[result].node, error.into());
                network.add_edge(argument, result, table).map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// Adds a variable for each instance, with what its ways cost.
    fn add_instances(&self, prices: &Prices, steps: &mut BuildSteps, network: &mut CostNetwork) -> Result<(), Located> {
        let mut known: FxHashMap<_, Rc<Vec<i64>>> = FxHashMap::default();
        for (k, ways) in self.choices.ways.iter().enumerate() {
            let wrong = |error| (self.program.instances[k].node, error);
            steps.step().map_err(wrong)?;
            let key =
                (self.own(k), Rc::as_ptr(ways), self.kernels.kept[k], self.operand_maker(k), self.renames.to_result[k]);
            let costs = || ways.iter().map(|way| self.cost(prices, k, way)).collect::<Result<Vec<_>, _>>();
            let costs = found_once(&mut known, key, |_| costs().map(Rc::new)).map_err(wrong)?;
            let costs = times_all(&costs, self.program.instances[k].times).map_err(wrong)?;
            network.add_variable(costs).map_err(|error| wrong(error.into()))?;
        }
        Ok(())
    }

    /// Adds a variable for each array that may be held in two layouts.
    fn add_holders(&self, prices: &Prices, network: &mut CostNetwork) -> Result<(), Located> {
        // Layers that are alike have arrays that are alike.
        let mut known: FxHashMap<_, Rc<Vec<i64>>> = FxHashMap::default();
        for (made, holder) in self.holders.iter().enumerate() {
            let Some((_, states)) = holder else { continue };
            let wrong = |error| (self.program.instances[self.program.made[made].by].node, error);
            let key = (states.to_vec(), self.holding(made));
            let costs = || states.iter().map(|state| self.held(prices, made, *state)).collect::<Result<Vec<_>, _>>();
            let costs = found_once(&mut known, key, |_| costs().map(Rc::new)).map_err(wrong)?;
            self.hold(&costs, network, made, states).map_err(wrong)?;
        }
        Ok(())
    }

    /// Adds an edge for each operand whose cost is not always 0.
    fn add_operands(&self, prices: &Prices, steps: &mut BuildSteps, network: &mut CostNetwork) -> Result<(), Located> {
        let mut tables: FxHashMap<_, Arc<Vec<i64>>> = FxHashMap::default();
        // What each table is as often as an operation runs.
        let mut repeated: FxHashMap<_, Arc<Vec<i64>>> = FxHashMap::default();
        for taken in self.taken().filter(|taken| self.needed[taken.by.0]) {
            let (user, maker) = (taken.by.0, self.program.made[taken.made].by);
            let wrong = |error| (self.program.instances[user].node, error);
            steps.step().map_err(wrong)?;
            let by = &self.choices.ways[user];
            let (states, origins) = self.origins(taken.made);
            let renamed = (self.kernels.kept[user], [user, maker].map(|k| self.renames.to_result[k]));
            let key = (states, origins, Rc::as_ptr(by), taken.by.1, self.meeting(&taken), renamed);
            let table = found_once(&mut tables, key, |(states, origins, ..)| {
                let mut table = Vec::with_capacity(states.len() * by.len());
                for (held, origin) in states.iter().zip(origins) {
                    for way in by.iter() {
                        table.push(self.met(prices, &taken, *held, *origin, way)?.cost);
                    }
                }
                Ok(Arc::new(table))
            });
            let table = table.map_err(wrong)?;
            if table.iter().all(|cost| *cost == 0) {
                continue;
            }
            let key = (Arc::as_ptr(&table), taken.times);
            let table = found_once(&mut repeated, key, |_| {
                Ok(if taken.times == 1 { table.clone() } else { Arc::new(times_all(&table, taken.times)?) })
            });
            let table = table.map_err(wrong)?;
            let from = self.holders[taken.made].as_ref().map_or(maker, |(variable, _)| *variable);
            network.add_edge(from, user, table).map_err(|error| wrong(error.into()))?;
        }
        Ok(())
    }

    /// The layouts in which an array may be held, and for each where it is made.
    fn origins(&self, made: usize) -> (Vec<HeldIn>, Vec<MadeIn>) {
        if let Some((_, states)) = &self.holders[made] {
            return (states.to_vec(), vec![MadeIn::default(); states.len()]);
        }
        let (by, result) = (self.program.made[made].by, self.program.made[made].result);
        let ways = self.choices.ways[by].iter();
        (ways.clone().map(|way| (way.results[result], None)).collect(), ways.map(Way::origin).collect())
    }

    /// Adds the variable of an array that may be held in two layouts, with what each of its choices costs once.
    fn hold(&self, costs: &[i64], network: &mut CostNetwork, made: usize, states: &[HeldIn]) -> Result<(), Error> {
        let (by, result) = (self.program.made[made].by, self.program.made[made].result);
        let costs = times_all(costs, self.program.instances[by].times)?;
        let holder = network.add_variable(costs)?;
        let mut table = Vec::new();
        for way in self.choices.ways[by].iter() {
            table.extend(states.iter().map(|(from, _)| if *from == way.results[result] { 0 } else { FORBIDDEN }));
        }
        network.add_edge(by, holder, table)?;
        Ok(())
    }

    /// The storage of the first operand of an instance, if it has one, and whether it is an argument of the program.
    fn operand_maker(&self, k: usize) -> (Kept, bool) {
        let Some(first) = self.program.instances[k].operands.first() else { return (Kept::Stored, false) };
        let by = self.program.made[*first].by;
        (self.kernels.kept[by], self.is_argument(*first))
    }

    /// The operation of an instance as text, where its cost depends on it.
    fn own(&self, k: usize) -> String {
        match self.program.instances[k].kind {
            InstanceKind::Operation(operation) => format!("{operation:?}"),
            InstanceKind::Argument(..) | InstanceKind::Result(_) => "end".to_string(),
            _ => String::new(),
        }
    }

    /// Whether an instance is a reshape that moves nothing in this way, or a transpose where layouts are tiles, and no
    /// kernel. An argument that is a result under another name is copied.
    fn only_renames(&self, k: usize, way: &Way) -> bool {
        if self.kernels.kept[k] != Kept::Stored || self.operand_maker(k).0 == Kept::Fused {
            return false;
        }
        let instance = &self.program.instances[k];
        match instance.kind {
            InstanceKind::Operation(Operation::Transpose { .. }) => {
                let copied = |made: &usize| way.home.is_none() && self.renames.to_result[k] && self.is_argument(*made);
                self.choices.classes.target.has_tiles() && !instance.operands.iter().any(copied)
            }
            _ => ends(&self.program, &self.choices, k, way).is_some_and(|ends| in_place(&self.choices, ends)),
        }
    }

    /// The ends of a reshape in a way in which it moves something.
    pub fn moved(&self, k: usize, way: &Way) -> Option<ReshapeEnds> {
        ends(&self.program, &self.choices, k, way).filter(|ends| !in_place(&self.choices, *ends))
    }

    /// The cost of one run of an instance in a way.
    pub fn cost(&self, prices: &Prices, k: usize, way: &Way) -> Result<i64, Error> {
        let instance = &self.program.instances[k];
        let operation = match instance.kind {
            InstanceKind::Operation(_) if self.only_renames(k, way) => return Ok(0),
            InstanceKind::Operation(operation) => operation,
            // The default is the first layout of a class.
            InstanceKind::Argument(..) | InstanceKind::Result(_) if way.results[0] != 0 => {
                return Ok(prices.leaving(self.choices.class[instance.results[0]], way.results[0]));
            }
            _ => return Ok(0),
        };
        let classes = |numbers: &[usize]| numbers.iter().map(|made| self.choices.class[*made]).collect::<Vec<_>>();
        let kept = if instance.results.iter().all(|made| self.users[*made].is_empty()) {
            // What nothing uses is not computed.
            Kept::Remade
        } else {
            self.kernels.kept[k]
        };
        if let (Some(own), Some(form)) = (self.moved(k, way), form(&self.program, &self.choices, k)) {
            return if kept == Kept::Remade {
                Ok(0)
            } else {
                through_form(prices, &self.choices, own, form, self.around(k, kept))
            };
        }
        let cost = prices.instance(operation, way, &classes(&instance.operands), &classes(&instance.results), kept)?;
        cost.checked_add(self.moving(prices, k, way, kept)?)
            .ok_or_else(|| Error::new("the cost does not fit in 64 bits"))
    }

    /// The neighbours of a reshape.
    fn around(&self, k: usize, kept: Kept) -> Around {
        let (made_by, argument) = self.operand_maker(k);
        let taker = if self.renames.to_result[k] { Taker::Renamed } else { Taker::Other };
        Around { made_by, argument, kept, taker }
    }

    /// The cost of a reshape that moves something and has no form, beside its own.
    fn moving(&self, prices: &Prices, k: usize, way: &Way, kept: Kept) -> Result<i64, Error> {
        let Some(own) = self.moved(k, way).filter(|_| kept != Kept::Remade) else { return Ok(0) };
        let others = self.choices.ways[k].iter().filter_map(|way| ends(&self.program, &self.choices, k, way));
        without_form(prices, &self.choices, own, others, self.around(k, kept))
    }
}

/// Finds the value of a key where it is not known yet.
fn found_once<K: Eq + Hash, V: Clone>(
    known: &mut FxHashMap<K, V>,
    key: K,
    find: impl FnOnce(&K) -> Result<V, Error>,
) -> Result<V, Error> {
    match known.entry(key) {
        Entry::Occupied(found) => Ok(found.get().clone()),
        Entry::Vacant(free) => {
            let found = find(free.key())?;
            Ok(free.insert(found).clone())
        }
    }
}

fn times_all(costs: &[i64], times: i64) -> Result<Vec<i64>, Error> {
    let product = |cost: &i64| match *cost {
        FORBIDDEN => Ok(FORBIDDEN),
        cost => cost.checked_mul(times).ok_or_else(|| Error::new("the cost does not fit in 64 bits").too_large()),
    };
    costs.iter().map(product).collect()
}
