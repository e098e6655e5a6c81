//! The memory report of a module as data: totals, the peak, the worst tensors, the relayouts, and where they come from.
//!
//! Everything is in bytes of padded arrays where nothing else is said. [`super::screen`] prints it for people.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::hlo::{Computation, Instruction, Module, Source};
use tensor_layout::memory::{self, Buffer, Footprint, Frame, LaneUse, MemoryUse, Moment, Role, Shift};
use tensor_layout::operations::{Array, Operation, leaves};
use tensor_layout::text::Error;
use tensor_layout::targets::Target;
use tensor_layout::tiled::{Layout, memory_space};

/// The memory report of a module.
#[derive(Serialize, JsonSchema)]
pub struct Summary {
    /// The module's name.
    pub module: String,
    /// Whether the text says that instructions run in its order; else the peak is that of this order.
    pub scheduled: bool,
    pub instructions: usize,
    /// The entry's parameters in the main memory.
    pub arguments: Bytes,
    /// The entry's results in the main memory that are in no argument.
    pub outputs: Bytes,
    /// The most bytes of temporaries that are live together in the main memory.
    pub temporaries: i64,
    /// The most bytes that are live together in the main memory.
    pub peak: Peak,
    /// What is live at the peak of the main memory.
    pub padding: Bytes,
    /// Each memory.
    pub spaces: Vec<Memory>,
    /// The tensors that waste most.
    pub worst: Vec<Tensor>,
    /// The instructions that only move bytes to another layout, and copies in the same, those first that move most.
    pub relayouts: Vec<Move>,
    /// The moves between memories that keep the layout: how many, and the bytes that they read and write.
    pub transfers: Transfers,
    /// By lines of the program, those with most live bytes first.
    pub sources: Vec<Origin>,
    /// By `op_name`.
    pub op_names: Vec<Origin>,
}

/// The bytes of the elements, each of its type's size, and those that memory is taken for.
#[derive(Clone, Copy, Default, Serialize, JsonSchema)]
pub struct Bytes {
    pub logical: i64,
    pub padded: i64,
}

impl From<Footprint> for Bytes {
    fn from(Footprint { logical, padded }: Footprint) -> Bytes {
        Bytes { logical, padded }
    }
}

/// One memory.
#[derive(Serialize, JsonSchema)]
pub struct Memory {
    /// The number of the memory space, and its name.
    pub space: u8,
    pub name: String,
    pub arguments: Bytes,
    pub outputs: Bytes,
    pub constants: Bytes,
    pub temporaries: i64,
    pub peak: Peak,
    /// What is live at its peak.
    pub padding: Bytes,
}

/// When most bytes are live.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Peak {
    pub bytes: i64,
    /// The instruction of the entry, and the place in its order, from 0.
    pub instruction: String,
    pub position: usize,
    /// What else is running then, in computations that it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub inside: Vec<String>,
    #[serde(flatten)]
    pub origin: Provenance,
    /// The largest temporaries that are live then.
    pub live: Vec<Live>,
}

/// A temporary that is live at the peak.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Live {
    pub name: String,
    pub shape: String,
    pub bytes: i64,
}

/// Where an instruction comes from.
#[derive(Clone, Default, Serialize, JsonSchema)]
pub struct Provenance {
    /// The file and the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op_name: Option<String>,
}

/// The file and the line of an instruction, and its `op_name`.
pub fn origin(Source { op_name, file, line }: &Source) -> Provenance {
    let line = line.map_or(String::new(), |line| format!(":{line}"));
    Provenance { source: file.as_ref().map(|file| format!("{file}{line}")), op_name: op_name.clone() }
}

/// A tensor with padding.
#[derive(Serialize, JsonSchema)]
pub struct Tensor {
    pub name: String,
    pub computation: String,
    pub shape: String,
    pub kind: Kind,
    pub space: u8,
    #[serde(flatten)]
    pub footprint: Sizes,
    /// The size of the minormost dimension, and the same in whole tiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes: Option<[i64; 2]>,
    /// The same of the second minormost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sublanes: Option<[i64; 2]>,
    /// The layout that takes the fewest bytes, where it takes fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
    #[serde(flatten)]
    pub origin: Provenance,
}

