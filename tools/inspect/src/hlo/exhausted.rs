//! The error that a compiler or a device raises where memory does not suffice, as data.
//!
//! ```text
//! RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 41.74G of 16.00G hbm. Exceeded hbm capacity by 25.74G.
//!   1. Size: 32.00G
//!      Operator: op_name="jit(f)/floor_mod" source_file="f.py" source_line=7
//!      Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
//!      Unpadded size: 1.00G
//!      XLA label: %copy.1 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(..)
//! ```
//!
//! The list has the largest allocations alone, and some versions raise the first line without it. The bytes are those of
//! the shape where it is there, and else the three digits of the text.

use super::origins::Provenance;
use super::screen::{bytes, cut};
use layout_plan::memory::Footprint;
use schemars::JsonSchema;
use serde::Serialize;
use tensor_layout::operations::Shape;
use tensor_layout::text::Error;

/// The content of an error RESOURCE_EXHAUSTED.
#[derive(Serialize, JsonSchema)]
pub struct Exhausted {
    /// The line that says it.
    pub error: String,
    /// The bytes that are needed, and those that there are; `null` where the error does not say it.
    pub needed: Option<i64>,
    pub available: Option<i64>,
    /// The allocations that it lists, the largest first.
    pub allocations: Vec<Allocation>,
    /// The way to see all of them.
    pub next: String,
}

/// An allocation that an error lists.
#[derive(Default, Serialize, JsonSchema)]
pub struct Allocation {
    /// The instruction.
    pub name: String,
    pub bytes: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// The bytes without padding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_bytes: Option<i64>,
    #[serde(flatten)]
    pub origin: Provenance,
}

/// The words by which a text is known as an error RESOURCE_EXHAUSTED.
const SIGNS: [&str; 3] = ["RESOURCE_EXHAUSTED", "Resource exhausted", "Ran out of memory"];

/// The kinds of errors that XLA raises for other reasons.
const OTHERS: [&str; 8] = [
    "INVALID_ARGUMENT:",
    "FAILED_PRECONDITION:",
    "UNIMPLEMENTED:",
    "INTERNAL:",
    "UNAVAILABLE:",
    "NOT_FOUND:",
    "DEADLINE_EXCEEDED:",
    "ABORTED:",
];

const NEXT: &str = "\
set XLA_FLAGS=\"--xla_dump_to=FOLDER --xla_dump_hlo_as_text\", run again, and give `layout-inspect hlo FOLDER`; or in \
Python tensor_layout.report(f, *arguments)";

impl Exhausted {
    /// Reads an error; `None` where the text is none about memory.
    pub fn read(text: &str) -> Option<Exhausted> {
        let error = text.lines().find(|line| SIGNS.iter().any(|sign| line.contains(sign)))?;
        let mut allocations: Vec<Allocation> = Vec::new();
        for line in text.lines() {
            match allocations.last_mut() {
                _ if line.contains(". Size: ") => {
                    let bytes = after(line, ". Size: ").and_then(amount).unwrap_or(0);
                    allocations.push(Allocation { bytes, ..Allocation::default() });
                }
                Some(own) => own.add(line),
                None => {}
            }
        }
        allocations.sort_by_key(|own| -own.bytes);
        let (needed, available) = amounts(text);
        Some(Exhausted { error: error.trim().to_string(), needed, available, allocations, next: NEXT.to_string() })
    }

    /// The error about a text that is no program, where it is an error of another kind.
    pub fn other(text: &str) -> Option<Error> {
        let found = OTHERS.iter().filter_map(|kind| Some((text.find(kind)?, kind)));
        let (at, kind) = found.min()?;
        let kind = kind.trim_end_matches(':');
        let message = format!(
            "expected HLO text or an error RESOURCE_EXHAUSTED, found an error {kind}, which says nothing of memory"
        );
        Some(Error::at(at, message))
    }

