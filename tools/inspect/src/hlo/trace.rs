//! The buffers of a program as a trace in Chrome's format, which Perfetto shows.
//!
//! The process 0 has the instructions of the entry, one each microsecond. Each memory is a process more, with the live
//! bytes as a counter, and with its buffers in tracks: no two buffers of a track are live at once, so the tracks are as
//! many as the buffers that are live together.
//!
//! ```text
//! {"ph":"X","name":"c","ts":1,"dur":2,"pid":1,"tid":2,"args":{"bytes":16384,"kind":"temporary",..}}
//! ```

use super::measure::Report;
use super::occupied::Occupied;
use super::summary::space_name;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tensor_layout::hlo::Instruction;
use tensor_layout::text::Error;

/// The trace of a program, as JSON.
///
/// # Errors
/// 64 bits do not hold the bytes.
pub fn trace(report: &Report) -> Result<String, Error> {
    let entry = &report.module().computations[report.module().entry];
    let mut events = vec![process(0, "instructions")];
    let instruction = |(k, own): (usize, &Instruction)| {
        let origin = report.origins().get(own, (report.module().entry, k));
        let arguments = json!({"opcode": own.opcode, "source": origin.source, "op_name": origin.op_name});
        slice(&own.name, (k, k), (0, 0), arguments)
    };
    events.extend(entry.instructions.iter().enumerate().map(instruction));
    for (number, space) in report.used().spaces.keys().enumerate() {
        memory(report, *space, number + 1, &mut events)?;
    }
    Ok(json!({"displayTimeUnit": "ms", "traceEvents": events}).to_string() + "\n")
}

/// The events of a memory.
fn memory(report: &Report, space: u8, pid: usize, events: &mut Vec<Value>) -> Result<(), Error> {
    events.push(process(pid, &space_name(space)));
    let mut before = None;
    for (k, live) in report.used().timeline(space).unwrap_or_default().into_iter().enumerate() {
        if before != Some(live) {
            events.push(json!({"ph": "C", "name": "live bytes", "ts": k, "pid": pid, "args": {"bytes": live}}));
        }
        before = Some(live);
    }
    let mut owners: Vec<Occupied> = report.spans(space)?.iter().map(|span| report.named(span)).collect();
    owners.sort_by_key(|own| own.live.0);
    for (own, track) in owners.iter().zip(tracks(&owners)) {
        let Occupied { name, shape, kind, origin, bytes, .. } = own;
        let arguments = json!({
            "bytes": bytes, "kind": kind, "shape": shape, "source": origin.source, "op_name": origin.op_name
        });
        events.push(slice(name, own.live, (pid, track), arguments));
    }
    Ok(())
}

/// The track of each owner, of owners in the order of their first instructions.
fn tracks(owners: &[Occupied]) -> Vec<usize> {
    // The tracks by their last instruction.
    let mut ends: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    let track = |own: &Occupied| {
        let free = ends.peek().filter(|end| end.0.0 < own.live.0).map(|end| end.0.1);
        let track = free.unwrap_or(ends.len());
        if free.is_some() {
            ends.pop();
        }
        ends.push(Reverse((own.live.1, track)));
        track
    };
    owners.iter().map(track).collect()
}

fn process(pid: usize, name: &str) -> Value {
    json!({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}})
}

/// An event from the first to the last instruction, in a process and a track.
fn slice(name: &str, (from, to): (usize, usize), (pid, tid): (usize, usize), arguments: Value) -> Value {
    json!({"ph": "X", "name": name, "ts": from, "dur": to + 1 - from, "pid": pid, "tid": tid, "args": arguments})
}
