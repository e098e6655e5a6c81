//! The table of the instructions, for people.

use super::rows::{Entry, Program, Unread, amount};
use layout_console::Stop;
use layout_plan::memory::Footprint;
use std::fmt::Write as _;
use std::io::Write;
use tensor_layout::operations::Shape;
use tensor_layout::text::Error;

/// Prints a line for each instruction, under the name of its computation, with its accesses below.
///
/// # Errors
/// An answer does not fit in 64 bits; the text cannot be written.
pub fn table(program: &mut Program, chosen: &[(usize, usize)], to: &mut dyn Write) -> Result<(), Stop> {
    let mut last = None;
    for &(c, k) in chosen {
        let mut out = String::new();
        let found = program.found(c, k)?;
        let (computation, instruction) = program.at(c, k);
        if last != Some(c) {
            let entry = if c == program.module.entry { "ENTRY " } else { "" };
            let _ = writeln!(out, "{}{entry}{}", if last.is_none() { "" } else { "\n" }, computation.name);
            last = Some(c);
        }
        let root = if k == computation.root { "ROOT " } else { "" };
        let _ = write!(out, "  {root}{} = {} {}", instruction.name, instruction.shape, instruction.opcode);
        out.push_str(&memory(&instruction.shape)?);
        out.push('\n');
        for line in &found.remarks {
            let _ = writeln!(out, "    {line}");
        }
        let names: Vec<&str> = instruction.operands.iter().map(|k| &*computation.instructions[*k].name).collect();
        let several = found.rows.len() > 1;
        for (result, row) in found.rows.iter().enumerate() {
            let of = if several { format!("result {result}, ") } else { String::new() };
            row.entries.iter().for_each(|found| entry(&mut out, &of, &names, found));
            if let Some(reason) = &row.others {
                let _ = writeln!(out, "    {of}all operands UNDEFINED: {reason}");
            }
        }
        for Unread { number, parts } in &found.unread {
            let name = names[*number];
            let _ = match parts {
                None => writeln!(out, "    {name} is never read"),
                Some([first, last]) if first == last => writeln!(out, "    {name} part {first} is never read"),
                Some([first, last]) => writeln!(out, "    {name} parts {first} to {last} are never read"),
            };
        }
        to.write_all(out.as_bytes())?;
    }
    Ok(())
}

/// Prints the access to one leaf of an operand; `of` names the result, where there are several.
fn entry(out: &mut String, of: &str, names: &[&str], found: &Entry) {
    let Entry { number, part, reads, feeds, usage, tiles } = found;
    let name = names[*number];
    let part = part.map_or(String::new(), |part| format!(" part {part}"));
    if reads.maps.is_empty() && reads.unknown.is_empty() {
        let _ = writeln!(out, "    {of}{name}{part} is never read");
        return;
    }
    for (verb, access) in [("reads", reads), ("feeds", feeds)] {
        let unknown = access.unknown.iter().map(|reason| format!("UNDEFINED: {reason}"));
        for line in access.maps.iter().cloned().chain(unknown) {
            let _ = writeln!(out, "    {of}{name}{part} {verb} {line}");
        }
        for value in &access.run_time {
            let source = value.operand.map_or(&*value.source, |number| names[number]);
            let _ = writeln!(out, "      {} = {source}{}", value.variable, value.element);
        }
    }
    if let Some(usage) = usage {
        let (elements, reads) = (amount(usage.elements), amount(usage.reads));
        let _ = writeln!(out, "      {elements} of {} elements are read, in {reads} reads", usage.size);
    }
    for tile in tiles {
        let _ = writeln!(out, "      {tile}");
    }
}

/// Bytes and padding of a shape's arrays.
fn memory(shape: &Shape) -> Result<String, Error> {
    Ok(match Footprint::of_all(shape)? {
        Some(Footprint { logical, padded }) if padded > 0 => {
            format!("  {padded} bytes, {:.1} % padding", 100.0 * (padded - logical) as f64 / padded as f64)
        }
        _ => String::new(),
    })
}
