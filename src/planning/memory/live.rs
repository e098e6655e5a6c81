//! The live bytes of a whole program: at each instruction of each computation, and the peak.

use super::buffers::{Buffer, FrameBuffers, Role, buffers};
use super::footprint::Footprint;
use super::inside::{FramePeak, Frames, Timelines};
use super::names::Names;
use super::outputs::{InOutput, in_outputs, inner_tables, tables};
use super::runs::{RunsAs, called};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use tensor_layout::hlo::{Computation, Module};
use tensor_layout::operations::shape::leaves;
use tensor_layout::text::Error;

/// The memory use of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemoryUse {
    /// By memory space; only spaces in use.
    pub spaces: BTreeMap<u8, Space>,
    /// Whether the text declares its order as the schedule (`is_scheduled`).
    pub is_scheduled: bool,
    /// The temporaries placed in the memory of an output, before its definition.
    pub in_outputs: Vec<InOutput>,
    /// The buffers of each computation, for each way in which it runs.
    pub frames: BTreeMap<(usize, RunsAs), FrameBuffers>,
    /// For each temporary of each computation, whether it has memory beside the outputs.
    beside: BTreeMap<(usize, RunsAs), Vec<bool>>,
    /// The live temporaries of each computation, without those in outputs.
    temporaries: BTreeMap<(usize, RunsAs), Timelines>,
    entry: usize,
}

/// The bytes in one memory space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Space {
    /// The entry's parameters.
    pub arguments: Footprint,
    /// The entry's results that alias no argument.
    pub outputs: Footprint,
    /// The constants of all computations.
    pub constants: Footprint,
    /// The peak of the temporaries without [`MemoryUse::in_outputs`]: the bytes to allocate beside arguments, outputs and
    /// constants.
    pub temporaries: i64,
    /// The bytes of the tables that XLA:TPU makes for a tuple output; not in `outputs`.
    pub tables: i64,
    /// The bytes of the tables of inner tuples; in none of the other numbers.
    pub inner_tables: i64,
    /// Arguments, outputs and constants, which are live all the time, and temporaries, with padding.
    pub peak: i64,
    /// The first instruction of the entry at the peak of temporaries.
    pub at: usize,
}

/// A running instruction, in a computation that runs in this way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// The number of the computation.
    pub computation: usize,
    /// How the computation runs.
    pub frame: RunsAs,
    /// The number of the instruction.
    pub instruction: usize,
    /// The buffers of the computation that are empty while the called computation is at its peak.
    pub vacant: Vec<usize>,
}

/// A live buffer, in a computation that runs in this way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveBuffer {
    /// The number of the computation.
    pub computation: usize,
    /// How the computation runs.
    pub frame: RunsAs,
    /// The buffer.
    pub buffer: Buffer,
}

/// The bytes of one owner while some instructions of the entry run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// A buffer of the whole run, or a temporary of the entry beside the outputs; `None` for the temporaries of the
    /// computations that the first instruction runs, at their peak.
    pub owner: Option<LiveBuffer>,
    /// The first and the last instruction of the entry.
    pub live: (usize, usize),
    /// The bytes with padding.
    pub bytes: i64,
}

impl MemoryUse {
    /// The memory use of a module.
    ///
    /// # Errors
    /// A malformed `input_output_alias` or `output_to_operand_aliasing`; bytes that overflow 64 bits.
    pub fn of(module: &Module) -> Result<MemoryUse, Error> {
        let mut used = MemoryUse {
            spaces: BTreeMap::new(),
            is_scheduled: module.attribute("is_scheduled") == Some("true"),
            in_outputs: Vec::new(),
            frames: BTreeMap::new(),
            beside: BTreeMap::new(),
            temporaries: BTreeMap::new(),
            entry: module.entry,
        };
        let wanted = frames(module);
        for &(number, frame) in wanted.iter().filter(|frame| frame.1 != RunsAs::Entry) {
            let found = buffers(module, number, frame, &used.frames)?;
            used.frames.insert((number, frame), found);
        }
        let entry = buffers(module, module.entry, RunsAs::Entry, &used.frames)?;
        used.place(module, entry)?;
        used.add_whole(module)?;
        let output = &module.computations[module.entry].result().shape;
        let running: BTreeSet<usize> = wanted.iter().map(|(number, _)| *number).collect();
        let inner = inner_tables(output, running.into_iter().map(|number| &module.computations[number]));
        let tables = tables(output);
        if tables > 0 || inner > 0 {
            let main = used.spaces.entry(0).or_default();
            (main.tables, main.inner_tables) = (tables, inner);
        }
        used.add_temporaries()?;
        Ok(used)
    }

