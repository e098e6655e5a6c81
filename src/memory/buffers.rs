//! The buffers of one computation: its leaves, grouped by buffer, and the live range of each.

use super::footprint::Footprint;
use super::names::{Names, reads};
use super::sharing::{Shared, shared};
use crate::hlo::aliases::{AliasPair, pairs};
use crate::hlo::{Computation, Instruction, Module};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, leaves};
use crate::text::Error;
use std::collections::{HashMap, HashSet};

/// How a computation runs, which decides who owns its parameters and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RunsAs {
    /// The program itself: its parameters are the arguments, its results the outputs.
    Entry,
    /// The target of a `call`, a branch, or a loop condition: the caller owns both, and parameters are read-only.
    Called,
    /// The body of a loop: each parameter and result is the loop's state, which is overwritten.
    Body,
}

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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameBuffers {
    /// The buffers, ordered by their first leaf.
    pub buffers: Vec<Buffer>,
    /// For each instruction, the buffer of each of its leaves.
    pub of: Vec<Vec<Option<usize>>>,
    /// Further buffers without leaves: sources of copies into a loop's state or a donated argument.
    pub copies: Vec<Buffer>,
    /// The leaves of the result that alias an argument.
    pub donated: Vec<AliasPair>,
    /// Pairs of a buffer and the buffer it may overwrite at its definition, if both are placed in the memory of an
    /// output.
    pub(super) overwrites: HashSet<(usize, usize)>,
    /// The instructions of the parameters, and of the result.
    pub(super) parameters: Vec<usize>,
    pub(super) root: usize,
}

/// The leaves of a loop's state that its body returns unchanged, each by its own number: no instruction overwrites
/// these.
fn kept(body: &Computation) -> Vec<Option<usize>> {
    let [parameter] = body.parameters[..] else { return Vec::new() };
    let sources = Names::new(body).sources(body.root).into_iter().enumerate();
    sources.map(|(leaf, source)| (source == (parameter, leaf)).then_some(leaf)).collect()
}

/// The buffers of a computation that runs in this way. `passed[c][leaf]`: the parameter of `c`, and its leaf, that the
/// called computation `c` returns unchanged.
///
/// # Errors
/// A malformed aliasing attribute; bytes of an array that overflow 64 bits.
pub fn buffers(
    module: &Module,
    number: usize,
    frame: RunsAs,
    passed: &HashMap<usize, Vec<Option<(usize, usize)>>>,
) -> Result<FrameBuffers, Error> {
    let computation = &module.computations[number];
    let (mut classes, donated) = named(module, number, frame, passed)?;
    for k in 0..computation.instructions.len() {
        classes.share(computation, k);
    }
    classes.finish(computation, frame, donated)
}

/// The leaves of a computation, joined by name, and the donations of its arguments. Nothing is overwritten yet.
///
/// # Errors
/// A malformed `input_output_alias`.
pub(super) fn named<'m>(
    module: &'m Module,
    number: usize,
    frame: RunsAs,
    passed: &HashMap<usize, Vec<Option<(usize, usize)>>>,
) -> Result<(Classes<'m>, Vec<AliasPair>), Error> {
    let computation = &module.computations[number];
    let mut classes = Classes::new(computation);
    classes.name(module, computation, passed);
    classes.read(computation);
    if frame != RunsAs::Body {
        for parameter in &computation.parameters {
            for leaf in classes.leaves(*parameter) {
                classes.protect(leaf);
            }
        }
    }
    let donated = if frame == RunsAs::Entry { donations(module)? } else { Vec::new() };
    for pair in &donated {
        let leaf = classes.first[computation.parameters[pair.operand]] + pair.leaf;
        classes.release(leaf);
    }
    classes.pair(module, computation, (frame, &donated), passed)?;
    Ok((classes, donated))
}

/// The donations in the module's `input_output_alias`.
fn donations(module: &Module) -> Result<Vec<AliasPair>, Error> {
    let Some(attribute) = module.attributes.iter().find(|a| a.name == "input_output_alias") else {
        return Ok(Vec::new());
    };
    let entry = &module.computations[module.entry];
    let parameters: Vec<&Shape> = entry.parameters.iter().map(|k| &entry.instructions[*k].shape).collect();
    pairs(&attribute.text, &entry.result().shape, &parameters)
        .map_err(|error| Error { at: error.at.map(|at| at + attribute.at), ..error })
}

