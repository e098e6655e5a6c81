//! The open documents of the editor.
//!
//! The protocol counts columns in units of UTF-16, two for a character outside the basic plane. Lines end at `\n`, as
//! in MLIR; a `\r` before it belongs to the end of the line.

use serde_json::{Value, json};

/// The text of a document.
#[derive(Default)]
pub struct Document {
    /// The whole text.
    pub text: String,
}

impl Document {
    /// The byte at a position of the protocol; the end of the line or of the text where the position is beyond it.
    pub fn offset(&self, position: &Value) -> Option<usize> {
        let (line, character) = (position["line"].as_u64()?, position["character"].as_u64()?);
        let mut start = 0;
        for _ in 0..line {
            match self.text[start..].find('\n') {
                Some(end) => start += end + 1,
                None => return Some(self.text.len()),
            }
        }
        let mut units = 0;
        for (at, c) in self.text[start..].char_indices() {
            if units >= character || c == '\n' || self.text[start + at..].starts_with("\r\n") {
                return Some(start + at);
            }
            units += c.len_utf16() as u64;
        }
        Some(self.text.len())
    }

    /// Replaces the text, or a range of it, by a change of the protocol.
    pub fn change(&mut self, change: &Value) {
        let Some(text) = change["text"].as_str() else { return };
        let [start, end] = ["start", "end"].map(|key| self.offset(&change["range"][key]));
        match (start, end) {
            (Some(start), Some(end)) if start <= end => self.text.replace_range(start..end, text),
            _ => self.text = text.into(),
        }
    }
}

/// Positions of the protocol for rising offsets. Each byte of the text is read once, however long a line is.
pub struct Positions<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    character: usize,
}

impl<'a> Positions<'a> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'a str) -> Positions<'a> {
        Positions { text, at: 0, line: 0, character: 0 }
    }

    /// The position of an offset, not before the last one and between two characters.
    pub fn of(&mut self, offset: usize) -> Value {
        let passed = &self.text[self.at..offset];
        if let Some(end) = passed.rfind('\n') {
            self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
            self.character = passed[end + 1..].encode_utf16().count();
        } else {
            self.character += passed.encode_utf16().count();
        }
        self.at = offset;
        json!({"line": self.line, "character": self.character})
    }

    /// The range of some bytes.
    pub fn range(&mut self, start: usize, end: usize) -> Value {
        json!({"start": self.of(start), "end": self.of(end)})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_offsets_are_inverse() {
        let document = Document { text: "é𝄞x\r\n\n𝄞𝄞 y".into() };
        let mut positions = Positions::new(&document.text);
        for (offset, c) in document.text.char_indices() {
            let position = positions.of(offset);
            // No position is between `\r` and `\n`.
            let expected = if c == '\n' { offset - usize::from(offset == 8) } else { offset };
            assert_eq!(document.offset(&position), Some(expected), "{position}");
        }
        assert_eq!(document.offset(&json!({"line": 2, "character": 4})), Some("é𝄞x\r\n\n𝄞𝄞".len()));
        assert_eq!(document.offset(&json!({"line": 0, "character": 99})), Some(7));
        assert_eq!(document.offset(&json!({"line": 99, "character": 0})), Some(document.text.len()));
        assert_eq!(document.offset(&json!({"line": -1, "character": 0})), None);
        assert_eq!(document.offset(&json!(null)), None);
    }

    #[test]
    fn changes_replace_all_or_a_range() {
        let mut document = Document::default();
        document.change(&json!({"text": "a𝄞b\nc"}));
        let at = |line, character| json!({"line": line, "character": character});
        document.change(&json!({"text": "--", "range": {"start": at(0, 3), "end": at(1, 0)}}));
        assert_eq!(document.text, "a𝄞--c");
        document.change(&json!({"range": null}));
        document.change(&json!({"text": "new"}));
        assert_eq!(document.text, "new");
    }
}
