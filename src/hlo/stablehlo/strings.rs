//! Strings: MLIR writes a byte as two hexadecimal digits, and HLO as three octal ones.

/// The length of the string at the start of a text, with its quotes; `None` if its line does not end it.
pub(super) fn string_length(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((k, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(k + 1),
            b'\\' => _ = bytes.next(),
            b'\n' => break,
            _ => {}
        }
    }
    None
}

/// The characters of a string of MLIR, without its quotes.
pub(super) fn unescaped(text: &str) -> String {
    let (bytes, mut found, mut k) = (text.as_bytes(), Vec::new(), 0);
    let digit = |k: usize| bytes.get(k).and_then(|byte| char::from(*byte).to_digit(16));
    while let Some(&byte) = bytes.get(k) {
        let (value, length) = match (byte, bytes.get(k + 1)) {
            (b'\\', Some(b'n')) => (b'\n', 2),
            (b'\\', Some(b't')) => (b'\t', 2),
            (b'\\', Some(next)) => match (digit(k + 1), digit(k + 2)) {
                (Some(high), Some(low)) => ((high * 16 + low) as u8, 3),
                _ => (*next, 2),
            },
            _ => (byte, 1),
        };
        found.push(value);
        k += length;
    }
    String::from_utf8_lossy(&found).into_owned()
}

/// A string of HLO with its quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut found = String::from("\"");
    for byte in text.chars() {
        match byte {
            '"' => found.push_str("\\\""),
            '\\' => found.push_str("\\\\"),
            '\n' => found.push_str("\\n"),
            '\0'..='\x1f' | '\x7f' => found.push_str(&format!("\\{:03o}", u32::from(byte))),
            other => found.push(other),
        }
    }
    found + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_characters() {
        assert_eq!(unescaped(r#"{\22a\22: \5C\0A\\\n}"#), "{\"a\": \\\n\\\n}");
        for text in ["a\"b", "C:\\x", "\u{1}\n", "é"] {
            let written = quoted(text);
            assert_eq!(crate::hlo::tokens::unquote(&written).as_deref(), Some(text), "{written}");
        }
    }
}
