//! Expressions of the algebra of layouts: `complement((2,4):(1,8), 64)`.
//!
//! An operand is a layout in any notation, or an operation on operands. `A o B` is the composition, from right to left,
//! `A == B` says whether both are the same function. A number before `o` is an offset, and a swizzle before it is one of
//! any address. `<4:1, _>` has a tile for each mode, of which `_` leaves one as it is. A layout with commas outside of
//! brackets stands in quotes.

use crate::algebra::{Banks, Conflicts, LayoutFunction, Moved, Slice, Tiler, Vectors};
use crate::limits;
use crate::maps::equal::Equality;
use crate::notations::translate::{has_strides, read};
use crate::text::{Cursor, Error, choices, excerpt};
use std::fmt;

/// The greatest depth of operations.
const DEPTH: usize = limits::ALGEBRA_DEPTH;

/// The value of an expression.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Answer {
    /// A layout.
    Layout(Box<LayoutFunction>),
    /// Whether two layouts are the same function.
    Equality(Equality),
    /// The elements that a relayout moves, by level.
    Moved(Moved),
    /// The widest accesses to memory.
    Vectors(Vectors),
    /// The conflicts of accesses to memory in banks.
    Conflicts(Conflicts),
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
            Answer::Moved(Moved { elements, levels, .. }) => {
                let stay = elements - levels.iter().map(|(_, moved)| moved).sum::<i64>();
                write!(f, "{stay} of {elements} elements stay")?;
                levels.iter().try_for_each(|(axis, moved)| {
                    write!(f, ", {moved} move along {}", axis.as_deref().unwrap_or("the address"))
                })
            }
            Answer::Vectors(Vectors { width, accesses, .. }) => write!(f, "{accesses} accesses of {width} elements"),
            Answer::Conflicts(Conflicts { accesses, ways: 1, .. }) => {
                write!(f, "{accesses} accesses without conflicts")
            }
            Answer::Conflicts(Conflicts { accesses, ways, index, .. }) => {
                write!(f, "{accesses} accesses, {ways} words of one bank in that from index {index} on")
            }
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
/// assert_eq!(answer("f32[4,4]{1,0:T(2,2)} == (4,4):(4,1)"), "different at [1, 0]: index 1 is at 2 and 4");
/// assert_eq!(calculate("inverse((4,2):(1,0))").unwrap_err().at, Some(8));
/// ```
pub fn calculate(text: &str) -> Result<Answer, Error> {
    let mut cursor = Cursor::new(text);
    let answer = answer(&mut cursor)?;
    cursor.finish("`o`, `==` or the end of the expression")?;
    Ok(answer)
}

type Found = Result<LayoutFunction, Error>;
type Unary = fn(&LayoutFunction) -> Found;
type Binary = fn(&LayoutFunction, &LayoutFunction) -> Found;
type Tiled = fn(&LayoutFunction, &Tiler) -> Found;

/// The operations of one layout.
const UNARY: &[(&str, Unary)] = &[
    ("inverse", LayoutFunction::inverse),
    ("left_inverse", LayoutFunction::left_inverse),
    ("right_inverse", LayoutFunction::right_inverse),
    ("coalesce", |layout| Ok(layout.coalesce())),
];

/// The operations of two layouts.
const BINARY: &[(&str, Binary)] = &[
    ("compose", LayoutFunction::compose),
    ("blocked_product", LayoutFunction::blocked_product),
    ("raked_product", LayoutFunction::raked_product),
];

/// The operations of a layout and tiles.
const TILED: &[(&str, Tiled)] = &[
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
const OTHERS: [&str; 8] = ["complement", "permute", "restrict", "equal", "divides", "relayout", "vectors", "banks"];

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
    let mut after = *cursor;
    if let Some(name) = call(&mut after).filter(|name| OTHERS[3..].contains(name)) {
        *cursor = after;
        let first = cursor.at();
        let own = side(cursor, 0)?;
        let found = if name == "banks" {
            let [lanes, bytes, count, word] =
                numbers(cursor, ["lanes", "bytes", "banks", "bytes of a word"], [32, 4, 32, 4])?;
            let mut banks = Banks::default();
            (banks.count, banks.word) = (count, word);
            own.conflicts(banks, lanes, bytes).map(Answer::Conflicts)
        } else {
            cursor.expect(",", "`,` and a layout")?;
            let other = side(cursor, 0)?;
            match name {
                "equal" => Ok(Answer::Equality(own.equal(&other))),
                "divides" => own.divides(&other).map(Answer::Equality),
                "relayout" => own.relayout(&other).map(Answer::Moved),
                _ => {
                    let [most] = numbers(cursor, ["elements of an access"], [4])?;
                    own.vectors(&other, most).map(Answer::Vectors)
                }
            }
        };
        cursor.expect(")", "`)` to close the operation")?;
        return found.map_err(|error| at(error, first));
    }
    let left = side(cursor, 0)?;
    if !cursor.eat("==") {
        return Ok(Answer::Layout(Box::new(left)));
    }
    Ok(Answer::Equality(left.equal(&side(cursor, 0)?)))
}

