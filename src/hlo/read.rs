//! The text of a module, taken apart: names are not resolved yet, values of attributes are slices of the text.
//!
//! What cannot be read is an error, and reading goes on at the next line that begins an instruction or a computation.
//! Nothing here recurses but shapes and literals, which are as deep as [`Shape::MAX_DEPTH`] and the rank.

use super::literal::Literal;
use super::{Attribute, Module};
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error, excerpt, length};
use std::collections::HashMap;

/// The most attributes of an instruction; each is compared with those before it.
const MAX_ATTRIBUTES: usize = 256;

/// A module as it is written.
#[derive(Default)]
pub(super) struct RawModule<'a> {
    pub name: &'a str,
    pub attributes: Vec<RawAttribute<'a>>,
    pub tables: Tables,
    pub computations: Vec<RawComputation<'a>>,
    /// Where more than one entry, or none, is an error that was already told.
    pub broken: bool,
}

/// A computation as it is written.
pub(super) struct RawComputation<'a> {
    pub name: &'a str,
    pub at: usize,
    pub entry: bool,
    /// What stands between the name and the body, if anything does.
    pub head: Option<Head>,
    pub instructions: Vec<RawInstruction<'a>>,
    /// Where the body ends.
    pub end: usize,
    /// Whether something in it could not be read.
    pub broken: bool,
}

/// `(name: shape, name: shape) -> shape`: the shapes, each with its place.
pub(super) struct Head {
    pub parameters: Vec<(Shape, usize)>,
    pub result: (Shape, usize),
}

/// An instruction as it is written; one that could not be read ends where its text is wrong.
pub(super) struct RawInstruction<'a> {
    pub name: &'a str,
    pub at: usize,
    pub root: bool,
    pub shape: Option<Shape>,
    pub shape_at: usize,
    pub opcode: &'a str,
    pub opcode_at: usize,
    pub operands: Vec<RawOperand<'a>>,
    /// The number of a parameter.
    pub number: Option<i64>,
    pub literal: Option<Literal>,
    pub attributes: Vec<RawAttribute<'a>>,
    pub broken: bool,
}

/// An operand as it is written.
pub(super) struct RawOperand<'a> {
    pub name: &'a str,
    pub at: usize,
    /// The shape that stands before the name, if one does.
    pub shape: Option<Shape>,
}

/// An attribute as it is written.
#[derive(Clone, Copy)]
pub(super) struct RawAttribute<'a> {
    pub name: &'a str,
    pub at: usize,
    pub text: &'a str,
}

impl RawAttribute<'_> {
    /// An error in the value as one in the module's text.
    fn place(&self, error: Error) -> Error {
        let message = match error.message.strip_suffix("found the end of the text") {
            Some(expected) => format!("{expected}found the end of `{}`", excerpt(self.name)),
            None => error.message,
        };
        Error { at: error.at.map(|at| at + self.at), message }
    }

    pub fn owned(&self) -> Attribute {
        Attribute { name: self.name.to_string(), at: self.at, text: self.text.to_string() }
    }

    /// What `read` makes of the whole value.
    pub fn read<T>(&self, read: impl FnOnce(&mut Cursor) -> Result<T, Error>) -> Result<T, Error> {
        let mut cursor = Cursor::new(self.text);
        read(&mut cursor)
            .and_then(|value| cursor.finish(&format!("the end of `{}`", self.name)).map(|()| value))
            .map_err(|error| self.place(error))
    }
}

/// The tables behind the header, by the numbers of their rows.
#[derive(Default)]
pub(super) struct Tables {
    files: HashMap<i64, String>,
    /// File and line.
    locations: HashMap<i64, (i64, i64)>,
    /// Location.
    frames: HashMap<i64, i64>,
}

impl Tables {
    /// File and line of a stack frame; an error where there are frames but not this one.
    pub fn frame(&self, frame: i64) -> Result<Option<(&str, i64)>, String> {
        if frame == 0 || self.frames.is_empty() {
            return Ok(None);
        }
        let location = self.frames.get(&frame).ok_or_else(|| format!("there is no stack frame {frame}"))?;
        let found = self.locations.get(location);
        Ok(found.and_then(|(file, line)| Some((self.files.get(file)?.as_str(), *line))))
    }
}