/// The bytes of a tensor.
#[derive(Serialize, JsonSchema)]
pub struct Sizes {
    pub logical_bytes: i64,
    pub padded_bytes: i64,
}

impl From<Footprint> for Sizes {
    fn from(Footprint { logical, padded }: Footprint) -> Sizes {
        Sizes { logical_bytes: logical, padded_bytes: padded }
    }
}

/// What a buffer is for.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A parameter of the entry.
    Argument,
    /// In a result of the entry.
    Output,
    Constant,
    Temporary,
    /// The result lies in the buffer of an earlier instruction.
    Alias,
    /// A parameter or a result of a computation that is run: the caller's buffer.
    Lent,
    /// Inside a fusion, where there are no buffers.
    Fused,
}

impl Kind {
    /// As it is written in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Argument => "argument",
            Kind::Output => "output",
            Kind::Constant => "constant",
            Kind::Temporary => "temporary",
            Kind::Alias => "alias",
            Kind::Lent => "lent",
            Kind::Fused => "fused",
        }
    }

    fn of(role: Role, frame: Frame) -> Kind {
        match (role, frame) {
            (Role::Temporary, _) => Kind::Temporary,
            (Role::Constant, _) => Kind::Constant,
            (Role::Parameter, Frame::Entry) => Kind::Argument,
            (Role::Result, Frame::Entry) => Kind::Output,
            _ => Kind::Lent,
        }
    }
}

/// Another layout.
#[derive(Serialize, JsonSchema)]
pub struct Best {
    pub layout: String,
    pub padded_bytes: i64,
    pub saves: i64,
}

/// An instruction that only moves bytes.
#[derive(Serialize, JsonSchema)]
pub struct Move {
    pub name: String,
    pub computation: String,
    pub opcode: String,
    /// The shape before and after.
    pub from: String,
    pub to: String,
    /// What is read and written.
    pub bytes: i64,
    /// What made the operand: who has the first layout.
    pub producer: String,
    /// What reads the result: who has the second one; the first few.
    pub users: Vec<String>,
    /// What would make it free.
    pub remedy: String,
    #[serde(flatten)]
    pub origin: Provenance,
}

/// Moves of one kind together.
#[derive(Default, Serialize, JsonSchema)]
pub struct Transfers {
    pub count: usize,
    pub bytes: i64,
}

/// What comes from one place of the program.
#[derive(Serialize, JsonSchema)]
pub struct Origin {
    pub name: String,
    /// The bytes of its temporaries and outputs that are live at the peaks of the memories.
    pub live: i64,
    /// The padding of all its buffers, live together or not.
    pub waste: i64,
}

/// The name of a memory space.
pub fn space_name(number: u8) -> String {
    let named = memory_space::NAMED.iter().find(|(_, named)| *named == number);
    named.map_or_else(|| format!("S({number})"), |(name, _)| (*name).to_string())
}

/// A module with its buffers.
pub struct Report<'m> {
    module: &'m Module,
    used: MemoryUse,
    /// The machine whose layouts are compared.
    target: &'m Target,
}

/// A buffer of a program with the instruction that makes it.
struct Owned<'m> {
    /// The computation, the instruction in it, and the leaf of its result.
    place: (usize, (usize, usize)),
    frame: Frame,
    computation: &'m Computation,
    instruction: &'m Instruction,
    array: &'m Array,
    role: Role,
    footprint: Footprint,
}

