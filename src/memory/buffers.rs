//! The buffers of one computation: its leaves, those of one buffer together, and from when to when each is live.

use super::footprint::Footprint;
use super::sharing::shared;
use crate::hlo::aliases::{AliasPair, pairs};
use crate::hlo::{Computation, Instruction, Module};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape, count, leaves};
use crate::text::Error;
use std::collections::HashMap;

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
}

/// Whether an instruction gives its operands other names, and which: for each leaf of the result the leaf among those of
/// all operands.
pub fn renamed(computation: &Computation, instruction: &Instruction) -> Option<Vec<Option<usize>>> {
    let shape = |k: usize| &computation.instructions[instruction.operands[k]].shape;
    let leaves = count(&instruction.shape);
    match &instruction.operation {
        Operation::Tuple => Some((0..leaves).map(Some).collect()),
        Operation::GetTupleElement { index } => {
            let Shape::Tuple(parts) = shape(0) else { return None };
            let before: usize = parts[..*index].iter().map(count).sum();
            Some((before..before + leaves).map(Some).collect())
        }
        Operation::Leaves { numbers } => Some(numbers.clone()),
        Operation::Start(start) => {
            start.operands?;
            Some((0..leaves).map(|leaf| start.operand(leaf)).collect())
        }
        Operation::Bitcast => Some((0..leaves).map(Some).collect()),
        Operation::Elementwise if matches!(&*instruction.opcode, "opt-barrier" | "domain") => {
            Some((0..leaves).map(Some).collect())
        }
        _ => None,
    }
}

/// The leaves of a loop's state that its body returns as it gets them, each by its own number: nothing writes over these.
fn kept(body: &Computation, leaves: usize) -> Vec<Option<usize>> {
    let [parameter] = body.parameters[..] else { return vec![None; leaves] };
    let is_kept = |leaf: &usize| {
        let (mut instruction, mut number) = (body.root, *leaf);
        while instruction != parameter {
            let named = &body.instructions[instruction];
            let operand = renamed(body, named).and_then(|names| *names.get(number)?);
            let Some(mut operand) = operand else { return false };
            let of = named.operands.iter().find(|k| {
                let count = count(&body.instructions[**k].shape);
                let inside = operand < count;
                operand -= if inside { 0 } else { count };
                inside
            });
            let Some(of) = of else { return false };
            (instruction, number) = (*of, operand);
        }
        number == *leaf
    };
    (0..leaves).map(|leaf| Some(leaf).filter(is_kept)).collect()
}

/// Whether an instruction reads its operands; tuples and their parts only name them.
pub(super) fn reads(instruction: &Instruction) -> bool {
    !matches!(&*instruction.opcode, "tuple" | "get-tuple-element")
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
        let instruction = &computation.instructions[k];
        let pairs = shared(module, computation, instruction)?;
        classes.share(computation, k, &pairs);
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

    pub(super) fn find(&mut self, mut leaf: usize) -> usize {
        while self.up[leaf] != leaf {
            self.up[leaf] = self.up[self.up[leaf]];
            leaf = self.up[leaf];
        }
        leaf
    }

    /// Puts the later leaf's set to the earlier one's.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        let (low, high) = (a.min(b), a.max(b));
        self.up[high] = low;
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
        for (k, instruction) in computation.instructions.iter().enumerate() {
            let taken = self.taken(instruction);
            if instruction.string("custom_call_target").as_deref() == Some("ConcatBitcast") {
                taken.iter().for_each(|part| self.join(self.first[k], *part));
                continue;
            }
            let names = match &instruction.operation {
                Operation::Call { computation: called } if instruction.opcode == "call" => {
                    let before = |n: usize| (0..n).map(|n| self.leaves(instruction.operands[n]).len()).sum::<usize>();
                    let leaf = |from: &Option<(usize, usize)>| from.map(|(parameter, leaf)| before(parameter) + leaf);
                    passed.get(called).map(|all| all.iter().map(leaf).collect())
                }
                Operation::While { body, .. } => Some(kept(&module.computations[*body], self.leaves(k).len())),
                _ => renamed(computation, instruction),
            };
            for (leaf, name) in self.leaves(k).zip(names.into_iter().flatten()) {
                if let Some(operand) = name.and_then(|name| taken.get(name)) {
                    // Another name alone does not keep a buffer.
                    self.last[leaf] = 0;
                    self.is_name[leaf] = true;
                    self.join(leaf, *operand);
                }
            }
        }
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

    /// Writes leaves of an instruction over operands that nothing reads afterwards.
    fn share(&mut self, computation: &Computation, k: usize, pairs: &[(usize, usize)]) {
        let taken = self.taken(&computation.instructions[k]);
        let mut done = Vec::new();
        for &(result, operand) in pairs {
            let leaf = self.first[k] + result;
            let (to, from) = (self.find(leaf), self.find(taken[operand]));
            if to != leaf || to == from || done.contains(&from) || self.read_only[from] || self.last[from] != k {
                continue;
            }
            // What reads the same buffer in another way would see what is written.
            let others = (0..taken.len()).filter(|o| !pairs.contains(&(result, *o)));
            if others.map(|o| taken[o]).collect::<Vec<_>>().into_iter().any(|leaf| self.find(leaf) == from) {
                continue;
            }
            self.join(to, from);
            done.push(from);
        }
    }

    /// The buffers of the sets.
    fn finish(
        mut self,
        computation: &Computation,
        frame: RunsAs,
        donated: Vec<AliasPair>,
    ) -> Result<FrameBuffers, Error> {
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
        let mut found = FrameBuffers { buffers, of, copies: Vec::new(), donated };
        found.roles(computation);
        found.states(computation, frame);
        Ok(found)
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
        let mut settled: Vec<usize> = Vec::new();
        for (result, parameter, leaf) in state {
            let Some(result) = self.of[computation.root].get(result).copied().flatten() else { continue };
            let parameter =
                computation.parameters.get(parameter).and_then(|k| self.of[*k].get(leaf)).copied().flatten();
            let Some(parameter) = parameter else { continue };
            let (made, state) = (&self.buffers[result], &self.buffers[parameter]);
            let copied = match made.role {
                _ if result == parameter => None,
                // It is copied at the end from where it is, through a third place if the two are exchanged.
                Role::Parameter => self.of[computation.root].contains(&Some(parameter)).then_some((end, end)),
                Role::Constant => None,
                _ if settled.contains(&result) => None,
                _ if state.live.1 >= made.live.0 => Some((made.live.0, end)),
                _ => None,
            };
            settled.push(result);
            if let Some(live) = copied {
                self.copies.push(Buffer { role: Role::Temporary, live, ..made.clone() });
            }
        }
    }
}
