//! The buffers of one computation: its leaves, grouped by buffer, and the live range of each.

use super::footprint::Footprint;
use super::names::{Names, reads};
use super::runs::{RunsAs, called, until};
use super::sharing::{Shared, over, shared};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::hlo::aliases::{AliasPair, pairs};
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::operation::Operation;
use tensor_layout::operations::shape::{Array, Shape, leaves};
use tensor_layout::sets::DisjointSets;
use tensor_layout::text::Error;

/// The purpose of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The buffer of a parameter; may hold other leaves.
    Parameter,
    /// The buffer of a leaf of the root.
    Result,
    /// The buffer of a `constant`.
    Constant,
    /// A buffer of the computation's own.
    Temporary,
}

/// Leaves that share one allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buffer {
    /// The purpose of the buffer.
    pub role: Role,
    /// The instruction and the leaf number of its largest leaf, the first of these.
    pub made: (usize, usize),
    /// The bytes of that leaf.
    pub footprint: Footprint,
    /// The number of the memory space.
    pub space: u8,
    /// The first and last instruction of its live range, inclusive.
    pub live: (usize, usize),
}

/// The buffers of a computation. Arrays without bytes, such as tokens, have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameBuffers {
    /// The buffers, ordered by their first leaf.
    pub buffers: Vec<Buffer>,
    /// For each instruction, the buffer of each of its leaves.
    pub of: Vec<Vec<Option<usize>>>,
    /// Further buffers without leaves: sources of copies into a loop's state or a donated argument, and copies of operands
    /// that a called computation overwrites.
    pub copies: Vec<Buffer>,
    /// The leaves of the result that alias an argument.
    pub donated: Vec<AliasPair>,
    /// Pairs of a buffer and the buffer it may overwrite at its definition, if both are placed in the memory of an
    /// output.
    pub(super) overwrites: FxHashSet<(usize, usize)>,
    /// The buffers that updates overwrite.
    pub(super) written: FxHashSet<usize>,
    /// The instructions that run computations, each with the last instruction at which these run.
    pub(super) calls: Vec<(usize, usize)>,
    /// The instructions of the parameters, and of the result.
    pub(super) parameters: Vec<usize>,
    pub(super) root: usize,
}

/// A leaf of a parameter: the number of the parameter, and that of the leaf.
type ParameterLeaf = (usize, usize);

/// The buffers of computations, each for a way in which it runs.
pub type FrameMap = BTreeMap<(usize, RunsAs), FrameBuffers>;

/// The effect of a `call`, a branch or a loop condition on the operands; leaves are numbered over all operands.
struct OperandUse<'f> {
    found: &'f FrameBuffers,
    /// For each leaf of the result, the operand's leaf in the same buffer.
    returned: Vec<Option<usize>>,
    /// The leaves whose buffer an update overwrites.
    written: BTreeSet<usize>,
    /// The leaves that the computation gets, each with the leaf of its parameter.
    given: Vec<(usize, ParameterLeaf)>,
}

/// An operand's leaf that a called computation overwrites.
#[derive(Clone)]
struct Overwritten {
    leaf: usize,
    /// Whether the caller may let it happen in the operand's buffer.
    in_place: bool,
    /// The leaf of the instruction's result that is in the same buffer, which else has the copy.
    result: Option<usize>,
}

/// The leaves of a loop's state that its body returns unchanged, each by its own number: no instruction overwrites
/// these.
fn kept(body: &Computation) -> Vec<Option<usize>> {
    let [parameter] = body.parameters[..] else { return Vec::new() };
    let sources = Names::new(body).sources(body.root).into_iter().enumerate();
    sources.map(|(leaf, source)| (source == (parameter, leaf)).then_some(leaf)).collect()
}

/// The buffers of a computation that runs in this way; `frames` has the computations that it runs.
///
/// # Errors
/// A malformed aliasing attribute; bytes of an array that overflow 64 bits.
pub fn buffers(module: &Module, number: usize, frame: RunsAs, frames: &FrameMap) -> Result<FrameBuffers, Error> {
    Ok(named(module, number, frame, frames)?.buffers(&module.computations[number], frame))
}

/// The leaves of a computation, joined by name. Nothing is overwritten yet.
///
/// # Errors
/// As [`buffers`].
pub(super) fn named<'m>(
    module: &'m Module,
    number: usize,
    frame: RunsAs,
    frames: &FrameMap,
) -> Result<Classes<'m>, Error> {
    let computation = &module.computations[number];
    let mut classes = Classes::new(computation);
    classes.name(module, computation, frames);
    classes.read(computation);
    if frame == RunsAs::Entry {
        for parameter in &computation.parameters {
            for leaf in classes.leaves(*parameter) {
                classes.protect(leaf);
            }
        }
    }
    classes.donated = if frame == RunsAs::Entry { donations(module)? } else { Vec::new() };
    for number in 0..classes.donated.len() {
        classes.release(classes.argument(computation, &classes.donated[number]));
    }
    classes.pair(module, computation, frame, frames)?;
    classes.measure()?;
    Ok(classes)
}

