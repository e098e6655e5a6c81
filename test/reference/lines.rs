//! Files of texts, a line each, with lines that are expected of them. `BLESS=1` writes the actual lines into the file,
//! for review.
//!
//! A mark begins an expected line of the text before it, and `# ` a comment. `\n` is a line break of a text.

use std::path::Path;
use tensor_layout::text::Error;

/// Compares the expected lines of a file in `test` with those that are found for a text and an expected line.
pub fn check(file: &str, mark: &str, find: impl Fn(&str, &str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let is_blessed = std::env::var_os("BLESS").is_some();
    let recorded = std::fs::read_to_string(&path).unwrap();
    let (mut text, mut actual) = ("", String::new());
    for line in recorded.lines() {
        let Some(expected) = line.strip_prefix(mark) else {
            text = if line.starts_with("# ") { text } else { line };
            actual += &format!("{line}\n");
            continue;
        };
        let found = find(&text.replace("\\n", "\n"), expected);
        assert!(is_blessed || found == expected, "{text}\nexpected: {expected}\nfound:    {found}");
        actual += &format!("{mark}{found}\n");
    }
    if is_blessed {
        std::fs::write(path, actual).unwrap();
    }
}

/// The place and the message of an error.
pub fn error(error: &Error) -> String {
    format!("{} {}", error.at.expect("an error in a text has a place"), error.message)
}
