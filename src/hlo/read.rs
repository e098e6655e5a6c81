//! The text of a module, taken apart: names are not resolved yet, values of attributes are slices of the text.
//!
//! What cannot be read is an error, and reading goes on at the next line that begins an instruction or a computation.
//! Nothing here recurses but shapes and literals, which are as deep as [`Shape::MAX_DEPTH`] and the rank.

use super::literal::Literal;
use super::module::Module;
use super::raw::{Head, RawAttribute, RawComputation, RawInstruction, RawModule, RawOperand};
use super::words::{End, begins_computation, begins_instruction, name, unquote, value};
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error, excerpt};

/// The most attributes of an instruction; each is compared with those before it.
const MAX_ATTRIBUTES: usize = 256;

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
