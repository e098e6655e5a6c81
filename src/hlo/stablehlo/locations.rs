//! Locations of MLIR as metadata of HLO.

use super::strings::{quoted, string_length, unescaped};
use super::syntax::MlirModule;
use crate::hlo::module::Source;
use std::collections::HashMap;
use std::fmt::Write;

/// The limit on locations inside each other.
const MOST: usize = 32;

/// The aliases of locations, and the metadata of those in use.
pub(super) struct Locations<'a> {
    module: &'a MlirModule<'a>,
    written: HashMap<&'a str, String>,
}

/// The most parts of one location that are read.
const MOST_PARTS: usize = 1000;

impl<'a> Locations<'a> {
    pub fn of(module: &'a MlirModule<'a>) -> Locations<'a> {
        Locations { module, written: HashMap::new() }
    }

    /// `, metadata={op_name=".." source_file=".." source_line=1}`, empty for an unknown location.
    pub fn metadata(&mut self, location: &'a str) -> String {
        if let Some(written) = self.written.get(location) {
            return written.clone();
        }
        let mut source = Source::default();
        self.read(location, &mut source, MOST, &mut { MOST_PARTS });
        let mut fields = String::new();
        if let Some(name) = &source.op_name {
            let _ = write!(fields, "op_name={}", quoted(name));
        }
        if let (Some(file), Some(line)) = (&source.file, source.line) {
            let _ = write!(fields, " source_file={} source_line={line}", quoted(file));
        }
        let text = if fields.is_empty() { fields } else { format!(", metadata={{{}}}", fields.trim_start()) };
        self.written.insert(location, text.clone());
        text
    }

    /// Reads `(#loc)`, `"name"(location)`, `"file":1:2`, `callsite(location at location)` or `fused[location, ..]`.
    fn read(&self, text: &'a str, source: &mut Source, depth: usize, left: &mut usize) {
        let text = text.trim().strip_prefix("loc").unwrap_or(text.trim());
        let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text).trim();
        if depth == 0 || *left == 0 {
            return;
        }
        *left -= 1;
        if let Some(alias) = text.strip_prefix('#') {
            if let Some(text) = self.module.aliases.get(alias) {
                self.read(text, source, depth - 1, left);
            }
        } else if text.starts_with('"') {
            let Some(end) = string_length(text) else { return };
            let (name, rest) = (unescaped(&text[1..end - 1]), &text[end..]);
            match rest.strip_prefix(':') {
                Some(place) => {
                    let line = place.split(':').next().and_then(|line| line.parse().ok());
                    if source.file.is_none() && line.is_some() {
                        (source.file, source.line) = (Some(name), line);
                    }
                }
                None => {
                    source.op_name.get_or_insert(name);
                    self.read(rest, source, depth - 1, left);
                }
            }
        } else if let Some(rest) = text.strip_prefix("callsite(").and_then(|rest| rest.strip_suffix(')')) {
            let callee = super::types::parts(rest).first().map_or(rest, |(first, _)| first);
            // ` at ` outside of the callee's own parentheses.
            let mut open = 0usize;
            let end = callee.char_indices().find(|(at, c)| {
                open = if *c == '(' { open + 1 } else { open - usize::from(*c == ')' && open > 0) };
                open == 0 && callee[*at..].starts_with(" at ")
            });
            self.read(end.map_or(callee, |(at, _)| &callee[..at]), source, depth - 1, left);
        } else if let (true, Some((_, list))) = (text.starts_with("fused"), text.split_once('[')) {
            for (part, _) in super::types::parts(list.trim_end_matches(']')) {
                self.read(part, source, depth - 1, left);
            }
        }
    }
}