/// The donations in the module's `input_output_alias`.
fn donations(module: &Module) -> Result<Vec<AliasPair>, Error> {
    let Some(attribute) = module.attributes.iter().find(|a| a.name == "input_output_alias") else {
        return Ok(Vec::new());
    };
    let entry = &module.computations[module.entry];
    let parameters: Vec<&Shape> = entry.parameters.iter().map(|k| &entry.instructions[*k].shape).collect();
    pairs(&attribute.text, &entry.result().shape, &parameters).map_err(|error| error.shifted(attribute.at))
}

/// The sets of leaves that share a buffer, each with its earliest leaf as representative.
#[derive(Clone)]
pub(super) struct Classes<'m> {
    /// The number of the first leaf of each instruction.
    pub(super) first: Vec<usize>,
    pub(super) arrays: Vec<&'m Array>,
    /// The bytes of each leaf.
    pub(super) footprints: Vec<Option<Footprint>>,
    /// The leaves of the result that alias an argument.
    pub(super) donated: Vec<AliasPair>,
    /// The instruction of each leaf.
    of: Vec<usize>,
    sets: DisjointSets,
    /// By representative: the last instruction that reads the set, or the length of the computation if the set is
    /// returned; and (`read_only`) whether it must not be overwritten.
    last: Vec<usize>,
    pub(super) read_only: Vec<bool>,
    /// Whether a leaf is only a name of another.
    pub(super) is_name: Vec<bool>,
    /// For each instruction, the pairs that share a buffer if nothing reads the operand afterwards.
    pub(super) pairs: Vec<Vec<Shared>>,
    /// For each instruction, the pairs that share a buffer only in the memory of an output.
    pub(super) others: Vec<Vec<Shared>>,
    /// By representative: the parameter's leaf that must hold a leaf of the root at the end.
    state: Vec<Option<usize>>,
    /// Pairs of a leaf and the leaf it may overwrite in the memory of an output.
    overwrites: Vec<(usize, usize)>,
    /// By representative: whether an update overwrites a leaf of the set.
    written: Vec<bool>,
    /// For each instruction, the operands that its computations overwrite.
    overwritten: Vec<Vec<Overwritten>>,
    /// Instructions, each with an operand's leaf that it copies because its computation overwrites it.
    copied: Vec<(usize, usize)>,
}

impl<'m> Classes<'m> {
    fn new(computation: &'m Computation) -> Classes<'m> {
        let mut classes = Classes {
            first: Vec::new(),
            arrays: Vec::new(),
            footprints: Vec::new(),
            donated: Vec::new(),
            of: Vec::new(),
            sets: DisjointSets::default(),
            last: Vec::new(),
            read_only: Vec::new(),
            is_name: Vec::new(),
            pairs: Vec::new(),
            others: Vec::new(),
            state: Vec::new(),
            overwrites: Vec::new(),
            written: Vec::new(),
            overwritten: Vec::new(),
            copied: Vec::new(),
        };
        for (k, instruction) in computation.instructions.iter().enumerate() {
            classes.first.push(classes.arrays.len());
            classes.arrays.extend(leaves(&instruction.shape));
            classes.of.resize(classes.arrays.len(), k);
            classes.read_only.resize(classes.arrays.len(), instruction.opcode == "constant");
        }
        classes.first.push(classes.arrays.len());
        classes.sets = DisjointSets::new(classes.arrays.len());
        classes.is_name = vec![false; classes.arrays.len()];
        classes.written = classes.is_name.clone();
        classes.last = classes.of.clone();
        classes.begin(computation);
        classes
    }

    /// A parameter is live from the beginning, wherever the text has it.
    fn begin(&mut self, computation: &Computation) {
        for parameter in &computation.parameters {
            self.last[self.first[*parameter]..self.first[parameter + 1]].fill(0);
        }
    }

    /// The same leaves in another order of the instructions, that of `computation`; `order` has their numbers here.
    pub(super) fn reordered(&self, computation: &Computation, order: &[usize]) -> Classes<'m> {
        let leaves = self.arrays.len();
        let mut moved = vec![0; leaves];
        let (mut first, mut of) = (Vec::with_capacity(order.len() + 1), Vec::with_capacity(leaves));
        let mut from = Vec::with_capacity(leaves);
        for (at, k) in order.iter().enumerate() {
            first.push(from.len());
            for leaf in self.leaves(*k) {
                moved[leaf] = from.len();
                from.push(leaf);
                of.push(at);
            }
        }
        first.push(leaves);
        let mut sets = DisjointSets::new(leaves);
        (0..leaves).for_each(|leaf| sets.join_least(moved[leaf], moved[self.find(leaf)]));
        let mut state = vec![None; leaves];
        let mut read_only = vec![false; leaves];
        for leaf in (0..leaves).filter(|leaf| self.find(*leaf) == *leaf) {
            let class = sets.find(moved[leaf]);
            state[class] = self.state[leaf].map(|state| moved[state]);
            read_only[class] = self.read_only[leaf];
        }
        let overwritten = |k: &usize| {
            let moved = |own: &Overwritten| Overwritten {
                leaf: moved[own.leaf],
                in_place: own.in_place,
                result: own.result.map(|result| moved[result]),
            };
            self.overwritten[*k].iter().map(moved).collect()
        };
        let mut reordered = Classes {
            arrays: from.iter().map(|leaf| self.arrays[*leaf]).collect(),
            footprints: from.iter().map(|leaf| self.footprints[*leaf]).collect(),
            donated: self.donated.clone(),
            last: of.clone(),
            is_name: from.iter().map(|leaf| self.is_name[*leaf]).collect(),
            pairs: order.iter().map(|k| self.pairs[*k].clone()).collect(),
            others: order.iter().map(|k| self.others[*k].clone()).collect(),
            overwrites: Vec::new(),
            written: vec![false; leaves],
            overwritten: order.iter().map(overwritten).collect(),
            copied: Vec::new(),
            first,
            of,
            sets,
            read_only,
            state,
        };
        reordered.begin(computation);
        for leaf in 0..leaves {
            let own = if reordered.is_name[leaf] { 0 } else { reordered.last[leaf] };
            let class = reordered.find(leaf);
            reordered.last[class] = reordered.last[class].max(own);
        }
        reordered.read(computation);
        reordered
    }

