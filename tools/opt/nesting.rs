//! The nesting depth of a program, before MLIR's parser sees it.
//!
//! MLIR's parser recurses for each open bracket, and for each minus sign of an affine expression, without a limit:
//! upstream's `mlir-opt` crashes on 10 MB of `[`. So brackets are counted first, outside strings and comments. The
//! arrows `->` and the comparisons `<=` and `>=` are no brackets. The parser itself checks whether brackets match.

use tensor_layout::limits;

/// The deepest nesting for the parser. With 1 GiB of stack there are 100 kB for each level.
pub const DEEPEST: usize = limits::MLIR_NESTING;

/// The first place deeper than [`DEEPEST`]: line and column, counted from 1.
pub fn too_deep(text: &[u8]) -> Option<(usize, usize)> {
    let (mut depth, mut signs) = (0usize, 0usize);
    let (mut line, mut line_start) = (1, 0);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let next = text.get(at + 1).copied();
        match (byte, next) {
            (b'\n', _) => (line, line_start) = (line + 1, at + 1),
            (b' ' | b'\t' | b'\r', _) => {}
            (b'/', Some(b'/')) => {
                let rest = &text[at..];
                at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                continue;
            }
            (b'"', _) => at = string_end(text, at),
            (b'-', Some(b'>')) | (b'<' | b'>', Some(b'=')) => (at, signs) = (at + 1, 0),
            (b'-', _) => signs += 1,
            (b'(' | b'[' | b'{' | b'<', _) => (depth, signs) = (depth + 1, 0),
            (b')' | b']' | b'}' | b'>', _) => (depth, signs) = (depth.saturating_sub(1), 0),
            _ => signs = 0,
        }
        if depth + signs > DEEPEST {
            return Some((line, at - line_start + 1));
        }
        at += 1;
    }
    None
}

/// The index of the string's closing quote, or of the end of its line, where every string ends.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\n' => return at - 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_open_brackets_and_signs() {
        let text = |open: &str, count| format!("a\n {}", open.repeat(count));
        for open in ["(", "[", "{", "<", "-", "(<"] {
            let most = DEEPEST / open.len();
            assert_eq!(too_deep(text(open, most).as_bytes()), None, "{open}");
            assert_eq!(too_deep(text(open, most + 1).as_bytes()), Some((2, DEEPEST + 2)), "{open}");
        }
    }

    #[test]
    fn passes_over_what_does_not_nest() {
        for shallow in ["()", "->", "<=", "\"(\"", "\"\\\"(\"", "// (\n", "\"(\n", "- 1"] {
            assert_eq!(too_deep(shallow.repeat(2 * DEEPEST).as_bytes()), None, "{shallow}");
        }
    }
}
