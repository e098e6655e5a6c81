//! Measures and ranks the memory report of a module.

use super::summary::{
    Best, Bytes, Kind, Live, Memory, Move, OrderAnswer, Origin, Peak, Provenance, Summary, Tensor, Transfers,
    provenance, space_name,
};
use crate::schedule::{OrderPeaks, ScheduleOption};
use layout_plan::memory::{self, Buffer, Footprint, LaneUse, MemoryUse, Moment, RelayoutKind, Role, RunsAs};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::{Array, Operation, leaves};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;
use tensor_layout::tiled::Layout;

/// A module with its buffers.
pub struct Report<'m> {
    module: &'m Module,
    used: MemoryUse,
    /// The machine whose layouts are compared.
    target: &'m Target,
    /// The peaks in the order of the file and the bounds for all orders, where the module is in another order.
    order: Option<OrderPeaks>,
}

/// A buffer of a program with the instruction that makes it.
struct DefinedBuffer<'m> {
    /// The computation, the instruction in it, and the leaf of its result.
    place: (usize, (usize, usize)),
    frame: RunsAs,
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
        Ok(Report { module, used: MemoryUse::of(module)?, target, order: None })
    }

    /// The report of a module in another order than the file's; `order` has the file's peaks, and the bounds.
    pub fn with_order_peaks(self, order: Option<OrderPeaks>) -> Report<'m> {
        Report { order, ..self }
    }

    /// The buffers of the module, and when they are live.
    pub fn used(&self) -> &MemoryUse {
        &self.used
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
            schedule: if self.order.is_some() { ScheduleOption::LeastMemory } else { ScheduleOption::File },
            instructions: self.module.computations.iter().map(|c| c.instructions.len()).sum(),
            arguments: of_main(|memory| memory.arguments),
            outputs: of_main(|memory| memory.outputs),
            temporaries: main.map_or(0, |memory| memory.temporaries),
            peak: main.map_or_else(|| self.peak(0), |memory| memory.peak.clone()),
            live_at_peak: of_main(|memory| memory.live_at_peak),
            worst: worst(owned, self.target, top),
            spaces,
            relayouts,
            transfers,
            sources,
            op_names,
            warnings: self.module.warning_messages(),
        })
    }

    fn memory(&self, space: u8) -> Result<Memory, Error> {
        let own = &self.used.spaces[&space];
        let mut live_at_peak = own.arguments.plus(own.outputs)?.plus(own.constants)?;
        for moment in self.used.peak(self.module, space) {
            for buffer in self.used.live_at(&moment, space) {
                live_at_peak = live_at_peak.plus(buffer.footprint)?;
            }
        }
        Ok(Memory {
            space,
            name: space_name(space),
            arguments: own.arguments.into(),
            outputs: own.outputs.into(),
            constants: own.constants.into(),
            temporaries: own.temporaries,
            tables: own.tables,
            inner_tables: own.inner_tables,
            peak: self.peak(space),
            order: self
                .order
                .as_ref()
                .and_then(|peaks| peaks.get(&space))
                .map(|[file, bound]| OrderAnswer { file: *file, bound: *bound }),
            live_at_peak: live_at_peak.into(),
        })
    }

    /// The tensors of the program: the `top` largest and the `top` with most padding, largest first; the number of the
    /// others, and their bytes.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes of the others.
    pub fn tensors(&self, top: usize) -> Result<(Vec<Tensor>, usize, Bytes), Error> {
        let mut owned = self.owned();
        owned.sort_by_key(|buffer| -buffer.footprint.waste());
        let mut ranked: Vec<(usize, DefinedBuffer)> = owned.into_iter().enumerate().collect();
        ranked.sort_by_key(|(_, buffer)| -buffer.footprint.padded);
        let mut named = Vec::new();
        let (mut others, mut rest) = (0, Footprint::default());
        for (place, (waste, buffer)) in ranked.iter().enumerate() {
            if place < top || *waste < top && buffer.footprint.waste() > 0 {
                named.push(tensor_row(buffer, self.target));
            } else {
                others += 1;
                rest = rest.plus(buffer.footprint)?;
            }
        }
        Ok((named, others, rest.into()))
    }

    /// The tensor with most padding among those live at the peak of a memory; `None` where none has any.
    pub fn most_padded(&self, space: u8) -> Option<Tensor> {
        let mut live = BTreeSet::new();
        for moment in self.used.peak(self.module, space) {
            live.extend(self.used.live_at(&moment, space).map(|buffer| (moment.computation, buffer.made)));
        }
        let mut owned = self.owned();
        owned.retain(|buffer| {
            let always = !matches!(buffer.role, Role::Temporary);
            buffer.array.layout.memory_space == space && (always || live.contains(&buffer.place))
        });
        worst(owned, self.target, 1).pop()
    }

    fn at(&self, moment: &Moment) -> (&'m Computation, &'m Instruction) {
        let computation = &self.module.computations[moment.computation];
        (computation, &computation.instructions[moment.instruction])
    }

    fn peak(&self, space: u8) -> Peak {
        /// How many live temporaries are named.
        const NAMED: usize = 2;
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
            origin: provenance(&running.source),
            live: live.iter().take(NAMED).map(named).collect(),
        }
    }

    /// The buffers of the program; a computation that runs in two ways counts once.
    fn owned(&self) -> Vec<DefinedBuffer<'m>> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for ((number, frame), buffers) in &self.used.frames {
            let computation = &self.module.computations[*number];
            // A tuple of many parts has as many buffers.
            let mut arrays: HashMap<usize, Vec<&Array>> = HashMap::new();
            for buffer in buffers.buffers.iter().chain(&buffers.copies) {
                if Kind::of(buffer.role, *frame) == Kind::Lent || !seen.insert((*number, buffer.made)) {
                    continue;
                }
                let instruction = &computation.instructions[buffer.made.0];
                let array = arrays.entry(buffer.made.0).or_insert_with(|| leaves(&instruction.shape))[buffer.made.1];
                let (role, footprint) = (buffer.role, buffer.footprint);
                let place = (*number, buffer.made);
                found.push(DefinedBuffer { place, frame: *frame, computation, instruction, array, role, footprint });
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
                if let RelayoutKind::Space { .. } = moved.kind {
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
        let spaces = (from.layout.memory_space, to.layout.memory_space);
        let free = match spaces.0 == spaces.1 {
            true => "free".to_string(),
            false => format!("only a move to {}", space_name(spaces.1)),
        };
        let is_argument = is_entry && computation.instructions[made].opcode == "parameter";
        let remedy = if moved.kind == RelayoutKind::Same {
            "the layout is the same: a copy in time, or for a buffer that is written".to_string()
        } else if is_argument && instruction.opcode.starts_with("copy") {
            let layout = Layout { memory_space: spaces.0, ..to.layout.clone() };
            format!("{free} if the argument {} is {layout}", computation.instructions[made].name)
        } else if let Some(layout) = &moved.free {
            let who = if is_entry && ends { "the output is" } else { "its users take" };
            format!("{free} if {who} {layout}")
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
            origin: provenance(&instruction.source),
        }
    }

    /// The buffers grouped by source line, and by `op_name`.
    fn origins(&self, owned: &[DefinedBuffer], top: usize) -> (Vec<Origin>, Vec<Origin>) {
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
            let Provenance { source, op_name } = provenance(&buffer.instruction.source);
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
fn worst(mut owned: Vec<DefinedBuffer>, target: &Target, top: usize) -> Vec<Tensor> {
    owned.retain(|buffer| buffer.footprint.waste() > 0);
    owned.sort_by_key(|buffer| -buffer.footprint.waste());
    owned.iter().take(top).map(|buffer| tensor_row(buffer, target)).collect()
}

/// A buffer as a row of the report.
fn tensor_row(buffer: &DefinedBuffer, target: &Target) -> Tensor {
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
        origin: provenance(&buffer.instruction.source),
    }
}

/// The layout of a machine that takes the fewest bytes, where an array has tiles and takes more.
fn best(array: &Array, taken: Footprint, target: &Target) -> Option<Best> {
    let sizes = array.sizes().filter(|_| array.layout.is_tiled())?;
    // An array that fits no layout of the machine has no better one.
    let least = target.layouts(array.element, &sizes).ok()?.into_iter().next()?;
    let layout = Layout { memory_space: array.layout.memory_space, ..least.layout };
    let saves = taken.padded.saturating_sub(least.padded_bytes);
    (saves > 0).then(|| Best { layout: layout.to_string(), padded_bytes: least.padded_bytes, saves })
}

/// The instruction that defines a value, behind bitcasts and the end of an asynchronous pair.
pub fn maker(computation: &Computation, mut k: usize) -> usize {
    loop {
        let instruction = &computation.instructions[k];
        let next = match (&instruction.operation, instruction.operands.first()) {
            (Operation::Bitcast, Some(operand)) => *operand,
            (Operation::GetTupleElement { .. }, Some(operand)) if instruction.opcode.ends_with("-done") => {
                computation.instructions[*operand].operands.first().copied().unwrap_or(*operand)
            }
            (Operation::GetTupleElement { index }, Some(tuple)) => match &computation.instructions[*tuple].operation {
                Operation::Tuple => computation.instructions[*tuple].operands[*index],
                _ => return k,
            },
            _ => return k,
        };
        k = next;
    }
}

/// The users of a value and of its aliases.
pub fn users(computation: &Computation, k: usize) -> Vec<usize> {
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

/// The use of the first buffer of each instruction's result, by computation; none where 64 bits do not hold the bytes.
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
