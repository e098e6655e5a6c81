//! The memory report of a module as data: totals, the peak, the worst tensors, the relayouts, and where they come from.
//!
//! All numbers are bytes of padded arrays unless a comment says otherwise. [`super::measure`] computes them,
//! [`super::screen`] prints them for people.

use super::origins::Provenance;
use crate::advice::Advice;
use crate::schedule::ScheduleOption;
use layout_plan::memory::{Footprint, Role, RunsAs};
use schemars::JsonSchema;
use serde::Serialize;
use tensor_layout::tiled::memory_space;

/// The memory report of a module.
#[derive(Serialize, JsonSchema)]
pub struct Summary {
    /// The module's name.
    pub module: String,
    /// Whether the text says that instructions run in its order; else the peak is that of this order.
    pub scheduled: bool,
    /// The order that the report is of, where it is not that of the text.
    #[serde(skip_serializing_if = "ScheduleOption::is_file")]
    #[schemars(default)]
    pub schedule: ScheduleOption,
    pub instructions: usize,
    /// The entry's parameters in the main memory.
    pub arguments: Bytes,
    /// The entry's results in the main memory that are in no argument.
    pub outputs: Bytes,
    /// The most bytes of temporaries that are live together in the main memory.
    pub temporaries: i64,
    /// The most bytes that are live together in the main memory.
    pub peak: Peak,
    /// The buffers that are live at the peak of the main memory.
    #[serde(rename = "padding")]
    pub live_at_peak: Bytes,
    /// Each memory.
    pub spaces: Vec<Memory>,
    /// The changes that lower the peak of the main memory, the largest saving first.
    pub advice: Vec<Advice>,
    /// The arguments that every device has whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub replicated: Vec<Replicated>,
    /// The tensors that waste most.
    pub worst: Vec<Tensor>,
    /// The instructions that only move bytes to another layout, and copies in the same, those first that move most.
    pub relayouts: Vec<Move>,
    /// The moves between memories that keep the layout: how many, and the bytes that they read and write.
    pub transfers: Transfers,
    /// What the text says that is skipped, such as attributes of other versions of XLA: each message once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub warnings: Vec<String>,
}

/// An argument of the function that every device has whole.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Replicated {
    pub name: String,
    pub devices: i64,
    /// The bytes on a device, as they are and cut over the devices.
    pub bytes: i64,
    pub part: i64,
    /// The JAX code that cuts it.
    pub code: String,
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
    /// Without those in the memory of an output that is defined later.
    pub temporaries: i64,
    /// What XLA:TPU takes beside for outputs that are tuples.
    pub tables: i64,
    /// The same for tuples inside of the program.
    pub inner_tables: i64,
    pub peak: Peak,
    /// Where the report is of another order than that of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderAnswer>,
    /// What is live at its peak.
    #[serde(rename = "padding")]
    pub live_at_peak: Bytes,
}

/// What other orders take.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub struct OrderAnswer {
    /// The peak in the order of the text.
    pub file: i64,
    /// No order has a peak below.
    pub bound: i64,
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
    /// The capacity of one such memory of the machine, where the program is laid out in tiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<i64>,
    /// The buffers that are live then, and the same bytes by source line and by name scope.
    pub buffers: Listed<LiveTensor>,
    pub lines: Listed<Share>,
    pub scopes: Listed<Share>,
}

/// The largest entries of a list, and what the others have together: the bytes of all are those of the whole.
#[derive(Clone, Default, Serialize, JsonSchema)]
pub struct Listed<T> {
    pub entries: Vec<T>,
    pub others: usize,
    pub other_bytes: i64,
}

impl<T> Listed<T> {
    /// The `top` largest of all entries.
    pub fn new(mut all: Vec<T>, bytes: impl Fn(&T) -> i64, top: usize) -> Listed<T> {
        all.sort_by_key(|entry| -bytes(entry));
        let rest = all.split_off(all.len().min(top));
        // The sum of live bytes fits in 64 bits.
        Listed { entries: all, others: rest.len(), other_bytes: rest.iter().map(bytes).sum() }
    }

    /// The same list of other entries.
    pub fn map<U>(self, of: impl Fn(T) -> U) -> Listed<U> {
        let Listed { entries, others, other_bytes } = self;
        Listed { entries: entries.into_iter().map(of).collect(), others, other_bytes }
    }
}

/// A buffer that is live at the peak.
#[derive(Clone, Serialize, JsonSchema)]
pub struct LiveTensor {
    pub name: String,
    pub computation: String,
    pub opcode: String,
    pub shape: String,
    pub kind: Kind,
    #[serde(flatten)]
    pub footprint: Sizes,
    /// The positions in its computation, from 0, where it is made and last read, and the instruction that reads it then.
    pub made: usize,
    pub last_read: usize,
    pub reader: String,
    #[serde(flatten)]
    pub origin: Provenance,
}

/// The buffers at the peak that come from one place of the program.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Share {
    /// A source line or a name scope; `arguments`, which have neither; or `unknown`.
    pub name: String,
    pub buffers: usize,
    #[serde(flatten)]
    pub bytes: Bytes,
    /// The kinds of the buffers.
    #[serde(skip)]
    #[schemars(skip)]
    pub kinds: Vec<Kind>,
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
    #[serde(flatten)]
    pub origin: Provenance,
}

/// The bytes of a tensor.
#[derive(Clone, Copy, Serialize, JsonSchema)]
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
    /// The name in JSON.
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

    /// The kind of a buffer with this role, in a computation that runs in this way.
    pub fn of(role: Role, frame: RunsAs) -> Kind {
        match (role, frame) {
            (Role::Temporary, _) => Kind::Temporary,
            (Role::Constant, _) => Kind::Constant,
            (Role::Parameter, RunsAs::Entry) => Kind::Argument,
            (Role::Result, RunsAs::Entry) => Kind::Output,
            _ => Kind::Lent,
        }
    }
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
    #[serde(flatten)]
    pub origin: Provenance,
}

/// Moves of one kind together.
#[derive(Default, Serialize, JsonSchema)]
pub struct Transfers {
    pub count: usize,
    pub bytes: i64,
}

/// The name of a memory space.
pub fn space_name(number: u8) -> String {
    let named = memory_space::NAMED.iter().find(|(_, named)| *named == number);
    named.map_or_else(|| format!("S({number})"), |(name, _)| (*name).to_string())
}
