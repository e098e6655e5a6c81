//! A computation as tasks: its buffers in one memory, as far as they do not depend on the order.
//!
//! A value is the set of leaves of one name. The order decides which value overwrites which; all possible pairs are
//! shared. A value that may be placed in a writable parameter or in a result forms a group with it, and each of these is
//! a slot for one live value of the group. If outputs may hold temporaries, all values are one group, with a slot for each
//! output and each donated argument. So the task graph never charges an order more than the buffers of that order.

use super::before::{dependences, reads_before_updates};
use super::buffers::{Classes, FrameMap, Readers, named};
use super::inside::Counted;
use super::names::{Leaf, reads};
use super::runs::{RunsAs, called, until};
use crate::scheduling::{TaskGraph, TaskValue};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tensor_layout::hlo::{Computation, Module};
use tensor_layout::sets::DisjointSets;
use tensor_layout::text::Error;

/// The bytes that an instruction's computations take beside its buffers, by memory space. The second parameter maps
/// leaves to the buffers that count.
pub type Beside<'b> = dyn Fn(usize, &dyn Fn(Leaf) -> Option<Counted>) -> BTreeMap<u8, i64> + 'b;

/// The task graph of a computation for each memory space.
pub type TaskGraphs = BTreeMap<u8, TaskGraph>;

/// A computation that runs in some way.
pub struct Tasks<'m> {
    /// The module.
    pub module: &'m Module,
    /// The computation, and how it runs.
    pub frame: (usize, RunsAs),
    /// The buffers of the computations that it runs.
    pub frames: &'m FrameMap,
    /// Whether each computation has an effect.
    pub effects: &'m [bool],
    /// The orders to search.
    pub searched: SearchedOrders,
}

/// A set of orders, and a count of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchedOrders {
    /// Whether only the orders count that keep the updates of the text in place.
    pub keep_updates: bool,
    /// The memory of the program's outputs.
    pub outputs: OutputMemory,
}

/// How the memory of the program's outputs counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputMemory {
    /// It is there all the time, for its outputs alone.
    Reserved,
    /// An output takes memory from its definition on; other values may be in that memory before.
    Shared,
}

/// The leaves of one name.
#[derive(Default)]
struct NamedLeaves {
    value: TaskValue,
    space: u8,
    is_parameter: bool,
    is_result: bool,
    /// Whether it is a result that must end in a parameter's memory.
    ends_in_parameter: bool,
}

impl NamedLeaves {
    /// Whether it is a parameter, or a result that ends in none.
    fn has_slot(&self) -> bool {
        self.is_parameter || self.is_result && !self.ends_in_parameter
    }
}

/// The values of a computation in no order, by the representative of their leaves.
struct TaskValues<'m> {
    computation: &'m Computation,
    classes: Classes<'m>,
    all: BTreeMap<usize, NamedLeaves>,
    /// Instructions with a value that may overwrite another one.
    shares: Vec<(usize, usize, usize)>,
    /// Results, each with the parameter in which it must end.
    ended: Vec<(usize, usize)>,
    /// The values that may be in one memory.
    groups: DisjointSets,
    /// The sizes of the slots of each group.
    slots: HashMap<usize, Vec<i64>>,
    /// The bytes of all slots that may hold the temporaries of called computations, by memory space.
    outputs: BTreeMap<u8, i64>,
}