    /// Finds the bytes of the leaves.
    fn measure(&mut self) -> Result<(), Error> {
        let mut known: FxHashMap<&Array, Option<Footprint>> = FxHashMap::default();
        for array in &self.arrays {
            let footprint = match known.get(array) {
                Some(footprint) => *footprint,
                None => *known.entry(array).or_insert(Footprint::of(array)?),
            };
            self.footprints.push(footprint);
        }
        Ok(())
    }

    /// Lets each instruction overwrite the operands that it may, and converts the sets into buffers.
    pub(super) fn buffers(mut self, computation: &Computation, frame: RunsAs) -> FrameBuffers {
        (0..computation.instructions.len()).for_each(|k| _ = self.share(computation, k));
        self.finish(computation, frame)
    }

    pub(super) fn leaves(&self, instruction: usize) -> std::ops::Range<usize> {
        self.first[instruction]..self.first[instruction + 1]
    }

    /// The leaves of all operands of an instruction.
    pub(super) fn taken(&self, instruction: &Instruction) -> Vec<usize> {
        instruction.operands.iter().flat_map(|k| self.leaves(*k)).collect()
    }

    pub(super) fn find(&self, leaf: usize) -> usize {
        self.sets.find(leaf)
    }

    /// Joins two sets; the earlier leaf becomes the representative.
    fn join(&mut self, a: usize, b: usize) {
        let (of_a, of_b) = (self.find(a), self.find(b));
        let (low, high) = (of_a.min(of_b), of_a.max(of_b));
        self.sets.join_least(low, high);
        self.last[low] = self.last[low].max(self.last[high]);
        self.read_only[low] |= self.read_only[high];
        self.written[low] |= self.written[high];
    }

    fn protect(&mut self, leaf: usize) {
        let class = self.find(leaf);
        self.read_only[class] = true;
    }

    fn release(&mut self, leaf: usize) {
        let class = self.find(leaf);
        self.read_only[class] = false;
    }

    /// Joins leaves with their other names.
    fn name(&mut self, module: &Module, computation: &Computation, frames: &FrameMap) {
        let mut own = Names::new(computation);
        for (k, instruction) in computation.instructions.iter().enumerate() {
            for (number, leaf) in self.leaves(k).enumerate() {
                if let Some((operand, number)) = own.operand((k, number)) {
                    self.rename(leaf, self.first[operand] + number);
                }
            }
            if instruction.string("custom_call_target").as_deref() == Some("ConcatBitcast") {
                self.taken(instruction).iter().for_each(|part| self.join(self.first[k], *part));
                continue;
            }
            let names: Vec<Option<usize>> = match &instruction.operation {
                Operation::Call { .. } | Operation::Conditional { .. } => {
                    let (used, taken) = (self.used(instruction, frames), self.taken(instruction));
                    let name = |leaf: usize| {
                        let unwritten = |own: &OperandUse| {
                            own.returned.get(leaf).copied().flatten().filter(|operand| !own.written.contains(operand))
                        };
                        let mut all = used.iter().map(unwritten);
                        let first = all.next()??;
                        let is_same =
                            |own: Option<usize>| own.is_some_and(|own| self.is_same(taken[own], taken[first]));
                        all.all(is_same).then_some(first)
                    };
                    (0..self.leaves(k).len()).map(name).collect()
                }
                Operation::While { body, .. } => kept(&module.computations[*body]),
                _ => continue,
            };
            let taken = self.taken(instruction);
            for (leaf, name) in self.leaves(k).zip(names) {
                if let Some(operand) = name.and_then(|name| taken.get(name)) {
                    self.rename(leaf, *operand);
                }
            }
        }
    }