    /// The error for people, with at most `top` allocations.
    pub fn screen(&self, top: usize) -> String {
        let mut out = format!("{}\n", cut(&self.error, 100));
        if let Some(needed) = self.needed {
            let missing = |own| format!(" of {}: {} too much", bytes(own), bytes(needed - own));
            out += &format!("needed {}{}\n", bytes(needed), self.available.map(missing).unwrap_or_default());
        }
        if !self.allocations.is_empty() {
            out += "\nthe largest allocations that the error lists\n";
        }
        for own in self.allocations.iter().take(top) {
            let name = if own.name.is_empty() { "(no label)" } else { &own.name };
            let shape = own.shape.as_deref().unwrap_or_default();
            out += &cut(format!("{:>10}  {name} {shape}", bytes(own.bytes)).trim_end(), 100);
            let padding = own.logical_bytes.filter(|logical| *logical < own.bytes);
            let padding =
                padding.map_or(String::new(), |logical| format!("{} are padding; ", bytes(own.bytes - logical)));
            let from = own.origin.source.iter().chain(&own.origin.op_name).cloned().collect::<Vec<_>>().join(" ");
            out += &format!("\n{}\n", cut(&format!("            {padding}{from}"), 100));
        }
        out + &format!("\nto see all that is live, and what lowers it:\n{}\n", self.next)
    }
}

impl Allocation {
    /// Adds what a line says of the allocation.
    fn add(&mut self, line: &str) {
        if let Some(shape) = after(line, "Shape: ") {
            self.shape = Some(shape.trim().to_string());
            let whole = Shape::parse(shape.trim()).ok().and_then(|shape| Footprint::of_all(&shape).ok().flatten());
            if let Some(Footprint { logical, padded }) = whole {
                (self.bytes, self.logical_bytes) = (padded, Some(logical));
            }
        } else if let Some(size) = after(line, "Unpadded size: ") {
            self.logical_bytes = self.logical_bytes.or(amount(size));
        } else if let Some(label) = after(line, "XLA label: ") {
            self.name = label.trim_start_matches('%').split(' ').next().unwrap_or_default().to_string();
        } else if let Some(operator) = after(line, "Operator: ") {
            let quoted = |key: &str| after(operator, key)?.split('"').next().map(str::to_string);
            let number = after(operator, "source_line=").map(|text| text.split(' ').next().unwrap_or(text));
            let line = number.map_or(String::new(), |number| format!(":{number}"));
            let source = quoted("source_file=\"").map(|file| file + &line);
            self.origin = Provenance { source, op_name: quoted("op_name=\"") };
        }
    }
}

/// The rest of a line after a word.
fn after<'t>(line: &'t str, word: &str) -> Option<&'t str> {
    Some(line.split_once(word)?.1)
}

/// The bytes that are needed, and those that there are.
fn amounts(text: &str) -> (Option<i64>, Option<i64>) {
    let used = after(text, "Used ").and_then(|rest| rest.split_once(" of "));
    if let Some((needed, rest)) = used {
        return (amount(needed), amount(rest));
    }
    let temporaries = after(text, "required for ").and_then(|rest| rest.split_once(") exceeds available "));
    if let Some((needed, rest)) = temporaries {
        return (after(needed, "(").and_then(amount), after(rest, "(").and_then(amount));
    }
    let scoped = after(text, "Scoped allocation with size ").and_then(|rest| rest.split_once(" and limit "));
    if let Some((needed, rest)) = scoped {
        return (amount(needed), amount(rest));
    }
    let wanted = [
        "trying to allocate ",
        "Out of memory allocating ",
        "Failed to allocate request for ",
        "Attempting to reserve ",
        "Attempting to allocate ",
    ];
    let needed = wanted.iter().find_map(|word| after(text, word));
    (needed.and_then(|rest| exact(rest).or(amount(rest))), after(text, "There are ").and_then(amount))
}

/// The bytes in parentheses behind a rounded number: `1.25TiB (rounded to 1374521760000)`, `32.00MiB (33554432B)`.
fn exact(text: &str) -> Option<i64> {
    let (rounded, inside) = text.split_once(" (")?;
    (!rounded.contains(' ')).then_some(())?;
    amount(inside.strip_prefix("rounded to ").unwrap_or(inside))
}

/// A number of bytes as XLA writes it at the begin of a text: `530.00M`, `16.0K`, `0B`, `1024 bytes`.
fn amount(text: &str) -> Option<i64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let power = "KMGT".find(text[end..].chars().next().unwrap_or(' ')).map_or(0, |place| place as i32 + 1);
    // Three digits after the point are far below the precision of a float.
    Some((number * 1024_f64.powi(power)) as i64)
}