    /// Counts the same program with its entry in another order, that of `module`, with these buffers.
    ///
    /// # Errors
    /// Bytes that overflow 64 bits.
    pub(super) fn recount(&mut self, module: &Module, entry: FrameBuffers) -> Result<(), Error> {
        self.place(module, entry)?;
        self.spaces.values_mut().for_each(|space| (space.at, space.temporaries) = (0, 0));
        self.add_temporaries()
    }

    /// Sets the buffers of the entry, and finds the temporaries in outputs and the live ones.
    fn place(&mut self, module: &Module, entry: FrameBuffers) -> Result<(), Error> {
        self.frames.insert((self.entry, RunsAs::Entry), entry);
        self.in_outputs = in_outputs(module, &self.frames);
        let all = |(frame, found): (&(usize, RunsAs), &FrameBuffers)| (*frame, vec![true; found.temporaries().count()]);
        self.beside = self.frames.iter().map(all).collect();
        for own in &self.in_outputs {
            self.beside.entry(own.frame).and_modify(|beside| beside[own.temporary] = false);
        }
        self.temporaries = self.live(module)?;
        Ok(())
    }

    /// Adds the peak of the temporaries to what is live all the time.
    fn add_temporaries(&mut self) -> Result<(), Error> {
        for (space, bytes) in &self.temporaries[&(self.entry, RunsAs::Entry)] {
            let space = self.spaces.entry(*space).or_default();
            (space.at, space.temporaries) = first_most(bytes);
        }
        for space in self.spaces.values_mut() {
            let all = space.arguments.plus(space.outputs)?.plus(space.constants)?;
            space.peak = all.plus(Footprint { logical: 0, padded: space.temporaries })?.padded;
        }
        Ok(())
    }

    /// The live temporaries beside the outputs, of each computation at each instruction, called computations included.
    fn live(&self, module: &Module) -> Result<BTreeMap<(usize, RunsAs), Timelines>, Error> {
        let mut all = BTreeMap::new();
        // The map orders computations after those that they run.
        for (frame, found) in &self.frames {
            let inside = Frames { buffers: &self.frames, timelines: &all };
            let live = inside.live(&module.computations[frame.0], found, &self.beside[frame])?;
            all.insert(*frame, live);
        }
        Ok(all)
    }

    /// Adds arguments, outputs and constants, which are live for the whole run.
    fn add_whole(&mut self, module: &Module) -> Result<(), Error> {
        for own in self.whole(module)? {
            let space = self.spaces.entry(own.buffer.space).or_default();
            let sum = match own.buffer.role {
                Role::Parameter => &mut space.arguments,
                Role::Constant => &mut space.constants,
                _ => &mut space.outputs,
            };
            *sum = sum.plus(own.buffer.footprint)?;
        }
        Ok(())
    }