    /// Marks a leaf as another name; the name alone does not extend the live range.
    fn rename(&mut self, leaf: usize, operand: usize) {
        self.last[leaf] = 0;
        self.is_name[leaf] = true;
        self.join(leaf, operand);
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        self.find(a) == self.find(b)
    }

    /// The effect on the operands of each computation that a `call`, a `conditional`, an asynchronous start or the
    /// condition of a `while` runs.
    fn used<'f>(&self, instruction: &Instruction, frames: &'f FrameMap) -> Vec<OperandUse<'f>> {
        let called = called(instruction);
        if called.is_empty() {
            return Vec::new();
        }
        let is_branch = matches!(instruction.operation, Operation::Conditional { .. });
        let mut before = vec![0];
        for operand in &instruction.operands {
            before.push(before[before.len() - 1] + self.leaves(*operand).len());
        }
        let called = called.into_iter().filter(|(_, frame)| *frame == RunsAs::Called);
        let of = |(place, called): (usize, (usize, RunsAs))| {
            let found = frames.get(&called)?;
            let first = if is_branch { place + 1 } else { 0 };
            let given = found.parameter_leaves().filter_map(|(parameter, leaf)| {
                let operand = before.get(first + parameter)? + leaf;
                (operand < before[before.len() - 1]).then_some((operand, (parameter, leaf)))
            });
            let given: Vec<(usize, ParameterLeaf)> = given.collect();
            let (mut of, mut written) = (FxHashMap::default(), BTreeSet::new());
            for (operand, (parameter, leaf)) in &given {
                let Some(buffer) = found.parameter(*parameter, *leaf) else { continue };
                of.entry(buffer).or_insert(*operand);
                written.extend(found.written.contains(&buffer).then_some(*operand));
            }
            let returned = found.of[found.root].iter().map(|buffer| of.get(&(*buffer)?).copied()).collect();
            Some(OperandUse { found, returned, written, given })
        };
        called.enumerate().filter_map(of).collect()
    }

    /// Records the last reader of each set.
    fn read(&mut self, computation: &Computation) {
        for (k, instruction) in computation.instructions.iter().enumerate().filter(|(_, i)| reads(i)) {
            for leaf in self.taken(instruction) {
                let class = self.find(leaf);
                self.last[class] = self.last[class].max(k);
            }
        }
        for leaf in self.leaves(computation.root) {
            let class = self.find(leaf);
            self.last[class] = computation.instructions.len();
        }
    }

    /// Finds the pairs that may share a buffer. An updated operand shares with the result of the update. Another
    /// operand is overwritten as in XLA's heap: the operand and the result must each be alone in a buffer for every
    /// order, and the instruction must read the operand by its own name. Results of the entry are placed before the
    /// heap and have no such limits; the next state of a loop is placed over the last one.
    fn pair(
        &mut self,
        module: &Module,
        computation: &Computation,
        frame: RunsAs,
        frames: &FrameMap,
    ) -> Result<(), Error> {
        let mut found = self.candidates(module, computation, frames)?;
        let states = self.states(computation, frame);
        let joined = self.joined(computation, frame, &found);
        let mut is_end = vec![None; self.arrays.len()];
        for (number, leaf) in self.leaves(computation.root).enumerate() {
            is_end[self.find(leaf)].get_or_insert(number);
        }
        self.state = is_end.iter().map(|number| states[(*number)?]).collect();
        let mut lies_in = vec![None; self.arrays.len()];
        for state in states.into_iter().flatten().map(|leaf| self.find(leaf)) {
            lies_in[state] = Some(state);
        }
        let is_output = is_end.iter().map(|end| end.is_some() && frame == RunsAs::Entry).collect();
        let mut limits = PairLimits { joined, is_output, lies_in };
        self.others.resize_with(found.len(), Vec::new);
        for (k, pairs) in found.iter_mut().enumerate() {
            let instruction = &computation.instructions[k];
            if runs_in_place(instruction) {
                pairs.extend(self.of_state(k, instruction, &self.used(instruction, frames), &limits.lies_in));
            }
            if pairs.is_empty() {
                continue;
            }
            let taken = self.taken(instruction);
            let is_copy = instruction.opcode == "copy";
            let is_kept = |pair: &Shared| {
                limits.admit(self, [self.first[k] + pair.result, taken[pair.operand]], pair.updates, is_copy)
            };
            let (kept, others) = std::mem::take(pairs).into_iter().partition(is_kept);
            (*pairs, self.others[k]) = (kept, others);
        }
        self.pairs = found;
        Ok(())
    }

    /// For each instruction, the pairs of a result and the operand that it may overwrite.
    fn candidates(
        &mut self,
        module: &Module,
        computation: &Computation,
        frames: &FrameMap,
    ) -> Result<Vec<Vec<Shared>>, Error> {
        let mut found = Vec::with_capacity(computation.instructions.len());
        for (k, instruction) in computation.instructions.iter().enumerate() {
            let mut pairs = shared(module, computation, instruction)?;
            let used = self.used(instruction, frames);
            let overwritten = self.overwritten(k, instruction, &used);
            if runs_in_place(instruction) {
                let taken = self.taken(instruction);
                let copied = overwritten.iter().filter(|own| !own.in_place).map(|own| self.find(own.leaf));
                let copied: FxHashSet<usize> = copied.collect();
                let called = self.of_called(k, &taken, &used).into_iter();
                pairs.extend(called.filter(|pair| !copied.contains(&self.find(taken[pair.operand]))));
            }
            self.overwritten.push(overwritten);
            found.push(pairs);
        }
        Ok(found)
    }

    /// By representative: whether the set shares its buffer, or is in one that the caller has.
    fn joined(&self, computation: &Computation, frame: RunsAs, pairs: &[Vec<Shared>]) -> Vec<bool> {
        let mut joined = vec![false; self.arrays.len()];
        for (k, pairs) in pairs.iter().enumerate().filter(|(_, pairs)| !pairs.is_empty()) {
            let taken = self.taken(&computation.instructions[k]);
            for pair in pairs.iter().filter(|pair| pair.updates) {
                joined[self.find(self.first[k] + pair.result)] = true;
                joined[self.find(taken[pair.operand])] = true;
            }
        }
        for own in self.overwritten.iter().flatten() {
            joined[self.find(own.leaf)] = true;
        }
        let runs_branch = |k: &usize| matches!(computation.instructions[*k].operation, Operation::Conditional { .. });
        for leaf in (0..pairs.len()).filter(runs_branch).flat_map(|k| self.leaves(k)) {
            joined[self.find(leaf)] = true;
        }
        if frame == RunsAs::Entry {
            self.donated.iter().for_each(|pair| joined[self.argument(computation, pair)] = true);
        } else {
            let outer = computation.parameters.iter().chain([&computation.root]).flat_map(|k| self.leaves(*k));
            outer.for_each(|leaf| joined[self.find(leaf)] = true);
        }
        joined
    }

    /// The leaf that must hold each leaf of the root at the end.
    fn states(&self, computation: &Computation, frame: RunsAs) -> Vec<Option<usize>> {
        let mut states = vec![None; self.leaves(computation.root).len()];
        match frame {
            RunsAs::Entry => {
                self.donated.iter().for_each(|pair| states[pair.result] = Some(self.argument(computation, pair)));
            }
            RunsAs::Called => {}
            RunsAs::Body => {
                let parameters = computation.parameters.iter().flat_map(|k| self.leaves(*k));
                states.iter_mut().zip(parameters).for_each(|(state, leaf)| *state = Some(leaf));
            }
        }
        states
    }

    /// The leaf of a parameter that a result aliases.
    fn argument(&self, computation: &Computation, pair: &AliasPair) -> usize {
        self.first[computation.parameters[pair.operand]] + pair.leaf
    }

    /// The operands' leaves that some computations of a `call` or a `conditional` return in their buffers: the result is
    /// there, if it is no name, and the other branches overwrite it.
    fn of_called(&self, k: usize, taken: &[usize], used: &[OperandUse]) -> Vec<Shared> {
        let mut found = Vec::new();
        for (result, operand) in used.iter().flat_map(|own| own.returned.iter().enumerate()) {
            let Some((operand, leaf)) = operand.map(|operand| (operand, self.first[k] + result)) else { continue };
            let space = |leaf: usize| self.arrays[leaf].layout.memory_space;
            if !self.is_name[leaf] && space(leaf) == space(taken[operand]) {
                found.push(Shared { result, operand, updates: true });
            }
        }
        found
    }

    /// The pairs of a result of a `call` or a `conditional` that must end in a state, and of an operand in that state,
    /// where each computation may define the result in the operand's buffer.
    fn of_state(
        &self,
        k: usize,
        instruction: &Instruction,
        used: &[OperandUse],
        lies_in: &[Option<usize>],
    ) -> Vec<Shared> {
        let taken = self.taken(instruction);
        let mut given: FxHashMap<usize, Vec<(&FrameBuffers, usize, ParameterLeaf)>> = FxHashMap::default();
        for own in used {
            for (operand, leaf) in &own.given {
                let state = lies_in[self.find(taken[*operand])];
                state.iter().for_each(|state| given.entry(*state).or_default().push((own.found, *operand, *leaf)));
            }
        }
        let mut pairs = Vec::new();
        for (result, leaf) in self.leaves(k).enumerate() {
            let state = self.state[self.find(leaf)].map(|state| self.find(state));
            let Some(given) = state.and_then(|state| given.get(&state)) else { continue };
            if given.iter().all(|(found, _, leaf)| found.may_hold(result, *leaf)) {
                pairs.extend(given.iter().map(|(_, operand, _)| over((result, *operand))));
            }
        }
        pairs
    }

    /// The operands' leaves that the computations of an instruction overwrite. The buffer of an operand that one of them
    /// gets twice is still read, and so is the state of a loop after its condition.
    fn overwritten(&self, k: usize, instruction: &Instruction, used: &[OperandUse]) -> Vec<Overwritten> {
        let mut found: Vec<Overwritten> = Vec::new();
        if used.iter().all(|own| own.written.is_empty()) {
            return found;
        }
        let taken = self.taken(instruction);
        let mut known = FxHashSet::default();
        for own in used {
            let (mut given, mut results) = (FxHashMap::<usize, usize>::default(), FxHashMap::default());
            own.given.iter().for_each(|(leaf, _)| *given.entry(self.find(taken[*leaf])).or_default() += 1);
            for (leaf, operand) in self.leaves(k).zip(&own.returned) {
                operand.iter().for_each(|operand| _ = results.entry(*operand).or_insert(leaf));
            }
            let new = |operand: &usize| {
                let (leaf, class) = (taken[*operand], self.find(taken[*operand]));
                let in_place = runs_in_place(instruction) && given[&class] == 1;
                (class, Overwritten { leaf, in_place, result: results.get(operand).copied() })
            };
            // Only one branch runs, so one copy is enough for all.
            let new = own.written.iter().map(new);
            let new: Vec<_> = new.filter(|(class, own)| !known.contains(&(*class, own.in_place, own.result))).collect();
            known.extend(new.iter().map(|(class, own)| (*class, own.in_place, own.result)));
            found.extend(new.into_iter().map(|(_, own)| own));
        }
        found
    }

    /// Lets leaves of an instruction overwrite operands without later readers. Returns the overwritten operand leaves.
    pub(super) fn share(&mut self, computation: &Computation, k: usize) -> FxHashSet<usize> {
        let (pairs, mut others) = (std::mem::take(&mut self.pairs[k]), std::mem::take(&mut self.others[k]));
        let overwritten = std::mem::take(&mut self.overwritten[k]);
        if pairs.is_empty() && others.is_empty() && overwritten.is_empty() {
            return FxHashSet::default();
        }
        let taken = self.taken(&computation.instructions[k]);
        let readers = Readers::new(self, computation, k, &taken, &pairs);
        let (mut done, mut written) = (FxHashSet::default(), FxHashSet::default());
        for pair in &pairs {
            let leaf = self.first[k] + pair.result;
            let Some((to, from)) = readers.written(self, leaf, pair, &taken) else { continue };
            if done.contains(&from) || self.read_only[from] || self.last[from] != k {
                continue;
            }
            // Another reader of the state kept the operand out of its buffer.
            if !pair.updates && self.state[to].is_some_and(|state| self.find(state) != from) {
                others.push(*pair);
                continue;
            }
            self.join(to, from);
            let class = self.find(from);
            self.written[class] |= pair.updates;
            done.insert(from);
            written.insert(taken[pair.operand]);
        }
        let readers = Readers::new(self, computation, k, &taken, &others);
        for pair in &others {
            let leaf = self.first[k] + pair.result;
            let other = readers.written(self, leaf, pair, &taken).filter(|(_, from)| self.last[*from] == k);
            self.overwrites.extend(other.map(|_| (leaf, taken[pair.operand])));
        }
        for Overwritten { leaf, in_place, result } in overwritten {
            let class = self.find(leaf);
            if in_place && !self.read_only[class] && (self.last[class] == k || done.contains(&class)) {
                self.written[class] = true;
                written.insert(leaf);
            } else if result.is_none_or(|result| self.find(result) != result) {
                self.copied.push((k, leaf));
            }
        }
        written
    }

    /// Converts the sets into buffers.
    fn finish(self, computation: &Computation, frame: RunsAs) -> FrameBuffers {
        let end = computation.instructions.len() - 1;
        let until = until(computation);
        let (mut number, mut buffers) = (vec![None; self.arrays.len()], Vec::<Buffer>::new());
        let mut of: Vec<Vec<Option<usize>>> = vec![Vec::new(); computation.instructions.len()];
        for leaf in 0..self.arrays.len() {
            let (class, k) = (self.find(leaf), self.of[leaf]);
            let Some(footprint) = self.footprints[leaf] else {
                of[k].push(None);
                continue;
            };
            let place = *number[class].get_or_insert(buffers.len());
            of[k].push(Some(place));
            match buffers.get_mut(place) {
                Some(buffer) if buffer.footprint.padded < footprint.padded => {
                    (buffer.footprint, buffer.made) = (footprint, (k, leaf - self.first[k]));
                }
                Some(_) => {}
                None => buffers.push(Buffer {
                    role: Role::Temporary,
                    made: (k, leaf - self.first[k]),
                    footprint,
                    space: self.arrays[leaf].layout.memory_space,
                    live: (k, self.last[class].min(end)),
                }),
            }
        }
        let buffer = |leaf: usize| of[self.of[leaf]][leaf - self.first[self.of[leaf]]];
        let given: FxHashSet<usize> = computation.parameters.iter().flat_map(|k| &of[*k]).copied().flatten().collect();
        let written = |(to, from): &(usize, usize)| {
            let (k, to, from) = (self.of[*to], buffer(*to)?, buffer(*from)?);
            let is_copy = computation.instructions[k].opcode == "copy";
            // The caller may have one buffer for a parameter and a result; a copy within it does nothing.
            let may_copy = frame == RunsAs::Called && given.contains(&from);
            let is_next = buffers[to].live.0 == k && buffers[from].live.1 == k;
            (is_next && (!is_copy || may_copy)).then_some((to, from))
        };
        let overwrites = self.overwrites.iter().filter_map(written).collect();
        let copy = |&(k, leaf): &(usize, usize)| {
            let (of, space) = (self.of[leaf], self.arrays[leaf].layout.memory_space);
            let (footprint, made) = (self.footprints[leaf]?, (of, leaf - self.first[of]));
            Some(Buffer { role: Role::Temporary, made, footprint, space, live: (k, until[k]) })
        };
        let copies = self.copied.iter().filter_map(copy).collect();
        let written = (0..self.arrays.len()).filter(|leaf| self.written[self.find(*leaf)]).filter_map(buffer).collect();
        let (parameters, root, donated) = (computation.parameters.clone(), computation.root, self.donated);
        let calls = computation.instructions.iter().enumerate().filter(|(_, own)| !called(own).is_empty());
        let calls = calls.map(|(k, _)| (k, until[k])).collect();
        let mut found = FrameBuffers { buffers, of, copies, donated, overwrites, written, calls, parameters, root };
        found.roles(computation);
        found.states(computation, frame);
        found
    }
}

