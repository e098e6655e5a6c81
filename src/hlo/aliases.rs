//! Attributes that alias results with operands.
//!
//! | text | where |
//! |---|---|
//! | `input_output_alias={ {1}: (0, {}, may-alias) }` | the header: part 1 of the result aliases parameter 0 |
//! | `output_to_operand_aliasing={{0}: (1, {2})}` | fusion, custom call: part 0 of the result, part 2 of operand 1 |
//! | `"aliasing_operands":{"lists":[{"indices":["0","3"]}]}` | `backend_config` of XLA:TPU: arrays of one buffer |
//!
//! XLA:TPU numbers the arrays of the operands first, then those of the result.

use super::shapes::{fits, plain};
use crate::operations::shape::{Shape, count, firsts};
use crate::text::{Cursor, Error};
use std::collections::HashMap;

/// Two leaves that share a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliasPair {
    /// The leaf of the result.
    pub result: usize,
    /// The number of the operand or parameter.
    pub operand: usize,
    /// The leaf of the operand.
    pub leaf: usize,
}

/// Two parts that share a buffer.
struct AliasEntry<'a> {
    /// The position of the result's part in the text.
    at: usize,
    result: AliasedPart<'a>,
    operand: usize,
    part: AliasedPart<'a>,
}

/// A part of a shape, and the number of its first leaf.
#[derive(Clone, Copy)]
pub(super) struct AliasedPart<'a> {
    pub first: usize,
    pub shape: &'a Shape,
}

/// Reads `{{0}: (1, {2}), ..}`, with an entry for each pair of parts.
///
/// # Errors
/// A syntax error with its byte in `text`; a part that the shapes do not have.
pub fn pairs(text: &str, result: &Shape, operands: &[&Shape]) -> Result<Vec<AliasPair>, Error> {
    let mut found = Vec::new();
    for AliasEntry { at, result, operand, part } in entries(text, result, operands)? {
        let (results, taken) = (count(result.shape), count(part.shape));
        if results != taken {
            return Err(Error::at(at, format!("both sides must have the same arrays, found {results} and {taken}")));
        }
        let pair = |k| AliasPair { result: result.first + k, operand, leaf: part.first + k };
        found.extend((0..taken).map(pair));
    }
    Ok(found)
}

/// Checks `input_output_alias`: a part of the result and a parameter's part that share a buffer must have one shape.
/// XLA's verifier requires this, its parser does not.
///
/// # Errors
/// As [`pairs`], and parts of different shapes.
pub fn check(text: &str, result: &Shape, parameters: &[&Shape]) -> Result<(), Error> {
    for AliasEntry { at, result, operand, part } in entries(text, result, parameters)? {
        if !fits(result.shape, part.shape) {
            let (is, found) = (plain(part.shape), plain(result.shape));
            let must =
                format!("the result must be {is}, as parameter {operand}, in whose place it lies, found {found}");
            return Err(Error::at(at, must));
        }
    }
    Ok(())
}

