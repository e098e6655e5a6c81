//! Advice: changes of a program that lower its peak, each with the bytes that it saves, its cost, and the JAX code that
//! does it.
//!
//! A [`Candidate`] is a change of the module. The memory of the changed module is counted as that of the program is, so
//! `saves` is the fall of the peak of the main memory and not the bytes of a tensor:
//!
//! ```text
//! t = f32[1000,300] parameter(0)          4 buffers at the peak, t among them
//! donate t                                the output takes its memory: the peak falls by one
//! ```
//!
//! Candidates are tried from the one whose buffers are largest at the peak, until no other can be among the `top`: none
//! saves more than its buffers take. Of changes that exclude each other, because they are of one kind or a donation and a
//! layout, and about one buffer, the one that saves most is told.
//!
//! | file | kind |
//! |---|---|
//! | `donate` | an argument whose memory an output takes |
//! | `layouts` | another layout of an argument or an output, or of both together |
//! | `narrow` | a smaller element type |
//! | `order` | another order of dimensions in the source |
//! | `recompute` | values that the backward pass makes again |
//! | `shard` | not counted: arguments that are replicated over devices |
//! | `price` | what a change costs |
//!
//! A program that has no schedule has none of this: its peak is not XLA's.

mod donate;
mod layouts;
mod narrow;
mod order;
mod price;
mod recompute;
pub mod shard;

use crate::hlo::origins::{Origins, Provenance};
use layout_plan::memory::{Buffer, FrameBuffers, LiveBuffer, MemoryUse, Role, RunsAs};
use price::Prices;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::{Array, Operation, Shape, leaves};
use tensor_layout::targets::Target;
use tensor_layout::text::Error;

/// A change that lowers the peak of the main memory.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Advice {
    pub kind: AdviceKind,
    /// The change in words.
    pub change: String,
    /// The JAX code that does it.
    pub code: String,
    /// By how many bytes the peak falls, and the peak then.
    pub saves: i64,
    pub peak: i64,
    /// The additional cost of one run, in the machine's unit; less than 0 where a run costs less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<i64>,
    pub unit: String,
    /// The tensors that it is about.
    pub tensors: Vec<String>,
    /// The ends of the program that it lays out otherwise.
    #[serde(skip)]
    #[schemars(skip)]
    pub ends: Vec<AdvisedEnd>,
    #[serde(flatten)]
    pub origin: Provenance,
}

/// An argument or a result of the program, by its number, in another layout.
#[derive(Clone, Debug)]
pub struct AdvisedEnd {
    pub is_result: bool,
    pub number: usize,
    pub layout: String,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AdviceKind {
    Donate,
    Layout,
    Order,
    Type,
    Recompute,
}

impl AdviceKind {
    /// The kind that a change of this kind excludes for the same buffer.
    fn excludes(self) -> AdviceKind {
        if self == AdviceKind::Donate { AdviceKind::Layout } else { self }
    }
}

/// A buffer: its computation, and the instruction and the leaf that make it.
type BufferPlace = (usize, (usize, usize));

/// A change that may lower the peak.
struct Candidate<'p> {
    kind: AdviceKind,
    change: String,
    code: String,
    /// The buffers that change, and those that take part.
    things: BTreeSet<BufferPlace>,
    ends: Vec<AdvisedEnd>,
    origin: Provenance,
    /// Makes the changed module; `None` where it cannot be.
    changed: Box<dyn Fn() -> Option<Module> + 'p>,
}

/// A program whose memory is to be lowered.
pub struct Advised<'m> {
    pub module: &'m Module,
    pub target: &'m Target,
    pub used: &'m MemoryUse,
    pub origins: &'m Origins<'m>,
    /// The buffers that are live at the peak of the main memory.
    pub live: &'m [LiveBuffer],
}

/// How many candidates are tried; of a long program fewer.
const TRIED: usize = 24;
const TRIED_OF_LONG: usize = 4;
const LONG: usize = 10_000;

/// The least saving and the least padding that are reported, as a part of the peak.
pub const LEAST_PART: i64 = 1000;

impl<'m> Advised<'m> {
    /// At most `top` changes, those that save most first.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes of a changed module.
    pub fn advice(&self, top: usize) -> Result<Vec<Advice>, Error> {
        let Some(main) = self.used.spaces.get(&0).filter(|_| self.used.is_scheduled && top > 0) else {
            return Ok(Vec::new());
        };
        let mut candidates = self.candidates();
        let bytes = self.bytes();
        // The most that a change can save: the bytes of its buffers at the peak.
        let most = |own: &Candidate| own.things.iter().filter_map(|thing| bytes.get(thing)).sum::<i64>();
        candidates.sort_by_cached_key(|candidate| -most(candidate));
        let instructions: usize = self.module.computations.iter().map(|c| c.instructions.len()).sum();
        candidates.truncate(if instructions > LONG { TRIED_OF_LONG } else { TRIED });
        let mut found: Vec<(MemoryUse, Module, Candidate)> = Vec::new();
        for candidate in candidates {
            let enough =
                |(used, ..): &&(MemoryUse, Module, Candidate)| main.peak - used.spaces[&0].peak >= most(&candidate);
            if found.iter().filter(enough).count() >= top {
                break;
            }
            let Some(module) = (candidate.changed)() else { continue };
            let used = MemoryUse::of(&module)?;
            if used.spaces.get(&0).is_some_and(|own| own.peak < main.peak) {
                found.push((used, module, candidate));
            }
        }
        found.sort_by_key(|(used, ..)| used.spaces[&0].peak);
        let mut taken = BTreeSet::new();
        found.retain(|(used, _, candidate)| {
            let things = || candidate.things.iter().map(|thing| (candidate.kind.excludes(), *thing));
            let is_new = things().all(|thing| !taken.contains(&thing));
            taken.extend(things().filter(|_| is_new));
            is_new && main.peak - used.spaces[&0].peak >= main.peak / LEAST_PART
        });
        found.truncate(top);
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let prices = Prices::new(self.module, self.target);
        Ok(found
            .into_iter()
            .map(|(used, module, own)| self.told(own, used.spaces[&0].peak, prices.change(&module)))
            .collect())
    }