/// Limits on the pairs that may share a buffer, each by representative.
struct PairLimits {
    /// Whether the set is not alone in a buffer.
    joined: Vec<bool>,
    /// Whether the set is in a result of the entry.
    is_output: Vec<bool>,
    /// The state in whose buffer the set may lie: results that overwrite it, and results that overwrite those.
    lies_in: Vec<Option<usize>>,
}

impl PairLimits {
    /// Whether a result may be in its operand's buffer for every order; if so, it is also in the operand's state.
    fn admit(&mut self, classes: &Classes, [result, operand]: [usize; 2], updates: bool, is_copy: bool) -> bool {
        let (to, from) = (classes.find(result), classes.find(operand));
        let is_kept = updates
            || match classes.state[to] {
                Some(state) => self.lies_in[from] == Some(classes.find(state)),
                // A copy has a buffer of its own, unless it must end in the operand's.
                None if is_copy => false,
                None if self.is_output[to] => true,
                None => !self.joined[to] && !self.joined[from] && !classes.is_name[operand],
            };
        if is_kept && self.lies_in[to].is_none() {
            self.lies_in[to] = self.lies_in[from];
        }
        is_kept
    }
}

/// The number of reads of each set by an instruction, in all and through the pairs of each result.
pub(super) struct Readers {
    all: FxHashMap<usize, usize>,
    own: FxHashMap<(usize, usize), usize>,
    /// Only one branch of a `conditional` runs, so no other one reads its operand.
    is_conditional: bool,
}