fn entries<'a>(text: &str, result: &'a Shape, operands: &[&'a Shape]) -> Result<Vec<AliasEntry<'a>>, Error> {
    let mut cursor = Cursor::new(text);
    let (mut found, mut firsts) = (Vec::new(), HashMap::new());
    cursor.expect("{", "`{` before the aliases")?;
    while !cursor.eat("}") {
        let at = cursor.at();
        let result = part(&mut cursor, result, &mut firsts)?;
        cursor.expect(":", "`:` after a part of the result")?;
        cursor.expect("(", "`(` before the number of the operand")?;
        let number_at = cursor.at();
        let number = cursor.integer("the number of an operand")?;
        let operand = usize::try_from(number).ok().filter(|k| *k < operands.len());
        let operand = operand.ok_or_else(|| {
            Error::at(number_at, format!("the number must be below {}, found {number}", operands.len()))
        })?;
        cursor.expect(",", "`,` after the number of the operand")?;
        let part = part(&mut cursor, operands[operand], &mut firsts)?;
        if cursor.eat(",") {
            for word in ["may", "must"] {
                if cursor.peek_word() == Some(word) {
                    cursor.word();
                }
            }
            cursor.expect("-", "`may-alias` or `must-alias`")?;
            cursor.word();
        }
        cursor.expect(")", "`)` after the operand")?;
        found.push(AliasEntry { at, result, operand, part });
        if !cursor.eat(",") {
            cursor.expect("}", "`,` or `}` after an alias")?;
            break;
        }
    }
    cursor.finish("the end of the aliases")?;
    Ok(found)
}

/// The first leaves of the parts of tuples, cached: many aliases name parts of one tuple.
pub(super) type FirstLeaves = HashMap<*const Shape, Vec<usize>>;

/// The part of a shape at a list of indices such as `{1,0}`.
pub(super) fn part<'a>(
    cursor: &mut Cursor,
    shape: &'a Shape,
    known: &mut FirstLeaves,
) -> Result<AliasedPart<'a>, Error> {
    let (mut shape, mut first) = (shape, 0);
    cursor.expect("{", "`{` before a part")?;
    while !cursor.eat("}") {
        let at = cursor.at();
        let index = cursor.integer("the number of a part")?;
        let parts: &[Shape] = if let Shape::Tuple(parts) = shape { parts } else { &[] };
        let inside = usize::try_from(index).ok().filter(|k| *k < parts.len());
        let inside = inside.ok_or_else(|| Error::at(at, format!("there must be a part {index}, found {shape}")))?;
        first += known.entry(std::ptr::from_ref(shape)).or_insert_with(|| firsts(parts))[inside];
        shape = &parts[inside];
        if !cursor.eat(",") {
            cursor.expect("}", "`,` or `}` after the number of a part")?;
            break;
        }
    }
    Ok(AliasedPart { first, shape })
}

/// The lists of `aliasing_operands` in a `backend_config`; `None` if it has none.
pub fn listed(config: &str) -> Option<Vec<Vec<usize>>> {
    let begin = "\"aliasing_operands\":{\"lists\":[";
    let mut rest = &config[config.find(begin)? + begin.len()..];
    let mut found = Vec::new();
    while let Some(list) = rest.strip_prefix("{\"indices\":[") {
        let (inside, after) = list.split_once("]}")?;
        found.push(inside.split(',').map(|n| n.trim_matches('"').parse().ok()).collect::<Option<Vec<usize>>>()?);
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    rest.starts_with(']').then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_tuples_are_numbered_by_leaves() {
        let result = Shape::parse("((f32[2], f32[3]), s32[])").unwrap();
        let operand = Shape::parse("(s32[], (f32[2], f32[3]))").unwrap();
        let read = |text: &str| pairs(text, &result, &[&operand]);
        let pair = |result, leaf| AliasPair { result, operand: 0, leaf };
        let both = vec![pair(0, 1), pair(1, 2), pair(2, 0)];
        assert_eq!(read("{ {0}: (0, {1}, may-alias), {1}: (0, {0}, must-alias) }").unwrap(), both);
        assert_eq!(read("{{0,1}: (0, {1,1})}").unwrap(), [pair(1, 2)]);
        assert_eq!(read("{}").unwrap(), []);
        for (text, at, message) in [
            ("{{2}: (0, {})}", 2, "there must be a part 2, found ((f32[2]{0}, f32[3]{0}), s32[])"),
            ("{{0}: (1, {})}", 7, "the number must be below 1, found 1"),
            ("{{0}: (0, {0})}", 1, "both sides must have the same arrays, found 2 and 1"),
            ("{{0} (0, {0})}", 5, "expected `:` after a part of the result, found `(`"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!((error.at, &*error.message), (Some(at), message), "{text}");
        }
    }

    #[test]
    fn lists_of_the_backend() {
        let config = |lists: &str| format!("{{\"x\":[],\"aliasing_operands\":{{\"lists\":[{lists}]}},\"y\":[1]}}");
        let (two, one) = ("{\"indices\":[\"0\",\"6\"]}", "{\"indices\":[\"2\",\"4\",\"5\"]}");
        assert_eq!(listed(&config(&format!("{two},{one}"))), Some(vec![vec![0, 6], vec![2, 4, 5]]));
        assert_eq!(listed(&config("")), Some(Vec::new()));
        assert_eq!(listed("{\"x\":[{\"indices\":[\"0\"]}]}"), None);
    }
}
