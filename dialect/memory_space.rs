//! `#layout.memory_space`: XLA's numbers of memory spaces, by name.
//!
//! 0 is `hbm`, 1 `vmem`, 5 `host`; every other number n up to 127 is the device's own and is written `device n`. That
//! is accepted for a number with a name as well: `device 1` is `vmem`.

use ::tensor_layout::text::{Error, nearest};

const NAMED: [(&str, i64); 3] = [("hbm", 0), ("vmem", 1), ("host", 5)];
const MOST: i64 = 127;

/// Reads the body of the attribute.
pub fn parse(text: &str) -> Result<i64, Error> {
    let (word, at, rest) = next_word(text, 0);
    let (number, end) = match NAMED.iter().find(|(name, _)| *name == word) {
        Some((_, number)) => (*number, rest),
        None if word == "device" => {
            let (digits, at, rest) = next_word(text, rest);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(Error::at(at, "expected the number of a memory space behind `device`"));
            }
            let number = digits.parse().unwrap_or(i64::MAX);
            verify(number).map_err(|message| Error::at(at, message))?;
            (number, rest)
        }
        None => {
            let names = "expected a memory space: `hbm`, `vmem`, `host` or `device n`";
            let message = match nearest(word, NAMED.iter().map(|(name, _)| *name).chain(["device"])) {
                _ if word.is_empty() => names.into(),
                Some(near) => format!("{names}, got `{word}`: did you mean `{near}`?"),
                None => format!("{names}, got `{word}`"),
            };
            return Err(Error::at(at, message));
        }
    };
    match next_word(text, end) {
        ("", ..) => Ok(number),
        (word, at, _) => Err(Error::at(at, format!("expected the end of the memory space, got `{word}`"))),
    }
}

/// (C5) The number is in 0 to 127.
pub fn verify(number: i64) -> Result<(), String> {
    if (0..=MOST).contains(&number) { Ok(()) } else { Err(format!("the number of a memory space is in 0 to {MOST}")) }
}

/// The body of the attribute for a number.
pub fn print(number: i64) -> String {
    match NAMED.iter().find(|(_, named)| *named == number) {
        Some((name, _)) => (*name).into(),
        None => format!("device {number}"),
    }
}

/// The next run of anything but white space: its text, where it begins, and where it ends.
fn next_word(text: &str, from: usize) -> (&str, usize, usize) {
    let rest = text[from..].trim_start();
    let at = text.len() - rest.len();
    let word = rest.split(char::is_whitespace).next().unwrap_or_default();
    (word, at, at + word.len())
}