impl Readers {
    pub(super) fn new(
        classes: &Classes,
        computation: &Computation,
        k: usize,
        taken: &[usize],
        pairs: &[Shared],
    ) -> Readers {
        let is_conditional = matches!(computation.instructions[k].operation, Operation::Conditional { .. });
        let mut readers = Readers { all: FxHashMap::default(), own: FxHashMap::default(), is_conditional };
        taken.iter().for_each(|leaf| *readers.all.entry(classes.find(*leaf)).or_default() += 1);
        let distinct: FxHashSet<(usize, usize)> = pairs.iter().map(|pair| (pair.result, pair.operand)).collect();
        for (result, operand) in distinct {
            *readers.own.entry((result, classes.find(taken[operand]))).or_default() += 1;
        }
        readers
    }

    /// The sets of a result and of the operand it may overwrite; `None` if the instruction also reads the operand's
    /// buffer in another way, which would see the new values.
    pub(super) fn written(
        &self,
        classes: &Classes,
        leaf: usize,
        pair: &Shared,
        taken: &[usize],
    ) -> Option<(usize, usize)> {
        let (to, from) = (classes.find(leaf), classes.find(taken[pair.operand]));
        let is_alone = self.is_conditional || self.all.get(&from) == self.own.get(&(pair.result, from));
        (to == leaf && to != from && is_alone).then_some((to, from))
    }
}