    fn candidates(&self) -> Vec<Candidate<'_>> {
        let kinds =
            [donate::candidates, layouts::candidates, narrow::candidates, order::candidates, recompute::candidates];
        kinds.iter().flat_map(|of_kind| of_kind(self)).collect()
    }

    fn told(&self, own: Candidate, peak: i64, cost: Option<i64>) -> Advice {
        let name =
            |(computation, (k, _)): &BufferPlace| self.module.computations[*computation].instructions[*k].name.clone();
        Advice {
            kind: own.kind,
            change: own.change,
            code: own.code,
            saves: self.used.spaces[&0].peak - peak,
            peak,
            cost,
            unit: self.target.unit().to_string(),
            tensors: own.things.iter().map(name).collect(),
            ends: own.ends,
            origin: own.origin,
        }
    }

    /// The bytes of the buffers that are live at the peak.
    fn bytes(&self) -> HashMap<BufferPlace, i64> {
        let mut bytes = HashMap::new();
        for own in self.live {
            *bytes.entry((own.computation, own.buffer.made)).or_default() += own.buffer.footprint.padded;
        }
        bytes
    }

    fn entry(&self) -> &'m Computation {
        &self.module.computations[self.module.entry]
    }

    fn entry_buffers(&self) -> &'m FrameBuffers {
        &self.used.frames[&(self.module.entry, RunsAs::Entry)]
    }

    /// The origin of an instruction of the entry.
    fn origin(&self, k: usize) -> Provenance {
        self.origins.get(&self.entry().instructions[k], (self.module.entry, k))
    }

    /// The buffer that a leaf of the entry is in.
    fn buffer(&self, (k, leaf): (usize, usize)) -> Option<&'m Buffer> {
        let found = self.entry_buffers();
        Some(&found.buffers[(*found.of[k].get(leaf)?)?])
    }

    /// The parameters of the entry that are arrays and in the main memory: their numbers, their instructions and the
    /// arrays.
    fn arguments(&self) -> impl Iterator<Item = (usize, usize, &'m Array)> {
        let entry = self.entry();
        let array = |(number, k): (usize, &usize)| match &entry.instructions[*k].shape {
            Shape::Array(array) if array.layout.memory_space == 0 => Some((number, *k, array)),
            _ => None,
        };
        entry.parameters.iter().enumerate().filter_map(array)
    }

    /// The instructions of the entry that read each of them.
    fn readers(&self) -> Vec<Vec<usize>> {
        let mut readers = vec![Vec::new(); self.entry().instructions.len()];
        for (k, instruction) in self.entry().instructions.iter().enumerate() {
            for operand in &instruction.operands {
                if readers[*operand].last() != Some(&k) {
                    readers[*operand].push(k);
                }
            }
        }
        readers
    }

    /// The name of the function's argument that a parameter of the entry is a part of, and the name of that part.
    fn argument(&self, k: usize) -> (String, String) {
        let instruction = &self.entry().instructions[k];
        let whole = instruction.source.op_name.as_ref().unwrap_or(&instruction.name);
        let end = whole.find(['[', '.']).filter(|_| instruction.source.op_name.is_some()).unwrap_or(whole.len());
        (whole[..end].to_string(), whole.clone())
    }

    /// The arrays of the results with their numbers; none where tuples are in the result's tuple.
    fn outputs(&self) -> Vec<(usize, &'m Array)> {
        let shape = &self.entry().result().shape;
        let is_flat = !matches!(shape, Shape::Tuple(parts) if parts.iter().any(|part| matches!(part, Shape::Tuple(_))));
        leaves(shape).into_iter().enumerate().filter(|_| is_flat).collect()
    }

    /// The temporaries at the peak.
    fn temporaries(&self) -> impl Iterator<Item = &'m LiveBuffer> {
        self.live.iter().filter(|own| own.buffer.role == Role::Temporary)
    }
}

/// Takes a copy out of a changed program: its result is its operand.
fn elide(copy: &mut Instruction) {
    (copy.opcode, copy.operation) = ("bitcast".to_string(), Operation::Bitcast);
}

/// Forgets which operands XLA lets an instruction overwrite: of another program it decides that anew.
fn forget_overwritten(own: &mut Instruction) {
    // The configuration of a loop has its trip count.
    if own.opcode != "while" {
        own.attributes.retain(|attribute| attribute.name != "backend_config");
    }
}

/// The arrays of a shape, which may change.
fn leaves_mut(shape: &mut Shape) -> Vec<&mut Array> {
    match shape {
        Shape::Tuple(parts) => parts.iter_mut().flat_map(leaves_mut).collect(),
        Shape::Array(array) | Shape::Buffer(array) => vec![array],
    }
}