impl Tasks<'_> {
    /// The task graph of each memory space.
    ///
    /// # Errors
    /// A malformed aliasing attribute; bytes that overflow.
    pub fn graphs(&self, inside: &Beside) -> Result<TaskGraphs, Error> {
        let values = self.values()?;
        let computation = values.computation;
        let mut pairs = dependences(computation, self.effects);
        if self.searched.keep_updates {
            pairs.extend(reads_before_updates(computation, &values.classes));
        }
        let runs = |k: &usize| !called(&computation.instructions[*k]).is_empty();
        let runs = (0..computation.instructions.len()).filter(runs);
        let runs: Vec<(usize, BTreeMap<u8, i64>)> =
            runs.map(|k| (k, inside(k, &|leaf| values.temporary(leaf)))).collect();
        let spaces =
            values.all.values().map(|own| own.space).chain(runs.iter().flat_map(|(_, own)| own.keys().copied()));
        let mut graphs = TaskGraphs::new();
        for space in spaces.collect::<BTreeSet<u8>>() {
            graphs.insert(space, self.graph(&values, space, &pairs, &runs)?);
        }
        Ok(graphs)
    }

    /// Whether outputs may hold temporaries.
    fn in_outputs(&self) -> bool {
        self.frame.1 == RunsAs::Entry && self.searched.outputs == OutputMemory::Shared
    }

    fn values(&self) -> Result<TaskValues<'_>, Error> {
        let (number, frame) = self.frame;
        let computation = &self.module.computations[number];
        let classes = named(self.module, number, frame, self.frames)?;
        let groups = DisjointSets::new(classes.arrays.len());
        let mut values = TaskValues {
            computation,
            classes,
            all: BTreeMap::new(),
            shares: Vec::new(),
            ended: Vec::new(),
            groups,
            slots: HashMap::new(),
            outputs: BTreeMap::new(),
        };
        values.collect();
        values.share(self.in_outputs());
        values.end(frame);
        values.add_slots(self.in_outputs())?;
        Ok(values)
    }

    /// The task graph of one memory space; `runs` has the bytes inside called computations.
    fn graph(
        &self,
        values: &TaskValues,
        space: u8,
        pairs: &[(usize, usize)],
        runs: &[(usize, BTreeMap<u8, i64>)],
    ) -> Result<TaskGraph, Error> {
        let computation = values.computation;
        let mut of: HashMap<usize, usize> = HashMap::new();
        let mut sizes = Vec::new();
        for (class, own) in values.all.iter().filter(|(_, own)| own.space == space) {
            of.insert(*class, sizes.len());
            sizes.push(own.value.clone());
        }
        let until = until(computation);
        let mut beside = Vec::new();
        for (k, own) in runs {
            let k = *k;
            // The temporaries of called computations may be in outputs, too.
            let bytes = own.get(&space).map_or(0, |bytes| bytes - values.outputs.get(&space).unwrap_or(&0));
            if bytes <= 0 {
                continue;
            }
            if until[k] == k {
                beside.push((k, bytes));
            } else {
                let ends = ends(k, until[k], &|at| {
                    let own = &computation.instructions[at];
                    let ends = own.opcode.ends_with("-done") || own.opcode.ends_with("-update");
                    own.operands.first().copied().filter(|_| ends)
                });
                sizes.push(TaskValue::new(bytes, &ends));
            }
        }
        let mut graph = TaskGraph::new(computation.instructions.len(), pairs, sizes)?;
        beside.into_iter().try_for_each(|(k, bytes)| graph.add_beside(k, bytes))?;
        if !self.in_outputs() {
            values.add_places(&of, &mut graph);
        }
        for (k, to, from) in &values.shares {
            if let (Some(to), Some(from)) = (of.get(to), of.get(from)) {
                graph.share(*k, *to, *from);
            }
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (class, value) in &of {
            members.entry(values.groups.find(*class)).or_default().push(*value);
        }
        for (group, members) in members {
            if let Some(slots) = values.slots.get(&group) {
                graph.group(&members, slots);
            }
        }
        Ok(graph)
    }
}

