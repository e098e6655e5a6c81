//! The memory report on one screen, about 40 lines of 100 columns; a table of several files; and a difference of two.

use super::summary::{Bytes, Listed, LiveTensor, Memory, Peak, Replicated, Share, Summary, Tensor};
use crate::advice::{Advice, LEAST_PART};
use std::collections::BTreeMap;
use tensor_layout::text::counted;

/// The most columns of a line.
const WIDTH: usize = 100;

/// A number of bytes with at most four digits: `512 B`, `1.5 KiB`, `202.7 MiB`.
pub fn bytes(n: i64) -> String {
    let (mut value, mut unit) = (n as f64, "B");
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        if value.abs() < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit == "B" { format!("{n} B") } else { format!("{value:.1} {unit}") }
}

/// The share of the padded bytes that is padding, in percent.
pub fn padding(Bytes { logical, padded }: Bytes) -> String {
    let part = if padded <= logical { 0.0 } else { (padded - logical) as f64 * 100.0 / padded as f64 };
    format!("{part:.1} %")
}

/// The text, cut to `columns` with `..` at its end where it is longer.
pub fn cut(text: &str, columns: usize) -> String {
    match text.chars().count() <= columns {
        true => text.to_string(),
        false => text.chars().take(columns.saturating_sub(2)).collect::<String>() + "..",
    }
}

/// The name of a file, cut to `columns` with `..` at its beginning where it is longer: several files often share
/// their folders.
fn cut_file(name: &str, columns: usize) -> String {
    match name.chars().count().checked_sub(columns) {
        None | Some(0) => name.to_string(),
        Some(more) => "..".to_string() + &name.chars().skip(more + 2).collect::<String>(),
    }
}

/// A line, cut to the width.
fn line(out: &mut String, text: impl AsRef<str>) {
    let text = text.as_ref();
    // A line feed before it is an empty line.
    let begin = text.len() - text.trim_start_matches('\n').len();
    out.push_str(&text[..begin]);
    out.push_str(cut(&text[begin..], WIDTH).trim_end());
    out.push('\n');
}

/// The report for people.
pub fn screen(summary: &Summary) -> String {
    let mut out = String::new();
    let order = match summary.scheduled {
        _ if !summary.schedule.is_file() => "in an order of least memory",
        true => "scheduled",
        false => "not scheduled: in the order of the text",
    };
    line(&mut out, format!("{}: {}, {order}", summary.module, counted(summary.instructions, "instruction")));
    totals(&mut out, &summary.spaces);
    advice(&mut out, &summary.advice, &summary.peak);
    live(&mut out, summary);
    replicated(&mut out, &summary.replicated);
    worst(&mut out, summary);
    relayouts(&mut out, summary);
    shares(&mut out, "peak by source line", &summary.peak, &summary.peak.lines);
    shares(&mut out, "peak by name scope", &summary.peak, &summary.peak.scopes);
    out
}

/// Temporaries below this number of bytes get no line: flags and counters.
pub const SMALL: i64 = 1024;

fn totals(out: &mut String, spaces: &[Memory]) {
    let row = |out: &mut String, cells: [&str; 7]| {
        let [name, cells @ ..] = cells;
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>13}")).collect();
        line(out, format!("{name:<6}{}", cells.concat()));
    };
    row(out, ["", "arguments", "outputs", "constants", "temporaries", "peak", "padding"]);
    for memory in spaces {
        let whole = [memory.arguments, memory.outputs, memory.constants].map(|part| bytes(part.padded));
        let [arguments, outputs, constants] = &whole;
        let (temporaries, peak) = (bytes(memory.temporaries), bytes(memory.peak.bytes));
        row(out, [&memory.name, arguments, outputs, constants, &temporaries, &peak, &padding(memory.live_at_peak)]);
    }
    for memory in spaces {
        let Some(order) = memory.order.filter(|order| order.file > memory.peak.bytes - memory.temporaries) else {
            continue;
        };
        let peak = memory.peak.bytes;
        let least = match peak - order.bound {
            0 => "the least".to_string(),
            gap => format!("at most {gap} above the least"),
        };
        let less = order.file - peak;
        line(out, format!("order of {}: {less} bytes less than in the order of the text, {least}", memory.name));
    }
    line(out, "");
    // The main memory decides whether the program fits.
    for memory in spaces.iter().filter(|memory| memory.space == 0 || memory.temporaries >= SMALL).take(2) {
        peak(out, memory);
    }
}

