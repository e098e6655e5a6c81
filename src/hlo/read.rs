//! The reader from the text of a module to its raw parts.
//!
//! After an error in an instruction or a computation, reading continues at the next line that begins one. Only shapes
//! and literals recurse, as deep as [`Shape::MAX_DEPTH`] and the rank, and computations and operands inside
//! instructions, as deep as [`MAX_INSIDE`].

use super::literal::Literal;
use super::module::Module;
use super::raw::{CALLS, Head, RawAttribute, RawComputation, RawInstruction, RawModule, RawOperand};
use super::tokens::{End, after, begins_computation, begins_instruction, name, value};
use crate::limits;
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error, excerpt};
use std::borrow::Cow;

/// The limit on attributes of an instruction; each is compared with those before it.
const MAX_ATTRIBUTES: usize = limits::HLO_ATTRIBUTES;

/// The limit on the nesting of computations and operands inside instructions.
const MAX_INSIDE: usize = limits::HLO_INSIDE;

/// Reads a module's text.
pub(super) fn module<'a>(text: &'a str, errors: &mut Vec<Error>) -> RawModule<'a> {
    let mut reader =
        ModuleReader { cursor: Cursor::with_bodies(text), text, inside: Vec::new(), depth: 0, nameless: None, errors };
    if text.starts_with(BYTE_ORDER_MARK) {
        reader.cursor.advance(BYTE_ORDER_MARK.len_utf8());
    }
    let mut module = RawModule::default();
    if let Err(error) = reader.header(&mut module) {
        module.broken = true;
        reader.errors.push(error);
        reader.resume(false, 0);
    }
    while reader.cursor.at() < text.len() && reader.errors.len() < Module::MAX_ERRORS {
        let (before, from) = (module.computations.len(), reader.cursor.at());
        if let Err(error) = reader.computation(&mut module) {
            // A head without a name may have been the entry's.
            module.broken |= module.computations.len() == before;
            reader.errors.push(error);
            reader.resume(false, from);
        }
    }
    if let (Err(error), true) = (reader.cursor.finish("a computation"), reader.errors.is_empty()) {
        reader.errors.push(error);
    }
    module.broken |= reader.cursor.at() < text.len();
    // Without a mark, the last computation is the entry.
    if let (false, Some(last)) =
        (module.computations.iter().any(|c| c.entry) || module.broken, module.computations.last_mut())
    {
        last.entry = true;
    }
    if module.name.is_empty()
        && let Some(entry) = module.computations.iter().find(|c| c.entry)
    {
        // The name that XLA gives.
        module.name = format!("module_{}", entry.name).into();
    }
    module.computations.append(&mut reader.inside);
    module
}

/// Some editors put it before a text.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The message for VHLO.
pub(super) const FOUND_VHLO: &str = "expected StableHLO, found VHLO, the form for files: `stablehlo-opt \
                                     --vhlo-legalize-to-stablehlo` makes StableHLO of it";

/// The message for an MLIR module without operations of StableHLO. A text that begins as HLO may contain names of MLIR.
fn found_mlir(text: &str, begins_as_hlo: bool) -> Option<&'static str> {
    let begin: String = text.trim_start_matches(BYTE_ORDER_MARK).chars().take(100_000).collect();
    let first = begin.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with("//"))?;
    let is_mlir =
        ["module ", "module{", "#", "!", "func.func", "\"builtin.module\""].iter().any(|s| first.starts_with(s));
    if (is_mlir || !begins_as_hlo) && begin.contains("vhlo.") {
        return Some(FOUND_VHLO);
    }
    is_mlir.then_some(
        "expected HLO, which begins with `HloModule`, or StableHLO, found MLIR without operations of StableHLO: \
         `layout-opt` takes other dialects",
    )
}

struct ModuleReader<'a, 'e> {
    cursor: Cursor<'a>,
    text: &'a str,
    /// The computations inside instructions.
    inside: Vec<RawComputation<'a>>,
    /// The number of open computations and operands inside instructions.
    depth: usize,
    /// In a text of one instruction: the number of operands that are shapes without names.
    nameless: Option<usize>,
    errors: &'e mut Vec<Error>,
}