impl<'m> Report<'m> {
    /// # Errors
    /// An attribute about aliases is invalid; 64 bits do not hold the bytes.
    pub fn new(module: &'m Module, target: &'m Target) -> Result<Report<'m>, Error> {
        Ok(Report { module, used: MemoryUse::of(module)?, target })
    }

    /// The live bytes of a memory at each instruction of the entry, with their names.
    pub fn timeline(&self, space: u8) -> Vec<(&'m str, i64)> {
        let names = self.module.computations[self.module.entry].instructions.iter().map(|i| &*i.name);
        names.zip(self.used.timeline(space).unwrap_or_default()).collect()
    }

    /// The report, with at most `top` entries in each list.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes.
    pub fn summary(&self, top: usize) -> Result<Summary, Error> {
        let spaces: Vec<Memory> = self.used.spaces.keys().map(|space| self.memory(*space)).collect::<Result<_, _>>()?;
        let main = spaces.iter().find(|memory| memory.space == 0);
        let of_main = |get: fn(&Memory) -> Bytes| main.map_or(Bytes::default(), get);
        let owned = self.owned();
        let (relayouts, transfers) = self.moves(top)?;
        let (sources, op_names) = self.origins(&owned, top);
        Ok(Summary {
            module: self.module.name.clone(),
            scheduled: self.used.is_scheduled,
            instructions: self.module.computations.iter().map(|c| c.instructions.len()).sum(),
            arguments: of_main(|memory| memory.arguments),
            outputs: of_main(|memory| memory.outputs),
            temporaries: main.map_or(0, |memory| memory.temporaries),
            peak: main.map_or_else(|| self.peak(0), |memory| memory.peak.clone()),
            padding: of_main(|memory| memory.padding),
            worst: worst(owned, self.target, top),
            spaces,
            relayouts,
            transfers,
            sources,
            op_names,
        })
    }

    fn memory(&self, space: u8) -> Result<Memory, Error> {
        let own = &self.used.spaces[&space];
        let mut padding = own.arguments.plus(own.outputs)?.plus(own.constants)?;
        for moment in self.used.peak(self.module, space) {
            for buffer in self.used.live_at(&moment, space) {
                padding = padding.plus(buffer.footprint)?;
            }
        }
        Ok(Memory {
            space,
            name: space_name(space),
            arguments: own.arguments.into(),
            outputs: own.outputs.into(),
            constants: own.constants.into(),
            temporaries: own.temporaries,
            peak: self.peak(space),
            padding: padding.into(),
        })
    }

    fn at(&self, moment: &Moment) -> (&'m Computation, &'m Instruction) {
        let computation = &self.module.computations[moment.computation];
        (computation, &computation.instructions[moment.instruction])
    }

    fn peak(&self, space: u8) -> Peak {
        /// How many live temporaries are named.
        const NAMED: usize = 3;
        let moments = self.used.peak(self.module, space);
        let (_, running) = self.at(&moments[0]);
        let inside = |moment: &Moment| {
            let (computation, instruction) = self.at(moment);
            format!("{} in {}", instruction.name, computation.name)
        };
        let mut live: Vec<(&Computation, &Buffer)> = Vec::new();
        for moment in &moments {
            let computation = &self.module.computations[moment.computation];
            live.extend(self.used.live_at(moment, space).map(|buffer| (computation, buffer)));
        }
        live.sort_by_key(|(_, buffer)| -buffer.footprint.padded);
        let named = |(computation, buffer): &(&Computation, &Buffer)| {
            let made = &computation.instructions[buffer.made.0];
            let shape = leaves(&made.shape)[buffer.made.1].to_string();
            Live { name: made.name.clone(), shape, bytes: buffer.footprint.padded }
        };
        Peak {
            bytes: self.used.spaces.get(&space).map_or(0, |own| own.peak),
            instruction: running.name.clone(),
            position: moments[0].instruction,
            inside: moments[1..].iter().map(inside).collect(),
            origin: origin(&running.source),
            live: live.iter().take(NAMED).map(named).collect(),
        }
    }

    /// The buffers that the program has: those of a computation that runs in two ways once.
    fn owned(&self) -> Vec<Owned<'m>> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for ((number, frame), buffers) in &self.used.frames {
            let computation = &self.module.computations[*number];
            for buffer in buffers.buffers.iter().chain(&buffers.copies) {
                if Kind::of(buffer.role, *frame) == Kind::Lent || !seen.insert((*number, buffer.made)) {
                    continue;
                }
                let instruction = &computation.instructions[buffer.made.0];
                let array = leaves(&instruction.shape)[buffer.made.1];
                let (role, footprint) = (buffer.role, buffer.footprint);
                let place = (*number, buffer.made);
                found.push(Owned { place, frame: *frame, computation, instruction, array, role, footprint });
            }
        }
        found
    }

    /// The relayouts and copies, and the moves between memories.
    fn moves(&self, top: usize) -> Result<(Vec<Move>, Transfers), Error> {
        let mut found = Vec::new();
        let mut transfers = Transfers::default();
        let computations: BTreeSet<usize> = self.used.frames.keys().map(|(number, _)| *number).collect();
        for number in computations {
            let computation = &self.module.computations[number];
            for (k, instruction) in computation.instructions.iter().enumerate() {
                let Some(moved) = memory::relayout(computation, instruction)? else { continue };
                if let Shift::Space { .. } = moved.shift {
                    transfers.count += 1;
                    transfers.bytes = transfers.bytes.saturating_add(moved.moved.padded);
                } else {
                    found.push((number, k, moved));
                }
            }
        }
        found.sort_by_key(|(_, _, moved)| -moved.moved.padded);
        let all = found.iter().take(top).map(|(number, k, moved)| self.moved(*number, *k, moved)).collect();
        Ok((all, transfers))
    }

    fn moved(&self, number: usize, k: usize, moved: &memory::Relayout) -> Move {
        /// How many users are named.
        const NAMED: usize = 3;
        let computation = &self.module.computations[number];
        let instruction = &computation.instructions[k];
        let made = maker(computation, instruction.operands[0]);
        let users = users(computation, k);
        let named = |k: usize| format!("{} ({})", computation.instructions[k].name, computation.instructions[k].opcode);
        let ends = computation.root == k || users.contains(&computation.root);
        let is_entry = number == self.module.entry;
        let (from, to) = &*moved.arrays;
        let remedy = if moved.shift == Shift::Same {
            "the layout is the same: a copy in time or for a buffer that is written".to_string()
        } else if is_entry && computation.instructions[made].opcode == "parameter" && instruction.opcode == "copy" {
            format!("free if the argument {} is {}", computation.instructions[made].name, to.layout)
        } else if let (true, true, Some(free)) = (is_entry, ends, &moved.free) {
            format!("free if the output is {free}")
        } else if let Some(free) = &moved.free {
            format!("free if its users take {free}")
        } else {
            "no layout of the result was found that makes it free".to_string()
        };
        Move {
            name: instruction.name.clone(),
            computation: computation.name.clone(),
            opcode: instruction.opcode.clone(),
            from: from.to_string(),
            to: to.to_string(),
            bytes: moved.moved.padded,
            producer: named(made),
            users: users.iter().take(NAMED).map(|k| named(*k)).collect(),
            remedy,
            origin: origin(&instruction.source),
        }
    }

    /// The buffers by where they come from: by source line, and by `op_name`.
    fn origins(&self, owned: &[Owned], top: usize) -> (Vec<Origin>, Vec<Origin>) {
        let mut live: BTreeMap<(usize, (usize, usize)), i64> = BTreeMap::new();
        for space in self.used.spaces.keys() {
            for moment in self.used.peak(self.module, *space) {
                for buffer in self.used.live_at(&moment, *space) {
                    live.insert((moment.computation, buffer.made), buffer.footprint.padded);
                }
            }
        }
        let mut all = [BTreeMap::<String, (i64, i64)>::new(), BTreeMap::new()];
        for buffer in owned.iter().filter(|buffer| matches!(buffer.role, Role::Temporary | Role::Result)) {
            let at_peak = match buffer.role {
                Role::Result => Some(buffer.footprint.padded),
                _ => live.get(&buffer.place).copied(),
            };
            let Provenance { source, op_name } = origin(&buffer.instruction.source);
            for (of, name) in all.iter_mut().zip([source, op_name]) {
                let sum = of.entry(name.unwrap_or_else(|| "unknown".to_string())).or_default();
                sum.0 = sum.0.saturating_add(at_peak.unwrap_or(0));
                sum.1 = sum.1.saturating_add(buffer.footprint.waste());
            }
        }
        let [sources, op_names] = all.map(|of| {
            let mut of: Vec<Origin> =
                of.into_iter().map(|(name, (live, waste))| Origin { name, live, waste }).collect();
            of.sort_by_key(|origin| (-origin.live, -origin.waste));
            of.truncate(top);
            of
        });
        (sources, op_names)
    }
}