/// Union-find sets of leaves that share a buffer; `up` is the parent.
#[derive(Clone)]
pub(super) struct Classes<'m> {
    /// The number of the first leaf of each instruction.
    pub(super) first: Vec<usize>,
    pub(super) arrays: Vec<&'m Array>,
    /// The instruction of each leaf.
    of: Vec<usize>,
    up: Vec<usize>,
    /// By representative: the last instruction that reads the set, or the length of the computation if the set is
    /// returned; and (`read_only`) whether it must not be overwritten.
    last: Vec<usize>,
    pub(super) read_only: Vec<bool>,
    /// Whether a leaf is only a name of another.
    pub(super) is_name: Vec<bool>,
    /// For each instruction, the pairs that share a buffer if nothing reads the operand afterwards.
    pub(super) pairs: Vec<Vec<Shared>>,
    /// For each instruction, the pairs that share a buffer only in the memory of an output.
    others: Vec<Vec<Shared>>,
    /// By representative: the parameter's leaf that must hold a leaf of the root at the end.
    state: Vec<Option<usize>>,
    /// Pairs of a leaf and the leaf it may overwrite in the memory of an output.
    overwrites: Vec<(usize, usize)>,
}

impl<'m> Classes<'m> {
    fn new(computation: &'m Computation) -> Classes<'m> {
        let mut classes = Classes {
            first: Vec::new(),
            arrays: Vec::new(),
            of: Vec::new(),
            up: Vec::new(),
            last: Vec::new(),
            read_only: Vec::new(),
            is_name: Vec::new(),
            pairs: Vec::new(),
            others: Vec::new(),
            state: Vec::new(),
            overwrites: Vec::new(),
        };
        for (k, instruction) in computation.instructions.iter().enumerate() {
            classes.first.push(classes.arrays.len());
            classes.arrays.extend(leaves(&instruction.shape));
            classes.of.resize(classes.arrays.len(), k);
            classes.read_only.resize(classes.arrays.len(), instruction.opcode == "constant");
        }
        classes.first.push(classes.arrays.len());
        classes.up = (0..classes.arrays.len()).collect();
        classes.is_name = vec![false; classes.arrays.len()];
        classes.last = classes.of.clone();
        // A parameter is live from the beginning, wherever the text has it.
        for leaf in computation.parameters.iter().flat_map(|k| classes.leaves(*k)).collect::<Vec<_>>() {
            classes.last[leaf] = 0;
        }
        classes
    }

    pub(super) fn leaves(&self, instruction: usize) -> std::ops::Range<usize> {
        self.first[instruction]..self.first[instruction + 1]
    }

    /// The leaves of all operands of an instruction.
    pub(super) fn taken(&self, instruction: &Instruction) -> Vec<usize> {
        instruction.operands.iter().flat_map(|k| self.leaves(*k)).collect()
    }

    pub(super) fn find(&self, mut leaf: usize) -> usize {
        while self.up[leaf] != leaf {
            leaf = self.up[leaf];
        }
        leaf
    }

    /// Joins two sets; the earlier leaf becomes the representative.
    fn join(&mut self, a: usize, b: usize) {
        let (of_a, of_b) = (self.find(a), self.find(b));
        let (low, high) = (of_a.min(of_b), of_a.max(of_b));
        [a, b, high].into_iter().for_each(|leaf| self.up[leaf] = low);
        self.last[low] = self.last[low].max(self.last[high]);
        self.read_only[low] |= self.read_only[high];
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
    fn name(
        &mut self,
        module: &Module,
        computation: &Computation,
        passed: &HashMap<usize, Vec<Option<(usize, usize)>>>,
    ) {
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
                    let (returned, taken) = (self.returned(instruction, passed), self.taken(instruction));
                    let name = |leaf: usize| {
                        let mut all = returned.iter().map(|own| own.get(leaf).copied().flatten());
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

    /// For each computation run by a `call` or a `conditional`, and each leaf of its result: the operand leaf that it
    /// returns unchanged.
    fn returned(
        &self,
        instruction: &Instruction,
        passed: &HashMap<usize, Vec<Option<(usize, usize)>>>,
    ) -> Vec<Vec<Option<usize>>> {
        let (computations, first) = match &instruction.operation {
            Operation::Call { computation } if instruction.opcode == "call" => (std::slice::from_ref(computation), 0),
            Operation::Conditional { branches } => (&branches[..], 1),
            _ => return Vec::new(),
        };
        let mut before = vec![0];
        for operand in &instruction.operands {
            before.push(before[before.len() - 1] + self.leaves(*operand).len());
        }
        let of = |(number, computation): (usize, &usize)| {
            let leaf = |(parameter, leaf): (usize, usize)| Some(before.get(first + number + parameter)? + leaf);
            passed.get(computation).into_iter().flatten().map(|from| leaf((*from)?)).collect()
        };
        computations.iter().enumerate().map(of).collect()
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
        (frame, donated): (RunsAs, &[AliasPair]),
        passed: &HashMap<usize, Vec<Option<(usize, usize)>>>,
    ) -> Result<(), Error> {
        // Flattens the trees, so that later lookups are short.
        (0..self.up.len()).for_each(|leaf| self.up[leaf] = self.up[self.up[leaf]]);
        let mut found = Vec::with_capacity(computation.instructions.len());
        for (k, instruction) in computation.instructions.iter().enumerate() {
            let mut pairs = shared(module, computation, instruction)?;
            if matches!(instruction.operation, Operation::Conditional { .. }) {
                pairs.extend(self.of_branches(k, instruction, passed));
            }
            found.push(pairs);
        }
        let mut joined = vec![false; self.arrays.len()];
        for (k, pairs) in found.iter().enumerate().filter(|(_, pairs)| !pairs.is_empty()) {
            let taken = self.taken(&computation.instructions[k]);
            for pair in pairs.iter().filter(|pair| pair.updates) {
                for leaf in [self.first[k] + pair.result, taken[pair.operand]] {
                    let class = self.find(leaf);
                    joined[class] = true;
                }
            }
        }
        let runs_branch = |k: &usize| matches!(computation.instructions[*k].operation, Operation::Conditional { .. });
        for leaf in (0..found.len()).filter(runs_branch).flat_map(|k| self.leaves(k)) {
            joined[self.find(leaf)] = true;
        }
        let ends: Vec<usize> = self.leaves(computation.root).collect();
        let parameters: Vec<usize> = computation.parameters.iter().flat_map(|k| self.leaves(*k)).collect();
        match frame {
            RunsAs::Entry => {
                for pair in donated {
                    joined[self.first[computation.parameters[pair.operand]] + pair.leaf] = true;
                }
            }
            RunsAs::Called => ends.iter().for_each(|leaf| joined[self.find(*leaf)] = true),
            RunsAs::Body => ends.iter().chain(&parameters).for_each(|leaf| joined[self.find(*leaf)] = true),
        }
        let mut is_end = vec![None; self.arrays.len()];
        for (number, leaf) in ends.iter().enumerate() {
            is_end[self.find(*leaf)].get_or_insert(number);
        }
        // The leaf that must hold each leaf of the root at the end.
        let mut states = vec![None; ends.len()];
        match frame {
            RunsAs::Entry => {
                for pair in donated {
                    states[pair.result] = Some(self.first[computation.parameters[pair.operand]] + pair.leaf);
                }
            }
            RunsAs::Called => {}
            RunsAs::Body => states.iter_mut().zip(&parameters).for_each(|(state, leaf)| *state = Some(*leaf)),
        }
        self.state = is_end.iter().map(|number| states[(*number)?]).collect();
        // Candidates for the buffer of a state: results that overwrite it, and results that overwrite those.
        let mut lies_in = vec![None; self.arrays.len()];
        for state in states.into_iter().flatten().map(|leaf| self.find(leaf)) {
            lies_in[state] = Some(state);
        }
        self.others.resize_with(found.len(), Vec::new);
        for (k, pairs) in found.iter_mut().enumerate().filter(|(_, pairs)| !pairs.is_empty()) {
            let taken = self.taken(&computation.instructions[k]);
            let is_kept = |pair: &Shared| {
                let operand = taken[pair.operand];
                let (to, from) = (self.find(self.first[k] + pair.result), self.find(operand));
                let is_kept = pair.updates
                    || match self.state[to] {
                        Some(state) => lies_in[from] == Some(self.find(state)),
                        None if is_end[to].is_some() && frame == RunsAs::Entry => true,
                        None => !joined[to] && !joined[from] && !self.is_name[operand],
                    };
                if is_kept && lies_in[to].is_none() {
                    lies_in[to] = lies_in[from];
                }
                is_kept
            };
            let (kept, others) = std::mem::take(pairs).into_iter().partition(is_kept);
            (*pairs, self.others[k]) = (kept, others);
        }
        self.pairs = found;
        Ok(())
    }

    /// Leaves that some branches of a `conditional` return unchanged, so that the other branches overwrite these.
    fn of_branches(
        &self,
        k: usize,
        instruction: &Instruction,
        passed: &HashMap<usize, Vec<Option<(usize, usize)>>>,
    ) -> Vec<Shared> {
        let taken = self.taken(instruction);
        let mut found = Vec::new();
        for returned in self.returned(instruction, passed) {
            for (result, operand) in returned.into_iter().enumerate() {
                let Some((operand, leaf)) = operand.map(|operand| (operand, self.first[k] + result)) else { continue };
                let space = |leaf: usize| self.arrays[leaf].layout.memory_space;
                if !self.is_name[leaf] && space(leaf) == space(taken[operand]) {
                    found.push(Shared { result, operand, updates: true });
                }
            }
        }
        found
    }

    /// Lets leaves of an instruction overwrite operands without later readers. Returns the overwritten operand leaves.
    pub(super) fn share(&mut self, computation: &Computation, k: usize) -> HashSet<usize> {
        let (pairs, mut others) = (std::mem::take(&mut self.pairs[k]), std::mem::take(&mut self.others[k]));
        if pairs.is_empty() && others.is_empty() {
            return HashSet::new();
        }
        let taken = self.taken(&computation.instructions[k]);
        let readers = Readers::new(self, computation, k, &taken, &pairs);
        let (mut done, mut written) = (HashSet::new(), HashSet::new());
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
            done.insert(from);
            written.insert(taken[pair.operand]);
        }
        let readers = Readers::new(self, computation, k, &taken, &others);
        for pair in &others {
            let leaf = self.first[k] + pair.result;
            let other = readers.written(self, leaf, pair, &taken).filter(|(_, from)| self.last[*from] == k);
            self.overwrites.extend(other.map(|_| (leaf, taken[pair.operand])));
        }
        written
    }

    /// Converts the sets into buffers.
    fn finish(self, computation: &Computation, frame: RunsAs, donated: Vec<AliasPair>) -> Result<FrameBuffers, Error> {
        let end = computation.instructions.len() - 1;
        let mut memo: HashMap<&Array, Option<Footprint>> = HashMap::new();
        let (mut number, mut buffers) = (HashMap::new(), Vec::<Buffer>::new());
        let mut of: Vec<Vec<Option<usize>>> = vec![Vec::new(); computation.instructions.len()];
        for leaf in 0..self.arrays.len() {
            let (class, array, k) = (self.find(leaf), self.arrays[leaf], self.of[leaf]);
            let footprint = match memo.get(array) {
                Some(footprint) => *footprint,
                None => *memo.entry(array).or_insert(Footprint::of(array)?),
            };
            let Some(footprint) = footprint else {
                of[k].push(None);
                continue;
            };
            let place = *number.entry(class).or_insert(buffers.len());
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
                    space: array.layout.memory_space,
                    live: (k, self.last[class].min(end)),
                }),
            }
        }
        let buffer = |leaf: usize| of[self.of[leaf]][leaf - self.first[self.of[leaf]]];
        let written = |(to, from): &(usize, usize)| {
            let (k, to, from) = (self.of[*to], buffer(*to)?, buffer(*from)?);
            (buffers[to].live.0 == k && buffers[from].live.1 == k).then_some((to, from))
        };
        let overwrites = self.overwrites.iter().filter_map(written).collect();
        let (parameters, root) = (computation.parameters.clone(), computation.root);
        let mut found = FrameBuffers { buffers, of, copies: Vec::new(), donated, overwrites, parameters, root };
        found.roles(computation);
        found.states(computation, frame);
        Ok(found)
    }
}

/// The number of reads of each set by an instruction, in all and through the pairs of each result.
pub(super) struct Readers {
    all: HashMap<usize, usize>,
    own: HashMap<(usize, usize), usize>,
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
        let mut readers = Readers { all: HashMap::new(), own: HashMap::new(), is_conditional };
        taken.iter().for_each(|leaf| *readers.all.entry(classes.find(*leaf)).or_default() += 1);
        let distinct: HashSet<(usize, usize)> = pairs.iter().map(|pair| (pair.result, pair.operand)).collect();
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

impl FrameBuffers {
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
        let returned: HashSet<usize> = self.of[computation.root].iter().copied().flatten().collect();
        let mut settled: HashSet<usize> = HashSet::new();
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
