//! Expressions of the algebra of layouts: `complement((2,4):(1,8), 64)`.
//!
//! An operand is a layout in any notation, or an operation on operands. `A o B` is the composition, from right to left,
//! `A == B` says whether both are the same function. A number before `o` is an offset, and a swizzle before it is one of
//! any address. `<4:1, _>` has a tile for each mode, of which `_` leaves one as it is. A layout with commas outside of
//! brackets stands in quotes.

use crate::algebra::{LayoutFunction, Slice, Tiler};
use crate::maps::equal::Equality;
use crate::notations::translate::{has_strides, read};
use crate::text::{Cursor, Error, choices, excerpt};
use std::fmt;

/// The value of an expression.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// A layout.
    Layout(Box<LayoutFunction>),
    /// Whether two layouts are the same function.
    Equality(Equality),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Answer::Layout(layout) => layout.fmt(f),
            Answer::Equality(Equality::Equal) => f.write_str("equal"),
            Answer::Equality(Equality::Different { witness: Some(at), reason }) => {
                write!(f, "different at {at:?}: {reason}")
            }
            Answer::Equality(Equality::Different { reason, .. }) => write!(f, "different: {reason}"),
            Answer::Equality(Equality::Unknown { reason }) => write!(f, "unknown: {reason}"),
        }
    }
}

/// The value of an expression.
///
/// # Errors
/// A fault of the text, at its byte; an operation that is not defined, at its operand.
///
/// # Example
/// ```
/// use tensor_layout::notations::calculate;
/// let answer = |text| calculate(text).unwrap().to_string();
/// assert_eq!(answer("(6,2):(8,2) o (4,3):(3,1)"), "((2,2),3):((24,2),8)");
/// assert_eq!(answer("f32[4,4]{1,0:T(2,2)} == (4,4):(4,1)"), "different at [2, 0]: index 2 is at 8 and 8");
/// assert_eq!(calculate("inverse((4,2):(1,0))").unwrap_err().at, Some(8));
/// ```
pub fn calculate(text: &str) -> Result<Answer, Error> {
    let mut cursor = Cursor::new(text);
    let answer = answer(&mut cursor)?;
    cursor.finish("`o`, `==` or the end of the expression")?;
    Ok(answer)
}

type Found = Result<LayoutFunction, Error>;

/// The operations of one layout.
const UNARY: [(&str, fn(&LayoutFunction) -> Found); 4] = [
    ("inverse", LayoutFunction::inverse),
    ("left_inverse", LayoutFunction::left_inverse),
    ("right_inverse", LayoutFunction::right_inverse),
    ("coalesce", |layout| Ok(layout.coalesce())),
];

/// The operations of two layouts.
const BINARY: [(&str, fn(&LayoutFunction, &LayoutFunction) -> Found); 3] = [
    ("compose", LayoutFunction::compose),
    ("blocked_product", LayoutFunction::blocked_product),
    ("raked_product", LayoutFunction::raked_product),
];

/// The operations of a layout and tiles.
const TILED: [(&str, fn(&LayoutFunction, &Tiler) -> Found); 8] = [
    ("logical_divide", LayoutFunction::logical_divide),
    ("zipped_divide", LayoutFunction::zipped_divide),
    ("tiled_divide", LayoutFunction::tiled_divide),
    ("flat_divide", LayoutFunction::flat_divide),
    ("logical_product", LayoutFunction::logical_product),
    ("zipped_product", LayoutFunction::zipped_product),
    ("tiled_product", LayoutFunction::tiled_product),
    ("flat_product", LayoutFunction::flat_product),
];

/// The operations with arguments of their own.
const OTHERS: [&str; 5] = ["complement", "permute", "restrict", "equal", "divides"];

/// The names of all operations.
pub fn operations() -> Vec<&'static str> {
    let named = UNARY.iter().map(|row| row.0).chain(BINARY.iter().map(|row| row.0));
    named.chain(TILED.iter().map(|row| row.0)).chain(OTHERS).collect()
}

/// The entry of a table with a name.
fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(own, _)| *own == name).map(|(_, operation)| *operation)
}

fn answer(cursor: &mut Cursor) -> Result<Answer, Error> {
    let (start, mut after) = (cursor.at(), *cursor);
    if let Some(name @ ("equal" | "divides")) = call(&mut after) {
        *cursor = after;
        let (a, b) = pair(cursor)?;
        let found = if name == "equal" { Ok(a.equal(&b)) } else { a.divides(&b) };
        return found.map(Answer::Equality).map_err(|error| at(error, start));
    }
    let left = side(cursor)?;
    if !cursor.eat("==") {
        return Ok(Answer::Layout(Box::new(left)));
    }
    Ok(Answer::Equality(left.equal(&side(cursor)?)))
}

/// The error at a byte, unless it has one.
fn at(error: Error, at: usize) -> Error {
    Error { at: error.at.or(Some(at)), ..error }
}

/// `A o B`.
fn side(cursor: &mut Cursor) -> Result<LayoutFunction, Error> {
    let start = cursor.at();
    let left = operand(cursor)?;
    if cursor.peek_word() != Some("o") {
        return Ok(left);
    }
    cursor.advance(1);
    let right = side(cursor)?;
    left.compose(&right).map_err(|error| at(error, start))
}

/// The name of an operation, if the cursor is at one.
fn call<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    let name = cursor.peek_word()?;
    let mut after = *cursor;
    after.advance(name.len());
    if !after.eat("(") || name == "Layout" {
        return None;
    }
    *cursor = after;
    Some(name)
}

