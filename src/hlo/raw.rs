//! The raw module: names are unresolved, values of attributes are slices of the text.

use super::literal::Literal;
use super::module::Attribute;
use super::tokens::{End, after, name, unquote, value};
use crate::operations::shape::Shape;
use crate::text::{Cursor, Error, excerpt};
use std::borrow::Cow;
use std::collections::HashMap;

/// A module as parsed.
#[derive(Default)]
pub(super) struct RawModule<'a> {
    pub name: Cow<'a, str>,
    pub attributes: Vec<RawAttribute<'a>>,
    pub tables: Tables,
    pub computations: Vec<RawComputation<'a>>,
    /// Whether a computation could not be read, so that a missing entry is no further error.
    pub broken: bool,
}

/// The attributes that name computations, in the order of an instruction's called computations.
pub(super) const CALLS: [&str; 10] = [
    "condition",
    "body",
    "true_computation",
    "false_computation",
    "branch_computations",
    "select",
    "scatter",
    "to_apply",
    "calls",
    "called_computations",
];

/// A computation as parsed. A computation inside an instruction is named after it, such as `main.reduce.1.to_apply`.
pub(super) struct RawComputation<'a> {
    pub name: Cow<'a, str>,
    pub at: usize,
    pub entry: bool,
    /// The parameters and the result between the name and the body, if present.
    pub head: Option<Head>,
    pub instructions: Vec<RawInstruction<'a>>,
    /// The end of the body.
    pub end: usize,
    /// Whether some part of it could not be read.
    pub broken: bool,
}

impl<'a> RawComputation<'a> {
    /// An empty computation; `end` is the end of the text.
    pub fn new(name: Cow<'a, str>, at: usize, end: usize) -> RawComputation<'a> {
        RawComputation { name, at, entry: false, head: None, instructions: Vec::new(), end, broken: true }
    }
}

/// The instructions of a computation that another one waits for, by their numbers in the text.
#[derive(Clone, Default)]
pub(super) struct Inputs {
    pub operands: Vec<usize>,
    /// The control predecessors.
    pub control: Vec<usize>,
}

impl Inputs {
    /// The operands, then the control predecessors.
    pub fn all(&self) -> impl Iterator<Item = usize> {
        self.operands.iter().chain(&self.control).copied()
    }
}

/// `(name: shape, name: shape) -> shape`: the shapes, and the position of the result's. XLA compares the result with the
/// root, and no parameter with those of the body.
pub(super) struct Head {
    pub parameters: Vec<Shape>,
    pub result: (Shape, usize),
}

/// An instruction as parsed; after an error it ends at the error.
pub(super) struct RawInstruction<'a> {
    pub name: Cow<'a, str>,
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
    /// The names of the computations inside attributes.
    pub inside: Vec<(&'a str, Vec<String>)>,
    pub broken: bool,
}

impl<'a> RawInstruction<'a> {
    /// An instruction with only its name.
    pub fn new(name: Cow<'a, str>, at: usize) -> RawInstruction<'a> {
        RawInstruction {
            name,
            at,
            root: false,
            shape: None,
            shape_at: at,
            opcode: "",
            opcode_at: at,
            operands: Vec::new(),
            number: None,
            literal: None,
            attributes: Vec::new(),
            inside: Vec::new(),
            broken: true,
        }
    }

    /// The operand of this name, or a new one at the opcode's position.
    pub fn operand(&self, name: &Cow<'a, str>) -> RawOperand<'a> {
        let written = self.operands.iter().find(|operand| operand.name == *name);
        RawOperand { name: name.clone(), at: written.map_or(self.opcode_at, |operand| operand.at), shape: None }
    }
}

/// An operand as parsed.
pub(super) struct RawOperand<'a> {
    pub name: Cow<'a, str>,
    pub at: usize,
    /// The shape before the name, if present.
    pub shape: Option<Shape>,
}

/// An attribute as parsed.
#[derive(Clone, Copy)]
pub(super) struct RawAttribute<'a> {
    pub name: &'a str,
    pub name_at: usize,
    pub at: usize,
    pub text: &'a str,
}

impl RawAttribute<'_> {
    /// Moves an error in the value to its position in the module's text.
    fn place(&self, error: Error) -> Error {
        let message = match error.message.strip_suffix("found the end of the text") {
            Some(expected) => format!("{expected}found the end of `{}`", excerpt(self.name)),
            None => error.message.clone(),
        };
        Error { at: error.at.map(|at| at + self.at), message, ..error }
    }