impl<'a> ModuleReader<'a, '_> {
    fn header(&mut self, module: &mut RawModule<'a>) -> Result<(), Error> {
        if self.cursor.peek_word() != Some("HloModule") {
            let (is_computation, is_instruction) = (self.at_computation(), at_instruction(&self.cursor));
            if let Some(message) = found_mlir(self.text, is_computation || is_instruction) {
                let place = self.cursor.at();
                // No part of the text is HLO.
                self.cursor.advance(self.cursor.rest().len());
                return Err(Error::at(place, message));
            }
            return match (is_computation, is_instruction) {
                (true, _) => Ok(()),
                (_, true) => self.single(module),
                _ => Err(self.cursor.expected("`HloModule` and the module's name, a computation or an instruction")),
            };
        }
        self.cursor.word();
        module.name = name(&mut self.cursor, "the module's name")?.0.into();
        // Texts written by hand may have it.
        self.cursor.eat(":");
        self.attributes(&mut module.attributes, End::Space)?;
        while let Some(table @ ("FileNames" | "FunctionNames" | "FileLocations" | "StackFrames")) =
            self.cursor.peek_word()
        {
            let name_at = self.cursor.at();
            self.cursor.word();
            while self.cursor.peek().is_some_and(|b| b.is_ascii_digit()) {
                let row = self.cursor.integer("a number")?;
                let (at, text) = value(&mut self.cursor, End::Space)?;
                module.tables.add(row, &RawAttribute { name: table, name_at, at, text })?;
            }
        }
        Ok(())
    }

    /// Whether a computation is next: `ENTRY`, or a name, perhaps with a head, before a `{`.
    fn at_computation(&mut self) -> bool {
        let begin = self.cursor;
        let named = name(&mut self.cursor, "").is_ok();
        let is_computation =
            at_word(&begin, "ENTRY") || named && self.head().is_ok() && self.cursor.peek() == Some(b'{');
        self.cursor = begin;
        is_computation
    }

    /// Reads a text of one instruction: `f32[4] add(f32[4] x, f32[4] y)`. It becomes the root of the entry, and its
    /// operands become the parameters in order.
    fn single(&mut self, module: &mut RawModule<'a>) -> Result<(), Error> {
        const NAME: &str = "_";
        module.name = NAME.into();
        self.nameless = Some(0);
        let mut instruction = if at_shape(&self.cursor) { RawInstruction::new(NAME.into(), 0) } else { self.start()? };
        if instruction.name != NAME {
            after(&mut self.cursor, "=", &instruction.name)?;
        }
        let mut inner = Vec::new();
        let read = self.instruction(&mut instruction, NAME, &mut inner);
        instruction.broken = read.is_err();
        inner.push(instruction);
        let mut entry = RawComputation {
            entry: true,
            broken: read.is_err(),
            ..RawComputation::new(NAME.into(), 0, self.text.len())
        };
        entry.instructions = parameters(&inner).into_iter().chain(inner).collect();
        module.computations.push(entry);
        read?;
        self.cursor.finish("the end of the text")
    }

    /// Reads any number of `, name=value`.
    fn attributes(&mut self, attributes: &mut Vec<RawAttribute<'a>>, until: End) -> Result<(), Error> {
        while self.cursor.eat(",") {
            self.attribute(attributes, until)?;
        }
        Ok(())
    }

    /// Reads `name=value`.
    fn attribute(&mut self, attributes: &mut Vec<RawAttribute<'a>>, until: End) -> Result<(), Error> {
        let (name, name_at) = name(&mut self.cursor, "an attribute's name")?;
        after(&mut self.cursor, "=", name)?;
        let until = match name {
            "literal" => End::Line,
            "replica_groups" if self.cursor.peek_word() == Some("mesh") => End::Braces,
            _ => until,
        };
        let (at, text) = value(&mut self.cursor, until)?;
        add(attributes, RawAttribute { name, name_at, at, text })
    }

    fn computation(&mut self, module: &mut RawModule<'a>) -> Result<(), Error> {
        let entry = at_word(&self.cursor, "ENTRY");
        if entry {
            self.cursor.word();
        }
        let (name, at) = name(&mut self.cursor, "a computation or the end of the text")?;
        module.computations.push(RawComputation { entry, ..RawComputation::new(name.into(), at, self.text.len()) });
        let Some(computation) = module.computations.last_mut() else { return Ok(()) };
        computation.head = self.head()?;
        self.cursor.expect("{", "`{` to open the computation")?;
        computation.broken = false;
        self.body(computation)?;
        // For example `execution_thread="x"`, without effect on indices.
        self.attributes(&mut Vec::new(), End::Space)
    }

    /// Reads `(name: shape, name: shape) -> shape`, if present.
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
            self.cursor.eat(":");
            parameters.push(self.shape()?.0);
        }
        self.cursor.expect("->", "`->` and the shape of the result")?;
        Ok(Some(Head { parameters, result: self.shape()? }))
    }

    /// Reads instructions up to the `}` that closes the computation.
    fn body(&mut self, computation: &mut RawComputation<'a>) -> Result<(), Error> {
        loop {
            computation.end = self.cursor.at();
            if self.cursor.eat("}") {
                return Ok(());
            }
            if self.errors.len() >= Module::MAX_ERRORS {
                computation.broken = true;
                return Ok(());
            }
            let open = || format!("an instruction or `}}` to close computation `{}`", excerpt(&computation.name));
            let (mut ahead, from) = (self.cursor, self.cursor.at());
            let next = match name(&mut ahead, "") {
                Ok(_) if matches!(ahead.peek(), Some(b'(' | b'{')) || at_word(&self.cursor, "ENTRY") => None,
                Err(_) if self.cursor.rest().is_empty() => None,
                next => Some(next),
            };
            let Some(next) = next else {
                // The next computation begins, or the text ends: the body is over.
                self.errors.push(self.cursor.expected(&open()));
                computation.broken = true;
                return Ok(());
            };
            let read = next.map_err(|_| self.cursor.expected(&open())).and_then(|_| {
                let (mut instruction, mut inner) = (self.start()?, Vec::new());
                let read = after(&mut self.cursor, "=", &instruction.name)
                    .and_then(|()| self.instruction(&mut instruction, &computation.name, &mut inner));
                instruction.broken = read.is_err();
                computation.instructions.append(&mut inner);
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
        Ok(RawInstruction { root, ..RawInstruction::new(name.into(), at) })
    }

    /// Reads `shape opcode(operands), name=value`, an instruction of this computation. Instructions written as operands
    /// are added to `inner`, each after its own operands.
    fn instruction(
        &mut self,
        instruction: &mut RawInstruction<'a>,
        computation: &str,
        inner: &mut Vec<RawInstruction<'a>>,
    ) -> Result<(), Error> {
        instruction.shape_at = self.cursor.at();
        if !at_opcode(&self.cursor) {
            instruction.shape = Some(self.shape()?.0);
        }
        self.applied(instruction, inner)?;
        let owner = (computation, &*instruction.name);
        loop {
            let Some((name, name_at)) = self.at_inside() else {
                if !self.cursor.eat(",") {
                    return Ok(());
                }
                self.attribute(&mut instruction.attributes, End::Space)?;
                continue;
            };
            let at = self.cursor.at();
            let names = self.computations_inside(owner, name)?;
            let attribute = RawAttribute { name, name_at, at, text: &self.text[at..self.cursor.at()] };
            add(&mut instruction.attributes, attribute)?;
            instruction.inside.push((name, names));
        }
    }

    /// Reads `opcode(operands)` of an instruction whose shape is read.
    fn applied(
        &mut self,
        instruction: &mut RawInstruction<'a>,
        inner: &mut Vec<RawInstruction<'a>>,
    ) -> Result<(), Error> {
        let shape = &instruction.shape;
        let (opcode, opcode_at) = name(&mut self.cursor, "an opcode")?;
        (instruction.opcode, instruction.opcode_at) = (opcode, opcode_at);
        after(&mut self.cursor, "(", opcode)?;
        match opcode {
            "constant" => {
                let shape = shape.as_ref().ok_or_else(|| left_out(opcode, opcode_at))?;
                instruction.literal = Some(Literal::read(&mut self.cursor, shape)?);
                self.cursor.expect(")", "`)` after the value")?;
            }
            "parameter" => {
                instruction.number = Some(self.cursor.integer("the parameter's number")?);
                self.cursor.expect(")", "`)` after the parameter's number")?;
            }
            _ => loop {
                // XLA passes over empty operands, such as the one after a last comma.
                while self.cursor.eat(",") {}
                if self.cursor.eat(")") {
                    break;
                }
                let operand = self.operand(instruction, inner)?;
                instruction.operands.push(operand);
                if self.cursor.peek() != Some(b')') {
                    self.cursor.expect(",", "`,` or `)` to close the operands")?;
                }
            },
        }
        Ok(())
    }

    /// Reads an operand: a name, maybe after its shape, or an instruction without attributes, `f32[3] abs(x)`. An
    /// instruction as operand 1 of `y` is named `y(1)`.
    fn operand(
        &mut self,
        owner: &RawInstruction<'a>,
        inner: &mut Vec<RawInstruction<'a>>,
    ) -> Result<RawOperand<'a>, Error> {
        let begin = self.cursor.at();
        let shape = at_shape(&self.cursor).then(|| self.shape()).transpose()?.map(|(shape, _)| shape);
        if let (Some(shape), Some(count), Some(b',' | b')')) = (&shape, self.nameless, self.cursor.peek()) {
            self.nameless = Some(count + 1);
            return Ok(RawOperand { name: format!("_{count}").into(), at: begin, shape: Some(shape.clone()) });
        }
        if !at_opcode(&self.cursor) {
            let (name, at) = name(&mut self.cursor, "an operand or `)`")?;
            return Ok(RawOperand { name: name.into(), at, shape });
        }
        self.deeper()?;
        let name: Cow<'a, str> = format!("{}({})", owner.name, owner.operands.len()).into();
        let mut instruction = RawInstruction { shape, ..RawInstruction::new(name.clone(), begin) };
        let read = self.applied(&mut instruction, inner);
        self.depth -= 1;
        instruction.broken = read.is_err();
        inner.push(instruction);
        read.map(|()| RawOperand { name, at: begin, shape: None })
    }

    /// Enters one level of nesting.
    fn deeper(&mut self) -> Result<(), Error> {
        if self.depth == MAX_INSIDE {
            let message = format!("instructions must be at most {MAX_INSIDE} deep inside instructions, found more");
            return Err(Error::at(self.cursor.at(), message).too_large());
        }
        self.depth += 1;
        Ok(())
    }

    /// Consumes `, calls=` if the body of a computation, or a list of bodies, follows instead of a name.
    fn at_inside(&mut self) -> Option<(&'a str, usize)> {
        let mut ahead = self.cursor;
        let (name, name_at) = ahead.eat(",").then(|| name(&mut ahead, "").ok()).flatten()?;
        if !CALLS.contains(&name) || !ahead.eat("=") {
            return None;
        }
        let mut body = ahead;
        let opens = body.eat("{");
        body.eat("{");
        if at_word(&body, "ROOT") {
            body.word();
        }
        let is_body = opens && self::name(&mut body, "").is_ok() && body.eat("=");
        is_body.then(|| {
            self.cursor = ahead;
            (name, name_at)
        })
    }

    /// Reads the bodies of computations inside an attribute; returns their names.
    fn computations_inside(&mut self, (computation, owner): (&str, &str), key: &str) -> Result<Vec<String>, Error> {
        let mut list = self.cursor;
        let is_list = list.eat("{") && list.eat("{");
        if is_list {
            self.cursor.eat("{");
        }
        let mut names = Vec::new();
        loop {
            let at = self.cursor.at();
            self.cursor.expect("{", "`{` to open a computation")?;
            let number = if is_list { format!(".{}", names.len()) } else { String::new() };
            let name = format!("{computation}.{owner}.{key}{number}");
            let mut inner = RawComputation::new(name.clone().into(), at, self.text.len());
            inner.broken = false;
            self.deeper()?;
            let read = self.body(&mut inner);
            self.depth -= 1;
            self.inside.push(inner);
            names.push(name);
            read?;
            if !is_list || !self.cursor.eat(",") {
                break;
            }
        }
        if is_list {
            self.cursor.expect("}", "`,` or `}` to close the list")?;
        }
        Ok(names)
    }

    fn shape(&mut self) -> Result<(Shape, usize), Error> {
        let at = self.cursor.at();
        Ok((Shape::read(&mut self.cursor, 0)?, at))
    }

    /// Continues after an error in the item that began at `from`: at the next line that begins an instruction or ends
    /// the computation, or, outside of one, that begins a computation.
    fn resume(&mut self, inside: bool, from: usize) {
        while let Some(byte) = self.cursor.peek() {
            let at = self.cursor.at();
            let begin = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
            let rest = &self.text[begin..];
            let end = rest.find('\n').unwrap_or(rest.len());
            let line = &rest[..end];
            // Only if no part of the line was consumed.
            let whole = at > from && self.text[begin..at].trim_start().is_empty();
            if whole && (begins_computation(line) || inside && (byte == b'}' || begins_instruction(line))) {
                return;
            }
            self.cursor.advance(begin + end - at);
        }
    }
}

/// Adds an attribute to an instruction or the header.
fn add<'a>(attributes: &mut Vec<RawAttribute<'a>>, attribute: RawAttribute<'a>) -> Result<(), Error> {
    let name_at = attribute.name_at;
    if attributes.iter().any(|a| a.name == attribute.name) {
        let message = format!("attribute `{}` must be there once, found a second", excerpt(attribute.name));
        return Err(Error::at(name_at, message));
    }
    if attributes.len() == MAX_ATTRIBUTES {
        return Err(
            Error::at(name_at, format!("there must be at most {MAX_ATTRIBUTES} attributes, found more")).too_large()
        );
    }
    attributes.push(attribute);
    Ok(())
}