/// The changes that lower the peak.
fn advice(out: &mut String, advice: &[Advice], peak: &Peak) {
    if !advice.is_empty() {
        line(out, "\nwhat lowers the peak of the main memory");
    }
    for own in advice {
        let cost = match own.cost {
            None => String::new(),
            Some(cost) => {
                let how = if cost < 0 { "less" } else { "more" };
                format!(", {} {how}", counted(cost.unsigned_abs(), &own.unit))
            }
        };
        line(out, format!("{:>10} less  {}", bytes(own.saves), own.change));
        let fits = peak.capacity.is_some_and(|capacity| own.peak <= capacity && capacity < peak.bytes);
        let fits = if fits { ", which fits" } else { "" };
        line(out, format!("                 peak {}{fits}{cost}", bytes(own.peak)));
        wrapped(out, "                 ", &own.code);
    }
}

/// The arguments that every device has whole.
fn replicated(out: &mut String, replicated: &[Replicated]) {
    if !replicated.is_empty() {
        line(out, "\nwhat every device has whole; the peak without is XLA's to say");
    }
    for Replicated { name, devices, bytes: whole, part, code } in replicated {
        line(
            out,
            format!("{:>10}  the argument `{name}`; cut over {devices} devices {} each", bytes(*whole), bytes(*part)),
        );
        wrapped(out, "            ", code);
    }
}

/// A text in lines of at most the width, each after `indent`.
fn wrapped(out: &mut String, indent: &str, text: &str) {
    let mut row = String::new();
    for word in text.split(' ') {
        if !row.is_empty() && indent.len() + row.chars().count() + 1 + word.chars().count() > WIDTH {
            line(out, format!("{indent}{row}"));
            row.clear();
        }
        row = if row.is_empty() { word.to_string() } else { format!("{row} {word}") };
    }
    line(out, format!("{indent}{row}"));
}

/// The most that is live in a memory.
fn peak(out: &mut String, Memory { name, peak, .. }: &Memory) {
    let from = peak.origin.source.iter().chain(&peak.origin.op_name).cloned().collect::<Vec<_>>().join(" ");
    let fits = |capacity: i64| if peak.bytes > capacity { ", which does not fit" } else { "" };
    let of = |capacity: i64| format!("{} of {}{}, ", bytes(peak.bytes), bytes(capacity), fits(capacity));
    let of = peak.capacity.map_or(String::new(), of);
    line(out, format!("peak of {name}: {of}{} bytes, at {} {from}", peak.bytes, peak.instruction));
    if let Some(inside) = peak.inside.last() {
        line(out, format!("  inside it at {inside}"));
    }
}

/// The buffers that are live at the peak of the main memory.
fn live(out: &mut String, Summary { peak, spaces, .. }: &Summary) {
    if let Some(memory) = spaces.iter().find(|memory| memory.space == 0 && !peak.buffers.entries.is_empty()) {
        line(out, format!("\nlive at the peak of {}", memory.name));
    }
    for live in &peak.buffers.entries {
        let LiveTensor { kind, name, shape, made, last_read, reader, .. } = live;
        let padded = live.footprint.padded_bytes;
        line(out, format!("{:>10} {:>6}  {} {name} {shape}", bytes(padded), part(padded, peak.bytes), kind.name()));
        let source = live.origin.source.as_ref().map(|source| source.rsplit('/').next().unwrap_or(source).to_string());
        let from: String = source.iter().chain(&live.origin.op_name).map(|own| format!(" {own}")).collect();
        let from = if from.is_empty() { from } else { format!(";{from}") };
        line(out, format!("                   made at {made}, last read at {last_read} by {reader}{from}"));
    }
    let all = peak.buffers.entries.len() + peak.buffers.others;
    others(out, &peak.buffers, peak.bytes, "other buffer", &format!(", which --top {all} lists"));
}

