//! Tokens of HLO text: names, numbers, strings and the values of attributes.

use crate::text::{Cursor, Error, comment_length, excerpt, length};

/// The length of the name at the start of `text`, in bytes.
pub(super) fn name_length(text: &str) -> usize {
    length(text, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'#'))
}

/// Parses a name and its `%`, with its position.
pub(super) fn name<'a>(cursor: &mut Cursor<'a>, what: &str) -> Result<(&'a str, usize), Error> {
    let (at, rest) = (cursor.at(), cursor.rest());
    let sign = usize::from(rest.starts_with('%'));
    let end = sign + name_length(&rest[sign..]);
    let begins = rest.as_bytes().get(sign).is_some_and(|b| sign == 1 || b.is_ascii_alphabetic() || *b == b'_');
    if end == sign || !begins {
        return Err(cursor.expected(what));
    }
    cursor.advance(end);
    Ok((&rest[sign..end], at))
}

/// Parses a symbol after a name.
pub(super) fn after(cursor: &mut Cursor, symbol: &str, name: &str) -> Result<(), Error> {
    // The message is built only on error.
    if cursor.eat(symbol) { Ok(()) } else { Err(cursor.expected(&format!("`{symbol}` after `{}`", excerpt(name)))) }
}

/// Whether a line reads `[ROOT] name = `.
pub(super) fn begins_instruction(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("ROOT ").unwrap_or(line).trim_start();
    let line = line.strip_prefix('%').unwrap_or(line);
    let rest = &line[name_length(line)..];
    rest.len() < line.len() && rest.starts_with([' ', '\t']) && rest.trim_start().starts_with('=')
}

/// Whether an unindented line ends with the `{` that opens a computation.
pub(super) fn begins_computation(line: &str) -> bool {
    line.starts_with(|c: char| c == '%' || c == '_' || c.is_ascii_alphabetic())
        && line.trim_end().ends_with('{')
        && !line.contains('=')
}

/// The end of an attribute's value: at the next `,` outside brackets and quotes, or
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    /// at the next space or comment,
    Space,
    /// at the next line, as `literal=s32[2] {1, 2}` does,
    Line,
    /// or behind the first braces, as `mesh['x'=2,'y'=4], device_ids=(1,0,..) {'x'}` does.
    Braces,
}

/// Parses an attribute's value, with its position.
pub(super) fn value<'a>(cursor: &mut Cursor<'a>, until: End) -> Result<(usize, &'a str), Error> {
    let (at, text) = (cursor.at(), cursor.rest());
    let bytes = text.as_bytes();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut end = 0;

    while let Some(&byte) = bytes.get(end) {
        if open.is_empty() && until == End::Space && matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'/') {
            let next = Cursor::new(&text[end..]);
            // A bracket goes on with the value: `f32 [2]`.
            if next.at() > 0 && !matches!(next.peek(), Some(b'[' | b'{' | b'(' | b'<')) {
                break;
            }
            end += next.at().max(1);
            continue;
        }
        end += match byte {
            b'"' => string_length(&text[end..])
                .ok_or_else(|| Error::at(at + end, "expected `\"` to close this string, found none").syntax())?,
            b'{' | b'[' | b'(' => {
                open.push((if byte == b'(' { b')' } else { byte + 2 }, end));
                1
            }
            b'}' | b']' | b')' => match open.pop() {
                Some((b'}', _)) if byte == b'}' && until == End::Braces && open.is_empty() => {
                    end += 1;
                    break;
                }
                Some((close, _)) if close == byte => 1,
                Some((close, from)) => return Err(unclosed(close, at + from, &format!("`{}`", char::from(byte)))),
                None => break,
            },
            b'/' => match comment_length(&text[end..]) {
                Some(0) => 1,
                Some(length) => length,
                None => return Err(Error::at(at + end, "expected `*/` to close this comment, found none").syntax()),
            },
            b' ' | b'\t' if matches!(until, End::Line | End::Braces) => 1,
            b',' if until == End::Braces && text[end + 1..].trim_start().starts_with("device_ids") => 1,
            b',' | b' ' | b'\t' | b'\r' | b'\n' if open.is_empty() => break,
            b'\n' if text[end + 1..].lines().next().is_some_and(|l| begins_instruction(l) || begins_computation(l)) => {
                break;
            }
            _ => 1,
        };
    }
    if let Some((close, from)) = open.pop() {
        return Err(unclosed(close, at + from, "none"));
    }
    cursor.advance(end);
    Ok((at, &text[..end]))
}

/// The error of a bracket at `at` without its `close`.
fn unclosed(close: u8, at: usize, found: &str) -> Error {
    let opened = match close {
        b'}' => '{',
        b']' => '[',
        _ => '(',
    };
    Error::at(at, format!("expected `{}` to close this `{opened}`, found {found}", char::from(close))).syntax()
}

/// The length of the string at the start of `text`, in bytes, with its quotes; `None` if it does not end. A string over
/// several lines must end before white space, a comma or a bracket: otherwise its own quote is missing, and this one
/// opens the next string.
pub(super) fn string_length(text: &str) -> Option<usize> {
    let (mut bytes, mut lines) = (text.bytes().enumerate().skip(1), false);
    while let Some((i, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let after = text.as_bytes().get(i + 1);
                let ends =
                    after.is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b',' | b'}' | b']' | b')' | b':'));
                return (!lines || ends).then_some(i + 1);
            }
            b'\n' => lines = true,
            b'\\' => _ = bytes.next(),
            _ => {}
        }
    }
    None
}

/// The text between the quotes, unescaped; `None` without quotes.
pub(super) fn unquote(text: &str) -> Option<String> {
    let mut bytes = text.strip_prefix('"')?.strip_suffix('"')?.bytes().peekable();
    let mut found = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            found.push(byte);
            continue;
        }
        let (radix, digits, mut code) = match bytes.next()? {
            b'n' => (0, 0, u32::from(b'\n')),
            b't' => (0, 0, u32::from(b'\t')),
            b'r' => (0, 0, u32::from(b'\r')),
            b'x' | b'X' => (16, 2, 0),
            b @ b'0'..=b'7' => (8, 2, u32::from(b - b'0')),
            b => (0, 0, u32::from(b)),
        };
        for _ in 0..digits {
            let Some(digit) = bytes.peek().and_then(|b| char::from(*b).to_digit(radix)) else { break };
            code = code * radix + digit;
            bytes.next();
        }
        found.push(code as u8);
    }
    Some(String::from_utf8_lossy(&found).into_owned())
}

/// Parses a number with its sign; returns its position, too.
pub(super) fn number(cursor: &mut Cursor, what: &str) -> Result<(i64, usize), Error> {
    let at = cursor.at();
    let negative = cursor.eat("-");
    let size = cursor.integer(what)?;
    Ok((if negative { -size } else { size }, at))
}

/// Parses `{1,2}` or one number, each with its position.
pub(super) fn numbers(cursor: &mut Cursor) -> Result<Vec<(i64, usize)>, Error> {
    if !cursor.eat("{") {
        return Ok(vec![number(cursor, "a number or `{`")?]);
    }
    let mut numbers = Vec::new();
    while !cursor.eat("}") {
        if !numbers.is_empty() {
            cursor.expect(",", "`,` or `}` to close the list")?;
        }
        numbers.push(number(cursor, "a number or `}`")?);
    }
    Ok(numbers)
}