/// The parameters for operands with a shape and an unknown name.
fn parameters<'a>(instructions: &[RawInstruction<'a>]) -> Vec<RawInstruction<'a>> {
    let mut operands: Vec<_> = instructions.iter().flat_map(|instruction| &instruction.operands).collect();
    operands.sort_by_key(|operand| operand.at);
    let mut found: Vec<RawInstruction<'a>> = Vec::new();
    for operand in operands {
        let is_named = |instruction: &RawInstruction| instruction.name == operand.name;
        if operand.shape.is_some() && !found.iter().chain(instructions).any(is_named) {
            found.push(RawInstruction {
                number: i64::try_from(found.len()).ok(),
                shape: operand.shape.clone(),
                opcode: "parameter",
                broken: false,
                ..RawInstruction::new(operand.name.clone(), operand.at)
            });
        }
    }
    found
}

/// Whether an instruction is next: a shape, or a name and `=` before a shape or an opcode.
fn at_instruction(cursor: &Cursor) -> bool {
    let mut ahead = *cursor;
    if at_word(&ahead, "ROOT") {
        ahead.word();
    }
    let named = name(&mut ahead, "").is_ok() && ahead.eat("=") && (at_shape(&ahead) || at_opcode(&ahead));
    let mut bare = *cursor;
    named || Shape::read(&mut bare, 0).is_ok() && at_opcode(&bare)
}

/// Whether this word is next, with a space, a name's `%` or a comment after it.
fn at_word(cursor: &Cursor, word: &str) -> bool {
    cursor.rest().strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t', '\n', '\r', '%', '/']))
}

/// The error for an omitted shape that cannot be inferred.
pub(super) fn left_out(opcode: &str, at: usize) -> Error {
    Error::at(at, format!("expected a shape before `{}`: operands and attributes do not say it", excerpt(opcode)))
        .syntax()
}

/// Whether an opcode and its operands are next rather than a shape.
fn at_opcode(cursor: &Cursor) -> bool {
    let mut ahead = *cursor;
    !at_shape(cursor) && name(&mut ahead, "").is_ok() && ahead.eat("(")
}

/// Whether a shape is next rather than a name.
fn at_shape(cursor: &Cursor) -> bool {
    let mut ahead = *cursor;
    ahead.eat("(") || ahead.word().is_some_and(|word| ahead.eat("[") || word == "b" && ahead.eat("("))
}