/// Takes a module's text apart.
pub(super) fn module<'a>(text: &'a str, errors: &mut Vec<Error>) -> RawModule<'a> {
    let mut reader = Reader { cursor: Cursor::with_bodies(text), text, errors };
    let mut module = RawModule::default();
    if let Err(error) = reader.header(&mut module) {
        module.broken = true;
        reader.errors.push(error);
        reader.resume(false, 0);
    }
    while reader.cursor.at() < text.len() && reader.errors.len() < Module::MAX_ERRORS {
        let (before, from) = (module.computations.len(), reader.cursor.at());
        if let Err(error) = reader.computation(&mut module) {
            // A head that says no name may have been the one of the entry.
            module.broken |= module.computations.len() == before;
            reader.errors.push(error);
            reader.resume(false, from);
        }
    }
    if let (Err(error), true) = (reader.cursor.finish("a computation"), reader.errors.is_empty()) {
        reader.errors.push(error);
    }
    module.broken |= reader.cursor.at() < text.len();
    module
}

struct Reader<'a, 'e> {
    cursor: Cursor<'a>,
    text: &'a str,
    errors: &'e mut Vec<Error>,
}

impl<'a> Reader<'a, '_> {
    fn header(&mut self, module: &mut RawModule<'a>) -> Result<(), Error> {
        if self.cursor.peek_word() != Some("HloModule") {
            return Err(self.cursor.expected("`HloModule` and the module's name"));
        }
        self.cursor.word();
        module.name = name(&mut self.cursor, "the module's name")?.0;
        self.attributes(&mut module.attributes, End::Header)?;
        while let Some(table @ ("FileNames" | "FunctionNames" | "FileLocations" | "StackFrames")) =
            self.cursor.peek_word()
        {
            self.cursor.word();
            while self.cursor.peek().is_some_and(|b| b.is_ascii_digit()) {
                let row = self.cursor.integer("a number")?;
                let (at, text) = value(&mut self.cursor, End::Space)?;
                let fields = RawAttribute { name: table, at, text };
                match table {
                    "FileNames" => {
                        let file = unquote(text).ok_or_else(|| Error::at(at, "expected a file's name in quotes"))?;
                        module.tables.files.insert(row, file);
                    }
                    "FileLocations" => {
                        let (file, line) = (fields.field("file_name_id")?, fields.field("line")?);
                        if !module.tables.files.contains_key(&file) {
                            return Err(Error::at(at, format!("there is no file {file}")));
                        }
                        module.tables.locations.insert(row, (file, line));
                    }
                    "StackFrames" => {
                        let location = fields.field("file_location_id")?;
                        if !module.tables.locations.contains_key(&location) {
                            return Err(Error::at(at, format!("there is no file location {location}")));
                        }
                        module.tables.frames.insert(row, location);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Reads `, name=value` as often as it stands here.
    fn attributes(&mut self, attributes: &mut Vec<RawAttribute<'a>>, until: End) -> Result<(), Error> {
        while self.cursor.eat(",") {
            let (name, name_at) = name(&mut self.cursor, "an attribute's name")?;
            self.cursor.expect("=", &format!("`=` behind `{}`", excerpt(name)))?;
            let until = if name == "literal" { End::Line } else { until };
            let (at, text) = value(&mut self.cursor, until)?;
            if attributes.iter().any(|a| a.name == name) {
                return Err(Error::at(name_at, format!("`{}` appears twice", excerpt(name))));
            }
            if attributes.len() == MAX_ATTRIBUTES {
                return Err(Error::at(name_at, format!("at most {MAX_ATTRIBUTES} attributes may stand here")));
            }
            attributes.push(RawAttribute { name, at, text });
        }
        Ok(())
    }

    fn computation(&mut self, module: &mut RawModule<'a>) -> Result<(), Error> {
        let entry = at_word(&self.cursor, "ENTRY");
        if entry {
            self.cursor.word();
        }
        let (name, at) = name(&mut self.cursor, "a computation or the end of the text")?;
        module.computations.push(RawComputation {
            name,
            at,
            entry,
            head: None,
            instructions: Vec::new(),
            end: self.text.len(),
            broken: true,
        });
        let Some(computation) = module.computations.last_mut() else { return Ok(()) };
        if self.cursor.eat("(") {
            let mut parameters = Vec::new();
            while !self.cursor.eat(")") {
                if !parameters.is_empty() {
                    self.cursor.expect(",", "`,` or `)` to close the parameters")?;
                }
                self::name(&mut self.cursor, "a parameter's name")?;
                self.cursor.expect(":", "`:` and the parameter's shape")?;
                parameters.push(self.shape()?);
            }
            self.cursor.expect("->", "`->` and the shape of the result")?;
            computation.head = Some(Head { parameters, result: self.shape()? });
        }
        self.cursor.expect("{", "`{` to open the computation")?;
        computation.broken = false;
        loop {
            computation.end = self.cursor.at();
            if self.cursor.eat("}") {
                // Such as `execution_thread="x"`, which says nothing about indices.
                return self.attributes(&mut Vec::new(), End::Space);
            }
            if self.errors.len() >= Module::MAX_ERRORS {
                computation.broken = true;
                return Ok(());
            }
            let open = || format!("an instruction or `}}` to close computation `{}`", excerpt(name));
            let (mut ahead, from) = (self.cursor, self.cursor.at());
            let next = self::name(&mut ahead, &open());
            if next.is_err() && self.cursor.rest().is_empty()
                || next.is_ok() && (matches!(ahead.peek(), Some(b'(' | b'{')) || at_word(&self.cursor, "ENTRY"))
            {
                // The next computation begins, or the text ends: the body does not go on.
                computation.broken = true;
                self.errors.push(self.cursor.expected(&open()));
                return Ok(());
            }
            let read = next.and_then(|_| {
                let mut instruction = self.start()?;
                let read = self.instruction(&mut instruction);
                instruction.broken = read.is_err();
                computation.instructions.push(instruction);
                read
            });
            if let Err(error) = read {
                computation.broken = true;
                self.errors.push(error);
                self.resume(true, from);
            }
        }
    }

    /// Reads `ROOT name`.
    fn start(&mut self) -> Result<RawInstruction<'a>, Error> {
        let root = at_word(&self.cursor, "ROOT");
        if root {
            self.cursor.word();
        }
        let (name, at) = name(&mut self.cursor, "the root's name")?;
        Ok(RawInstruction {
            name,
            at,
            root,
            shape: None,
            shape_at: at,
            opcode: "",
            opcode_at: at,
            operands: Vec::new(),
            number: None,
            literal: None,
            attributes: Vec::new(),
            broken: true,
        })
    }

    /// Reads `= shape opcode(operands), name=value`.
    fn instruction(&mut self, instruction: &mut RawInstruction<'a>) -> Result<(), Error> {
        self.cursor.expect("=", &format!("`=` behind `{}`", excerpt(instruction.name)))?;
        let (shape, shape_at) = self.shape()?;
        instruction.shape_at = shape_at;
        let shape = instruction.shape.insert(shape);
        let (opcode, opcode_at) = name(&mut self.cursor, "an opcode")?;
        (instruction.opcode, instruction.opcode_at) = (opcode, opcode_at);
        self.cursor.expect("(", &format!("`(` behind `{}`", excerpt(opcode)))?;
        match opcode {
            "constant" => {
                instruction.literal = Some(Literal::read(&mut self.cursor, shape)?);
                self.cursor.expect(")", "`)` behind the value")?;
            }
            "parameter" => {
                instruction.number = Some(self.cursor.integer("the parameter's number")?);
                self.cursor.expect(")", "`)` behind the parameter's number")?;
            }
            _ => {
                while !self.cursor.eat(")") {
                    if !instruction.operands.is_empty() {
                        self.cursor.expect(",", "`,` or `)` to close the operands")?;
                    }
                    let shape = at_shape(&self.cursor).then(|| self.shape()).transpose()?;
                    let (name, at) = name(&mut self.cursor, "an operand or `)`")?;
                    instruction.operands.push(RawOperand { name, at, shape: shape.map(|(shape, _)| shape) });
                }
            }
        }
        self.attributes(&mut instruction.attributes, End::Space)
    }

    fn shape(&mut self) -> Result<(Shape, usize), Error> {
        let at = self.cursor.at();
        Ok((Shape::read(&mut self.cursor, 0)?, at))
    }

    /// Goes on behind an error in what began at `from`: at the next line that begins an instruction or ends the
    /// computation, or, outside of one, that begins a computation.
    fn resume(&mut self, inside: bool, from: usize) {
        while let Some(byte) = self.cursor.peek() {
            let at = self.cursor.at();
            let begin = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
            let rest = &self.text[begin..];
            let end = rest.find('\n').unwrap_or(rest.len());
            let line = &rest[..end];
            // Only where nothing of the line was taken.
            let whole = at > from && self.text[begin..at].trim_start().is_empty();
            if whole && (begins_computation(line) || inside && (byte == b'}' || begins_instruction(line))) {
                return;
            }
            self.cursor.advance(begin + end - at);
        }
    }
}

/// Whether this word is next, with a space behind it.
fn at_word(cursor: &Cursor, word: &str) -> bool {
    cursor.rest().strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t', '\n', '\r', '%']))
}

/// Whether a shape is next rather than a name.
fn at_shape(cursor: &Cursor) -> bool {
    let mut ahead = *cursor;
    ahead.eat("(") || ahead.word().is_some_and(|word| ahead.eat("[") || word == "b" && ahead.eat("("))
}

/// The number of bytes of the name with which `text` begins.
fn name_length(text: &str) -> usize {
    length(text, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// Takes a name and its `%`, and says where it stood.
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

/// Whether a line reads `[ROOT] name = `.
fn begins_instruction(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("ROOT ").unwrap_or(line).trim_start();
    let line = line.strip_prefix('%').unwrap_or(line);
    let rest = &line[name_length(line)..];
    rest.len() < line.len() && rest.starts_with([' ', '\t']) && rest.trim_start().starts_with('=')
}

/// Whether a line that is not indented ends with the `{` that opens a computation.
fn begins_computation(line: &str) -> bool {
    line.starts_with(|c: char| c == '%' || c == '_' || c.is_ascii_alphabetic())
        && line.trim_end().ends_with('{')
        && !line.contains('=')
}

/// Where an attribute's value ends: at the next `,` that is not inside brackets or quotes, or
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// at the next space,
    Space,
    /// at the next line, as `literal=s32[2] {1, 2}` does,
    Line,
    /// at the next space; strings may be longer than a line. So it is in the header only.
    Header,
}

/// Takes an attribute's value, and says where it stood.
fn value<'a>(cursor: &mut Cursor<'a>, until: End) -> Result<(usize, &'a str), Error> {
    let (at, text) = (cursor.at(), cursor.rest());
    let bytes = text.as_bytes();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut end = 0;
    let unclosed = |(close, from): (u8, usize)| {
        let opened = match close {
            b'}' => '{',
            b']' => '[',
            _ => '(',
        };
        Error::at(at + from, format!("expected `{}` to close this `{opened}`", char::from(close)))
    };
    while let Some(&byte) = bytes.get(end) {
        end += match byte {
            b'"' => string_length(&text[end..], until == End::Header)
                .ok_or_else(|| Error::at(at + end, "expected `\"` to close this string on its line"))?,
            b'{' | b'[' | b'(' => {
                open.push((if byte == b'(' { b')' } else { byte + 2 }, end));
                1
            }
            b'}' | b']' | b')' => match open.pop() {
                Some((close, _)) if close == byte => 1,
                Some(unclosed_one) => return Err(unclosed(unclosed_one)),
                None => break,
            },
            b'/' if bytes[end..].starts_with(b"/*") => match text[end..].find("*/") {
                Some(length) => length + 2,
                None => return Err(Error::at(at + end, "expected `*/` to close this comment")),
            },
            b' ' | b'\t' if until == End::Line => 1,
            b',' | b' ' | b'\t' | b'\r' | b'\n' if open.is_empty() => break,
            b'\n' if text[end + 1..].lines().next().is_some_and(|l| begins_instruction(l) || begins_computation(l)) => {
                break;
            }
            _ => 1,
        };
    }
    if let Some(last) = open.pop() {
        return Err(unclosed(last));
    }
    cursor.advance(end);
    Ok((at, &text[..end]))
}

/// The bytes of the string with which `text` begins, with its quotes; `None` where it does not end, or not on its line.
fn string_length(text: &str, lines: bool) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((i, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(i + 1),
            b'\n' if !lines => return None,
            b'\\' => _ = bytes.next(),
            _ => {}
        }
    }
    None
}

/// What stands between the quotes, unescaped; `None` where there are no quotes.
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

/// Takes a number with its sign, and says where it stood.
pub(super) fn number(cursor: &mut Cursor, what: &str) -> Result<(i64, usize), Error> {
    let at = cursor.at();
    let negative = cursor.eat("-");
    let size = cursor.integer(what)?;
    Ok((if negative { -size } else { size }, at))
}

/// Takes `{1,2}` or one number, and says where each stood.
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

impl<'a> RawAttribute<'a> {
    /// The fields of `{name=value name=value}`.
    pub fn fields(&self) -> Result<Vec<RawAttribute<'a>>, Error> {
        let mut cursor = Cursor::new(self.text);
        let mut fields = Vec::new();
        let mut read = || {
            cursor.expect("{", &format!("`{{` behind `{}`", self.name))?;
            while !cursor.eat("}") {
                let name = name(&mut cursor, "a field or `}`")?.0;
                cursor.expect("=", &format!("`=` behind `{}`", excerpt(name)))?;
                let (at, text) = value(&mut cursor, End::Space)?;
                fields.push(RawAttribute { name, at: at + self.at, text });
                cursor.eat(",");
            }
            Ok(())
        };
        read().map_err(|error| self.place(error))?;
        Ok(fields)
    }

    /// The number in one of the fields.
    fn field(&self, name: &str) -> Result<i64, Error> {
        let fields = self.fields()?;
        let found = fields.iter().find(|f| f.name == name);
        found.map_or_else(
            || Err(Error::at(self.at, format!("a row of {} needs `{name}`", self.name))),
            |field| field.read(|cursor| cursor.integer("a number")),
        )
    }
}