/// The line of the entries that are not listed.
fn others<T>(out: &mut String, listed: &Listed<T>, whole: i64, what: &str, more: &str) {
    if listed.others > 0 {
        let (others, rest) = (listed.others, listed.other_bytes);
        line(out, format!("{:>10} {:>6}  {}{more}", bytes(rest), part(rest, whole), counted(others, what)));
    }
}

/// A share of the whole, in percent.
fn part(bytes: i64, whole: i64) -> String {
    format!("{:.0} %", bytes as f64 * 100.0 / whole.max(1) as f64)
}

fn worst(out: &mut String, summary: &Summary) {
    let least = summary.peak.bytes / LEAST_PART;
    let wasted = |own: &&Tensor| own.footprint.padded_bytes - own.footprint.logical_bytes >= least;
    let worst: Vec<&Tensor> = summary.worst.iter().filter(wasted).collect();
    match worst.is_empty() {
        false => line(out, "\nmost padding"),
        // An empty list of tensors (`top` 0) does not mean that there is no padding.
        true if summary.spaces.iter().any(|memory| memory.live_at_peak.padded > memory.live_at_peak.logical) => {}
        true => line(out, "\nno padding"),
    }
    for tensor in worst {
        let part = |name: &str, part: Option<[i64; 2]>| {
            part.filter(|[used, of]| used < of).map(|[used, of]| format!(", {used}/{of} {name}"))
        };
        let filled = part("lanes", tensor.lanes).or_else(|| part("sublanes", tensor.sublanes)).unwrap_or_default();
        let (logical, padded) = (bytes(tensor.footprint.logical_bytes), bytes(tensor.footprint.padded_bytes));
        let (kind, name, shape) = (tensor.kind.name(), &tensor.name, &tensor.shape);
        line(out, format!("{padded:>10}  for {logical}{filled}: {kind} {name} {shape}"));
    }
}

fn relayouts(out: &mut String, summary: &Summary) {
    if !summary.relayouts.is_empty() {
        line(out, "\nmoves to another layout, and copies");
    }
    for moved in &summary.relayouts {
        line(
            out,
            format!("{:>10}  {} {} {} -> {}", bytes(moved.bytes), moved.opcode, moved.name, moved.from, moved.to),
        );
        let users = if moved.users.is_empty() { "the result".to_string() } else { moved.users.join(", ") };
        line(out, format!("            made by {}, for {users}", moved.producer));
    }
    if summary.transfers.count > 0 {
        let (count, moved) = (summary.transfers.count, bytes(summary.transfers.bytes));
        line(out, format!("\n{count} moves between memories in the same layout read and write {moved}"));
    }
}

fn shares(out: &mut String, title: &str, peak: &Peak, shares: &Listed<Share>) {
    if shares.entries.iter().all(|share| matches!(&*share.name, "unknown" | "arguments")) {
        return;
    }
    line(out, format!("\n{title}"));
    for Share { name, buffers, bytes: own, .. } in &shares.entries {
        let share = part(own.padded, peak.bytes);
        let buffers = format!("{buffers} {}", if *buffers == 1 { "buffer" } else { "buffers" });
        let name = cut_file(name, 44);
        line(
            out,
            format!(
                "{:>10} {share:>6}  {name:<44} {buffers:>14} {:>16}",
                bytes(own.padded),
                padding(*own) + " padding"
            ),
        );
    }
    others(out, shares, peak.bytes, "other place", "");
}

