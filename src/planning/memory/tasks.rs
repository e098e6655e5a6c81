//! A computation as tasks: its buffers in one memory, as far as they do not depend on the order.
//!
//! A value is the set of leaves of one name. The order decides which value overwrites which; all possible pairs are
//! shared. A value that may be placed in a writable parameter or in a result forms a group with it, and each of these is
//! a slot for one live value of the group. If outputs may hold temporaries, all values are one group, with a slot for each
//! output and each donated argument. So the task graph never charges an order more than the buffers of that order.

use super::before::{dependences, reads_before_updates};
use super::buffers::{FrameMap, Readers, named};
use super::inside::Counted;
use super::names::{Leaf, reads};
use super::runs::{RunsAs, called, until};
use crate::scheduling::{TaskGraph, TaskValue};
use std::collections::{BTreeMap, HashMap, HashSet};
use tensor_layout::hlo::Module;
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
}

impl Tasks<'_> {
    /// The task graph of each memory space.
    ///
    /// # Errors
    /// A malformed aliasing attribute; bytes that overflow.
    pub fn graphs(&self, inside: &Beside) -> Result<TaskGraphs, Error> {
        let (number, frame) = self.frame;
        let computation = &self.module.computations[number];
        let classes = named(self.module, number, frame, self.frames)?;
        let mut pairs = dependences(computation, self.effects);
        if self.searched.keep_updates {
            pairs.extend(reads_before_updates(computation, &classes));
        }
        let mut all: BTreeMap<usize, NamedLeaves> = BTreeMap::new();
        for (k, instruction) in computation.instructions.iter().enumerate() {
            let is_parameter = instruction.opcode == "parameter";
            for leaf in classes.leaves(k) {
                let class = classes.find(leaf);
                let bytes = classes.footprints[leaf].map_or(0, |footprint| footprint.padded);
                let own = all.entry(class).or_default();
                own.space = classes.arrays[class].layout.memory_space;
                own.value.bytes = own.value.bytes.max(bytes);
                own.is_parameter |= is_parameter;
                own.value.from_start |= is_parameter;
                if !is_parameter && !classes.is_name[leaf] {
                    own.value.tasks.push(k);
                }
                if k == computation.root {
                    (own.is_result, own.value.to_end) = (true, true);
                }
            }
            if reads(instruction) {
                for leaf in classes.taken(instruction) {
                    let class = classes.find(leaf);
                    all.entry(class).or_default().value.tasks.push(k);
                }
            }
        }
        // Read-only values are live all the time in every order.
        all.retain(|class, own| own.value.bytes > 0 && !(classes.read_only[*class]));
        let in_outputs = frame == RunsAs::Entry && self.searched.outputs == OutputMemory::Shared;
        let mut shares = Vec::new();
        let mut groups = DisjointSets::new(classes.arrays.len());
        for (k, instruction) in computation.instructions.iter().enumerate() {
            let mut found = classes.pairs[k].clone();
            if in_outputs {
                // In the memory of an output.
                found.extend(&classes.others[k]);
            }
            if found.is_empty() {
                continue;
            }
            let taken = classes.taken(instruction);
            let readers = Readers::new(&classes, computation, k, &taken, &found);
            for pair in &found {
                let leaf = classes.first[k] + pair.result;
                let written = readers.written(&classes, leaf, pair, &taken);
                let known = written.filter(|(to, from)| all.contains_key(to) && all.contains_key(from));
                if let Some((to, from)) = known {
                    shares.push((k, to, from));
                    groups.join_least(to, from);
                }
            }
        }
        if in_outputs {
            all.values_mut().for_each(|own| own.is_result = false);
        }
        // The results that must end in a parameter.
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
        let results: Vec<usize> = all.iter().filter(|(_, own)| own.is_result).map(|(class, _)| *class).collect();
        let mut ended: Vec<(usize, usize)> = Vec::new();
        for (result, parameter) in states {
            let (result, parameter) = (classes.find(result), classes.find(parameter));
            ended.push((result, parameter));
            let both = all.get(&result).map(|own| own.space).zip(all.get(&parameter).map(|own| own.space));
            if both.is_some_and(|(a, b)| a == b) {
                groups.join_least(result, parameter);
                if let Some(own) = all.get_mut(&result).filter(|own| !own.is_parameter) {
                    // Such a result has no memory beside the parameter's.
                    own.is_result = false;
                }
            }
        }
        // A slot holds the largest value that may overwrite another in it.
        let mut largest: HashMap<usize, i64> = HashMap::new();
        for (class, own) in &all {
            let most = largest.entry(groups.find(*class)).or_default();
            *most = own.value.bytes.max(*most);
        }
        let donated: HashSet<usize> = classes.donated.iter().map(|pair| classes.find(root + pair.result)).collect();
        let is_slot = |class: &usize, own: &NamedLeaves| {
            let is_output = in_outputs && own.value.to_end && !donated.contains(class);
            own.is_parameter || own.is_result || is_output
        };
        let slots = all.iter().filter(|(class, own)| is_slot(class, own));
        let slots: Vec<(usize, i64)> = slots.map(|(class, _)| (*class, largest[&groups.find(*class)])).collect();
        let mut outputs: BTreeMap<u8, i64> = BTreeMap::new();
        if in_outputs {
            let mut first: BTreeMap<u8, usize> = BTreeMap::new();
            all.iter().for_each(|(class, own)| groups.join_least(*first.entry(own.space).or_insert(*class), *class));
            for (class, bytes) in &slots {
                let sum = outputs.entry(all[class].space).or_default();
                *sum = sum.checked_add(*bytes).ok_or_else(too_much)?;
            }
        }
        let mut slots_of: HashMap<usize, Vec<i64>> = HashMap::new();
        slots.iter().for_each(|(class, bytes)| slots_of.entry(groups.find(*class)).or_default().push(*bytes));
        let mut graphs = BTreeMap::new();
        let mut spaces: Vec<u8> = all.values().map(|own| own.space).collect();
        let counted = |(instruction, leaf): Leaf| {
            let class = classes.find(classes.first[instruction] + leaf);
            let is_preallocated =
                |own: &NamedLeaves| own.is_parameter || own.is_result || in_outputs && own.value.to_end;
            let own = all.get(&class).filter(|own| !is_preallocated(own))?;
            Some((class, own.value.bytes, own.space))
        };
        let runs = |k: &usize| !called(&computation.instructions[*k]).is_empty();
        let runs: Vec<(usize, BTreeMap<u8, i64>)> =
            (0..computation.instructions.len()).filter(runs).map(|k| (k, inside(k, &counted))).collect();
        spaces.extend(runs.iter().flat_map(|(_, own)| own.keys()));
        spaces.sort_unstable();
        spaces.dedup();
        let until = until(computation);
        for space in spaces {
            let mut of: HashMap<usize, usize> = HashMap::new();
            let mut values = Vec::new();
            for (class, own) in all.iter().filter(|(_, own)| own.space == space) {
                of.insert(*class, values.len());
                values.push(own.value.clone());
            }
            let mut beside = Vec::new();
            for (k, own) in &runs {
                let k = *k;
                // The temporaries of called computations may be in outputs, too.
                let bytes = own.get(&space).map_or(0, |bytes| bytes - outputs.get(&space).unwrap_or(&0));
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
                    values.push(TaskValue::new(bytes, &ends));
                }
            }
            let mut graph = TaskGraph::new(computation.instructions.len(), &pairs, values)?;
            beside.into_iter().try_for_each(|(k, bytes)| graph.add_beside(k, bytes))?;
            // A place for each parameter, and for each result that need not end in a parameter.
            let mut numbers: HashMap<usize, usize> = HashMap::new();
            let mut place = |class: usize| {
                let next = numbers.len();
                *numbers.entry(class).or_insert(next)
            };
            let is_here = |class: &usize| of.contains_key(class);
            let given = all.iter().filter(|(class, own)| own.is_parameter && is_here(class));
            let starts: Vec<(usize, usize)> = given.map(|(class, _)| (of[class], place(*class))).collect();
            let settled = ended.iter().filter(|(_, parameter)| is_here(parameter));
            let settled: HashSet<usize> = settled.map(|(result, _)| *result).collect();
            let own = results.iter().filter(|class| !settled.contains(class));
            let placed = ended.iter().copied().chain(own.map(|class| (*class, *class)));
            let placed = placed.filter(|(class, place)| is_here(class) && is_here(place));
            let ends: Vec<(usize, usize)> = placed.map(|(class, own)| (of[&class], place(own))).collect();
            if !in_outputs {
                graph.add_places(numbers.len(), &starts, &ends);
            }
            for (k, to, from) in &shares {
                if let (Some(to), Some(from)) = (of.get(to), of.get(from)) {
                    graph.share(*k, *to, *from);
                }
            }
            let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (class, value) in &of {
                members.entry(groups.find(*class)).or_default().push(*value);
            }
            for (group, members) in members {
                if let Some(slots) = slots_of.get(&group) {
                    graph.group(&members, slots);
                }
            }
            graphs.insert(space, graph);
        }
        Ok(graphs)
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