/// The error at a byte, unless it has one.
fn at(error: Error, at: usize) -> Error {
    Error { at: error.at.or(Some(at)), ..error }
}

/// `A o B`.
fn side(cursor: &mut Cursor, depth: usize) -> Result<LayoutFunction, Error> {
    let start = cursor.at();
    if depth == DEPTH {
        let message = format!("operations must be nested at most {DEPTH} deep, found more");
        return Err(Error::at(start, message).too_large());
    }
    let left = operand(cursor, depth)?;
    if cursor.peek_word() != Some("o") {
        return Ok(left);
    }
    cursor.advance(1);
    let right = side(cursor, depth + 1)?;
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

fn operand(cursor: &mut Cursor, depth: usize) -> Result<LayoutFunction, Error> {
    let start = cursor.at();
    let Some(name) = call(cursor) else { return layout(cursor) };
    let first = cursor.at();
    let found = if let Some(operation) = named(UNARY, name) {
        operation(&side(cursor, depth + 1)?)
    } else if let Some(operation) = named(BINARY, name) {
        let own = side(cursor, depth + 1)?;
        cursor.expect(",", "`,` and a layout")?;
        operation(&own, &side(cursor, depth + 1)?)
    } else if let Some(operation) = named(TILED, name) {
        let own = side(cursor, depth + 1)?;
        cursor.expect(",", "`,` and a tile")?;
        operation(&own, &tiler(cursor, depth + 1)?)
    } else {
        other(cursor, name, start, depth)?
    };
    let found = found.map_err(|error| at(error, first))?;
    cursor.expect(")", "`)` to close the operation")?;
    Ok(found)
}

fn other(cursor: &mut Cursor, name: &str, start: usize, depth: usize) -> Result<Found, Error> {
    if !OTHERS[..3].contains(&name) {
        let known = operations();
        let message = format!("unknown operation `{}`; expected {}", excerpt(name), choices(&known));
        return Err(Error::at(start, message).unknown());
    }
    let own = side(cursor, depth + 1)?;
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

/// Numbers after commas, of which the last may be left out.
fn numbers<const N: usize>(cursor: &mut Cursor, names: [&str; N], mut numbers: [i64; N]) -> Result<[i64; N], Error> {
    for (number, name) in numbers.iter_mut().zip(names) {
        if !cursor.eat(",") {
            break;
        }
        *number = cursor.integer(&format!("the number of {name}"))?;
    }
    Ok(numbers)
}

fn tiler(cursor: &mut Cursor, depth: usize) -> Result<Tiler, Error> {
    if !cursor.eat("<") {
        return side(cursor, depth).map(Tiler::Layout);
    }
    if depth >= DEPTH {
        let message = format!("tiles must be nested at most {DEPTH} deep, found more");
        return Err(Error::at(cursor.at(), message).too_large());
    }
    let mut modes = Vec::new();
    loop {
        let mut after = *cursor;
        let none = after.eat("_") && !after.peek().is_some_and(|b| b.is_ascii_digit());
        if none {
            *cursor = after;
        }
        modes.push(if none { None } else { Some(tiler(cursor, depth + 1)?) });
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
    let mut whole = *cursor;
    cursor.advance(length + usize::from(quoted));
    let change = ["Sw<", "S<", "Xor<"].iter().any(|start| text.starts_with(start));
    let offset =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_@+- ".contains(&b)) && !text.is_empty();
    let (text, found) = if cursor.peek_word() == Some("o") && !quoted && (change || offset(text)) {
        let text = prefixed(&mut whole, change, &offset).unwrap_or(text);
        if text.contains(':') {
            *cursor = whole;
            (text, LayoutFunction::parse(text))
        } else {
            (text, LayoutFunction::parse(&format!("{text} o {ANY}:1")))
        }
    } else if has_strides(text) {
        (text, LayoutFunction::parse(text))
    } else {
        (text, read(text).and_then(|described| described.function()))
    };
    found.map_err(|error| {
        let inside = error.at.filter(|at| *at <= text.len());
        Error { at: Some(begin + inside.unwrap_or(0)), ..error }
    })
}

/// The text of a change of bits, an offset and the strides after them, if all strides follow at once.
fn prefixed<'a>(cursor: &mut Cursor<'a>, change: bool, offset: &dyn Fn(&str) -> bool) -> Option<&'a str> {
    let (start, before) = (cursor.rest(), cursor.at());
    for k in 0..=usize::from(change) + 1 {
        let length = extent(cursor.rest());
        let text = cursor.rest()[..length].trim_end();
        cursor.advance(length);
        if has_strides(text) && text.contains(':') && !(k == 0 && change) {
            return Some(start[..cursor.at() - before].trim_end());
        }
        if k > 0 && !offset(text) || cursor.peek_word() != Some("o") {
            return None;
        }
        cursor.advance(1);
    }
    None
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
