//! From the text of a module to its raw parts.
//!
//! An error in an instruction or a computation is reported, and reading goes on at the next line that begins one.
//! Nothing here recurses but shapes and literals, which are as deep as [`Shape::MAX_DEPTH`] and the rank.

use super::literal::Literal;
use super::module::Module;
use super::raw::{Head, RawAttribute, RawComputation, RawInstruction, RawModule, RawOperand};
use super::words::{End, after, begins_computation, begins_instruction, name, value};
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error, excerpt};

/// The most attributes of an instruction; each is compared with those before it.
const MAX_ATTRIBUTES: usize = 256;

/// Takes a module's text apart.
pub(super) fn module<'a>(text: &'a str, errors: &mut Vec<Error>) -> RawModule<'a> {
    let mut reader = ModuleReader { cursor: Cursor::with_bodies(text), text, errors };
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

struct ModuleReader<'a, 'e> {
    cursor: Cursor<'a>,
    text: &'a str,
    errors: &'e mut Vec<Error>,
}

impl<'a> ModuleReader<'a, '_> {
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
                module.tables.add(row, &RawAttribute { name: table, at, text })?;
            }
        }
        Ok(())
    }

    /// Reads `, name=value` as often as it is there.
    fn attributes(&mut self, attributes: &mut Vec<RawAttribute<'a>>, until: End) -> Result<(), Error> {
        while self.cursor.eat(",") {
            let (name, name_at) = name(&mut self.cursor, "an attribute's name")?;
            after(&mut self.cursor, "=", name)?;
            let until = if name == "literal" { End::Line } else { until };
            let (at, text) = value(&mut self.cursor, until)?;
            if attributes.iter().any(|a| a.name == name) {
                return Err(Error::at(
                    name_at,
                    format!("attribute `{}` must be there once, found a second", excerpt(name)),
                ));
            }
            if attributes.len() == MAX_ATTRIBUTES {
                return Err(Error::at(
                    name_at,
                    format!("there must be at most {MAX_ATTRIBUTES} attributes, found more"),
                ));
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
        computation.head = self.head()?;
        self.cursor.expect("{", "`{` to open the computation")?;
        computation.broken = false;
        self.body(computation)
    }

    /// Reads `(name: shape, name: shape) -> shape`, where it is there.
    fn head(&mut self) -> Result<Option<Head>, Error> {
        if !self.cursor.eat("(") {
            return Ok(None);
        }
        let mut parameters = Vec::new();
        while !self.cursor.eat(")") {
            if !parameters.is_empty() {
                self.cursor.expect(",", "`,` or `)` to close the parameters")?;
            }
            name(&mut self.cursor, "a parameter's name")?;
            self.cursor.expect(":", "`:` and the parameter's shape")?;
            parameters.push(self.shape()?);
        }
        self.cursor.expect("->", "`->` and the shape of the result")?;
        Ok(Some(Head { parameters, result: self.shape()? }))
    }

    /// Reads instructions up to the `}` that closes the computation.
    fn body(&mut self, computation: &mut RawComputation<'a>) -> Result<(), Error> {
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
            let open = || format!("an instruction or `}}` to close computation `{}`", excerpt(computation.name));
            let (mut ahead, from) = (self.cursor, self.cursor.at());
            let next = match name(&mut ahead, "") {
                Ok(_) if matches!(ahead.peek(), Some(b'(' | b'{')) || at_word(&self.cursor, "ENTRY") => None,
                Err(_) if self.cursor.rest().is_empty() => None,
                next => Some(next),
            };
            let Some(next) = next else {
                // The next computation begins, or the text ends: the body does not go on.
                self.errors.push(self.cursor.expected(&open()));
                computation.broken = true;
                return Ok(());
            };
            let read = next.map_err(|_| self.cursor.expected(&open())).and_then(|_| {
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
        after(&mut self.cursor, "=", instruction.name)?;
        let (shape, shape_at) = self.shape()?;
        instruction.shape_at = shape_at;
        let shape = instruction.shape.insert(shape);
        let (opcode, opcode_at) = name(&mut self.cursor, "an opcode")?;
        (instruction.opcode, instruction.opcode_at) = (opcode, opcode_at);
        after(&mut self.cursor, "(", opcode)?;
        match opcode {
            "constant" => {
                instruction.literal = Some(Literal::read(&mut self.cursor, shape)?);
                self.cursor.expect(")", "`)` after the value")?;
            }
            "parameter" => {
                instruction.number = Some(self.cursor.integer("the parameter's number")?);
                self.cursor.expect(")", "`)` after the parameter's number")?;
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

    /// Goes on after an error in what began at `from`: at the next line that begins an instruction or ends the
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

/// Whether this word is next, with a space after it.
fn at_word(cursor: &Cursor, word: &str) -> bool {
    cursor.rest().strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t', '\n', '\r', '%']))
}

/// Whether a shape is next rather than a name.
fn at_shape(cursor: &Cursor) -> bool {
    let mut ahead = *cursor;
    ahead.eat("(") || ahead.word().is_some_and(|word| ahead.eat("[") || word == "b" && ahead.eat("("))
}
