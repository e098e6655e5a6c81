//! The colours of the page: one for each origin of bytes, the same in all charts and tables.
//!
//! Arguments, outputs and constants have a colour each. The lines of the program have one in the order in which charts
//! ask for them, as long as there are any; all others share the last one.

use crate::hlo::origins::Provenance;
use crate::hlo::summary::Kind;
use std::collections::BTreeMap;

/// The kinds of memory that is live for the whole run, in the order of the colours.
pub const WHOLE: [&str; 3] = ["arguments", "outputs", "constants"];

/// The number of lines with a colour of their own.
const LINES: usize = 7;

/// The colour of all other lines.
pub const OTHER: usize = WHOLE.len() + LINES;

/// The colours of the lines, by their names.
#[derive(Default)]
pub struct Palette {
    lines: BTreeMap<String, usize>,
}

impl Palette {
    /// The colour of a line, which gets one of its own while there are any.
    pub fn add(&mut self, line: &str) -> usize {
        if self.of(line) == OTHER && self.lines.len() < LINES {
            self.lines.insert(line.to_string(), WHOLE.len() + self.lines.len());
        }
        self.of(line)
    }

    /// The colour of a name.
    pub fn of(&self, name: &str) -> usize {
        let whole = WHOLE.iter().position(|own| *own == name);
        whole.or_else(|| self.lines.get(name).copied()).unwrap_or(OTHER)
    }

    /// The colour of a buffer: that of its kind where it is live for the whole run, and else that of its line.
    pub fn of_buffer(&self, kind: Kind, origin: &Provenance) -> usize {
        whole(kind).unwrap_or_else(|| self.of(&line(origin)))
    }
}

/// The colour of what is live for the whole run.
pub fn whole(kind: Kind) -> Option<usize> {
    [Kind::Argument, Kind::Output, Kind::Constant].iter().position(|own| *own == kind)
}

/// The line of the program, or the operation where there is no line.
pub fn line(origin: &Provenance) -> String {
    origin.source.as_ref().or(origin.op_name.as_ref()).map_or_else(|| "unknown".to_string(), Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_one_colour_and_the_last_ones_share_one() {
        let mut palette = Palette::default();
        let lines: Vec<String> = (0..20).map(|k| format!("f.py:{k}")).collect();
        let given: Vec<usize> = lines.iter().map(|line| palette.add(line)).collect();
        assert_eq!(given, (0..20).map(|k| (k + WHOLE.len()).min(OTHER)).collect::<Vec<_>>());
        let again: Vec<usize> = lines.iter().rev().map(|line| palette.add(line)).collect();
        assert_eq!(again, given.into_iter().rev().collect::<Vec<_>>());
        assert_eq!(WHOLE.map(|name| palette.of(name)), [0, 1, 2]);
    }
}