/// A line for each file.
pub fn several(reports: &[(&str, Summary)]) -> String {
    let mut out = String::new();
    let row = |out: &mut String, name: &str, cells: [&str; 5]| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>13}")).collect();
        line(out, format!("{:<34} {}", cut_file(name, 34), cells.concat()));
    };
    row(&mut out, "file", ["arguments", "outputs", "temporaries", "peak", "padding"]);
    for (file, summary) in reports {
        let (arguments, outputs) = (bytes(summary.arguments.padded), bytes(summary.outputs.padded));
        let (temporaries, peak) = (bytes(summary.temporaries), bytes(summary.peak.bytes));
        row(&mut out, file, [&arguments, &outputs, &temporaries, &peak, &padding(summary.live_at_peak)]);
    }
    out
}

/// A number of the report of a memory.
type Part = fn(&Memory) -> i64;

/// The difference of two reports: each memory, and the at most `top` lines of the program that changed most. Both
/// reports must have all lines.
pub fn difference(old: &Summary, new: &Summary, top: usize) -> String {
    let mut out = String::new();
    let row = |out: &mut String, name: &str, from: i64, to: i64| {
        let change = to.saturating_sub(from);
        let sign = if change > 0 { "+" } else { "" };
        // A ratio where the percentage does not fit into its column.
        let percent = match change as f64 * 100.0 / from as f64 {
            _ if from == 0 => String::new(),
            percent if percent < 1e4 => format!("{percent:+.1} %"),
            _ => format!("{:.0}x", to as f64 / from as f64),
        };
        let change = format!("{sign}{}", bytes(change));
        line(out, format!("{name:<34}{:>14}{:>14}{change:>14}{percent:>12}", bytes(from), bytes(to)));
    };
    line(&mut out, format!("{:<34}{:>14}{:>14}{:>14}", "", "old", "new", "change"));
    let spaces = |summary: &Summary| summary.spaces.iter().map(|memory| memory.space).collect::<Vec<_>>();
    let mut all = [spaces(old), spaces(new)].concat();
    all.sort_unstable();
    all.dedup();
    for space in all {
        let of =
            |summary: &Summary, get: Part| summary.spaces.iter().find(|memory| memory.space == space).map_or(0, get);
        let name = super::summary::space_name(space);
        let parts: [(&str, Part); 5] = [
            ("arguments", |memory| memory.arguments.padded),
            ("outputs", |memory| memory.outputs.padded),
            ("constants", |memory| memory.constants.padded),
            ("temporaries", |memory| memory.temporaries),
            ("peak", |memory| memory.peak.bytes),
        ];
        for (part, get) in parts {
            let (from, to) = (of(old, get), of(new, get));
            if from != 0 || to != 0 {
                row(&mut out, &format!("{name} {part}"), from, to);
            }
        }
    }
    let mut lines: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    old.peak.lines.entries.iter().for_each(|line| lines.entry(&line.name).or_default().0 = line.bytes.padded);
    new.peak.lines.entries.iter().for_each(|line| lines.entry(&line.name).or_default().1 = line.bytes.padded);
    let mut changed: Vec<(&str, (i64, i64))> = lines.into_iter().filter(|(_, (from, to))| from != to).collect();
    changed.sort_by_key(|(_, (from, to))| std::cmp::Reverse(from.abs_diff(*to)));
    for (name, (from, to)) in changed.into_iter().take(top) {
        row(&mut out, &cut(name, 33), from, to);
    }
    out
}

/// The live bytes of a memory over the instructions: a bar for each of at most `steps` steps, with the most in each.
pub fn timeline(live: &[(&str, i64)], steps: usize) -> String {
    const BAR: usize = 40;
    let mut out = String::new();
    let most = live.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0).max(1);
    for part in live.chunks(live.len().div_ceil(steps.max(1)).max(1)) {
        let (name, live) = part.iter().max_by_key(|(_, bytes)| *bytes).copied().unwrap_or(("", 0));
        let length = usize::try_from(i128::from(live) * BAR as i128 / i128::from(most)).unwrap_or(0);
        line(&mut out, format!("{:<BAR$}  {:>10}  {name}", "#".repeat(length), bytes(live)));
    }
    out
}
