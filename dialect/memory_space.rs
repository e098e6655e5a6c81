//! `#layout.memory_space`: XLA's numbers of memory spaces, by name.
//!
//! 0 is `hbm`, 1 `vmem`, 5 `host`. Every other number n up to 127 is device-specific and is written `device n`. The parser
//! takes `device n` for a number with a name too, and the printer writes the name: `device 1` prints as `vmem`.

use ::tensor_layout::places::Machine;
use ::tensor_layout::text::{Error, nearest};

const NAMED: [(&str, i64); 3] = [("hbm", 0), ("vmem", 1), ("host", 5)];
/// The largest number, which is that of the maths.
const MOST: i64 = Machine::MAX_SPACE as i64;

/// Reads the body of the attribute.
pub fn parse(text: &str) -> Result<i64, Error> {
    let (word, at, rest) = next_word(text, 0);
    let (number, end) = match NAMED.iter().find(|(name, _)| *name == word) {
        Some((_, number)) => (*number, rest),
        None if word == "device" => {
            let (digits, at, rest) = next_word(text, rest);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(Error::at(at, format!("expected a number after `device`, found {}", shown(digits))));
            }
            let number = digits.parse().ok().filter(|number| verify(*number).is_ok());
            (number.ok_or_else(|| Error::at(at, out_of_range(digits)))?, rest)
        }
        None => {
            let near = nearest(word, NAMED.iter().map(|(name, _)| *name).chain(["device"]));
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let names = "expected `hbm`, `vmem`, `host` or `device n`";
            return Err(Error::at(at, format!("{names}, found {}{hint}", shown(word))));
        }
    };
    match next_word(text, end) {
        ("", ..) => Ok(number),
        (word, at, _) => Err(Error::at(at, format!("expected the end of the memory space, found `{word}`"))),
    }
}

/// (memory_space_c1) The number is in 0 to 127.
pub fn verify(number: i64) -> Result<(), String> {
    if (0..=MOST).contains(&number) { Ok(()) } else { Err(out_of_range(&number.to_string())) }
}

fn out_of_range(found: &str) -> String {
    format!("the number of a memory space must be in 0 to {MOST}, found {found}")
}

/// A word in a message.
fn shown(word: &str) -> String {
    if word.is_empty() { "nothing".into() } else { format!("`{word}`") }
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