/// The tensors that waste most, and the layouts of a machine that waste less.
fn worst(mut owned: Vec<Owned>, target: &Target, top: usize) -> Vec<Tensor> {
    owned.retain(|buffer| buffer.footprint.waste() > 0);
    owned.sort_by_key(|buffer| -buffer.footprint.waste());
    let tensor = |buffer: &Owned| {
        let used = LaneUse::of(buffer.array);
        let pair = |(used, of): (i64, i64)| [used, of];
        Tensor {
            name: buffer.instruction.name.clone(),
            computation: buffer.computation.name.clone(),
            shape: buffer.array.to_string(),
            kind: Kind::of(buffer.role, buffer.frame),
            space: buffer.array.layout.memory_space,
            footprint: buffer.footprint.into(),
            lanes: used.map(|used| pair(used.lanes)),
            sublanes: used.and_then(|used| used.sublanes).map(pair),
            best: best(buffer.array, buffer.footprint, target),
            origin: origin(&buffer.instruction.source),
        }
    };
    owned.iter().take(top).map(tensor).collect()
}

/// The layout of a machine that takes the fewest bytes, where an array has tiles and takes more.
fn best(array: &Array, taken: Footprint, target: &Target) -> Option<Best> {
    let sizes = array.sizes().filter(|_| array.layout.is_tiled())?;
    // An array that no layout of the machine fits has none that is better.
    let least = target.layouts(array.element, &sizes).ok()?.into_iter().next()?;
    let layout = Layout { memory_space: array.layout.memory_space, ..least.layout };
    let saves = taken.padded.saturating_sub(least.padded_bytes);
    (saves > 0).then(|| Best { layout: layout.to_string(), padded_bytes: least.padded_bytes, saves })
}

