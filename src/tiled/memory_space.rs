//! Memory spaces: XLA's numbers, and the names of those that have one.
//!
//! 0 is `hbm`, 1 `vmem`, 5 `host`. Every other number up to [`MAX`] is the device's own and prints as `device n`;
//! named spaces may be written so, too: `device 1` is `vmem`.

use crate::limits;
use crate::text::{Cursor, Error, choices, did_you_mean};

/// The greatest number of a memory space.
pub const MAX: u8 = limits::MEMORY_SPACE;

/// The memory spaces with a name.
pub const NAMED: [(&str, u8); 3] = [("hbm", 0), ("vmem", 1), ("host", 5)];

/// The number of a memory space.
///
/// # Errors
/// A number outside of 0 to [`MAX`].
pub fn check(number: i64) -> Result<u8, String> {
    let known = u8::try_from(number).ok().filter(|number| *number <= MAX);
    known.ok_or_else(|| format!("the number of a memory space must be in 0 to {MAX}, found {number}"))
}

/// The name of a memory space, or `device n`, also for numbers that [`check`] refuses.
pub fn name(number: impl Into<i64>) -> String {
    let number = number.into();
    match NAMED.iter().find(|(_, named)| i64::from(*named) == number) {
        Some((name, _)) => (*name).to_string(),
        None => format!("device {number}"),
    }
}

/// Reads a name, or `device n`.
///
/// # Errors
/// The fault, at its byte of `text`.
///
/// # Example
/// ```
/// use tensor_layout::tiled::memory_space;
/// assert_eq!(memory_space::parse("vmem"), Ok(1));
/// assert_eq!(memory_space::name(memory_space::parse("device 5").unwrap()), "host");
/// let error = memory_space::parse("vmen").unwrap_err();
/// assert_eq!(error.message, "unknown memory space `vmen`; did you mean `vmem`?");
/// ```
pub fn parse(text: &str) -> Result<u8, Error> {
    let mut cursor = Cursor::without_comments(text);
    let names = || NAMED.iter().map(|(name, _)| *name).chain(["device"]);
    let at = cursor.at();
    let expected = || choices(&["`hbm`", "`vmem`", "`host`", "`device n`"]);
    let Some(word) = cursor.word() else {
        return Err(cursor.expected(&format!("a memory space: {}", expected())));
    };
    let number = match NAMED.iter().find(|(name, _)| *name == word) {
        Some((_, number)) => *number,
        None if word == "device" => {
            let at = cursor.at();
            let number = cursor.integer("the number of a memory space after `device`")?;
            check(number).map_err(|message| Error::at(at, message))?
        }
        None => {
            let hint = did_you_mean(word, names());
            let hint = if hint.is_empty() { format!("; expected {}", expected()) } else { hint };
            return Err(Error::at(at, format!("unknown memory space `{word}`{hint}")).unknown());
        }
    };
    cursor.finish("the end of the memory space")?;
    Ok(number)
}
