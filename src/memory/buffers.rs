//! The buffers of one computation: its leaves, those of one buffer together, and from when to when each is live.

use super::footprint::Footprint;
use super::names::{Names, reads};
use super::sharing::{Shared, shared};
use crate::hlo::aliases::{AliasPair, pairs};
use crate::hlo::{Computation, Instruction, Module};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, leaves};
use crate::text::Error;
use std::collections::{HashMap, HashSet};

/// How a computation runs, which says whose its parameters and results are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RunsAs {
    /// As the program: they are the arguments and the outputs.
    Entry,
    /// By a `call`, a branch or as a condition: they are the caller's, and the parameters are not written over.
    Called,
    /// As the body of a loop: each parameter and result is the loop's state, which is written over.
    Body,
}

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// It holds a parameter, and may hold other leaves.
    Parameter,
    /// It holds a leaf of the root.
    Result,
    /// It holds a `constant`.
    Constant,
    /// It is the computation's own.
    Temporary,
}

/// Leaves that lie in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Buffer {
    /// What it is for.
    pub role: Role,
    /// The instruction with the largest leaf in it, the first of these, and which leaf.
    pub made: (usize, usize),
    /// The bytes of that leaf.
    pub footprint: Footprint,
    /// The number of the memory space.
    pub space: u8,
    /// The first and the last instruction at which it is live, both included.
    pub live: (usize, usize),
}

/// The buffers of a computation. Arrays without bytes, such as tokens, have none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameBuffers {
    /// The buffers, by the number of their first leaf.
    pub buffers: Vec<Buffer>,
    /// For each instruction the buffer of each of its leaves.
    pub of: Vec<Vec<Option<usize>>>,
    /// Buffers that are needed beside: what a loop's state has to be copied from, with no leaf of its own.
    pub copies: Vec<Buffer>,
    /// The leaves of the result that are in an argument.
    pub donated: Vec<AliasPair>,
    /// Pairs of a buffer and of another that it may be written over where it is made, if both lie in the memory of an output.
    pub(super) overwrites: HashSet<(usize, usize)>,
    /// The instructions of the parameters, and of the result.
    pub(super) parameters: Vec<usize>,
    pub(super) root: usize,
}

/// The leaves of a loop's state that its body returns as it gets them, each by its own number: nothing writes over these.
fn kept(body: &Computation) -> Vec<Option<usize>> {
    let [parameter] = body.parameters[..] else { return Vec::new() };
    let sources = Names::new(body).sources(body.root).into_iter().enumerate();
    sources.map(|(leaf, source)| (source == (parameter, leaf)).then_some(leaf)).collect()
}

/// The buffers of a computation that runs in this way. `passed` says for each computation that is called before which
/// parameter, and which leaf of it, each leaf of its root is as it is.
///
/// # Errors
/// An attribute about aliases cannot be read; 64 bits do not hold the bytes of an array.
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

/// The leaves of a computation, those of one name together, and which of its results are in arguments; nothing is written
/// over yet.
///
/// # Errors
/// `input_output_alias` cannot be read.
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

/// What `input_output_alias` of the header says.
fn donations(module: &Module) -> Result<Vec<AliasPair>, Error> {
    let Some(attribute) = module.attributes.iter().find(|a| a.name == "input_output_alias") else {
        return Ok(Vec::new());
    };
    let entry = &module.computations[module.entry];
    let parameters: Vec<&Shape> = entry.parameters.iter().map(|k| &entry.instructions[*k].shape).collect();
    pairs(&attribute.text, &entry.result().shape, &parameters)
        .map_err(|error| Error { at: error.at.map(|at| at + attribute.at), ..error })
}

/// Sets of leaves that are one buffer, as trees: leaf to leaf, up to one that stands for all.
#[derive(Clone)]
pub(super) struct Classes<'m> {
    /// The number of the first leaf of each instruction.
    pub(super) first: Vec<usize>,
    pub(super) arrays: Vec<&'m Array>,
    /// The instruction of each leaf.
    of: Vec<usize>,
    up: Vec<usize>,
    /// Of the one that stands for all: the last instruction that reads one, the length of the computation where that is
    /// what it returns to; and whether it may not be written over.
    last: Vec<usize>,
    pub(super) read_only: Vec<bool>,
    /// Whether a leaf is another name alone.
    pub(super) is_name: Vec<bool>,
    /// For each instruction the pairs that share a buffer, where nothing reads the operand afterwards.
    pub(super) pairs: Vec<Vec<Shared>>,
    /// The same of those that share one only in the memory of an output.
    others: Vec<Vec<Shared>>,
    /// Of the one that stands for all: the parameter's leaf in which a leaf of the root has to end.
    state: Vec<Option<usize>>,
    /// Leaves with those that they may be written over in the memory of an output.
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
        // A parameter is there from the beginning, wherever the text has it.
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

    /// Puts the later leaf's set to the earlier one's.
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

    /// Joins what has several names.
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

    /// Makes a leaf another name; that alone does not keep a buffer.
    fn rename(&mut self, leaf: usize, operand: usize) {
        self.last[leaf] = 0;
        self.is_name[leaf] = true;
        self.join(leaf, operand);
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        self.find(a) == self.find(b)
    }

    /// For each computation that a `call` or a `conditional` runs, and each leaf that it returns: the leaf, among those of
    /// all operands, that it returns as it got it.
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

    /// Notes the last instruction that reads each leaf.
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

    /// Finds the pairs that may share a buffer. An operand that is updated shares with the result of the update. Another is
    /// written over as XLA's heap has it: where the operand and the result are each all that lies in a buffer, whatever the
    /// order, and the instruction reads the operand by its own name. Results of the entry are placed before the heap, and
    /// have no such limits; the next state of a loop lies where the last one does.
    fn pair(
        &mut self,
        module: &Module,
        computation: &Computation,
        (frame, donated): (RunsAs, &[AliasPair]),
        passed: &HashMap<usize, Vec<Option<(usize, usize)>>>,
    ) -> Result<(), Error> {
        // Each leaf is above what stands for it, which is above nothing: ways are short from here on.
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
        // The leaf in which each leaf of the root has to end.
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
        // What may lie where a state does: what is written over it, and over that.
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

    /// The leaves that some branches of a `conditional` return as they get them, so that the others write over these.
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

    /// Writes leaves of an instruction over operands that nothing reads afterwards.
    /// Gives the operands' leaves that are written over.
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
            // The last one did not come to lie where the state does, if something else reads that.
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

    /// The buffers of the sets.
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

/// How often an instruction reads each set, and how often in the way of each of its results.
pub(super) struct Readers {
    all: HashMap<usize, usize>,
    own: HashMap<(usize, usize), usize>,
    /// One branch of a `conditional` runs: no other reads its operand.
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

    /// The sets of a result and of the operand that it may be written over. What reads the same buffer in another way would
    /// see what is written.
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

    /// Adds what is needed where a value has to end in the buffer of a parameter, and cannot be made there: since that is
    /// still read, or the value is another parameter.
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
                // It is copied at the end from where it is, through a third place if the two are exchanged.
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