/// Whether a computation that the instruction runs may overwrite the buffer of an operand that nothing reads later.
fn runs_in_place(instruction: &Instruction) -> bool {
    matches!(&*instruction.opcode, "call" | "conditional")
}

impl FrameBuffers {
    /// The leaves of all parameters.
    fn parameter_leaves(&self) -> impl Iterator<Item = ParameterLeaf> {
        let leaves = |(number, k): (usize, &usize)| (0..self.of[*k].len()).map(move |leaf| (number, leaf));
        self.parameters.iter().enumerate().flat_map(leaves)
    }

    /// Whether a leaf of the result may be in the buffer of a parameter's leaf: its definition comes after the last read,
    /// or overwrites.
    fn may_hold(&self, result: usize, (parameter, leaf): ParameterLeaf) -> bool {
        let result = self.of[self.root].get(result).copied().flatten();
        let Some((result, parameter)) = result.zip(self.parameter(parameter, leaf)) else { return false };
        let (made, read) = (&self.buffers[result], &self.buffers[parameter]);
        let is_free = made.role == Role::Result && read.live.1 < made.live.0;
        result == parameter || is_free || self.overwrites.contains(&(result, parameter))
    }

    fn mark(&mut self, instruction: usize, role: Role) {
        for buffer in self.of[instruction].clone().into_iter().flatten() {
            self.buffers[buffer].role = role;
        }
    }