    /// The buffers that are live for the whole run: the arguments, the outputs that alias none, and all constants, each
    /// with the range in which it holds a value.
    fn whole(&self, module: &Module) -> Result<Vec<LiveBuffer>, Error> {
        let entry = &module.computations[module.entry];
        let mut found = Vec::new();
        for parameter in &entry.parameters {
            self.add(module, (module.entry, *parameter), Role::Parameter, &mut found)?;
        }
        let donated = &self.frames[&(module.entry, RunsAs::Entry)].donated;
        let donated: BTreeSet<usize> = donated.iter().map(|pair| pair.result).collect();
        let outputs = found.len();
        self.add(module, (module.entry, entry.root), Role::Result, &mut found)?;
        let mut outputs = found.split_off(outputs);
        outputs.retain(|own| !donated.contains(&own.buffer.made.1));
        let mut names = Names::new(entry);
        outputs.iter_mut().for_each(|own| own.buffer.made = names.source(own.buffer.made));
        found.append(&mut outputs);
        let computations: BTreeSet<usize> = self.frames.keys().map(|(number, _)| *number).collect();
        for number in computations {
            let instructions = &module.computations[number].instructions;
            for k in (0..instructions.len()).filter(|k| instructions[*k].opcode == "constant") {
                self.add(module, (number, k), Role::Constant, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Adds the arrays of an instruction that are live for the whole run.
    fn add(
        &self,
        module: &Module,
        (computation, k): (usize, usize),
        role: Role,
        to: &mut Vec<LiveBuffer>,
    ) -> Result<(), Error> {
        let mut frames = self.frames.range((computation, RunsAs::Entry)..=(computation, RunsAs::Body));
        let Some(((_, frame), own)) = frames.next() else { return Ok(()) };
        for (leaf, array) in leaves(&module.computations[computation].instructions[k].shape).into_iter().enumerate() {
            let (Some(footprint), Some(buffer)) = (Footprint::of(array)?, own.of[k][leaf]) else { continue };
            let (space, live) = (array.layout.memory_space, own.buffers[buffer].live);
            let buffer = Buffer { role, made: (k, leaf), footprint, space, live };
            to.push(LiveBuffer { computation, frame: *frame, buffer });
        }
        Ok(())
    }

    /// All buffers of a memory space that are live while the entry is at one instruction: those of the whole run, and
    /// the temporaries beside them. Their padded bytes add up to [`timeline`](Self::timeline).
    ///
    /// # Errors
    /// Bytes that overflow 64 bits.
    pub fn live_buffers(&self, module: &Module, space: u8, at: usize) -> Result<Vec<LiveBuffer>, Error> {
        let mut found = self.whole(module)?;
        found.retain(|own| own.buffer.space == space);
        for moment in self.running(module, space, at) {
            let Moment { computation, frame, .. } = moment;
            let live = self.live_at(&moment, space).cloned();
            found.extend(live.map(|buffer| LiveBuffer { computation, frame, buffer }));
        }
        Ok(found)
    }

    /// The owners of a memory space over the entry's instructions. The bytes of those that are live at an instruction add
    /// up to [`timeline`](Self::timeline).
    ///
    /// # Errors
    /// Bytes that overflow 64 bits.
    pub fn spans(&self, module: &Module, space: u8) -> Result<Vec<Span>, Error> {
        let frame @ (computation, kind) = (self.entry, RunsAs::Entry);
        let (entry, own) = (&module.computations[computation], &self.frames[&frame]);
        let span = |live, own: LiveBuffer| Span { live, bytes: own.buffer.footprint.padded, owner: Some(own) };
        let run = (0, entry.instructions.len() - 1);
        let mut spans: Vec<Span> = self.whole(module)?.into_iter().map(|own| span(run, own)).collect();
        let beside = own.temporaries().zip(&self.beside[&frame]).filter(|(_, beside)| **beside);
        let temporary = |buffer: &Buffer| LiveBuffer { computation, frame: kind, buffer: buffer.clone() };
        spans.extend(beside.map(|(buffer, _)| span(buffer.live, temporary(buffer))));
        spans.retain(|span| span.owner.as_ref().is_some_and(|own| own.buffer.space == space));
        let all = Frames { buffers: &self.frames, timelines: &self.temporaries };
        let left = own.left(&self.beside[&frame]);
        for &(k, until) in &own.calls {
            if let Some(inside) = all.at(entry, own, k, until, &left).get(&space).filter(|inside| inside.bytes > 0) {
                spans.push(Span { owner: None, live: (k, until), bytes: inside.bytes });
            }
        }
        Ok(spans)
    }

    /// The live bytes of a memory space at each instruction of the entry; `None` if the space is unused.
    pub fn timeline(&self, space: u8) -> Option<Vec<i64>> {
        let own = self.spaces.get(&space)?;
        let whole = own.peak - own.temporaries;
        let temporaries = self.live_temporaries(space);
        // No sum is above the peak, which fits.
        let length = self.frames[&(self.entry, RunsAs::Entry)].of.len();
        Some((0..length).map(|k| whole + temporaries.get(k).copied().unwrap_or(0)).collect())
    }

    /// The temporaries of a memory space that are live at each instruction of the entry, with those of called
    /// computations.
    pub(super) fn live_temporaries(&self, space: u8) -> &[i64] {
        self.temporaries[&(self.entry, RunsAs::Entry)].get(&space).map_or(&[], Vec::as_slice)
    }

    /// The running instructions at the peak of a memory space: the entry's first, then those that it runs.
    pub fn peak(&self, module: &Module, space: u8) -> Vec<Moment> {
        self.running(module, space, self.spaces.get(&space).map_or(0, |space| space.at))
    }

    /// The running instructions while the entry is at one: the entry's first, then those that it runs, each at the peak
    /// of its computation. The live temporaries at these moments make up [`timeline`](Self::timeline).
    pub fn running(&self, module: &Module, space: u8, at: usize) -> Vec<Moment> {
        let first = Moment { computation: self.entry, frame: RunsAs::Entry, instruction: at, vacant: Vec::new() };
        let mut found = vec![first];
        let mut next = 0;
        while let Some(Moment { computation, frame, instruction: at, .. }) = found.get(next).cloned() {
            let running = &module.computations[computation];
            let own = &self.frames[&(computation, frame)];
            let calls: Vec<_> = own.calls.iter().filter(|(k, until)| (*k..=*until).contains(&at)).collect();
            let left = if calls.is_empty() { Vec::new() } else { own.left(&self.beside[&(computation, frame)]) };
            for &&(k, until) in &calls {
                let all = Frames { buffers: &self.frames, timelines: &self.temporaries };
                let inside = all.at(running, own, k, until, &left);
                let Some(FramePeak { frame, at, vacant, .. }) = inside.get(&space).cloned() else { continue };
                found[next].vacant.extend(vacant);
                found.push(Moment { computation: frame.0, frame: frame.1, instruction: at, vacant: Vec::new() });
            }
            next += 1;
        }
        found
    }

    /// The temporaries of a memory space that are live at a moment beside the outputs, in its computation alone.
    pub fn live_at<'u>(&'u self, moment: &'u Moment, space: u8) -> impl Iterator<Item = &'u Buffer> {
        let frame = (moment.computation, moment.frame);
        let (at, found) = (moment.instruction, &self.frames[&frame]);
        let vacant: HashSet<*const Buffer> = moment.vacant.iter().map(|k| &raw const found.buffers[*k]).collect();
        let live = move |b: &Buffer| b.space == space && b.live.0 <= at && at <= b.live.1;
        let live =
            found.temporaries().zip(&self.beside[&frame]).filter(move |(buffer, beside)| **beside && live(buffer));
        live.map(|(buffer, _)| buffer).filter(move |buffer| !vacant.contains(&std::ptr::from_ref(*buffer)))
    }
}

impl FrameBuffers {
    /// For each buffer, whether it is a temporary that is `beside` the outputs, by its number among the temporaries.
    fn left(&self, beside: &[bool]) -> Vec<bool> {
        let mut beside = beside.iter();
        let is_temporary = |buffer: &Buffer| buffer.role == Role::Temporary;
        self.buffers.iter().map(|own| is_temporary(own) && beside.next() == Some(&true)).collect()
    }

    /// The buffers that the computation owns.
    pub fn temporaries(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers.iter().filter(|buffer| buffer.role == Role::Temporary).chain(&self.copies)
    }
}

/// The computations with buffers of their own, each after those that it runs.
pub(super) fn frames(module: &Module) -> BTreeSet<(usize, RunsAs)> {
    let mut wanted = BTreeSet::from([(module.entry, RunsAs::Entry)]);
    for number in (0..module.computations.len()).rev() {
        if wanted.range((number, RunsAs::Entry)..=(number, RunsAs::Body)).next().is_some() {
            wanted.extend(module.computations[number].instructions.iter().flat_map(called));
        }
    }
    wanted
}

impl Frames<'_> {
    /// The bytes of a computation's temporaries that are `beside` the outputs, at each instruction, with called
    /// computations.
    pub(super) fn live(
        &self,
        computation: &Computation,
        found: &FrameBuffers,
        beside: &[bool],
    ) -> Result<Timelines, Error> {
        let length = computation.instructions.len();
        let mut changes: BTreeMap<u8, Vec<i128>> = BTreeMap::new();
        let mut add = |space: u8, (first, last): (usize, usize), bytes: i64| {
            let changes = changes.entry(space).or_insert_with(|| vec![0; length + 1]);
            changes[first] += i128::from(bytes);
            changes[last + 1] -= i128::from(bytes);
        };
        for (buffer, _) in found.temporaries().zip(beside).filter(|(_, beside)| **beside) {
            add(buffer.space, buffer.live, buffer.footprint.padded);
        }
        let left = found.left(beside);
        for &(k, until) in &found.calls {
            for (space, inside) in self.at(computation, found, k, until, &left) {
                add(space, (k, until), inside.bytes);
            }
        }
        let sums = |changes: Vec<i128>| {
            let mut live = 0;
            let sum = |change: &i128| {
                live += change;
                i64::try_from(live).map_err(|_| Error::new("the live bytes do not fit in 64 bits").too_large())
            };
            changes[..length].iter().map(sum).collect::<Result<Vec<i64>, Error>>()
        };
        changes.into_iter().map(|(space, changes)| Ok((space, sums(changes)?))).collect()
    }

    /// The peaks of the computations that an instruction runs until another one, beside the temporaries that are
    /// `left`.
    fn at(
        &self,
        computation: &Computation,
        found: &FrameBuffers,
        k: usize,
        until: usize,
        left: &[bool],
    ) -> BTreeMap<u8, FramePeak> {
        let results: HashSet<usize> = found.of[k].iter().copied().flatten().collect();
        let counted = |(instruction, leaf): (usize, usize)| {
            let number = found.of[instruction][leaf].filter(|number| left[*number])?;
            let buffer = &found.buffers[number];
            // An operand that is read later stays live, unless it is also a result.
            (instruction == k || buffer.live.1 == k || results.contains(&number)).then_some((
                number,
                buffer.footprint.padded,
                buffer.space,
            ))
        };
        self.inside(computation, k, until != k, &counted)
    }
}

/// The first index of the largest value, and the value.
pub(super) fn first_most(bytes: &[i64]) -> (usize, i64) {
    bytes.iter().enumerate().fold((0, 0), |most, (k, bytes)| if *bytes > most.1 { (k, *bytes) } else { most })
}