    pub fn owned(&self) -> Attribute {
        Attribute { name: self.name.to_string(), at: self.at, text: self.text.to_string() }
    }

    /// Parses the whole value with `read`.
    pub fn read<T>(&self, read: impl FnOnce(&mut Cursor) -> Result<T, Error>) -> Result<T, Error> {
        let mut cursor = Cursor::new(self.text);
        read(&mut cursor)
            .and_then(|value| match cursor.finish("") {
                Ok(()) => Ok(value),
                Err(_) => Err(cursor.expected(&format!("the end of `{}`", self.name))),
            })
            .map_err(|error| self.place(error))
    }
}

/// The tables after the header, by row number.
#[derive(Default)]
pub(super) struct Tables {
    files: HashMap<i64, String>,
    /// The file and line of each location.
    locations: HashMap<i64, (i64, i64)>,
    /// The location of each frame.
    frames: HashMap<i64, i64>,
}

impl Tables {
    /// Adds a row to the table named by the attribute.
    pub fn add(&mut self, row: i64, fields: &RawAttribute) -> Result<(), Error> {
        match fields.name {
            "FileNames" => {
                let expected = || Error::at(fields.at, "expected a file's name in quotes").syntax();
                self.files.insert(row, unquote(fields.text).ok_or_else(expected)?);
            }
            "FileLocations" => {
                let (file, line) = (fields.field("file_name_id")?, fields.field("line")?);
                if !self.files.contains_key(&file) {
                    return Err(Error::at(fields.at, format!("unknown file {file}")).unknown());
                }
                self.locations.insert(row, (file, line));
            }
            "StackFrames" => {
                let location = fields.field("file_location_id")?;
                if !self.locations.contains_key(&location) {
                    return Err(Error::at(fields.at, format!("unknown file location {location}")).unknown());
                }
                self.frames.insert(row, location);
            }
            _ => {}
        }
        Ok(())
    }

    /// The file and line of a stack frame; an error if other frames exist, but not this one.
    pub fn frame(&self, frame: i64) -> Result<Option<(&str, i64)>, String> {
        if frame == 0 || self.frames.is_empty() {
            return Ok(None);
        }
        let location = self.frames.get(&frame).ok_or_else(|| format!("unknown stack frame {frame}"))?;
        let found = self.locations.get(location);
        Ok(found.and_then(|(file, line)| Some((self.files.get(file)?.as_str(), *line))))
    }
}

impl<'a> RawAttribute<'a> {
    /// The fields of `{name=value name=value}`.
    pub fn fields(&self) -> Result<Vec<RawAttribute<'a>>, Error> {
        let mut cursor = Cursor::new(self.text);
        let mut fields = Vec::new();
        let mut read = || {
            after(&mut cursor, "{", self.name)?;
            while !cursor.eat("}") {
                let (name, name_at) = name(&mut cursor, "a field or `}`")?;
                after(&mut cursor, "=", name)?;
                let (at, text) = value(&mut cursor, End::Space)?;
                fields.push(RawAttribute { name, name_at: name_at + self.at, at: at + self.at, text });
                cursor.eat(",");
            }
            Ok(())
        };
        read().map_err(|error| self.place(error))?;
        Ok(fields)
    }

    /// The number in the field of this name.
    fn field(&self, name: &str) -> Result<i64, Error> {
        let fields = self.fields()?;
        let found = fields.iter().find(|f| f.name == name);
        found.map_or_else(
            || Err(Error::at(self.at, format!("a row of `{}` must have the field `{name}`, found none", self.name))),
            |field| field.read(|cursor| cursor.integer("a number")),
        )
    }
}