/// The instruction that makes a value: behind other names for it, and the end of an asynchronous pair.
fn maker(computation: &Computation, mut k: usize) -> usize {
    loop {
        let instruction = &computation.instructions[k];
        let next = match (&instruction.operation, instruction.operands.first()) {
            (Operation::Bitcast, Some(operand)) => *operand,
            (Operation::GetTupleElement { .. }, Some(operand)) if instruction.opcode.ends_with("-done") => {
                computation.instructions[*operand].operands.first().copied().unwrap_or(*operand)
            }
            (Operation::GetTupleElement { index }, Some(tuple)) => {
                match &computation.instructions[*tuple].operation {
                    Operation::Tuple => computation.instructions[*tuple].operands[*index],
                    _ => return k,
                }
            }
            _ => return k,
        };
        k = next;
    }
}

/// The instructions that read a value, behind other names for it.
fn users(computation: &Computation, k: usize) -> Vec<usize> {
    let mut names = BTreeSet::from([k]);
    let mut found = Vec::new();
    for (user, instruction) in computation.instructions.iter().enumerate().skip(k + 1) {
        if !instruction.operands.iter().any(|operand| names.contains(operand)) {
            continue;
        }
        let passes = matches!(instruction.operation, Operation::Bitcast) || instruction.opcode.ends_with("-done");
        if passes && user != computation.root {
            names.insert(user);
        } else {
            found.push(user);
        }
    }
    found
}

/// What the first buffer of each instruction's result is for, by computation; none where 64 bits do not hold the bytes.
pub fn kinds(module: &Module) -> Option<Vec<Vec<Option<Kind>>>> {
    let used = MemoryUse::of(module).ok()?;
    let fused = |computation: &Computation| vec![Some(Kind::Fused); computation.instructions.len()];
    let mut all: Vec<Vec<Option<Kind>>> = module.computations.iter().map(fused).collect();
    for ((number, frame), buffers) in &used.frames {
        for (k, of) in buffers.of.iter().enumerate() {
            all[*number][k] = of.iter().flatten().next().map(|buffer| {
                let buffer = &buffers.buffers[*buffer];
                if buffer.live.0 == k || buffer.made.0 == k { Kind::of(buffer.role, *frame) } else { Kind::Alias }
            });
        }
    }
    Some(all)
}
