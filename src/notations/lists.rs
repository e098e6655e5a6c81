//! Lists of numbers in notations: `[1, 2]`, `(8, 128)`, and Python's `(8,)`.

use crate::limits;
use crate::text::{Cursor, Error};

/// The most numbers of a list.
const LONGEST: usize = limits::NOTATION_NUMBERS;

/// A number and its byte offset.
#[derive(Clone, Copy)]
pub(super) struct ReadNumber {
    pub value: i64,
    pub at: usize,
}

/// Reads a number, which may have a sign.
pub(super) fn number(cursor: &mut Cursor, what: &str) -> Result<ReadNumber, Error> {
    let at = cursor.at();
    let negative = cursor.eat("-");
    let value = cursor.integer(what)?;
    // `-value` excludes the least number of 64 bits, which is no size and no stride.
    Ok(ReadNumber { value: if negative { -value } else { value }, at })
}

/// Reads a list between two symbols; `what` describes one number. With `trailing`, a comma may follow the last number.
pub(super) fn list(
    cursor: &mut Cursor,
    [open, close]: [&str; 2],
    what: &str,
    trailing: bool,
) -> Result<Vec<ReadNumber>, Error> {
    cursor.expect(open, &format!("`{open}` and {what}"))?;
    let mut numbers = Vec::new();
    while !cursor.eat(close) {
        if numbers.len() == LONGEST {
            return Err(
                Error::at(cursor.at(), format!("a list must have at most {LONGEST} numbers, found more")).too_large()
            );
        }
        numbers
            .push(number(cursor, &if numbers.is_empty() { format!("{what} or `{close}`") } else { what.to_string() })?);
        if !cursor.eat(",") {
            cursor.expect(close, &format!("`,` or `{close}`"))?;
            break;
        }
        if !trailing && cursor.peek().is_none_or(|b| close.as_bytes().first() == Some(&b)) {
            return Err(cursor.expected(what));
        }
    }
    Ok(numbers)
}

/// Reads `name = value, ..` up to the brace, each name at most once; `value` reads that of the name with a number.
pub(super) fn fields(
    cursor: &mut Cursor,
    names: &[&str],
    mut value: impl FnMut(&mut Cursor, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut seen = Vec::new();
    while cursor.peek() != Some(b'}') {
        let key = cursor.at();
        let name = cursor.peek_name().unwrap_or_default();
        let Some(field) = names.iter().position(|known| *known == name) else {
            return Err(cursor.expected(&format!("one of {}", names.join(", "))));
        };
        cursor.advance(name.len());
        cursor.expect("=", &format!("`=` after `{name}`"))?;
        value(cursor, field)?;
        if seen.contains(&field) {
            return Err(Error::at(key, format!("`{name}` must be given once, found it twice")));
        }
        seen.push(field);
        if !cursor.eat(",") {
            break;
        }
    }
    Ok(())
}

/// Reads `true` or `false`.
pub(super) fn flag(cursor: &mut Cursor) -> Result<bool, Error> {
    let word = cursor.peek_name().filter(|word| matches!(*word, "true" | "false"));
    let word = word.ok_or_else(|| cursor.expected("`true` or `false`"))?;
    cursor.advance(word.len());
    Ok(word == "true")
}

/// Refuses a number below `least`.
pub(super) fn at_least(numbers: &[ReadNumber], least: i64, what: &str) -> Result<(), Error> {
    match numbers.iter().find(|number| number.value < least) {
        Some(ReadNumber { value, at }) => {
            Err(Error::at(*at, format!("{what} must be at least {least}, found {value}")))
        }
        None => Ok(()),
    }
}

/// The numbers without their offsets.
pub(super) fn values(numbers: &[ReadNumber]) -> Vec<i64> {
    numbers.iter().map(|number| number.value).collect()
}

/// Refuses a list whose entries are not different dimensions below `rank`.
pub(super) fn dimensions(numbers: &[ReadNumber], rank: usize, what: &str) -> Result<Vec<usize>, Error> {
    let mut dims = Vec::with_capacity(numbers.len());
    for ReadNumber { value, at } in numbers {
        let dim = usize::try_from(*value).ok().filter(|dim| *dim < rank);
        let Some(dim) = dim else {
            let most = rank.saturating_sub(1);
            return Err(Error::at(*at, format!("{what} must be dimensions, 0 to {most}, found {value}")));
        };
        if dims.contains(&dim) {
            return Err(Error::at(*at, format!("{what} must name a dimension once, found {dim} twice")));
        }
        dims.push(dim);
    }
    Ok(dims)
}

/// Numbers between two symbols, with a space after each comma.
pub(super) fn text(numbers: &[i64], [open, close]: [&str; 2]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("{open}{}{close}", numbers.join(", "))
}