fn operand(cursor: &mut Cursor) -> Result<LayoutFunction, Error> {
    let start = cursor.at();
    let Some(name) = call(cursor) else { return layout(cursor) };
    let first = cursor.at();
    let found = if let Some(operation) = named(&UNARY, name) {
        operation(&side(cursor)?)
    } else if let Some(operation) = named(&BINARY, name) {
        let own = side(cursor)?;
        cursor.expect(",", "`,` and a layout")?;
        operation(&own, &side(cursor)?)
    } else if let Some(operation) = named(&TILED, name) {
        let own = side(cursor)?;
        cursor.expect(",", "`,` and a tile")?;
        operation(&own, &tiler(cursor)?)
    } else {
        other(cursor, name, start)?
    };
    let found = found.map_err(|error| at(error, first))?;
    cursor.expect(")", "`)` to close the operation")?;
    Ok(found)
}

fn other(cursor: &mut Cursor, name: &str, start: usize) -> Result<Found, Error> {
    if !OTHERS[..3].contains(&name) {
        let known = operations();
        let message = format!("unknown operation `{}`; expected {}", excerpt(name), choices(&known));
        return Err(Error::at(start, message).unknown());
    }
    let own = side(cursor)?;
    if name == "complement" {
        let size = if cursor.eat(",") { Some(cursor.integer("the number of places")?) } else { None };
        return Ok(own.complement(size));
    }
    cursor.expect(",", "`,` and a list")?;
    let list = cursor.at();
    cursor.expect("(", "`(` and an entry for each mode")?;
    let mut slices = Vec::new();
    loop {
        slices.push(slice(cursor, name == "permute")?);
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect(")", "`,` or `)`")?;
    let order = |slice: &Slice| if let Slice::At(mode) = slice { usize::try_from(*mode).ok() } else { None };
    let found = if name == "permute" {
        own.permute(&slices.iter().filter_map(order).collect::<Vec<_>>())
    } else {
        own.restrict(&slices)
    };
    Ok(found.map_err(|error| at(error, list)))
}

/// `_`, `3` or `0:4`.
fn slice(cursor: &mut Cursor, number: bool) -> Result<Slice, Error> {
    if !number && cursor.eat("_") {
        return Ok(Slice::All);
    }
    let from = cursor.integer(if number { "the number of a mode" } else { "`_`, a coordinate or a range" })?;
    if number || !cursor.eat(":") {
        return Ok(Slice::At(from));
    }
    Ok(Slice::Range(from, cursor.integer("the end of the range")?))
}

/// Two layouts and the end of an operation.
fn pair(cursor: &mut Cursor) -> Result<(LayoutFunction, LayoutFunction), Error> {
    let first = side(cursor)?;
    cursor.expect(",", "`,` and a layout")?;
    let second = side(cursor)?;
    cursor.expect(")", "`)` to close the operation")?;
    Ok((first, second))
}

fn tiler(cursor: &mut Cursor) -> Result<Tiler, Error> {
    if !cursor.eat("<") {
        return side(cursor).map(Tiler::Layout);
    }
    let mut modes = Vec::new();
    loop {
        let mut after = *cursor;
        let none = after.eat("_") && !after.peek().is_some_and(|b| b.is_ascii_digit());
        if none {
            *cursor = after;
        }
        modes.push(if none { None } else { Some(tiler(cursor)?) });
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect(">", "`,` or `>`")?;
    Ok(Tiler::Modes(modes))
}

/// The number of elements of a layout for any address.
const ANY: i64 = 1 << 60;

/// A layout in any notation, an offset, or a swizzle of any address.
fn layout(cursor: &mut Cursor) -> Result<LayoutFunction, Error> {
    let start = cursor.at();
    let quoted = cursor.eat("\"");
    let begin = cursor.at();
    let length = if quoted { cursor.rest().find('"') } else { Some(extent(cursor.rest())) };
    let length = length.ok_or_else(|| Error::at(start, "expected `\"` to close this text").syntax())?;
    let text = cursor.rest()[..length].trim_end();
    if text.is_empty() {
        return Err(cursor.expected("a layout or an operation"));
    }
    cursor.advance(length + usize::from(quoted));
    let before = cursor.peek_word() == Some("o");
    let changes = text.starts_with("Sw<") || text.starts_with("S<") || text.starts_with("Xor<");
    let found = if before && (changes || text.bytes().all(|b| b.is_ascii_digit() || b == b'_')) {
        LayoutFunction::parse(&format!("{text} o {ANY}:1"))
    } else if has_strides(text) {
        LayoutFunction::parse(text)
    } else {
        read(text).and_then(|described| described.function())
    };
    found.map_err(|error| {
        let inside = error.at.filter(|at| *at <= text.len());
        Error { at: Some(begin + inside.unwrap_or(0)), ..error }
    })
}

/// The length of the text of a layout: up to a comma or a closing bracket outside of all brackets, `==` or ` o `.
fn extent(text: &str) -> usize {
    let mut depth = 0i64;
    for (k, b) in text.bytes().enumerate() {
        let arrow = b == b'>' && text[..k].ends_with('-');
        match b {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' | b'>' if depth == 0 && !arrow => return k,
            b')' | b']' | b'}' => depth -= 1,
            b'>' if !arrow => depth -= 1,
            b',' if depth == 0 => return k,
            b'=' if depth == 0 && text[k..].starts_with("==") => return k,
            b'o' if depth == 0 => {
                let apart = |b: Option<&u8>| b.is_none_or(|b| b.is_ascii_whitespace());
                if k > 0 && apart(text.as_bytes().get(k - 1)) && apart(text.as_bytes().get(k + 1)) {
                    return k;
                }
            }
            _ => {}
        }
    }
    text.len()
}