impl TaskValues<'_> {
    /// Collects the values and the tasks that touch them.
    fn collect(&mut self) {
        let classes = &self.classes;
        for (k, instruction) in self.computation.instructions.iter().enumerate() {
            let is_parameter = instruction.opcode == "parameter";
            for leaf in classes.leaves(k) {
                let class = classes.find(leaf);
                let bytes = classes.footprints[leaf].map_or(0, |footprint| footprint.padded);
                let own = self.all.entry(class).or_default();
                own.space = classes.arrays[class].layout.memory_space;
                own.value.bytes = own.value.bytes.max(bytes);
                own.is_parameter |= is_parameter;
                own.value.from_start |= is_parameter;
                if !is_parameter && !classes.is_name[leaf] {
                    own.value.tasks.push(k);
                }
                if k == self.computation.root {
                    (own.is_result, own.value.to_end) = (true, true);
                }
            }
            if reads(instruction) {
                for leaf in classes.taken(instruction) {
                    let class = classes.find(leaf);
                    self.all.entry(class).or_default().value.tasks.push(k);
                }
            }
        }
        // Read-only values are live all the time in every order.
        self.all.retain(|class, own| own.value.bytes > 0 && !classes.read_only[*class]);
    }

    /// Finds the values that may overwrite others, also those that do only in the memory of an output.
    fn share(&mut self, in_outputs: bool) {
        let classes = &self.classes;
        for (k, instruction) in self.computation.instructions.iter().enumerate() {
            let mut found = classes.pairs[k].clone();
            if in_outputs {
                found.extend(&classes.others[k]);
            }
            if found.is_empty() {
                continue;
            }
            let taken = classes.taken(instruction);
            let readers = Readers::new(classes, self.computation, k, &taken, &found);
            for pair in &found {
                let written = readers.written(classes, classes.first[k] + pair.result, pair, &taken);
                let is_known = |(to, from): &(usize, usize)| self.all.contains_key(to) && self.all.contains_key(from);
                if let Some((to, from)) = written.filter(is_known) {
                    self.shares.push((k, to, from));
                    self.groups.join_least(to, from);
                }
            }
        }
    }

    /// Finds the results that must end in a parameter. Such a result has no memory beside the parameter's.
    fn end(&mut self, frame: RunsAs) {
        let (classes, computation) = (&self.classes, self.computation);
        let root = classes.first[computation.root];
        let states: Vec<(usize, usize)> = match frame {
            RunsAs::Entry => {
                let parameter = |operand: usize| classes.first[computation.parameters[operand]];
                classes.donated.iter().map(|pair| (root + pair.result, parameter(pair.operand) + pair.leaf)).collect()
            }
            RunsAs::Called => Vec::new(),
            RunsAs::Body => {
                let parameter = computation.parameters.first().map_or(root..root, |k| classes.leaves(*k));
                (root..).zip(parameter).take(classes.leaves(computation.root).len()).collect()
            }
        };
        for (result, parameter) in states {
            let (result, parameter) = (classes.find(result), classes.find(parameter));
            self.ended.push((result, parameter));
            let space = self.all.get(&parameter).map(|own| own.space);
            let Some(own) = self.all.get_mut(&result).filter(|own| Some(own.space) == space) else { continue };
            own.ends_in_parameter = !own.is_parameter;
            self.groups.join_least(result, parameter);
        }
    }

    /// Finds the slots. If outputs may hold temporaries, all values of a memory space are one group.
    fn add_slots(&mut self, in_outputs: bool) -> Result<(), Error> {
        // A slot holds the largest value that may overwrite another in it.
        let mut largest: HashMap<usize, i64> = HashMap::new();
        for (class, own) in &self.all {
            let most = largest.entry(self.groups.find(*class)).or_default();
            *most = own.value.bytes.max(*most);
        }
        let slots = self.all.iter().filter(|(_, own)| own.has_slot());
        let slots: Vec<(usize, i64)> = slots.map(|(class, _)| (*class, largest[&self.groups.find(*class)])).collect();
        if in_outputs {
            let mut first: BTreeMap<u8, usize> = BTreeMap::new();
            for (class, own) in &self.all {
                self.groups.join_least(*first.entry(own.space).or_insert(*class), *class);
            }
            for (class, bytes) in &slots {
                let sum = self.outputs.entry(self.all[class].space).or_default();
                *sum = sum.checked_add(*bytes).ok_or_else(too_much)?;
            }
        }
        for (class, bytes) in slots {
            self.slots.entry(self.groups.find(class)).or_default().push(bytes);
        }
        Ok(())
    }

    /// A place for each parameter, and for each result that need not end in a parameter.
    fn add_places(&self, of: &HashMap<usize, usize>, graph: &mut TaskGraph) {
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut place = |class: usize| {
            let next = numbers.len();
            *numbers.entry(class).or_insert(next)
        };
        let is_here = |class: &usize| of.contains_key(class);
        let given = self.all.iter().filter(|(class, own)| own.is_parameter && is_here(class));
        let starts: Vec<(usize, usize)> = given.map(|(class, _)| (of[class], place(*class))).collect();
        let settled = self.ended.iter().filter(|(_, parameter)| is_here(parameter));
        let settled: HashSet<usize> = settled.map(|(result, _)| *result).collect();
        let results = self.all.iter().filter(|(class, own)| own.is_result && !settled.contains(class));
        let placed = self.ended.iter().copied().chain(results.map(|(class, _)| (*class, *class)));
        let placed = placed.filter(|(class, place)| is_here(class) && is_here(place));
        let ends: Vec<(usize, usize)> = placed.map(|(class, own)| (of[&class], place(own))).collect();
        graph.add_places(numbers.len(), &starts, &ends);
    }

    /// A leaf that is in no slot of its own: its representative, bytes and memory space.
    fn temporary(&self, (instruction, leaf): Leaf) -> Option<Counted> {
        let class = self.classes.find(self.classes.first[instruction] + leaf);
        let own = self.all.get(&class).filter(|own| !own.has_slot())?;
        Some((class, own.value.bytes, own.space))
    }
}

/// An asynchronous start and the instructions that end it, up to the last one.
fn ends(first: usize, last: usize, started: &dyn Fn(usize) -> Option<usize>) -> Vec<usize> {
    let mut all = vec![first];
    for k in first + 1..=last {
        if started(k).is_some_and(|start| all.contains(&start)) {
            all.push(k);
        }
    }
    all
}

fn too_much() -> Error {
    Error::new("the bytes of all buffers do not fit in 64 bits").too_large()
}
