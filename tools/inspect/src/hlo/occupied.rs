//! The owners of a memory over the run of the entry, with names: what the page draws and the trace lists.

use super::measure::Report;
use super::origins::Provenance;
use super::summary::{Kind, LiveTensor};
use layout_plan::memory::Span;
use tensor_layout::text::Error;

/// Bytes of a memory from one instruction of the entry to another.
pub struct Occupied {
    pub name: String,
    /// The shape with its layout; of the inside of an instruction, nothing.
    pub shape: String,
    pub kind: Kind,
    pub origin: Provenance,
    pub bytes: i64,
    /// The first and the last instruction.
    pub live: (usize, usize),
}

impl Report<'_> {
    /// The owners of a memory, the largest first. At each instruction they add up to its live bytes.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes.
    pub fn spans(&self, space: u8) -> Result<Vec<Span>, Error> {
        let mut spans = self.used().spans(self.module(), space)?;
        spans.sort_by_key(|own| (std::cmp::Reverse(own.bytes), own.live));
        Ok(spans)
    }

    /// An owner with its name.
    pub fn named(&self, span: &Span) -> Occupied {
        let module = self.module();
        let entry = &module.computations[module.entry];
        let (name, shape, kind, origin) = match &span.owner {
            Some(own) => {
                let LiveTensor { name, shape, kind, origin, .. } = self.live(own);
                (name, shape, kind, origin)
            }
            None => {
                let running = &entry.instructions[span.live.0];
                let origin = self.origins().get(running, (module.entry, span.live.0));
                (format!("inside {}", running.name), String::new(), Kind::Temporary, origin)
            }
        };
        Occupied { name, shape, kind, origin, bytes: span.bytes, live: span.live }
    }
}
