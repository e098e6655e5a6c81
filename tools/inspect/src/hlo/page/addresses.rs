//! The buffers of a memory as rectangles of time and address.
//!
//! The addresses are XLA's where the dump has them. Otherwise, what is live for the whole run lies at the bottom, and the
//! temporaries lie above it, at the offsets that [`offsets`] finds.

use super::cut;
use super::palette::{self, Palette};
use super::timeline::{HEIGHT, WIDTH};
use crate::hlo::measure::Report;
use crate::hlo::occupied::Occupied;
use crate::hlo::screen::bytes;
use layout_plan::memory::{Role, Span};
use serde::Serialize;
use tensor_layout::hlo::Assignment;
use tensor_layout::offsets::{LiveRange, SearchLimits, offsets};
use tensor_layout::text::Error;

/// The most rectangles; smaller buffers are not drawn.
const MOST: usize = 300;

/// The steps of the search for offsets: about a hundredth of a second.
const LIMITS: SearchLimits = SearchLimits { capacity: None, steps: 200_000 };

/// The rectangles of a memory.
#[derive(Serialize)]
pub struct Addresses {
    /// The bytes of the drawing.
    pub bytes: i64,
    /// The largest buffers, the largest first.
    pub buffers: Vec<Rectangle>,
    /// The number of smaller buffers, which are not drawn.
    pub others: usize,
    /// The bytes of the buffers without an address of XLA; `None` where the addresses are not XLA's.
    pub missing: Option<i64>,
}

/// A buffer in the drawing.
#[derive(Serialize)]
pub struct Rectangle {
    pub title: String,
    pub colour: usize,
    /// The first and the last instruction.
    pub live: (usize, usize),
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Addresses {
    /// The rectangles of a memory, over so many instructions.
    ///
    /// # Errors
    /// 64 bits do not hold the bytes.
    pub fn of(
        report: &Report,
        assignment: Option<&Assignment>,
        (space, instructions): (u8, usize),
        palette: &Palette,
    ) -> Result<Addresses, Error> {
        let owners = report.spans(space)?;
        let assigned = assignment.and_then(|own| Some((own, *own.bytes.get(&space)?)));
        let (placed, bytes, missing) = match assigned.map(|(own, bytes)| (assigned_addresses(own, &owners), bytes)) {
            Some(((placed, missing), bytes)) if !placed.is_empty() => (placed, bytes, Some(missing)),
            _ => {
                let (offsets, bytes) = place(&owners)?;
                (owners.iter().zip(offsets).collect(), bytes, None)
            }
        };
        let others = placed.len().saturating_sub(MOST);
        let draw = |(own, offset): (&Span, i64)| rectangle(&report.named(own), offset, (instructions, bytes), palette);
        Ok(Addresses { bytes, others, missing, buffers: placed.into_iter().take(MOST).map(draw).collect() })
    }
}

/// The owners that XLA gave an address inside of a memory, and the bytes of the others.
fn assigned_addresses<'s>(assignment: &Assignment, owners: &'s [Span]) -> (Vec<(&'s Span, i64)>, i64) {
    let (mut placed, mut missing) = (Vec::new(), 0_i64);
    for span in owners {
        let own = span.owner.as_ref();
        let made = own.map(|own| (own.computation, own.buffer.made.0, own.buffer.made.1));
        match made.and_then(|(computation, instruction, leaf)| assignment.address(computation, instruction, leaf)) {
            Some(address) => placed.push((span, address)),
            None => missing = missing.saturating_add(span.bytes),
        }
    }
    (placed, missing)
}

/// The offsets of all owners, and the bytes that they need.
fn place(owners: &[Span]) -> Result<(Vec<i64>, i64), Error> {
    let is_whole = |own: &&Span| own.owner.as_ref().is_some_and(|own| own.buffer.role != Role::Temporary);
    let whole: i64 = owners.iter().filter(is_whole).map(|own| own.bytes).sum();
    let range = |own: &Span| LiveRange { live: own.live, bytes: own.bytes, alignment: 1 };
    let ranges: Vec<LiveRange> = owners.iter().filter(|own| !is_whole(own)).map(range).collect();
    let arena = offsets(&ranges, &LIMITS).map_err(|error| Error::new(error.to_string()).too_large())?;
    let (mut below, mut above) = (0, arena.offsets.into_iter());
    let offset = |own: &Span| {
        if is_whole(&own) {
            below += own.bytes;
            return below - own.bytes;
        }
        whole.saturating_add(above.next().unwrap_or(0))
    };
    let found = owners.iter().map(offset).collect();
    Ok((found, whole.saturating_add(arena.bytes)))
}

fn rectangle(own: &Occupied, offset: i64, (instructions, most): (usize, i64), palette: &Palette) -> Rectangle {
    let x = |at: usize| at as f64 / instructions as f64 * WIDTH as f64;
    let y = |bytes: i64| bytes as f64 / most.max(1) as f64 * HEIGHT;
    let (from, to) = own.live;
    let when = match palette::whole(own.kind) {
        Some(_) => format!("{}, for the whole run", own.kind.name()),
        None => format!("instructions {from} to {to}, {}", cut(&palette::line(&own.origin))),
    };
    let shape = if own.shape.is_empty() { String::new() } else { format!(" {}", cut(&own.shape)) };
    Rectangle {
        title: format!("{}{shape}: {}, {when}", cut(&own.name), bytes(own.bytes)),
        colour: palette.of_buffer(own.kind, &own.origin),
        live: own.live,
        x: x(from),
        y: HEIGHT - y(offset.saturating_add(own.bytes)),
        // A buffer of one instruction of many is seen, too.
        width: x(to + 1 - from).max(1.0),
        height: y(own.bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tensor_layout::hlo::Module;
    use tensor_layout::targets::Target;

    /// No two rectangles overlap, and none leaves the drawing.
    #[test]
    fn rectangles_are_apart() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test/hlo");
        let target = Target::parse("tpu_v5e").unwrap();
        let mut checked = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "hlo") {
                continue;
            }
            let module = Module::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let report = Report::new(&module, &target).unwrap();
            for (space, own) in &report.used().spaces {
                let owners = report.spans(*space).unwrap();
                let (offsets, bytes) = place(&owners).unwrap();
                assert!(bytes >= own.peak, "{path:?}");
                for (k, (one, at)) in owners.iter().zip(&offsets).enumerate() {
                    assert!(*at >= 0 && at + one.bytes <= bytes, "{path:?} {:?}", one.owner);
                    for (other, beside) in owners[..k].iter().zip(&offsets) {
                        let together = one.live.0 <= other.live.1 && other.live.0 <= one.live.1;
                        let apart = at + one.bytes <= *beside || beside + other.bytes <= *at;
                        assert!(!together || apart, "{path:?}: {:?} and {:?}", one.owner, other.owner);
                        checked += usize::from(together);
                    }
                }
            }
        }
        assert!(checked > 1000, "{checked}");
    }
}