    fn roles(&mut self, computation: &Computation) {
        self.mark(computation.root, Role::Result);
        for (k, instruction) in computation.instructions.iter().enumerate() {
            match &*instruction.opcode {
                "constant" => self.mark(k, Role::Constant),
                "parameter" => self.mark(k, Role::Parameter),
                _ => {}
            }
        }
    }

    /// Adds a copy if a value must end in the buffer of a parameter but cannot be defined there: the parameter is still
    /// read, or the value is another parameter.
    fn states(&mut self, computation: &Computation, frame: RunsAs) {
        let state: Vec<(usize, usize, usize)> = match frame {
            RunsAs::Entry => self.donated.iter().map(|pair| (pair.result, pair.operand, pair.leaf)).collect(),
            RunsAs::Called => Vec::new(),
            RunsAs::Body => (0..self.of[computation.root].len()).map(|leaf| (leaf, 0, leaf)).collect(),
        };
        let end = computation.instructions.len() - 1;
        let returned: FxHashSet<usize> = self.of[computation.root].iter().copied().flatten().collect();
        let mut settled: FxHashSet<usize> = FxHashSet::default();
        for (result, parameter, leaf) in state {
            let Some(result) = self.of[computation.root].get(result).copied().flatten() else { continue };
            let parameter =
                computation.parameters.get(parameter).and_then(|k| self.of[*k].get(leaf)).copied().flatten();
            let Some(parameter) = parameter else { continue };
            let (made, state) = (&self.buffers[result], &self.buffers[parameter]);
            let copied = match made.role {
                _ if result == parameter => None,
                // A parameter is copied at the end, through a third buffer if two are exchanged.
                Role::Parameter => returned.contains(&parameter).then_some((end, end)),
                Role::Constant => None,
                _ if settled.contains(&result) => None,
                _ if self.overwrites.contains(&(result, parameter)) => None,
                _ if state.live.1 >= made.live.0 => Some((made.live.0, end)),
                _ => None,
            };
            settled.insert(result);
            if let Some(live) = copied {
                self.copies.push(Buffer { role: Role::Temporary, live, ..made.clone() });
            }
        }
    }
}
