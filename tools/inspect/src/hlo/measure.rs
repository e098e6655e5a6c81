//! Measures and ranks the memory report of a module.

use super::origins::{Origins, Provenance};
use super::summary::{
    Bytes, Kind, Listed, LiveTensor, Memory, Move, OrderAnswer, Peak, Share, Summary, Tensor, Transfers, space_name,
};
use crate::advice::{Advised, shard};
use crate::schedule::{OrderPeaks, ScheduleOption};
use layout_plan::memory::{self, Footprint, LaneUse, LiveBuffer, MemoryUse, Moment, RelayoutKind, Role, RunsAs};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::{Array, Operation, leaves};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// A module with its buffers.
pub struct Report<'m> {
    module: &'m Module,
    used: MemoryUse,
    origins: Origins<'m>,
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

/// A tensor in the order of bytes.
pub struct RankedTensor {
    pub tensor: Tensor,
    /// Whether it is one of the `top` largest tensors or of the `top` with most padding.
    pub is_top: bool,
}

impl<'m> Report<'m> {
    /// # Errors
    /// An attribute about aliases is invalid; 64 bits do not hold the bytes.
    pub fn new(module: &'m Module, target: &'m Target) -> Result<Report<'m>, Error> {
        let (used, origins) = (MemoryUse::of(module)?, Origins::of(module));
        Ok(Report { module, used, origins, target, order: None })
    }

    /// The report of a module in another order than the file's; `order` has the file's peaks, and the bounds.
    pub fn with_order_peaks(self, order: Option<OrderPeaks>) -> Report<'m> {
        Report { order, ..self }
    }

    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// The buffers of the module, and when they are live.
    pub fn used(&self) -> &MemoryUse {
        &self.used
    }

    /// Where the instructions come from.
    pub fn origins(&self) -> &Origins<'m> {
        &self.origins
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
        let spaces: Vec<Memory> =
            self.used.spaces.keys().map(|space| self.memory(*space, top)).collect::<Result<_, _>>()?;
        let main = spaces.iter().find(|memory| memory.space == 0);
        let of_main = |get: fn(&Memory) -> Bytes| main.map_or(Bytes::default(), get);
        let owned = self.owned();
        let (relayouts, transfers) = self.moves(top)?;
        Ok(Summary {
            module: self.module.name.clone(),
            scheduled: self.used.is_scheduled,
            schedule: if self.order.is_some() { ScheduleOption::LeastMemory } else { ScheduleOption::File },
            instructions: self.module.computations.iter().map(|c| c.instructions.len()).sum(),
            arguments: of_main(|memory| memory.arguments),
            outputs: of_main(|memory| memory.outputs),
            temporaries: main.map_or(0, |memory| memory.temporaries),
            peak: main.map_or_else(|| self.peak(0, &[], top), |memory| memory.peak.clone()),
            live_at_peak: of_main(|memory| memory.live_at_peak),
            advice: Vec::new(),
            replicated: Vec::new(),
            worst: self.worst(owned, top),
            spaces,
            relayouts,
            transfers,
            warnings: self.module.warning_messages(),
        })
    }

    /// The report with what lowers the peak.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes of the module or of a changed one.
    pub fn advised(&self, top: usize) -> Result<Summary, Error> {
        let (module, target, used, origins) = (self.module, self.target, &self.used, &self.origins);
        let at = used.spaces.get(&0).map_or(0, |own| own.at);
        let live = used.live_buffers(module, 0, at)?;
        let advised = Advised { module, target, used, origins, live: &live };
        let (advice, mut replicated) = (advised.advice(top)?, shard::replicated(&advised)?);
        replicated.truncate(top);
        Ok(Summary { advice, replicated, ..self.summary(top)? })
    }

    fn memory(&self, space: u8, top: usize) -> Result<Memory, Error> {
        let own = &self.used.spaces[&space];
        let live = self.used.live_buffers(self.module, space, own.at)?;
        let sum = |sum: Footprint, own: &LiveBuffer| sum.plus(own.buffer.footprint);
        let live_at_peak = live.iter().try_fold(Footprint::default(), sum)?;
        Ok(Memory {
            space,
            name: space_name(space),
            arguments: own.arguments.into(),
            outputs: own.outputs.into(),
            constants: own.constants.into(),
            temporaries: own.temporaries,
            tables: own.tables,
            inner_tables: own.inner_tables,
            peak: self.peak(space, &live, top),
            order: self
                .order
                .as_ref()
                .and_then(|peaks| peaks.get(&space))
                .map(|[file, bound]| OrderAnswer { file: *file, bound: *bound }),
            live_at_peak: live_at_peak.into(),
        })
    }

    /// The `most` largest tensors of the program and all that are top, largest first; the number of those that are not
    /// top, and their bytes.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes of the others.
    pub fn tensors(&self, top: usize, most: usize) -> Result<(Vec<RankedTensor>, usize, Bytes), Error> {
        let mut owned = self.owned();
        owned.sort_by_key(|buffer| -buffer.footprint.waste());
        let mut ranked: Vec<(usize, DefinedBuffer)> = owned.into_iter().enumerate().collect();
        ranked.sort_by_key(|(_, buffer)| -buffer.footprint.padded);
        let mut named = Vec::new();
        let (mut others, mut rest) = (0, Footprint::default());
        for (place, (waste, buffer)) in ranked.iter().enumerate() {
            let is_top = place < top || *waste < top && buffer.footprint.waste() > 0;
            if is_top || place < most {
                named.push(RankedTensor { tensor: self.tensor(buffer), is_top });
            }
            if !is_top {
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
        self.worst(owned, 1).pop()
    }

    fn at(&self, moment: &Moment) -> (&'m Computation, &'m Instruction) {
        let computation = &self.module.computations[moment.computation];
        (computation, &computation.instructions[moment.instruction])
    }

    fn peak(&self, space: u8, live: &[LiveBuffer], top: usize) -> Peak {
        let moments = self.used.peak(self.module, space);
        let (_, running) = self.at(&moments[0]);
        let inside = |moment: &Moment| {
            let (computation, instruction) = self.at(moment);
            format!("{} in {}", instruction.name, computation.name)
        };
        let has_tiles = live.iter().any(|own| self.array(own).layout.is_tiled());
        let memory = self.target.machine().memories.iter().rfind(|memory| has_tiles && memory.space == space);
        let line = |origin: Provenance| origin.source.or(origin.op_name);
        let scope = |origin: Provenance| {
            let name = origin.op_name.or(origin.source)?;
            Some(name.rsplit_once('/').map_or(&*name, |(scope, _)| scope).to_string())
        };
        Peak {
            bytes: self.used.spaces.get(&space).map_or(0, |own| own.peak),
            instruction: running.name.clone(),
            position: moments[0].instruction,
            inside: moments[1..].iter().map(inside).collect(),
            origin: self.origins.get(running, (moments[0].computation, moments[0].instruction)),
            capacity: memory.map(|memory| memory.bytes),
            buffers: Listed::new(live.iter().collect(), |own: &&LiveBuffer| own.buffer.footprint.padded, top)
                .map(|own| self.live(own)),
            lines: self.shares(live, line, top),
            scopes: self.shares(live, scope, top),
        }
    }

    fn array(&self, own: &LiveBuffer) -> &'m Array {
        let (k, leaf) = own.buffer.made;
        leaves(&self.module.computations[own.computation].instructions[k].shape)[leaf]
    }

    /// A live buffer as a row of the report.
    pub fn live(&self, own: &LiveBuffer) -> LiveTensor {
        let computation = &self.module.computations[own.computation];
        let (made, last_read) = own.buffer.live;
        let instruction = &computation.instructions[own.buffer.made.0];
        LiveTensor {
            name: instruction.name.clone(),
            computation: computation.name.clone(),
            opcode: instruction.opcode.clone(),
            shape: self.array(own).to_string(),
            kind: Kind::of(own.buffer.role, own.frame),
            footprint: own.buffer.footprint.into(),
            made,
            last_read,
            reader: computation.instructions[last_read].name.clone(),
            origin: self.origins.get(instruction, (own.computation, own.buffer.made.0)),
        }
    }

    /// The live buffers by what `name` says of their origins.
    fn shares(&self, live: &[LiveBuffer], name: impl Fn(Provenance) -> Option<String>, top: usize) -> Listed<Share> {
        let mut all: BTreeMap<String, Share> = BTreeMap::new();
        for own in live {
            let k = own.buffer.made.0;
            let instruction = &self.module.computations[own.computation].instructions[k];
            let kind = Kind::of(own.buffer.role, own.frame);
            let name = match kind {
                Kind::Argument => "arguments".to_string(),
                _ => name(self.origins.get(instruction, (own.computation, k))).unwrap_or_else(|| "unknown".to_string()),
            };
            let (bytes, kinds) = (Bytes::default(), Vec::new());
            let share =
                all.entry(name).or_insert_with_key(|name| Share { name: name.clone(), buffers: 0, bytes, kinds });
            share.buffers += 1;
            if !share.kinds.contains(&kind) {
                share.kinds.push(kind);
            }
            // Both sums are at most those of all that is live, which fit.
            share.bytes.logical += own.buffer.footprint.logical;
            share.bytes.padded += own.buffer.footprint.padded;
        }
        Listed::new(all.into_values().collect(), |share: &Share| share.bytes.padded, top)
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
                for fused in instruction.called.iter().filter(|_| instruction.opcode == "fusion") {
                    let inside = memory::fused_relayouts(&self.module.computations[*fused])?;
                    found.extend(inside.into_iter().map(|(k, moved)| (*fused, k, moved)));
                }
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
        let (from, to) = &*moved.arrays;
        Move {
            name: instruction.name.clone(),
            computation: computation.name.clone(),
            opcode: instruction.opcode.clone(),
            from: from.to_string(),
            to: to.to_string(),
            bytes: moved.moved.padded,
            producer: named(made),
            users: users.iter().take(NAMED).map(|k| named(*k)).collect(),
            origin: self.origins.get(instruction, (number, k)),
        }
    }

    /// The tensors that waste most, and the layouts of the machine that waste less.
    fn worst(&self, mut owned: Vec<DefinedBuffer>, top: usize) -> Vec<Tensor> {
        owned.retain(|buffer| buffer.footprint.waste() > 0);
        owned.sort_by_key(|buffer| -buffer.footprint.waste());
        owned.iter().take(top).map(|buffer| self.tensor(buffer)).collect()
    }

    /// A buffer as a row of the report.
    fn tensor(&self, buffer: &DefinedBuffer) -> Tensor {
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
            origin: self.origins.get(buffer.instruction, (buffer.place.0, buffer.place.1.0)),
        }
    }
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
